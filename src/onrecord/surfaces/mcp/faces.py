"""WHICH faces are there, and which tools does a choice of them have? A face is a file with its tools, and a line here."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from onrecord.errors import Fault, Invalid
from onrecord.surfaces.mcp import FACE_NAMES, checkstack, datamind, full, native, slayer
from onrecord.surfaces.mcp.tools import Tool

DEFAULT: Final = FACE_NAMES[0]
FACES: Final[Mapping[str, Sequence[Tool]]] = dict(
    zip(
        FACE_NAMES,
        (native.TOOLS, full.TOOLS, slayer.TOOLS, datamind.TOOLS, checkstack.TOOLS),
        strict=True,
    )
)


def chosen(names: Iterable[str], faces: Mapping[str, Sequence[Tool]] = FACES) -> dict[str, Tool]:
    """The tools of these faces by name, in the order given; Invalid if one is unknown or two have a tool of one name."""
    tools: dict[str, Tool] = {}
    owners: dict[str, str] = {}
    faults: list[Fault] = []
    for face in dict.fromkeys(names):
        if face not in faces:
            faults.append(Fault("face", f"{face!a} is not a face; there are {', '.join(faces)}"))
            continue
        for tool in faces[face]:
            if tool.name in tools:
                faults.append(
                    Fault(
                        "face",
                        f"{owners[tool.name]} and {face} both have a tool {tool.name}; connect to each on its own",
                    )
                )
            tools[tool.name], owners[tool.name] = tool, face
    if faults:
        raise Invalid(faults)
    return tools
