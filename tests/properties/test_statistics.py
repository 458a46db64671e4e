"""Is one told the same with and without what others keep to themselves? Any steps of anyone's, in any order.

A tenant in which someone and strangers do things is compared with one in which the strangers never were.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import Caller
from onrecord.testing.builders import Clock
from onrecord.testing.statistics import ALONE, CROWDED, Step, Worlds, saves
from tests.soak import tries

from .conftest import Stores

ANN = Caller(tenant="acme", user="ann", personas={"chef"}, systems={"crm": "manage"}, conversation="talk")
BOB = Caller(
    tenant="acme", user="bob", personas={"baker"}, systems={"erp": "manage"}, conversation="other talk"
)
WORDS = ("kestrel", "nest", "orders", "raw_orders", "customer_id", "order_id", "barn", "red")
#: The rooms of someone who asks, and those that are closed to them.
OPEN: tuple[dict[str, Any], ...] = (
    {"scope": "tenant"},
    {"scope": "user"},
    {"scope": "session"},
    {"scope": "persona", "persona": "chef"},
    {"scope": "system", "system": "crm"},
)
CLOSED: tuple[dict[str, Any], ...] = (
    {"scope": "user"},
    {"scope": "user", "conversation": "talk"},
    {"scope": "session"},
    {"scope": "persona", "persona": "baker"},
    {"scope": "system", "system": "erp"},
)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=90).map(" ".join)
abouts = st.sampled_from([{}, {}, {"tags": ["birds"]}, {"entities": ["shop.orders", "shop.customers"]}])


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[Step, bool]]:
    """Saves of both, one after the other, with edges and ends; and whether the one who asks did it."""
    done: list[tuple[Step, bool]] = []
    ids: dict[bool, list[str]] = {True: [], False: []}
    open_to_all: list[str] = []
    for number in range(draw(st.integers(1, 9))):
        is_own = draw(st.booleans())
        caller, id = (ANN if is_own else BOB), f"{'ann' if is_own else 'bob'}.{number}"
        waits = not is_own and draw(st.booleans())
        room = {"scope": "tenant"} if waits else draw(st.sampled_from(OPEN if is_own else CLOSED))
        if waits:
            caller = Caller(tenant="acme", user="bob", actor="unattended")
        done.append((saves(caller, draw(texts), id=id, **room, **draw(abouts)), is_own))
        # The edges of both may lead to what both see.
        others = ids[True] if is_own else [each for each in ids[True] if each in open_to_all] + ids[False]
        if others and not waits and draw(st.booleans()):
            done.append((_relates(caller, id, draw(st.sampled_from(others))), is_own))
        if not waits and draw(st.integers(0, 4)) == 0:
            done.append((Step(caller, lambda door, id=id: door.forget(id)), is_own))  # type: ignore[misc]
        elif not waits:
            ids[is_own].append(id)
            open_to_all += [id] * (room["scope"] == "tenant")
    return done


def _relates(caller: Caller, source: str, target: str) -> Step:
    return Step(caller, lambda door: door.relate(source, "supports", target))


@settings(max_examples=tries(6, soaking=75))
@given(steps=steps(), question=texts)
def test_whoever_sees_nothing_of_others_is_told_the_same_without_them(
    stores: Stores, steps: list[tuple[Step, bool]], question: str
) -> None:
    for door in stores.emptied("sqlite-memory").values():
        worlds = Worlds(door._store, Clock())
        for step, is_own in steps:
            worlds.take(step, *((ALONE, CROWDED) if is_own else (CROWDED,)))
        asked = [" ".join(question.split()[:6])]
        assert worlds.answers_of(ANN, CROWDED, asked) == worlds.answers_of(ANN, ALONE, asked)
