"""WHO is in a conversation, and who uses an agent? Naming one is not joining it, on every store."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from onrecord.errors import Conflict, Forbidden, HigherTier, Invalid, NotFound, OnRecordError
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    MOMENT,
    Clock,
    Conformance,
    administrator,
    browsed,
    person,
    recalled,
    written,
)
from onrecord.testing.executed_statements import executed_statements

_READS: Final = {"memory.read"}
#: The conversation that this is about, as anyone names it who is a member there.
TALK: Final = "~ann/talk"
#: Every way to read what belongs to a conversation; each shows it to a member.
WAYS: Final[dict[str, Callable[[OnRecord], Any]]] = {
    "recall": lambda door: door.recall("zqplan"),
    "recall by name": lambda door: [
        hit.why for hit in _outside(door).recall("zqfree", conversation=TALK).hits
    ],
    "browse": lambda door: door.browse(scopes=["session"]),
    "browse by name": lambda door: _outside(door).browse(conversation=TALK),
    "show": lambda door: door.show("ann::secret"),
    "history": lambda door: door.history("ann::secret"),
    "turns": lambda door: door.turns(),
    "turns by name": lambda door: _outside(door).turns(conversation=TALK),
    "context": lambda door: door.context("zqplan").text,
    "briefing": lambda door: door.context(parts=["briefing"]).text,
    "artifacts": lambda door: door.artifacts(),
    "all artifacts": lambda door: _outside(door).artifacts(),
    "artifacts by name": lambda door: _outside(door).artifacts(conversation=TALK),
    "read_artifact": lambda door: door.read_artifact("1"),
    "conversations": lambda door: door.conversations(),
    "show_conversation": lambda door: door.show_conversation(TALK),
}
#: The words that show it in these answers.
_SIGNS: Final = ("zqplan", "zqtitle", "zq.txt", "pinned")
#: Every way to change what belongs to a conversation or an agent that is another's.
CHANGES: Final[dict[str, Callable[[OnRecord], Any]]] = {
    "delete_artifact": lambda door: door.delete_artifact("1"),
    "delete_conversation": lambda door: door.delete_conversation(TALK),
    "share_conversation": lambda door: door.share_conversation(TALK, "bob"),
    "unshare_conversation": lambda door: door.unshare_conversation(TALK, "carol"),
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


def _reads(door: OnRecord, way: str) -> bool:
    """Whether one way of reading shows anything that belongs to the conversation."""
    try:
        answer = written(WAYS[way](door))
    except OnRecordError as error:
        answer = str(error)
    return any(sign in answer for sign in _SIGNS)


def _ways_open(door: OnRecord) -> list[str]:
    return [way for way in WAYS if _reads(door, way)]


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

    @pytest.mark.parametrize("permissions", [_READS, {*_READS, "memory.manage", "memory.review"}])
    def test_whoever_names_a_conversation_is_not_in_it(self, talk: OnRecord, permissions: set[str]) -> None:
        for name in ("talk", TALK, "ann/talk"):
            assert _ways_open(_as(talk, "bob", conversation=name, permissions=permissions)) == []
        for member in (person("carol", permissions=permissions), administrator(), talk.caller):
            assert _ways_open(talk.as_caller(member.inside(TALK))) == list(WAYS)
        assert _ways_open(talk) == list(WAYS)

    def test_a_name_alone_means_ones_own_for_everybody(self, talk: OnRecord, root: OnRecord) -> None:
        for door in (_as(talk, "carol", conversation="talk"), root.as_caller(root.caller.inside("talk"))):
            assert door.turns().turns == ()
            assert door.artifacts().artifacts == ()
            assert "zqplan" not in door.context(parts=["turns", "briefing"]).text
            with pytest.raises(NotFound):
                _outside(door).show_conversation("talk")
            mine = door.remember("zqmine", scope="session").memory
            door.note_turn("zqmine")
            assert (mine.conversation, mine.conversation_by) == ("talk", None)
            assert door.register_conversation("talk").conversation.created_by == door.caller.user
        assert browsed(talk, scopes=["session"]) == ["ann::secret"]
        assert len(talk.turns().turns) == 1

    def test_who_shares_a_name_gets_nothing_that_another_saves_under_it(self, talk: OnRecord) -> None:
        talk.share_conversation("talk", "bob")
        bob = _as(talk, "bob", conversation="talk")
        his = bob.remember("zqhis", scope="session").memory
        bob.write_artifact("zq.txt", "his")
        bob.note_turn("he said")
        assert his.conversation_by is None
        assert recalled(talk, "zqhis") == []
        assert talk.read_artifact("1").content == "zqplan"
        assert len(talk.turns().turns) == 1

    def test_listings_show_others_conversations_as_they_are_named(
        self, talk: OnRecord, root: OnRecord
    ) -> None:
        for door, name in ((talk, "talk"), (_as(talk, "carol"), TALK), (root, TALK)):
            [listed] = door.conversations().conversations
            assert (listed.id, listed.created_by) == (name, "ann")
            assert _outside(door).show_conversation(listed.id).conversation == listed
            assert {each.conversation for each in _outside(door).artifacts().artifacts} == {name}
            assert [each.id for each in door.conversations(name="talk").conversations] == [name]
            assert door.conversations(name="other").conversations == ()

    def test_no_name_that_says_whose_it_is_can_be_begun(self, talk: OnRecord) -> None:
        for name in (TALK, "~ann/none", "~bob/none/", "~", "~x", "~~2/x"):
            bob = _as(talk, "bob", conversation=name)
            for attempt in (
                lambda bob=bob: bob.remember("x"),
                lambda bob=bob: bob.note_turn("x"),
                lambda bob=bob: bob.write_artifact("a", "x"),
                lambda name=name: _as(talk, "bob").register_conversation(name),
                lambda name=name: _as(talk, "bob").remember("x", conversation=name),
            ):
                with pytest.raises(NotFound, match="that you are in"):
                    attempt()
            assert bob.recall("zqplan", limit=5).hits == ()
        bob.as_caller(person("bob")).register_conversation("his")
        assert _as(talk, "bob").register_conversation("~bob/his").conversation.id == "his"

    def test_whoever_began_one_under_such_a_name_finds_it(self, talk: OnRecord, store: Store) -> None:
        """From before these names were reserved."""
        bob = _as(talk, "bob", conversation="bob/talk")
        bob.remember("zqold", id="old", scope="session")
        with store.writing(bob.caller, bob.remember("x").memory.created_at, bob.caller.tenant) as writing:
            writing.workspace.register(TALK, None, None)
        there = _as(talk, "bob", conversation=TALK)
        assert there.remember("zqhis", scope="session").memory.conversation == TALK
        assert recalled(talk, "zqhis") == []
        names = {each.id for each in there.conversations().conversations}
        assert names == {"bob/talk", "~bob/~ann/talk"}
        assert _outside(there).show_conversation(f"~bob/{TALK}").conversation.created_by == "bob"

    def test_one_that_was_begun_as_a_marked_number_is_found_by_that_name(
        self, talk: OnRecord, store: Store
    ) -> None:
        """From before `#42` meant 42."""
        bob = _as(talk, "bob", conversation="42")
        saved = bob.remember("zqplain", id="plain", scope="session").memory
        with store.writing(bob.caller, saved.created_at, bob.caller.tenant) as writing:
            writing.workspace.register("#42", None, None)
        marked = _as(talk, "bob", conversation="#42")
        assert marked.remember("zqmarked", id="marked", scope="session").memory.conversation == "#42"
        bob.share_conversation("#42", "carol")
        carol = _as(talk, "carol", conversation="~bob/#42")
        assert [browsed(each, scopes=["session"]) for each in (bob, marked, carol)] == [
            ["bob::plain"],
            ["bob::marked"],
            ["bob::marked"],
        ]
        assert {each.id for each in bob.conversations(name="#42").conversations} == {"42", "#42"}
        assert _as(talk, "carol", conversation="#7").remember("x", scope="session").memory.conversation == "7"

    def test_sharing_lets_someone_in_and_ends(self, talk: OnRecord, root: OnRecord) -> None:
        bob = _as(talk, "bob", conversation=TALK)
        for _ in range(2):
            shared = talk.share_conversation("talk", "bob")
            assert shared.conversation.members == ("bob", "carol")
        assert not shared.changed
        assert talk.show_conversation("talk").conversation.members == ("bob", "carol")
        assert _ways_open(bob) == list(WAYS)
        his = bob.remember("zqhis", scope="session").memory
        assert (his.conversation, his.conversation_by) == ("talk", "ann")
        assert recalled(talk, "zqhis") == [his.id]
        bob.write_artifact("zq.txt", "overwritten by a member")
        assert talk.read_artifact("1").content == "overwritten by a member"
        assert root.unshare_conversation(TALK, "bob").changed
        assert not talk.unshare_conversation("talk", "bob").changed
        assert _ways_open(bob) == []
        assert browsed(bob, scopes=["session"]) == []
        entries = [(entry.operation, entry.user) for entry in root.audit(subject=f"{TALK} bob").entries]
        assert entries == [("unshare_conversation", "root"), ("share_conversation", "ann")]

    def test_a_member_leaves_and_still_reads_and_ends_what_is_theirs(self, talk: OnRecord) -> None:
        carol = _as(talk, "carol", conversation=TALK)
        for id in ("hers", "ended", "gone"):
            carol.remember(f"zqhers {id}", id=id, scope="session")
        with pytest.raises(Forbidden, match="only they or an admin may share it"):
            carol.unshare_conversation(TALK, "bob")
        left = _outside(carol).unshare_conversation(TALK, "carol")
        assert (left.changed, left.conversation.members) == (True, ())
        assert _ways_open(carol) == []
        out = _as(talk, "carol")
        assert (browsed(out, scopes=["session"]), recalled(out, "zqhers")) == ([], [])
        assert out.show("carol::hers").memory.content == "zqhers hers"
        assert [each.number for each in out.history("carol::hers").versions] == [1]
        for change in (
            lambda: out.revise("carol::hers", content="into it"),
            lambda: out.remember("into it", id="hers"),
            lambda: out.relate("carol::hers", "supports", "free"),
        ):
            with pytest.raises(Forbidden, match="no longer in the conversation"):
                change()
        assert out.retire("ended").changed
        assert out.forget("gone").versions == 1
        assert browsed(talk, scopes=["session"]) == ["carol::hers", "ann::secret"]
        with pytest.raises(NotFound):
            _as(talk, "dave").show("carol::hers")
        # Of one's own conversation nothing is left behind: one goes in.
        with pytest.raises(NotFound):
            _outside(talk).show("ann::secret")

    @pytest.mark.parametrize("actor", ["agent", "unattended"])
    def test_only_a_person_or_the_host_says_who_is_let_in(self, talk: OnRecord, actor: Any) -> None:
        agent = talk.as_caller(replace(_outside(talk).caller, actor=actor))
        for attempt in (agent.share_conversation, agent.unshare_conversation):
            with pytest.raises(Forbidden, match="is for a person or the host"):
                attempt("talk", "carol")
        for change in (agent.share_agent, agent.unshare_agent):
            with pytest.raises(Forbidden, match="is for a person or the host"):
                change("scout", "dave")
        host = talk.as_caller(replace(administrator(operator=True), actor=actor))
        assert host.share_conversation(TALK, "dave").changed
        assert host.share_agent("scout", "dave").changed
        entries = host.audit(limit=2).entries
        assert [each.subject for each in entries] == ["scout dave", f"{TALK} dave"]

    def test_nobody_changes_what_is_anothers(self, talk: OnRecord) -> None:
        bob = _as(talk, "bob", conversation=TALK)
        for name, change in CHANGES.items():
            with pytest.raises((NotFound, Forbidden)) as refused:
                change(bob)
            is_agents = "agent" in name or "scratchpad" in name
            assert type(refused.value) is (Forbidden if is_agents else NotFound), name
        assert bob.scratchpads().scratchpads == ()
        assert talk.read_artifact("1").content == "zqplan"
        assert talk.show_agent("scout").settings.limit == 7
        assert talk.show_conversation("talk").conversation.members == ("carol",)

    def test_what_one_cannot_reach_answers_like_what_is_not_there(self, talk: OnRecord, store: Store) -> None:
        """To the letter, and by the same statements."""
        attempts: tuple[Callable[[OnRecord, str], Any], ...] = (
            lambda door, id: door.read_artifact(id),
            lambda door, id: door.read_artifact(id, via="pinned"),
            lambda door, id: door.delete_artifact(id),
            _link,
        )
        for door in (_as(talk, "bob"), _as(talk, "bob", conversation=TALK)):
            for attempt in attempts:
                answers = []
                for id in ("1", "9"):
                    with (
                        executed_statements(store) as statements,
                        pytest.raises((NotFound, Invalid)) as refused,
                    ):
                        attempt(door, id)
                    answers.append((str(refused.value).replace(id, "N"), statements))
                assert answers[0] == answers[1]
            with pytest.raises(NotFound) as named:
                door.show_conversation(TALK)
            with pytest.raises(NotFound) as unknown:
                door.show_conversation("~ann/none")
            assert str(named.value).replace("talk", "none") == str(unknown.value)

    def test_two_may_use_one_name_for_two_conversations(self, talk: OnRecord, root: OnRecord) -> None:
        bob = _as(talk, "bob", conversation="talk")
        made = bob.register_conversation("talk", title="his")
        assert (made.created, made.conversation.created_by) == (True, "bob")
        bob.remember("zqplan of his", id="his", scope="session")
        bob.write_artifact("zq.txt", "his file")
        bob.note_turn("he said")
        assert browsed(bob, scopes=["session"]) == ["bob::his"]
        assert browsed(talk, scopes=["session"]) == ["ann::secret"]
        assert [turn.content for turn in bob.turns().turns] == ["he said"]
        assert recalled(bob, "zqplan", scopes=["session"]) == ["bob::his"]
        assert bob.read_artifact("2").content == "his file"
        assert sorted(each.created_by for each in root.conversations().conversations) == ["ann", "bob"]
        bob.delete_conversation("talk")
        assert _ways_open(talk) == list(WAYS)

    def test_an_admin_changes_what_is_in_anothers_conversation(self, talk: OnRecord, root: OnRecord) -> None:
        for number, admin in enumerate((root, root.as_caller(administrator(conversation=TALK))), 1):
            assert admin.read_artifact(str(number)).content == "zqplan"
            assert admin.delete_artifact(str(number)).artifact.conversation_by == "ann"
            talk.write_artifact("zq.txt", "zqplan")
        root.write_artifact("zq.txt", "an admin's", conversation=TALK)
        assert talk.read_artifact("3").content == "an admin's"

    def test_a_member_moves_their_own_into_the_conversation_and_out(self, talk: OnRecord) -> None:
        carol = _as(talk, "carol", conversation=TALK)
        carol.remember("zqmoved", id="moved", scope="user")
        moved = carol.remember("zqmoved", id="moved", scope="session").memory
        assert (moved.scope, moved.conversation, moved.conversation_by) == ("session", "talk", "ann")
        assert recalled(talk, "zqmoved") == ["carol::moved"]
        carol.remember("zqmoved", id="moved", scope="user")
        carol.revise("moved", conversation=None)
        assert carol.show("moved").memory.pinned is None
        assert carol.revise("moved", conversation=TALK).memory.conversation_by == "ann"
        assert carol.revise("moved", conversation="talk").memory.conversation_by is None
        assert recalled(talk, "zqmoved") == []

    def test_a_memory_that_one_sees_leads_to_its_file(self, talk: OnRecord) -> None:
        bob = _as(talk, "bob")
        talk.remember("see the file", id="link", artifact="1")
        for door in (bob, _as(talk, "bob", conversation=TALK), _as(talk, "bob", conversation="mine")):
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
        dan.revise("eve::link", artifact="1")
        assert dan.read_artifact("1", via="eve::link").content == "zqplan"
        talk.unshare_conversation("talk", "dan")
        for door in (dan, eve):
            with pytest.raises(NotFound):
                door.read_artifact("1", via="eve::link")

    def test_an_agent_that_deletes_learns_nothing_of_what_it_does_not_see(self, talk: OnRecord) -> None:
        carol = _as(talk, "carol", conversation=TALK)
        agent = talk.as_caller(replace(talk.caller, actor="agent"))
        carol.remember("hers alone", id="hidden", scope="user", artifact="1")
        assert agent.delete_artifact("1").unlinked == 0
        assert _as(talk, "carol").show("hidden").memory.artifact is None
        file = agent.write_artifact("next.txt", "x").artifact.id
        carol.remember("for all", id="seen", artifact=file)
        with pytest.raises(HigherTier, match=f"belongs to artifact {file}"):
            agent.delete_artifact(file)

    def test_what_every_tenant_sees_tells_no_name_of_a_conversation(self, talk: OnRecord) -> None:
        admin = talk.as_caller(administrator(conversation=TALK))
        for given in ({"id": "global:rule"}, {"scope": "global", "conversation": TALK}):
            saved = admin.remember(f"for every tenant {len(given)}", dedupe=False, **given).memory
            assert (saved.scope, saved.pinned) == ("global", None)
        with pytest.raises(Invalid, match="a global memory belongs to no conversation"):
            admin.revise("global:rule", conversation=TALK)

    def test_a_session_memory_is_saved_in_the_conversation_that_one_is_in_however_it_is_named(
        self, talk: OnRecord
    ) -> None:
        carol = _as(talk, "carol", conversation=TALK)
        for door, name in ((talk, TALK), (talk, "talk"), (carol, TALK)):
            kept = door.remember(f"zqkept {name}", scope="session", conversation=name, dedupe=False).memory
            assert kept.pinned == ("ann", "talk")
        with pytest.raises(Invalid, match="only be saved from inside its conversation"):
            carol.remember("elsewhere", scope="session", conversation="talk")
        assert [turn.content for turn in talk.turns(conversation=TALK).turns] == ["zqplan was said"]
        with pytest.raises(Invalid, match="is not the conversation that this caller is in"):
            carol.turns(conversation="talk")

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

    def test_deleting_a_conversation_leaves_others_what_they_saved_there(
        self, talk: OnRecord, root: OnRecord
    ) -> None:
        carol = _as(talk, "carol", conversation=TALK)
        kept = {
            scope: carol.remember(f"hers {scope}", scope=scope).memory
            for scope in ("session", "tenant", "user")
        }
        gone = talk.delete_conversation("talk")
        assert (gone.retired, gone.unpinned) == (1, 1)
        # It was for those who were in it, and is hers alone now.
        hers = _as(talk, "carol").show(kept.pop("session").id).memory
        assert (hers.scope, hers.pinned, hers.status) == ("user", None, "active")
        assert [root.show(each.id).memory for each in kept.values()] == list(kept.values())
        assert talk.as_caller(administrator()).doctor().problems == ()

    @pytest.mark.parametrize("by", ["ann", "root"])
    def test_whoever_is_in_a_later_conversation_of_the_same_name_was_not_in_the_first(
        self, talk: OnRecord, root: OnRecord, by: str
    ) -> None:
        carol = _as(talk, "carol", conversation=TALK)
        carol.remember("zqplan of hers", id="hers", scope="session")
        (root if by == "root" else talk).delete_conversation(TALK)
        talk.register_conversation("talk")
        talk.share_conversation("talk", "bob")
        bob = _as(talk, "bob", conversation=TALK)
        for door in (bob, talk):
            assert browsed(door, scopes=["session"], statuses=["active", "archived"]) == []
            with pytest.raises(NotFound):
                door.show("carol::hers")
        with pytest.raises(NotFound):
            bob.show("ann::secret")
        assert talk.show("ann::secret").memory.status == "archived"
        assert _as(talk, "carol").show("carol::hers").memory.content == "zqplan of hers"

    def test_the_past_of_a_first_conversation_is_not_told_in_a_later_one_of_the_same_name(
        self, talk: OnRecord, clock: Clock
    ) -> None:
        carol = _as(talk, "carol", conversation=TALK)
        carol.remember("zqfirst", id="hers", scope="session")
        talk.remember("zqfirst", id="mine", scope="session", dedupe=False)
        then = clock.tick() - MOMENT
        for door, id in ((carol, "hers"), (talk, "mine")):
            door.remember("zqopen", id=id, scope="tenant", dedupe=False)
        assert [each.number for each in carol.history("ann::mine").versions] == [1, 2]
        clock.tick()
        talk.delete_conversation("talk")
        clock.tick()
        talk.register_conversation("talk")
        talk.share_conversation("talk", "bob")
        bob = _as(talk, "bob", conversation=TALK)
        bob.remember("zqsecond", id="his", scope="session")
        later = clock.tick() - MOMENT
        bob.remember("zqopen too", id="his", scope="tenant")
        for id in ("carol::hers", "ann::mine"):
            assert "zqfirst" not in written(bob.history(id))
            with pytest.raises(NotFound):
                bob.show(id, known_at=then)
        assert recalled(bob, "zqfirst", known_at=then) == []
        assert "zqfirst" not in written(bob.diff(since=then))
        # The past of the second conversation is shown, and owners see all of their own.
        assert talk.show("bob::his", known_at=later).memory.content == "zqsecond"
        assert talk.show("mine", known_at=then).memory.content == "zqfirst"

    def test_only_who_began_a_conversation_or_an_admin_shares_it(
        self, talk: OnRecord, root: OnRecord
    ) -> None:
        carol = _as(talk, "carol")
        for attempt in (carol.share_conversation, carol.unshare_conversation):
            with pytest.raises(Forbidden, match="only they or an admin may share it"):
                attempt(TALK, "dave")
        assert root.share_conversation(TALK, "dave").conversation.members == ("carol", "dave")
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
        with pytest.raises(Forbidden, match="first used by ann"):
            bob.unshare_agent("scout", "ann")
        assert bob.share_agent("scout", "abe").users == ("ann", "bob", "abe")
        assert talk.unshare_agent("scout", "ann").users == ("bob", "abe")
        # Whoever came next is the first now.
        assert bob.unshare_agent("scout", "abe").users == ("bob",)
        with pytest.raises(Forbidden, match="used by others"):
            talk.read_scratchpad("scout")
        with pytest.raises(Conflict, match="the only one who uses"):
            bob.unshare_agent("scout", "bob")
        assert root.show_agent("scout").settings.limit == 8
        root.append_scratchpad("an admin's", agent="scout")
        assert root.show_agent("scout").users == ("bob",)
        # An admin puts the only one out, and has it then: its notes become nobody else's.
        assert root.unshare_agent("scout", "bob").users == (root.caller.user,)
        with pytest.raises(Forbidden, match="used by others"):
            bob.read_scratchpad("scout")
        with pytest.raises(Conflict, match="the only one who uses"):
            root.unshare_agent("scout", root.caller.user)

    @pytest.mark.parametrize("agent", ["shared", "index"])
    def test_what_all_share_and_the_agent_of_those_who_name_none_are_the_tenants(
        self, talk: OnRecord, agent: str
    ) -> None:
        talk.append_scratchpad("for all", agent=agent)
        talk.set_agent(agent, limit=3)
        bob = _as(talk, "bob")
        bob.append_scratchpad("from another", agent=agent)
        assert "for all" in bob.read_scratchpad(agent).content
        assert bob.show_agent(agent).users == ()
        assert bob.clear_scratchpad(agent).cleared
        assert not talk.read_scratchpad(agent).exists
        with pytest.raises(Invalid, match="cannot be shared"):
            bob.share_agent(agent, "ann")

    def test_a_question_that_names_anothers_agent_gets_the_defaults(self, talk: OnRecord) -> None:
        for number in range(9):
            talk.remember(f"zqmany number {number}", dedupe=False)
        assert len(talk.recall("zqmany", agent="scout").hits) == 7
        assert len(_as(talk, "bob").recall("zqmany", agent="scout").hits) == 9

    def test_whose_conversation_it_is_costs_one_statement_and_nothing_outside_of_any(
        self, talk: OnRecord, store: Store
    ) -> None:
        counts = []
        for door in (_outside(talk), talk, _as(talk, "carol", conversation=TALK)):
            door.recall("zqfree", recipe="lexical")
            with executed_statements(store) as statements:
                door.recall("zqfree", recipe="lexical")
            counts.append(len(statements))
            assert sum("FROM conversations" in each for each in statements) == (
                door.caller.conversation is not None
            )
        assert counts == [counts[0], counts[0] + 1, counts[0] + 1]

    def test_members_and_users_move_with_an_export(
        self, talk: OnRecord, root: OnRecord, store: Store, tmp_path: Path
    ) -> None:
        file = str(tmp_path / "all.jsonl")
        carol = _as(talk, "carol", conversation=TALK)
        carol.remember("zqplan of carol", id="hers", scope="session")
        carol.append_scratchpad("x", agent="bare")
        carol.clear_scratchpad("bare")
        root.export(file)
        heir = talk.as_caller(administrator("heir", tenant="afterwards"))
        heir.import_(file)
        there = {
            name: talk.as_caller(person(name, tenant="afterwards", conversation=TALK))
            for name in ("ann", "bob", "carol")
        }
        assert {name: browsed(door, scopes=["session"]) for name, door in there.items()} == {
            "ann": ["carol::hers", "ann::secret"],
            "bob": [],
            "carol": ["carol::hers", "ann::secret"],
        }
        assert there["carol"].read_artifact("1").content == "zqplan"
        assert there["ann"].show_agent("scout").users == ("ann",)
        # It has neither notes nor settings, and is still hers.
        assert there["carol"].show_agent("bare").users == ("carol",)
        with pytest.raises(Forbidden):
            there["bob"].read_scratchpad("scout")
        assert heir.import_(file).added == 0
        assert heir.doctor().problems == ()

    def test_an_export_of_an_earlier_version_lets_in_who_was_in(
        self, talk: OnRecord, root: OnRecord, tmp_path: Path
    ) -> None:
        file = tmp_path / "old.jsonl"
        carol = _as(talk, "carol", conversation=TALK)
        carol.remember("over", id="over", scope="session")
        carol.retire("carol::over")
        talk.unshare_conversation("talk", "carol")
        # To name a conversation is not to be in it.
        _as(talk, "carol").remember("a note of her own", id="pin", scope="user", conversation="talk")
        talk.share_conversation("talk", "dora")
        _as(talk, "dora", conversation=TALK).remember("hers", id="dora", scope="session")
        talk.append_scratchpad("zqnotes", agent="undocumented")
        root.export(str(file))
        file.write_text("\n".join(map(_of_old, file.read_text().splitlines())) + "\n")
        heir = talk.as_caller(administrator("heir", tenant="afterwards"))
        heir.import_(str(file))
        doors = [
            talk.as_caller(person(name, tenant="afterwards", conversation=TALK))
            for name in ("ann", "dora", "carol")
        ]
        said = ["dora::dora", "ann::secret"]
        assert [browsed(door, scopes=["session"]) for door in doors] == [said, said, []]
        assert heir.show_conversation(TALK).conversation.members == ("dora",)
        assert heir.show("dora::dora").memory.conversation_by == "ann"
        assert heir.show("carol::pin").memory.conversation_by is None
        assert heir.show("carol::over").memory.scope == "user"
        assert doors[0].read_artifact("1").content == "zqplan"
        assert heir.show_agent("scout").users == ("ann",)
        assert heir.import_(str(file)).added == 0
        # Nobody knows whose these notes are: they are an admin's to share.
        for door in doors:
            assert "undocumented" not in [pad.agent for pad in door.scratchpads().scratchpads]
            for attempt in (door.read_scratchpad, door.clear_scratchpad, door.set_agent, door.show_agent):
                with pytest.raises(Forbidden, match="or an admin to share it"):
                    attempt("undocumented")
            with pytest.raises(Forbidden, match="or an admin to share it"):
                door.append_scratchpad("mine now", agent="undocumented")
        assert "zqnotes" in heir.read_scratchpad("undocumented").content
        heir.share_agent("undocumented", "ann")
        assert "zqnotes" in doors[0].read_scratchpad("undocumented").content

    @pytest.mark.parametrize("actor", ["person", "agent"])
    def test_an_export_of_an_earlier_version_lets_nobody_into_what_is_not_in_it(
        self, talk: OnRecord, root: OnRecord, tmp_path: Path, actor: Any
    ) -> None:
        """Nor does an agent's import into what was here before it."""
        file = tmp_path / "old.jsonl"
        dora = _as(talk, "dora", conversation="talk")
        dora.remember("hers", id="dora", scope="session")
        root.export(str(file))
        lines = [_of_old(line) for line in file.read_text().splitlines()]
        of_ann = next(line for line in lines if '"created_by": "ann"' in line)
        of_dora = next(line for line in lines if '"created_by": "dora"' in line)
        heir = talk.as_caller(person("heir", tenant="afterwards", actor=actor, permissions={"memory.admin"}))
        host = talk.as_caller(administrator("host", tenant="afterwards"))

        def import_without(*left_out: str) -> tuple[str, ...]:
            file.write_text("\n".join(line for line in lines if line not in left_out) + "\n")
            heir.import_(str(file))
            return host.show_conversation(TALK).conversation.members

        # Another has a conversation of this name here, and it is not the file's.
        theirs = talk.as_caller(person("carl", tenant="afterwards", conversation="talk"))
        theirs.remember("his", id="his", scope="session")
        assert import_without(of_dora) == ("dora",)
        assert host.show_conversation("~carl/talk").conversation.members == ()
        assert host.show("dora::dora").memory.conversation_by == "ann"
        assert talk.as_caller(person("ann", tenant="afterwards", conversation="talk")).read_artifact("1")
        # What is here already is a person's to share.
        host.unshare_conversation(TALK, "dora")
        assert import_without(of_dora) == (("dora",) if actor == "person" else ())
        host.unshare_conversation(TALK, "dora")
        host.forget("dora::dora")
        files = [line for line in lines if '"artifact": {' in line]
        assert import_without(of_ann, of_dora, *files) == ()
        assert host.show("dora::dora").memory.conversation_by is None


def _of_old(line: str) -> str:
    """A line of an export as it was before conversations had members."""
    read = json.loads(line)
    for version in read.get("versions", ()):
        del version["memory"]["conversation_by"]
    for key, late in (
        ("conversation", "members"),
        ("conversation", "numbered"),
        ("artifact", "conversation_by"),
        ("scratchpad", "users"),
        ("agent", "users"),
    ):
        if isinstance(read.get(key), dict):
            del read[key][late]
    return json.dumps(read)
