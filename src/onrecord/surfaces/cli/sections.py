"""WHERE in the help does a command stand? Under what it is about, which is where its request lives."""

from typing import Any, Final

import click

from onrecord.service import Operation

AGENTS: Final = "Agents and servers"
VOCABULARIES: Final = "Other vocabularies"
CARE: Final = "Care of the store"
_MEMORIES, _QUESTIONS = "Memories", "Questions"
#: By the file of `model/requests/` that its request is in.
_HOMES: Final = {
    "memories": _MEMORIES,
    "context": _QUESTIONS,
    "catalog": "Catalog",
    "workspace": "Workspace",
    "access": "Review and access",
    "care": CARE,
}
#: In the order in which people meet them.
SECTIONS: Final = (_MEMORIES, _QUESTIONS, *list(_HOMES.values())[2:], AGENTS, VOCABULARIES)

#: The first sentence of a help, however long it is.
_WHOLE: Final = 1_000


def section_of(operation: Operation) -> str:
    section = _HOMES[operation.request.__module__.rpartition(".")[2]]
    # To keep a memory and to ask for one are in one file, and two things to whoever looks for a command.
    return _QUESTIONS if section == _MEMORIES and operation.effect == "read" else section


class InOrder(click.Group):
    """Commands in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Sectioned(InOrder):
    """The same, under the headings of their sections."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.sections: dict[str, list[str]] = {section: [] for section in SECTIONS}

    def put(self, section: str, *commands: click.Command) -> None:
        """Add commands under a heading; a group that is there already stays where it is."""
        for command in commands:
            name = str(command.name)
            if name not in self.commands:
                self.sections[section].append(name)
            self.add_command(command)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in self.sections.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # As wide in one section as in the others, so that all texts begin in one column.
        width = max(map(len, self.commands))
        for section, names in self.sections.items():
            told = [(name.ljust(width), self.commands[name].get_short_help_str(_WHOLE)) for name in names]
            with formatter.section(section):
                formatter.write_dl(told)
