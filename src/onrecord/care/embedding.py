"""HOW does a store get its missing vectors? Tenant by tenant; the answer says what could not be done."""

from dataclasses import dataclass
from functools import partial

from onrecord.care import homes
from onrecord.care.measured_switch import MeasuredSwitch, measure_switch
from onrecord.errors import invalid
from onrecord.jobs.missing_vectors import embed_missing as embed_home
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.store.ports.jobs import EMBED


@dataclass(frozen=True, slots=True)
class EmbedMissing(Request):
    """Make missing vectors: of memories saved while no embedder was available, or with another model.

    A text that has its vectors is never embedded again. Where another model is in use, the new one is first measured on
    the tenant's own questions, if feedback keeps enough of them; one that is worse is refused.
    """

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)
    anew: bool = ask(rules.FLAG, "Drop all existing vectors and make them anew.", False)
    anyway: bool = ask(
        rules.FLAG,
        "Change to another embedder without measuring it on the questions that people judged.",
        False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedMissing(Answer):
    """How many memories got vectors, and why others did not."""

    model: str
    embedded: int
    failures: tuple[str, ...] = ()
    measured: tuple[MeasuredSwitch, ...] = ()


@operation("write", "memory.admin", "POST /embed-missing")
def embed_missing(call: Call, ask: EmbedMissing) -> EmbeddedMissing:
    there, store = homes.embedded(call, "Embedding all tenants", ask.all_tenants), call.store
    embedder = call.embedders.current
    if embedder is None:
        raise invalid("embedder", "none is configured; set ONRECORD_EMBEDDER, for instance to e5")
    # Fails here, before any work, if the embedder cannot be reached.
    model = embedder.model
    done, failures, measured = 0, list[str](), list[MeasuredSwitch]()
    for home in there:
        if not ask.anyway and (switch := measure_switch(call, embedder, home)) is not None:
            measured.append(switch)
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
    store.prepare_vector_search()
    return EmbeddedMissing(
        model=model.name, embedded=done, failures=tuple(dict.fromkeys(failures)), measured=tuple(measured)
    )
