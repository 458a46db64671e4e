"""Do eight processes share one store without an error, a lost write or a double id?"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from onrecord import OnRecord, connect
from onrecord.model.limits import STATUSES
from onrecord.model.memory import Change, Memory
from onrecord.store.postgres import PostgresBackend
from onrecord.store.sql import SqlStore
from tests.distributed import CLUSTER, NO_CLUSTER, distributed_store
from tests.soak import SOAKING

PROCESSES = 8
SECONDS = 20.0 if SOAKING else 0.3
#: What one of two connections calls itself, so that it can be watched.
OTHER = "onrecord-test-forgetting"


@pytest.mark.slow
def test_eight_processes_write_and_read_one_store_and_nothing_is_lost(
    crew: Any, shared_db: str, opened: Any
) -> None:
    share(crew, shared_db, opened)


@pytest.mark.slow
@pytest.mark.skipif(CLUSTER is None, reason=NO_CLUSTER)
def test_eight_processes_share_a_store_that_lies_on_many_servers(crew: Any, opened: Any) -> None:
    with distributed_store() as db:
        share(crew, db, opened)


def share(crew: Any, shared_db: str, opened: Any) -> None:
    opened(shared_db).remember("count 0", id="counter")
    told = acknowledged(crew, shared_db)
    door = opened(shared_db)
    there = everything(door)

    saved = {line["saved"]: line["content"] for line in told if "saved" in line}
    forgotten = {line["forgotten"] for line in told if "forgotten" in line}
    superseded = {line["superseded"] for line in told if "superseded" in line}
    kept = saved.keys() - forgotten
    assert {id: there[id].content for id in kept} == {id: saved[id] for id in kept}
    assert not forgotten & there.keys()
    assert {id for id in kept if there[id].status == "superseded"} == superseded

    facts = {line["fact"]: line["id"] for line in told if "fact" in line}
    assert all(line["id"] == facts[line["fact"]] for line in told if "fact" in line), (
        "one row for one content"
    )
    assert {there[id].content for id in facts.values()} == {
        f"fact {number} is known to everyone" for number in facts
    }

    given = [line["saved"] for line in told if "saved" in line] + list(facts.values())
    assert len(given) == len(set(given)), "an id was given twice"
    assert there.keys() == kept | set(facts.values()) | {"counter"}, "rows that nobody acknowledged"

    counted = [line["counted"] for line in told if "counted" in line]
    assert sorted(counted) == list(range(1, len(counted) + 1)), "an update was lost"
    assert (there["counter"].content, there["counter"].version) == (f"count {len(counted)}", len(counted) + 1)
    assert door.doctor().problems == ()


def acknowledged(crew: Any, db: str) -> list[dict[str, Any]]:
    """What eight processes say they did; an error in any of them fails the test here."""
    hands = [crew.start("share", db=db, number=each, seconds=SECONDS) for each in range(PROCESSES)]
    for hand in hands:
        hand.hear()
    for hand in hands:
        hand.go()
    with ThreadPoolExecutor(PROCESSES) as listening:
        return [line for told in listening.map(lambda hand: hand.rest(), hands) for line in told]


def test_forgetting_a_global_memory_waits_for_those_who_change_what_refers_to_it(postgres_store: str) -> None:
    store = SqlStore(PostgresBackend(f"{postgres_store}&application_name={OTHER}"))
    with (
        connect(postgres_store) as door,
        OnRecord(store, door.caller) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        everyone = door.remember("known to everyone", scope="global").memory.id
        door.remember("refers to it", id="referring", entities=[f"memory:{everyone}"])
        now = datetime.now(UTC)
        with store.writing(door.caller, now) as writing:
            before = writing.target("referring")
            after = replace(before, content="refers to it, revised")
            writing.replace(before, after, Change("revise", "ann", "person", now))
            forgetting = pool.submit(other.forget, everyone)
            wait_for_lock(postgres_store)
        assert forgetting.result().references == 1
        memory = door.show("referring").memory
        assert (memory.content, memory.entities, memory.version) == ("refers to it, revised", (), 3)
        assert door.doctor().problems == ()


def wait_for_lock(dsn: str) -> None:
    """Until the other connection has come to what this one holds."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s AND wait_event_type = 'Lock'"
    with psycopg.connect(dsn, autocommit=True) as server:
        while server.execute(waiting, [OTHER]).fetchone() is None:
            time.sleep(0.01)


def everything(door: OnRecord) -> dict[str, Memory]:
    """Every memory by its id, page by page."""
    found, mark = {}, None
    while True:
        page = door.browse(statuses=STATUSES, limit=200, after=mark)
        found |= {memory.id: memory for memory in page.memories}
        if (mark := page.next) is None:
            return found
