"""HOW is an entity stored? As a record in its own collection, with history, words and vectors.

A catalog is a tenant that no caller can name. The record of a model holds the whole model. Its parts have records
too, derived from the model's, so that each can be found and referred to.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

from onrecord.catalog import rendering
from onrecord.catalog.amendments import AMENDMENTS, Amendment, amended, not_in_source
from onrecord.model import rules
from onrecord.model.catalog import SAMPLED, Datasource, EntityKind, Join, Model, Part
from onrecord.model.limits import ID_CHARACTERS, TAGS, TITLE_CHARACTERS
from onrecord.model.memory import Memory
from onrecord.model.shapes import kept_fault
from onrecord.model.wire import to_json
from onrecord.providers.scrubber import scrub, scrub_value

Described = TypeVar("Described", Model, Part, Datasource)
#: Under this name the record of an entity keeps what is known of it.
ENTITY: Final = "entity"
#: Raise this whenever the text of an entity or the scrubbing changes, so that all records are written again.
RECORD_VERSION: Final = 2
HIDDEN: Final = "hidden"
GONE: Final = "gone"
_NOT_IN_IDS: Final = re.compile(r"[:/?#%~\s\x00-\x1f\x7f-\x9f]")


class Record(NamedTuple):
    """An entity in the form in which the store takes and returns it."""

    canonical: str
    kind: EntityKind
    name: str
    text: str
    parent: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    hidden: bool = False
    fingerprint: str = ""
    #: The source of a datasource, if that source names its datasources itself.
    origin: str = ""
    document: Mapping[str, Any] = {}
    #: Of a model or datasource: what people have promoted of it and its parts.
    amendments: tuple[Amendment, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        known = {
            "canonical": self.canonical,
            "kind": self.kind,
            "name": self.name,
            "parent": self.parent,
            "upstream": list(self.upstream),
            "fingerprint": self.fingerprint,
            "origin": self.origin,
            "document": self.document,
            AMENDMENTS: to_json(self.amendments),
        }
        return {ENTITY: {name: value for name, value in known.items() if value}}


def record_id(canonical: str) -> str:
    """The id of an entity's record: its name, as far as an id can hold it."""
    id = _NOT_IN_IDS.sub(lambda found: "".join(f"%{byte:02x}" for byte in found.group().encode()), canonical)
    if len(id) <= ID_CHARACTERS:
        return id
    return id[: ID_CHARACTERS - 33] + "~" + hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def canonical_of_id(id: str) -> str | None:
    """The name of the entity whose record has this id; None if only the record itself holds it."""
    return None if "~" in id else unquote(id)


def records_of_model(
    model: Model, fingerprint: str, amendments: Sequence[Amendment] = ()
) -> Iterator[Record]:
    """The record of the model, then one for each part (the first of two that share a name). None holds a secret.

    The texts include amendments that differ from the source; the document keeps the source's values.
    """
    model = _clean_model(model)
    amendments = not_in_source(model, amendments)
    shown = amended(model, amendments)
    yield Record(
        canonical=model.canonical,
        kind="model",
        name=model.name,
        text=rendering.text_of_model(shown, amendments),
        parent=model.datasource,
        tags=_tags(shown.tags, model.state),
        aliases=model.aliases,
        upstream=model.upstream,
        hidden=model.hidden,
        fingerprint=fingerprint,
        document=_plain(model),
        amendments=amendments,
    )
    seen = set()
    for part in shown.parts:
        if part.name not in seen:
            seen.add(part.name)
            yield Record(
                canonical=f"{model.canonical}.{part.name}",
                kind=part.kind,
                name=part.name,
                text=rendering.text_of_part(shown, part, amendments),
                parent=model.canonical,
                tags=_tags(part.tags, model.state),
                hidden=model.hidden or part.hidden,
            )


def record_of_datasource(
    datasource: Datasource, models: Sequence[str], origin: str = "", amendments: Sequence[Amendment] = ()
) -> Record:
    datasource = _clean(datasource)
    amendments = not_in_source(datasource, amendments)
    shown = amended(datasource, amendments)
    return Record(
        canonical=datasource.canonical,
        kind="datasource",
        name=datasource.name,
        text=rendering.text_of_datasource(shown, models, amendments),
        tags=shown.tags,
        aliases=datasource.aliases,
        hidden=datasource.hidden,
        origin=origin,
        document=_plain(datasource),
        amendments=amendments,
    )


def records_with(root: Memory, amendments: Sequence[Amendment]) -> dict[str, Record]:
    """The records of an entity and its parts, derived from its own record with other amendments."""
    known = entity_of(root)
    if known["kind"] == "model":
        every = records_of_model(model_of(root), str(known.get("fingerprint", "")), amendments)
        return {each.canonical: each for each in every}
    bare = record_of_datasource(datasource_of(root), (), str(known.get("origin", "")), amendments)
    # Only its text says which models it had then.
    models = [line for line in root.content.split("\n") if line.startswith("models: ")]
    return {bare.canonical: bare._replace(text="\n".join((bare.text, *models[-1:])))}


def fields_of(record: Record) -> dict[str, Any]:
    """The fields of a memory that hold an entity."""
    return {
        "kind": "reference",
        "dimension": "entity",
        "title": record.canonical[:TITLE_CHARACTERS],
        # As a hint, so that its own name weighs twice as much as its path: a question about customers also means `orders.customer_id`.
        "hint": record.name or None,
        "content": record.text,
        "tags": _findable(record.tags),
        "entities": (record.canonical, *record.aliases),
        "metadata": record.metadata,
        # Hidden entities can be named, but searches do not find them.
        "status": "stale" if record.hidden else "active",
        "status_reason": HIDDEN if record.hidden else None,
        "valid_to": None,
    }


def _findable(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags by which a record is found: those that a memory could have, and as many. The document keeps every one."""
    fitting = (tag for tag in tags if kept_fault(rules.TAG, tag) is None)
    return tuple(islice(fitting, TAGS))


def entity_of(memory: Memory) -> Mapping[str, Any]:
    """The entity that a record holds."""
    known: Mapping[str, Any] = memory.metadata[ENTITY]
    return known


def canonical_of(record: Memory) -> str:
    """The name of the entity that a record holds."""
    return canonical_of_id(record.id) or str(entity_of(record)["canonical"])


def model_of(memory: Memory) -> Model:
    """The model that a record holds, without amendments."""
    return model_in(entity_of(memory)["document"])


def model_in(document: Mapping[str, Any]) -> Model:
    known = dict(document)
    known["parts"] = tuple(_read(Part, part) for part in known.get("parts", ()))
    known["joins"] = tuple(_read_join(join) for join in known.get("joins", ()))
    model: Model = _read(Model, known)
    return model


def samples_of(memory: Memory) -> dict[str, Any]:
    """The sample values of each part, as the model's record holds them."""
    parts = entity_of(memory).get("document", {}).get("parts", ())
    found = {part["name"]: part.get("details", {}).get(SAMPLED) for part in parts}
    return {name: samples for name, samples in found.items() if samples}


def with_samples(model: Model, samples: Mapping[str, Any]) -> Model:
    """The model with known sample values added, where it has none itself."""
    parts = (
        replace(part, details={SAMPLED: samples[part.name], **part.details}) if part.name in samples else part
        for part in model.parts
    )
    return replace(model, parts=tuple(parts))


def datasource_of(memory: Memory) -> Datasource:
    return datasource_in(entity_of(memory)["document"])


def datasource_in(document: Mapping[str, Any]) -> Datasource:
    datasource: Datasource = _read(Datasource, document)
    return datasource


def _tags(tags: tuple[str, ...], state: str) -> tuple[str, ...]:
    return tags if state == "present" else tuple(dict.fromkeys((*tags, state)))


def _clean_model(model: Model) -> Model:
    return replace(_clean(model), parts=tuple(map(_clean_part, model.parts)))


def _clean_part(part: Part) -> Part:
    clean = _clean(part)
    if SAMPLED not in part.details:
        return clean
    # The name of a column says what its values are.
    values, _ = scrub_value(part.name, part.details[SAMPLED])
    return replace(clean, details={**clean.details, SAMPLED: values})


def _clean(described: Described) -> Described:
    """A description from outside, without its secrets; names stay as they are, since searches need them."""
    changes: dict[str, Any] = {}
    if described.details:
        changes["details"], _ = scrub_value("", described.details)
    if described.tags:
        changes["tags"] = tuple(dict.fromkeys(scrub(tag).text for tag in described.tags))
    for name in ("description", "label"):
        if text := getattr(described, name, None):
            changes[name] = scrub(text).text
    return replace(described, **changes) if changes else described


def _plain(value: Model | Datasource | Part | Join) -> dict[str, Any]:
    """A dataclass as JSON without empty fields: a column has a dozen fields and fills three."""
    known = ((name, getattr(value, name)) for name in _FIELDS[type(value)])
    return {name: _item(item) for name, item in known if item not in (None, (), {}, False)}


def _item(item: Any) -> Any:
    """A value as it comes back from the store; otherwise it would look changed at every ingest."""
    if isinstance(item, Part | Join):
        return _plain(item)
    if isinstance(item, Mapping):
        return {str(name): _item(each) for name, each in item.items()}
    return [_item(each) for each in item] if isinstance(item, tuple | list) else item


def _read(kind: type[Any], value: Mapping[str, Any]) -> Any:
    """A dataclass from its JSON; fields that a later version wrote are ignored."""
    known = _FIELDS[kind]
    read = {name: tuple(item) if name in _LISTS else item for name, item in value.items() if name in known}
    return kind(**read)


def _read_join(value: Mapping[str, Any]) -> Join:
    pairs = tuple((first, second) for first, second in value.get("pairs", ()))
    return Join(target=value["target"], pairs=pairs, kind=value.get("kind", "left"))


_LISTS: Final = frozenset({"tags", "parts", "joins", "upstream", "aliases"})
_FIELDS: Final[Mapping[type[Any], tuple[str, ...]]] = {
    kind: tuple(each.name for each in fields(kind)) for kind in (Model, Part, Join, Datasource)
}
