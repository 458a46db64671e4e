"""HOW does Claude's memory tool keep its files here? Each file under `/memories` is a memory.

from anthropic import Anthropic
from onrecord import connect
from onrecord.frameworks.anthropic import MemoryTool

memory = MemoryTool(connect("memory.db"))
Anthropic().beta.messages.tool_runner(model=…, max_tokens=1024, messages=[…], tools=[memory]).until_done()

The texts are those of the tool's own client, word for word, since models were trained to read them. An edit makes a version, a
move keeps the memory, a deletion retires it.
"""

import asyncio
import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any, Final, TypeVar

from onrecord.doors import Door
from onrecord.errors import OnRecordError, VersionConflict
from onrecord.frameworks.addressed import Address, Shelf, address_of
from onrecord.model.limits import CONTENT_BYTES, TITLE_CHARACTERS, Scope
from onrecord.model.memory import Memory

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ModuleNotFoundError as missing:
    if missing.name != "anthropic":
        raise
    raise ModuleNotFoundError(
        "This tool needs one more package: pip install 'onrecord[anthropic]'.", name="anthropic"
    ) from None

_ROOT: Final = "/memories"
#: How wide line numbers are written.
_WIDTH: Final = 6
_DEPTH: Final = 2
#: How many lines before and after an edit are shown.
_AROUND: Final = 2
#: A file that holds nothing still is a memory, which says something.
_EMPTY: Final = "(empty file)"
#: Characters that show nothing, with which one name could pass for another.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_TRIES: Final = 5

Command = TypeVar("Command")


def _in_its_words(do: Callable[["MemoryTool", Command], str]) -> Callable[["MemoryTool", Command], str]:
    """Do a command again if someone changed the file meanwhile, and tell the model what a door refused."""

    @wraps(do)
    def done(tool: "MemoryTool", command: Command) -> str:
        try:
            for _ in range(_TRIES):
                with suppress(VersionConflict):
                    return do(tool, command)
            return do(tool, command)
        except OnRecordError as problem:
            raise ToolError(str(problem)) from problem

    return done


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool over a door: the files of one user, or with `scope="tenant"` those of all."""

    def __init__(
        self,
        memory: Door,
        *,
        name: str = "memories",
        scope: Scope = "user",
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._shelf = Shelf(memory, name, scope)

    @_in_its_words
    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        address = _address(command.path)
        if held := self._file(address):
            return _numbered(command.path, _text_of(held), command.view_range)
        files = {address_of(each)[len(address) :]: _text_of(each) for each in self._shelf.under(address)}
        if address and not files:
            raise _missing(command.path)
        return _listing(command.path.rstrip("/"), files)

    @_in_its_words
    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        address = _address(command.path)
        exists = ToolError(f"File {command.path} already exists")
        if self._is_directory(address):
            raise exists
        self._refuse_below_a_file(address)
        fields = self._fields(address, command.path, command.file_text)
        held = self._shelf.create(address, **fields)
        if held is None:
            raise exists
        return f"File created successfully at: {command.path}" + _left_out(command.file_text, _text_of(held))

    @_in_its_words
    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        held = self._edited(command.path)
        old, new, text = command.old_str, command.new_str or "", _text_of(held)
        places = [found.start() for found in re.finditer(f"(?={re.escape(old)})", text)] if old else []
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
            )
        if text.count(old) > 1:
            lines = ", ".join(str(_line_at(text, place) + 1) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            )
        given = text.replace(old, new)
        kept = self._write(held, command.path, given)
        changed = _line_at(text, places[0])
        first, lines_now = max(0, changed - _AROUND), kept.split("\n")
        shown = _with_numbers(lines_now[first : changed + _AROUND + 1], first)
        told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{told}\n{shown}" + _left_out(given, kept)

    @_in_its_words
    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        held = self._edited(command.path)
        lines = _text_of(held).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        text = "\n".join(lines)
        given = text if text.endswith("\n") else f"{text}\n"
        kept = self._write(held, command.path, given)
        return f"The file {command.path} has been edited." + _left_out(given, kept)

    @_in_its_words
    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        address = _address(command.path)
        if not address:
            raise ToolError(f"Cannot delete the {_ROOT} directory itself")
        gone = self._all_of(address)
        ended = [self._shelf.end(each, "deleted") for each in gone]
        if not any(ended):
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    @_in_its_words
    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        old, new = _address(command.old_path), _address(command.new_path)
        if not old:
            raise ToolError(f"Cannot rename the {_ROOT} directory itself")
        if not new or self._file(new) or self._is_directory(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        moving = self._all_of(old)
        if not moving:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new[: len(old)] == old:
            raise ToolError(f"Cannot move {command.old_path} into itself, to {command.new_path}")
        self._refuse_below_a_file(new)
        for each in moving:
            to = (*new, *address_of(each)[len(old) :])
            if not self._moved(each, to):
                raise ToolError(f"The destination {command.new_path} already exists")
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def _moved(self, held: Memory, to: Address) -> bool:
        """Whether a file is at its new place, also if it was edited meanwhile; false if another came there."""
        address, found = address_of(held), held
        for _ in range(_TRIES):
            with suppress(VersionConflict):
                return self._shelf.move(found, to, title=_title(to)) is not None
            found = self._file(address) or found
        return self._shelf.move(found, to, title=_title(to)) is not None

    def clear_all_memory(self) -> str:
        """Retire every file."""
        for each in list(self._shelf.under()):
            self._shelf.end(each, "cleared")
        return "All memory cleared"

    # Files and directories

    def _file(self, address: Address) -> Memory | None:
        return self._shelf.find([address]).get(address) if address else None

    def _is_directory(self, address: Address) -> bool:
        """A directory is there as long as a file is in it."""
        return not address or next(self._shelf.under(address, page=1), None) is not None

    def _all_of(self, address: Address) -> list[Memory]:
        """A file, or all files of a directory."""
        held = self._file(address)
        return list(self._shelf.under(address)) if held is None else [held]

    def _edited(self, path: str) -> Memory:
        address = _address(path)
        held = self._file(address)
        if held is not None:
            return held
        raise ToolError(f"The path {path} is not a file.") if self._is_directory(address) else _missing(path)

    def _refuse_below_a_file(self, address: Address) -> None:
        above = self._shelf.find([address[:depth] for depth in range(1, len(address))])
        for each in above:
            raise ToolError(f"The path {'/'.join((_ROOT, *each))} is a file, so nothing can be in it.")

    def _fields(self, address: Address, path: str, text: str) -> dict[str, Any]:
        kept = _kept_form(path, text)
        return {**kept, "title": _title(address), "source": self._shelf.name}

    def _write(self, held: Memory, path: str, text: str) -> str:
        """A new version of a file; returns its text as it is kept."""
        kept = _kept_form(path, text)
        metadata = {name: each for name, each in held.metadata.items() if name != "text"}
        return _text_of(
            self._shelf.revise(held, content=kept["content"], metadata={**metadata, **kept["metadata"]})
        )


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for async programs: each command runs in a thread, while the event loop goes on."""

    def __init__(self, memory: Door, *, cache_control: Any = None, **how: Any) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = MemoryTool(memory, **how)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _address(path: str) -> Address:
    """The parts of a path below the root. A path is a name here and opens no file, but one that leads out says no good."""
    if path != _ROOT and not path.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path must start with {_ROOT}, got: {path}")
    parts = tuple(part for part in path.removeprefix(_ROOT).split("/") if part not in ("", "."))
    if ".." in parts:
        raise ToolError(f"Path {path} would escape {_ROOT} directory")
    if any(unicodedata.category(character) in _HIDDEN for character in path):
        raise ToolError(f"Path {path!a} has a character that cannot be seen; leave it out")
    return tuple(unicodedata.normalize("NFC", part) for part in parts)


def _missing(path: str) -> ToolError:
    return ToolError(f"The path {path} does not exist. Please provide a valid path.")


def _title(address: Address) -> str:
    return "/".join(address)[-TITLE_CHARACTERS:].strip() or _EMPTY


def _kept_form(path: str, text: str) -> dict[str, Any]:
    """The text as a memory's content, which is never blank."""
    size = len(text.encode(errors="replace"))
    if size > CONTENT_BYTES:
        raise ToolError(
            f"File {path} would have {size} bytes, and at most {CONTENT_BYTES} fit. Split it into several files."
        )
    if text.strip():
        return {"content": text, "metadata": {}}
    return {"content": _EMPTY, "metadata": {"text": text}}


def _text_of(held: Memory) -> str:
    text = held.metadata.get("text")
    return held.content if text is None or held.content != _EMPTY else str(text)


def _left_out(given: str, kept: str) -> str:
    return "" if given == kept else "\nSecrets in it were not kept: each was replaced by [secret:…]."


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, place)


def _with_numbers(lines: list[str], before: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, before + 1))


def _numbered(path: str, text: str, view_range: list[int] | None) -> str:
    lines, before = text.split("\n"), 0
    if view_range and len(view_range) == 2:
        before = max(1, view_range[0]) - 1
        lines = lines[before : len(lines) if view_range[1] == -1 else view_range[1]]
    return f"Here's the content of {path} with line numbers:\n{_with_numbers(lines, before)}"


def _listing(path: str, files: Mapping[Address, str]) -> str:
    """What is in a directory, with sizes; that of a directory is of all that is in it."""
    sizes: dict[Address, int] = {(): 0}
    for below, text in files.items():
        if any(part.startswith(".") for part in below):
            continue
        for depth in range(len(below) + 1):
            place = below[:depth]
            sizes[place] = sizes.get(place, 0) + len(text.encode())
    shown = sorted(place for place in sizes if 0 < len(place) <= _DEPTH)
    lines = [f"{_size(sizes[()])}\t{path}"]
    lines += [
        f"{_size(sizes[each])}\t{'/'.join((path, *each))}{'' if each in files else '/'}" for each in shown
    ]
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join([head, *lines])


def _size(size: int) -> str:
    """As the tool's own client writes it: 0B, 12B, 1.5K."""
    units = "BKMG"
    power = min(max(size.bit_length() - 1, 0) // 10, len(units) - 1)
    scaled = size / 1024**power
    return f"{int(scaled)}{units[power]}" if scaled == int(scaled) else f"{scaled:.1f}{units[power]}"
