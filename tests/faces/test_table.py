"""IS a face one folder? The table of faces against the folders, the pages and the help."""

import re
from pathlib import Path

import click
import pytest

import onrecord
from onrecord.faces import SETTINGS, TABLE, USUAL, WITH_TOOLS
from onrecord.surfaces.cli.group import command_group
from onrecord.surfaces.mcp.faces import FACES

PACKAGE = Path(onrecord.__file__).parent
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("faces/*/__init__.py"))
BY_NAME = {face.name: face for face in TABLE}


def test_every_folder_is_in_the_table_and_has_its_page() -> None:
    assert set(FOLDERS) <= set(BY_NAME)
    assert [name for name in FOLDERS if not (PACKAGE / "faces" / name / "README.md").exists()] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_a_face_has_in_its_folder_what_the_table_says_and_nothing_else_of_the_kind(name: str) -> None:
    for part in ("tools", "routes", "commands"):
        is_there = (PACKAGE / "faces" / name / f"{part}.py").exists()
        assert getattr(BY_NAME[name], part) == (f"onrecord.faces.{name}.{part}" if is_there else None)


def test_a_page_links_to_every_face() -> None:
    told = (PACKAGE.parents[1] / "docs" / "README.md").read_text(encoding="utf-8")
    assert [name for name in FOLDERS if f"onrecord/faces/{name}/README.md" not in told] == []


@pytest.mark.parametrize("command", ["mcp", "serve", "install"])
def test_every_help_lists_the_faces_of_the_table(command: str) -> None:
    group = command_group()
    context = click.Context(group.commands[command], info_name=command)
    said = " ".join(group.commands[command].get_help(context).split())
    assert all(face.name in said and face.summary in said for face in WITH_TOOLS.values())
    assert f"{USUAL} (the usual one)" in said


def test_the_tools_are_those_of_the_table() -> None:
    assert list(FACES) == list(WITH_TOOLS)
    assert all(FACES[name] for name in WITH_TOOLS)


def test_nothing_below_the_faces_and_surfaces_is_named_after_one() -> None:
    """What the core can do for one of them it can do for everyone."""
    names = re.compile("|".join(FOLDERS), re.IGNORECASE)
    named = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in ("faces", "surfaces")
        and names.search(path.read_text(encoding="utf-8"))
    ]
    assert named == []


def test_no_two_faces_have_a_setting_of_one_name() -> None:
    names = [setting.name for setting in SETTINGS]
    assert len(names) == len(set(names))
