"""Many saved at once are what they would be one by one; what is wrong with one is said of that one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.errors import Forbidden, Invalid, NotFound, OnRecordError, ProviderError, StoreUnavailable
from onrecord.model.embedding import Passage
from onrecord.model.limits import STATUSES
from onrecord.remember import remember
from onrecord.remember.remember_many import RememberMany
from onrecord.surfaces.cli.commands import request_of
from onrecord.testing.embedder import StubEmbedder, StubEmbedders

BAD = {"content": "Bad.", "supersedes": ["999"]}
texts = st.sampled_from(
    [
        "Refunds take a week.",
        "Refunds take a year.",
        "Ünïcode 🐙 \u202eabc",
        "x" * 7_000,
        "The key is AKIAIOSFODNN7EXAMPLE.",
    ]
)
saves = st.lists(
    st.fixed_dictionaries(
        {"content": texts},
        optional={
            "id": st.sampled_from(["kb.a", "kb.b"]),
            "tags": st.lists(st.sampled_from("ab"), max_size=2),
            "supersedes": st.sampled_from([["1"], ["kb.a"], ["999"]]),
            "scope": st.sampled_from(["user", "tenant"]),
            "dedupe": st.booleans(),
        },
    ),
    max_size=8,
    min_size=1,
)


def held(door: OnRecord) -> list[tuple[Any, ...]]:
    """What is kept, in the order of saving, with every version."""
    kept = door.browse(statuses=STATUSES, limit=100, order="oldest").memories
    return [
        (
            one.id,
            one.content,
            one.tags,
            one.scope,
            one.status,
            one.version,
            len(door.history(one.id).versions),
        )
        for one in kept
    ]


@given(saves=saves)
def test_they_are_what_they_would_be_one_by_one(saves: list[dict[str, Any]]) -> None:
    with connect(":memory:") as single, connect(":memory:") as many:
        outcomes: list[Any] = []
        for each in saves:
            try:
                outcomes.append(single.remember(**each, alike="keep").outcome)
            except OnRecordError:
                outcomes.append(None)
        said = many.remember_many([{**each, "alike": "keep"} for each in saves], on_fault="skip")
        assert [each.outcome for each in said.memories] == outcomes
        assert said.skipped == outcomes.count(None)
        assert held(many) == held(single)
        assert many.doctor().problems == ()


def test_one_that_cannot_be_saved_refuses_all_and_is_named(memory: OnRecord) -> None:
    with pytest.raises(NotFound, match=r"^memories\[1\]: No memory 999"):
        memory.remember_many([{"content": "Good."}, BAD, {"content": "Good too."}])
    with pytest.raises(Invalid) as refused:
        memory.remember_many([{"content": ""}, {"content": "Good."}, {"kind": "facts", "colour": "red"}])
    assert [each.field for each in refused.value.faults] == [
        "memories[0].content",
        "memories[2].colour",
        "memories[2].content",
    ]
    assert held(memory) == []


def test_with_skip_the_others_are_saved_and_each_fault_stands_in_its_place(memory: OnRecord) -> None:
    good = [{"content": f"Store {number} closes at {number}."} for number in range(6)]
    said = memory.remember_many([BAD, good[0], good[1], BAD, {"content": 3}, *good[2:], BAD], on_fault="skip")
    assert [each.id for each in said.memories] == [None, "1", "2", None, None, "3", "4", "5", "6", None]
    assert said.memories[4].faults == ("content: must be a text, not a number",)
    assert (said.saved, said.skipped) == (6, 4)
    assert [each[1] for each in held(memory)] == [each["content"] for each in good]


def test_a_dry_run_says_it_all_and_saves_nothing(memory: OnRecord) -> None:
    said = memory.remember_many([{"content": "One."}, BAD], on_fault="skip", dry_run=True)
    assert (said.dry_run, said.saved, said.skipped) == (True, 1, 1)
    assert held(memory) == []
    with pytest.raises(Invalid, match=r"memories\[0\]\.dry_run: is for the request as a whole"):
        memory.remember_many([{"content": "One.", "dry_run": True}])


def test_each_is_compared_with_what_was_there_and_not_with_the_others(memory: OnRecord) -> None:
    for text in (
        "Refunds take a week to arrive.",
        "Deploys are frozen on Fridays after noon.",
        "Carts expire.",
    ):
        memory.remember(text)
    saves: list[dict[str, Any]] = [
        {"content": "Refunds take one week to arrive."},
        BAD,
        {"content": "Refunds take about one week to arrive."},
        {"content": "Carts now expire.", "id": "3"},
        {"content": "Note that deploys are frozen on Fridays after noon.", "alike": "supersede"},
    ]
    for trial in (True, False):
        said = memory.remember_many(saves, on_fault="skip", dry_run=trial)
        assert [each.id for each in said.memories] == ["4", None, "5", "3", "6"]
        assert [each.similar for each in said.memories] == [("1",), (), ("1",), (), ()]
        assert said.memories[-1].superseded == ("2",)
        assert memory.recall("do baskets run out?").hits[0].memory.id == "3"
    assert memory.doctor().problems == ()


def test_one_that_was_saved_before_a_skipped_one_is_there_for_those_after_it(memory: OnRecord) -> None:
    saves = [
        {"content": "Refunds take a week.", "id": "kb.refunds"},
        BAD,
        {"content": "Refunds take a year.", "id": "kb.refunds"},
        {"content": "Refunds take a day.", "supersedes": ["kb.refunds"]},
    ]
    trial = memory.remember_many(saves, on_fault="skip", dry_run=True)
    said = memory.remember_many(saves, on_fault="skip")
    assert trial == replace(said, dry_run=True)
    assert [each.outcome for each in said.memories] == ["created", None, "updated", "created"]
    assert said.memories[3].superseded == ("kb.refunds",)
    assert memory.doctor().problems == ()


def test_if_the_store_fails_after_some_are_saved_none_is(
    memory: OnRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: Any) -> Any:
        if given[0].ask.content == "Last.":
            raise StoreUnavailable
        return given[0]

    monkeypatch.setattr(remember, "COMMIT", (*remember.COMMIT, fails))
    with pytest.raises(StoreUnavailable):
        memory.remember_many([{"content": "First."}, BAD, {"content": "Last."}], on_fault="skip")
    assert held(memory) == []


def test_what_is_found_by_meaning_was_embedded_with_the_others(memory: OnRecord) -> None:
    memory.remember_many([{"content": "Refunds take a week."}, {"content": "Deploys are frozen on Fridays."}])
    assert memory.recall("how long until customers get their money back?").hits[0].memory.id == "1"
    (model,) = memory.status().tenants[0].models
    assert (model.indexed, model.expected) == (2, 2)


class _FailsLater(StubEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        if self.texts:
            raise ProviderError("The service is down.")
        return super().embed_documents(texts)


def test_what_the_embedder_made_before_it_failed_is_kept_and_the_rest_put_off(memory: OnRecord) -> None:
    memory._embedders = StubEmbedders(_FailsLater())
    said = memory.remember_many([{"content": f"Fact{number}."} for number in range(40)])
    done = [not each.degraded for each in said.memories]
    assert done == [True] * sum(done) + [False] * (40 - sum(done))
    assert 0 < sum(done) < 40
    assert said.memories[-1].degraded == ("embed: The service is down. It will be tried again later.",)
    assert memory.status().tenants[0].models[0].indexed == sum(done)
    memory._embedders = StubEmbedders(StubEmbedder())
    assert memory.embed_missing().embedded == 40 - sum(done)
    assert memory.doctor().problems == ()


def test_a_run_that_has_saved_enough_saves_none_of_the_rest(memory: OnRecord) -> None:
    robot = memory.as_caller(replace(memory.caller, actor="unattended", run="night", operator=False))
    with pytest.raises(Forbidden, match=r"memories\[3\]: This run has reached its limit"):
        robot.remember_many([{"content": f"Fact {number}."} for number in range(9)])
    said = robot.remember_many([{"content": f"Fact {number}."} for number in range(9)], on_fault="skip")
    assert (said.saved, said.skipped) == (3, 6)


def test_what_every_tenant_sees_is_saved_by_itself(memory: OnRecord) -> None:
    for fields in ({"scope": "global"}, {"id": "global:rule"}):
        with pytest.raises(Invalid, match=r"memories\[0\]\.scope: .* saved by itself"):
            memory.remember_many([{"content": "For all.", **fields}])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"content": "One."}\n\n{"content": "Two\n', "memories: line 3 is not JSON (Unterminated string"),
        ('[{"content": "One."},\n]', "memories: is not JSON (Expecting value, at line 2, column 1)"),
        ("no-such-file.jsonl", "the name of a file of them (line 1 is 'no-such-file.jsonl')"),
    ],
)
def test_of_a_text_that_cannot_be_read_the_line_is_named(text: str, fault: str) -> None:
    with pytest.raises(Invalid) as refused:
        request_of(RememberMany, {"memories": text})
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ['{"content": "A\u2028B"}\r\n\n{"content": "C"}', '[{"content": "A\u2028B"},\n {"content": "C"}]'],
)
def test_a_line_of_json_ends_with_its_line(text: str) -> None:
    asked = request_of(RememberMany, {"memories": text})
    assert asked == RememberMany([{"content": "A\u2028B"}, {"content": "C"}])
    assert request_of(RememberMany, {"memories": '{\n"content": "C"\n}'}) == RememberMany([{"content": "C"}])
