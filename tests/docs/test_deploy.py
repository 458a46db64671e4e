"""DO the files that set up a server name what there is? Extras, settings, routes, and a unit that systemd reads."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from onrecord.config import load
from onrecord.surfaces.serving import health

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SETTINGS = {f"ONRECORD_{each.name.upper()}" for each in load({"ONRECORD_CONFIG": "/dev/null"}).settings}


@pytest.mark.parametrize(
    "name", ["deploy/Dockerfile", "deploy/compose.yaml", "deploy/onrecord.service", "docs/deploy.md"]
)
def test_every_setting_is_one(name: str) -> None:
    named = set(re.findall(r"\bONRECORD_[A-Z_]+\b", (ROOT / name).read_text()))
    assert named
    assert named <= SETTINGS


def test_the_image_has_what_a_server_needs_and_asks_it_how_it_is() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    installed = re.search(r"'\.\[(.+)\]'", dockerfile)
    assert installed is not None
    assert {"server", "postgres"} <= set(installed[1].split(",")) <= set(extras)
    asked = re.search(r"127\.0\.0\.1:8321(/[\w/]+)", dockerfile)
    assert asked is not None
    assert asked[1] in {route.path for route in health.routes(None, None)}  # type: ignore[arg-type]
    assert re.search(r"^USER onrecord$", dockerfile, re.MULTILINE)


def test_the_composition_holds_a_database_with_vectors_and_runs_without_rights() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services["database"]["image"].startswith("pgvector/")
    ours = services["onrecord"]
    assert (ours["read_only"], ours["cap_drop"], ours["ports"]) == (True, ["ALL"], ["127.0.0.1:8321:8321"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "onrecord.service"
    text = (DEPLOY / "onrecord.service").read_text()
    unit.write_text(text.replace("/opt/onrecord/bin/onrecord", "/bin/true"))
    told = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert [line for line in told.stderr.splitlines() if "onrecord.service" in line] == []
