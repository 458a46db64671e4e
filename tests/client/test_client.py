"""IS a store elsewhere used as one at hand? The same names and signatures, the same errors, and patience with bad lines."""

import asyncio
import inspect
import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from onrecord import AsyncOnRecord, OnRecord
from onrecord.client import AsyncClient, Client, connect, connect_async
from onrecord.client.sending import prepare, read_arguments
from onrecord.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    OnRecordError,
    StoreUnavailable,
    TooMany,
    Unauthenticated,
    VersionConflict,
)
from onrecord.features import OPERATIONS
from onrecord.recall.browse import Browse
from onrecord.recall.recall import Recall
from onrecord.recall.show import Show
from onrecord.remember.remember import Remember

from ..surfaces.conftest import Served
from .conftest import Line

NAMES = [operation.name for operation in OPERATIONS]
Lay = Callable[..., Line]


def says(status: int, told: Any = None, *headers: str) -> bytes:
    """A reply as it goes over the line."""
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def problem(name: str, status: int, *headers: str, **more: Any) -> bytes:
    return says(status, {"type": f"urn:onrecord:{name}", "detail": "So it is."} | more, *headers)


class TestNames:
    def test_they_are_those_of_the_doors_at_hand(self) -> None:
        def public(kind: type) -> set[str]:
            return {name for name in dir(kind) if not name.startswith("_")}

        # Who asks is what the key says, and a worker works where the store is.
        assert public(Client) == public(AsyncClient) == {*NAMES, "location", "close", "narrowed", "perform"}

    @pytest.mark.parametrize("name", NAMES)
    def test_signatures_and_help_are_the_same(self, name: str) -> None:
        sync, other = getattr(Client, name), getattr(AsyncClient, name)
        assert inspect.iscoroutinefunction(other)
        assert (
            inspect.signature(sync) == inspect.signature(other) == inspect.signature(getattr(OnRecord, name))
        )
        assert sync.__doc__ == other.__doc__ == getattr(AsyncOnRecord, name).__doc__

    def test_connecting_takes_the_same_for_both(self) -> None:
        sync, other = inspect.signature(connect), inspect.signature(connect_async)
        assert sync.parameters == other.parameters


class TestAsking:
    def test_answers_are_values_of_the_same_types(self, server: Served) -> None:
        with connect(server.url) as memory:
            saved = memory.remember("Revenue is net.", kind="decision", tags=["a"], valid_from="2026-01-01")
            assert saved.memory.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
            assert memory.show("1") == server.parts.door.show("1")
            assert memory.show(Show("#1")) == memory.show(id="1")
            assert memory.browse(Browse(tags=("a",))).memories == (saved.memory,)
            assert memory.recall(Recall("revenue")).hits[0].memory == saved.memory
            assert memory.remember(Remember("Revenue is net.")).outcome != "created"
            assert memory.location == server.url

    def test_hostile_texts_travel_unchanged(self, server: Served) -> None:
        with connect(server.url) as memory:
            for number, text in enumerate(
                ["a&b=c#?/%2F", "naïve \u202e \U0001f600", "a\r\nb: c", "</script>"]
            ):
                id = f"x.{number}+&=%2F.é"
                memory.remember(text, id=id, tags=["a,b", "c&d"], dedupe=False)
                assert memory.show(id).memory.content == text
                assert memory.browse(tags=["a,b"]).memories[0].id == id
            for id in (".", ".."):
                memory.remember("A step up.", id=id, dedupe=False)
                assert memory.show(id).memory.id == id

    def test_an_answer_of_another_tool_travels_whatever_its_size_and_shape(self, server: Served) -> None:
        deep: Any = ["thing:lamp"]
        for _ in range(5_000):
            deep = [deep]
        odd = ["thing:lamp", float("nan"), "\ud800", {"a": {1, 2}}, b"bytes"]
        with connect(server.url) as memory:
            memory.remember("It is green.", id="lamp", entities=["thing:lamp"])
            for answer in (
                deep,
                odd,
                {"thing:lamp": "\U0001f600" * 3_000_000},
                "thing:lamp" + " \x01" * 3_000_000,
            ):
                told = memory.attach(answer, arguments=answer)
                assert [each.id for each in told.memories] == ["lamp"]

    def test_many_can_ask_at_once(self, server: Served) -> None:
        async def ask() -> list[str]:
            async with connect_async(server.url) as memory:
                saved = await asyncio.gather(
                    *(memory.remember(f"Note {number}.", dedupe=False) for number in range(20))
                )
                return [each.memory.id for each in saved]

        assert sorted(map(int, asyncio.run(ask()))) == list(range(1, 21))

    @pytest.mark.parametrize("way", ["await", "async with", "at once"])
    def test_an_async_program_comes_in_whichever_way_it_likes(self, server: Served, way: str) -> None:
        async def ask() -> str:
            if way == "async with":
                async with connect_async(server.url) as memory:
                    return (await memory.remember("said")).memory.id
            memory = await connect_async(server.url) if way == "await" else connect_async(server.url)
            inside = memory.narrowed(conversation="c7")
            try:
                return (await inside.remember("said")).memory.id
            finally:
                await memory.close()

        assert asyncio.run(ask()) == "1"

    def test_one_that_never_asked_is_closed_all_the_same(self, server: Served) -> None:
        asyncio.run(connect_async(server.url).close())

    def test_it_speaks_from_inside_a_conversation(self, server: Served) -> None:
        with connect(server.url, key=server.make_key(), conversation="plän") as memory:
            memory.remember("Only here.", scope="session")
            assert len(memory.browse().memories) == 1
            elsewhere = memory.narrowed(conversation="other")
            assert elsewhere.browse(scopes=["session"]).memories == ()
            assert memory.browse(scopes=["session"]).memories[0].conversation == "plän"

    def test_an_export_is_written_here_and_read_back_elsewhere(self, served: Any, tmp_path: Path) -> None:
        first, second = served(), served(db=str(tmp_path / "second.db"))
        path = tmp_path / "all.jsonl"
        path.write_text("an older one")
        with connect(first.url) as memory, connect(second.url) as other:
            memory.remember("One.")
            memory.remember("Two, which is another.")
            memory.relate("1", "supports", "2")
            memory.register_conversation(title="Close of March")
            memory.write_artifact("a.txt", "x", conversation="1")
            memory.append_scratchpad("half done")
            memory.set_agent("scout")
            told = memory.export(str(path))
            assert (told.path, told.memories, told.versions, told.relations) == (str(path), 2, 2, 1)
            assert (told.conversations, told.artifacts, told.scratchpads, told.agents) == (1, 1, 1, 1)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert other.import_(str(path)).added == 2
            assert other.show("1").memory.content == "One."
            assert other.read_artifact("1").content == "x"
            assert other.import_(str(path)).workspace_unchanged == 4
            with pytest.raises(StoreUnavailable, match="cannot be read"):
                other.import_(str(tmp_path / "none.jsonl"))
            with pytest.raises(StoreUnavailable, match="cannot be written"):
                other.export(str(tmp_path / "none" / "all.jsonl"))
        assert [each.name for each in tmp_path.glob(".onrecord-*")] == []

    def test_an_export_that_fails_leaves_the_older_one(self, server: Served, tmp_path: Path) -> None:
        path = tmp_path / "all.jsonl"
        path.write_text("an older one")
        with connect(server.url, key=server.make_key()) as memory, pytest.raises(Forbidden):
            memory.export(str(path))
        assert path.read_text() == "an older one"

    def test_an_export_can_go_to_standard_output(
        self, server: Served, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with connect(server.url) as memory:
            memory.remember("One.")
            assert memory.export("-").memories == 1
        assert '"onrecord":' in capsys.readouterr().out

    def test_what_has_its_default_is_not_sent(self) -> None:
        operation = OnRecord.browse.operation  # type: ignore[attr-defined]
        values = read_arguments(operation, (), {"limit": 50, "tags": ["a b", "c"], "after": None})
        assert prepare(operation, values).path == "/v1/memories?tags=a%20b&tags=c"


class TestRefusals:
    def test_they_are_those_of_the_door_at_hand(self, server: Served) -> None:
        server.parts.door.remember("One.")
        door = server.parts.door
        with connect(server.url) as memory:
            for here, there in (
                (lambda: memory.show("none"), lambda: door.show("none")),
                (lambda: memory.remember("", kind="facts"), lambda: door.remember("", kind="facts")),  # type: ignore[arg-type]
                (lambda: memory.remember("x", colour=1), lambda: door.remember("x", colour=1)),  # type: ignore[call-arg]
                (lambda: memory.remember("x", scope="persona"), lambda: door.remember("x", scope="persona")),
                (lambda: memory.relate("1"), lambda: door.relate("1")),  # type: ignore[call-arg]
                (
                    lambda: memory.diff(datetime(2026, 1, 1)),
                    lambda: door.diff(datetime(2026, 1, 1)),
                ),
                (
                    lambda: memory.revise("1", title="x", expected_version=9),
                    lambda: door.revise("1", title="x", expected_version=9),
                ),
            ):
                with pytest.raises(OnRecordError) as wanted:
                    there()
                with pytest.raises(type(wanted.value)) as came:
                    here()
                assert str(came.value) == str(wanted.value)
                assert vars(came.value) == vars(wanted.value)

    def test_a_change_that_came_too_late_says_which_version_there_is(self, server: Served) -> None:
        with connect(server.url) as memory:
            memory.remember("One.")
            memory.revise("1", title="Two")
            with pytest.raises(VersionConflict) as late:
                memory.revise("1", title="Three", expected_version=1)
        assert (late.value.memory, late.value.expected, late.value.actual) == ("1", 1, 2)

    def test_keys_say_who_asks(self, server: Served) -> None:
        with connect(server.url) as memory:
            memory.remember("One.")
            key, reader = server.make_key(), server.make_key(permissions=["memory.read"])
            with pytest.raises(Unauthenticated):
                memory.browse()
        with connect(server.url, key=key) as memory:
            assert memory.remember("Two, which is another.").memory.origin == "agent"
            with pytest.raises(Forbidden, match=r"memory\.admin"):
                memory.status()
        with connect(server.url, key=reader) as memory:
            assert len(memory.browse().memories) == 2
            with pytest.raises(Forbidden):
                memory.remember("Three.")

    def test_a_copy_of_the_store_is_made_where_it_is(self, server: Served) -> None:
        with connect(server.url) as memory, pytest.raises(Forbidden, match="at the machine of the store"):
            memory.backup("copy.db")

    def test_a_list_that_cannot_be_sent_is_refused(self, server: Served) -> None:
        with connect(server.url) as memory:
            with pytest.raises(Invalid, match="sections"):
                memory.inspect("orders", sections=[])
            with pytest.raises(Invalid, match="parts"):
                memory.drop_entity("orders", parts=[])

    @pytest.mark.parametrize(
        "given",
        [
            {"url": "127.0.0.1:8321"},
            {"url": "postgresql://h/x"},
            {"url": "http://"},
            {"url": "http://h:99999"},
            {"url": "http://ann:secret@h"},
            {"url": "http://h?key=x"},
            {"url": "http://h", "key": "onr_a b"},
            {"url": "http://h", "key": "onr_a\r\nX: y"},
            {"url": "http://h", "conversation": "a\nb"},
            {"url": "http://h", "run": ""},
        ],
    )
    @pytest.mark.parametrize("open_client", [connect, connect_async])
    def test_what_cannot_be_right_is_refused_at_once(self, open_client: Any, given: dict[str, str]) -> None:
        with pytest.raises(Invalid) as refused:
            open_client(**given)
        assert "secret" not in str(refused.value)
        assert "onr_a" not in str(refused.value)


class TestBadLines:
    def test_nobody_there_is_told_with_the_address(self) -> None:
        with (
            connect("http://127.0.0.1:1") as memory,
            pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1"),
        ):
            memory.browse()

    @pytest.mark.parametrize(
        "step", ["cut", "lose", problem("unavailable", 503), problem("too-many-requests", 429)]
    )
    def test_a_read_is_asked_again(self, server: Served, line: Lay, step: str | bytes) -> None:
        server.parts.door.remember("One.")
        there = line(step, step)
        with connect(there.url) as memory:
            assert memory.show("1").memory.content == "One."
        assert len(there.requests) == 3

    @pytest.mark.parametrize("step", ["cut", "lose", problem("unavailable", 503, "Retry-After: 0")])
    def test_a_write_is_sent_again_and_done_once(self, server: Served, line: Lay, step: str | bytes) -> None:
        there = line(step, step)
        with connect(there.url) as memory:
            assert memory.remember("One.", dedupe=False).memory.id == "1"
            assert memory.remember("Two.", dedupe=False).memory.id == "2"
        assert len(server.parts.door.browse().memories) == 2
        keys = [
            each
            for request in there.requests
            for each in request.split(b"\r\n")
            if each.lower().startswith(b"idempotency-key")
        ]
        assert len(keys) == 4
        assert len(set(keys)) == 2

    def test_the_same_holds_for_async_programs(self, server: Served, line: Lay) -> None:
        there = line("lose", "cut")

        async def ask() -> str:
            async with connect_async(there.url) as memory:
                return (await memory.remember("One.", dedupe=False)).memory.id

        assert asyncio.run(ask()) == "1"
        assert len(server.parts.door.browse().memories) == 1

    def test_it_gives_up_in_the_end_and_says_what_is_not_known(self, server: Served, line: Lay) -> None:
        there = line(*["cut"] * 9)
        with connect(there.url) as memory:
            with pytest.raises(StoreUnavailable, match=there.url):
                memory.browse()
            assert len(there.requests) == 3
            with pytest.raises(StoreUnavailable, match="It is unknown whether the request was carried out"):
                memory.remember("One.")

    def test_who_is_told_to_wait_long_is_told_so(self, line: Lay) -> None:
        there = line(problem("too-many-requests", 429, "Retry-After: 60"))
        with connect(there.url) as memory, pytest.raises(TooMany) as refused:
            memory.browse()
        assert refused.value.retry_after == 60
        assert len(there.requests) == 1

    def test_a_refusal_is_not_asked_again(self, line: Lay) -> None:
        there = line(problem("conflict", 409))
        with connect(there.url) as memory, pytest.raises(Conflict, match="So it is"):
            memory.remember("One.")
        assert len(there.requests) == 1

    def test_a_server_that_is_too_slow_is_not_asked_again(self) -> None:
        import socket

        with (
            socket.create_server(("127.0.0.1", 0)) as silent,
            connect(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.1) as memory,
            pytest.raises(StoreUnavailable, match=r"within 0\.1 s"),
        ):
            memory.browse()

    @pytest.mark.parametrize(
        "reply",
        [
            says(200, b"<html>"),
            says(200, {"hello": 1}),
            says(200, []),
            says(404, b"<html>"),
            says(500, {"detail": "x"}),
            says(302, b"", "Location: http://elsewhere/"),
            problem("version-conflict", 409, actual=2),
            problem("invalid", 422, faults=["limit"]),
            problem("invalid", 422, faults=5),
        ],
    )
    def test_someone_else_who_answers_is_told_apart(self, line: Lay, reply: bytes) -> None:
        there = line(reply)
        with (
            connect(there.url, key="onr_secret") as memory,
            pytest.raises(StoreUnavailable, match="is not OnRecord") as told,
        ):
            memory.browse()
        assert there.url in str(told.value)
        assert "onr_secret" not in str(told.value)
        assert len(there.requests) == 1

    @pytest.mark.parametrize(
        ("reply", "kind"),
        [
            (problem("invalid", 422, faults=[{"field": "limit", "message": "is odd"}]), Invalid),
            (problem("too-large", 413), Invalid),
            (problem("not-found", 404), NotFound),
            (problem("internal", 500, request="r-1"), OnRecordError),
            (problem("something-new", 418), Invalid),
        ],
    )
    def test_every_problem_is_an_error_of_ours(
        self, line: Lay, reply: bytes, kind: type[OnRecordError]
    ) -> None:
        there = line(reply)
        with connect(there.url) as memory, pytest.raises(kind) as told:
            memory.browse()
        assert type(told.value) is kind
        if b"internal" in reply:
            assert "r-1" in str(told.value)
