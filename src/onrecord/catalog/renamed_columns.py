"""WHICH column is it now? One that vanished may be another that appeared with the same type, place or content."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from onrecord.model.catalog import SAMPLED, Model, Part

#: A model with more columns to compare was replaced rather than changed.
_MOST_COMPARED: Final = 10_000


class Renamed(NamedTuple):
    """The new name that a column may have, and the evidence."""

    to: str
    why: str


class _Likeness(NamedTuple):
    """What two columns have in common, the strongest sign first."""

    content: bool
    type: bool
    place: bool

    @property
    def evidence(self) -> str:
        named = zip(("content", "type", "place"), self, strict=True)
        *first, last = [name for name, holds in named if holds]
        return f"same {', '.join(first)} and {last}" if first else f"same {last}"


def renamed_columns(was: Model, is_now: Model) -> dict[str, Renamed]:
    """For each column that vanished, the one that it may be now: the likeliest, if no other is as likely."""
    before, after = _columns(was), _columns(is_now)
    names, known = {part.name for part in before}, {part.name for part in is_now.parts}
    gone = [part for part in before if part.name not in known]
    new = [part for part in after if was.part(part.name) is None] if gone else []
    if len(gone) * len(new) > _MOST_COMPARED:
        return {}
    stayed = names & {part.name for part in after}
    places = (_places(before, stayed), _places(after, stayed))
    likely = [
        (likeness, old.name, part.name)
        for old in gone
        for part in new
        if (likeness := _likeness(old, part, places))
    ]
    likely.sort(reverse=True)
    of_old = _best(likely)
    of_new = _best([(likeness, part, old) for likeness, old, part in likely])
    return {
        old: Renamed(part, likeness.evidence)
        for likeness, old, part in likely
        if of_old[old] == part and of_new[part] == old
    }


def _best(likely: Sequence[tuple[_Likeness, str, str]]) -> dict[str, str | None]:
    """For each column the likeliest other, or None if two are as likely; the likeliest pairs come first."""
    best: dict[str, tuple[_Likeness, str | None]] = {}
    for likeness, name, other in likely:
        if name not in best:
            best[name] = (likeness, other)
        elif best[name][0] == likeness:
            best[name] = (likeness, None)
    return {name: other for name, (_, other) in best.items()}


def _columns(model: Model) -> list[Part]:
    return [part for part in model.parts if part.kind == "column"]


def _places(columns: Sequence[Part], stayed: set[str]) -> dict[str, tuple[object, ...]]:
    """The place of each column: after which unchanged one, how far, and before which."""
    after: list[tuple[str, str | None, int]] = []
    last, steps = None, 0
    for part in columns:
        last, steps = (part.name, 0) if part.name in stayed else (last, steps + 1)
        after.append((part.name, last, steps))
    places: dict[str, tuple[object, ...]] = {}
    following = None
    for name, above, step in reversed(after):
        places[name] = (above, step, following)
        following = name if name in stayed else following
    return places


def _likeness(
    old: Part, new: Part, places: tuple[dict[str, tuple[object, ...]], dict[str, tuple[object, ...]]]
) -> _Likeness | None:
    types = [" ".join((part.type or "").split()).upper() for part in (old, new)]
    likeness = _Likeness(
        content=_same(old.description, new.description)
        or _same(old.details.get(SAMPLED), new.details.get(SAMPLED)),
        type=bool(types[0]) and types[0] == types[1],
        place=places[0][old.name] == places[1][new.name],
    )
    if all(types) and not likeness.type and not likeness.content:
        # Another type in the same place is another column.
        return None
    return likeness if any(likeness) else None


def _same(first: object, second: object) -> bool:
    return bool(first) and first == second
