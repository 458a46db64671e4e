"""WHICH vocabularies are spoken here? The table of the faces; each has a folder of its own, loaded when it is needed.

A face translates the words of one other system to our operations and back. Its folder holds everything in those words:
the translation, the tools for agents (`tools.py`, and `opening.py` if they depend on settings), the routes for
programs (`routes.py`), the commands for a shell (`commands.py`), its search as the
evaluation asks it (`evaluating.py`), and its page (`README.md`). `native` and `full` use
our own words and have only tools.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Literal

Part = Literal["tools", "routes", "commands", "opening", "evaluating"]


@dataclass(frozen=True, slots=True)
class FaceSetting:
    """A setting of one face alone: its name, its default and its help text."""

    name: str
    default: str
    help: str


@dataclass(frozen=True, slots=True)
class Face:
    """One vocabulary: its name, a few words about it, and the modules of its parts."""

    name: str
    summary: str
    #: Has TOOLS, for agents over MCP.
    tools: str | None = None
    #: Has HTTP, for programs.
    routes: str | None = None
    #: Has `commands()`, for the command line.
    commands: str | None = None
    #: Has `tools(config, door)` and `is_kept_elsewhere(config)`, if its tools depend on its settings.
    opening: str | None = None
    #: Has SEARCH: how its users search, and how their texts are kept, for `onrecord eval --through`.
    evaluating: str | None = None
    #: Settings of this face alone, in addition to the general ones.
    settings: tuple[FaceSetting, ...] = ()
    #: By setting: the environment variable of the other system that its users have set already. Ours takes precedence.
    variables: Mapping[str, str] = field(default_factory=dict)

    def load(self, part: Part) -> Any:
        """The module of a part, which the face must have."""
        return import_module(getattr(self, part))


#: In the order of every listing; the first is the default.
TABLE: Final = (
    Face("native", "six tools for any agent", tools="onrecord.surfaces.mcp.native"),
    Face("full", "a tool for every operation", tools="onrecord.surfaces.mcp.full"),
    Face(
        "slayer",
        "the words of the slayer semantic layer",
        tools="onrecord.faces.slayer.tools",
        routes="onrecord.faces.slayer.routes",
        commands="onrecord.faces.slayer.commands",
        evaluating="onrecord.faces.slayer.evaluating",
    ),
    Face(
        "datamind",
        "the words of datamind",
        tools="onrecord.faces.datamind.tools",
        routes="onrecord.faces.datamind.routes",
        opening="onrecord.faces.datamind.opening",
        evaluating="onrecord.faces.datamind.evaluating",
        settings=(
            FaceSetting(
                "long_term",
                "yes",
                "Whether the classes and tools of the datamind face keep anything for longer than that: yes or no.",
            ),
            FaceSetting(
                "backend",
                "sqlite",
                "Which store those use, by the name it is registered under: sqlite, postgres, or one of your own as "
                "MODULE:NAME.",
            ),
        ),
        variables={
            "db": "DATAMIND__MEMORY__DSN",
            "backend": "DATAMIND__MEMORY__BACKEND",
            "turns": "DATAMIND__MEMORY__SHORT_TERM_TURNS",
            "long_term": "DATAMIND__MEMORY__LONG_TERM_ENABLED",
            "tenant": "DATAMIND__DATA__PROFILE",
        },
    ),
    Face(
        "checkstack",
        "the words of the checkstack platform",
        tools="onrecord.faces.checkstack.tools",
        evaluating="onrecord.faces.checkstack.evaluating",
    ),
    Face(
        "data_platform",
        "the words of a data platform",
        tools="onrecord.faces.data_platform.tools",
        routes="onrecord.faces.data_platform.routes",
        commands="onrecord.faces.data_platform.commands",
        opening="onrecord.faces.data_platform.opening",
        evaluating="onrecord.faces.data_platform.evaluating",
        settings=(
            FaceSetting(
                "tools_allow",
                "",
                "Which tools of the data_platform face each persona gets: analyst: memory_*, capture_insight; steward: *. "
                "Left out, everyone gets those that they may use.",
            ),
        ),
    ),
    Face(
        "arbiter",
        "the words of the arbiter runtime, and the commands in its agents' texts",
        routes="onrecord.faces.arbiter.routes",
        commands="onrecord.faces.arbiter.commands",
        evaluating="onrecord.faces.arbiter.evaluating",
    ),
)
#: The faces that have tools, from which a server chooses.
WITH_TOOLS: Final = {face.name: face for face in TABLE if face.tools is not None}
USUAL: Final = TABLE[0].name
SETTINGS: Final = tuple(setting for face in TABLE for setting in face.settings)
VARIABLES: Final = {name: variable for face in TABLE for name, variable in face.variables.items()}


def loaded(part: Part) -> Iterator[Any]:
    """The modules of this part, from every face that has it."""
    return (face.load(part) for face in TABLE if getattr(face, part) is not None)
