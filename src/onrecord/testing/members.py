"""WHO is in a conversation, and who uses an agent? Naming one is not joining it, on every store."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, OnRecordError
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, administrator, browsed, person, recalled, written

_READS: Final = {"memory.read"}
#: Every way to read what belongs to a conversation; each tells of it to a member.
WAYS: Final[dict[str, Callable[[OnRecord], Any]]] = {
    "recall": lambda door: door.recall("zqplan"),
    "recall by name": lambda door: [
        hit.why for hit in _outside(door).recall("zqfree", conversation="talk").hits
    ],
    "browse": lambda door: door.browse(scopes=["session"]),
    "browse by name": lambda door: _outside(door).browse(conversation="talk"),
    "show": lambda door: door.show("secret"),
    "history": lambda door: door.history("secret"),
    "turns": lambda door: door.turns(),
    "turns by name": lambda door: _outside(door).turns(conversation="talk"),
    "context": lambda door: door.context("zqplan").text,
    "briefing": lambda door: door.context(parts=["briefing"]).text,
    "artifacts": lambda door: door.artifacts(),
    "all artifacts": lambda door: _outside(door).artifacts(),
    "artifacts by name": lambda door: _outside(door).artifacts(conversation="talk"),
    "read_artifact": lambda door: door.read_artifact("1"),
    "conversations": lambda door: door.conversations(),
    "show_conversation": lambda door: door.show_conversation("talk"),
}
#: What tells of it, in the answers above.
_SIGNS: Final = ("zqplan", "zqtitle", "zq.txt", "pinned")
#: Every way to change what belongs to a conversation or an agent that is another's.
CHANGES: Final[dict[str, Callable[[OnRecord], Any]]] = {
    "delete_artifact": lambda door: door.delete_artifact("1"),
    "delete_conversation": lambda door: door.delete_conversation("talk"),
    "share_conversation": lambda door: door.share_conversation("talk", "bob"),
    "unshare_conversation": lambda door: door.unshare_conversation("talk", "carol"),
    "append_scratchpad": lambda door: door.append_scratchpad("mine", agent="scout"),
    "read_scratchpad": lambda door: door.read_scratchpad("scout"),
    "clear_scratchpad": lambda door: door.clear_scratchpad("scout"),
    "set_agent": lambda door: door.set_agent("scout", limit=1),
    "show_agent": lambda door: door.show_agent("scout"),
    "share_agent": lambda door: door.share_agent("scout", "bob"),
    "unshare_agent": lambda door: door.unshare_agent("scout", "ann"),
}


def _outside(door: OnRecord) -> OnRecord:
    return door.as_caller(door.caller.inside(None))


def _told(door: OnRecord, way: str) -> bool:
    """Whether one way of reading tells anything of what belongs to the conversation."""
    try:
        answer = written(WAYS[way](door))
    except OnRecordError as error:
        answer = str(error)
    return any(sign in answer for sign in _SIGNS)


def _tellers(door: OnRecord) -> list[str]:
    return [way for way in WAYS if _told(door, way)]


@contextmanager
def _heard() -> Iterator[list[str]]:
    """The statements that a database is told meanwhile."""
    told: list[str] = []

    def hear(connection: Any, cursor: Any, sql: str, *rest: Any) -> None:
        told.append(sql.replace("\n", " "))

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        yield told
    finally:
        event.remove(Engine, "before_cursor_execute", hear)


def _link(door: OnRecord, file: str) -> None:
    door.remember("linked", artifact=file)


def _as(door: OnRecord, user: str, **more: Any) -> OnRecord:
    return door.as_caller(person(user, **more))


class MembersConformance(Conformance):
    """What belongs to a conversation is for those who are in it, and an agent is for those who use it."""

    @pytest.fixture
    def talk(self, ann: OnRecord, clock: Clock) -> OnRecord:
        """A person's door from inside a conversation that holds something of every sort; and an agent of hers."""
        ann.remember("zqfree for all", id="free")
        ann.register_conversation("talk", title="zqtitle")
        ann.share_conversation("talk", "carol")
        talk = ann.as_caller(ann.caller.inside("talk"))
        talk.remember("zqplan for us", id="secret", scope="session")
        talk.remember("zqfree and pinned", id="pinned")
        talk.note_turn("zqplan was said")
        talk.write_artifact("zq.txt", "zqplan")
        ann.append_scratchpad("zqplan", agent="scout")
        ann.set_agent("scout", limit=7)
        clock.tick()
        return talk

    @pytest.mark.parametrize("name", ["talk", "ann/talk"])
    @pytest.mark.parametrize("permissions", [_READS, {*_READS, "memory.manage", "memory.review"}])
    def test_whoever_names_a_conversation_is_not_in_it(
        self, talk: OnRecord, name: str, permissions: set[str]
    ) -> None:
        assert _tellers(_as(talk, "bob", conversation=name, permissions=permissions)) == []
        assert _tellers(_as(talk, "carol", conversation=name, permissions=permissions)) == list(WAYS)
        assert _tellers(talk) == list(WAYS)
        assert _tellers(talk.as_caller(administrator(conversation=name))) == list(WAYS)

    def test_sharing_lets_someone_in_and_ends(self, talk: OnRecord, root: OnRecord) -> None:
        bob = _as(talk, "bob", conversation="talk")
        for _ in range(2):
            shared = talk.share_conversation("talk", "bob")
            assert shared.conversation.members == ("bob", "carol")
        assert not shared.changed
        assert talk.show_conversation("talk").conversation.members == ("bob", "carol")
        assert _tellers(bob) == list(WAYS)
        his = bob.remember("zqhis", scope="session").memory
        assert (his.conversation, his.conversation_by) == ("talk", "ann")
        assert recalled(talk, "zqhis") == [his.id]
        bob.write_artifact("zq.txt", "overwritten by a member")
        assert talk.read_artifact("1").content == "overwritten by a member"
        assert root.unshare_conversation("talk", "bob").changed
        assert not talk.unshare_conversation("talk", "bob").changed
        assert _tellers(bob) == []
        # It is his, and he is not there any more.
        assert browsed(bob, scopes=["session"]) == []
        told = [(entry.operation, entry.user) for entry in root.audit(subject="talk").entries]
        assert told[:2] == [("unshare_conversation", "root"), ("share_conversation", "ann")]

    def test_nobody_changes_what_is_anothers(self, talk: OnRecord) -> None:
        bob = _as(talk, "bob", conversation="talk")
        for name, change in CHANGES.items():
            with pytest.raises((NotFound, Forbidden)) as refused:
                change(bob)
            is_agents = "agent" in name or "scratchpad" in name
            assert type(refused.value) is (Forbidden if is_agents else NotFound), name
        assert bob.scratchpads().scratchpads == ()
        assert talk.read_artifact("1").content == "zqplan"
        assert talk.show_agent("scout").settings.limit == 7
        assert talk.show_conversation("talk").conversation.members == ("carol",)

    def test_what_one_cannot_reach_answers_like_what_is_not_there(self, talk: OnRecord) -> None:
        for door in (_as(talk, "bob"), _as(talk, "bob", conversation="talk")):
            for attempt in ("read_artifact", "delete_artifact", "link"):
                answers = []
                for id in ("1", "9"):
                    with pytest.raises((NotFound, Invalid)) as refused:
                        _link(door, id) if attempt == "link" else getattr(door, attempt)(id)
                    answers.append(str(refused.value).replace(id, "N"))
                assert answers[0] == answers[1]
            with pytest.raises(NotFound) as named:
                door.show_conversation("ann/talk")
            with pytest.raises(NotFound) as unknown:
                door.show_conversation("ann/none")
            assert str(named.value).replace("talk", "none") == str(unknown.value)

    def test_two_may_use_one_name_for_two_conversations(self, talk: OnRecord, root: OnRecord) -> None:
        bob = _as(talk, "bob", conversation="talk")
        made = bob.register_conversation("talk", title="his")
        assert (made.created, made.conversation.created_by) == (True, "bob")
        bob.remember("zqplan of his", id="his", scope="session")
        bob.write_artifact("zq.txt", "his file")
        bob.note_turn("he said")
        assert browsed(bob, scopes=["session"]) == ["his"]
        assert browsed(talk, scopes=["session"]) == ["secret"]
        assert [turn.content for turn in bob.turns().turns] == ["he said"]
        assert recalled(bob, "zqplan", scopes=["session"]) == ["his"]
        assert bob.read_artifact("2").content == "his file"
        assert sorted(each.created_by for each in root.conversations().conversations) == ["ann", "bob"]
        bob.delete_conversation("talk")
        assert _tellers(talk) == list(WAYS)

    def test_a_name_means_ones_own_then_what_was_shared(self, talk: OnRecord, root: OnRecord) -> None:
        bob, carol = _as(talk, "bob", conversation="talk"), _as(talk, "carol", conversation="talk")
        bob.register_conversation("talk")
        assert carol.register_conversation("talk").conversation.created_by == "ann"
        bob.share_conversation("talk", "carol")
        for attempt in (carol.turns, lambda: carol.show_conversation("talk"), lambda: carol.remember("x")):
            with pytest.raises(Invalid, match="say ann/talk or bob/talk"):
                attempt()
        assert carol.as_caller(carol.caller.inside("ann/talk")).turns().turns[0].content == "zqplan was said"
        outside = carol.as_caller(carol.caller.inside(None))
        assert outside.show_conversation("bob/talk").conversation.created_by == "bob"
        with pytest.raises(Invalid, match="say ann/talk or bob/talk"):
            root.show_conversation("talk")
        assert root.show_conversation("ann/talk").conversation.created_by == "ann"

    def test_what_an_admin_says_under_a_taken_name_is_in_a_conversation_of_their_own(
        self, talk: OnRecord
    ) -> None:
        admin = talk.as_caller(administrator(conversation="talk"))
        mine = admin.remember("zqmine", scope="session").memory
        admin.note_turn("zqmine")
        assert (mine.conversation, mine.pinned and mine.pinned.by) == ("talk", "root")
        assert browsed(talk, scopes=["session"]) == ["secret"]
        assert len(talk.turns().turns) == 1
        there = admin.as_caller(administrator(conversation="ann/talk"))
        assert there.remember("zqhers", scope="session").memory.conversation_by == "ann"

    def test_an_admin_changes_what_is_in_anothers_conversation(self, talk: OnRecord, root: OnRecord) -> None:
        for number, admin in enumerate((root, root.as_caller(administrator(conversation="talk"))), 1):
            assert admin.read_artifact(str(number)).content == "zqplan"
            assert admin.delete_artifact(str(number)).artifact.conversation_by == "ann"
            talk.write_artifact("zq.txt", "zqplan")
        root.write_artifact("zq.txt", "an admin's", conversation="talk")
        assert talk.read_artifact("3").content == "an admin's"

    @pytest.mark.parametrize("name", ["talk", "ann/talk"])
    def test_a_member_moves_their_own_into_the_conversation_and_out(self, talk: OnRecord, name: str) -> None:
        carol = _as(talk, "carol", conversation=name)
        carol.remember("zqmoved", id="moved", scope="user")
        moved = carol.remember("zqmoved", id="moved", scope="session").memory
        assert (moved.scope, moved.conversation, moved.conversation_by) == ("session", "talk", "ann")
        assert recalled(talk, "zqmoved") == ["moved"]
        carol.remember("zqmoved", id="moved", scope="user")
        carol.revise("moved", conversation=None)
        assert carol.show("moved").memory.pinned is None
        assert carol.revise("moved", conversation="talk").memory.conversation_by == "ann"
        assert carol.revise("moved", conversation="mine").memory.conversation_by is None
        assert recalled(talk, "zqmoved") == []

    def test_a_memory_that_one_sees_leads_to_its_file(self, talk: OnRecord) -> None:
        bob = _as(talk, "bob")
        talk.remember("see the file", id="link", artifact="1")
        for door in (bob, _as(talk, "bob", conversation="talk"), _as(talk, "bob", conversation="mine")):
            assert door.read_artifact("1", via="link").content == "zqplan"
            with pytest.raises(NotFound):
                door.read_artifact("1", via="free")
        assert bob.show("link").artifact is not None

    def test_no_way_into_a_file_is_left_by_linking_to_it_while_one_was_let_in(self, talk: OnRecord) -> None:
        bob = _as(talk, "bob")
        talk.share_conversation("talk", "bob")
        bob.remember("his link", id="link", artifact="1")
        assert bob.read_artifact("1", via="link").content == "zqplan"
        talk.unshare_conversation("talk", "bob")
        with pytest.raises(NotFound):
            bob.read_artifact("1", via="link")
        assert bob.show("link").artifact is None

    def test_no_way_is_left_by_linking_anothers_memory_either(self, talk: OnRecord) -> None:
        eve = _as(talk, "eve", systems={"crm": "manage"})
        eve.remember("of the system", id="link", scope="system", system="crm")
        dan = _as(talk, "dan", systems={"crm": "manage"})
        talk.share_conversation("talk", "dan")
        dan.revise("link", artifact="1")
        assert dan.read_artifact("1", via="link").content == "zqplan"
        talk.unshare_conversation("talk", "dan")
        for door in (dan, eve):
            with pytest.raises(NotFound):
                door.read_artifact("1", via="link")

    def test_deleting_tells_of_no_link_that_one_does_not_see(self, talk: OnRecord) -> None:
        carol = _as(talk, "carol")
        for scope in ("user", "tenant"):
            talk.remember(f"a {scope} link", artifact="1", scope=scope)
        assert carol.delete_artifact("1").unlinked == 1
        carol.register_conversation("hers")
        carol.share_conversation("hers", "ann")
        file = carol.write_artifact("a.txt", "x", conversation="hers").artifact.id
        for scope in ("user", "tenant"):
            talk.remember(f"another {scope} link", artifact=file, scope=scope)
        assert carol.delete_conversation("hers").unlinked == 1

    def test_deleting_a_conversation_changes_nothing_that_others_saved_there(
        self, talk: OnRecord, root: OnRecord
    ) -> None:
        carol = _as(talk, "carol", conversation="talk")
        kept = [
            carol.remember(f"hers {scope}", scope=scope).memory for scope in ("session", "tenant", "user")
        ]
        gone = talk.delete_conversation("talk")
        assert (gone.retired, gone.unpinned) == (1, 1)
        assert [root.show(each.id).memory for each in kept] == kept
        assert browsed(carol, scopes=["session"]) == []
        assert talk.as_caller(administrator()).doctor().problems == ()

    def test_only_who_began_a_conversation_or_an_admin_shares_it(
        self, talk: OnRecord, root: OnRecord
    ) -> None:
        carol = _as(talk, "carol")
        for attempt in (carol.share_conversation, carol.unshare_conversation):
            with pytest.raises(Forbidden, match="only they or an admin may share it"):
                attempt("talk", "dave")
        assert root.share_conversation("talk", "dave").conversation.members == ("carol", "dave")
        assert not talk.share_conversation("talk", "ann").changed
        with pytest.raises(NotFound):
            talk.share_conversation("nowhere", "dave")

    def test_an_agent_is_its_first_users_who_lets_others_use_it(self, talk: OnRecord, root: OnRecord) -> None:
        bob = _as(talk, "bob")
        assert not bob.read_scratchpad("nobodys").exists
        assert bob.show_agent("nobodys").users == ()
        assert talk.share_agent("scout", "bob").users == ("ann", "bob")
        assert not talk.share_agent("scout", "bob").changed
        bob.append_scratchpad("and his", agent="scout")
        assert [pad.agent for pad in bob.scratchpads().scratchpads] == ["scout"]
        assert bob.set_agent("scout", limit=8).users == ("ann", "bob")
        assert bob.unshare_agent("scout", "ann").users == ("bob",)
        with pytest.raises(Forbidden, match="used by others"):
            talk.read_scratchpad("scout")
        with pytest.raises(Conflict, match="the only one who uses"):
            bob.unshare_agent("scout", "bob")
        assert root.show_agent("scout").settings.limit == 8
        root.append_scratchpad("an admin's", agent="scout")
        assert root.show_agent("scout").users == ("bob",)
        with pytest.raises(Invalid, match="needs no sharing"):
            bob.share_agent("shared", "ann")

    def test_the_shared_scratchpad_is_the_tenants(self, talk: OnRecord) -> None:
        talk.append_scratchpad("for all")
        bob = _as(talk, "bob")
        bob.append_scratchpad("from another")
        assert "for all" in bob.read_scratchpad().content
        assert bob.clear_scratchpad().cleared
        assert not talk.read_scratchpad().exists

    def test_a_question_that_names_anothers_agent_gets_the_defaults(self, talk: OnRecord) -> None:
        for number in range(9):
            talk.remember(f"zqmany number {number}", dedupe=False)
        assert len(talk.recall("zqmany", agent="scout").hits) == 7
        assert len(_as(talk, "bob").recall("zqmany", agent="scout").hits) == 9

    def test_whose_conversation_it_is_costs_one_statement_and_nothing_outside_of_any(
        self, talk: OnRecord
    ) -> None:
        counts = []
        for door in (_outside(talk), talk, _as(talk, "carol", conversation="ann/talk")):
            door.recall("zqfree", recipe="lexical")
            with _heard() as told:
                door.recall("zqfree", recipe="lexical")
            counts.append(len(told))
            assert sum("FROM conversations" in each for each in told) == (
                door.caller.conversation is not None
            )
        assert counts == [counts[0], counts[0] + 1, counts[0] + 1]

    def test_members_and_users_move_with_an_export(
        self, talk: OnRecord, root: OnRecord, store: Store, tmp_path: Path
    ) -> None:
        file = str(tmp_path / "all.jsonl")
        carol = _as(talk, "carol", conversation="talk")
        carol.remember("zqplan of carol", id="hers", scope="session")
        root.export(file)
        heir = talk.as_caller(administrator("heir", tenant="afterwards"))
        heir.import_(file)
        there = {
            name: talk.as_caller(person(name, tenant="afterwards", conversation="talk"))
            for name in ("ann", "bob", "carol")
        }
        assert {name: browsed(door, scopes=["session"]) for name, door in there.items()} == {
            "ann": ["hers", "secret"],
            "bob": [],
            "carol": ["hers", "secret"],
        }
        assert there["carol"].read_artifact("1").content == "zqplan"
        assert there["ann"].show_agent("scout").users == ("ann",)
        with pytest.raises(Forbidden):
            there["bob"].read_scratchpad("scout")
        assert heir.import_(file).added == 0
        assert heir.doctor().problems == ()

    def test_an_export_of_an_earlier_version_lets_in_who_was_in(
        self, talk: OnRecord, root: OnRecord, tmp_path: Path
    ) -> None:
        file = tmp_path / "old.jsonl"
        talk.unshare_conversation("talk", "carol")
        dora = _as(talk, "dora")
        dora.remember("hers", id="dora", conversation="talk")
        root.export(str(file))
        file.write_text("\n".join(map(_of_old, file.read_text().splitlines())) + "\n")
        heir = talk.as_caller(administrator("heir", tenant="afterwards"))
        heir.import_(str(file))
        doors = [
            talk.as_caller(person(name, tenant="afterwards", conversation="talk"))
            for name in ("ann", "dora", "bob")
        ]
        assert [browsed(door, scopes=["session"]) for door in doors] == [["secret"], ["secret"], []]
        assert heir.show_conversation("talk").conversation.members == ("dora",)
        assert heir.show("dora").memory.conversation_by == "ann"
        assert doors[0].read_artifact("1").content == "zqplan"
        assert heir.show_agent("scout").users == ("ann",)
        assert heir.import_(str(file)).added == 0


def _of_old(line: str) -> str:
    """A line of an export as it was before conversations had members."""
    told = json.loads(line)
    for version in told.get("versions", ()):
        del version["memory"]["conversation_by"]
    for key, late in (
        ("conversation", "members"),
        ("artifact", "conversation_by"),
        ("scratchpad", "users"),
        ("agent", "users"),
    ):
        if isinstance(told.get(key), dict):
            del told[key][late]
    return json.dumps(told)
