"""WHAT does a save carry from step to step?"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from onrecord.catalog.extraction import ReadQuery
from onrecord.model.advice import AdviceInput, Advised
from onrecord.model.caller import Caller
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.findings import RejectedProposal
from onrecord.model.limits import GLOBAL_TENANT, SAVES_PER_RUN
from onrecord.model.memory import Change, Memory
from onrecord.providers.embedding import Embedder
from onrecord.store.ports.records import Alike
from onrecord.store.ports.store import Store

if TYPE_CHECKING:
    from onrecord.remember.remember import Remember


Outcome = Literal["created", "updated", "unchanged", "proposed", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveDraft:
    """A save in progress: the request, the memory it makes, and the results of its steps."""

    caller: Caller
    ask: "Remember"
    now: datetime
    memory: Memory | None = None
    outcome: Outcome = "created"
    #: The memory that has the id of the save.
    held: Memory | None = None
    #: The memories that the request supersedes, by their ids.
    named: tuple[str, ...] = ()
    duplicate: Memory | None = None
    scrubbed: int = 0
    superseded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    #: Its query, as far as it can be read without the catalog.
    read_query: ReadQuery | None = None
    #: The embedded text, the model, and the vectors.
    model: EmbeddingModel | None = None
    embedded_text: str = ""
    passages: tuple[Passage, ...] = ()
    degraded: tuple[str, ...] = ()
    #: What is near by meaning, by its likeness; and which of it ends with this save.
    alike: tuple[Alike, ...] = ()
    replaces: tuple[str, ...] = ()
    #: What waits for review and says the same as a save that waits: it ends with this save at once.
    repeats: tuple[str, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()
    #: What the request says is new, without secrets.
    what_is_new: str | None = None
    #: What each advisor did, and the tags that it added.
    advice: tuple[Advised, ...] = ()
    tagged: tuple[str, ...] = ()

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The memories that end with this one: those that the request names, and those that say the same."""
        return *self.named, *self.replaces

    @property
    def ready(self) -> Memory:
        """The memory; every step after `check` may rely on it."""
        assert self.memory is not None
        return self.memory

    @property
    def home(self) -> str:
        """The tenant that the row belongs to."""
        return GLOBAL_TENANT if self.ready.scope == "global" else self.caller.tenant

    def change(self, name: str) -> Change:
        return Change(name, self.caller.user, self.caller.actor, self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveTools:
    """What a step may use."""

    store: Store
    embedder: Embedder | None = None
    saves_per_run: int = SAVES_PER_RUN
    #: Asks an advisor for tags, if that is wanted.
    advise: Callable[[AdviceInput], Advised] | None = None
