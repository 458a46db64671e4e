"""DO we speak the protocol as its own conformance suite has it? In both eras, before a real server.

The suite is a package of npm. Most of its scenarios want tools that only a server made for it has; those that are about any
server are run here.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

MODULES: Final = Path(
    os.environ.get("ONRECORD_TEST_CONFORMANCE", Path(sys.prefix) / "conformance" / "node_modules")
)
SUITE: Final = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SCENARIOS: Final = (
    "server-initialize",
    "server-stateless",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "sep-2164-resource-not-found",
    "caching",
    "http-header-validation",
    "dns-rebinding-protection",
)
#: These want tools for diagnosis, and say so.
UNTESTABLE: Final = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}


def node() -> str:
    """A Node that is new enough: the one that came with the suite, else the machine's."""
    return next((str(each) for each in MODULES.glob("node-*/bin/node")), shutil.which("node") or "node")


@pytest.mark.skipif(
    not SUITE.exists(), reason="the suite is not installed (make test does, where there is npm)"
)
def test_the_conformance_suite_of_the_protocol_finds_nothing(server: Any, tmp_path: Path) -> None:
    words = ["server", "--url", f"{server.url}/mcp", "--suite", "all", "-o", str(tmp_path)]
    done = subprocess.run([node(), str(SUITE), *words], capture_output=True, check=False, text=True)
    for scenario in SCENARIOS:
        reports = list(tmp_path.glob(f"server-{scenario}-2*/checks.json"))
        assert len(reports) == 1, (scenario, done.stdout, done.stderr)
        checks = json.loads(reports[0].read_text())
        assert any(each["status"] == "SUCCESS" for each in checks), (scenario, checks)
        wrong = {each["id"]: each.get("errorMessage") for each in checks if each["status"] == "FAILURE"}
        unasked = {id for id, message in wrong.items() if id in UNTESTABLE and "Not testable" in str(message)}
        assert wrong.keys() == unasked, (scenario, wrong)
