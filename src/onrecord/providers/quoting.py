"""WHAT may be repeated of what a service says about a failure? Little, on one line, nothing invisible that a terminal would
obey, and no secret: some quote the key.
"""

from typing import Final

from onrecord.model.unseen import is_unseen
from onrecord.providers.scrubber import scrub

_LONGEST: Final = 200


def quoted(message: str, key: str | None) -> str:
    plain = " ".join(scrub(message.replace(key, "***") if key else message).text.split())
    plain = plain[: 2 * _LONGEST]
    words = "".join(letter for at, letter in enumerate(plain) if not is_unseen(plain, at))
    return f"{words[:_LONGEST]}{'…' if len(words) > _LONGEST else ''}"
