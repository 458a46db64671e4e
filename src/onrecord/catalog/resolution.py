"""WHAT does a reference mean? It turns one text into one canonical name, in one fixed order of attempts."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn, Self
from unicodedata import normalize

from onrecord.catalog.formulas import UnreadableFormula, shown, split_aggregation
from onrecord.catalog.lookup import INGEST_FIRST, Lookup
from onrecord.errors import Fault, Invalid
from onrecord.model import ids, limits
from onrecord.model.catalog import (
    MEMORY_PREFIX,
    SYSTEM_PREFIX,
    THING_PREFIX,
    URN_PREFIX,
    Model,
    field_of,
)
from onrecord.model.near_names import near_name
from onrecord.model.rules import anything, storable
from onrecord.model.shapes import Either, Several, checked_field

# Hyphens, because the name of a datasource may embed a UUID; and accents that are characters of their own.
_IDENTIFIER: Final = re.compile(r"[^\W\d][\w\u0300-\u036f-]*")
_EVERY_ROW: Final = "*"
MORE_WARNINGS: Final = "there is more that was left out; these are the first warnings."


class Unresolved(Invalid):
    """The catalog knows nothing of this reference's name."""

    def __init__(
        self, reference: str, reason: str, candidates: Sequence[str] = (), field: str = "entities"
    ) -> None:
        self.reference, self.reason, self.candidates = reference, reason, tuple(candidates)
        super().__init__([Fault(field, reason)])

    def at(self, field: str) -> Self:
        """The same error for another field."""
        return type(self)(self.reference, self.reason, self.candidates, field)


class Ambiguous(Unresolved):
    """A bare name that several models have a part of; the candidates are those models."""


class AmbiguousModel(Ambiguous):
    """The name of models in several datasources; the candidates are those datasources."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The meaning of a reference, and warnings for its writer."""

    canonical: str
    warnings: tuple[str, ...] = ()


class Entities(NamedTuple):
    """The meanings of several references, each once, in the order of first mention."""

    canonicals: tuple[str, ...]
    warnings: tuple[str, ...]


class Gathering:
    """Collects the meanings of references and everything that is wrong with them, for one error."""

    def __init__(self) -> None:
        self._canonicals: dict[str, None] = {}
        self._warnings: dict[str, None] = {}
        self._errors: list[Invalid] = []
        self._is_cut = False

    def add(self, resolved: Resolved) -> None:
        self._canonicals[resolved.canonical] = None
        self.warn(*resolved.warnings)

    def take(self, entities: Entities) -> None:
        """Add what another one gathered."""
        self._canonicals.update(dict.fromkeys(entities.canonicals))
        self.warn(*entities.warnings)

    def warn(self, *warnings: str) -> None:
        """Add a warning; after the first few, more are dropped."""
        for warning in warnings:
            if len(self._warnings) < limits.WARNINGS_SHOWN:
                self._warnings[warning] = None
            elif warning not in self._warnings:
                self._is_cut = True

    def fail(self, error: Invalid) -> None:
        self._errors.append(error)

    @property
    def has_enough_errors(self) -> bool:
        """Whether there are so many errors that more would not be read."""
        return len(self._errors) >= limits.FAULTS_SHOWN

    def entities(self) -> Entities:
        if self._errors:
            first = self._errors[0]
            # The error has the type of the first and lists the faults of all.
            Invalid.__init__(first, dict.fromkeys(fault for error in self._errors for fault in error.faults))
            raise first
        more = (MORE_WARNINGS,) if self._is_cut and MORE_WARNINGS not in self._warnings else ()
        return Entities(tuple(self._canonicals), (*self._warnings, *more))


def resolve(reference: str, lookup: Lookup, *, source_model: Model | None = None) -> Resolved:
    """The canonical name; Unresolved says why there is none. Errors of the lookup itself pass through."""
    text = _clean(reference)
    for prefix, branch in _SCHEMES:
        if text.startswith(prefix):
            return Resolved(branch(text, lookup))
    unknown: Unresolved | None = None
    for spelling in _spellings(text):
        try:
            return _named(spelling, lookup, source_model)
        except Unresolved as error:
            unknown = error
    assert unknown is not None
    if known := _known_elsewhere(text, lookup, unknown):
        return Resolved(known)
    raise unknown


def _spellings(text: str) -> Iterable[str]:
    """The same letters may have been written in another way than in the catalog."""
    return dict.fromkeys((text, normalize("NFC", text)))


def _known_elsewhere(text: str, lookup: Lookup, unknown: Unresolved) -> str | None:
    """What has this as another name, which need not be a URN, if nothing is called so."""
    known = None if isinstance(unknown, Ambiguous) else lookup.canonical_of(text)
    return known if known is not None and probe(known, lookup) else None


def _named(text: str, lookup: Lookup, source_model: Model | None) -> Resolved:
    if _misnamed(text.split("."), lookup) is not None and probe(text, lookup):
        # Some names in the catalog are not identifiers; a full name is unambiguous.
        return Resolved(text)
    try:
        stem, aggregation = split_aggregation(text)
    except UnreadableFormula as unreadable:
        raise Unresolved(text, f"{unreadable.reason}.") from None
    asked = _Asked(text, lookup, source_model)
    segments = stem.split(".")
    if segments[-1] == _EVERY_ROW:
        return Resolved(_every_row(segments[:-1], aggregation, asked))
    _check_names(segments, asked)
    return _by_name(segments, asked)


def resolve_all(references: Iterable[object], lookup: Lookup) -> Entities:
    """Resolve all references, or raise one error that lists each that could not be resolved."""
    gathering = Gathering()
    for reference in _texts(references):
        try:
            gathering.add(resolve(reference, lookup))
        except Unresolved as error:
            gathering.fail(error)
            if gathering.has_enough_errors:
                break
    return gathering.entities()


def resolve_leniently(references: Iterable[object], lookup: Lookup) -> Entities:
    """Resolve what can be resolved, with a warning for the rest; a value that is not a text is still an error."""
    gathering = Gathering()
    for reference in _texts(references):
        try:
            gathering.add(resolve(reference, lookup))
        except Unresolved as error:
            gathering.warn(f"entity {shown(reference)} dropped: {error.reason}")
    return gathering.entities()


def resolve_or_keep(references: Iterable[object], lookup: Lookup) -> Entities:
    """Resolve what can be resolved, and keep the rest as given, with a warning: what the catalog does not know yet it may
    know later.
    """
    gathering = Gathering()
    for reference in _texts(references):
        try:
            gathering.add(resolve(reference, lookup))
        except Unresolved as error:
            gathering.add(Resolved(_clean(reference), (f"entity {shown(reference)} kept: {error.reason}",)))
    return gathering.entities()


def resolve_model(reference: str, lookup: Lookup) -> Model:
    """Resolve a name that can only be a model, such as the source of a query."""
    text = _clean(reference)
    if text.startswith(URN_PREFIX):
        return _model_known_as(_urn(text, lookup), _Asked(text, lookup))
    unknown: Unresolved | None = None
    for spelling in _spellings(text):
        try:
            return _model_called(spelling, lookup)
        except Unresolved as error:
            unknown = error
    assert unknown is not None
    if known := _known_elsewhere(text, lookup, unknown):
        return _model_known_as(known, _Asked(text, lookup))
    raise unknown


def _model_called(text: str, lookup: Lookup) -> Model:
    asked = _Asked(text, lookup)
    datasource, dot, name = text.partition(".")
    if dot and datasource in lookup.datasources() and (model := lookup.model(datasource, name)):
        return model
    if dot:
        _check_names(text.split("."), asked)
        return _model_at(text.split("."), asked)
    return _ranked_model(text, asked) or _fail(
        asked, f"{shown(text)} is not a model in any datasource.{near_models(text, lookup)}"
    )


def within(model: Model, path: str, lookup: Lookup) -> str | None:
    """The meaning of a path as seen from a model: a part of it, or what its joins lead to; else None."""
    if len(path) > limits.ENTITY_CHARACTERS:
        return None
    spellings = dict.fromkeys((path, normalize("NFC", path)))
    return next(filter(None, (_within(model, each, lookup) for each in spellings)), None)


def _within(model: Model, path: str, lookup: Lookup) -> str | None:
    if model.part(path):
        return f"{model.canonical}.{path}"
    head, *tail = path.split(".")
    asked = _Asked(path, lookup, model)
    start = _source_or_joined(head, asked)
    try:
        return _walk(start, tail, asked) if start and tail else None
    except Unresolved:
        return None


def model_of_table(names: Sequence[str], lookup: Lookup, datasource: str | None = None) -> Model | None:
    """The model of a table such as `orders`, `public.orders` or `shop.public.orders`.

    A qualifier that is the name of a datasource means that datasource; any other is a schema, which a catalog does
    not have. Databases fold the case of names differently, so all lower and all upper case are tried too.
    """
    *qualifiers, name = names
    known = {each.lower(): each for each in lookup.datasources()}
    named = next((known[each.lower()] for each in qualifiers if each.lower() in known), datasource)
    for spelt in dict.fromkeys((name, name.lower(), name.upper())):
        if named is not None:
            found = lookup.model(named, spelt)
        else:
            found = _ranked_model(spelt, _Asked(".".join(names), lookup))
        if found:
            return found
    return None


def probe(canonical: str, lookup: Lookup) -> bool:
    """Whether a stored reference still exists in exactly this form; references outside the catalog count as existing."""
    if canonical.startswith((THING_PREFIX, URN_PREFIX)):
        return True
    if canonical.startswith(SYSTEM_PREFIX):
        return lookup.has_system(canonical.removeprefix(SYSTEM_PREFIX))
    if canonical.startswith(MEMORY_PREFIX):
        return lookup.has_memory(canonical.removeprefix(MEMORY_PREFIX))
    datasource, *rest = canonical.split(".", 2)
    if datasource not in lookup.datasources():
        return False
    if not rest:
        return True
    model = lookup.model(datasource, rest[0])
    return model is not None and (len(rest) == 1 or model.part(rest[1]) is not None)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A reference to resolve: the text, where to look, and the model from which it is seen."""

    reference: str
    lookup: Lookup
    source_model: Model | None = None


_TEXTS: Final = Several(Either("a reference, which is a text", {str: anything}))


def _texts(references: Iterable[object]) -> list[str]:
    given = references if isinstance(references, str | bytes | Mapping) else list(references)
    return list(checked_field("entities", _TEXTS, given))


def _clean(reference: str) -> str:
    text = reference.strip()
    if not text:
        raise Unresolved(reference, "the entity reference is empty; write the name of what is meant.")
    if len(text) > limits.ENTITY_CHARACTERS:
        raise Unresolved(
            reference, f"{shown(text)} is longer than {limits.ENTITY_CHARACTERS} characters ({len(text)})."
        )
    try:
        storable(text)
    except ValueError as reason:
        raise Unresolved(reference, f"{shown(text)} {reason}.") from None
    return text


def _memory(text: str, lookup: Lookup) -> str:
    try:
        place = ids.address(text.removeprefix(MEMORY_PREFIX))
    except ValueError as reason:
        raise Unresolved(text, f"the memory id in {shown(text)} {reason}.") from None
    id = ids.spell(place.tenant or "", place.id)
    if not lookup.has_memory(id):
        raise Unresolved(text, f"there is no memory with the id {shown(id)}.")
    return MEMORY_PREFIX + id


def _system(text: str, lookup: Lookup) -> str:
    name = text.removeprefix(SYSTEM_PREFIX)
    if not name or not lookup.has_system(name):
        raise Unresolved(text, f"there is no system called {shown(name)}.")
    return text


def _thing(text: str, _lookup: Lookup) -> str:
    if not text.removeprefix(THING_PREFIX):
        raise Unresolved(text, f"{shown(text)} names no thing; write one after the colon.")
    return text


def _urn(text: str, lookup: Lookup) -> str:
    return (
        lookup.canonical_of(text)
        or _part_called(text, lookup)
        or _fail(
            _Asked(text, lookup), f"{shown(text)} is not known as another name of anything in the catalog."
        )
    )


def _part_called(text: str, lookup: Lookup) -> str | None:
    """The part of a model that the URN of a field means."""
    if (field := field_of(text)) is None:
        return None
    datasource, _, name = (lookup.canonical_of(field.model) or "").partition(".")
    model = lookup.model(datasource, name) if name else None
    return f"{model.canonical}.{field.name}" if model is not None and model.part(field.name) else None


def _model_known_as(canonical: str, asked: _Asked) -> Model:
    datasource, _, name = canonical.partition(".")
    return asked.lookup.model(datasource, name) or _fail(
        asked, f"{shown(asked.reference)} means {shown(canonical)}, which is no model."
    )


_SCHEMES: Final[tuple[tuple[str, Callable[[str, Lookup], str]], ...]] = (
    (MEMORY_PREFIX, _memory),
    (SYSTEM_PREFIX, _system),
    (THING_PREFIX, _thing),
    (URN_PREFIX, _urn),
)


def _every_row(path: Sequence[str], aggregation: str | None, asked: _Asked) -> str:
    if aggregation != "count":
        _fail(
            asked,
            f"{shown(asked.reference)} is not a valid entity reference: rows as such can only be counted; "
            "use '*:count' or '<model>.*:count'.",
        )
    if path:
        _check_names(path, asked)
        return _model_at(path, asked).canonical
    if asked.source_model is None:
        _fail(asked, "'*:count' requires a model whose rows are counted: write '<model>.*:count'.")
    return asked.source_model.canonical


def _misnamed(segments: Sequence[str], lookup: Lookup) -> str | None:
    """The first segment that is not an identifier; a datasource may have any name."""
    for place, segment in enumerate(segments):
        if not _IDENTIFIER.fullmatch(segment) and (place or segment not in lookup.datasources()):
            return segment
    return None


def _check_names(segments: Sequence[str], asked: _Asked) -> None:
    bad = _misnamed(segments, asked.lookup)
    if bad is not None:
        _fail(
            asked,
            f"{shown(asked.reference)} contains an invalid identifier segment, {shown(bad)}: between dots stand "
            "names of letters, digits, '_' and '-' that do not begin with a digit.",
        )


def _by_name(segments: Sequence[str], asked: _Asked) -> Resolved:
    if segments[0] in asked.lookup.datasources():
        return _in_datasource(segments, asked)
    if len(segments) == 1:
        return _bare(segments[0], asked)
    return Resolved(_walk(_head(segments[0], asked), segments[1:], asked))


def _in_datasource(segments: Sequence[str], asked: _Asked) -> Resolved:
    name = segments[0]
    if len(segments) > 1:
        return Resolved(_walk(_model_in(name, segments[1], asked), segments[2:], asked))
    holders = asked.lookup.datasources_of(name)
    if not holders:
        return Resolved(name)
    return Resolved(
        name,
        (
            f"{shown(name)} is both a datasource and a model; it was interpreted as the datasource. "
            f"For the model write '{holders[0]}.{name}'.",
        ),
    )


def _bare(name: str, asked: _Asked) -> Resolved:
    source = asked.source_model
    if source and source.part(name):
        return Resolved(f"{source.canonical}.{name}")
    if model := _ranked_model(name, asked):
        return Resolved(model.canonical, tuple(_shadowed(model, asked.lookup)))
    for datasource in _in_order(asked.lookup):
        holders = asked.lookup.models_with(datasource, name)
        if len(holders) == 1:
            return Resolved(f"{datasource}.{holders[0]}.{name}")
        if holders:
            raise Ambiguous(
                asked.reference,
                f"the bare name {shown(name)} is ambiguous: in datasource {shown(datasource)} it is a column, measure "
                f"or aggregation of {list(holders)}. Write '<model>.{name}', such as '{holders[0]}.{name}'.",
                holders,
            )
    raise Unresolved(
        asked.reference,
        f"{shown(name)} was not found in any datasource, neither as a model nor as a part of one."
        f"{_near_heads(name, asked.lookup)}",
    )


def _shadowed(model: Model, lookup: Lookup) -> Iterator[str]:
    """The models nearby that have a part of the same name, which the writer may have meant."""
    if others := [each for each in lookup.models_with(model.datasource, model.name) if each != model.name]:
        yield (
            f"{shown(model.name)} was resolved as the model, but a column, measure or aggregation of {others} in "
            f"datasource {shown(model.datasource)} has the same name; for that write '{others[0]}.{model.name}'."
        )


def _in_order(lookup: Lookup) -> list[str]:
    ranked = lookup.priority()
    return [*ranked, *sorted(set(lookup.datasources()).difference(ranked))]


def _ranked_model(name: str, asked: _Asked) -> Model | None:
    """The model of a name, in the datasource that ranks highest among those that hold one."""
    holders = asked.lookup.datasources_of(name)
    ranked = [datasource for datasource in asked.lookup.priority() if datasource in holders]
    if len(holders) > 1 and not ranked:
        raise AmbiguousModel(
            asked.reference,
            f"model {shown(name)} exists in multiple datasources: {list(holders)}. Write "
            f"'{holders[0]}.{name}' or whichever is meant, or give the datasources a priority.",
            holders,
        )
    return asked.lookup.model((ranked or holders)[0], name) if holders else None


def _model_in(datasource: str, name: str, asked: _Asked) -> Model:
    if model := asked.lookup.model(datasource, name):
        return model
    namesakes = [f"{holder}.{datasource}" for holder in asked.lookup.datasources_of(datasource)]
    same = f" For the model of the same name write '{namesakes[0]}'." if namesakes else ""
    hint = near_models(name, asked.lookup) or same
    raise Unresolved(
        asked.reference,
        f"{shown(name)} is not a model in datasource {shown(datasource)} {_segment_of(asked)}{hint}",
    )


def _source_or_joined(name: str, asked: _Asked) -> Model | None:
    """The source model by its own name, or one that it is joined to."""
    source = asked.source_model
    if source is None or name == source.name:
        return source
    return asked.lookup.model(source.datasource, name) if source.join(name) else None


def _head(name: str, asked: _Asked) -> Model:
    return (
        _source_or_joined(name, asked)
        or _ranked_model(name, asked)
        or _fail(
            asked,
            f"{shown(name)} is neither a known datasource nor a model {_segment_of(asked)}"
            f"{_near_heads(name, asked.lookup)}",
        )
    )


def _model_at(segments: Sequence[str], asked: _Asked) -> Model:
    """The model at the end of a path on which every step is a model."""
    head, *hops = segments
    if head not in asked.lookup.datasources():
        model = _head(head, asked)
    elif hops:
        model = _model_in(head, hops.pop(0), asked)
    else:
        _fail(asked, f"{shown(head)} is a datasource where a model is needed: write '{head}.<model>'.")
    for name in hops:
        model = _joined(model, name, asked) or _no_join(model, name, asked)
    return model


def _walk(model: Model, path: Sequence[str], asked: _Asked) -> str:
    """Follow the joins along the path: to a part of the last model, or to that model."""
    for place, name in enumerate(path):
        # Usually only the last step; the name of a nested column contains dots.
        rest = ".".join(path[place:])
        if model.part(rest):
            return f"{model.canonical}.{rest}"
        joined = _joined(model, name, asked)
        if joined is None and name == rest:
            _no_part(model, name, asked)
        model = joined or _no_join(model, name, asked)
    return model.canonical


def _joined(model: Model, name: str, asked: _Asked) -> Model | None:
    if model.join(name) is None:
        return None
    return asked.lookup.model(model.datasource, name) or _fail(
        asked,
        f"{shown(name)} is a join target on model {shown(model.name)}, but datasource {shown(model.datasource)} "
        f"has no such model {_segment_of(asked)}",
    )


def _no_join(model: Model, name: str, asked: _Asked) -> NoReturn:
    targets = [join.target for join in model.joins]
    _fail(
        asked,
        f"{shown(name)} is not a join target on model {shown(model.name)} {_segment_of(asked)}{_near(name, targets, asked.lookup)}",
    )


def _no_part(model: Model, name: str, asked: _Asked) -> NoReturn:
    known = [*(part.name for part in model.parts), *(join.target for join in model.joins)]
    _fail(
        asked,
        f"{shown(name)} is neither a column, measure or aggregation nor a join target on model "
        f"{shown(model.name)} {_segment_of(asked)}{_near(name, known, asked.lookup)}",
    )


def _near(name: str, known: Sequence[str], lookup: Lookup) -> str:
    near = lookup.near_names.of(name, lambda: known)
    return f" Did you mean {shown(near[0])}?" if near else ""


def missing_datasource(name: str, known: Collection[str]) -> str:
    """The error about an unknown datasource: those that there are and the one that was probably meant, or that the
    catalog is empty.
    """
    if not known:
        return f"{shown(name)} not found; {INGEST_FIRST}"
    near = near_name(name, known)
    hint = f"; did you mean {shown(near)}?" if near else ""
    return f"{shown(name)} not found; known: [{', '.join(known)}]{hint}"


def near_models(name: str, lookup: Lookup) -> str:
    """A hint for someone who asked for an unknown model: similar names, or that the catalog is empty."""
    return _near_known(name.rpartition(".")[2], lookup)


def _near_heads(name: str, lookup: Lookup) -> str:
    """The same for the first name of a reference, which may be that of a datasource."""
    return _near_known(name, lookup, lookup.datasources())


def _near_known(name: str, lookup: Lookup, datasources: Collection[str] = ()) -> str:
    if not lookup.datasources():
        return f" {INGEST_FIRST.capitalize()}."
    spelled: dict[str, str] = {}

    def known() -> Iterable[str]:
        spelled.update((each.casefold(), each) for each in datasources)
        for canonical in lookup.model_names():
            spelled.setdefault(canonical.partition(".")[2].casefold(), canonical)
        return spelled

    near = lookup.near_names.of(name.casefold(), known, most=3)
    return f" Did you mean {' or '.join(shown(spelled[each]) for each in near)}?" if near else ""


def _segment_of(asked: _Asked) -> str:
    return f"(segment of {shown(asked.reference)})."


def _fail(asked: _Asked, reason: str) -> NoReturn:
    raise Unresolved(asked.reference, reason)
