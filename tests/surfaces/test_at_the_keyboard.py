"""WHAT helps whoever types a command? Names that are spelt one way, others that are understood, and the tab key."""

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import click
import pytest

from onrecord.model import limits
from onrecord.surfaces.cli import main
from onrecord.surfaces.cli.group import command_group

from .conftest import Said


def contexts(command: click.Command, parent: click.Context | None = None) -> Iterator[click.Context]:
    """Every command as the parser meets it."""
    context = click.Context(command, parent=parent, info_name=command.name, **command.context_settings)
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from contexts(each, context)
    yield context


def options(context: click.Context) -> list[click.Option]:
    return [each for each in context.command.params if isinstance(each, click.Option)]


class TestSpelling:
    def test_no_option_has_an_underscore_in_its_name(self) -> None:
        spelt = [
            name for context in contexts(command_group()) for each in options(context) for name in (*each.opts, *each.secondary_opts)
        ]  # fmt: skip
        assert [name for name in spelt if "_" in name] == []
        assert "--only-kind" in spelt

    def test_every_one_is_understood_with_underscores_too(self) -> None:
        tried = 0
        for context in contexts(command_group()):
            parser = context.command.make_parser(context)
            for option in options(context):
                for name in filter(re.compile(r"--\w+-").match, (*option.opts, *option.secondary_opts)):
                    spelt = "--" + name.removeprefix("--").replace("-", "_")
                    read, left, _ = parser.parse_args([spelt] if option.is_flag else [spelt, "x"])
                    assert option.name in read, spelt
                    assert left == []
                    tried += 1
        assert tried > 50

    def test_a_field_may_be_written_as_it_is_called_in_python(self, filled: Any) -> None:
        for option in ("--only-kind", "--only_kind"):
            said = filled("recall", "revenue is net", option, "learning", "--json")
            assert said.code == 0
            assert {hit["memory"]["kind"] for hit in said.json["hits"]} <= {"learning"}

    def test_the_help_has_one_spelling(self, shell: Any) -> None:
        assert not re.search(r"--[a-z]+_", shell("recall", "--help").out)

    def test_what_is_no_option_is_refused_as_it_was_typed(self, shell: Any) -> None:
        said = shell("recall", "x", "--only_colour", "red")
        assert said.code == 2
        assert "No such option" in said.err


def completed(shell: Any, line: str, style: str = "bash", *, in_a_process: bool = False) -> list[str]:
    """What the shell is told when the tab key is pressed at the end of a line: the very protocol of its script."""
    words = line.split(" ")
    environment = {"_ONRECORD_COMPLETE": f"{style}_complete"}
    if style == "fish":
        environment |= {"COMP_WORDS": " ".join(words), "COMP_CWORD": words[-1]}
    else:
        environment |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        said = shell.process(anew=True) if in_a_process else _said_here()
    assert (said.code, said.err) == (0, "")
    if style == "zsh":
        return said.out.splitlines()[1::3]
    return [told.split(",", 1)[1].split("\t")[0] for told in said.out.splitlines()]


def _said_here() -> Said:
    """Without a process. What completes writes bytes, so it needs a stream that takes them."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
        main(())
    out.flush()
    return Said(int(left.value.code or 0), out.buffer.getvalue().decode(), err.getvalue())  # type: ignore[attr-defined]


class TestTheTabKey:
    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("onrecord rec", ["recall"]),
            ("onrecord keys re", ["revoke"]),
            ("onrecord recall --kind de", ["decision"]),
            ("onrecord remember x --scope ", list(limits.SCOPES)),
            ("onrecord browse --status a", ["active", "archived"]),
            ("onrecord browse --status stale,a", ["stale,active", "stale,archived"]),
            ("onrecord relate 1 s", ["supersedes", "supports"]),
            ("onrecord recall x --recipe s", ["semantic"]),
            ("onrecord inspect orders --section me", ["measures"]),
            ("onrecord keys create --permission memory.a", ["memory.admin"]),
            ("onrecord keys create --actor un", ["unattended"]),
            ("onrecord context --part b", ["briefing"]),
            ("onrecord mcp --face s", ["slayer"]),
            ("onrecord serve --face native,fu", ["native,full"]),
            ("onrecord install cl", ["claude-desktop", "claude-code"]),
            ("onrecord recall --only-k", ["--only-kind"]),
        ],
    )
    def test_it_completes_commands_options_and_closed_lists(
        self, shell: Any, line: str, told: list[str]
    ) -> None:
        assert completed(shell, line) == told

    @pytest.mark.parametrize("style", ["zsh", "fish"])
    def test_other_shells_are_told_the_same(self, shell: Any, style: str) -> None:
        told = completed(shell, "onrecord browse --status a", style, in_a_process=True)
        assert told == ["active", "archived"]

    @pytest.mark.parametrize("style", ["bash", "zsh", "fish"])
    def test_a_script_for_the_shell_is_printed(self, shell: Any, style: str) -> None:
        said = shell.process(anew=True, _ONRECORD_COMPLETE=f"{style}_source")
        assert said.code == 0
        assert "_ONRECORD_COMPLETE" in said.out

    def test_it_opens_no_store(self, shell: Any, tmp_path: Any) -> None:
        before = sorted(tmp_path.rglob("*"))
        completed(shell, "onrecord --version recall --kind ", in_a_process=True)
        assert sorted(tmp_path.rglob("*")) == before

    def test_what_is_typed_is_still_refused_in_our_own_words(self, filled: Any) -> None:
        said = filled("browse", "--status", "actve")
        assert said.code == 2
        assert "did you mean active?" in said.err
