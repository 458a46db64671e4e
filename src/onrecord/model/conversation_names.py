"""WHAT is a conversation called? A user's own by its name, another user's as `~OWNER/NAME`; everyone may use the longer form.

In OWNER `~0` stands for `~` and `~1` for `/`, so that the first `/` ends it whatever the owner is called; NAME is
the rest, as it is. So every conversation has one such form, and no name that one uses for oneself can mean another's.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from onrecord.model import limits, rules
from onrecord.model.ids import plain_conversation
from onrecord.model.rules import OrNone, Text
from onrecord.model.workspace import ConversationKey

#: Names that begin so say whose conversation they mean. None can be begun.
RESERVED: Final = "~"
_BETWEEN: Final = "/"
_ODD: Final = re.compile(r"~(?![01])")


@dataclass(frozen=True, slots=True)
class ConversationName(Text):
    """A name, or a longer text that says whose it is: an escaped owner takes up to two characters for one."""

    at_least: int = 1
    at_most: int | None = 3 * limits.NAME_CHARACTERS + 2
    line: bool = True
    strip: bool = True

    def __call__(self, value: Any, /) -> str:
        text = Text.__call__(self, value)
        return text if is_reserved(text) else rules.NAME(text)


CONVERSATION: Final = ConversationName()
MAYBE_CONVERSATION: Final = OrNone(CONVERSATION)


def is_reserved(name: str) -> bool:
    return name.startswith(RESERVED)


def called(key: ConversationKey, user: str) -> str:
    """What a user calls a conversation."""
    return key.id if key.by == user and not is_reserved(key.id) else explicit(key)


def explicit(key: ConversationKey) -> str:
    """What anyone may call a conversation."""
    owner = key.by.replace("~", "~0").replace(_BETWEEN, "~1")
    return f"{RESERVED}{owner}{_BETWEEN}{key.id}"


def key_of(name: str, user: str) -> ConversationKey:
    """The conversation that a user means by a name, unless one is literally called so."""
    return plain(_explicit_key(name) or ConversationKey(user, name))


def keys_of(name: str, user: str) -> tuple[ConversationKey, ...]:
    """What a user may mean by a name; the first that is there counts.

    Before what the name says comes what is literally called so, begun before such names were reserved or `#42` meant 42.
    """
    own = ConversationKey(user, name)
    qualified = _explicit_key(name) or own
    return tuple(dict.fromkeys((own, plain(own), qualified, plain(qualified))))


def plain(key: ConversationKey) -> ConversationKey:
    return key._replace(id=plain_conversation(key.id))


def _explicit_key(name: str) -> ConversationKey | None:
    owner, between, id = name.removeprefix(RESERVED).partition(_BETWEEN)
    if not is_reserved(name) or not between or not owner or not id or _ODD.search(owner):
        return None
    return ConversationKey(owner.replace("~1", _BETWEEN).replace("~0", "~"), id)
