"""DO the examples do what they say? Every block of code in the documentation and every example is run.

In a page the python blocks run top to bottom in one namespace, and so do the console blocks against one store.
A text block right after a python block is what it prints. `…` in expected output stands for anything on its line,
and a line with nothing else for any number of lines.
"""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from onrecord.surfaces.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/README.md")])
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language, its text, and what stands between it and the one before."""

    language: str
    text: str
    line: int
    follows: bool


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], match[2], line, follows=not text[end : match.start()].strip()))
        end = match.end()
    return found


def pages_with(*languages: str) -> list[object]:
    held = [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in held]


def assert_alike(shown: str, printed: str, where: str) -> None:
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.rstrip().split("…"))) + r"\n"
        for line in shown.strip("\n").splitlines()
    )
    told = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    assert re.fullmatch(pattern, told), f"{where} prints\n\n{printed}\nand not\n\n{shown}"


@pytest.mark.parametrize("page", pages_with("python"))
def test_the_python_of_a_page_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONRECORD_DB", str(tmp_path / "page.db"))
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = io.StringIO()
    for block in blocks_of(page):
        where = f"{page.name}:{block.line}"
        if block.language == "python":
            printed = io.StringIO()
            # Lines that stand before the block keep the line numbers of a traceback true.
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, namespace)
        elif block.language == "text" and block.follows:
            assert_alike(block.text, printed.getvalue(), where)


class Shell:
    """The few things that the console blocks ask of a shell, without the time that processes take."""

    def __init__(self, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.environment = environment
        self._monkeypatch = monkeypatch
        self.code = 0

    def run(self, line: str) -> str | None:
        """What a line prints, or None if it is not ours to run."""
        line = re.sub(r"\$(\w+)", lambda name: self.environment.get(name[1], name[0]), line)
        if line == "echo $?":
            return f"{self.code}\n"
        self.code = 0
        command, _, target = line.partition(" > ")
        said, _, command = command.rpartition(" | ")
        words = shlex.split(command, comments=True)
        if words[0] == "export":
            self._set(words[1])
            return ""
        while "=" in words[0]:
            self._set(words.pop(0))
        if words[0] != "onrecord":
            return None
        printed = self._call(words[1:], _echoed(said))
        if target:
            Path(target.strip()).write_text(printed, encoding="utf-8")
            return ""
        return printed

    def _set(self, assignment: str) -> None:
        name, _, value = assignment.partition("=")
        self._monkeypatch.setenv(name, value)

    def _call(self, words: list[str], typed: str) -> str:
        printed = io.StringIO()
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            pytest.raises(SystemExit) as left,
        ):
            main(words)
        self.code = int(left.value.code or 0)
        return printed.getvalue()


def _echoed(said: str) -> str:
    """What `echo` or `cat` before a pipe sends into it."""
    words = shlex.split(said)
    if not words:
        return ""
    if words[0] == "cat":
        return Path(words[1]).read_text(encoding="utf-8")
    assert words[0] == "echo", said
    return " ".join(words[1:]) + "\n"


def commands_of(block: Block) -> list[tuple[str, str]]:
    """Each command of a console block with the output that is shown for it."""
    found: list[tuple[str, str]] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


@pytest.mark.parametrize("page", pages_with("console", "sh"))
def test_the_commands_of_a_page_run_and_print_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONRECORD_DB", "page.db")
    shutil.copytree(ROOT / "examples", "examples")
    shell = Shell({}, monkeypatch)
    for block in blocks_of(page):
        if block.language not in ("console", "sh"):
            continue
        for command, shown in commands_of(block):
            if "$DSN" in command and not shell.environment:
                shell.environment["DSN"] = request.getfixturevalue("postgres_dsn")
            printed = shell.run(command)
            where = f"{page.name}:{block.line}: {command}"
            if printed is not None and shown:
                assert_alike(shown, printed, where)
            elif printed is not None:
                assert shell.code == 0, f"{where}\n{printed}"


@pytest.mark.parametrize("example", [pytest.param(path, id=path.name) for path in EXAMPLES])
def test_an_example_runs_and_prints_what_it_promises(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example), str(tmp_path / "example.db")])
    with patch.dict(os.environ):
        told = runpy.run_path(str(example), run_name="__main__")["__doc__"]
    printed = capsys.readouterr().out
    _, _, promised = told.partition("Prints:\n")
    if promised:
        wanted = "\n".join(line.removeprefix("    ") for line in promised.strip("\n").splitlines())
        assert printed.strip() == wanted.strip()
    assert printed.strip(), "an example shows something"


def test_the_gate_runs_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    assert "make demo\n" in readme
    assert "make test\n" in readme
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").strip().endswith("exec make test")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_every_link_within_the_documentation_leads_somewhere() -> None:
    broken = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if target.startswith(("http://", "https://")):
                continue
            path, _, anchor = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            if not linked.exists() or (anchor and anchor not in anchors_of(linked)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_promise_of_the_readme_names_a_test_that_is_there() -> None:
    promised = re.findall(r"\[`(test_\w+)`\]\((\S+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert promised
    missing = [
        name for name, path in promised if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_the_shop_of_the_examples_is_that_of_the_demo() -> None:
    """The package brings its own, since it is installed without the examples."""

    def files(folder: Path) -> dict[str, str]:
        return {str(each.relative_to(folder)): each.read_text() for each in folder.rglob("*.yaml")}

    assert files(ROOT / "examples" / "shop") == files(ROOT / "src" / "onrecord" / "demo" / "shop")
