"""WHICH name was meant? The nearest of those that are known, looked for a few times and never for a long name.

To compare two names costs the product of their lengths, and whoever asks decides how many there are.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from onrecord.errors import Fault
from onrecord.model.limits import FAULTS_TOLD

#: What is longer was not mistyped; it is not cut either, or another name would be compared.
_LONGEST: Final = 64
#: For so many names of one request someone looks what was meant; a person reads no more of them.
_MOST_LOOKED_FOR: Final = 8
_SHOWN_CHARACTERS: Final = 200


class NearNames:
    """Looks for near names, for the first few that it is asked about."""

    def __init__(self) -> None:
        self._left = _MOST_LOOKED_FOR

    def of(self, name: str, known: Callable[[], Iterable[str]], most: int = 1) -> list[str]:
        """The nearest first. `known` is only called where there is still something to look for."""
        if len(name) > _LONGEST or self._left == 0:
            return []
        self._left -= 1
        return get_close_matches(name, [each for each in known() if len(each) <= _LONGEST], n=most)


def near_name(name: str, known: Iterable[str]) -> str | None:
    """The one name that is nearest, if one is near."""
    return next(iter(NearNames().of(name, lambda: known)), None)


def unknown_names(
    given: Iterable[object],
    known: Collection[str],
    what: str,
    without_near: str = "",
    synonyms: Mapping[str, str] = MappingProxyType({}),
) -> list[Fault]:
    """A fault for each name that is not known, with what was meant; of very many, how many more there are.

    `what` says of a name what it is not, and `without_near` what is said where no known name is near; `synonyms` are
    known names by what others call them.
    """
    names = [str(name) for name in given if name not in known]
    near = NearNames()
    faults = []
    for name in names[:FAULTS_TOLD]:
        meant = synonyms.get(name) or next(iter(near.of(name, lambda: known)), None)
        hint = f"; did you mean {meant}?" if meant else without_near
        faults.append(Fault(cut_name(name), what + hint))
    if len(names) > FAULTS_TOLD:
        more = len(names) - FAULTS_TOLD - 1
        faults.append(Fault(cut_name(names[FAULTS_TOLD]), f"{what}, nor are {more} more" if more else what))
    return faults


def cut_name(name: str) -> str:
    """A name as an error shows it: what someone made up may be as long as a body."""
    return name if len(name) <= _SHOWN_CHARACTERS else name[: _SHOWN_CHARACTERS - 1] + "…"
