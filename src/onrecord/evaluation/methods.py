"""HOW is a task put to a store? As memories that `recall` finds; or with tables as the catalog, notes as memories
about it, and `search`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, Protocol

from onrecord.evaluation.data import EvalQuestion, Haystack
from onrecord.evaluation.loading import save_all, storable
from onrecord.evaluation.table_documents import Schema, table_of
from onrecord.model.advice import Advised
from onrecord.model.limits import QUESTION_CHARACTERS, RECALL_LIMIT
from onrecord.service import OnRecord

#: How many memories a question asks for: as many as the deepest measure looks at. The first ten are those of any answer.
DEPTH: Final = 20
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
        self, door: OnRecord, question: EvalQuestion, filled: FilledHaystack, notices: Counter[str]
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
        settings = [f"recipe {self.recipe}"] if self.recipe else []
        return ", ".join(settings + ([f"advisor: {', '.join(self.advised)}"] if self.advised else []))

    def save(self, door: OnRecord, haystack: Haystack, saving: SaveContext) -> FilledHaystack:
        memories = save_all(door, haystack.documents, saving.now, saving.notices, saving.saved)
        return FilledHaystack(memories, {}, Schema())

    def ask(
        self, door: OnRecord, question: EvalQuestion, filled: FilledHaystack, notices: Counter[str]
    ) -> list[str]:
        options: dict[str, Any] = {"recipe": self.recipe} if self.recipe else {}
        options |= {task.removesuffix("_close"): "yes" for task in self.advised}
        if "rerank_close" in self.advised:
            options["rerank_when"] = "close"
        answer = door.recall(askable(question, notices), limit=DEPTH, **options)
        notices.update(f"{_DEGRADED} {reason}" for reason in answer.degraded)
        notices.update(_notice(each) for each in answer.advice)
        return list(dict.fromkeys(filled.memories[hit.memory.id] for hit in answer.hits))


def _notice(advised: Advised) -> str:
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
        return _saved_with_catalog(door, haystack, saving, self.schemas)

    def ask(
        self, door: OnRecord, question: EvalQuestion, filled: FilledHaystack, notices: Counter[str]
    ) -> list[str]:
        options: dict[str, Any] = {"recipe": self.recipe} if self.recipe else {}
        answer = door.search(
            askable(question, notices),
            datasource=self._datasource(question, filled, notices),
            max_memories=DEPTH if filled.memories else 0,
            max_example_queries=0,
            # Many of them may be columns of one table.
            max_entities=RECALL_LIMIT if filled.models else 0,
            **options,
        )
        notices.update(f"Answers that say: {warning}" for warning in answer.warnings)
        found = [(hit.score, filled.memories[hit.id]) for hit in answer.memories]
        models = ((hit.score, filled.models.get(_model(hit.id))) for hit in answer.entities)
        found += [(score, document) for score, document in models if document is not None]
        found.sort(key=lambda each: -each[0])
        return list(dict.fromkeys(document for _, document in found))

    def _datasource(
        self, question: EvalQuestion, filled: FilledHaystack, notices: Counter[str]
    ) -> str | None:
        if not self.within_datasource:
            return None
        datasource = filled.schema.datasource(question.meta.get("db"))
        if datasource is None:
            notices["Questions that name no datasource of the catalog, asked of everything"] += 1
        return datasource


def _saved_with_catalog(
    door: OnRecord,
    haystack: Haystack,
    saving: SaveContext,
    schemas: Mapping[str, Schema],
    more: Callable[[str], dict[str, Any]] = lambda text: {},
) -> FilledHaystack:
    """Keep tables as models of the catalog, and all else as memories about them."""
    schema = schemas.get(haystack.name, Schema())
    if len(schema):
        with TemporaryDirectory(prefix="onrecord-eval-") as folder:
            schema.write(Path(folder))
            door.ingest(folder)
    notes = [document for document in haystack.documents if not len(schema) or table_of(document) is None]
    for _ in range(len(haystack.documents) - len(notes)):
        saving.saved()
    memories = save_all(door, notes, saving.now, saving.notices, saving.saved, schema.references, more)
    # Tables of other tasks are in the catalog too, and are no answers here.
    own = {document.id for document in haystack.documents}
    models = {name: id for name, id in schema.documents().items() if id in own}
    return FilledHaystack(memories, models, schema)


def _model(id: str) -> str:
    """The model of an entity: itself, or the one that a column belongs to; None for a datasource."""
    return ".".join(id.split(".")[:2])


class FaceHit(NamedTuple):
    """What a face found: a memory, or an entity of the catalog."""

    id: str
    is_entity: bool = False


class FaceSearch(NamedTuple):
    """How users of a face search, best first; with which fields their texts are kept; and whether they have a catalog."""

    search: Callable[[OnRecord, str], Sequence[FaceHit]]
    fields: Callable[[str], dict[str, Any]]
    has_catalog: bool = False


@dataclass(frozen=True, slots=True)
class ThroughFace:
    """Every question asked as the users of a face ask it. Texts are kept by `remember`, with the fields of the face."""

    face: str
    how: FaceSearch
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    recipe: str | None = None

    @property
    def name(self) -> str:
        return f"through the {self.face} face"

    def save(self, door: OnRecord, haystack: Haystack, saving: SaveContext) -> FilledHaystack:
        schemas = self.schemas if self.how.has_catalog else {}
        return _saved_with_catalog(door, haystack, saving, schemas, self.how.fields)

    def ask(
        self, door: OnRecord, question: EvalQuestion, filled: FilledHaystack, notices: Counter[str]
    ) -> list[str]:
        found = self.how.search(door, askable(question, notices))
        documents = (
            filled.models.get(_model(hit.id)) if hit.is_entity else filled.memories[hit.id] for hit in found
        )
        return list(dict.fromkeys(document for document in documents if document is not None))[:DEPTH]


def askable(question: EvalQuestion, notices: Counter[str]) -> str:
    """The text of a question, cut to the length that may be asked."""
    text = storable(question.text)
    if len(text) > QUESTION_CHARACTERS:
        notices[f"Questions longer than {QUESTION_CHARACTERS:,} characters, cut there"] += 1
    return text[:QUESTION_CHARACTERS]
