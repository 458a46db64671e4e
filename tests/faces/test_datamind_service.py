"""HOW does an agent of datamind hold its memory? What was just said, its service, its settings, and a store of its own."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import connect
from onrecord.errors import Conflict, Invalid
from onrecord.faces.datamind import (
    MemoryItem,
    MemoryService,
    OnRecordMemoryStore,
    ShortTermMemory,
    SQLiteMemoryStore,
    memory_registry,
    open_memory,
)

from .test_datamind import ARR, found, run


class TestShortTerm:
    def test_a_window_of_three_keeps_the_last_three_and_clear_tells_how_many(self) -> None:
        memory = ShortTermMemory(max_turns=3)
        for number in range(5):
            memory.append("s", "user", f"turn {number}")
        assert [turn.content for turn in memory.recent("s")] == ["turn 2", "turn 3", "turn 4"]
        assert [turn.content for turn in memory.recent("s", 2)] == ["turn 3", "turn 4"]
        assert memory.clear("s") == 3
        assert memory.recent("s") == []
        assert memory.clear("s") == 0

    def test_twenty_turns_are_kept_unless_it_is_said(self) -> None:
        memory = ShortTermMemory()
        for number in range(30):
            memory.append("s", "user", f"turn {number}")
        assert len(memory.recent("s")) == 20

    def test_a_turn_has_its_role_content_time_and_metadata(self) -> None:
        noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
        memory = ShortTermMemory(clock=lambda: noon)
        memory.append("s", "assistant", "hello", {"tokens": 3})
        [turn] = memory.recent("s")
        assert (turn.role, turn.content, turn.ts, turn.metadata) == (
            "assistant",
            "hello",
            noon.timestamp(),
            {"tokens": 3},
        )

    def test_sessions_are_apart_and_one_that_was_cleared_leaves_nothing(self) -> None:
        memory = ShortTermMemory()
        memory.append("one", "user", "a")
        memory.append("two", "user", "b")
        assert memory.sessions() == ["one", "two"]
        assert [turn.content for turn in memory.recent("two")] == ["b"]
        memory.clear("one")
        memory.recent("three")
        assert memory.sessions() == ["two"]

    def test_sessions_do_not_pile_up_for_ever(self) -> None:
        memory = ShortTermMemory()
        for number in range(1_200):
            memory.append(f"s{number}", "user", "x")
        assert len(memory.sessions()) == 1_000

    def test_nothing_of_it_outlives_the_object(self) -> None:
        ShortTermMemory().append("s", "user", "a")
        assert ShortTermMemory().sessions() == []

    @given(
        st.lists(st.tuples(st.sampled_from("ab"), st.text("xyz", min_size=1)), max_size=40), st.integers(1, 9)
    )
    def test_a_session_holds_the_last_of_its_own(self, said: list[tuple[str, str]], window: int) -> None:
        memory = ShortTermMemory(window)
        for session, content in said:
            memory.append(session, "user", content)
        for session in "ab":
            mine = [content for where, content in said if where == session]
            assert [turn.content for turn in memory.recent(session)] == mine[-window:]


class FamiliarStore:
    """A third party's store: a list, and nothing else."""

    def __init__(self, dsn: str, profile: str) -> None:
        self.dsn = dsn
        self.items: list[MemoryItem] = []

    async def save(
        self,
        content: str,
        *,
        scope: str,
        profile: str | None = None,
        session_id: str | None = None,
        kind: str = "fact",
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        known: dict[str, Any] = {"scope": scope, "profile": profile, "session_id": session_id, "kind": kind}
        item = MemoryItem(
            id=str(len(self.items)),
            content=content,
            status="active",
            score=1.0,
            metadata=metadata or {},
            created_at="0.0",
            namespace=profile or "",
            **known,
        )
        self.items.append(item)
        return item.id

    async def recall(
        self,
        query: str,
        *,
        profile: str | None = None,
        session_id: str | None = None,
        top_k: int = 8,
        kinds: Sequence[str] | None = None,
        include_archived: bool = False,
    ) -> list[MemoryItem]:
        mine = [each for each in self.items if each.profile in (None, profile)]
        return mine[:top_k]

    async def forget(self, item_id: str, *, hard: bool = False) -> bool:
        return False

    async def list_profiles(self) -> list[str]:
        return sorted({each.profile for each in self.items if each.profile})


class TestService:
    @pytest.fixture
    def memory(self, tmp_path: Path) -> Iterator[MemoryService]:
        service = open_memory(str(tmp_path / "s.db"), profile="lawfirm-A", storage=tmp_path)
        yield service
        service.store.close()  # type: ignore[union-attr]

    def test_the_profile_is_filled_in_from_the_settings(self, memory: MemoryService) -> None:
        run(memory.save(ARR))
        [item] = run(memory.recall("what does ARR mean here", session_id="paper-2026"))
        assert (item.content, item.profile) == (ARR, "lawfirm-A")
        assert found(memory, "what does ARR mean", profile="saas-B") == []

    def test_items_are_saved_for_the_profile_unless_it_is_said(self, memory: MemoryService) -> None:
        run(memory.save("tea"))
        run(memory.save("tea here", scope="session", session_id="s"))
        assert run(memory.list_profiles()) == ["lawfirm-A"]
        assert found(memory, "tea", scope_filter=["session"], session_id="s") == ["tea here"]

    def test_a_filter_for_global_items_leaves_out_the_default_profiles(self, memory: MemoryService) -> None:
        run(memory.save("tea"))
        assert found(memory, "tea", scope_filter=["global"]) == []
        assert found(memory, "tea", scope_filter=[]) == ["tea"]

    def test_soft_and_hard_forgetting_go_through(self, memory: MemoryService) -> None:
        item = run(memory.save("tea"))
        assert run(memory.forget(item)) is True
        assert found(memory, "tea", include_archived=True) == ["tea"]
        assert run(memory.forget(item, hard=True)) is True

    def test_without_a_model_no_facts_are_extracted(self, memory: MemoryService) -> None:
        turns = {"user_turn": "I move to Shenzhen.", "assistant_turn": "Nice."}
        assert run(memory.extract_and_save(**turns, scope="session", session_id="abc")) == []

    def test_the_short_term_is_beside_the_long_term(self, memory: MemoryService) -> None:
        memory.short_term.append("s", "user", "hello")
        assert [turn.content for turn in memory.short_term.recent("s")] == ["hello"]
        assert found(memory, "hello") == []

    def test_without_the_long_term_nothing_is_found_and_a_save_is_refused(self) -> None:
        memory = MemoryService(None, profile="A")
        assert found(memory, "tea") == []
        assert run(memory.forget("1")) is False
        assert run(memory.list_profiles()) == []
        with pytest.raises(Invalid, match="long_term: is switched off"):
            run(memory.save("tea"))


class TestTwoServices:
    """One store, two agents of two profiles."""

    @pytest.fixture
    def two(self, tmp_path: Path) -> Iterator[tuple[MemoryService, MemoryService]]:
        store = OnRecordMemoryStore(connect(tmp_path / "s.db"))
        yield MemoryService(store, profile="lawfirm-A"), MemoryService(store, profile="saas-B")
        store.close()

    def test_sessions_of_one_name_share_nothing(self, two: tuple[MemoryService, MemoryService]) -> None:
        for memory in two:
            run(memory.save(f"tea for {memory.profile}", scope="session", session_id="s"))
        for memory in two:
            for scopes in (None, ["session"]):
                told = found(memory, "tea", session_id="s", scope_filter=scopes)
                assert told == [f"tea for {memory.profile}"]
        assert found(two[0], "tea", profile="saas-B", session_id="s") == ["tea for saas-B"]

    def test_what_is_for_everyone_is_shared_and_the_short_term_is_not(
        self, two: tuple[MemoryService, MemoryService]
    ) -> None:
        first, second = two
        run(first.save("tea is for all", scope="global"))
        assert found(second, "tea") == ["tea is for all"]
        first.short_term.append("s", "user", "hello")
        assert second.short_term.recent("s") == []

    @pytest.mark.parametrize("id", ["a/b", "", "x" * 300, "no such", "global:a/b", "#"])
    def test_an_id_that_cannot_exist_is_not_forgotten_and_no_error(
        self, two: tuple[MemoryService, MemoryService], id: str
    ) -> None:
        for hard in (True, False):
            assert run(two[0].forget(id, hard=hard)) is False


class TestRegistry:
    def test_a_class_that_has_only_what_the_protocol_asks_for_is_made_with_nothing(self) -> None:
        @memory_registry.register("bare")
        class BareMemoryStore:
            async def save(
                self, content, *, scope, profile=None, session_id=None, kind="fact", metadata=None
            ) -> str:  # type: ignore[no-untyped-def]
                return f"{scope} {profile} {kind}: {content}"

            async def recall(
                self, query, *, profile=None, session_id=None, top_k=8, kinds=None, include_archived=False
            ):  # type: ignore[no-untyped-def]
                return []

            async def forget(self, item_id, *, hard=False) -> bool:  # type: ignore[no-untyped-def]
                return True

            async def list_profiles(self) -> list[str]:
                return ["A"]

        environment = {"DATAMIND__MEMORY__BACKEND": "bare", "ONRECORD_CONFIG": "/nowhere"}
        memory = open_memory(profile="A", environment=environment)
        assert isinstance(memory.store, BareMemoryStore)
        assert run(memory.save("tea")) == "profile A fact: tea"
        assert run(memory.recall("tea")) == []
        assert run(memory.forget("1")) is True
        assert run(memory.list_profiles()) == ["A"]

    def test_a_store_of_ones_own_is_chosen_by_its_name(self) -> None:
        memory_registry.register("familiar")(FamiliarStore)
        environment = {"DATAMIND__MEMORY__BACKEND": "familiar", "DATAMIND__MEMORY__DSN": "over-there"}
        memory = open_memory(profile="A", environment=environment | {"ONRECORD_CONFIG": "/nowhere"})
        assert isinstance(memory.store, FamiliarStore)
        assert memory.store.dsn == "over-there"
        run(memory.save("tea for A"))
        run(memory.save("tea for all", scope="global"))
        assert found(memory, "tea") == ["tea for A", "tea for all"]
        assert found(memory, "tea", scope_filter=["global"]) == ["tea for all"]
        assert found(memory, "tea", scope_filter=["profile"]) == ["tea for A"]
        assert run(memory.list_profiles()) == ["A"]

    def test_what_such_a_store_recalls_may_be_of_any_class(self) -> None:
        class Plain(FamiliarStore):
            async def recall(self, query: str, **asked: Any) -> list[Any]:
                return [
                    {"id": "1", "scope": "profile", "content": "tea in a dict", "colour": "green"},
                    SimpleNamespace(id="2", scope="global", content="tea in an object", kind="decision"),
                    MemoryItem(id="3", scope="session", content="tea in an item"),
                ]

        memory = MemoryService(Plain("", ""), profile="A")
        told = run(memory.recall("tea", session_id="s"))
        assert [(each.id, each.kind, each.status) for each in told] == [
            ("1", "fact", "active"),
            ("2", "decision", "active"),
            ("3", "fact", "active"),
        ]
        assert found(memory, "tea", scope_filter=["global"]) == ["tea in an object"]

    def test_such_a_store_is_never_given_what_it_does_not_know(self) -> None:
        memory = MemoryService(FamiliarStore("", ""), profile="A")
        with pytest.raises(Invalid, match="kind"):
            run(memory.save("tea", kind="opinion"))
        with pytest.raises(Invalid, match="scope"):
            run(memory.save("tea", scope="everyone"))
        with pytest.raises(Invalid, match="session_id"):
            run(memory.save("tea", scope="session"))

    def test_ours_are_there_and_an_unknown_one_is_refused_with_those_there_are(self) -> None:
        assert "sqlite" in memory_registry
        assert "postgres" in memory_registry
        with pytest.raises(Invalid, match=r"'nowhere' is not registered; there are .*postgres.*sqlite"):
            memory_registry.create("nowhere", dsn="", profile="A")

    def test_a_name_that_is_taken_is_refused(self) -> None:
        with pytest.raises(Conflict, match="There is a store sqlite already"):
            memory_registry.register("sqlite")(FamiliarStore)

    def test_the_known_name_of_the_store_is_ours(self) -> None:
        assert SQLiteMemoryStore is OnRecordMemoryStore


class TestSettings:
    def opened(self, tmp_path: Path, **environment: str) -> MemoryService:
        return open_memory(
            environment={"ONRECORD_CONFIG": str(tmp_path / "none.toml")} | environment, storage=tmp_path
        )

    def test_the_known_names_of_the_settings_are_read(self, tmp_path: Path) -> None:
        memory = self.opened(
            tmp_path,
            DATAMIND__MEMORY__DSN=str(tmp_path / "theirs.db"),
            DATAMIND__MEMORY__BACKEND="sqlite",
            DATAMIND__MEMORY__SHORT_TERM_TURNS="2",
            DATAMIND__MEMORY__LONG_TERM_ENABLED="true",
            DATAMIND__DATA__PROFILE="lawfirm-A",
        )
        assert isinstance(memory.store, OnRecordMemoryStore)
        assert memory.store.door.location == str(tmp_path / "theirs.db")
        assert memory.profile == "lawfirm-A"
        for number in range(5):
            memory.short_term.append("s", "user", str(number))
        assert len(memory.short_term.recent("s")) == 2
        memory.store.close()

    def test_ours_win_where_both_are_set(self, tmp_path: Path) -> None:
        memory = self.opened(
            tmp_path,
            DATAMIND__MEMORY__DSN=str(tmp_path / "theirs.db"),
            DATAMIND__DATA__PROFILE="theirs",
            ONRECORD_DB=str(tmp_path / "ours.db"),
            ONRECORD_TENANT="ours",
        )
        assert isinstance(memory.store, OnRecordMemoryStore)
        assert memory.store.door.location == str(tmp_path / "ours.db")
        assert memory.profile == "ours"
        memory.store.close()

    @pytest.mark.parametrize("off", ["false", "False", "0", "no"])
    def test_the_long_term_can_be_switched_off(self, tmp_path: Path, off: str) -> None:
        assert self.opened(tmp_path, DATAMIND__MEMORY__LONG_TERM_ENABLED=off).store is None

    @pytest.mark.parametrize(
        ("name", "value", "told"),
        [
            ("SHORT_TERM_TURNS", "many", "turns: must be a whole number"),
            ("SHORT_TERM_TURNS", "0", "turns: must be from 1"),
            ("LONG_TERM_ENABLED", "perhaps", "long_term: must be one of yes, no"),
            ("BACKEND", "nowhere", "'nowhere' is not registered"),
            ("BACKEND", "postgres", "db: must be a PostgreSQL DSN"),
        ],
    )
    def test_a_value_that_cannot_be_is_refused(
        self, tmp_path: Path, name: str, value: str, told: str
    ) -> None:
        with pytest.raises(Invalid, match=told):
            self.opened(tmp_path, **{f"DATAMIND__MEMORY__{name}": value})

    def test_a_server_keeps_as_many_turns_as_are_set(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DATAMIND__MEMORY__SHORT_TERM_TURNS", "2")
        with connect(tmp_path / "s.db") as door:
            for number in range(4):
                door.note_turn(str(number), conversation="s")
            assert len(door.turns(conversation="s").turns) == 2
