"""HOW does each answer look in a shell? A file for each folder of features; loading them registers their functions."""

from onrecord.surfaces.cli.answers import (
    access,
    care,
    catalog,
    checks,
    context,
    recall,
    remember,
    review,
    workspace,
)
from onrecord.surfaces.cli.parts import SHOWN

__all__ = [
    "SHOWN",
    "access",
    "care",
    "catalog",
    "checks",
    "context",
    "recall",
    "remember",
    "review",
    "workspace",
]
