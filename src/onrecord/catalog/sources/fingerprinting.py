"""HOW is a changed model recognised? By a hash of everything known about it."""

import hashlib
import json
from dataclasses import replace
from typing import Any

from onrecord.model.catalog import SAMPLED, Join, Model, Part


def fingerprint(model: Model) -> str:
    """The same hash for equal models, whatever the order of their details."""
    return _hash(model)


def fingerprint_with_samples(model: Model) -> str:
    """The model's hash without samples, a dot, and the hash of the samples. Without samples only the first part is
    compared.
    """
    samples = {part.name: part.details[SAMPLED] for part in model.parts if SAMPLED in part.details}
    return f"{_hash(replace(model, parts=tuple(map(_without_samples, model.parts))))}.{_hash(samples)}"


def _without_samples(part: Part) -> Part:
    return replace(part, details={what: value for what, value in part.details.items() if what != SAMPLED})


def _hash(value: Any) -> str:
    text = json.dumps(value, default=_fields, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _fields(value: Model | Part | Join) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__slots__}
