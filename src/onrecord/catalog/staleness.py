"""WHY is a memory no longer to be relied on? What it is about has changed since someone last stated that it is true.

It compares two catalogs and reads nothing else: the one known when the memory was last stated, and the present or a
planned one. Names that neither knows are ignored.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.lookup import Lookup
from onrecord.catalog.queries import is_over_models, read_query
from onrecord.catalog.renamed_columns import Renamed, renamed_columns
from onrecord.catalog.sql_text import entities_of_sql
from onrecord.errors import Invalid
from onrecord.model.catalog import COLUMNS_KNOWN, SYSTEM_PREFIX, Model, Part
from onrecord.model.limits import REASON_CHARACTERS
from onrecord.model.memory import Memory

#: Events stay true, whatever happens to the tables.
LASTING: Final = "event"
#: How many columns a reason names.
_MOST_NAMED: Final = 5
#: How much of a note about a deprecation.
_MOST_CHARACTERS: Final = 200


class SubjectState(NamedTuple):
    """What a memory is about, at one time: whether it was there, and the model if it is one."""

    is_there: bool
    model: Model | None = None


class Finding(NamedTuple):
    """One thing that changed: the record that shows it, a test whether a state of that record has it, the lost
    columns, and their likely new names.
    """

    what: str
    record: str
    holds: Callable[[SubjectState], bool]
    lost: tuple[str, ...] = ()
    renamed: Mapping[str, Renamed] = {}


def staleness(memory: Memory, then: Lookup, now: Lookup) -> tuple[Finding, ...]:
    """What changed between two catalogs that a memory depends on; nothing if it still holds."""
    if memory.dimension == LASTING:
        return ()
    named = _named(memory.entities)
    found = [finding for subject in named.items() for finding in _of_model(subject, memory, then, now)]
    found += [finding for name in memory.entities for finding in _of_root(name, then, now)]
    if not found and memory.query is not None:
        found += _of_query(memory, then, now)
    return tuple(found)


def reason_of(findings: Sequence[Finding], since: Callable[[Finding], datetime | None]) -> str:
    """The findings as a sentence, each with the day since which it is so, if that is known."""
    sentences = [
        f"{each.what} (since {day:%Y-%m-%d})" if (day := since(each)) else each.what for each in findings
    ]
    whole = "; ".join(sentences)
    return whole if len(whole) <= REASON_CHARACTERS else whole[: REASON_CHARACTERS - 1] + "…"


def broken_query(memory: Memory, lookup: Lookup) -> str | None:
    """Why the example query of a memory does not fit the catalog, or None. Only a query over models can say so."""
    if not is_over_models(memory.query):
        return None
    try:
        entities_of_query(read_query(memory.query), lookup, known=memory.entities)
    except Invalid as problem:
        return str(problem)
    return None


def _named(entities: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """The models that a memory names, each with the parts that it names."""
    named: dict[tuple[str, str], list[str]] = {}
    for each in entities:
        datasource, *rest = each.split(".", 2)
        if rest and ":" not in datasource:
            named.setdefault((datasource, rest[0]), []).extend(rest[1:])
    return named


def _of_root(name: str, then: Lookup, now: Lookup) -> Iterator[Finding]:
    if name.startswith(SYSTEM_PREFIX):
        system = name.removeprefix(SYSTEM_PREFIX)
        is_gone = then.has_system(system) and not now.has_system(system)
    elif "." in name or ":" in name:
        return
    else:
        is_gone = name in then.datasources() and name not in now.datasources()
    if is_gone:
        yield Finding(f"{name} is gone", name, _is_gone)


def _is_gone(state: SubjectState) -> bool:
    return not state.is_there


def _of_model(
    subject: tuple[tuple[str, str], list[str]], memory: Memory, then: Lookup, now: Lookup
) -> Iterator[Finding]:
    (datasource, name), parts = subject
    was, is_now = then.model(datasource, name), now.model(datasource, name)
    if was is None:
        return
    if is_now is None:
        yield Finding(f"{was.canonical} is gone", was.canonical, _is_gone)
        return
    if was.state != "deprecated" and is_now.state == "deprecated":
        yield Finding(f"{was.canonical} is deprecated{_instead(is_now)}", was.canonical, _is_deprecated)
    if not _lists_columns(was, is_now):
        return
    renamed = renamed_columns(was, is_now)
    for part in dict.fromkeys(parts):
        yield from _of_part(part, was, is_now, renamed)
    if not parts and memory.query is None:
        # An example query is about what it names, and says itself whether it still resolves.
        yield from _of_whole(was, is_now, renamed)


def _lists_columns(was: Model, is_now: Model) -> bool:
    """Whether a source that lists fewer columns means that the others are gone: not if it lists none, nor if it now
    lists only those that people described and listed all before.
    """
    is_partly = is_now.details.get(COLUMNS_KNOWN) is not None and was.details.get(COLUMNS_KNOWN) is None
    return any(part.kind == "column" for part in is_now.parts) and not is_partly


def _is_deprecated(state: SubjectState) -> bool:
    return state.model is not None and state.model.state == "deprecated"


def _instead(model: Model) -> str:
    """What a source says of a deprecation: since or until when, why, and what to use."""
    meta: Mapping[str, Any] = model.details.get("meta") or {}
    deprecation: Mapping[str, Any] = model.details.get("deprecation") or {
        "date": model.details.get("deprecation_date"),
        "note": meta.get("deprecation_note"),
        "replacement": meta.get("replaced_by"),
    }
    date, note, other = (_short(deprecation.get(name)) for name in ("date", "note", "replacement"))
    return "".join(
        (f" (its source says {date})" * bool(date), f": {note}" * bool(note), f"; use {other}" * bool(other))
    )


def _short(text: object) -> str:
    """A few words on one line, of whatever a source says."""
    words = " ".join(str(text or "").split())
    return words if len(words) <= _MOST_CHARACTERS else words[: _MOST_CHARACTERS - 1] + "…"


def _of_part(name: str, was: Model, is_now: Model, renamed: Mapping[str, Renamed]) -> Iterator[Finding]:
    before, after = was.part(name), is_now.part(name)
    if before is None:
        return
    if after is not None:
        yield from _retyped(was, [(before, after)])
        return
    to = {name: renamed[name]} if name in renamed else {}
    what = f"{was.canonical}.{name} is gone{''.join(_maybe(is_now, each) for each in to.values())}"
    yield Finding(what, was.canonical, lambda state: _lacks(state, name), (name,), to)


def _maybe(model: Model, renamed: Renamed) -> str:
    return f", perhaps renamed to {model.canonical}.{renamed.to} ({renamed.why})"


def _lacks(state: SubjectState, name: str) -> bool:
    return state.model is None or state.model.part(name) is None


def _of_whole(was: Model, is_now: Model, renamed: Mapping[str, Renamed]) -> Iterator[Finding]:
    """What a memory about the whole model must know: columns that were lost or have another type; new ones do not
    count.
    """
    columns = [part for part in was.parts if part.kind == "column"]
    if lost := [part.name for part in columns if is_now.part(part.name) is None]:
        maybe = {name: renamed[name] for name in lost if name in renamed}
        columns_lost = [f"{each}{_maybe(is_now, maybe[each]) if each in maybe else ''}" for each in lost]
        more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
        what = f"{was.canonical} lost {', '.join(columns_lost[:_MOST_NAMED])}{more}"
        yield Finding(
            what,
            was.canonical,
            lambda state: any(_lacks(state, name) for name in lost),
            tuple(lost),
            maybe,
        )
    pairs = [(part, after) for part in columns if (after := is_now.part(part.name)) is not None]
    yield from _retyped(was, pairs)


def _retyped(model: Model, pairs: Sequence[tuple[Part, Part]]) -> Iterator[Finding]:
    changed = [
        (was, is_now)
        for was, is_now in pairs
        if _kind_of(was) != _kind_of(is_now) and _have_types(was, is_now)
    ]
    retyped = [
        f"{model.canonical}.{was.name} was {_kind_of(was)} and is {_kind_of(is_now)}"
        for was, is_now in changed
    ]
    for (was, _), what in list(zip(changed, retyped, strict=True))[:_MOST_NAMED]:
        yield Finding(what, model.canonical, lambda state, was=was: _differs(state, was))  # type: ignore[misc]
    if len(changed) > _MOST_NAMED:
        what = f"{len(changed) - _MOST_NAMED} more columns of {model.canonical} have another type"
        yield Finding(what, model.canonical, lambda state: any(_differs(state, was) for was, _ in changed))


def _differs(state: SubjectState, was: Part) -> bool:
    part = None if state.model is None else state.model.part(was.name)
    return part is not None and _kind_of(part) != _kind_of(was)


def _kind_of(part: Part) -> str:
    """The type of a column as it is compared, or what else the part is."""
    if part.kind != "column":
        return f"a {part.kind}"
    return " ".join((part.type or "").split()).upper()


def _have_types(was: Part, is_now: Part) -> bool:
    """A source that does not know a type says nothing about it."""
    return bool(_kind_of(was) and _kind_of(is_now))


def _of_query(memory: Memory, then: Lookup, now: Lookup) -> Iterator[Finding]:
    models = [(then.model(*names), now.model(*names)) for names in _named(memory.entities)]
    known = [(was, is_now) for was, is_now in models if was is not None]
    if not known or any(is_now and not _lists_columns(was, is_now) for was, is_now in known):
        # It was saved when its models were unknown, or a source no longer lists all of their columns.
        return
    record = known[0][0].canonical
    why = broken_query(memory, now) or _lost_by_sql(memory, then, now)
    if why and why != broken_query(memory, then):
        # No single record shows which change broke it, so no day is given.
        yield Finding(f"its example query no longer resolves: {why}", record, lambda state: False)


def _lost_by_sql(memory: Memory, then: Lookup, now: Lookup) -> str | None:
    """What SQL led to before and does not lead to now, such as a column that is ambiguous by now."""
    if not isinstance(memory.query, str):
        return None
    led, leads = entities_of_sql(memory.query, then), entities_of_sql(memory.query, now)
    if lost := [each for each in led.canonicals if each not in leads.canonicals]:
        return leads.warnings[0] if leads.warnings else f"it does not lead to {lost[0]}."
    return None
