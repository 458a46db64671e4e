"""WHICH names may a memory have? Its id as given, the tenant it lives in, and the user whose own it is.

An id that someone chose for a memory that not everyone in the tenant sees is their own: `OWNER::NAME`. In OWNER, `~` and
four hexadecimal digits stand for a character that ids are free of.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from onrecord.model.catalog import MEMORY_PREFIX
from onrecord.model.limits import GLOBAL_TENANT, ID_CHARACTERS, NAME_CHARACTERS

# Colons, slashes, question marks, hashes, white space and control characters.
_FORBIDDEN: Final = re.compile(r"[:/?#\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_WHOLE: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_MARKED: Final = re.compile(r"#[0-9]+", re.ASCII)
_GLOBAL_PREFIX: Final = GLOBAL_TENANT + ":"
# No shell changes it: bash would expand a `~` before the name of a user to their home folder.
_BETWEEN: Final = "::"
#: Begins the id of the tenant's memory, for callers who have a memory of that name themselves.
_TENANTS: Final = _BETWEEN
_ESCAPED: Final = re.compile(r"[~:/?#\s\x00-\x1f\x7f-\x9f]")
# A user of that name is written so that their ids do not look like those of global memories.
_GLOBAL_OWNER: Final = re.compile(rf"^{GLOBAL_TENANT[0]}")
_ESCAPE: Final = re.compile(r"~([0-9a-f]{4})")
#: A UUID, with or without hyphens.
_RANDOM: Final = re.compile(r"[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


class Address(NamedTuple):
    """An id split into the tenant it lives in (None: the caller's own) and its id there."""

    tenant: str | None
    id: str


class Meaning(NamedTuple):
    """What a caller may mean by an id: the tenant it lives in, its id there, and, if it is a name alone, the id of their own
    memory of that name; whether it may be any memory that the tenant calls so.
    """

    tenant: str | None
    id: str
    own: str | None = None
    is_name: bool = False


def address(given: object) -> Address:
    """Read `42`, `#42`, `kb.policy.42`, `ann::kb.x`, `::kb.x` or `global:5`; ValueError says what is wrong."""
    return _read(_text(given))


def written(given: object) -> str:
    """An id as its writer means it, in one form: `::kb.x` is not `kb.x`, which may mean their own memory."""
    text = _text(given)
    place = _read(text)
    return _TENANTS + place.id if text.startswith(_TENANTS) else spell(place.tenant or "", place.id)


def meant(given: str, user: str) -> Meaning:
    """What a user may mean by an id. Only an id without a name in front can mean two memories."""
    tenant, id = address(given)
    if tenant is not None or is_owned(id):
        return Meaning(tenant, id)
    is_tenants = str(given).removeprefix("#").startswith(_TENANTS)
    return Meaning(None, id, None if is_tenants else owned(user, id), is_name=True)


def owned(user: str, name: str) -> str:
    """The id of a user's own memory: each user has one form, also if their name has characters that ids are free of."""
    odd = _GLOBAL_OWNER if user == GLOBAL_TENANT else _ESCAPED
    return odd.sub(lambda found: f"~{ord(found.group()):04x}", user) + _BETWEEN + name


def kept_under(id: str, user: str, *, is_everyones: bool) -> str:
    """The id that a user's new memory gets for the one that was chosen: without their name in front of one that not everyone
    sees, others who try it would learn that it is used.
    """
    return id if is_everyones or is_random(id) or is_owned(id) else owned(user, id)


def exactly(id: str) -> str:
    """The id of a memory as a request writes it that means this memory alone, though the caller may have a `kb.x` too."""
    return id if is_global(id) or is_owned(id) or id.startswith(_TENANTS) else _TENANTS + id


def exact_reference(reference: str) -> str:
    """A reference that was read in a memory, as a request writes it that means the same."""
    id = reference.removeprefix(MEMORY_PREFIX)
    return reference if id == reference else MEMORY_PREFIX + exactly(id)


def is_owned(id: str) -> bool:
    return id.find(_BETWEEN) > 0


def owner_of(id: str) -> str | None:
    """The user whose name is in front of an id; None if there is none."""
    owner, between, _ = id.partition(_BETWEEN)
    return _ESCAPE.sub(lambda code: chr(int(code.group(1), 16)), owner) if between and owner else None


def name_of(id: str) -> str:
    """An id without the user's name in front."""
    return id.partition(_BETWEEN)[2] if is_owned(id) else id


def as_read_by(id: str, user: str) -> str:
    """An id as a user reads it on a screen: without their own name in front. A number alone could be one that the store gave."""
    name = name_of(id)
    return name if owner_of(id) == user and whole_number(name) is None else id


def is_random(id: str) -> bool:
    """Whether an id is a UUID. Nobody guesses one, so it need not name its owner."""
    return _RANDOM.fullmatch(id) is not None


def is_too_long(id: str) -> bool:
    """Whether nobody could name it."""
    return len(name_of(id)) > ID_CHARACTERS


def _text(given: object) -> str:
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise ValueError(f"must be a text or a whole number, not {type(given).__name__}")
    return str(given).removeprefix("#")


@lru_cache(maxsize=4_096)
def _read(text: str) -> Address:
    if text.startswith(_GLOBAL_PREFIX):
        return Address(GLOBAL_TENANT, plain_id(text.removeprefix(_GLOBAL_PREFIX)))
    if text.startswith(_TENANTS):
        return Address(None, plain_id(text.removeprefix(_TENANTS)))
    return Address(None, _owned_id(text) if is_owned(text) else plain_id(text))


def _owned_id(text: str) -> str:
    """An id with a user's name in front, in the one form that each user has."""
    owner, name = owner_of(text) or "", plain_id(text.partition(_BETWEEN)[2])
    if len(owner) > NAME_CHARACTERS or owned(owner, name) != text:
        raise ValueError(
            "does not have a user's name in front as in ann::kb.x, where ~ and four digits stand for a character that ids are free of"
        )
    return text


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
    """A memory's id as people see it: `42`, `ann::kb.x`, or `global:5` for a global one."""
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
