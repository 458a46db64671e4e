"""IS what the former name left behind taken over whole, once, and never passed over in silence?"""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from onrecord import OnRecord, connect
from onrecord.access.identity import Authenticator
from onrecord.config import load
from onrecord.errors import Invalid, StoreUnavailable, Unauthenticated
from onrecord.store.migrations import HEAD

from ..surfaces.conftest import Shell, shell
from .conftest import KEYS, LEFT_BEHIND, STORES, held, lines

__all__ = ["shell"]
Former = Callable[[str], str]


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def exported(door: OnRecord, folder: Path) -> list[dict[str, Any]]:
    door.export(str(folder / "now.jsonl"), all_tenants=True)
    return lines(folder / "now.jsonl")


def gate(door: OnRecord) -> Authenticator:
    return Authenticator(door._store)


class TestAStore:
    def test_it_holds_what_it_held(self, kind: str, former: Former, tmp_path: Path) -> None:
        with connect(former(kind), embedder="e5") as door:
            former_export = LEFT_BEHIND / f"{'yaml' if kind == 'yaml' else 'sqlite'}.jsonl"
            assert exported(door, tmp_path) == held(former_export, with_own_ids=kind != "yaml")
            assert door.show("proposal").memory.status == "pending"
            assert door.doctor().problems == ()
            if kind == "yaml":
                # Its index is made anew, without vectors.
                door.embed_missing()
            assert door.recall("when can we release?").hits[0].memory.id == "kb.deploys"

    def test_its_keys_open_the_same_doors(self, kind: str, former: Former) -> None:
        with connect(former(kind)) as door:
            owner, reader = (
                gate(door).caller({"Authorization": f"Bearer {KEYS[kind][name]}"})
                for name in ("owner", "reader")
            )
            assert (owner.user, owner.actor, "memory.admin" in owner.permissions) == ("ann", "person", True)
            assert (reader.user, reader.permissions) == ("bob", frozenset({"memory.read"}))
            with pytest.raises(Unauthenticated):
                gate(door).caller({"Authorization": f"Bearer {KEYS[kind]['revoked']}"})
            assert {key.label for key in door.list_keys().keys} == {"owner", "reader", "revoked"}
            assert {entry.operation for entry in door.audit().entries} >= {"remember", "create_key"}

    def test_it_goes_on_where_it_was(self, kind: str, former: Former) -> None:
        with connect(former(kind)) as door:
            made = door.create_key(label="new")
            assert made.secret.startswith("onr_")
            assert gate(door).caller({"Authorization": f"Bearer {made.secret}"}).key == made.key.id
            assert door.remember("One more.").memory.id == "6"

    def test_it_is_taken_over_once(self, kind: str, former: Former, caplog: pytest.LogCaptureFixture) -> None:
        db = former(kind)
        connect(db).close()
        first = [record.getMessage() for record in caplog.records]
        assert f"up to schema {HEAD}" in first[0]
        # Those who made the files of that time let everyone read them.
        assert ["doctor --fix" in each for each in first[1:]] == ([] if kind == "postgres" else [True])
        caplog.clear()
        connect(db).close()
        assert caplog.records == []

    def test_a_file_is_copied_before_and_the_message_says_where(
        self, former: Former, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        was = shutil.copy(LEFT_BEHIND / "store.db", tmp_path / "was.db")
        connect(former("sqlite")).close()
        copy = tmp_path / "store.db.schema-0004"
        assert str(copy) in caplog.text
        with closing(sqlite3.connect(copy)) as kept, closing(sqlite3.connect(was)) as left:
            assert list(kept.iterdump()) == list(left.iterdump())

    def test_the_folder_of_a_yaml_store_is_renamed_with_all_that_no_text_says(self, former_yaml: str) -> None:
        connect(former_yaml).close()
        assert not Path(former_yaml, ".recollect").exists()
        assert Path(former_yaml, ".onrecord", "state.db").exists()

    def test_two_such_folders_are_told_of_and_neither_is_touched(self, former_yaml: str) -> None:
        folder = Path(former_yaml, ".onrecord")
        folder.mkdir()
        (folder / "state.db").write_bytes(b"of someone")
        with pytest.raises(
            StoreUnavailable, match=r"\.recollect holds keys.*\.onrecord.*nothing was changed"
        ):
            connect(former_yaml)
        assert (folder / "state.db").read_bytes() == b"of someone"
        assert Path(former_yaml, ".recollect", "state.db").exists()

    def test_many_processes_may_come_first(self, former_yaml: str, tmp_path: Path) -> None:
        with connect(former_yaml) as first, connect(former_yaml) as second:
            first.remember("From the first.")
            assert second.remember("From the second.").memory.id == "7"
            assert len(first.list_keys().keys) == len(second.list_keys().keys) == 3


def test_an_export_is_read(tmp_path: Path) -> None:
    with connect(tmp_path / "new.db") as door:
        assert door.import_(str(LEFT_BEHIND / "sqlite.jsonl"), keep_tenants=True).conflicts == ()
        assert exported(door, tmp_path) == held(LEFT_BEHIND / "sqlite.jsonl")
    assert json.loads((tmp_path / "now.jsonl").read_text(encoding="utf-8").splitlines()[0])["onrecord"] == 1


@pytest.mark.parametrize("prefix", ["onr_", "rk_"])
def test_a_key_is_scrubbed_whichever_name_it_was_made_under(prefix: str, tmp_path: Path) -> None:
    secret = prefix + KEYS["sqlite"]["owner"].partition("_")[2]
    with connect(tmp_path / "new.db") as door:
        kept = door.remember(f"The server wants {secret} in its header.", title=secret).memory
    assert kept.content == "The server wants [secret:api-key] in its header."
    assert secret not in kept.title


@pytest.mark.parametrize("header", ["Recollect-Run", "recollect-conversation"])
def test_a_header_of_the_former_name_is_refused_rather_than_left_unread(header: str, tmp_path: Path) -> None:
    with connect(tmp_path / "new.db") as door:
        key = door.create_key(label="agent", actor="unattended").secret
        with pytest.raises(Invalid, match="is now called OnRecord-"):
            gate(door).caller({"Authorization": f"Bearer {key}", header: "nightly"})


class TestASetting:
    @pytest.mark.parametrize("name", ["DB", "TENANT", "EMBEDDER_KEY", "CONFIG"])
    def test_one_of_the_former_prefix_is_an_error_that_names_the_new_one(self, name: str) -> None:
        with pytest.raises(Invalid, match=f"RECOLLECT_{name}: .*set ONRECORD_{name} instead"):
            load({f"RECOLLECT_{name}": "x"})

    def test_all_of_them_are_named_at_once(self) -> None:
        with pytest.raises(Invalid) as told:
            load({"RECOLLECT_DB": "x", "RECOLLECT_USER": "y"})
        assert {fault.field for fault in told.value.faults} == {"RECOLLECT_DB", "RECOLLECT_USER"}

    def test_one_beside_its_successor_is_let_be(self) -> None:
        assert load({"RECOLLECT_DB": "old.db", "ONRECORD_DB": "new.db"}).db == "new.db"

    def test_one_whose_value_is_given_on_the_spot_is_let_be(self) -> None:
        assert load({"RECOLLECT_DB": "old.db"}, db="given.db").db == "given.db"

    def test_one_that_was_never_ours_is_let_be(self) -> None:
        load({"RECOLLECT_HOME": "/of/another/package", "ONRECORD_DB": "new.db"})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which the former name has left a store and a config file at their usual places."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ONRECORD_DB"):
        monkeypatch.delenv(variable, raising=False)
    data = platformdirs.user_data_path("recollect", ensure_exists=True)
    (data / "recollect.db").write_bytes((LEFT_BEHIND / "store.db").read_bytes())
    return tmp_path / "home"


class TestThePlaceWhereAStoreIsUnlessSaidOtherwise:
    def test_a_store_at_the_former_one_is_an_error_and_no_empty_one_is_made(
        self, home: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ONRECORD_DB", raising=False)
        for words in (["recall", "deploys"], ["remember", "x"], ["config"], ["status"]):
            said = shell(*words)
            assert said.code == 6
            assert "recollect.db is a store made under the project's former name" in said.err
            assert "onrecord migrate" in said.err
        assert not platformdirs.user_data_path("onrecord").exists()

    def test_the_named_cure_takes_it_over_and_leaves_it_where_it_was(
        self, home: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ONRECORD_DB", raising=False)
        former = platformdirs.user_data_path("recollect") / "recollect.db"
        said = shell("migrate")
        assert (said.code, said.out.count("Copied")) == (0, 1)
        assert former.read_bytes() == (LEFT_BEHIND / "store.db").read_bytes()
        assert "Deploys are frozen" in shell("show", "kb.deploys").out
        again = shell("migrate")
        assert (again.code, again.out.count("Copied")) == (0, 0)

    def test_another_store_can_be_named(self, home: Path, tmp_path: Path) -> None:
        with connect(tmp_path / "other.db") as door:
            assert door.remember("Elsewhere.").memory.id == "1"

    def test_a_config_file_at_the_former_place_is_an_error_until_it_is_taken_over(
        self, home: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for variable in ("ONRECORD_DB", "ONRECORD_CONFIG"):
            monkeypatch.delenv(variable, raising=False)
        former = platformdirs.user_config_path("recollect", ensure_exists=True) / "config.toml"
        connect(tmp_path / "set.db").close()
        former.write_text(f'db = "{tmp_path / "set.db"}"\n', encoding="utf-8")
        said = shell("status")
        assert said.code == 2
        assert "onrecord migrate" in said.err
        assert shell("migrate").code == 0
        assert "set.db" in shell("config").out
