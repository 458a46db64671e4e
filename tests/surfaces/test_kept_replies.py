"""WHEN may a reply be given a second time? While nobody wrote anything, to the same caller, for a second."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onrecord.model.caller import Caller
from onrecord.surfaces.rest.kept import SECONDS, KeptReplies, question_of
from onrecord.surfaces.rest.problems import Reply

from .conftest import Served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    served = Served(db=str(tmp_path / "served.db"), worker="no", embedder="none")
    yield served
    served.stop()


def recalled(server: Served, question: str, **more: Any) -> list[str]:
    said = server.client.post("/v1/recall", json={"question": question, "recipe": "lexical"}, **more)
    assert said.status_code == 200, said.text
    return [hit["memory"]["id"] for hit in said.json()["hits"]]


class TestOverTheNetwork:
    def test_a_save_is_found_at_once_by_a_question_just_asked(self, server: Served) -> None:
        assert recalled(server, "kestrel") == []
        for number in range(1, 4):
            server.client.post("/v1/memories", json={"content": f"kestrel {number}"})
            # Asked again at once, it is answered from what was kept.
            assert [len(recalled(server, "kestrel")) for _ in range(3)] == [number] * 3

    def test_so_is_whatever_another_process_writes(self, server: Served) -> None:
        id = server.entrance.door.remember("kestrel").memory.id
        for _ in range(3):
            assert recalled(server, "kestrel") == [id]
        server.entrance.door.retire(id)
        assert recalled(server, "kestrel") == []

    def test_nobody_gets_the_reply_to_another(self, server: Served) -> None:
        door = server.entrance.door
        door.remember("kestrel of ann", scope="user", id="private")
        keys = [door.create_key(user=user).secret for user in (door.caller.user, "bob")]
        found = [recalled(server, "kestrel", headers={"Authorization": f"Bearer {key}"}) for key in keys * 4]
        assert found == [["private"], []] * 4

    def test_the_same_question_has_the_same_bytes(self, server: Served) -> None:
        server.entrance.door.remember("kestrel")
        asked = {"question": "kestrel", "recipe": "lexical"}
        told = [server.client.post("/v1/recall", json=asked) for _ in range(4)]
        assert len({each.content for each in told}) == 1
        assert len({each.headers["x-request-id"] for each in told}) == 4


class TestKeeping:
    ANN = Caller(tenant="acme", user="ann")

    def test_it_ends_after_a_second(self) -> None:
        now = [100.0]
        kept = KeptReplies(timer=lambda: now[0])
        kept.keep("q", Reply(200, b"x"), (1,))
        now[0] += SECONDS
        assert kept.find("q") is not None
        now[0] += 0.01
        assert kept.find("q") is None

    def test_only_a_question_that_comes_again_within_the_second_is_kept(self) -> None:
        now = [100.0]
        kept = KeptReplies(timer=lambda: now[0])
        assert not kept.comes_again("q")
        now[0] += SECONDS
        assert kept.comes_again("q")
        now[0] += SECONDS + 0.01
        assert not kept.comes_again("q")
        for number in range(1_000):
            assert not kept.comes_again(number)
        assert not kept.comes_again("q"), "of very many the latest are known"

    def test_of_very_many_the_latest_are_kept_and_none_that_is_large(self) -> None:
        kept = KeptReplies(timer=lambda: 0.0)
        for number in range(1_500):
            kept.keep(number, Reply(200, b"x"), ())
        kept.keep("large", Reply(200, b"x" * 100_000), ())
        assert kept.find(499) is None
        assert kept.find(500) is not None
        assert kept.find("large") is None

    @pytest.mark.parametrize(
        "other",
        [
            Caller(tenant="beta", user="ann"),
            Caller(tenant="acme", user="bob"),
            Caller(tenant="acme", user="ann", personas=frozenset({"chef"})),
            Caller(tenant="acme", user="ann", rules=frozenset({"memory.read"})),
            Caller(tenant="acme", user="ann", systems={"crm": "read"}),
            Caller(tenant="acme", user="ann", conversation="here"),
            Caller(tenant="acme", user="ann", actor="agent"),
        ],
    )
    def test_whatever_an_answer_depends_on_makes_another_question(self, other: Caller) -> None:
        assert question_of(self.ANN, b"x") != question_of(other, b"x")
        assert question_of(self.ANN, b"x") != question_of(self.ANN, b"y")
        assert question_of(self.ANN, b"x") == question_of(
            Caller(tenant="acme", user="ann", request="r1"), b"x"
        )
