"""IS everything documented? What can be asked, set and expected stands in the pages, as the code has it."""

import os
import re
import runpy
import tomllib
from pathlib import Path

import pytest

from onrecord import errors
from onrecord.config import load
from onrecord.features import OPERATIONS
from onrecord.model import limits
from onrecord.recall.recall import LAYERS
from onrecord.remember.remember import STEPS
from onrecord.surfaces.cli import EXIT_CODES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_reference_is_up_to_date() -> None:
    generated = runpy.run_path(str(DOCS / "generate.py"))["page"]()
    assert read("docs/reference.md") == generated, "run `make docs`"


NAMES = [operation.name.rstrip("_").replace("_", "-") for operation in OPERATIONS]
COMMANDS = [operation.command for operation in OPERATIONS if operation.command is not None]


@pytest.mark.parametrize("command", [*COMMANDS, "config"])
def test_every_command_is_shown_where_people_learn_it(command: str) -> None:
    pages = read("docs/guide.md") + read("docs/serving.md")
    assert re.search(rf"^\$ (?:.* \| )?onrecord (?:--\w+ \S+ )?{command}\b", pages, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_is_in_the_reference(name: str) -> None:
    assert f"\n### {name}\n" in read("docs/reference.md")


@pytest.mark.parametrize(
    "setting", [setting.name for setting in load({"ONRECORD_CONFIG": os.devnull}).settings]
)
def test_every_setting_is_in_the_guide_and_the_reference(setting: str) -> None:
    for page in ("docs/guide.md", "docs/reference.md"):
        assert f"`ONRECORD_{setting.upper()}`" in read(page), page


@pytest.mark.parametrize("name", [each.__name__ for each in (*STEPS, *LAYERS)])
def test_every_step_and_layer_is_in_the_architecture_and_the_reference(name: str) -> None:
    for page in ("ARCHITECTURE.md", "docs/reference.md"):
        assert f"`{name}`" in read(page), page


@pytest.mark.parametrize(
    "name",
    [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)],
)
def test_every_error_is_in_the_guide(name: str) -> None:
    assert f"`{name}`" in read("docs/guide.md")


@pytest.mark.parametrize(("kind", "code"), EXIT_CODES)
def test_every_exit_code_is_in_the_guide_with_its_error(kind: type[Exception], code: int) -> None:
    assert re.search(rf"^\| {code} \| .*`{kind.__name__}`", read("docs/guide.md"), re.MULTILINE)


@pytest.mark.parametrize(
    "word",
    [
        *limits.KINDS,
        *limits.DIMENSIONS,
        *limits.RELATIONS,
        *limits.STATUSES,
        *limits.SCOPES,
        *limits.PERMISSIONS,
    ],
)
def test_every_closed_list_is_in_the_glossary(word: str) -> None:
    assert re.search(rf"\b{re.escape(word)}\b", read("docs/glossary.md"))


def dependencies() -> list[str]:
    project = tomllib.loads(read("pyproject.toml"))
    listed = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(each for extra in project["project"].get("optional-dependencies", {}).values() for each in extra),
        *(each for group in project.get("dependency-groups", {}).values() for each in group),
    ]
    return sorted({re.split(r"[\[<>=~! ;]", each)[0] for each in listed})


@pytest.mark.parametrize("package", dependencies())
def test_every_dependency_says_why_it_is_there(package: str) -> None:
    assert re.search(rf"^\| `{re.escape(package)}` \| .+ \|$", read("docs/dependencies.md"), re.MULTILINE)


def test_no_dependency_is_justified_that_is_not_there() -> None:
    justified = set(re.findall(r"^\| `([\w-]+)` \|", read("docs/dependencies.md"), re.MULTILINE))
    assert justified == set(dependencies())


def test_every_decision_is_in_the_index() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    records = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))
    assert re.findall(r"\((\d{4}-[\w-]+\.md)\)", index) == records


def test_every_page_is_in_the_index_of_the_documentation() -> None:
    index = read("docs/README.md")
    pages = [path.name for path in DOCS.glob("*.md") if path.name != "README.md"]
    assert [name for name in pages if f"({name})" not in index] == []
