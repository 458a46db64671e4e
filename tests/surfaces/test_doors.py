"""ARE the doors alike? Whatever can be done through one can be done through the other, and asked in two ways."""

import asyncio
import inspect
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import onrecord
from onrecord import AsyncOnRecord, Caller, OnRecord, connect, connect_async
from onrecord.errors import Forbidden, Invalid, StoreUnavailable
from onrecord.features import FEATURES, OPERATIONS
from onrecord.model.request import Request, request_fields
from onrecord.recall.browse import Browse
from onrecord.recall.recall import Recall
from onrecord.recall.show import Show
from onrecord.remember.remember import Remember

NAMES = [operation.name for operation in OPERATIONS]


@pytest.fixture
def memory() -> Iterator[OnRecord]:
    """One database will do: a door looks at a request before the store does."""
    with connect(":memory:", clock=lambda: datetime(2026, 3, 1, tzinfo=UTC)) as door:
        yield door


def public(door: object) -> set[str]:
    return {name for name in dir(door) if not name.startswith("_")}


class TestBothDoors:
    def test_they_have_the_same_names(self) -> None:
        with connect(":memory:") as memory:
            # A worker waits in a thread of its own, and so may an advisor; a loop takes them from the door that it was given.
            assert public(AsyncOnRecord(memory)) == (public(memory) - {"worker", "advisor"}) | {"sync"}

    @pytest.mark.parametrize("name", NAMES)
    def test_an_operation_has_the_same_signature_and_help_on_both(self, name: str) -> None:
        sync, other = getattr(OnRecord, name), getattr(AsyncOnRecord, name)
        assert inspect.iscoroutinefunction(other)
        assert not inspect.iscoroutinefunction(sync)
        assert inspect.signature(sync) == inspect.signature(other)
        assert sync.__doc__ == other.__doc__ == sync.operation.request.__doc__

    @pytest.mark.parametrize("name", ["as_caller", "close"])
    def test_the_rest_takes_the_same(self, name: str) -> None:
        sync, other = getattr(OnRecord, name), getattr(AsyncOnRecord, name)
        assert list(inspect.signature(sync).parameters) == list(inspect.signature(other).parameters)

    def test_opening_takes_the_same_but_for_what_a_loop_has_no_use_for(self) -> None:
        sync, other = inspect.signature(connect).parameters, inspect.signature(connect_async).parameters
        assert [name for name in other if name not in sync] == []
        assert [str(other[name]) for name in other] == [str(sync[name]) for name in other]

    def test_what_one_saves_the_other_finds(self, tmp_path: Path) -> None:
        db = tmp_path / "both.db"
        with connect(db) as memory:
            saved = memory.remember("said at one door").memory

        async def ask() -> list[Any]:
            async with connect_async(db) as memory:
                assert memory.location == str(db)
                assert memory.caller.tenant == "default"
                shown, found = await asyncio.gather(memory.show(saved.id), memory.recall("door"))
                stranger = memory.as_caller(replace(memory.caller, tenant="elsewhere"))
                return [shown.memory, found.hits[0].memory, (await stranger.browse()).memories]

        assert asyncio.run(ask()) == [saved, saved, ()]

    @pytest.mark.parametrize("way", ["await", "async with", "at once"])
    def test_it_is_opened_by_whichever_way_one_comes_in(self, tmp_path: Path, way: str) -> None:
        async def ask() -> str:
            if way == "async with":
                async with connect_async(tmp_path / "one.db") as memory:
                    return (await memory.remember("said")).memory.id
            memory = (
                await connect_async(tmp_path / "one.db")
                if way == "await"
                else connect_async(tmp_path / "one.db")
            )
            try:
                return (await memory.remember("said")).memory.id
            finally:
                await memory.close()

        assert asyncio.run(ask()) == "1"

    @pytest.mark.parametrize("way", ["await", "async with", "at once"])
    def test_the_loop_goes_on_while_it_is_opened(self, tmp_path: Path, way: str) -> None:
        """The store cannot be made before the loop has done something else: whoever waits on the loop waits in vain."""
        db = tmp_path / "one.db"
        db.touch()

        async def opened() -> Any:
            if way == "await":
                return await connect_async(db)
            memory = connect_async(db)
            if way == "async with":
                return await memory.__aenter__()
            await memory.browse()
            return memory

        async def ask(other: sqlite3.Connection) -> str:
            other.execute("BEGIN EXCLUSIVE")
            opening = asyncio.create_task(opened())
            await asyncio.sleep(0)
            assert not opening.done()
            other.execute("ROLLBACK")
            memory = await opening
            try:
                return (await memory.remember("said")).memory.id
            finally:
                await memory.close()

        with closing(sqlite3.connect(db, isolation_level=None)) as other:
            assert asyncio.run(ask(other)) == "1"

    def test_what_goes_wrong_in_opening_is_told_there(self, tmp_path: Path) -> None:
        async def ask() -> None:
            await connect_async(tmp_path / "none.db", create=False)

        with pytest.raises(StoreUnavailable, match="There is no store"):
            asyncio.run(ask())

    def test_one_that_was_never_opened_is_closed_without_a_trace(self, tmp_path: Path) -> None:
        async def leave() -> None:
            await connect_async(tmp_path / "none.db").close()

        asyncio.run(leave())
        assert not (tmp_path / "none.db").exists()

    def test_many_who_come_at_once_find_one_store(self, tmp_path: Path) -> None:
        async def ask() -> list[str]:
            memory = connect_async(tmp_path / "one.db")
            stranger = memory.as_caller(Caller(tenant="elsewhere", user="eve"))
            saved = await asyncio.gather(
                memory.remember("one"), memory.remember("two"), stranger.remember("three")
            )
            assert stranger.sync._store is memory.sync._store
            await memory.close()
            return sorted(each.memory.id for each in saved)

        assert asyncio.run(ask()) == ["1", "1", "2"]

    def test_an_error_of_the_other_door_is_the_same_error(self) -> None:
        async def ask() -> None:
            async with connect_async(":memory:") as memory:
                await memory.remember("", kind="facts")

        with pytest.raises(Invalid) as refused:
            asyncio.run(ask())
        assert [fault.field for fault in refused.value.faults] == ["content", "kind"]


class TestTheRequestAndItsFields:
    def test_each_operation_has_a_request_of_its_own(self) -> None:
        assert len({operation.request for operation in OPERATIONS}) == len(OPERATIONS)

    @pytest.mark.parametrize("file", FEATURES)
    def test_the_requests_of_a_feature_stand_beside_what_is_done(self, file: str) -> None:
        own = [each for each in vars(import_module(file)).values() if getattr(each, "__module__", "") == file]
        # What two requests share has a name that begins with an underscore.
        requests = [each for each in own if isinstance(each, type) and issubclass(each, Request)]
        written = {each for each in requests if not each.__name__.startswith("_")}
        done = [each.operation for each in own if hasattr(each, "operation")]
        assert tuple(each.name for each in done) == FEATURES[file] != ()
        assert written == {each.request for each in done}

    def test_every_file_with_an_operation_is_listed(self) -> None:
        source = Path(onrecord.__file__).parent
        files = {
            ".".join(file.relative_to(source.parent).with_suffix("").parts)
            for file in source.rglob("*.py")
            if "\n@operation(" in file.read_text()
        }
        assert files == set(FEATURES)

    def test_a_request_gives_the_same_answer_as_its_fields(self, memory: OnRecord) -> None:
        by_fields = memory.remember("one way", kind="decision", tags=("a",), id="x").memory
        by_request = memory.remember(Remember("one way", kind="decision", tags=("a",), id="y")).memory
        assert replace(by_request, id="x") == by_fields
        assert memory.recall(Recall("way", limit=1)) == memory.recall("way", limit=1)
        assert memory.show(Show("x")) == memory.show("x") == memory.show(id="x")
        assert memory.browse(Browse(kinds=("decision",))) == memory.browse(kinds=("decision",))

    def test_a_request_is_checked_as_its_fields_are(self, memory: OnRecord) -> None:
        with pytest.raises(Invalid) as refused:
            memory.recall(Recall("x", limit=0))
        assert [fault.field for fault in refused.value.faults] == ["limit"]

    def test_lists_may_be_lists(self, memory: OnRecord) -> None:
        saved = memory.remember("note", tags=["b", "a", "b"])
        assert saved.memory.tags == ("b", "a")

    @pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
    def test_a_field_that_is_not_there_is_named(self, memory: OnRecord, operation: Any) -> None:
        given = dict.fromkeys([each.name for each in request_fields(operation.request)], "1")
        with pytest.raises(Invalid) as refused:
            memory.perform(operation, **given, zebra="red")
        assert [str(fault) for fault in refused.value.faults] == ["zebra: is not a field here"]

    def test_a_field_that_is_nearly_there_is_suggested(self, memory: OnRecord) -> None:
        with pytest.raises(Invalid) as refused:
            memory.remember("note", tag=["a"])
        assert str(refused.value) == "tag: is not a field here; did you mean tags?"

    def test_every_field_that_is_missing_is_named(self, memory: OnRecord) -> None:
        with pytest.raises(Invalid) as refused:
            memory.relate("1", colour="red")
        assert [str(fault) for fault in refused.value.faults] == [
            "colour: is not a field here",
            "relation: is required",
            "target: is required",
        ]

    def test_more_values_than_fields_without_a_name_are_refused(self, memory: OnRecord) -> None:
        with pytest.raises(Invalid, match=r"at most 1 may be given by position \(2 were given\)"):
            memory.remember("note", "x")

    def test_a_value_given_twice_is_refused(self, memory: OnRecord) -> None:
        with pytest.raises(Invalid, match="content"):
            memory.remember("note", content="another")


class TestThePermission:
    @pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
    def test_an_operation_needs_its_permission_before_anything_is_looked_at(
        self, memory: OnRecord, operation: Any
    ) -> None:
        poor = memory.as_caller(Caller(tenant="default", user="eve", permissions=frozenset()))
        with pytest.raises(Forbidden, match=operation.permission):
            poor.perform(operation, nonsense=1)
