"""WHAT may be repeated of what a service says about a failure? Little, on one line, and no secret: some quote the key."""

from typing import Final

from onrecord.providers.scrubber import scrub

_LONGEST: Final = 200


def quoted(said: str, key: str | None) -> str:
    words = " ".join(scrub(said.replace(key, "***") if key else said).text.split())
    return f"{words[:_LONGEST]}{'…' if len(words) > _LONGEST else ''}"
