"""What may an admin, an import and an unattended run not do?"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from onrecord import Caller, OnRecord
from onrecord.errors import Forbidden
from onrecord.model.limits import PERMISSIONS


def test_an_admin_of_one_tenant_cannot_touch_the_others(memory: OnRecord, tmp_path: Path) -> None:
    memory.remember("of the first tenant")
    other = memory.as_caller(Caller(tenant="other", user="eve", permissions=frozenset(PERMISSIONS)))
    path = str(tmp_path / "export.jsonl")
    memory.export(path)
    for attempt in (
        lambda: other.export(str(tmp_path / "all.jsonl"), all_tenants=True),
        lambda: other.import_(path, keep_tenants=True),
        lambda: other.backup(str(tmp_path / "copy")),
    ):
        with pytest.raises(Forbidden, match="every tenant"):
            attempt()
    assert other.export(str(tmp_path / "own.jsonl")).memories == 0


def test_a_word_that_every_memory_holds_still_has_a_score(memory: OnRecord) -> None:
    for number in range(30):
        memory.remember(f"the number {number}")
    hits = memory.recall("the").hits
    assert len(hits) == 10
    assert all(hit.score > 0 for hit in hits)


def test_an_import_that_skips_conflicts_draws_no_edges_between_what_it_left_alone(
    memory: OnRecord, tmp_path: Path
) -> None:
    path = tmp_path / "export.jsonl"
    for text in ("cats", "dogs"):
        memory.remember(text)
    memory.relate("1", "supports", "2")
    memory.export(str(path))
    elsewhere = memory.as_caller(replace(memory.caller, tenant="elsewhere"))
    for text in ("rockets", "planets"):
        elsewhere.remember(text)
    assert json.loads(path.read_text().splitlines()[-1])["relation"]["relation"] == "supports"
    imported = elsewhere.import_(str(path), skip_conflicts=True)
    assert (imported.conflicts, imported.relations) == (("1", "2"), 0)
    assert elsewhere.neighbours("1").edges == ()


def test_an_unattended_run_cannot_approve_its_own_proposal(memory: OnRecord) -> None:
    rules = frozenset({"memory.read", "memory.manage", "memory.review"})
    robot = memory.as_caller(
        Caller(tenant=memory.caller.tenant, user="robot", permissions=rules, actor="unattended")
    )
    proposal = robot.remember("the cache is always safe to clear").memory
    assert proposal.status == "pending"
    with pytest.raises(Forbidden, match="waits for review"):
        robot.revise(proposal.id, status="active")
    assert memory.show(proposal.id).memory.status == "pending"
