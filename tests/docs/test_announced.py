"""DO the files that programs read say what there is? The man page, the page of a package index, and the entries of registries."""

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from onrecord import __version__

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MANUAL = ROOT / "src" / "onrecord" / "surfaces" / "cli" / "onrecord.1"


def test_what_is_announced_is_up_to_date() -> None:
    announce = runpy.run_path(str(DOCS / "announce.py"))
    written = {
        MANUAL: runpy.run_path(str(DOCS / "manual.py"))["page"](),
        ROOT / "llms.txt": announce["llms"](),
        ROOT / "server.json": announce["server"](),
    }
    for file, text in written.items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run `make docs`"


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_the_man_page_is_one() -> None:
    told = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", str(MANUAL)], capture_output=True, text=True, check=True
    )
    assert told.stderr == ""
    # Bold letters are struck twice, or coloured.
    assert "onrecord remember" in re.sub(r".\x08|\x1b\[\d*m", "", told.stdout)


def test_the_page_of_a_package_index_leads_nowhere_that_is_not_there() -> None:
    project = ProjectMetadata(str(ROOT), PluginManager()).core
    repository = project.urls["Repository"]
    links = re.findall(r"(?:\]\(|src=\"|srcset=\")([^)\"]+)", project.readme)
    assert len(links) > 40
    for link in links:
        assert link.startswith(("https://", "#")), link
        if link.startswith(repository):
            path = link.removeprefix(f"{repository}/").partition("/main/")[2].partition("#")[0]
            assert (ROOT / path).exists(), link


def test_registries_are_told_one_name_and_one_version() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    plugin = json.loads((ROOT / "plugins/claude-code/.claude-plugin/plugin.json").read_text(encoding="utf-8"))
    versions = {server["version"], server["packages"][0]["version"], plugin["version"]}
    assert versions == {__version__}
    # By this line the registry sees that the package is ours.
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(server["description"]) <= 100
