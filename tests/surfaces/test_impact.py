"""CAN a pull request be told what it would make stale? At the shell, over HTTP, and by the workflow of the examples."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import Served, Shell

pytestmark = pytest.mark.usefixtures("words_alone")
EXAMPLES = Path(__file__).parents[2] / "examples"
WORKFLOW = EXAMPLES / "workflows" / "impact.yml"


@pytest.fixture
def known(shell: Shell, tmp_path: Path) -> Shell:
    """A shell with a store that knows the shop of the examples, and something of its amounts."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    shell("ingest", "examples/shop")
    shell("remember", "Amounts are in cents.", "--entity", "orders.amount")
    return shell


def test_the_exit_code_tells_a_machine_and_the_words_a_person(known: Shell) -> None:
    migration = "examples/shop_next/migration.sql"
    told = known("impact", migration)
    assert (told.code, "#1 of ann stale: shop.orders.amount is gone" in told.out) == (7, True)
    assert known("impact", "examples/shop_next").code == 7
    as_json = known("impact", migration, "--json")
    assert (as_json.code, as_json.json["total"], as_json.json["healthy"]) == (7, 1, False)
    markdown = known("impact", migration, "--format", "markdown")
    assert markdown.out.startswith("## Memories that this change would make stale\n\n### Memories (1)\n")
    nothing = known("impact", "examples/shop")
    assert (nothing.code, nothing.out) == (0, "Nothing that is known here would go stale.\n")
    assert known("impact", "--sql", "ALTER TABLE orders FROBNICATE").code == 7
    assert known("impact", "examples/nowhere.sql").code == 2
    assert known("impact", "examples/shop", "--db", "nowhere.db").code == 6
    assert known("browse", "--status", "stale").out.startswith("Nothing")


def test_over_http_the_sql_is_sent_and_no_file_is_read(served: Callable[..., Served]) -> None:
    server = served(sources=str(EXAMPLES / "shop"))
    server.parts.door.ingest(str(EXAMPLES / "shop"))
    server.parts.door.remember("Amounts are in cents.", entities=["orders.amount"])
    path = str(EXAMPLES / "shop_next" / "migration.sql")
    assert server.client.post("/v1/impact", json={"path": path}).status_code == 403
    sent = server.client.post("/v1/impact", json={"sql": Path(path).read_text(), "format": "markdown"})
    assert (sent.status_code, sent.json()["total"]) == (200, 1)
    assert "shop.orders.amount is gone" in sent.json()["markdown"].replace("\\", "")


def step(name: str, workflow: dict[str, Any]) -> dict[str, Any]:
    (found,) = [each for each in workflow["jobs"]["impact"]["steps"] if each.get("name") == name]
    return dict(found)


@pytest.mark.parametrize(
    ("source", "code"), [("examples/shop_next", "7"), ("examples/shop", "0"), ("examples/x", "2")]
)
def test_the_workflow_of_the_examples_runs(source: str, code: str, known: Shell, tmp_path: Path) -> None:
    """Each step as the runner would run it, but for checking out, installing, and the service that takes comments."""
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    # YAML reads `on` as true.
    assert "pull_request" in workflow[True]
    assert "onrecord[sql,postgres]" in step("Install OnRecord", workflow)["run"]
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "onrecord").write_text(
        f'#!/bin/sh\nexec {shlex.join(known.command)} "$@"\n', encoding="utf-8"
    )
    (commands / "gh").write_text('#!/bin/sh\necho "$@" > told\ncat "$5" >> told\n', encoding="utf-8")
    for each in commands.iterdir():
        each.chmod(0o755)
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    environment = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(summary),
        "IMPACT_PATH": source,
    }

    def run(script: str) -> int:
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script], env=environment, check=False
        ).returncode

    assert run(step("What would go stale?", workflow)["run"]) == 0
    assert outputs.read_text() == f"code={code}\n"
    tell = step("Tell the pull request", workflow)
    assert tell["if"] == "steps.impact.outputs.code == '7'"
    filled = {"github.event.pull_request.number": "7", "steps.impact.outputs.code": code}
    expression = re.compile(r"\$\{\{ (\S+) \}\}")

    def fill(script: str) -> str:
        return expression.sub(lambda found: filled[found[1]], script)

    if code == "7":
        assert run(fill(tell["run"])) == 0
        told = Path("told").read_text(encoding="utf-8")
        assert told.startswith(
            "pr comment 7 --body-file impact.md\n## Memories that this change would make stale"
        )
        assert summary.read_text(encoding="utf-8") in told
    assert run(fill(step("Fail if a memory would go stale", workflow)["run"])) == int(code)
