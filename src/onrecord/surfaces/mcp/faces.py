"""WHICH tools do the chosen faces have? Those of each face, loaded when it is chosen; the table is `onrecord.faces`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from onrecord.config import Config
from onrecord.errors import Fault, Invalid
from onrecord.faces import WITH_TOOLS
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import Tool


class _Faces(Mapping[str, Sequence[Tool]]):
    """The tools of each face by its name."""

    def __getitem__(self, name: str) -> Sequence[Tool]:
        tools: Sequence[Tool] = WITH_TOOLS[name].load("tools").TOOLS
        return tools

    def __iter__(self) -> Iterator[str]:
        return iter(WITH_TOOLS)

    def __len__(self) -> int:
        return len(WITH_TOOLS)


class OpenedFaces(_Faces):
    """The same according to their settings, on an open store; the door acts for its operator."""

    def __init__(self, config: Config, door: OnRecord) -> None:
        self._config, self._door = config, door

    def __getitem__(self, name: str) -> Sequence[Tool]:
        face = WITH_TOOLS[name]
        if face.opening is None:
            return super().__getitem__(name)
        tools: Sequence[Tool] = face.load("opening").tools(self._config, self._door)
        return tools


FACES: Final = _Faces()


def chosen(names: Iterable[str], faces: Mapping[str, Sequence[Tool]] = FACES) -> dict[str, Tool]:
    """The tools of these faces by name, in the given order; Invalid for an unknown face or two tools of one name."""
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
