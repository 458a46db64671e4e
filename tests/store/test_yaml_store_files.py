"""WHAT does a store in YAML make of its files, and of what people do to them?"""

import json
import os
import shutil
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Invalid, NotFound, StoreUnavailable
from onrecord.model.limits import PERMISSIONS
from onrecord.store.yaml import backend as yaml_backend
from onrecord.store.yaml import files as yaml_files
from onrecord.testing.builders import Clock, everything
from onrecord.testing.embedder import StubEmbedder

ANN = Caller(tenant="default", user="ann", permissions=frozenset(PERMISSIONS), operator=True)


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Nothing here asks what a loss of power leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def file(folder: Path) -> Path:
    return folder / "memories.yaml"


@pytest.fixture
def history(folder: Path) -> Path:
    return folder / "memories.history.jsonl"


@pytest.fixture
def door(folder: Path, clock: Clock) -> Iterator[OnRecord]:
    with connect(f"yaml:{folder}", caller=ANN, clock=clock) as opened:
        yield opened


@contextmanager
def opened_anew(folder: Path, **more: Any) -> Iterator[OnRecord]:
    """The store as someone finds it who has the files and no index."""
    shutil.rmtree(folder / ".onrecord")
    with connect(f"yaml:{folder}", caller=ANN, **more) as opened:
        yield opened


def lines(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new), encoding="utf-8")


def contents(door: OnRecord) -> dict[str, str]:
    return {memory.id: memory.content for memory in door.browse(limit=1000).memories}


ORIGINAL = lines(
    """
    - version: 2
      id: '1'
      learning: orders.is_returned in {0,1,NULL}; treat NULL as not returned
      entities:
      - mydb.orders.is_returned
      query: null
      created_at: '2026-01-05T09:30:00.123456+00:00'
    - version: 2
      id: kb.policy.42
      learning: "Total paid revenue,\\
        \\ net of refunds"
      description: how revenue is counted
      entities:
      - mydb.orders
      - mydb.orders.amount
      - memory:1
      query:
        version: 3
        source_model: orders
        measures:
        - formula: amount:sum
          name: null
        filters:
        - status = 'paid'
        limit: 10
        whole_periods_only: false
      created_at: '2026-01-06T10:00:00+00:00'
    """
)


class TestWhereItIs:
    @pytest.mark.parametrize(
        "name", ["{}/memories.yaml", "yaml:{}", "yaml:{}/", "yaml:{}/memories.yaml", "yaml:{}/team.yml"]
    )
    def test_a_store_in_yaml_is_named_by_its_folder_or_its_file(self, folder: Path, name: str) -> None:
        with connect(name.format(folder)) as door:
            door.remember("found here")
            assert door.location == str(folder / ("team.yml" if "team" in name else "memories.yaml"))
        assert "found here" in Path(door.location).read_text(encoding="utf-8")

    @pytest.mark.parametrize("beside", ["memories.yaml", "models", "datasources"])
    def test_a_folder_that_holds_such_files_needs_no_more_than_its_name(
        self, folder: Path, beside: str
    ) -> None:
        (folder / beside).touch()
        with connect(folder) as door:
            assert door.location == str(folder / "memories.yaml")

    def test_a_folder_that_is_not_there_yet_is_made(self, folder: Path) -> None:
        with connect(f"yaml:{folder}/new/one") as door:
            door.remember("x")
        assert (folder / "new" / "one" / "memories.yaml").exists()

    def test_a_folder_that_cannot_be_made_is_told(self, folder: Path) -> None:
        (folder / "taken").write_text("a file")
        with pytest.raises(StoreUnavailable, match="cannot be made"):
            connect(f"yaml:{folder}/taken/memories.yaml")

    def test_a_link_leads_to_the_file_and_stays_one(self, folder: Path, tmp_path: Path) -> None:
        link = tmp_path / "memories.yaml"
        link.symlink_to(folder / "memories.yaml")
        with connect(link) as door:
            door.remember("through the link")
        assert link.is_symlink()
        assert "through the link" in (folder / "memories.yaml").read_text(encoding="utf-8")

    def test_what_is_for_this_machine_alone_is_ignored_by_git(self, folder: Path, door: OnRecord) -> None:
        door.remember("x")
        if shutil.which("git") is None:
            pytest.skip("there is no git here")
        git = ["git", "-C", str(folder)]
        subprocess.run([*git, "init", "-q"], check=True)
        status = subprocess.run(
            [*git, "status", "--porcelain", "-uall"], check=True, capture_output=True, text=True
        )
        assert sorted(status.stdout.split()) == ["??", "??", "memories.history.jsonl", "memories.yaml"]


class TestWhatIsWritten:
    def test_an_entry_says_what_differs_from_the_usual_in_one_order(
        self, door: OnRecord, file: Path, clock: Clock
    ) -> None:
        door.remember(
            "Revenue is net of refunds.\nAsk finance: they know.",
            hint="when someone counts revenue",
            tags=["finance", "007"],
            entities=["mydb.orders.amount"],
            query={"source_model": "orders", "filters": ["status = 'paid'"], "limit": 5},
            kind="decision",
        )
        clock.tick()
        door.remember("yes", id="kb.1", scope="user", metadata={"x": [1, {"z": None}], "empty": {}})
        head, entries = file.read_text(encoding="utf-8").split("- version", 1)
        assert all(line.startswith("#") for line in head.splitlines())
        assert "- version" + entries == lines(
            """
            - version: 2
              id: "1"
              learning: |-
                Revenue is net of refunds.
                Ask finance: they know.
              description: when someone counts revenue
              entities:
                - mydb.orders.amount
              query:
                source_model: orders
                filters:
                  - status = 'paid'
                limit: 5
              kind: decision
              tags:
                - finance
                - "007"
              owner: ann
              origin: person
              created_at: 2026-03-01T12:00:00Z
            - version: 2
              id: ann::kb.1
              learning: "yes"
              metadata:
                x:
                  - 1
                  - z: null
                empty: {}
              scope: user
              owner: ann
              origin: person
              created_at: 2026-03-01T12:00:01Z
            """
        )

    def test_a_change_touches_its_own_entry_alone(self, door: OnRecord, file: Path) -> None:
        for number in range(5):
            door.remember(f"note {number}")
        before = file.read_text(encoding="utf-8").splitlines()
        door.revise("3", content="another note")
        after = file.read_text(encoding="utf-8").splitlines()
        assert [(old, new) for old, new in zip(before, after, strict=True) if old != new] == [
            ("  learning: note 2", "  learning: another note")
        ]

    def test_a_relation_is_history_and_leaves_the_file_alone(self, door: OnRecord, file: Path) -> None:
        door.remember("one")
        door.remember("two")
        before = file.stat()
        door.relate("1", "supports", "2")
        assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    def test_other_tenants_say_so_and_global_memories_have_their_ids(
        self, door: OnRecord, file: Path, folder: Path
    ) -> None:
        door.remember("of the usual tenant")
        door.as_caller(replace(ANN, tenant="Équipe: 2")).remember("of another")
        door.remember("for everyone", scope="global")
        text = file.read_text(encoding="utf-8")
        assert 'tenant: "Équipe: 2"' in text
        assert "id: global:1" in text
        assert text.count("tenant:") == 1
        held = everything(door._store)
        with opened_anew(folder) as door:
            assert everything(door._store) == held

    def test_ids_that_differ_by_case_alone_stay_apart(self, door: OnRecord, folder: Path) -> None:
        door.remember("upper", id="KB.One")
        door.remember("lower", id="kb.one")
        with opened_anew(folder) as door:
            assert contents(door) == {"KB.One": "upper", "kb.one": "lower"}

    def test_the_file_keeps_its_mode(self, door: OnRecord, file: Path) -> None:
        door.remember("one")
        file.chmod(0o640)
        door.remember("two")
        assert stat.S_IMODE(file.stat().st_mode) == 0o640

    def test_an_import_writes_the_file_once_for_each_batch(
        self, door: OnRecord, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with connect(":memory:", caller=ANN) as source:
            for number in range(300):
                source.remember(f"note {number}")
            source.export(str(tmp_path / "many.jsonl"))
        replaced = []
        original = Path.replace
        monkeypatch.setattr(Path, "replace", lambda *given: (replaced.append(given), original(*given))[1])
        assert door.import_(str(tmp_path / "many.jsonl")).added == 300
        assert len(replaced) == 1

    def test_no_file_holds_a_word_of_what_was_forgotten(self, door: OnRecord, folder: Path) -> None:
        door.remember("Zqcontent", id="zqid", tags=["zqtag"], metadata={"zqkey": "zqvalue"})
        door.revise("zqid", content="Zqcontent once more")
        door.remember("refers", id="other", entities=["memory:zqid", "thing:kept"])
        door.relate("other", "supports", "zqid")
        assert "zq" in everything_in(folder)
        door.forget("zqid")
        assert "zq" not in everything_in(folder)
        assert door.show("other").memory.entities == ("thing:kept",)
        assert door.doctor().problems == ()


def everything_in(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files).decode("latin-1").lower()


class TestFilesFromElsewhere:
    def test_a_file_of_the_known_kind_is_read_as_it_is_and_stays_so(
        self, folder: Path, file: Path, clock: Clock
    ) -> None:
        file.write_text(ORIGINAL, encoding="utf-8")
        with connect(f"yaml:{folder}", caller=ANN, clock=clock) as door:
            first, second = (door.show(id).memory for id in ("1", "kb.policy.42"))
            assert first.content == "orders.is_returned in {0,1,NULL}; treat NULL as not returned"
            assert first.entities == ("mydb.orders.is_returned",)
            assert first.created_at.isoformat() == "2026-01-05T09:30:00.123456+00:00"
            assert (first.query, first.hint, first.scope, first.status) == (None, None, "tenant", "active")
            assert second.content == "Total paid revenue, net of refunds"
            assert (second.hint, second.title) == ("how revenue is counted", "how revenue is counted")
            assert second.query == {
                "version": 3,
                "source_model": "orders",
                "measures": [{"formula": "amount:sum", "name": None}],
                "filters": ["status = 'paid'"],
                "limit": 10,
                "whole_periods_only": False,
            }
            assert [hit.memory.id for hit in door.recall("revenue").hits] == ["kb.policy.42"]
            version = door.history("1").versions[0]
            assert (version.change, version.by, version.origin, version.at) == (
                "remember",
                "file",
                "import",
                clock.now,
            )
            assert door.remember("the next").memory.id == "2"
        assert file.read_text(encoding="utf-8").startswith(ORIGINAL)

    @pytest.mark.parametrize(
        "text",
        [
            "memories:\n  - id: a\n    learning: it\n",
            "memories:\n- id: a\n  learning: it\n",
            "memories: [{id: a, learning: it}]\n",
            '[{"id": "a", "learning": "it"}]',
            "---\n- id: a\n  learning: it\n...\n",
            "-\n  id: a\n  learning: it\n",
            "- id: a\n  learning: it",
            "\ufeff- id: a\n  learning: it\n",
            "# top\r\n- id: a\r\n  learning: it\r\n",
            "- &x\n  id: a\n  learning: it\n",
        ],
    )
    def test_a_list_may_be_written_in_any_way_and_be_added_to(
        self, folder: Path, file: Path, text: str
    ) -> None:
        file.write_bytes(text.encode())
        with connect(f"yaml:{folder}", caller=ANN) as door:
            assert contents(door) == {"a": "it"}
            door.remember("more", id="b")
            door.revise("b", content="yet more")
        with opened_anew(folder) as door:
            assert contents(door) == {"a": "it", "b": "yet more"}
            assert [version.change for version in door.history("a").versions] == ["remember"]
            assert door.doctor().problems == ()
            door.forget("a")
        with opened_anew(folder) as door:
            assert contents(door) == {"b": "yet more"}
        assert (b"\r\n" in file.read_bytes()) == ("\r\n" in text)

    @pytest.mark.parametrize(
        "text", ["", "\n", "# nothing yet\n", "[]\n", "memories:\n", "memories: []\n", "---\n", "null\n"]
    )
    def test_a_file_without_entries_is_an_empty_store_that_can_be_filled(
        self, folder: Path, file: Path, text: str
    ) -> None:
        file.write_text(text, encoding="utf-8")
        with connect(f"yaml:{folder}", caller=ANN) as door:
            assert contents(door) == {}
            door.remember("the first")
        with opened_anew(folder) as door:
            assert contents(door) == {"1": "the first"}
        assert text.startswith("#") <= file.read_text(encoding="utf-8").startswith(text)

    def test_values_that_stand_in_two_places_are_understood(self, folder: Path, file: Path) -> None:
        file.write_text("- {id: a, learning: it, tags: &t [x, y]}\n- {id: b, learning: that, tags: *t}\n")
        with connect(f"yaml:{folder}", caller=ANN) as door:
            assert door.show("b").memory.tags == ("x", "y")
            door.forget("a")
        with opened_anew(folder) as door:
            assert door.show("b").memory.tags == ("x", "y")

    @pytest.mark.parametrize(
        ("written", "id"), [("007", "007"), ("7", "7"), ("1_000", "1_000"), ("yes", "yes")]
    )
    def test_an_id_is_what_is_written_whatever_it_looks_like(
        self, folder: Path, file: Path, written: str, id: str
    ) -> None:
        file.write_text(f"- id: {written}\n  learning: 2026-01-01\n")
        with connect(f"yaml:{folder}", caller=ANN) as door:
            assert contents(door) == {id: "2026-01-01"}


class TestEdits:
    @pytest.fixture
    def lived(self, door: OnRecord, clock: Clock) -> OnRecord:
        for text in ("one", "two", "three"):
            door.remember(text)
            clock.tick()
        door.relate("1", "supports", "2")
        return door

    def test_a_changed_text_is_a_revision_by_the_file(
        self, lived: OnRecord, file: Path, clock: Clock
    ) -> None:
        edit(file, "learning: two", "learning: zwei\n  tags: [german]")
        written = file.read_text(encoding="utf-8")
        memory = lived.show("2").memory
        assert (memory.content, memory.tags, memory.version, memory.updated_at) == (
            "zwei",
            ("german",),
            2,
            clock.now,
        )
        assert [hit.memory.id for hit in lived.recall("zwei", recipe="lexical").hits] == ["2"]
        assert lived.recall("two", recipe="lexical").hits == ()
        told = lived.history("2").versions
        assert [(each.change, each.by) for each in told] == [("remember", "ann"), ("revise", "file")]
        assert told[0].memory.content == "two"
        assert file.read_text(encoding="utf-8") == written, "what a person wrote stays as they wrote it"
        assert lived.doctor().problems == ()

    def test_an_entry_needs_no_more_than_what_it_says(
        self, lived: OnRecord, file: Path, clock: Clock
    ) -> None:
        with file.open("a", encoding="utf-8") as end:
            end.write(
                "# by hand\n- learning: four, by hand\n- {scope: global, learning: 'for all, by hand'}\n"
            )
        assert contents(lived) == {
            "1": "one", "2": "two", "3": "three", "4": "four, by hand", "global:1": "for all, by hand",
        }  # fmt: skip
        memory = lived.show("4").memory
        assert (memory.owner, memory.origin, memory.created_at) == ("file", "import", clock.now)
        assert file.read_text(encoding="utf-8").endswith(
            lines(
                """
                # by hand
                - version: 2
                  id: "4"
                  learning: four, by hand
                  created_at: 2026-03-01T12:00:03Z
                - version: 2
                  id: global:1
                  learning: for all, by hand
                  scope: global
                  created_at: 2026-03-01T12:00:03Z
                """
            )
        )
        assert lived.remember("five").memory.id == "5"

    def test_an_entry_without_an_id_is_not_given_that_of_another(self, lived: OnRecord, file: Path) -> None:
        with file.open("a", encoding="utf-8") as end:
            end.write("- learning: without\n- {id: 4, learning: with}\n- learning: without, too\n")
        assert {id: text for id, text in contents(lived).items() if id > "3"} == {
            "4": "with", "5": "without", "6": "without, too",
        }  # fmt: skip

    def test_an_entry_that_is_taken_out_is_forgotten(
        self, lived: OnRecord, file: Path, history: Path
    ) -> None:
        lived.remember("refers to it", id="r", entities=["memory:2"])
        text = file.read_text(encoding="utf-8")
        begin, end = text.index('- version: 2\n  id: "2"'), text.index('- version: 2\n  id: "3"')
        file.write_text(text[:begin] + text[end:], encoding="utf-8")
        with pytest.raises(NotFound):
            lived.show("2")
        assert lived.show("r").memory.entities == ()
        assert lived.neighbours("1").edges == ()
        assert '"two"' not in history.read_text(encoding="utf-8")
        assert "memory:2" not in file.read_text(encoding="utf-8")
        assert lived.remember("four").memory.id == "4"
        assert lived.doctor().problems == ()

    def test_an_edit_is_seen_by_whoever_writes_next(self, lived: OnRecord, file: Path) -> None:
        edit(file, "learning: two", "learning: zwei")
        lived.revise("2", tags=["revised"])
        assert lived.show("2").memory.content == "zwei"
        assert [version.by for version in lived.history("2").versions] == ["ann", "file", "ann"]

    def test_an_edit_of_the_same_length_within_a_moment_is_seen(self, lived: OnRecord, file: Path) -> None:
        for old, new in (("two", "tow"), ("tow", "wot"), ("wot", "owt")):
            edit(file, f"learning: {old}", f"learning: {new}")
            assert lived.show("2").memory.content == new

    def test_comments_and_the_hand_of_the_writer_survive_the_changes_of_others(
        self, folder: Path, file: Path
    ) -> None:
        text = lines(
            """
            # Our knowledge. Keep it short!

            # -- money --
            - learning: Revenue is net   # of refunds
              id: money
              created_at: 2026-01-01

            # -- people --
            - {id: people, learning: Ann knows, created_at: 2026-01-01}

            # -- places --
            - id: places
              created_at: 2026-01-01
              # where we are
              learning: >
                 Here
                 and there
            # the end
            """
        )
        file.write_text(text, encoding="utf-8")
        with connect(f"yaml:{folder}", caller=ANN) as door:
            assert contents(door) == {
                "money": "Revenue is net",
                "people": "Ann knows",
                "places": "Here and there\n",
            }
            assert file.read_text(encoding="utf-8") == text
            door.revise("people", content="Bob knows")
            expected = text.replace(
                "- {id: people, learning: Ann knows, created_at: 2026-01-01}\n",
                "- version: 2\n  id: people\n  learning: Bob knows\n  author: ann\n  origin: person\n"
                "  created_at: 2026-01-01T00:00:00Z\n",
            )
            assert file.read_text(encoding="utf-8") == expected
            door.forget("money")
            door.remember("at last", id="last")
            kept = file.read_text(encoding="utf-8")
            assert "money" not in kept.replace("-- money --", "")
            for comment in (
                "# Our knowledge",
                "# -- people --",
                "# -- places --",
                "# where we are",
                "# the end",
            ):
                assert comment in kept
            assert kept.index("# the end") < kept.index("at last")

    def test_secrets_that_a_person_writes_leave_the_file(
        self, lived: OnRecord, file: Path, history: Path
    ) -> None:
        secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
        edit(file, "learning: two", f"learning: the token is {secret}, take care")
        shown = lived.show("2").memory.content
        assert secret not in shown
        assert "take care" in shown
        for path in (file, history):
            assert secret not in path.read_text(encoding="utf-8")
        assert lived.doctor().problems == ()

    def test_a_retired_memory_needs_its_end(self, lived: OnRecord, file: Path) -> None:
        edit(file, "learning: two", "learning: two\n  status: archived\n  valid_to: 2026-03-01T12:30:00Z")
        assert lived.show("2").memory.status == "archived"
        assert set(contents(lived)) == {"1", "3"}

    def test_what_a_person_wrote_gets_its_vectors_later_and_the_others_keep_theirs(
        self, folder: Path, file: Path, clock: Clock
    ) -> None:
        with connect(f"yaml:{folder}", caller=ANN, clock=clock, embedder=StubEmbedder()) as door:
            door.remember("kestrel")
            door.remember("falcon")
            edit(file, "learning: falcon", "learning: merlin")
            assert door.status().tenants[0].models[0].indexed == 1
            assert door.worker.run_once()
            assert door.recall("merlin", recipe="semantic").hits[0].memory.content == "merlin"
            assert door.status().tenants[0].models[0].indexed == 2


class TestTheIndex:
    def test_an_index_that_is_deleted_at_any_time_comes_back(self, door: OnRecord, folder: Path) -> None:
        for number in range(3):
            door.remember(f"note {number}")
            held = everything(door._store)
            shutil.rmtree(folder / ".onrecord")
            assert everything(door._store) == held
            assert len(door.recall("note").hits) == number + 1
        for path in (folder / ".onrecord").glob("index*"):
            if not path.name.endswith("-wal"):
                path.unlink()
        assert door.remember("the last").memory.id == "4"
        assert door.doctor().problems == ()

    def test_a_damaged_index_is_made_anew(self, door: OnRecord, folder: Path) -> None:
        door.remember("kept")
        door.close()
        [path] = (folder / ".onrecord").glob("index-*.db")
        for damage in (b"", b"not a database at all" * 100):
            path.write_bytes(damage)
            with connect(f"yaml:{folder}", caller=ANN) as anew:
                assert contents(anew) == {"1": "kept"}
                assert anew.doctor().problems == ()

    def test_what_others_wrote_meanwhile_is_seen_at_once(self, door: OnRecord, folder: Path) -> None:
        with connect(f"yaml:{folder}", caller=ANN) as other:
            for turn in range(5):
                other.remember(f"of the other {turn}", id=f"o{turn}")
                assert door.show(f"o{turn}").memory.content == f"of the other {turn}"
                door.remember(f"of this one {turn}", id=f"t{turn}")
                assert other.show(f"t{turn}").memory.content == f"of this one {turn}"
        assert door.doctor().problems == ()

    def test_vectors_outlive_what_only_the_files_tell(self, folder: Path, file: Path, history: Path) -> None:
        with connect(f"yaml:{folder}", caller=ANN, embedder=StubEmbedder()) as door:
            door.remember("kestrel")
            door.remember("falcon")
            history.unlink()
            assert door.status().tenants[0].models[0].indexed == 2
            assert [version.by for version in door.history("1").versions] == ["file"]

    def test_readers_need_no_right_to_write(self, folder: Path, file: Path, clock: Clock) -> None:
        with connect(f"yaml:{folder}", caller=ANN, clock=clock) as door:
            door.remember("kept", tags=["x"])
            door.revise("1", content="kept still")
        shutil.rmtree(folder / ".onrecord")
        edit(file, "kept still", "kept by hand")
        file.write_text(file.read_text(encoding="utf-8") + "- learning: without an id\n", encoding="utf-8")
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        script = lines(
            """
            import os, sys
            from onrecord import connect
            from onrecord.errors import StoreUnavailable
            with connect("yaml:" + sys.argv[2], embedder="none") as door:
                door.remember("what is loaded late is loaded before the rights are gone")
                door.recall("rights")
            if os.geteuid() == 0:
                os.setgroups([]); os.setgid(65534); os.setuid(65534)
            with connect(sys.argv[1], embedder="none") as door:
                print(sorted(memory.content for memory in door.browse().memories))
                print(len(door.history("1").versions), [hit.memory.id for hit in door.recall("hand").hits])
                try:
                    door.remember("not to be kept")
                except StoreUnavailable as problem:
                    print(str(problem).split(";")[0].split("/")[-1])
                print(sorted(memory.content for memory in door.browse().memories))
            """
        )
        with readable_by_all(folder) as there:
            run = subprocess.run(
                [sys.executable, "-c", script, str(there), str(folder.parent / "warm")],
                capture_output=True,
                text=True,
                env={
                    "PATH": os.environ["PATH"],
                    "ONRECORD_CONFIG": str(there / "none"),
                    "ONRECORD_USER": "x",
                },
                cwd="/",
            )
            assert run.stdout.splitlines() == [
                "['kept by hand', 'without an id']",
                "3 ['1']",
                "memories.yaml cannot be written (read-only)",
                "['kept by hand', 'without an id']",
            ], run.stderr
            assert {path.name: path.read_bytes() for path in there.iterdir()} == before


@contextmanager
def readable_by_all(folder: Path) -> Iterator[Path]:
    """A copy that everyone may read and nobody change; pytest's own folders are closed to others."""
    there = Path("/tmp") / f"onrecord-read-only-{os.getpid()}-{time.monotonic_ns()}"
    shutil.copytree(folder, there)
    for path in there.iterdir():
        path.chmod(0o444)
    there.chmod(0o555)
    try:
        yield there
    finally:
        there.chmod(0o755)
        shutil.rmtree(there)


BROKEN = {
    "a bracket is open": ("- id: a\n  learning: [it\n", 2, "is not YAML"),
    "a colon too many": ("- id: a\n  learning: it: that\n", 2, "is not YAML"),
    "a tab": ("- id: a\n\tlearning: it\n", 2, "is not YAML"),
    "a merge that is not finished": ("- id: a\n<<<<<<< HEAD\n  learning: it\n", 2, "unfinished merge"),
    "a control character": ("- id: a\n  learning: it\n  title: \x07\n", 3, "\\\\x07"),
    "a second document": ("- id: a\n  learning: it\n---\n- id: b\n", 3, "second document"),
    "only a text": ("just words\n", 1, "list of memories"),
    "another list": ("notes:\n  - id: a\n", 2, "notes is not expected"),
    "not a list": ("memories:\n  a: it\n", 2, "must be a list"),
    "an entry that is a text": ("- id: a\n  learning: it\n- words\n", 3, "is not a memory"),
    "a name twice": ("- id: a\n  learning: it\n  learning: that\n", 3, "already at line 2"),
    "an id twice": ("- id: a\n  learning: it\n- learning: that\n  id: a\n", 4, "the id a is used at line 1 already"),
    "an id twice in two spellings": ("- id: 7\n  learning: it\n- learning: that\n  id: '#7'\n", 4, "the id 7 is used at line 1"),
    "nothing to learn": ("- id: a\n  tags: [x]\n", 1, "learning: is missing"),
    "only white space to learn": ("- id: a\n  learning: '  '\n", 2, "must not be empty"),
    "an unknown field": ("- id: a\n  learning: it\n  tag: x\n", 3, "tag: is not a field of a memory; did you mean tags"),
    "our name for a field": ("- id: a\n  content: it\n", 2, "did you mean learning"),
    "an unknown kind": ("- id: a\n  learning: it\n  kind: rumour\n", 3, "kind: must be one of"),
    "a bad id": ("- id: a/b\n  learning: it\n", 1, "id: must not contain '/'"),
    "a list for a text": ("- id: a\n  learning: [it]\n", 2, "learning: must be a text, not a list"),
    "a text for a list": ("- id: a\n  learning: it\n  tags: x\n", 3, "tags: must be a list"),
    "a time that is none": ("- id: a\n  learning: it\n  created_at: yesterday\n", 3, "created_at: must be a date or time"),
    "an end that is missing": ("- id: a\n  learning: it\n  status: archived\n", 1, "valid_to: must be set"),
    "a persona that is missing": ("- id: a\n  learning: it\n  scope: persona\n", 1, "persona: is required"),
    "a global memory by another name": ("- id: a\n  learning: it\n  scope: global\n", 3, "begins with global:"),
    "a global tenant": ("- id: a\n  learning: it\n  tenant: global\n", 3, "tenant: must not be given"),
    "a newer format": ("- id: a\n  learning: it\n  version: 9\n", 3, "format that this OnRecord does not know"),
    "a tag of YAML": ("- id: a\n  learning: !secret it\n", 2, "has the tag !secret"),
    "a merge key": ("- &a {id: a, learning: it}\n- <<: *a\n  id: b\n", 2, "merges another object"),
    "a reference to nothing": ("- id: a\n  learning: *it\n", 2, "not defined before it"),
    "something in itself": ("- id: a\n  learning: it\n  metadata: &m {m: *m}\n", 3, "not defined before it"),
    "very deep": ("- id: a\n  learning: it\n  metadata: {a: " + "[" * 60 + "]" * 60 + "}\n", 3, "nested too deeply"),
    "far too deep": ("[" * 100_000, 1, "nested too deeply"),
    "a bomb": (
        "- id: a\n  learning: it\n  metadata:\n    a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"    a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)),
        4,
        "too large",
    ),
    "a number too long": ("- id: a\n  learning: it\n  metadata: {n: " + "9" * 5000 + "}\n", 3, "number"),
}  # fmt: skip


class TestBrokenFiles:
    def test_what_is_wrong_is_told_with_its_file_and_line_and_nothing_changes(
        self, door: OnRecord, file: Path, history: Path, folder: Path
    ) -> None:
        door.remember("kept", id="kept")
        good, held = file.read_bytes(), everything(door._store)
        for name, (text, line, reason) in BROKEN.items():
            file.write_text(text, encoding="utf-8")
            set_back(file)
            before = (file.read_bytes(), history.read_bytes())
            for attempt in (
                lambda: door.show("kept"),
                lambda: door.remember("more"),
                lambda: connect(f"yaml:{folder}"),
            ):
                with pytest.raises(Invalid, match=rf"memories\.yaml, line \d+.*{reason}") as told:
                    attempt()
                assert f"memories.yaml, line {line}" in told.value.faults[0].field, name
                assert (file.read_bytes(), history.read_bytes()) == before, name
            file.write_bytes(good)
            assert everything(door._store) == held, name

    def test_a_file_that_is_not_text_is_told(self, door: OnRecord, file: Path) -> None:
        door.remember("kept")
        file.write_bytes(file.read_bytes() + b"- id: a\n  learning: \xff\xfe\n")
        set_back(file)
        with pytest.raises(Invalid, match=r"line 10: is not UTF-8"):
            door.show("1")

    def test_every_fault_of_a_file_is_told_at_once(self, folder: Path, file: Path) -> None:
        file.write_text("- id: a/b\n  learning: it\n  kind: rumour\n- tags: x\n")
        set_back(file)
        with pytest.raises(Invalid) as told:
            connect(f"yaml:{folder}")
        assert [fault.field.split("/")[-1] for fault in told.value.faults] == [
            "memories.yaml, line 1, id",
            "memories.yaml, line 3, kind",
            "memories.yaml, line 4, tags",
            "memories.yaml, line 4, learning",
        ]

    def test_a_file_that_is_being_written_is_waited_for(
        self, door: OnRecord, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # However slowly it is written here.
        monkeypatch.setattr(yaml_files, "_CALM_S", 600)
        monkeypatch.setattr(yaml_backend, "_WRITTEN_WITHIN_S", 600)
        door.remember("one")
        door.remember("two")
        whole = file.read_text(encoding="utf-8")
        half = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys, time; path, text = sys.argv[1:]; file = open(path, 'w'); file.write(text[:250]);"
                " file.flush(); print(flush=True); time.sleep(0.2); file.write(text[250:]); file.close()",
                str(file),
                whole.replace("learning: two", "learning: zwei"),
            ],
            stdout=subprocess.PIPE,
        )
        assert half.stdout is not None
        half.stdout.readline()
        assert contents(door) == {"1": "one", "2": "zwei"}
        half.stdout.close()
        assert half.wait() == 0
        assert [version.change for version in door.history("2").versions] == ["remember", "revise"]

    @pytest.mark.parametrize(
        "lose", [Path.unlink, lambda file: file.write_text(""), lambda file: file.write_text("\n\n")]
    )
    def test_a_file_that_is_lost_is_not_a_wish_to_forget_everything(
        self, door: OnRecord, file: Path, history: Path, lose: Callable[[Path], Any]
    ) -> None:
        door.remember("kept")
        good, told = file.read_bytes(), history.read_bytes()
        lose(file)
        for attempt in (lambda: door.show("1"), lambda: door.remember("more")):
            with pytest.raises(StoreUnavailable, match=r"is (gone|empty), but its history has"):
                attempt()
        assert history.read_bytes() == told
        file.write_bytes(good)
        assert contents(door) == {"1": "kept"}

    def test_a_list_that_is_empty_is(self, door: OnRecord, file: Path) -> None:
        door.remember("kept")
        file.write_text("[]")
        assert contents(door) == {}
        assert door.remember("the next").memory.id == "2"

    def test_a_store_that_begins_anew_without_its_files_is_empty(
        self, door: OnRecord, file: Path, history: Path
    ) -> None:
        door.remember("gone")
        file.unlink()
        history.unlink()
        assert contents(door) == {}
        assert door.remember("anew").memory.id == "1"

    @pytest.mark.parametrize(
        ("spoil", "reason"),
        [
            (
                lambda told: told.replace(b'"change":"remember"', b'"change":""', 1),
                "line 2.*must not be empty",
            ),
            (lambda told: told.replace(b'"at":', b'"when":', 1), "line 2.*has no at"),
            (
                lambda told: told.replace(b'"kind":"skill"', b'"kind":"rumour"', 1),
                "line 2, kind.*must be one of",
            ),
            (lambda told: b"<<<<<<< HEAD\n" + told, "line 1.*cannot be read.*keep the lines of both sides"),
            (lambda told: told.replace(b'{"history":1}', b'{"history":2}'), "line 1.*newer OnRecord"),
            (lambda told: told + b"words of someone\n", "line 6.*cannot be read"),
        ],
    )
    def test_a_history_that_cannot_be_read_is_told_with_its_line(
        self, door: OnRecord, file: Path, history: Path, spoil: Callable[[bytes], bytes], reason: str
    ) -> None:
        door.remember("kept", kind="skill")
        door.remember("too")
        good = history.read_bytes()
        history.write_bytes(spoil(good))
        for path in (file, history):
            set_back(path)
        before = (file.read_bytes(), history.read_bytes())
        with pytest.raises(Invalid, match=rf"memories\.history\.jsonl, {reason}"):
            door.show("1")
        assert (file.read_bytes(), history.read_bytes()) == before
        history.write_bytes(good)
        assert contents(door) == {"1": "kept", "2": "too"}


def set_back(path: Path) -> None:
    """The file was written a while ago: nobody waits whether someone is still at it."""
    past = time.time() - 60
    os.utime(path, (past, past))


class TestBranches:
    """What git does: going back, and putting together what was learned in two places."""

    def test_going_back_to_an_earlier_state_of_both_files_goes_back(
        self, door: OnRecord, folder: Path, tmp_path: Path, clock: Clock
    ) -> None:
        door.remember("one")
        held, saved = everything(door._store), saved_files(folder, tmp_path / "saved")
        clock.tick()
        door.remember("two")
        door.revise("1", content="uno")
        door.forget("2")
        put_back(saved, folder)
        assert everything(door._store) == held
        assert [hit.memory.id for hit in door.recall("one").hits] == ["1"]
        assert door.doctor().problems == ()

    def test_going_back_with_memories_alone_is_a_revision(
        self, door: OnRecord, file: Path, folder: Path, clock: Clock
    ) -> None:
        door.remember("one")
        before = file.read_bytes()
        clock.tick()
        door.revise("1", content="uno")
        file.write_bytes(before)
        assert contents(door) == {"1": "one"}
        assert [version.memory.content for version in door.history("1").versions] == ["one", "uno", "one"]

    def test_what_two_branches_learned_comes_together(
        self, door: OnRecord, folder: Path, file: Path, history: Path, tmp_path: Path, clock: Clock
    ) -> None:
        door.remember("common", id="common")
        door.remember("other", id="other")
        base = saved_files(folder, tmp_path / "base")
        clock.tick()
        door.revise("common", content="common, as here")
        door.remember("of here", id="here")
        door.relate("here", "supports", "common")
        here = saved_files(folder, tmp_path / "here")
        put_back(base, folder)
        clock.tick()
        door.revise("common", tags=["there"])
        door.remember("of there", id="there")
        door.relate("there", "supports", "common")
        clock.tick()
        # As `merge=union` does for the history; a person has put the entries together.
        ours, theirs, common = ((at / history.name).read_text().splitlines() for at in (here, folder, base))
        merged = [*common, *ours[len(common) :], *theirs[len(common) :]]
        history.write_text("\n".join(merged) + "\n", encoding="utf-8")
        text = file.read_text(encoding="utf-8").replace("learning: common\n", "learning: common, as here\n")
        added = (here / file.name).read_text(encoding="utf-8")
        file.write_text(text + added[added.index("- version: 2\n  id: here") :], encoding="utf-8")
        assert contents(door) == {
            "common": "common, as here", "other": "other", "here": "of here", "there": "of there",
        }  # fmt: skip
        told = door.history("common").versions
        assert [(each.number, each.change, each.memory.content, each.memory.tags) for each in told] == [
            (1, "remember", "common", ()),
            (2, "revise", "common, as here", ()),
            (3, "revise", "common", ("there",)),
            (4, "revise", "common, as here", ("there",)),
        ]
        assert {edge.memory.id for edge in door.neighbours("common").edges} == {"here", "there"}
        assert door.doctor().problems == ()
        held = everything(door._store)
        with opened_anew(folder) as door:
            assert everything(door._store) == held


def saved_files(folder: Path, to: Path) -> Path:
    to.mkdir()
    for path in folder.glob("memories.*"):
        shutil.copy(path, to)
    return to


def put_back(saved: Path, folder: Path) -> None:
    for path in saved.iterdir():
        shutil.copy(path, folder)


def test_the_history_is_one_json_object_a_line(door: OnRecord, history: Path) -> None:
    door.remember("odd\u2028separators\x85and\nlines")
    for line in history.read_bytes().splitlines()[:-1]:
        assert isinstance(json.loads(line), dict)
