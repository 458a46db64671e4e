"""DOES the store of LangGraph do what its own stores do? And what only this one can: versions, a past, several processes."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from onrecord import OnRecord, connect
from onrecord.errors import Forbidden, Invalid
from onrecord.frameworks.langgraph import OnRecordStore

ODD = (
    ("Ünïcode", "日本語", "🦉"),
    ("a b", " spaced ", "tab\tnew\nline"),
    ("*", "%_[]", "'; drop table memories; --"),
    ("a:b", "/etc/passwd", "~~"),
    ("é", "e\u0301", "\u202eright\u200bto left"),
    ("x" * 300,),
)


def told(results: list[Any]) -> list[Any]:
    """What a store answered, without times and scores, and without an order where none was asked for."""
    return [_plain(each) for each in results]


def _plain(result: Any) -> Any:
    if isinstance(result, list):
        plain = [_plain(each) for each in result]
        return (
            plain if plain and isinstance(plain[0], tuple) and len(plain[0]) != 3 else sorted(plain, key=repr)
        )
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


def test_the_same_operations_get_the_same_answers_as_from_the_store_in_memory(door: OnRecord) -> None:
    ours, theirs = OnRecordStore(door), InMemoryStore()
    random = Random(7)
    namespaces = [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("a", "x", "c"), ("A", "b")]
    filters: list[dict[str, Any] | None] = [
        None,
        {"n": 3},
        {"n": {"$gte": 4}},
        {"n": {"$ne": 2, "$lt": 8}},
        {"even": True, "n": {"$lte": 6}},
        {"deep": {"er": [1, {"x": None}]}},
        {"none": {"$eq": None}},
    ]
    conditions = [
        (MatchCondition("prefix", ("a",)),),
        (MatchCondition("prefix", ("a", "*", "c")),),
        (MatchCondition("suffix", ("c",)), MatchCondition("prefix", ("a",))),
        (MatchCondition("suffix", ("*", "b")),),
        None,
    ]

    def some_op() -> Any:
        namespace, key = random.choice(namespaces), f"k{random.randrange(3)}"
        match random.randrange(7):
            case 0 | 1 | 2:
                n = random.randrange(10)
                deep = {"er": [1, {"x": random.choice([None, 2])}]}
                return PutOp(namespace, key, {"n": n, "even": n % 2 == 0, "deep": deep})
            case 3:
                return PutOp(namespace, key, None)
            case 4:
                return GetOp(namespace, key)
            case 5:
                prefix = namespace[: random.randrange(len(namespace) + 1)]
                return SearchOp(prefix, filter=random.choice(filters), limit=100)
            case _:
                return ListNamespacesOp(random.choice(conditions), random.choice([None, 1, 2]), limit=100)

    for _ in range(12):
        ops = [some_op() for _ in range(6)]
        assert told(ours.batch(ops)) == told(theirs.batch(ops)), ops
    for each in namespaces:
        assert told([ours.search(each, limit=100)]) == told([theirs.search(each, limit=100)])


def test_a_batch_reads_what_was_before_it_and_keeps_the_last_of_each_item(door: OnRecord) -> None:
    store = OnRecordStore(door)
    store.put(("a",), "k", {"n": 0})
    found, _, _, searched, listed = store.batch(
        [
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 1}),
            PutOp(("a",), "k", {"n": 2}),
            SearchOp(("a",)),
            ListNamespacesOp(),
        ]
    )
    assert found.value == {"n": 0}  # type: ignore[union-attr]
    assert [each.value for each in searched] == [{"n": 0}]  # type: ignore[union-attr]
    assert listed == [("a",)]
    assert store.get(("a",), "k").value == {"n": 2}  # type: ignore[union-attr]


def test_pages_of_a_search_come_newest_first_and_never_twice(door: OnRecord, clock: Any) -> None:
    store = OnRecordStore(door)
    for number in range(7):
        clock.tick(seconds=1)
        store.put(("docs",), f"d{number}", {"n": number})
    pages = [store.search(("docs",), limit=3, offset=start) for start in (0, 3, 6, 9)]
    assert [[each.value["n"] for each in page] for page in pages] == [[6, 5, 4], [3, 2, 1], [0], []]
    assert [
        each.value["n"] for each in store.search(("docs",), filter={"n": {"$lt": 5}}, limit=2, offset=1)
    ] == [3, 2]
    assert store.search(("docs",), limit=0) == []
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("docs",), filter={"n": {"$in": [1]}})


def test_a_question_finds_by_meaning_only_in_what_is_indexed(door: OnRecord) -> None:
    store = OnRecordStore(door, index={"fields": ["text", "notes[*].said"]})
    store.put(("docs", "a"), "coffee", {"text": "Ann takes oat milk in her coffee.", "secretive": "platypus"})
    store.put(("docs", "b"), "ferry", {"notes": [{"said": "The boat to the island leaves at nine."}]})
    store.put(("docs", "b"), "hidden", {"text": "Oat milk is in the cellar."}, index=False)
    store.put(("docs", "b"), "other", {"text": "x", "more": "Oat milk is sold out."}, index=["more"])
    store.put(("elsewhere",), "coffee", {"text": "Oat milk in coffee."})

    found = store.search(("docs",), query="which milk goes into the coffee?", limit=10)
    assert [each.key for each in found][:2] == ["coffee", "other"]
    assert (found[0].score or 0) > (found[1].score or 0) > 0
    # What does not bear on it, or is not indexed, comes last and without a score, as in the other stores.
    assert {each.key: each.score for each in found[2:]} == {"ferry": None, "hidden": None}
    assert store.search(("docs",), query="when does the ship sail?", limit=1)[0].key == "ferry"
    assert [each.key for each in store.search(("docs",), query="oat milk", filter={"text": "x"})] == ["other"]
    everything = store.search(("docs",), query="milk", limit=2) + store.search(
        ("docs",), query="milk", limit=2, offset=2
    )
    assert sorted(each.key for each in everything) == ["coffee", "ferry", "hidden", "other"]
    # For others, too, what was not to be indexed is found by no word of it.
    assert all("cellar" not in hit.memory.content for hit in door.recall("milk in the cellar").hits)


def test_odd_names_and_values_come_back_as_they_were(door: OnRecord) -> None:
    store = OnRecordStore(door)
    value = {"text": "Zürich 🦉 \u202e", "": {"nested": [1, 2.5, None, True, {"ключ": "値"}]}, "big": 10**18}
    for number, namespace in enumerate(ODD):
        store.put(namespace, namespace[-1], {**value, "number": number})
    for number, namespace in enumerate(ODD):
        assert store.get(namespace, namespace[-1]).value == {**value, "number": number}  # type: ignore[union-attr]
        assert [each.value["number"] for each in store.search(namespace)] == [number]
    assert set(store.list_namespaces()) == set(ODD)
    assert store.list_namespaces(prefix=("*", "%_[]")) == [ODD[2]]
    assert store.get(("A B", " spaced ", "tab\tnew\nline"), ODD[1][-1]) is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"text": "x" * 70_000}, "at most 65536 bytes"),
        ({"n": float("nan")}, "JSON does not have"),
        ({"when": object()}, "JSON does not have"),
        ({1: "a"}, "keys must be texts"),
        ({"text": "a\x00b"}, "cannot be stored"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_leaves_what_was_there(
    door: OnRecord, value: Any, why: str
) -> None:
    store = OnRecordStore(door)
    store.put(("a",), "k", {"n": 1})
    with pytest.raises(Invalid, match=why):
        store.put(("a",), "k", value)
    assert store.get(("a",), "k").value == {"n": 1}  # type: ignore[union-attr]


def test_names_that_cannot_be_are_refused(door: OnRecord) -> None:
    store = OnRecordStore(door)
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])
    with pytest.raises(Invalid, match="at most 30 parts"):
        store.put(("a",) * 30, "k", {})
    with pytest.raises(Invalid, match="what looks like a secret"):
        store.put(("users",), "password=hunter2hunter2", {"n": 1})
    assert store.search(()) == []
    for wrong in ({"name": "No good"}, {"scope": "session"}, {"index": {"dims": 3, "embed": len}}):
        with pytest.raises(Invalid):
            OnRecordStore(door, **wrong)  # type: ignore[arg-type]


def test_secrets_in_a_value_are_not_kept_and_the_log_says_so(
    door: OnRecord, caplog: pytest.LogCaptureFixture
) -> None:
    store = OnRecordStore(door)
    with caplog.at_level(logging.WARNING):
        store.put(("a",), "k", {"password": "hunter2hunter2", "note": "fine"})
    assert store.get(("a",), "k").value == {"password": "[secret:password]", "note": "fine"}  # type: ignore[union-attr]
    assert "Secrets in ('a', 'k') were not kept" in caplog.text


def test_each_put_is_a_version_and_a_deletion_retires(door: OnRecord, clock: Any) -> None:
    store = OnRecordStore(door)
    store.put(("a",), "k", {"text": "old"})
    before = clock.now
    clock.tick(hours=1)
    store.put(("a",), "k", {"text": "new"})
    item = store.get(("a",), "k")
    assert item is not None
    assert (item.created_at, item.updated_at) == (before, clock.now)
    (held,) = door.browse().memories
    assert [each.memory.metadata["value"]["text"] for each in door.history(held.id).versions] == [
        "old",
        "new",
    ]
    assert held.source == "langgraph:a"

    clock.tick(hours=1)
    store.delete(("a",), "k")
    assert (store.get(("a",), "k"), store.search(()), store.list_namespaces()) == (None, [], [])
    assert door.show(held.id).memory.status == "archived"
    store.delete(("a",), "k")
    for text in ("again", "and again"):
        store.put(("a",), "k", {"text": text})
        assert store.get(("a",), "k").value == {"text": text}  # type: ignore[union-attr]
        assert len(door.browse().memories) == 1
        store.delete(("a",), "k")

    erasing = OnRecordStore(door, erases=True)
    erasing.put(("a",), "k", {"text": "gone"})
    (last,) = door.browse().memories
    erasing.delete(("a",), "k")
    assert not [each for each in door.browse(statuses=["archived"]).memories if each.id == last.id]


def test_an_item_lives_as_long_after_it_was_last_read_as_it_is_given(door: OnRecord, clock: Any) -> None:
    store = OnRecordStore(door, ttl={"default_ttl": 60, "refresh_on_read": True}, clock=clock)
    store.put(("a",), "read", {"n": 1})
    put_at = clock.now
    store.put(("a",), "unread", {"n": 2})
    store.put(("a",), "kept", {"n": 3}, ttl=None)
    for _ in range(3):
        clock.tick(minutes=50)
        item = store.get(("a",), "read")
        assert item is not None
        # To read it is not to put it.
        assert item.updated_at == put_at
        assert store.get(("a",), "unread", refresh_ttl=False) is None or clock.now < put_at.replace(hour=13)
    assert {each.key for each in store.search((), refresh_ttl=False)} == {"read", "kept"}
    assert store.get(("a",), "unread") is None
    assert store.sweep_ttl() == 1
    clock.tick(minutes=70)
    store.put(("b",), "k", {"n": 4})
    # Of namespaces in which everything has expired there is no word, and a sweep comes by itself if that is set.
    assert store.list_namespaces(prefix=("b",)) == [("b",)]
    assert {each.key for each in store.search(())} == {"kept", "k"}
    clock.tick(minutes=61)
    sweeping = OnRecordStore(door, ttl={"sweep_interval_minutes": 5, "omit_expired": False}, clock=clock)
    assert sweeping.get(("b",), "k", refresh_ttl=False) is not None
    clock.tick(minutes=6)
    assert sweeping.get(("b",), "k") is None


def test_reading_often_writes_seldom(door: OnRecord, clock: Any) -> None:
    store = OnRecordStore(door, ttl={"default_ttl": 60}, clock=clock)
    store.put(("a",), "k", {"n": 1})
    for _ in range(60):
        clock.tick(seconds=30)
        store.get(("a",), "k")
    (held,) = door.browse().memories
    assert len(door.history(held.id).versions) < 8


@pytest.mark.parametrize("erases", [False, True])
def test_what_is_put_while_it_expires_is_kept(
    door: OnRecord, clock: Any, monkeypatch: pytest.MonkeyPatch, erases: bool
) -> None:
    store = OnRecordStore(door, clock=clock, erases=erases)
    store.put(("a",), "k", {"n": 1}, ttl=1)
    store.put(("a",), "old", {"n": 1}, ttl=1)
    clock.tick(minutes=2)
    retire = door.retire

    def put_first(id: str, **how: Any) -> Any:
        # Someone puts it between the look of a sweep and its end.
        if "put" not in done:
            done.append("put")
            store.put(("a",), "k", {"n": 2})
            store.put(("a",), "old", {"n": 2}, ttl=60)
        return retire(id, **how)

    done: list[str] = []
    monkeypatch.setattr(door, "retire", put_first)
    assert store.sweep_ttl() == 0
    assert [store.get(("a",), key).value for key in ("k", "old")] == [{"n": 2}] * 2  # type: ignore[union-attr]
    clock.tick(minutes=61)
    assert store.sweep_ttl() == 1
    assert [each.key for each in store.search(())] == ["k"]


def test_whoever_may_not_end_what_has_expired_does_not_see_it_and_asks_nobody(
    door: OnRecord, clock: Any
) -> None:
    from dataclasses import replace

    OnRecordStore(door, clock=clock).put(("a",), "k", {"n": 1}, ttl=1)
    clock.tick(minutes=2)
    reader = replace(door.caller, permissions=frozenset({"memory.read"}))
    for caller in (reader, replace(door.caller, actor="agent")):
        store = OnRecordStore(door.as_caller(caller), clock=clock)
        assert (store.list_namespaces(), store.search(())) == ([], [])
        assert door.browse(statuses=["pending"]).memories == ()
        assert store.sweep_ttl() == 0


@pytest.mark.parametrize("ttl", [float("inf"), float("nan"), 1e12, "5"])
def test_a_time_to_live_that_no_calendar_has_is_refused(door: OnRecord, ttl: Any) -> None:
    with pytest.raises(Invalid, match="must be a number of minutes"):
        OnRecordStore(door).put(("a",), "k", {}, ttl=ttl)


def test_filters_tell_large_numbers_apart(door: OnRecord) -> None:
    store = OnRecordStore(door)
    store.put(("a",), "k", {"n": 2**53 + 1})
    for condition, count in (({"$gt": 2**53}, 1), ({"$gte": 2**53 + 2}, 0), ({"$lt": 10**400}, 1)):
        assert len(store.search((), filter={"n": condition})) == count


def test_a_memory_that_only_looks_like_an_item_hides_none(door: OnRecord, bob: OnRecord) -> None:
    store = OnRecordStore(door)
    store.put(("a",), "k", {"n": 1})
    (held,) = door.browse().memories
    bob.remember("Not an item.", scope="tenant", tags=held.tags)
    bob.remember("No item either.", scope="tenant", tags=held.tags, metadata={"address": ["a", "k"]})
    assert store.get(("a",), "k").value == {"n": 1}  # type: ignore[union-attr]
    assert [each.key for each in store.search(("a",), query="item")] == ["k"]


def test_what_others_keep_is_not_in_it(door: OnRecord, bob: OnRecord, admin: OnRecord) -> None:
    door.remember("A note of no store.")
    stores: dict[str, BaseStore] = {
        "anns": OnRecordStore(door, scope="user"),
        "bobs": OnRecordStore(bob, scope="user"),
        "admins": OnRecordStore(admin, scope="user"),
        "everyones": OnRecordStore(door),
        "another": OnRecordStore(door, name="another"),
    }
    for who, store in stores.items():
        store.put(("users",), "prefs", {"who": who})
    for who, store in stores.items():
        assert store.get(("users",), "prefs").value == {"who": who}  # type: ignore[union-attr]
        assert [each.value["who"] for each in store.search((), query="who")] == [who]
        assert store.list_namespaces() == [("users",)]
    stores["admins"].delete(("users",), "prefs")
    assert stores["anns"].get(("users",), "prefs") is not None
    assert OnRecordStore(bob).get(("users",), "prefs").value == {"who": "everyones"}  # type: ignore[union-attr]


def test_what_waits_for_a_person_is_not_passed_over(door: OnRecord) -> None:
    from dataclasses import replace

    run = door.as_caller(replace(door.caller, actor="unattended", run="nightly"))
    with pytest.raises(Forbidden, match="waits for a person to approve it"):
        OnRecordStore(run).put(("a",), "k", {"n": 1})
    OnRecordStore(door).put(("a",), "mine", {"n": 1})
    agent = door.as_caller(replace(door.caller, actor="agent"))
    with pytest.raises(Forbidden, match="waits for a person to approve it"):
        OnRecordStore(agent).put(("a",), "mine", {"n": 2})
    assert OnRecordStore(agent).get(("a",), "mine").value == {"n": 1}  # type: ignore[union-attr]


def test_programs_and_threads_that_write_at_once_lose_nothing(tmp_path: Path, door: OnRecord) -> None:
    # A connection of its own meets this one only in the file, as another process does.
    with connect(tmp_path / "memory.db", caller=door.caller, embedder="none") as other:
        here, there = OnRecordStore(door), OnRecordStore(other)

        def write(n: int) -> None:
            # Each item is put from both sides at once, and one that is put is deleted and put again.
            store = here if n % 2 else there
            store.put(("shared",), f"k{n // 2}", {"n": n // 2})
            store.put(("again",), "k", {"n": n})
            if n % 3 == 2:
                store.delete(("again",), "k")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(40)))
    found = here.search(("shared",), limit=99)
    assert sorted((each.key, each.value["n"]) for each in found) == sorted((f"k{n}", n) for n in range(20))
    assert len(here.search(("again",))) <= 1


def test_a_store_is_opened_again_and_used_by_async_programs(tmp_path: Path) -> None:
    async def use(store: BaseStore, number: int) -> Any:
        await store.aput(("a",), f"k{number}", {"n": number})
        return await store.aget(("a",), f"k{number}")

    async def both(store: BaseStore) -> list[Any]:
        return await asyncio.gather(*(use(store, number) for number in range(3)))

    with connect(tmp_path / "again.db") as door:
        assert [each.value["n"] for each in asyncio.run(both(OnRecordStore(door)))] == [0, 1, 2]
    with connect(tmp_path / "again.db") as door:
        store = OnRecordStore(door)
        found = asyncio.run(store.asearch(("a",), filter={"n": {"$gt": 0}}))
        assert sorted(each.key for each in found) == ["k1", "k2"]
