"""Does each user see exactly the conversations that are theirs or were shared with them, and what belongs to these?

Any steps of several users are compared with a plain account of them: who began which conversation, and its members.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord
from onrecord.errors import Forbidden, NotFound, OnRecordError
from onrecord.model.limits import TENANT_PERMISSIONS
from onrecord.model.memory import Memory
from tests.soak import SOAKING, tries

from .conftest import Stores, outcome

ADMIN: Final = "root"
USERS: Final = ("ann", "bob", "carol", ADMIN)
#: Few, so that several begin conversations of one name.
NAMES: Final = ("talk", "~ann/talk", "~bob/talk")
#: What a name means to someone who is not in the conversation: one that is not there.
NOBODYS: Final = ("", "")
AGENT: Final = "scout"
#: Stands in every memory, so that one question finds all that the user sees.
WORD: Final = "oat"

Key = tuple[str, str]


class Step(NamedTuple):
    """What is done, by whom, and in or with which conversation; `more` is a scope or another user."""

    do: str
    user: str
    name: str
    more: str


users, names = st.sampled_from(USERS), st.sampled_from(NAMES)
saves = st.builds(
    Step, st.just("save"), users, names, st.sampled_from(("session", "session", "tenant", "user"))
)
acts = st.builds(Step, st.sampled_from(("say", "write", "delete", "jot")), users, names, st.just(""))
shares = st.builds(
    Step, st.sampled_from(("share", "share", "share", "unshare", "lend", "take back")), users, names, users
)
steps = st.lists(st.one_of(saves, acts, shares), min_size=3, max_size=10)


class Refused(Exception):
    """What the account says is not to be; the kind of the error that says so."""

    def __init__(self, kind: type[OnRecordError]) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass
class Saved:
    scope: str
    owner: str
    pin: Key | None
    live: bool = True


@dataclass
class Account:
    """Who is in which conversation, and what belongs to it, in plain words."""

    members: dict[Key, set[str]] = field(default_factory=dict)
    memories: dict[str, Saved] = field(default_factory=dict)
    turns: dict[Key, list[str]] = field(default_factory=dict)
    files: dict[str, tuple[Key, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    written: int = 0

    def meant(self, user: str, name: str) -> Key:
        """One's own, or another's if it says whose; that is nobody's for those who are not in it."""
        if not name.startswith("~"):
            return user, name
        by, _, id = name[1:].partition("/")
        key = (by, id)
        return key if key in self.members and self.is_in(user, key) else NOBODYS

    def is_in(self, user: str, key: Key) -> bool:
        return user in (key[0], ADMIN) or user in self.members.get(key, ())

    def sees(self, user: str, saved: Saved, here: Key | None) -> bool:
        reads = {"tenant": True, "user": saved.owner == user, "session": saved.pin == here is not None}
        return user == ADMIN or reads[saved.scope]

    def left(self, user: str, saved: Saved) -> bool:
        """Whether it is the user's own, in a conversation that they are no longer in."""
        return (
            saved.scope == "session"
            and saved.owner == user
            and saved.pin is not None
            and not self.is_in(user, saved.pin)
        )

    def uses(self, user: str) -> bool:
        return not self.users or user in self.users or user == ADMIN

    # What is done

    def begun(self, step: Step) -> Key:
        key = self.meant(step.user, step.name)
        if key == NOBODYS:
            raise Refused(NotFound)
        self.members.setdefault(key, set())
        return key

    def save(self, step: Step, id: str) -> None:
        key = self.begun(step)
        self.memories[id if step.more == "tenant" else f"{step.user}::{id}"] = Saved(
            step.more, step.user, key
        )

    def say(self, step: Step, text: str) -> None:
        self.turns.setdefault(self.begun(step), []).append(text)

    def write(self, step: Step, text: str) -> None:
        key = self.begun(step)
        there = next((id for id, (home, _) in self.files.items() if home == key), None)
        self.written += there is None
        self.files[there or str(self.written)] = (key, text)

    def own(self, step: Step) -> Key:
        key = self.meant(step.user, step.name)
        if key not in self.members:
            raise Refused(NotFound)
        if step.user not in (key[0], ADMIN):
            raise Refused(Forbidden)
        return key

    def share(self, step: Step, _: str) -> None:
        key = self.own(step)
        if step.more != key[0]:
            self.members[key].add(step.more)

    def unshare(self, step: Step, _: str) -> None:
        key = self.meant(step.user, step.name)
        if step.more != step.user or key not in self.members:
            key = self.own(step)
        self.members[key].discard(step.more)

    def delete(self, step: Step, _: str) -> None:
        gone = self.own(step)
        del self.members[gone]
        self.turns.pop(gone, None)
        self.files = {id: file for id, file in self.files.items() if file[0] != gone}
        for saved in self.memories.values():
            is_own = step.user in (saved.owner, ADMIN)
            if saved.pin == gone and saved.scope == "session":
                # It is its owner's own now, whoever is in a later conversation of the same name.
                saved.scope, saved.pin, saved.live = "user", None, not is_own
            elif saved.pin == gone and is_own:
                saved.pin = None

    def jot(self, step: Step, text: str) -> None:
        self._use(step)
        self.notes.append(text)

    def lend(self, step: Step, _: str) -> None:
        self._use(step)
        self.users += [step.more] if step.more not in self.users else []

    def take_back(self, step: Step, _: str) -> None:
        is_first = not self.users or step.user in (self.users[0], ADMIN, step.more)
        if not self.uses(step.user) or not is_first:
            raise Refused(Forbidden)
        if self.users == [step.more]:
            if step.user in (step.more, *self.users):
                raise Refused(OnRecordError)
            # An admin who puts the only user out uses it then.
            self.users.append(step.user)
        self.users = [user for user in self.users if user != step.more]

    def _use(self, step: Step) -> None:
        if not self.uses(step.user):
            raise Refused(Forbidden)
        self.users = self.users or [step.user]


DONE: Final[dict[str, Callable[[OnRecord, OnRecord, Step, str], Any]]] = {
    "save": lambda out, there, step, text: there.remember(
        f"{WORD} {text}", id=text, scope=step.more, dedupe=False
    ),
    "say": lambda out, there, step, text: there.note_turn(text),
    "write": lambda out, there, step, text: there.write_artifact("a.md", text),
    "delete": lambda out, there, step, text: out.delete_conversation(step.name),
    "share": lambda out, there, step, text: out.share_conversation(step.name, step.more),
    "unshare": lambda out, there, step, text: out.unshare_conversation(step.name, step.more),
    "jot": lambda out, there, step, text: out.append_scratchpad(text, agent=AGENT),
    "lend": lambda out, there, step, text: out.share_agent(AGENT, step.more),
    "begin": lambda out, there, step, text: there.register_conversation(step.name),
    "take back": lambda out, there, step, text: out.unshare_agent(AGENT, step.more),
}


def caller(user: str, name: str | None = None) -> Caller:
    rules = TENANT_PERMISSIONS if user == ADMIN else ("memory.read", "memory.manage")
    return Caller(tenant="acme", user=user, permissions=frozenset(rules), conversation=name)


def act_of(door: OnRecord, step: Step) -> Callable[[str], Any]:
    """A step as its user takes it, from outside of the conversation and from inside."""
    out, there = (door.as_caller(caller(step.user, name)) for name in (None, step.name))
    return lambda text: DONE[step.do](out, there, step, text)


def take(door: OnRecord, account: Account, step: Step, number: int) -> None:
    """Do a step in both; what the account refuses is refused."""
    text = f"n{number}"
    came = outcome(OnRecordError, act_of(door, step), text)
    try:
        getattr(account, step.do.replace(" ", "_"))(step, text)
    except Refused as refused:
        assert isinstance(came, refused.kind), f"{step}: {came}"
    else:
        assert not isinstance(came, OnRecordError), f"{step}: {came}"


def told_outside(door: OnRecord, account: Account, user: str) -> None:
    """Whatever a user is told who is in no conversation."""
    mine = {key: members for key, members in account.members.items() if account.is_in(user, key)}
    listed = door.conversations().conversations
    assert {account.meant(user, each.id): set(each.members) for each in listed} == mine
    told_memories(door, account, user, None)
    near = {id: text for id, (key, text) in account.files.items() if key in mine}
    assert {each.id for each in door.artifacts().artifacts} == set(near)
    told_files(door, account, near)
    for name in NAMES:
        told_by_name(door, account, user, name)
    pads = [AGENT] if account.notes and account.uses(user) else []
    assert [each.agent for each in door.scratchpads().scratchpads] == pads
    read = outcome(Forbidden, door.read_scratchpad, AGENT)
    if account.uses(user):
        assert [line for line in read.content.split() if line.startswith("n")] == account.notes
    else:
        assert isinstance(read, Forbidden)


def told_by_name(door: OnRecord, account: Account, user: str, name: str) -> None:
    """What is told outside of a conversation of it, by its name."""
    shown = outcome(OnRecordError, door.show_conversation, name)
    pinned = door.browse(conversation=name, limit=1_000)
    key = account.meant(user, name)
    wanted = {
        id
        for id, saved in account.memories.items()
        if saved.live and saved.pin == key and account.sees(user, saved, None)
    }
    assert {each.id for each in pinned.memories} == wanted
    if key in account.members:
        files = [each for each in account.files.values() if each[0] == key]
        assert (account.meant(user, shown.conversation.id), shown.artifacts) == (key, len(files))
    else:
        assert isinstance(shown, NotFound)


def told_inside(door: OnRecord, account: Account, user: str, name: str) -> None:
    """Whatever a user is told in a conversation that they name."""
    here = account.meant(user, name)
    told_memories(door, account, user, here)
    assert [turn.content for turn in door.turns().turns] == account.turns.get(here, [])
    near = {id: text for id, (key, text) in account.files.items() if key == here}
    assert {each.id for each in door.artifacts().artifacts} == set(near)
    told_files(door, account, near)


def told_memories(door: OnRecord, account: Account, user: str, here: Key | None) -> None:
    seen = {id: each for id, each in account.memories.items() if account.sees(user, each, here)}
    live = {id: each.pin for id, each in seen.items() if each.live}
    assert {each.id: pin_of(each) for each in door.browse(limit=1_000).memories} == live
    assert {hit.memory.id for hit in door.recall(WORD, limit=100).hits} == set(live)
    shown = {id for id in account.memories if not isinstance(outcome(NotFound, door.show, id), NotFound)}
    assert shown == set(seen) | {id for id, each in account.memories.items() if account.left(user, each)}


def pin_of(memory: Memory) -> Key | None:
    return None if memory.pinned is None else (memory.pinned.by, memory.pinned.id)


def told_files(door: OnRecord, account: Account, near: dict[str, str]) -> None:
    read = {id: outcome(NotFound, door.read_artifact, id) for id in account.files}
    assert {id: each.content for id, each in read.items() if not isinstance(each, NotFound)} == near


def follow(stores: Stores, database: str, done: list[Step]) -> None:
    [door] = stores.emptied(database).values()
    # Turns are in memory alone.
    door._turns.clear_tenant("acme")
    account = Account()
    for number, step in enumerate(done):
        stores.tick()
        take(door, account, step, number)
        # After each step one of them in turn, after the last one all; in a soak all every time.
        everyone = SOAKING or number == len(done) - 1
        for user in USERS if everyone else (USERS[number % len(USERS)],):
            told_outside(door.as_caller(caller(user)), account, user)
            for name in NAMES:
                told_inside(door.as_caller(caller(user, name)), account, user, name)


@settings(max_examples=tries(6, soaking=60))
@given(done=steps)
def test_each_user_sees_what_belongs_to_their_conversations_and_nothing_else(
    stores: Stores, done: list[Step]
) -> None:
    follow(stores, "sqlite-memory", done)


@settings(max_examples=tries(1, soaking=10))
@given(done=steps)
def test_each_user_sees_the_same_on_a_server(stores: Stores, done: list[Step]) -> None:
    follow(stores, "postgres", done)


@settings(max_examples=tries(6, soaking=60))
@given(done=steps, user=users, name=st.none() | names)
def test_scores_are_as_if_what_one_does_not_see_had_not_been_saved(
    stores: Stores, done: list[Step], user: str, name: str | None
) -> None:
    doors, account = stores.emptied("sqlite-memory", "sqlite-file"), Account()
    for number, step in enumerate(done):
        take(doors["sqlite-memory"], account, step, number)
    here = account.meant(user, name) if name else None
    hidden = (id for id, saved in account.memories.items() if not account.sees(user, saved, here))
    unseen = {id.rpartition(":")[2] for id in hidden}
    for number, step in enumerate(done):
        act = "begin" if f"n{number}" in unseen else step.do
        outcome(OnRecordError, act_of(doors["sqlite-file"], step._replace(do=act)), f"n{number}")
    told = [
        [(hit.memory.id, hit.score, hit.relevance) for hit in door.recall(f"{WORD} n1", limit=100).hits]
        for door in (each.as_caller(caller(user, name)) for each in doors.values())
    ]
    assert told[0] == told[1]
