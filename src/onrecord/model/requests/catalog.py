"""WHAT can be asked of the catalog, and of memories by what they are about?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.caller import Caller
from onrecord.model.catalog import ENTITY_KINDS, EntityKind
from onrecord.model.requests.base import MAYBE_NAME, Request, ask
from onrecord.model.rules import ListOf, OrNone


@dataclass(frozen=True, slots=True)
class Search(Request):
    """Find what was learned about some things: by the entities named, by a draft of a query, by a question, or all.

    Notes, example queries and entities each have a list of their own, and a cap that changes no other list.
    What is not understood is told as a warning; with nothing given, the newest memories come back.
    """

    question: str | None = ask(
        OrNone(rules.Text(at_most=limits.QUESTION_CHARACTERS)), "In plain words.", None, positional=True
    )
    entities: Sequence[str] = ask(
        ListOf(rules.Text(at_most=limits.ENTITY_CHARACTERS), at_most=limits.ENTITIES),
        "Models, columns or measures, in any form that names them.",
        (),
    )
    query: Mapping[str, Any] | None = ask(OrNone(rules.Json()), "A draft of a query over models.", None)
    datasource: str | None = ask(MAYBE_NAME, "Only what is about this datasource.", None)
    max_memories: int = ask(rules.Integer(0, limits.RECALL_LIMIT), "How many notes at most.", 5)
    max_example_queries: int = ask(
        rules.Integer(0, limits.RECALL_LIMIT), "How many example queries at most.", 2
    )
    max_entities: int = ask(rules.Integer(0, limits.RECALL_LIMIT), "How many entities at most.", 5)
    recipe: str = ask(rules.NAME, "Which way of searching: auto, lexical, semantic, entity, graph …", "auto")


@dataclass(frozen=True, slots=True)
class Ingest(Request):
    """Let the catalog learn what there is: from model files, a live database, or what dbt has written.

    What is given is told apart by looking at it. Doing it again takes in what has changed; what is no longer there is
    retired, and taken out of the references of memories, which keep their text.
    """

    path: str = ask(
        rules.Text(at_least=1, at_most=4_096),
        "A folder of model files, a manifest.json of dbt or its folder, a SQLite file, or the URL of a database.",
        positional=True,
    )
    datasource: str | None = ask(MAYBE_NAME, "What to call the datasource; else its own name.", None)
    schema: str | None = ask(MAYBE_NAME, "Which schema of a database; else its default.", None)
    sample_values: int = ask(
        rules.Integer(0, 100),
        "Take so many example values of each column; those taken before stay until then.",
        0,
    )
    dry_run: bool = ask(rules.FLAG, "Tell what would change, and change nothing.", False)


@dataclass(frozen=True, slots=True)
class ListEntities(Request):
    """List what memories can be about, by name: datasources, or what is of a kind or lies inside another."""

    inside: str | None = ask(
        MAYBE_NAME,
        "The datasource or model to look into, such as shop or shop.orders.",
        None,
        positional=True,
    )
    kind: EntityKind | None = ask(
        OrNone(rules.Choice(ENTITY_KINDS)), f"Only of this kind: {', '.join(ENTITY_KINDS)}.", None
    )
    limit: int = ask(rules.Integer(1, 10_000), "How many at most.", 100)


@dataclass(frozen=True, slots=True)
class Inspect(Request):
    """Look at a model: its columns, measures, joins, what they lead to, and what was learned about it."""

    model: str = ask(rules.NAME, "The model, such as orders or shop.orders.", positional=True)
    data_source: str | None = ask(MAYBE_NAME, "Its datasource, if several have a model of that name.", None)
    sections: Sequence[str] | None = ask(
        OrNone(ListOf(rules.NAME, at_most=50)), "Only these sections; all when left out.", None
    )
    show_sql: bool = ask(rules.FLAG, "Show the SQL behind columns and measures.", False)
    descriptions_max_chars: int | None = ask(
        OrNone(rules.Integer(0, 100_000)), "Cut descriptions to so many characters.", None
    )
    reachable_fields_depth: int = ask(rules.Integer(0, 20), "How many joins to follow.", 5)
    num_rows: int = ask(rules.Integer(0, 100), "How many example values of a column.", 3)


@dataclass(frozen=True, slots=True)
class DropEntity(Request):
    """Take a datasource, a model or a part of one out of the catalog, and out of the references of every memory.

    Memories keep their text, also those that lose their last reference.
    """

    entity: str = ask(
        rules.Reference(), "What to take out, such as shop.orders or shop.orders.amount.", positional=True
    )
    kind: Literal["datasource", "model"] | None = ask(
        OrNone(rules.Choice(("datasource", "model"))), "Refuse unless it is this.", None
    )
    data_source: str | None = ask(
        MAYBE_NAME, "The datasource of a model, if several have one of that name.", None
    )
    parts: Sequence[str] | None = ask(
        OrNone(ListOf(rules.NAME, at_most=10_000, at_least=1)),
        "Only these columns, measures or aggregations of the model: all or none of them.",
        None,
    )


@dataclass(frozen=True, slots=True)
class Prioritise(Request):
    """Say which datasources come first where a bare name is in several; with none named, show the order in force."""

    datasources: Sequence[str] = ask(
        ListOf(rules.NAME, at_most=1_000), "Most wanted first; the others follow by name.", ()
    )
    clear: bool = ask(rules.FLAG, "Give the order up: all go by name again.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.clear and self.datasources:
            yield Fault("clear", "is for an order that is given up; leave it out, or name no datasources")
