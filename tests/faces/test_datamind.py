"""WHAT does a program of datamind find here? Its three scopes, its kinds, its store and its service."""

import asyncio
from collections.abc import Coroutine, Iterator
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest

from onrecord import Caller, connect
from onrecord.errors import Conflict, Forbidden, Invalid
from onrecord.faces.datamind import KINDS, OnRecordMemoryStore, open_memory
from onrecord.testing.embedder import StubEmbedder
from tests.conftest import Clock

T = TypeVar("T")
ARR = "ARR means annual recurring revenue here"


def run(doing: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(doing)


@pytest.fixture
def store(db: str, clock: Clock) -> Iterator[OnRecordMemoryStore]:
    """A store of several profiles, on each database."""
    numbers = count(1)
    store = OnRecordMemoryStore(connect(db, clock=clock), new_id=lambda: f"item{next(numbers)}")
    yield store
    store.close()


@pytest.fixture
def quick(clock: Clock) -> Iterator[OnRecordMemoryStore]:
    """The same in memory, for what no database has a say in."""
    store = OnRecordMemoryStore(connect(":memory:", clock=clock))
    yield store
    store.close()


def save(store: Any, content: str, **where: Any) -> str:
    saved: str = run(store.save(content, **where))
    return saved


def found(store: Any, query: str, **where: Any) -> list[str]:
    return [item.content for item in run(store.recall(query, **where))]


def three_scopes(store: Any) -> None:
    save(store, "reply about tea in Chinese", scope="global")
    save(store, "tea means matcha at the law firm", scope="profile", profile="lawfirm-A")
    save(store, "tea is off the menu at the start-up", scope="profile", profile="saas-B")
    firm = {"scope": "session", "profile": "lawfirm-A"}
    save(store, "in this thread tea is reviewed by Bob", session_id="paper-2026", **firm)
    save(store, "in another thread tea is a colour", session_id="other", **firm)


class TestScopes:
    def test_saving_for_a_profile_needs_the_profile(self, quick: OnRecordMemoryStore) -> None:
        with pytest.raises(Invalid, match="profile: is required when scope is profile"):
            save(quick, "x", scope="profile")

    def test_saving_for_a_session_needs_the_session(self, quick: OnRecordMemoryStore) -> None:
        with pytest.raises(Invalid, match="session_id: is required when scope is session"):
            save(quick, "x", scope="session", profile="A")

    def test_an_item_has_a_profile_or_a_session_only_if_its_scope_is_that(
        self, quick: OnRecordMemoryStore
    ) -> None:
        save(quick, "tea for all", scope="global", profile="A", session_id="s")
        save(quick, "tea for A", scope="profile", profile="A", session_id="s")
        save(quick, "tea for s", scope="session", profile="A", session_id="s")
        told = {item.scope: item for item in run(quick.recall("tea", profile="A", session_id="s"))}
        assert {scope: (item.profile, item.session_id) for scope, item in told.items()} == {
            "global": (None, None),
            "profile": ("A", None),
            "session": (None, "s"),
        }
        assert {item.namespace for item in told.values()} == {"global", "A", "s"}

    def test_a_global_item_is_visible_from_every_profile(self, store: OnRecordMemoryStore) -> None:
        three_scopes(store)
        for profile in ("lawfirm-A", "saas-B", "never-used"):
            assert "reply about tea in Chinese" in found(store, "tea", profile=profile)

    def test_another_profiles_items_never_leak(self, store: OnRecordMemoryStore) -> None:
        three_scopes(store)
        assert set(found(store, "tea at the law firm", profile="saas-B")) == {
            "tea is off the menu at the start-up",
            "reply about tea in Chinese",
        }
        assert found(store, "tea", profile="never-used") == ["reply about tea in Chinese"]

    def test_one_recall_gives_the_union_of_the_three_scopes_and_nothing_else(
        self, store: OnRecordMemoryStore
    ) -> None:
        three_scopes(store)
        told = found(store, "tea", profile="lawfirm-A", session_id="paper-2026")
        assert set(told) == {
            "reply about tea in Chinese",
            "tea means matcha at the law firm",
            "in this thread tea is reviewed by Bob",
        }

    def test_without_a_session_no_sessions_items_come(self, store: OnRecordMemoryStore) -> None:
        three_scopes(store)
        assert not [text for text in found(store, "tea", profile="lawfirm-A") if "thread" in text]

    def test_without_a_profile_only_global_items_and_the_sessions_come(
        self, quick: OnRecordMemoryStore
    ) -> None:
        """A session without a profile is one of the store's own."""
        three_scopes(quick)
        save(quick, "tea is drunk in this thread", scope="session", session_id="paper-2026")
        assert found(quick, "tea") == ["reply about tea in Chinese"]
        assert sorted(found(quick, "tea", session_id="paper-2026")) == [
            "reply about tea in Chinese",
            "tea is drunk in this thread",
        ]

    def test_what_a_session_was_told_in_its_own_profile_is_found_there(
        self, quick: OnRecordMemoryStore
    ) -> None:
        save(quick, "tea for this thread", scope="session", profile="A", session_id="s")
        assert found(quick, "tea", profile="A", session_id="s") == ["tea for this thread"]
        assert found(quick, "tea", profile="B", session_id="s") == []

    def test_what_others_keep_for_one_user_is_no_item(self, quick: OnRecordMemoryStore) -> None:
        quick.door.remember("tea for me alone", scope="user")
        assert found(quick, "tea", profile=quick.profile) == []

    def test_a_scope_filter_filters(self, store: OnRecordMemoryStore) -> None:
        three_scopes(store)
        everywhere = {"profile": "lawfirm-A", "session_id": "paper-2026"}
        assert found(store, "tea", scope_filter=["global"], **everywhere) == ["reply about tea in Chinese"]
        assert found(store, "tea", scope_filter=["session"], **everywhere) == [
            "in this thread tea is reviewed by Bob"
        ]
        assert found(store, "tea", scope_filter=["profile"], **everywhere) == [
            "tea means matcha at the law firm"
        ]
        assert found(store, "tea", scope_filter=["session"], profile="lawfirm-A") == []

    def test_a_caller_who_does_not_hold_the_store_has_its_own_profile_alone(self, tmp_path: Path) -> None:
        ann = Caller(tenant="A", user="ann")
        store = OnRecordMemoryStore(connect(tmp_path / "store.db", caller=ann))
        save(store, "tea", scope="profile", profile="A")
        with pytest.raises(Forbidden):
            save(store, "tea", scope="profile", profile="B")
        with pytest.raises(Forbidden):
            found(store, "tea", profile="B")
        assert run(store.list_profiles()) == ["A"]
        store.close()


class TestKinds:
    def test_the_default_kind_is_fact(self, quick: OnRecordMemoryStore) -> None:
        save(quick, "tea", scope="global")
        assert [item.kind for item in run(quick.recall("tea"))] == ["fact"]

    def test_kinds_are_a_filter(self, store: OnRecordMemoryStore) -> None:
        for kind in KINDS:
            save(store, f"a {kind} about tea", scope="profile", profile="A", kind=kind)
        for kind in KINDS:
            assert found(store, "tea", profile="A", kinds=[kind]) == [f"a {kind} about tea"]
        assert len(found(store, "tea", profile="A", kinds=["decision", "skill"])) == 2
        assert len(found(store, "tea", profile="A", kinds=[])) == len(KINDS)

    def test_a_kind_that_is_not_known_there_is_shown_and_found_as_a_fact(
        self, quick: OnRecordMemoryStore
    ) -> None:
        quick.door.remember("tea is learnt", kind="learning")
        [item] = run(quick.recall("tea", profile=quick.profile, kinds=["fact"]))
        assert item.kind == "fact"
        assert found(quick, "tea", profile=quick.profile, kinds=["skill"]) == []

    @pytest.mark.parametrize("kind", ["learning", "opinion", "", None, 5])
    def test_an_unknown_kind_is_refused_and_recall_goes_on(
        self, quick: OnRecordMemoryStore, kind: Any
    ) -> None:
        save(quick, "tea", scope="global")
        with pytest.raises(Invalid, match="kind: must be one of preference, decision, workflow"):
            save(quick, "tea too", scope="global", kind=kind)
        assert found(quick, "tea") == ["tea"]

    @pytest.mark.parametrize("scope", ["user", "tenant", "everyone", "", None])
    def test_an_unknown_scope_is_refused_and_recall_goes_on(
        self, quick: OnRecordMemoryStore, scope: Any
    ) -> None:
        save(quick, "tea", scope="global")
        with pytest.raises(Invalid, match="scope: must be one of session, profile, global"):
            save(quick, "tea too", scope=scope, profile="A")
        with pytest.raises(Invalid, match="scope_filter: item 1 must be one of session, profile, global"):
            found(quick, "tea", scope_filter=[scope])
        assert found(quick, "tea") == ["tea"]

    def test_an_empty_content_is_refused(self, quick: OnRecordMemoryStore) -> None:
        with pytest.raises(Invalid, match="content: must not be empty"):
            save(quick, "", scope="global")


class TestRanking:
    def test_without_an_embedder_words_in_common_decide(self, store: OnRecordMemoryStore) -> None:
        for text in ("Berlin is in Germany", "Paris is the capital of France", "the river in France is long"):
            save(store, text, scope="profile", profile="A")
        assert found(store, "paris france", profile="A")[0] == "Paris is the capital of France"

    def test_what_was_saved_without_an_embedder_is_found_with_one(self, tmp_path: Path) -> None:
        before = OnRecordMemoryStore(connect(tmp_path / "s.db", embedder="none"))
        save(before, "Paris is in France", scope="profile", profile="A")
        before.close()
        after = OnRecordMemoryStore(connect(tmp_path / "s.db", embedder=StubEmbedder()))
        assert found(after, "paris", profile="A") == ["Paris is in France"]
        after.close()

    def test_an_embedder_of_another_size_finds_what_an_earlier_one_embedded(self, tmp_path: Path) -> None:
        before = OnRecordMemoryStore(connect(tmp_path / "s.db", embedder=StubEmbedder(dimensions=32)))
        save(before, "Paris is in France", scope="profile", profile="A")
        before.close()
        other = StubEmbedder("another", dimensions=16)
        after = OnRecordMemoryStore(connect(tmp_path / "s.db", embedder=other))
        assert found(after, "paris", profile="A") == ["Paris is in France"]
        after.close()

    def test_an_embedder_that_fails_does_not_fail_a_save(self, tmp_path: Path) -> None:
        embedder = StubEmbedder()
        embedder.down = "it is down"
        store = OnRecordMemoryStore(connect(tmp_path / "s.db", embedder=embedder))
        save(store, "Paris is in France", scope="profile", profile="A")
        assert found(store, "paris", profile="A") == ["Paris is in France"]
        store.close()

    @pytest.mark.usefixtures("with_and_without_vectors")
    def test_a_query_that_matches_nothing_gives_nothing(self, store: OnRecordMemoryStore) -> None:
        three_scopes(store)
        assert found(store, "zeppelin", profile="lawfirm-A", session_id="paper-2026") == []
        assert found(store, "", profile="lawfirm-A") == []

    def test_equal_scores_put_session_before_profile_before_global(self, store: OnRecordMemoryStore) -> None:
        home = store.profile
        for scope in ("global", "profile", "session"):
            save(store, "tea is hot", scope=scope, profile=home, session_id="s")
        told = run(store.recall("tea", profile=home, session_id="s"))
        assert [item.scope for item in told] == ["session", "profile", "global"]
        assert [item.scope for item in run(store.recall("tea", profile=home, top_k=1))] == ["profile"]

    def test_scores_fall(self, quick: OnRecordMemoryStore) -> None:
        three_scopes(quick)
        scores = [
            item.score for item in run(quick.recall("tea", profile="lawfirm-A", session_id="paper-2026"))
        ]
        assert scores == sorted(scores, reverse=True)
        assert min(scores) > 0


class TestBudgets:
    @pytest.fixture
    def full(self, store: OnRecordMemoryStore) -> OnRecordMemoryStore:
        for number in range(25):
            save(store, f"tea {number} of the profile", scope="profile", profile="A")
        for number in range(10):
            save(store, f"tea {number} for everyone and for whoever else comes by", scope="global")
            save(
                store,
                f"tea {number} of this long thread about so many things",
                scope="session",
                profile="A",
                session_id="s",
            )
        return store

    def test_each_scope_has_its_places_two_four_and_two(self, full: OnRecordMemoryStore) -> None:
        told = [item.scope for item in run(full.recall("tea", profile="A", session_id="s"))]
        assert len(told) == 8
        assert told.count("session") >= 2
        assert told.count("profile") >= 4
        assert told.count("global") >= 2

    def test_places_that_a_scope_leaves_over_go_to_the_others(self, quick: OnRecordMemoryStore) -> None:
        for number in range(12):
            save(quick, f"tea {number}", scope="profile", profile="A")
        assert len(found(quick, "tea", profile="A")) == 8

    def test_twenty_are_given_where_twenty_are_asked_for(self, full: OnRecordMemoryStore) -> None:
        assert len(found(full, "tea", profile="A", session_id="s", top_k=20)) == 20
        assert len(found(full, "tea", profile="A", top_k=20, scope_filter=["profile"])) == 20

    def test_the_places_can_be_chosen(self, full: OnRecordMemoryStore) -> None:
        places = {"session": 0, "profile": 0, "global": 8}
        told = run(full.recall("tea", profile="A", session_id="s", per_scope=places))
        assert [item.scope for item in told] == ["global"] * 8

    @pytest.mark.parametrize("top_k", [0, 21, -1, True, "8"])
    def test_fewer_than_one_and_more_than_twenty_cannot_be_asked_for(
        self, quick: OnRecordMemoryStore, top_k: Any
    ) -> None:
        with pytest.raises(Invalid, match="top_k: must be"):
            found(quick, "tea", top_k=top_k)


class TestForgetting:
    def test_a_soft_forget_hides_and_keeps(self, store: OnRecordMemoryStore) -> None:
        item = save(store, "tea", scope="profile", profile="A")
        assert run(store.forget(item)) is True
        assert found(store, "tea", profile="A") == []
        assert run(store.count(profile="A")) == 0
        assert run(store.count(profile="A", include_archived=True)) == 1
        [kept] = run(store.recall("tea", profile="A", include_archived=True))
        assert (kept.id, kept.status) == (item, "archived")

    def test_forgetting_what_is_archived_or_unknown_says_false(self, quick: OnRecordMemoryStore) -> None:
        item = save(quick, "tea", scope="profile", profile="A")
        assert [run(quick.forget(item)) for _ in range(2)] == [True, False]
        assert run(quick.forget("never-there")) is False
        assert run(quick.forget("never-there", hard=True)) is False

    def test_a_hard_forget_removes_the_row(self, store: OnRecordMemoryStore) -> None:
        item = save(store, "tea", scope="profile", profile="A")
        assert run(store.forget(item, hard=True)) is True
        assert run(store.count(profile="A", include_archived=True)) == 0
        assert found(store, "tea", profile="A", include_archived=True) == []
        assert run(store.forget(item, hard=True)) is False

    def test_what_is_archived_can_be_removed(self, quick: OnRecordMemoryStore) -> None:
        item = save(quick, "tea", scope="session", session_id="s")
        run(quick.forget(item))
        assert run(quick.forget(item, hard=True)) is True

    def test_a_global_item_is_forgotten_by_its_id(self, quick: OnRecordMemoryStore) -> None:
        item = save(quick, "tea", scope="global")
        save(quick, "x", scope="profile", profile="A")
        assert run(quick.forget(item)) is True
        assert found(quick, "tea") == []

    def test_an_id_that_two_profiles_have_needs_the_profile(self, quick: OnRecordMemoryStore) -> None:
        for profile in ("A", "B"):
            quick.door.as_caller(Caller(tenant=profile, user="ann")).remember("tea", id="5")
        with pytest.raises(Conflict, match="A, B"):
            run(quick.forget("5"))
        assert run(quick.forget("5", profile="A")) is True
        assert found(quick, "tea", profile="B") == ["tea"]

    def test_whoever_does_not_own_an_item_is_refused(self, quick: OnRecordMemoryStore) -> None:
        item = save(quick, "tea", scope="profile", profile="A")
        bob = OnRecordMemoryStore(quick.door.as_caller(Caller(tenant="A", user="bob")))
        for hard in (False, True):
            with pytest.raises(Forbidden):
                run(bob.forget(item, hard=hard))
        eve = OnRecordMemoryStore(quick.door.as_caller(Caller(tenant="B", user="eve")))
        assert run(eve.forget(item, hard=True)) is False
        assert found(quick, "tea", profile="A") == ["tea"]


class TestProfiles:
    def test_profiles_are_those_with_an_active_item_of_their_own_sorted(
        self, store: OnRecordMemoryStore
    ) -> None:
        for profile in ("zeta", "alpha", "gone"):
            item = save(store, "tea", scope="profile", profile=profile)
        run(store.forget(item))
        save(store, "tea", scope="global")
        save(store, "tea", scope="session", profile="only-a-session", session_id="s")
        assert run(store.list_profiles()) == ["alpha", "zeta"]

    def test_items_are_counted_by_scope_profile_and_session(self, quick: OnRecordMemoryStore) -> None:
        three_scopes(quick)
        for asked, expected in (
            ({}, 5),
            ({"scope": "global"}, 1),
            ({"scope": "profile"}, 2),
            ({"scope": "session"}, 2),
            ({"profile": "lawfirm-A"}, 1),
            ({"session_id": "other"}, 1),
            ({"scope": "profile", "profile": "saas-B"}, 1),
            ({"scope": "session", "profile": "saas-B"}, 0),
            ({"scope": "session", "profile": "lawfirm-A"}, 2),
            ({"scope": "session", "session_id": "other"}, 1),
            ({"profile": "saas-B", "session_id": "other"}, 0),
        ):
            assert run(quick.count(**asked)) == expected, asked  # type: ignore[arg-type]

    def test_a_global_item_saved_under_one_profile_is_recalled_under_another_by_default(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        one = open_memory(profile="A")
        run(one.save("always cite sources", scope="global"))
        one.store.close()  # type: ignore[union-attr]
        other = open_memory(profile="B")
        assert found(other, "cite sources") == ["always cite sources"]
        other.store.close()  # type: ignore[union-attr]


class TestItems:
    def test_an_item_has_the_known_shape(self, quick: OnRecordMemoryStore, clock: Clock) -> None:
        item = save(quick, ARR, scope="profile", profile="A", kind="decision", metadata={"page": 3})
        assert len(item) == 32
        [told] = run(quick.recall("ARR", profile="A"))
        assert told.as_json() == {
            "id": item,
            "scope": "profile",
            "profile": "A",
            "session_id": None,
            "kind": "decision",
            "status": "active",
            "content": ARR,
            "score": told.score,
            "metadata": {"page": 3},
            "created_at": str(clock.now.timestamp()),
            "namespace": "A",
            "author": quick.door.caller.user,
            "tier": "person",
        }
        assert float(told.created_at) == clock.now.timestamp()

    def test_the_same_text_twice_is_two_items(self, quick: OnRecordMemoryStore) -> None:
        items = [save(quick, "tea", scope="profile", profile="A") for _ in range(2)]
        assert len(set(items)) == 2
        assert run(quick.count(profile="A")) == 2
