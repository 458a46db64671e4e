"""HOW is a task put to a store? As memories that `recall` finds; or with tables as the catalog, notes as memories
about it, and `search`.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, Protocol

from onrecord.evaluation.data import Haystack, Question
from onrecord.evaluation.loading import save_all, storable
from onrecord.evaluation.tables import Schema, table_of
from onrecord.model.advice import Advised
from onrecord.model.limits import QUESTION_CHARACTERS, RECALL_LIMIT
from onrecord.recall.subjects import EntityHit
from onrecord.service import OnRecord

#: How many memories a question asks for; the place of the first right one is looked for among these.
DEPTH: Final = 100
_DEGRADED: Final = "Answers that had to do without"


class FilledHaystack(NamedTuple):
    """A haystack in the store: the document of each memory and each model, and the tables."""

    memories: Mapping[str, str]
    models: Mapping[str, str]
    schema: Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveContext:
    """What a save needs beside the haystack: the time, a counter of oddities, and a progress callback."""

    now: datetime
    notices: Counter[str]
    saved: Callable[[], None]


class EvalMethod(Protocol):
    """How documents are saved and questions asked, and its name in a report."""

    @property
    def recipe(self) -> str | None:
        """The recipe, if not the default."""

    @property
    def name(self) -> str: ...

    def save(self, door: OnRecord, haystack: Haystack, saving: SaveContext) -> FilledHaystack: ...

    def ask(
        self, door: OnRecord, question: Question, told: FilledHaystack, notices: Counter[str]
    ) -> list[str]:
        """The ids of the documents found, best first, each once."""


@dataclass(frozen=True, slots=True)
class ThroughRecall:
    """Every document a memory, every question a `recall`."""

    recipe: str | None = None
    #: What an advisor does for each question: `expand`, `rerank`, `rerank_fine` or `rerank_close`.
    advised: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        told = [f"recipe {self.recipe}"] if self.recipe else []
        return ", ".join(told + ([f"advisor: {', '.join(self.advised)}"] if self.advised else []))

    def save(self, door: OnRecord, haystack: Haystack, saving: SaveContext) -> FilledHaystack:
        memories = save_all(door, haystack.documents, saving.now, saving.notices, saving.saved)
        return FilledHaystack(memories, {}, Schema())

    def ask(
        self, door: OnRecord, question: Question, told: FilledHaystack, notices: Counter[str]
    ) -> list[str]:
        options: dict[str, Any] = {"recipe": self.recipe} if self.recipe else {}
        options |= {task.removesuffix("_close"): "yes" for task in self.advised}
        if "rerank_close" in self.advised:
            options["rerank_when"] = "close"
        answer = door.recall(askable(question, notices), limit=DEPTH, **options)
        notices.update(f"{_DEGRADED} {reason}" for reason in answer.degraded)
        notices.update(_told(each) for each in answer.advice)
        return list(dict.fromkeys(told.memories[hit.memory.id] for hit in answer.hits))


def _told(advised: Advised) -> str:
    """What became of a question to an advisor, without what differs from one to the next."""
    if advised.applied:
        return f"Answers with advice ({advised.task})"
    why = "not asked: the first hits decide it" if "not asked" in (advised.note or "") else advised.note
    return f"Answers without advice ({advised.task}): {why}"


@dataclass(frozen=True, slots=True)
class ThroughSearch:
    """Tables as models with their columns, all else as memories about them, every question a `search`."""

    #: The tables of each haystack, whichever task describes them.
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    #: Whether a question is asked within the datasource that the data names for it, or of everything.
    within_datasource: bool = False
    recipe: str | None = None

    @property
    def name(self) -> str:
        within = " within the datasource" if self.within_datasource else ""
        return f"through search{within}" + (f", recipe {self.recipe}" if self.recipe else "")

    def save(self, door: OnRecord, haystack: Haystack, saving: SaveContext) -> FilledHaystack:
        schema = self.schemas.get(haystack.name, Schema())
        if len(schema):
            with TemporaryDirectory(prefix="onrecord-eval-") as folder:
                schema.write(Path(folder))
                door.ingest(folder)
        notes = [document for document in haystack.documents if table_of(document) is None]
        for _ in range(len(haystack.documents) - len(notes)):
            saving.saved()
        memories = save_all(door, notes, saving.now, saving.notices, saving.saved, schema.references)
        # Tables of other tasks are in the catalog too, and are no answers here.
        own = {document.id for document in haystack.documents}
        models = {name: id for name, id in schema.documents().items() if id in own}
        return FilledHaystack(memories, models, schema)

    def ask(
        self, door: OnRecord, question: Question, told: FilledHaystack, notices: Counter[str]
    ) -> list[str]:
        options: dict[str, Any] = {"recipe": self.recipe} if self.recipe else {}
        answer = door.search(
            askable(question, notices),
            datasource=self._datasource(question, told, notices),
            max_memories=DEPTH if told.memories else 0,
            max_example_queries=0,
            # Many of them may be columns of one table.
            max_entities=RECALL_LIMIT if told.models else 0,
            **options,
        )
        notices.update(f"Answers that say: {warning}" for warning in answer.warnings)
        found = [(hit.score, told.memories[hit.id]) for hit in answer.memories]
        models = ((hit.score, told.models.get(_model(hit))) for hit in answer.entities)
        found += [(score, document) for score, document in models if document is not None]
        found.sort(key=lambda each: -each[0])
        return list(dict.fromkeys(document for _, document in found))

    def _datasource(self, question: Question, told: FilledHaystack, notices: Counter[str]) -> str | None:
        if not self.within_datasource:
            return None
        datasource = told.schema.datasource(question.meta.get("db"))
        if datasource is None:
            notices["Questions that name no datasource of the catalog, asked of everything"] += 1
        return datasource


def _model(hit: EntityHit) -> str:
    """The model of an entity: itself, or the one that a column belongs to; None for a datasource."""
    return ".".join(hit.id.split(".")[:2])


def askable(question: Question, notices: Counter[str]) -> str:
    """The text of a question, cut to the length that may be asked."""
    text = storable(question.text)
    if len(text) > QUESTION_CHARACTERS:
        notices[f"Questions longer than {QUESTION_CHARACTERS:,} characters, cut there"] += 1
    return text[:QUESTION_CHARACTERS]
