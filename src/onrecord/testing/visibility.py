"""WHO sees what? Callers who may not see a memory try every method and every operation on it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from onrecord.errors import Forbidden, NotFound
from onrecord.features import OPERATIONS
from onrecord.model.caller import Caller
from onrecord.model.limits import PERMISSIONS, SCOPES, Scope
from onrecord.service import OnRecord
from onrecord.store.ports.index import Index
from onrecord.store.ports.records import Reading, Relations, Writing
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    Clock,
    Conformance,
    administrator,
    browsed,
    everything,
    person,
    recalled,
    written,
)
from onrecord.testing.strangers import (
    ATTEMPTS,
    COUNTS,
    ECHOED,
    FOUND,
    OWNER,
    STRANGERS,
    TAKEN,
    UNSEEN,
    Stranger,
    Try,
    World,
    answer_of,
    code_of,
    made_equal,
    outcome,
)

#: After so many attempts the test looks whether something has changed.
_LOOKED_AFTER: Final = 32
#: The attempts on the store, and those on the door.
_ON_A_PORT: Final = {name: each for name, each in ATTEMPTS.items() if "." in name.split(":")[0]}
_AT_A_DOOR: Final = {name: each for name, each in ATTEMPTS.items() if name not in _ON_A_PORT}


class VisibilityConformance(Conformance):
    """For a caller who may not see a memory, everything is as if that memory did not exist."""

    #: Who tries. A back end whose statements are those of another one may have some of them come.
    strangers: ClassVar[Iterable[str]] = tuple(STRANGERS)

    @pytest.fixture
    def world(self, store: Store, clock: Clock, tmp_path: Path) -> World:
        return World(store, clock, tmp_path)

    def test_a_stranger_finds_nothing_changes_nothing_and_learns_nothing(self, world: World) -> None:
        for who in self.strangers:
            assert _learned(world, STRANGERS[who], _ON_A_PORT) == [], who

    def test_nor_does_one_at_a_door(self, world: World) -> None:
        """A door only calls methods that are tried above, so two callers are enough here."""
        for who in ("an admin of another tenant", "another user"):
            assert _learned(world, STRANGERS[who], _AT_A_DOOR) == [], who

    def test_every_method_and_every_operation_is_tried(self) -> None:
        tried = {name.split(":")[0] for name in ATTEMPTS}
        methods = (
            {
                f"{port.__name__}.{name}"
                for port in (Reading, Relations, Index, Writing)
                for name in vars(port)
                if not name.startswith("_")
            }
            - COUNTS
            - UNSEEN
        )
        operations = {operation.name for operation in OPERATIONS}
        assert tried == methods | operations
        assert len(methods) == 65

    def test_the_owner_finds_what_strangers_do_not(self, world: World) -> None:
        """Otherwise the tests above would pass on an empty store."""
        for scope, name in product(
            SCOPES,
            (
                "Reading.memory",
                "Reading.browse",
                "Reading.eligible",
                "Reading.read",
                "Relations.around",
                "Reading.versions",
                "Reading.compare",
            ),
        ):
            trial = Try(world, world.keeper(scope), *world.kept[scope])
            assert "zqghost" in outcome(ATTEMPTS[name], trial), (name, scope)
        for scope, (name, sign) in product(SCOPES, FOUND.items()):
            trial = Try(world, world.keeper(scope), *world.kept[scope])
            assert sign in outcome(ATTEMPTS[name], trial), (name, scope)

    def test_everyone_sees_their_own_scopes(self, world: World) -> None:
        world.door(OWNER).share_conversation("talk", "carol")
        for caller, scopes in (
            (OWNER, SCOPES),
            (administrator(), SCOPES),
            (person("bob"), ("global", "tenant")),
            (person("bob", personas={"chef"}), ("global", "tenant", "persona")),
            (person("bob", systems={"crm": "read"}), ("global", "tenant", "system")),
            (person("bob", systems={"*": "read"}), ("global", "tenant", "system")),
            (person("bob", conversation="talk"), ("global", "tenant")),
            (person("bob", conversation="~ann/talk"), ("global", "tenant")),
            (person("carol", conversation="talk"), ("global", "tenant")),
            (person("carol", conversation="~ann/talk"), ("global", "tenant", "session")),
            (person("ann"), ("global", "tenant", "user")),
            (person("ann", actor="unattended"), ("global", "tenant", "user")),
            (person("ann", tenant="beta"), ("global",)),
            (administrator(tenant="beta", systems={"*": "manage"}), ("global",)),
        ):
            door = world.door(caller)
            expected = {world.id(scope, number) for scope in scopes for number in (1, 2)}
            assert set(browsed(door)) == expected, caller
            for recipe in ("lexical", "semantic", "auto"):
                question = " ".join(f"zq{scope}" for scope in SCOPES)
                assert set(recalled(door, question, limit=20, recipe=recipe)) == expected, (caller, recipe)
            for scope in SCOPES:
                with nullcontext() if scope in scopes else pytest.raises(NotFound):
                    assert door.show(world.id(scope, 1)).memory.content == f"zq{scope} content"

    def test_what_is_counted_in_one_tenant_tells_another_nothing(self, world: World) -> None:
        terms, references = [f"zq{scope}" for scope in SCOPES], [f"thing:zq{scope}" for scope in SCOPES]
        with world.store.reading(person(tenant="beta"), world.clock.now) as reading:
            rarity = reading.index.rarity([*terms, "zqnowhere"])
            assert {term for term in terms if rarity[term] != rarity["zqnowhere"]} == {"zqglobal"}
            assert (reading.size, [each.memories for each in reading.index.coverage()]) == (2, [2])
            assert reading.index.about(references, most=9).counts == {"thing:zqglobal": 1}

    @pytest.mark.parametrize(
        ("caller", "scopes"),
        [(OWNER, SCOPES), (administrator(), SCOPES), (person("bob"), ("global", "tenant"))],
    )
    def test_what_is_counted_is_what_the_caller_sees(
        self, world: World, caller: Caller, scopes: Sequence[Scope]
    ) -> None:
        terms, references = [f"zq{scope}" for scope in SCOPES], [f"thing:zq{scope}" for scope in SCOPES]
        with world.store.reading(caller, world.clock.now) as reading:
            rarity = reading.index.rarity([*terms, "zqnowhere"])
            assert [term for term in terms if rarity[term] < rarity["zqnowhere"]] == [
                f"zq{each}" for each in scopes
            ]
            assert reading.size == sum(each.memories for each in reading.index.coverage()) == 2 * len(scopes)
            assert reading.index.about(references, most=9).counts == {f"thing:zq{each}": 1 for each in scopes}

    def test_every_operation_needs_its_permission(self, ann: OnRecord, store: Store) -> None:
        ann.remember("note")
        with_all_but_it = {
            operation: ann.as_caller(
                person(permissions=frozenset(PERMISSIONS) - {operation.permission, "memory.admin"})
            )
            for operation in OPERATIONS
        }
        before, unrefused = everything(store), []
        for operation, lacking in with_all_but_it.items():
            try:
                lacking.perform(operation)
            except Forbidden as refusal:
                if operation.permission in str(refusal):
                    continue
            unrefused.append(operation.name)
        assert unrefused == []
        assert everything(store) == before

    def test_the_same_id_in_two_tenants_is_two_memories(self, ann: OnRecord) -> None:
        elsewhere = ann.as_caller(person(tenant="beta"))
        for door, content in ((ann, "here"), (elsewhere, "there")):
            door.remember(content, id="k")
        elsewhere.retire("k")
        assert (ann.show("k").memory.content, ann.show("k").memory.status) == ("here", "active")
        elsewhere.forget("k")
        assert browsed(ann) == ["k"]

    def test_a_page_mark_of_another_tenant_opens_nothing(self, ann: OnRecord) -> None:
        elsewhere = ann.as_caller(person(tenant="beta"))
        for number in range(4):
            ann.remember(f"secret {number}")
            elsewhere.remember(f"public {number}")
        mark = ann.browse(limit=1).next
        assert "secret" not in written(elsewhere.browse(after=mark))


def _learned(world: World, stranger: Stranger, attempts: Mapping[str, Callable[[Try], Any]]) -> list[str]:
    """Everything that a stranger learned or changed by these attempts."""
    door, before, faults = world.door(stranger.caller), world.held(stranger.hidden), []
    own = door.remember("an own note", scope="user").memory
    tried: list[str] = []
    for name, attempt in attempts.items():
        ghost = Try(world, door, *world.ghosts(stranger.hidden[0]), own)
        nothing, answered = outcome(attempt, ghost), None
        for scope in stranger.hidden:
            if answered is None or ghost.names_one:
                answered = answer_of(attempt, Try(world, door, *world.kept[scope], own))
            answer = made_equal(answered, code_of(scope))
            if name in TAKEN and stranger.chose_ids:
                expected = "Conflict: The id zqghost.1 cannot be used here. Choose another, or leave it out."
            else:
                expected = nothing
            if answer != expected:
                faults.append(f"{name} on {scope}: {answer} instead of {expected}")
            if name not in ECHOED and "zqghost" in answer.replace("zqghost.1", "").replace("zqghost.2", ""):
                faults.append(f"{name} on {scope} tells {answer}")
        tried.append(name)
        if len(tried) == _LOOKED_AFTER or name == [*attempts][-1]:
            # A change leaves a version behind, so it also shows after further attempts.
            if (now := world.held(stranger.hidden)) != before:
                faults.append(f"one of these changed something: {tried}")
            before, tried = now, []
    return faults


_NAMES = (
    "x", "X", "xy", "t", "g", "u", "u:x", "p:x", "s:x", "c:x", ":", ":x", "x:", "%", "x%", "_", "_:x",
    "s:%", "'", '"', "x'--", "x\\", "None", "global", "é", "e\u0301", "ｘ", "*x",
)  # fmt: skip


class NameConformance(Conformance):
    """Names are compared exactly: no name is taken for another name, or for a name of another kind."""

    def test_a_name_never_opens_what_another_name_or_another_kind_of_name_holds(self, ann: OnRecord) -> None:
        rooms = list(product(("user", "persona", "system", "session"), _NAMES))
        doors = {room: ann.as_caller(_holder(*room)) for room in rooms}
        held = {}
        for number, (scope, name) in enumerate(rooms):
            more = {scope: name} if scope in ("persona", "system") else {}
            saved = doors[scope, name].remember(f"word {number}", id=str(number), scope=scope, **more)
            held[scope, name] = saved.memory.id
        for room, id in held.items():
            assert browsed(doors[room]) == recalled(doors[room], "word") == [id], room
        every = ann.as_caller(person("nobody", systems={"*": "read"}))
        assert set(browsed(every, limit=1_000)) == {
            id for (scope, _), id in held.items() if scope == "system"
        }
        assert len(browsed(ann.as_caller(administrator()), limit=1_000)) == len(rooms)

    def test_a_tenant_name_never_opens_another_tenant(self, ann: OnRecord) -> None:
        names = [name for name in _NAMES if name != "global"]
        doors = [ann.as_caller(administrator(tenant=name)) for name in names]
        for name, door in zip(names, doors, strict=True):
            door.remember(f"word of {name}")
        for name, door in zip(names, doors, strict=True):
            assert [memory.content for memory in door.browse().memories] == [f"word of {name}"]
            assert recalled(door, "word") == ["1"]

    def test_a_name_of_one_kind_gives_no_right_to_change(self, ann: OnRecord, store: Store) -> None:
        ann.as_caller(person("owner")).remember("note", id="k")
        for scope in ("persona", "system", "session"):
            with pytest.raises(Forbidden):
                ann.as_caller(_holder(scope, "owner")).revise("k", content="changed")


def _holder(scope: str, name: str) -> Caller:
    """A caller with one name of this scope and no others."""
    if scope == "user":
        return person(name)
    holding: dict[str, dict[str, Any]] = {
        "persona": {"personas": {name}},
        "system": {"systems": {name: "manage"}},
        "session": {"conversation": name},
    }
    return person("nobody", **holding[scope])
