"""WHICH names may a memory have? Its id as given, and where that id lives."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from onrecord.model.limits import GLOBAL_TENANT, ID_CHARACTERS

# Colons, slashes, question marks, hashes, white space and control characters.
_FORBIDDEN: Final = re.compile(r"[:/?#\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_WHOLE: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_MARKED: Final = re.compile(r"#[0-9]+", re.ASCII)
_GLOBAL_PREFIX: Final = GLOBAL_TENANT + ":"


class Address(NamedTuple):
    """An id split into the tenant it lives in (None: the caller's own) and its name there."""

    tenant: str | None
    id: str


def address(given: object) -> Address:
    """Read `42`, `#42`, `kb.policy.42` or `global:5`; ValueError says what is wrong."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise ValueError(f"must be a text or a whole number, not {type(given).__name__}")
    return _read(str(given))


@lru_cache(maxsize=4_096)
def _read(given: str) -> Address:
    text = given.removeprefix("#")
    if text.startswith(_GLOBAL_PREFIX):
        return Address(GLOBAL_TENANT, plain_id(text.removeprefix(_GLOBAL_PREFIX)))
    return Address(None, plain_id(text))


def plain_id(text: str) -> str:
    """An id within its tenant."""
    if not text:
        raise ValueError("must not be empty")
    if len(text) > ID_CHARACTERS:
        raise ValueError(f"must have at most {ID_CHARACTERS} characters (has {len(text)})")
    if found := _FORBIDDEN.search(text):
        raise ValueError(
            f"must not contain {found.group()!a}: ids are free of : / ? #, white space and control characters"
        )
    return text


def spell(tenant: str, id: str) -> str:
    """A memory's id as people see it: `42`, or `global:5` for a global one."""
    return _GLOBAL_PREFIX + id if tenant == GLOBAL_TENANT else id


def is_global(id: str) -> bool:
    """Whether an id, as people see it, is that of a global memory."""
    return id.startswith(_GLOBAL_PREFIX)


def plain_conversation(name: str) -> str:
    """`#42` and `42` name the same conversation."""
    return name[1:] if _MARKED.fullmatch(name) else name


def whole_number(id: str) -> int | None:
    """The number that an id of pure digits without a leading zero stands for."""
    return int(id) if _WHOLE.fullmatch(id) else None
