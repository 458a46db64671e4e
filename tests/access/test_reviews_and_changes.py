"""WHAT becomes of an approval when someone wants another text?"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from onrecord import OnRecord, connect


@pytest.fixture
def memory() -> Iterator[OnRecord]:
    with connect(":memory:", embedder="none") as door:
        yield door


class TestAnApprovalIsOfOneText:
    def test_an_agent_that_wants_another_text_proposes_it(self, memory: OnRecord) -> None:
        agent = memory.as_caller(replace(memory.caller, actor="agent"))
        saved = agent.remember("Ship on Fridays.", id="rule").memory
        assert memory.approve(saved.id).memory.approved_by == memory.caller.user
        assert agent.remember("Ship whenever you like.", id="rule").outcome == "proposed"
        assert agent.revise("rule", content="Ship at night.").proposal is not None
        assert agent.revise("rule", tags=["release"]).proposal is not None
        kept = memory.show("rule").memory
        assert (kept.content, kept.tier, kept.tags) == ("Ship on Fridays.", "approved", ())

    def test_what_it_proposed_can_be_approved_too(self, memory: OnRecord) -> None:
        agent = memory.as_caller(replace(memory.caller, actor="agent"))
        agent.remember("Ship on Fridays.", id="rule")
        memory.approve("rule")
        proposal = agent.revise("rule", content="Ship on Mondays.").proposal
        assert proposal is not None
        assert memory.approve(proposal.id).memory.content == "Ship on Mondays."

    def test_a_reviewer_who_writes_another_text_approves_it(self, memory: OnRecord) -> None:
        agent = memory.as_caller(replace(memory.caller, actor="agent"))
        agent.remember("Ship on Fridays.", id="rule")
        memory.approve("rule")
        changed = memory.as_caller(replace(memory.caller, user="rae")).revise(
            "rule", content="Ship on Mondays."
        )
        assert (changed.memory.approved_by, changed.memory.author) == ("rae", "rae")
