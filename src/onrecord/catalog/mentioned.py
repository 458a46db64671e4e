"""WHICH things are mentioned? What the names in an answer mean, by one query to the catalog, however many there are."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from onrecord.catalog.mentions import Mention
from onrecord.catalog.records import entity_of, model_of
from onrecord.catalog.resolution import Unresolved, model_of_table, resolve
from onrecord.catalog.sql_text import entities_of_sql, tables_of
from onrecord.catalog.stored import PRIORITY
from onrecord.model.catalog import MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX, URN_PREFIX, Model, field_of
from onrecord.model.collections import ENTITIES, entity_facet
from onrecord.model.memory import Memory
from onrecord.model.near_names import NearNames
from onrecord.store.index.entries import reference_facet
from onrecord.store.ports.records import Reading

#: So many records of the catalog are read, those first that are mentioned first; and of one name so many.
_MOST_RECORDS: Final = 100
_NAMESAKES: Final = 50
#: A name with more dots is looked up as a whole alone.
_MOST_DOTS: Final = 5
#: So many parts of the models that are mentioned are looked at.
_MOST_PARTS: Final = 1_000
_SCHEMES: Final = (URN_PREFIX, THING_PREFIX, SYSTEM_PREFIX, MEMORY_PREFIX)


class Subject(NamedTuple):
    """A thing that is mentioned: its name, and all names by which memories may refer to it.

    What the catalog does not know is called as in the text: memories may refer to something of that name.
    """

    name: str
    references: tuple[str, ...]
    called: Mention | None = None


class Subjects(NamedTuple):
    """What is mentioned, in the order of first mention, and the parts of the models among it that are not."""

    mentioned: tuple[Subject, ...]
    parts: tuple[Subject, ...]


def subjects_of(found: Sequence[Mention], reading: Reading) -> Subjects:
    """What some names mean."""
    wanted = list(dict.fromkeys(facet for each in found for facet in _facets(each)))
    always = [reference_facet(PRIORITY), entity_facet("is", "datasource")]
    records = reading.reading_of(ENTITIES).newest(
        always + wanted, each=_NAMESAKES, most=_MOST_RECORDS, statuses=("active", "stale")
    )
    catalog = MentionedCatalog([record for _, record in records])
    subjects: dict[str, Subject] = {}
    for mention in found:
        for subject in _meant(mention, catalog):
            subjects.setdefault(subject.name, subject)
    parts = (
        Subject(part, (part,))
        for canonical in subjects
        for part in catalog.parts_of(canonical)
        if part not in subjects
    )
    return Subjects(tuple(subjects.values()), tuple(islice(parts, _MOST_PARTS)))


def _facets(mention: Mention) -> Iterator[str]:
    """Where the catalog may have a mention filed."""
    if mention.sql is not None:
        for table in tables_of(mention.sql):
            yield from _model_facets(table[-1], is_marked=True)
        return
    yield reference_facet(mention.name)
    if mention.name.startswith(_SCHEMES):
        return
    segments = mention.name.split(".")
    for segment in segments if len(segments) <= _MOST_DOTS else ():
        yield from _model_facets(segment, is_marked=mention.is_marked)


def _model_facets(name: str, *, is_marked: bool) -> Iterator[str]:
    """Databases fold the case of names; a sentence begins with a capital letter."""
    yield from (entity_facet("model", each) for each in _spellings(name, is_marked=is_marked))


def _spellings(name: str, *, is_marked: bool) -> dict[str, None]:
    return dict.fromkeys((name, name.lower(), name.upper()) if is_marked else (name, name.lower()))


def _meant(mention: Mention, catalog: "MentionedCatalog") -> Iterator[Subject]:
    if mention.sql is not None:
        for canonical in entities_of_sql(mention.sql, catalog).canonicals:
            yield catalog.subject(canonical)
        return
    known = _canonical(mention, catalog)
    if known is None:
        yield Subject(mention.name, (mention.name,), mention)
        return
    yield catalog.subject(known, mention.name)
    if whole := catalog.model_above(known):
        yield catalog.subject(whole)


def _canonical(mention: Mention, catalog: "MentionedCatalog") -> str | None:
    name = mention.name
    if known := catalog.canonical_of(name):
        return known
    if field := field_of(name):
        model = catalog.canonical_of(field.model)
        return f"{model}.{field.name}" if model else None
    if name.startswith(_SCHEMES) or name.count(".") >= _MOST_DOTS:
        return None
    if "." not in name:
        return catalog.bare(name, is_marked=mention.is_marked)
    return _dotted(name, catalog)


def _dotted(name: str, catalog: "MentionedCatalog") -> str | None:
    *above, last = segments = name.split(".")
    if not any(catalog.has_model(segment) for segment in segments):
        return None
    try:
        return resolve(name, catalog).canonical
    except Unresolved:
        pass
    try:
        # A schema before it, or other capitals, as databases write a table or a column of one.
        if table := model_of_table(segments, catalog):
            return table.canonical
        table = model_of_table(above, catalog)
    except Unresolved:
        return None
    if table is None:
        return None
    part = next((each.name for each in table.parts if each.name.lower() == last.lower()), None)
    # A column that the table lacks: what is known of the table is needed most.
    return f"{table.canonical}.{part}" if part else table.canonical


class MentionedCatalog:
    """The lookup of resolution over those records of the catalog to which the names in an answer lead."""

    def __init__(self, records: Sequence[Memory]) -> None:
        self._records = {str(entity_of(each)["canonical"]): each for each in records}
        self._priority = self._records.pop(PRIORITY, None)
        self._canonicals = {
            name: canonical for canonical, each in self._records.items() for name in each.entities
        }
        self._holders: defaultdict[str, list[str]] = defaultdict(list)
        for canonical, each in self._records.items():
            if (known := entity_of(each))["kind"] == "model":
                self._holders[known["name"]].append(canonical.removesuffix("." + known["name"]))
        self._models: dict[str, Model] = {}
        self.near_names = NearNames()

    def datasources(self) -> Collection[str]:
        return self._datasources

    @cached_property
    def _datasources(self) -> set[str]:
        named = {name for name, each in self._records.items() if entity_of(each)["kind"] == "datasource"}
        return named.union(*self._holders.values())

    def priority(self) -> tuple[str, ...]:
        record = self._priority
        return () if record is None else tuple(entity_of(record)["document"].get("datasources", ()))

    def model(self, datasource: str, name: str) -> Model | None:
        canonical = f"{datasource}.{name}"
        if canonical not in self._models and datasource in self._holders.get(name, ()):
            self._models[canonical] = model_of(self._records[canonical])
        return self._models.get(canonical)

    def model_names(self) -> list[str]:
        return sorted(f"{holder}.{name}" for name, holders in self._holders.items() for holder in holders)

    def datasources_of(self, model: str) -> Sequence[str]:
        return sorted(self._holders.get(model, ()))

    def models_with(self, datasource: str, part: str) -> Sequence[str]:
        above = (whole.partition(".") for whole in self._wholes.get(part, ()))
        return sorted(name for holder, _, name in above if holder == datasource)

    def canonical_of(self, alias: str) -> str | None:
        return self._canonicals.get(alias)

    def has_memory(self, id: str) -> bool:
        return False

    def has_system(self, name: str) -> bool:
        return SYSTEM_PREFIX + name in self._records

    def has_model(self, name: str) -> bool:
        return any(each in self._holders for each in _spellings(name, is_marked=True))

    def bare(self, name: str, *, is_marked: bool) -> str | None:
        """The model of a name, or else the part of one of the models that are mentioned, if only one has it."""
        for spelt in _spellings(name, is_marked=is_marked):
            if found := self._ranked(spelt):
                return found
        wholes = self._wholes.get(name, ())
        return f"{wholes[0]}.{name}" if len(wholes) == 1 else None

    def subject(self, canonical: str, given: str | None = None) -> Subject:
        """A thing of the catalog with all its names."""
        record = self._records.get(canonical)
        names = [canonical, *(record.entities if record else ())]
        # Memories that were saved before the catalog knew it may refer to it without its datasource.
        datasource, _, rest = canonical.partition(".")
        if rest and self._ranked(rest.partition(".")[0], datasource):
            names.append(rest)
        return Subject(canonical, tuple(dict.fromkeys([*names, *([given] if given else ())])))

    def parts_of(self, canonical: str) -> list[str]:
        record = self._records.get(canonical)
        known = {} if record is None else entity_of(record).get("document", {})
        return [f"{canonical}.{part['name']}" for part in known.get("parts", ())]

    def model_above(self, canonical: str) -> str | None:
        """The model of a part."""
        datasource, _, rest = canonical.partition(".")
        name, dot, _ = rest.partition(".")
        return f"{datasource}.{name}" if dot else None

    def _ranked(self, name: str, datasource: str | None = None) -> str | None:
        """The model of a name, in the datasource that ranks highest; None if that is unclear, or not the one given."""
        holders = self._holders.get(name, [])
        ranked = [each for each in self.priority() if each in holders] or holders
        if not holders or (len(holders) > 1 and ranked is holders):
            return None
        return None if datasource not in (None, ranked[0]) else f"{ranked[0]}.{name}"

    @cached_property
    def _wholes(self) -> dict[str, list[str]]:
        """The models that have a part of each name."""
        wholes: defaultdict[str, list[str]] = defaultdict(list)
        for canonical in self._records:
            for part in self.parts_of(canonical):
                wholes[part.removeprefix(canonical + ".")].append(canonical)
        return wholes
