"""WHAT becomes of an approval when the text changes?"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from onrecord import OnRecord, connect


@pytest.fixture
def memory() -> Iterator[OnRecord]:
    with connect(":memory:", embedder="none") as door:
        yield door


class TestAnApprovalIsOfOneText:
    def test_an_agent_that_changes_the_text_loses_it(self, memory: OnRecord) -> None:
        agent = memory.as_caller(replace(memory.caller, actor="agent"))
        saved = agent.remember("Ship on Fridays.", id="rule").memory
        assert memory.approve(saved.id).memory.approved_by == memory.caller.user
        changed = agent.remember("Ship whenever you like.", id="rule").memory
        assert (changed.approved_by, changed.approved_at) == (None, None)
        assert agent.revise("rule", content="Ship at night.").memory.approved_by is None

    def test_it_can_be_approved_once_more(self, memory: OnRecord) -> None:
        agent = memory.as_caller(replace(memory.caller, actor="agent"))
        agent.remember("Ship on Fridays.", id="rule")
        memory.approve("rule")
        agent.revise("rule", content="Ship on Mondays.")
        assert memory.approve("rule").changed

    def test_a_person_or_another_field_leaves_it_alone(self, memory: OnRecord) -> None:
        agent = memory.as_caller(replace(memory.caller, actor="agent"))
        agent.remember("Ship on Fridays.", id="rule")
        memory.approve("rule")
        assert agent.revise("rule", tags=["release"]).memory.approved_by == memory.caller.user
        assert memory.revise("rule", content="Ship on Mondays.").memory.approved_by == memory.caller.user
