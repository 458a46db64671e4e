"""WHICH name was meant? The nearest known name; we look only a few times, and never for a long name.

Comparing two names costs the product of their lengths, and the sender decides how many names there are.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from onrecord.errors import Fault
from onrecord.model.limits import FAULTS_SHOWN

#: Longer names are not compared at all.
_LONGEST: Final = 64
#: How many unknown names of one request are compared with the known ones.
_MOST_LOOKED_FOR: Final = 8
_SHOWN_CHARACTERS: Final = 200


class NearNames:
    """Finds near names, for the first few names that it is asked about."""

    def __init__(self) -> None:
        self._left = _MOST_LOOKED_FOR

    def of(self, name: str, known: Callable[[], Iterable[str]], most: int = 1) -> list[str]:
        """Near names, the nearest first. Calls `known` only while it may still look."""
        if len(name) > _LONGEST or self._left == 0:
            return []
        self._left -= 1
        return get_close_matches(name, [each for each in known() if len(each) <= _LONGEST], n=most)


def near_name(name: str, known: Iterable[str]) -> str | None:
    """The nearest known name, if one is near enough."""
    return next(iter(NearNames().of(name, lambda: known)), None)


def unknown_names(
    given: Iterable[object],
    known: Collection[str],
    what: str,
    without_near: str = "",
    synonyms: Mapping[str, str] = MappingProxyType({}),
) -> list[Fault]:
    """A fault for each unknown name, with the known name that was probably meant; after the first few only their
    number.

    `what` is the error text for an unknown name, and `without_near` is added where no known name is near. `synonyms`
    maps names that others use to known ones.
    """
    names = [str(name) for name in given if name not in known]
    near = NearNames()
    faults = []
    for name in names[:FAULTS_SHOWN]:
        meant = synonyms.get(name) or next(iter(near.of(name, lambda: known)), None)
        hint = f"; did you mean {meant}?" if meant else without_near
        faults.append(Fault(cut_name(name), what + hint))
    if len(names) > FAULTS_SHOWN:
        more = len(names) - FAULTS_SHOWN - 1
        faults.append(Fault(cut_name(names[FAULTS_SHOWN]), f"{what}, nor are {more} more" if more else what))
    return faults


def cut_name(name: str) -> str:
    """A name as an error shows it, cut to a bounded length."""
    return name if len(name) <= _SHOWN_CHARACTERS else name[: _SHOWN_CHARACTERS - 1] + "…"
