"""DO the quotas hold whatever is written, over-written and deleted, and in whichever order?"""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.errors import Conflict
from onrecord.testing.builders import Clock, person

OF_CONVERSATION, OF_TENANT, OF_PAD = 50, 80, 200
TALKS = ("one", "two", "three")
PATHS = ("a.txt", "b/c.txt", "d.md")
WRITES = st.tuples(st.just("write"), st.sampled_from(TALKS), st.sampled_from(PATHS), st.integers(0, 60))
DELETES = st.tuples(st.just("delete"), st.sampled_from(TALKS), st.sampled_from(PATHS), st.just(0))
ENDS = st.tuples(st.just("end"), st.sampled_from(TALKS), st.just(""), st.just(0))
ACTS = st.lists(st.one_of(WRITES, WRITES, WRITES, DELETES, ENDS), max_size=25)


@pytest.fixture(scope="module")
def door() -> Iterator[OnRecord]:
    """Quotas that are soon reached, in one store for all examples; each has a tenant of its own."""
    with pytest.MonkeyPatch.context() as patch, connect(":memory:", clock=Clock()) as door:
        patch.setattr("onrecord.workspace.artifacts.CONVERSATION_BYTES", OF_CONVERSATION)
        patch.setattr("onrecord.workspace.artifacts.TENANT_BYTES", OF_TENANT)
        patch.setattr("onrecord.workspace.scratchpads.SCRATCHPAD_BYTES", OF_PAD)
        yield door


@pytest.fixture(scope="module")
def tenants() -> Iterator[str]:
    return (f"tenant{number}" for number in range(1_000_000))


@settings(max_examples=25)
@given(acts=ACTS)
def test_files_are_refused_exactly_when_they_would_pass_a_quota(
    door: OnRecord, tenants: Iterator[str], acts: list[tuple[str, str, str, int]]
) -> None:
    ann = door.as_caller(person("ann", tenant=next(tenants)))
    held: dict[tuple[str, str], int] = {}
    ids: dict[tuple[str, str], str] = {}
    for act, talk, path, size in acts:
        ann.register_conversation(talk)
        place = (talk, path)
        if act == "end":
            assert ann.delete_conversation(talk).artifacts == sum(each[0] == talk for each in held)
            held = {each: size for each, size in held.items() if each[0] != talk}
        elif act == "delete" and place in held:
            ann.delete_artifact(ids[place])
            del held[place]
        elif act == "write":
            before = held.get(place)
            of_talk = sum(size for each, size in held.items() if each[0] == talk) - (before or 0) + size
            of_tenant = sum(held.values()) - (before or 0) + size
            is_smaller = before is not None and size <= before
            if is_smaller or (of_talk <= OF_CONVERSATION and of_tenant <= OF_TENANT):
                written = ann.write_artifact(path, "x" * size, conversation=talk)
                assert written.created == (before is None)
                assert before is None or written.artifact.id == ids[place]
                held[place], ids[place] = size, written.artifact.id
            else:
                with pytest.raises(Conflict):
                    ann.write_artifact(path, "x" * size, conversation=talk)
        listed = ann.artifacts()
        assert {(each.conversation, each.path): each.size for each in listed.artifacts} == held
        assert listed.bytes == sum(held.values()) <= OF_TENANT


@settings(max_examples=25)
@given(notes=st.lists(st.text("aé日\n", min_size=1, max_size=60).filter(str.strip), max_size=8))
def test_notes_are_refused_exactly_when_they_would_pass_their_size(
    door: OnRecord, tenants: Iterator[str], notes: list[str]
) -> None:
    ann = door.as_caller(person("ann", tenant=next(tenants)))
    expected = ""
    for note in notes:
        block = f"\n<!-- 2026-03-01 12:00:00 -->\n{note}\n"
        if len((expected + block).encode()) <= OF_PAD:
            expected += block
            assert ann.append_scratchpad(note, agent="scout").size == len(expected.encode())
        else:
            with pytest.raises(Conflict):
                ann.append_scratchpad(note, agent="scout")
        assert ann.read_scratchpad("scout").content == expected
