"""WHAT comes of what is said, moved or compared a second time? What was stale, an edge taken back, an edge come and gone."""

from datetime import timedelta
from pathlib import Path

import pytest

from onrecord import OnRecord, connect
from onrecord.catalog import ingest
from onrecord.model.limits import Actor
from onrecord.testing.builders import Clock, person


def test_an_edge_that_was_taken_back_is_taken_back_by_a_newer_export(db: str, tmp_path: Path) -> None:
    older, newer = str(tmp_path / "older.jsonl"), str(tmp_path / "newer.jsonl")
    with connect(tmp_path / "there.db") as there:
        for id in "abc":
            there.remember(f"Note {id}.", id=id)
        for id in "bc":
            there.relate("a", "supports", id)
        there.export(older)
        there.unrelate("a", "supports", "b")
        there.export(newer)
        expected = there.relations().relations
    with connect(db) as here:
        here.import_(older)
        assert len(here.relations().relations) == 2
        here.import_(newer)
        assert here.relations().relations == expected
        # An older one brings nothing back.
        for path in (older, newer):
            here.import_(path)
            assert here.relations().relations == expected
        assert here.doctor().problems == ()


def test_an_edge_that_has_come_and_gone_is_no_difference(memory: OnRecord, clock: Clock) -> None:
    for id in "ab":
        memory.remember(f"Note {id}.", id=id)
    before = clock.now
    clock.tick()
    memory.relate("a", "supports", "b")
    middle = clock.now
    clock.tick()
    memory.unrelate("a", "supports", "b")
    compared = memory.diff(before)
    assert (compared.related, compared.unrelated) == ((), ())
    assert len(memory.diff(before, until=middle).related) == 1
    assert len(memory.diff(middle).unrelated) == 1


def test_what_is_said_again_is_stale_no_longer(memory: OnRecord, clock: Clock) -> None:
    memory.remember("Deploys are frozen on Fridays.", id="k")
    memory.revise("k", status="stale", status_reason="since the new pipeline")
    clock.tick(days=1)
    again = memory.remember("Deploys are frozen on Fridays.")
    assert (again.outcome, again.memory.id) == ("updated", "k")
    assert (again.memory.status, again.memory.status_reason) == ("active", None)
    assert clock.now - again.memory.updated_at == timedelta(0)


def test_an_agent_proposes_that_what_a_person_held_stale_is_true_again(memory: OnRecord) -> None:
    memory.remember("Deploys are frozen on Fridays.", id="k")
    memory.revise("k", status="stale")
    agent = memory.as_caller(person(memory.caller.user, tenant=memory.caller.tenant, actor="agent"))
    again = agent.remember("Deploys are frozen on Fridays.", id="k")
    assert again.outcome == "proposed"
    assert memory.show("k").memory.status == "stale"
    memory.approve(again.memory.id)
    assert memory.show("k").memory.status == "active"


@pytest.mark.usefixtures("words_alone")  # With vectors it would be found by its meaning.
@pytest.mark.parametrize(
    ("content", "question"), [("🚀🚀", "🚀"), ("👍🏽", "👍"), ("🇳🇴", "the 🇳🇴 flag"), ("☂️ today", "☂")]
)
def test_a_memory_of_emoji_alone_is_found_by_them(memory: OnRecord, content: str, question: str) -> None:
    memory.remember("An ordinary note.")
    memory.remember("🇸🇪 and 🛰 and 👎")
    saved = memory.remember(content).memory
    assert [hit.memory.id for hit in memory.recall(question, min_relevance=0).hits] == [saved.id]
    assert memory.doctor().problems == ()


def test_a_memory_with_an_example_query_is_listed_by_that_however_it_came(db: str, tmp_path: Path) -> None:
    def examples(door: OnRecord) -> list[str]:
        listed = door.browse(has_query=True).memories
        rest = door.browse(has_query=False).memories
        assert not {each.id for each in listed} & {each.id for each in rest}
        assert len(listed) + len(rest) == len(door.browse().memories)
        return sorted(each.id for each in listed)

    file = str(tmp_path / "moved.jsonl")
    with connect(tmp_path / "there.db") as there:
        there.remember("Plain.", id="a")
        there.remember("As text.", id="b", query="SELECT 1")
        there.remember("Over models.", id="c", query={"source_model": "orders"}, tags=["t"])
        there.revise("a", query="SELECT 2")
        there.revise("b", query=None)
        assert examples(there) == ["a", "c"]
        there.export(file)
    with connect(db) as here:
        here.import_(file)
        assert examples(here) == ["a", "c"]
        here.remember("Newer.", supersedes=["c"])
        here.revise("b", query="SELECT 3")
        assert examples(here) == ["a", "b"]
        assert [each.id for each in here.search(max_memories=0).example_queries] == ["b", "a"]
        here.forget("a")
        here.reindex()
        assert examples(here) == ["b"]
        assert here.doctor().problems == ()


def test_the_catalog_looks_at_example_queries_alone(
    memory: OnRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models" / "shop").mkdir(parents=True)
    told = "version: 6\nname: orders\nsql_table: orders\ndata_source: shop\ncolumns:\n- {name: amount}\n"
    (tmp_path / "models" / "shop" / "orders.yaml").write_text(told, "utf-8")
    for number in range(5):
        memory.remember(f"Note {number}.")
    memory.remember("How amounts add up.", id="q", query={"source_model": "orders", "dimensions": ["amount"]})
    looked_at: list[str] = []
    monkeypatch.setattr(ingest, "broken_query", lambda each, lookup: looked_at.append(each.id))
    memory.ingest(str(tmp_path))
    assert looked_at == ["q"]


def test_an_unattended_run_ends_nothing_by_what_it_saves(memory: OnRecord) -> None:
    def acting(actor: Actor) -> OnRecord:
        run = "nightly" if actor == "unattended" else None
        return memory.as_caller(person(memory.caller.user, tenant=memory.caller.tenant, actor=actor, run=run))

    memory.remember("Deploys are frozen.", id="shared", scope="tenant")
    memory.remember("My deploys are frozen.", id="own", scope="user")
    acting("agent").remember("Deploys were seen to be frozen.", id="seen", scope="tenant")
    for id in ("shared", "own", "seen"):
        saved = acting("unattended").remember(f"Not so: {id}.", scope="tenant", supersedes=[id])
        assert (saved.outcome, saved.superseded, saved.memory.status) == ("proposed", (), "pending")
        assert memory.show(id).memory.status == "active"
        memory.approve(saved.memory.id)
        assert memory.show(id).memory.status == "superseded"
