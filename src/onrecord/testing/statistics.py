"""DO private memories of others change a ranking? No: two tenants, one with and one without them, give equal answers.

Both tenants get the same memories in the same order; one of them also gets private memories of other callers. A caller
who cannot see those must get the same answers in both tenants, to the last digit, and by the same SQL statements.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

import pytest

from onrecord.model.caller import Caller
from onrecord.model.limits import STATUSES
from onrecord.model.wire import to_json
from onrecord.providers.embedding import Calibration
from onrecord.recall.recipes import RECIPES
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, administrator, person
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from onrecord.testing.executed_statements import executed_statements

ALONE: Final = "alone"
CROWDED: Final = "crowded"
_ANN: Final = person(personas=frozenset({"chef"}), systems={"crm": "manage"}, conversation="talk")
_REVIEWS: Final = {"memory.read", "memory.manage", "memory.review"}
#: The callers who ask: ordinary members, and callers who may also review or read every system.
ASKERS: Final = {
    "members": (_ANN, person("cleo")),
    "who sees more": (
        person(permissions=_REVIEWS, conversation="talk"),
        person(personas=frozenset({"chef"}), systems={"*": "read"}, permissions=_REVIEWS),
    ),
}
#: After these steps the private memories are saved.
_PLANTED_AFTER: Final = (0, 4, 6)
#: These words also occur in the private memories, so a count over all memories would differ.
QUESTIONS: Final = (
    "kestrel nests",
    "where do kestrel hawks nest near the orders table",
    "raw_orders customer_id",
    "nothing of this stands anywhere",
)


class CalibratedStub(StubEmbedder):
    """An embedder with a calibration, so that relevance is estimated from vectors too."""

    @cached_property
    def calibration(self) -> Calibration:
        weights = dict.fromkeys(("similarity", "tokens", "rarest", "words"), 1.0)
        weights |= {"constant": -1.0, "passages": -0.3, "length": -0.1}
        return Calibration(0.0, self.embed_query("what is it").vector, weights)


class Step(NamedTuple):
    """One call by one caller."""

    caller: Caller
    does: Callable[[OnRecord], Any]


def saves(caller: Caller, text: str, **more: Any) -> Step:
    return Step(caller, lambda door: door.remember(text, **{"dedupe": False, **more}))


def planted(number: int, askers: Sequence[Caller]) -> Iterator[Step]:
    """Private memories of bob in every scope that the askers cannot see, with the same words, entities and relations."""
    bob = person("bob", personas=frozenset({"baker"}), systems={"erp": "manage"}, conversation="other talk")
    text = f"kestrel hawks nest in raw_orders by customer_id, says note {number}"
    about: dict[str, Any] = {"tags": ["birds"], "entities": ["shop.orders"]}
    rooms: tuple[dict[str, Any], ...] = (
        {"scope": "user"},
        {"scope": "persona", "persona": "baker"},
        {"scope": "session"},
        {"scope": "user", "conversation": "talk"},
        *(({"scope": "system", "system": "erp"},) if not any("*" in each.systems for each in askers) else ()),
    )
    for room in rooms:
        yield saves(bob, text, **about, **room)
    waiting: tuple[dict[str, Any], ...] = (
        {"scope": "user"},
        {"scope": "persona", "persona": "baker"},
        *(({"scope": "tenant"},) if not any("memory.review" in each.permissions for each in askers) else ()),
    )
    for room in waiting:
        yield saves(replace(bob, actor="unattended"), f"{text}, they say", **about, **room)
    yield saves(bob, "private kestrel", id=f"bob.{number}", scope="user", **about)
    yield Step(bob, lambda door: door.relate(f"bob.{number}", "supports", "first"))
    yield saves(bob, "gone kestrel", id=f"gone.{number}", scope="user", **about)
    yield Step(bob, lambda door: door.forget(f"gone.{number}"))


def shared() -> Iterator[Step]:
    """The memories that the askers, or some of them, see."""
    about: dict[str, Any] = {"tags": ["birds"], "entities": ["shop.orders"]}
    yield saves(_ANN, "kestrel hawks nest in the barn", id="first", **about)
    yield saves(
        _ANN, "orders are kept in raw_orders, joined by customer_id and order_id", id="orders", **about
    )
    yield saves(_ANN, "customers are kept in raw_customers by customer_id and order_id", id="customers")
    yield saves(_ANN, "the barn is red", id="mine", scope="user")
    yield saves(_ANN, "chefs count kestrel eggs", id="chefs", scope="persona", persona="chef")
    yield saves(_ANN, "crm holds the orders of customers", id="crm", scope="system", system="crm")
    yield saves(_ANN, "where do they nest?", id="turn.1", scope="session")
    yield saves(_ANN, "kestrel hawks nest in the barn, by the red door", id="turn.2", scope="session")
    yield Step(_ANN, lambda door: door.relate("first", "supports", "mine"))


class Worlds:
    """The two tenants, and the answers of each."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._embedders = StubEmbedders(CalibratedStub())
        # Saved first, so that the global tenant has a lower number than both.
        self._door(administrator()).remember("kestrel hawks are birds", id="global:birds", scope="global")

    def _door(self, caller: Caller) -> OnRecord:
        return OnRecord(self._store, caller, clock=self._clock, embedders=self._embedders)

    def take(self, step: Step, *tenants: str) -> None:
        self._clock.tick()
        for tenant in tenants:
            step.does(self._door(replace(step.caller, tenant=tenant)))

    def warm_up(self) -> None:
        self._door(person(tenant="elsewhere")).recall("kestrel")

    def answers_of(self, caller: Caller, tenant: str, questions: Sequence[str] = QUESTIONS) -> list[str]:
        """Every answer that counts or ranks something, as text without the name of the tenant."""
        door = self._door(replace(caller, tenant=tenant))
        answers: list[Any] = [
            door.recall(question, recipe=recipe, limit=20) for question in questions for recipe in RECIPES
        ]
        answers += [door.recall(question, min_relevance=0) for question in questions]
        answers += [
            door.recall("kestrel", as_of=self._clock.now),
            door.recall("nest", statuses=list(STATUSES)),
        ]
        answers += [door.recall("kestrel nests", known_at=self._clock.now, entities=["shop.orders"])]
        answers += [door.search(questions[0], entities=["shop.orders"]), door.context("kestrel nests").text]
        return [repr(to_json(answer)).replace(tenant, "") for answer in answers] + self._counted(door)

    def _counted(self, door: OnRecord) -> list[str]:
        with self._store.reading(door.caller, self._clock.now) as reading:
            index, model = reading.index, self._embedders.current.model  # type: ignore[union-attr]
            covered = [(each.model, each.memories, each.passages) for each in index.coverage()]
            centroid = index.centroid(model)
            counted = (reading.size, reading.sees_global, index.average_length, index.has_references, covered)
            rare = index.rarity(["kestrel", "nest", "raw_orders", "nowhere"])
            about = index.about(["shop.orders"], ["orders"], most=9)
            held = {term: len(keys) for term, keys in index.holders(["customer_id", "nest"], most=9).items()}
            return list(
                map(repr, (counted, rare, about.counts, about.memories, held, centroid.vector.tobytes()))
            )


class StatisticsConformance(Conformance):
    """Counts and scores depend only on what the caller sees."""

    #: What is asked. A back end whose statements are those of another one may be asked some of it.
    questions: ClassVar[Sequence[str]] = QUESTIONS

    @pytest.fixture
    def worlds(self, store: Store, clock: Clock) -> Worlds:
        return Worlds(store, clock)

    @pytest.mark.parametrize("who", ASKERS)
    def test_what_others_keep_to_themselves_changes_no_digit_and_no_statement(
        self, worlds: Worlds, store: Store, who: str
    ) -> None:
        for number, step in enumerate(shared()):
            worlds.take(step, ALONE, CROWDED)
            for each in planted(number, ASKERS[who]) if number in _PLANTED_AFTER else ():
                worlds.take(each, CROWDED)
        # Load the caches of global memories, which both tenants share.
        worlds.warm_up()
        for caller in ASKERS[who]:
            with executed_statements(store) as statements_alone:
                alone = worlds.answers_of(caller, ALONE, self.questions)
            with executed_statements(store) as statements_crowded:
                crowded = worlds.answers_of(caller, CROWDED, self.questions)
            assert crowded == alone
            assert statements_crowded == statements_alone
            assert len(statements_alone) > len(self.questions) * len(RECIPES)
