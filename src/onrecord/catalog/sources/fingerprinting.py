"""HOW is a changed model told from one that is as it was? By a hash of everything that is known of it."""

import hashlib
import json

from onrecord.model.catalog import Join, Model, Part


def fingerprint(model: Model) -> str:
    """The same for equal models, whatever order their details are in."""
    text = json.dumps(_fields(model), default=_fields, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _fields(value: Model | Part | Join) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__slots__}
