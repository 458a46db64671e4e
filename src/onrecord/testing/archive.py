"""DO export and import lose nothing? Also what an import does with conflicts, and what the doctor finds."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from onrecord.errors import Conflict, Invalid, StoreUnavailable
from onrecord.model.collections import Home
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    HOME,
    START,
    Clock,
    Conformance,
    administrator,
    everything,
    person,
    recalled,
    refused,
)
from onrecord.testing.moving_workspace import fill_workspace


def live_a_little(root: OnRecord, clock: Clock) -> None:
    """Run every operation at least once, in several scopes, so that the store has a history to export."""
    door = root.as_caller(
        person(personas={"chef"}, systems={"crm": "manage"}, conversation="talk", actor="agent")
    )
    for id, more in {
        "1": {"scope": "user", "tags": ["Ä", "b"], "metadata": {"n": 2**60, "x": [1.5, None, "ü"]}},
        "kb.2": {"scope": "persona", "hint": "when cooking", "query": {"sql": 'SELECT "x"'}},
        "3": {"scope": "system", "system": "crm", "source": "a book", "entities": ["memory:1", "thing:x"]},
        "4": {"scope": "session", "kind": "decision", "valid_from": "2020-02-29T23:59:59.999999Z"},
        "5": {"title": "Fünf", "query": "text", "category": "c", "verified_at": START},
        "6": {"confidence": "low"},
    }.items():
        door.remember(f"kestrel {id} — Ünïcode 日本 👍\n\tline two", id=id, **more)
        clock.tick(microseconds=1)
    door.revise("1", content="kestrel revised", tags=["c"])
    door.relate("5", "supports", "3")
    door.relate("5", "refines", "6")
    door.unrelate("5", "refines", "6")
    clock.tick()
    door.relate("5", "refines", "6")
    door.remember("kestrel heir", supersedes=["6"])
    door.retire("kb.2", reason="gone cold")
    door.remember("kestrel, soon forgotten", id="90")
    for id in ("5", "90"):
        door.give_feedback(id, "useful", "where is the kestrel?")
    door.relate("90", "supports", "5")
    root.forget("90")
    root.as_caller(person("bot", actor="unattended")).remember("kestrel proposal")
    root.forget(root.remember("kestrel, the last of its number").memory.id)
    root.remember("kestrel for all", scope="global")
    root.remember("kestrel for all, too", id="global:rule", supersedes=["global:1"])
    fill_workspace(root, clock)


def _own_of_ann(heir: OnRecord) -> None:
    """Save something else under the id of a memory above."""
    heir.as_caller(person(tenant="afterwards")).remember("something else", id="3", scope="user")


def export_lines(root: OnRecord, path: Path, **ask: Any) -> list[str]:
    """The lines of an export without the first, which holds the time of the export."""
    root.export(str(path), **ask)
    return path.read_text(encoding="utf-8").splitlines()[1:]


#: Ways to damage the lines of an export, and the error that the import gives.
SPOILT: Final[tuple[tuple[Callable[[list[str]], list[str]], str], ...]] = (
    (lambda lines: [], "empty"),
    (lambda lines: ["not JSON", *lines[1:]], "line 1"),
    (lambda lines: lines[1:], "line 1"),
    (lambda lines: ['{"onrecord":99}', *lines[1:]], "format"),
    (lambda lines: [lines[0], *lines[2:]], "line 2"),
    (lambda lines: [*lines[:3], "{", *lines[3:]], "line 4"),
    (lambda lines: [*lines[:3], "[]", *lines[3:]], "line 4"),
    (lambda lines: [line.replace('"number":1', '"number":7') for line in lines], "line"),
    (lambda lines: [line.replace('"version":1', '"version":7') for line in lines], "version"),
    (lambda lines: [line.replace('"kind":"fact"', '"kind":"rumour"') for line in lines], "kind"),
    (lambda lines: [line.replace('"status":"active"', '"status":"archived"') for line in lines], "valid_to"),
    (lambda lines: [line.replace('"scope":"user"', '"scope":"global"') for line in lines], "global"),
    (lambda lines: [line.replace('"until":null', '"until":"2030-01-01T00:00:00Z"') for line in lines], "times"),
    (lambda lines: [line.replace('"relation":"supports"', '"relation":"loves"') for line in lines], "relation"),
    (lambda lines: [line.replace('"target":"ann::3"', '"target":"ann::33"') for line in lines], "do not exist here: ann::33"),
    (lambda lines: [line.replace('"last_id":"9', '"last_id":"-9') for line in lines], "last_id"),
)  # fmt: skip


class ArchiveConformance(Conformance):
    """Export and import."""

    @pytest.fixture
    def lived(self, root: OnRecord, clock: Clock) -> OnRecord:
        live_a_little(root, clock)
        return root

    @pytest.fixture
    def heir(self, root: OnRecord) -> OnRecord:
        """The admin of an empty tenant in the same store."""
        return root.as_caller(administrator(tenant="afterwards"))

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "export.jsonl"

    def test_an_export_names_its_format_and_how_much_there_is(self, lived: OnRecord, file: Path) -> None:
        answer = lived.export(str(file))
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert (lines[0]["onrecord"], lines[0]["memories"]) == (1, 10)
        assert (answer.memories, answer.versions, answer.relations) == (10, 14, 5)
        assert sum("versions" in line for line in lines) == 10
        assert sum("relation" in line for line in lines) == 5

    def test_an_export_that_is_imported_gives_an_equal_tenant(
        self, lived: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        lines = export_lines(lived, file)
        done = heir.import_(str(file))
        assert (done.added, done.unchanged, done.relations, done.conflicts) == (8, 2, 4, ())
        assert export_lines(heir, file) == [
            line.replace(f'"tenant":"{HOME}"', '"tenant":"afterwards"') for line in lines
        ]
        assert heir.doctor().problems == ()
        held = everything(store)
        assert held["afterwards"][0] == held[HOME][0]

    def test_what_was_imported_is_found_and_goes_on(
        self, lived: OnRecord, heir: OnRecord, file: Path
    ) -> None:
        lived.export(str(file))
        heir.import_(str(file))
        found = [
            [(hit.memory.id, hit.score) for hit in door.recall("kestrel").hits] for door in (lived, heir)
        ]
        assert found[0] == found[1]
        assert len(found[0]) == 6
        history = [
            [(version.change, version.by, version.at, version.until, version.changed) for version in versions]
            for versions in (lived.history("ann::1").versions, heir.history("ann::1").versions)
        ]
        assert history[0] == history[1]
        assert heir.remember("next").memory.id == lived.remember("next").memory.id == "93"
        assert heir.relate("ann::1", "supports", "ann::3").relation.id == "6"

    def test_a_second_import_adds_nothing(
        self, lived: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        lived.export(str(file))
        heir.import_(str(file))
        before = everything(store)
        again = heir.import_(str(file))
        assert (again.added, again.unchanged, again.relations) == (0, 10, 0)
        assert everything(store) == before

    def test_an_import_into_the_store_it_came_from_adds_nothing(
        self, lived: OnRecord, file: Path, store: Store
    ) -> None:
        lived.export(str(file))
        before = everything(store)
        assert lived.import_(str(file)).added == 0
        assert everything(store) == before

    def test_an_id_that_holds_something_else_is_a_conflict_and_nothing_is_taken_in(
        self, lived: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        lived.export(str(file))
        _own_of_ann(heir)
        with refused(Conflict, "Other memories with these ids exist here: ann::3", by=store):
            heir.import_(str(file))

    def test_conflicts_can_be_left_as_they_are(self, lived: OnRecord, heir: OnRecord, file: Path) -> None:
        lived.export(str(file))
        _own_of_ann(heir)
        done = heir.import_(str(file), skip_conflicts=True)
        assert (done.added, done.conflicts) == (7, ("ann::3",))
        assert heir.show("ann::3").memory.content == "something else"
        assert heir.show("ann::1").memory.content == "kestrel revised"
        assert heir.doctor().problems == ()

    def test_a_later_version_here_is_a_conflict_too(
        self, lived: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        lived.export(str(file))
        heir.import_(str(file))
        heir.revise("5", tags=["newer"])
        with refused(Conflict, "Other memories with these ids exist here: 5", by=store):
            heir.import_(str(file))

    def test_several_tenants_go_to_their_own_names_or_nowhere(
        self, lived: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        heir.remember("of the heir")
        lived.export(str(file), all_tenants=True)
        with pytest.raises(Invalid, match="second tenant"):
            lived.as_caller(administrator(tenant="third")).import_(str(file))
        before = everything(store)
        assert lived.import_(str(file), keep_tenants=True).added == 0
        assert everything(store) == before

    def test_a_file_that_is_not_a_whole_export_is_refused_and_nothing_is_taken_in(
        self, lived: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        lived.export(str(file))
        lines = file.read_text(encoding="utf-8").splitlines()
        for spoil, reason in SPOILT:
            spoilt = spoil(lines)
            assert spoilt != lines
            file.write_text("\n".join(spoilt), encoding="utf-8")
            with refused(Invalid, reason, by=store):
                heir.import_(str(file))

    def test_a_file_that_is_not_there_is_said(self, root: OnRecord, store: Store, tmp_path: Path) -> None:
        with refused(StoreUnavailable, "cannot be read", by=store):
            root.import_(str(tmp_path / "nowhere"))
        with refused(StoreUnavailable, "cannot be written", by=store):
            root.export(str(tmp_path / "nowhere" / "export"))

    def test_the_archive_gives_some_memories_or_all(self, lived: OnRecord, store: Store) -> None:
        with store.archive() as archive:
            assert archive.homes() == sorted([Home(HOME), Home(GLOBAL_TENANT)])
            assert archive.count(Home(HOME)) == 8
            every = list(archive.histories(Home(HOME)))
            assert [history.id for history in every] == [
                "ann::1",
                "ann::kb.2",
                "ann::3",
                "ann::4",
                "5",
                "6",
                "7",
                "91",
            ]
            some = list(archive.histories(Home(HOME), ["5", "ann::kb.2", "unknown"]))
            assert some == [every[1], every[4]]
            assert [history.id for history in archive.histories(Home(GLOBAL_TENANT))] == [
                "global:1",
                "global:rule",
            ]
            assert list(archive.histories(Home("nobody"))) == []

    def test_a_history_can_be_put_into_an_empty_tenant(self, lived: OnRecord, store: Store) -> None:
        with store.archive() as archive:
            histories, counters = list(archive.histories(Home(HOME))), archive.counters(Home(HOME))
            edges = list(archive.edges(Home(HOME)))
        with store.restoring(Home("third")) as restoring:
            restoring.restore(histories)
            assert restoring.restore_edges(edges, counters) == len(edges)
            assert restoring.restore_edges(edges, counters) == 0
        held = everything(store)
        assert held["third"][0] == held[HOME][0]
        assert held["third"][2] == held[HOME][2]
        renamed = [
            replace(version, memory=replace(version.memory, tenant="third"))
            for history in histories
            for version in history.versions
        ]
        assert [version for history in held["third"][1] for version in history.versions] == renamed


class CareConformance(Conformance):
    """Doctor, reindex and backup."""

    @pytest.fixture
    def well_used(self, root: OnRecord, clock: Clock) -> OnRecord:
        live_a_little(root, clock)
        return root

    def test_a_store_that_was_used_is_sound(self, well_used: OnRecord) -> None:
        examined = well_used.doctor()
        assert (examined.problems, examined.memories, examined.healthy) == ((), 10, True)

    def test_an_empty_store_is_sound(self, root: OnRecord) -> None:
        assert root.doctor().problems == ()
        assert root.reindex().memories == 0

    def test_a_new_index_changes_no_row_and_no_answer(self, well_used: OnRecord, store: Store) -> None:
        before, hits = everything(store), well_used.recall("kestrel ünicode proposal").hits
        done = well_used.reindex()
        assert done.memories == 10
        assert done.postings > 50
        assert everything(store) == before
        assert well_used.recall("kestrel ünicode proposal").hits == hits
        assert well_used.doctor().problems == ()

    def test_a_backup_is_a_file_of_its_own(self, well_used: OnRecord, tmp_path: Path, store: Store) -> None:
        before = everything(store)
        done = well_used.backup(str(tmp_path / "copy"))
        assert (done.path, done.bytes) == (str(tmp_path / "copy"), (tmp_path / "copy").stat().st_size)
        assert done.bytes > 0
        assert everything(store) == before

    def test_after_erasing_everything_nothing_is_left_in_the_index(
        self, well_used: OnRecord, store: Store
    ) -> None:
        with store.archive() as archive:
            ids = [history.id for home in archive.homes() for history in archive.histories(home)]
        for id in ids:
            well_used.forget(id)
        assert well_used.doctor().problems == ()
        assert well_used.reindex().postings == 0
        assert recalled(well_used, "kestrel") == []
