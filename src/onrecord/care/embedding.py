"""HOW does a store get its missing vectors? Tenant by tenant; the answer says what could not be done."""

from dataclasses import dataclass
from functools import partial

from onrecord.care import homes
from onrecord.errors import invalid
from onrecord.jobs.embedding import embed_missing as embed_home
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.store.ports.jobs import EMBED


@dataclass(frozen=True, slots=True)
class EmbedMissing(Request):
    """Make missing vectors: of memories saved while no embedder was available, or with another model.

    A text that has its vectors is never embedded again.
    """

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)
    anew: bool = ask(rules.FLAG, "Drop all existing vectors and make them anew.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedMissing(Answer):
    """How many memories got vectors, and why others did not."""

    model: str
    embedded: int
    failures: tuple[str, ...] = ()


@operation("write", "memory.admin", "POST /embed-missing")
def embed_missing(call: Call, ask: EmbedMissing) -> EmbeddedMissing:
    there, store = homes.embedded(call, "Embedding all tenants", ask.all_tenants), call.store
    embedder = call.embedders.current
    if embedder is None:
        raise invalid("embedder", "none is configured; set ONRECORD_EMBEDDER, for instance to e5")
    # Fails here, before any work, if the embedder cannot be reached.
    model = embedder.model
    done, failures = 0, list[str]()
    for home in there:
        with store.restoring(home) as restoring:
            restoring.jobs.retry_failed(call.now)
            if ask.anew:
                restoring.drop_vectors()
        batch = embed_home(store, embedder, home, partial(call.progress, f"embedding {home}"))
        done += batch.done
        failures += batch.failures
        with store.restoring(home) as restoring:
            # Checked under the lock of the tenant, so that a concurrent import keeps its job.
            if not restoring.unembedded(home, model, 1):
                restoring.jobs.withdraw(EMBED)
    store.settle_vectors()
    return EmbeddedMissing(model=model.name, embedded=done, failures=tuple(dict.fromkeys(failures)))
