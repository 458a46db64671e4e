"""DOES the map match the land? Each folder is named in ARCHITECTURE.md, and what is named there exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "onrecord"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([\w/]+)/` \| [A-Z][^|?]+\?", TEXT, re.MULTILINE)


def folders() -> list[str]:
    """The folders of the package that hold code, but for the numbered steps, which belong to their parent."""
    found = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}
    return sorted(str(path) for path in found if str(path) != "." and path.name != "versions")


def test_every_folder_has_a_row_with_its_question() -> None:
    assert sorted(set(ROWS) & set(folders())) == folders()


def test_every_file_and_folder_that_is_named_exists() -> None:
    named = re.findall(r"`([\w./]+(?:\.py|/))`", TEXT)
    assert len(named) > len(ROWS)
    missing = [name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()]
    assert missing == []


def test_every_file_at_the_top_of_the_package_is_named() -> None:
    files = [path.name for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    assert [name for name in files if f"| `{name}` |" not in TEXT] == []


def test_every_folder_of_the_repository_is_named() -> None:
    made = {".git", ".venv", "src", "build", "dist"}
    around = [
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and path.name not in made and not path.name.endswith(("_cache", ".egg-info"))
    ]
    assert [name for name in around if f"`{name}/`" not in TEXT and not _is_ignored(name)] == []


def _is_ignored(folder: str) -> bool:
    return f"{folder}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_order_of_imports_is_the_one_that_is_checked() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = project["tool"]["importlinter"]["contracts"][0]
    checked = [
        [name.strip(" ()").removeprefix("onrecord.") for name in layer.split("|")]
        for layer in contract["layers"]
    ]
    drawn = re.search(r"From the top:\n\n((?:    .+\n)+)", TEXT)
    assert drawn is not None
    assert [line.split() for line in drawn[1].splitlines()] == checked


def test_a_module_begins_with_the_question_that_it_answers() -> None:
    silent = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if not path.read_text(encoding="utf-8").startswith('"""')
    ]
    assert silent == []
