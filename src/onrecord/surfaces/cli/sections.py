"""WHERE in the help is a command? In the section of its feature."""

from typing import Any, Final

import click

from onrecord.operation import Operation

AGENTS: Final = "Agents and servers"
VOCABULARIES: Final = "Other vocabularies"
CARE: Final = "Care of the store"
_MEMORIES, _QUESTIONS = "Memories", "Questions"
#: By the folder that its feature lives in.
_HOMES: Final = {
    "remember": _MEMORIES,
    "recall": _QUESTIONS,
    "context": _QUESTIONS,
    "catalog": "Catalog",
    "review": "Catalog",
    "checks": "Checks",
    "workspace": "Workspace",
    "access": "Access",
    "care": CARE,
}
#: In the order in which people meet them.
SECTIONS: Final = (*dict.fromkeys(_HOMES.values()), AGENTS, VOCABULARIES)

#: The first sentence of a help, however long it is.
_WHOLE: Final = 1_000


def section_of(operation: Operation) -> str:
    return _HOMES[operation.function.__module__.split(".")[1]]


class OrderedGroup(click.Group):
    """Commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class SectionedGroup(OrderedGroup):
    """The same, under the headings of their sections."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.sections: dict[str, list[str]] = {section: [] for section in SECTIONS}

    def put(self, section: str, *commands: click.Command) -> None:
        """Add commands under a heading; an existing group stays where it is."""
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
            rows = [(name.ljust(width), self.commands[name].get_short_help_str(_WHOLE)) for name in names]
            with formatter.section(section):
                formatter.write_dl(rows)
