"""Does an id mean for each user what it says, and does nothing that others keep hidden change an answer?

Any saves, questions and erasures of several users are compared with a plain account of whose each memory is.
"""

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord
from onrecord.errors import Conflict, Forbidden, NotFound, OnRecordError
from tests.soak import tries

from .conftest import KEEPER, Stores, outcome

USERS: Final = ("ann", "b~b", "a:n")
#: Those of a persona, who see what is for it.
COOKS: Final = ("ann", "a:n")
#: How each user's name stands in an id.
WRITTEN: Final = {"ann": "ann", "b~b": "b~007eb", "a:n": "a~003an"}
NAMES: Final = ("k", "7")
IDS: Final = (*NAMES, "::k", *(f"{owner}::k" for owner in WRITTEN.values()))


class Step(NamedTuple):
    """What is done, by whom, with which id; `scope` is where a save goes, if it says so. Where all that is a user's is given away, the
    id is that of whom it is given to.
    """

    do: str
    user: str
    id: str
    scope: str | None


users, named = st.sampled_from(USERS), st.sampled_from((*NAMES, *NAMES, *IDS))
saves = st.builds(
    Step,
    st.sampled_from(("save", "save", "try")),
    users,
    named,
    st.sampled_from((None, "tenant", "user", "user", "persona")),
)
others = st.builds(
    Step, st.sampled_from(("read", "erase", "cite", "propose", "propose", "approve")), users, named, st.none()
)
gifts = st.builds(Step, st.just("give"), users, users, st.none())
steps = st.lists(st.one_of(saves, saves, others, saves, others, gifts), min_size=4, max_size=14)


class Refused(Exception):
    """What the account says is not to be; the kind of the error that says so."""

    def __init__(self, kind: type[OnRecordError]) -> None:
        super().__init__(kind)
        self.kind = kind


class Held(NamedTuple):
    owner: str
    scope: str
    text: str

    @property
    def waits(self) -> bool:
        return self.scope == "waits"


@dataclass
class Account:
    held: dict[str, Held] = field(default_factory=dict)

    def meant(self, user: str, id: str) -> list[str]:
        """The memories that a user may mean by an id, of those they see; their own first. Those of others only if there is
        neither.
        """
        seen = self.seen(user)
        name = id.removeprefix("::")
        if "::" in name:
            return [name] if name in seen else []
        own = [] if id.startswith("::") else self.own(user, name)
        return [*own, *([name] if name in seen else [])] or [
            each for each in seen if each.endswith(f"::{name}")
        ]

    def own(self, user: str, name: str) -> list[str]:
        """Those that are of this name for a user as their own: first the one with their own name in front, also where it was
        given away, if they see it; then what was given to them.
        """
        called = {each for each in self.seen(user) if each.endswith(f"::{name}")}
        first = f"{WRITTEN[user]}::{name}"
        return sorted(
            (each for each in called if each == first or self.held[each].owner == user),
            key=lambda each: (each != first, each),
        )

    def seen(self, user: str) -> dict[str, str]:
        return {
            id: each.text
            for id, each in self.held.items()
            if each.scope == "tenant" or (user in COOKS if each.scope == "persona" else each.owner == user)
        }

    def is_left_out(self, step: Step) -> bool:
        """What this is not about: whether a user is of the persona, and how what waits is changed."""
        found = [self.held[each] for each in self.meant(step.user, step.id)]
        if step.do == "propose":
            return bool(found) or (WRITTEN[step.user] != step.id.partition("::")[0] and "::" in step.id[1:])
        if step.do == "approve":
            return len(found) != 1 or not found[0].waits
        is_save = step.do in ("save", "try")
        return is_save and (
            (step.scope == "persona" and step.user not in COOKS) or any(each.waits for each in found)
        )

    def one(self, step: Step) -> str:
        found = self.meant(step.user, step.id)
        if len(found) != 1:
            raise Refused(Conflict if found else NotFound)
        return found[0]

    def save(self, step: Step, text: str) -> str:
        """The id that a save gets."""
        is_name = "::" not in step.id
        own = self.own(step.user, step.id) if is_name else []
        found = own or [
            each
            for each in self.meant(step.user, step.id)
            if each in (step.id, step.id.removeprefix("::")) or self.held[each].scope == "tenant"
        ]
        if found:
            if len(found) > 1 and not own:
                raise Refused(Conflict)
            before = self.held[found[0]]
            if before.owner != step.user:
                raise Refused(Forbidden)
            self.held[found[0]] = Held(step.user, step.scope or before.scope, text)
            return found[0]
        name = step.id.removeprefix("::")
        named = name if "::" in name else f"{WRITTEN[step.user]}::{name}"
        if named != f"{WRITTEN[step.user]}::{named.partition('::')[2]}":
            raise Refused(Forbidden)
        id = named if step.scope in ("user", "persona", "waits") else name
        if id in self.held:
            raise Refused(Conflict)
        self.held[id] = Held(step.user, step.scope or "tenant", text)
        return id

    def take(self, step: Step, text: str) -> Any:
        if step.do == "save":
            return self.save(step, text)
        if step.do == "try":
            before = dict(self.held)
            try:
                return self.save(step, text)
            finally:
                self.held = before
        if step.do == "give":
            theirs = {id: each for id, each in self.held.items() if each.owner == step.user != step.id}
            self.held |= {id: each._replace(owner=step.id) for id, each in theirs.items()}
            return len(theirs)
        if step.do == "propose":
            return self.save(step._replace(scope="waits"), text)
        if step.do == "cite":
            # What is not there may be cited, as it is written.
            is_there = self.meant(step.user, step.id)
            return (f"memory:{self.one(step) if is_there else step.id.removeprefix('::')}",)
        id = self.one(step)
        if step.do == "read":
            return id, self.held[id].text
        if step.do == "approve":
            self.held[id] = self.held[id]._replace(scope="tenant")
            return id
        if self.held[id].owner != step.user:
            raise Refused(Forbidden)
        del self.held[id]
        return id


def caller(user: str) -> Caller:
    personas = {"chef"} if user in COOKS else set[str]()
    return Caller(
        tenant="acme", user=user, personas=personas, permissions=frozenset(("memory.read", "memory.manage"))
    )


def done(door: OnRecord, step: Step, text: str) -> Any:
    if step.do == "read":
        memory = door.show(step.id).memory
        return memory.id, memory.content
    if step.do == "erase":
        return door.forget(step.id).id
    if step.do == "cite":
        return door.remember("about it", entities=[f"memory:{step.id}"], dry_run=True).memory.entities
    if step.do == "propose":
        return door.remember(text, id=step.id, review=True).memory.id
    if step.do == "give":
        there = step.user != step.id
        return door.as_caller(KEEPER).reassign(step.user, step.id).memories if there else 0
    if step.do == "approve":
        return door.as_caller(KEEPER).approve(door.show(step.id).memory.id).memory.id
    more = {} if step.scope is None else {"scope": step.scope}
    more |= {"persona": "chef"} if step.scope == "persona" else {}
    return door.remember(text, id=step.id, dry_run=step.do == "try", **more).memory.id


def follow(stores: Stores, database: str, taken: list[Step]) -> None:
    [door] = stores.emptied(database).values()
    account = Account()
    for number, step in enumerate(taken):
        if account.is_left_out(step):
            continue
        stores.tick()
        came = outcome(OnRecordError, done, door.as_caller(caller(step.user)), step, f"n{number}")
        try:
            expected = account.take(step, f"n{number}")
        except Refused as refused:
            assert isinstance(came, refused.kind), f"{step}: {came}"
        else:
            assert came == expected, f"{step}: {came}"
    for user in USERS:
        theirs = door.as_caller(caller(user))
        listed = theirs.browse(limit=1_000, statuses=["active", "pending"]).memories
        assert {each.id: each.content for each in listed} == account.seen(user)
        for id, text in account.seen(user).items():
            exact = id if "::" in id else f"::{id}"
            assert theirs.show(exact).memory.content == text
        for id in IDS:
            [told] = {Conflict: [2], NotFound: [0]}.get(type(outcome(OnRecordError, theirs.show, id)), [1])
            assert told == min(2, len(account.meant(user, id)))


@settings(max_examples=tries(12, soaking=300))
@given(taken=steps)
def test_an_id_means_for_each_user_what_it_says(stores: Stores, taken: list[Step]) -> None:
    follow(stores, "sqlite-memory", taken)


@settings(max_examples=tries(2, soaking=40))
@given(taken=steps)
def test_an_id_means_the_same_on_a_server(stores: Stores, taken: list[Step]) -> None:
    follow(stores, "postgres", taken)


@settings(max_examples=tries(6, soaking=100))
@given(taken=steps, user=users, last=saves | others)
def test_an_answer_is_as_if_others_kept_nothing_hidden(
    stores: Stores, taken: list[Step], user: str, last: Step
) -> None:
    """What others saved for themselves and nobody else ever saw is left out of one store."""
    doors = stores.emptied("sqlite-memory", "sqlite-file")
    for number, step in enumerate(taken):
        keeps = (step.do == "propose" or (step.do == "save" and step.scope == "user")) and "::" not in step.id
        if keeps or (step.user == user and step.do != "approve"):
            text = f"n{number}"
            for name, door in doors.items():
                if step.user == user or name == "sqlite-file":
                    outcome(OnRecordError, done, door.as_caller(caller(step.user)), step, text)
    answers = {
        name: str(outcome(OnRecordError, done, door.as_caller(caller(user)), last, "last"))
        for name, door in doors.items()
    }
    assert answers["sqlite-memory"] == answers["sqlite-file"]
