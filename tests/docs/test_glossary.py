"""DOES every noun have its meaning? What a folder, a table, a port or a command is called stands in the glossary."""

import re
from pathlib import Path

from onrecord.features import OPERATIONS
from onrecord.store.tables import metadata

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "onrecord"
TERMS = {
    word
    for term in re.findall(r"\*\*([^*]+)\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    for word in re.findall(r"[a-z0-9]+", term.lower())
}
#: Words that mean what they mean everywhere.
PLAIN = {
    "api",
    "numbers",
    "settings",
    "facts",
    "source",
    "sources",
    "text",
    "times",
    "testing",
    "read",
    "model",
    "writable",
    "missing",
    "embed",
    "show",
    "many",
    "drop",
    "remove",
}
#: Names of other products.
PRODUCTS = {
    "sqlite",
    "postgres",
    "yaml",
    "rest",
    "mcp",
    "cli",
    "e5",
    "datamind",
    "arbiter",
    "slash",
    "checkstack",
    "data",
    "platform",
    "slayer",
}


def known(noun: str) -> bool:
    """A word, or its singular or the verb it comes from."""
    forms = {noun, noun.removesuffix("s"), re.sub(r"ies$", "y", noun), noun.removesuffix("es")}
    return bool(forms & (TERMS | PLAIN | PRODUCTS))


def unexplained(names: list[str]) -> list[str]:
    words = {word for name in names for word in re.findall(r"[A-Z]?[a-z0-9]+", name)}
    return sorted({word.lower() for word in words if not known(word.lower())})


def test_every_folder() -> None:
    folders = {path.parent.name for path in PACKAGE.rglob("*.py")} - {"onrecord", "versions"}
    assert unexplained(sorted(folders)) == []


def test_every_table() -> None:
    assert unexplained(sorted(metadata.tables)) == []


def test_every_protocol() -> None:
    """Those of a face are the words of another product."""
    ours = [path for path in PACKAGE.rglob("*.py") if "faces" not in path.relative_to(PACKAGE).parts]
    text = "\n".join(path.read_text(encoding="utf-8") for path in ours)
    assert unexplained(re.findall(r"^class (\w+)\([^)]*\bProtocol\b", text, re.MULTILINE)) == []


def test_every_noun_of_the_commands_and_routes() -> None:
    """The first word of a command that has two is the thing it is about; so is the first part of a route."""
    commands = {operation.command.split()[0] for operation in OPERATIONS if operation.command}
    routes = {
        part
        for operation in OPERATIONS
        for part in (operation.route or "").partition(" /")[2].split("/")
        if part and "{" not in part
    }
    assert unexplained(sorted(commands | routes)) == []


def test_no_word_has_two_entries() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    first = re.findall(r"^\*\*([^*]+)\*\*", text, re.MULTILINE)
    assert sorted({word for word in first if first.count(word) > 1}) == []


def test_it_denies_nothing_that_exists() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert re.findall(r"none yet|no code yet|not yet", text) == []
