"""WHICH time does a question ask about? Two axes: what was true at a time, and what was known at a time."""

from datetime import datetime
from typing import NamedTuple


class When(NamedTuple):
    """`as_of` asks what was true then; `known_at` asks what we knew then. With neither, the question is about now."""

    as_of: datetime | None = None
    known_at: datetime | None = None


NOW = When()
