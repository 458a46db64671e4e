"""WHAT does an agent's text command? Every `/mem`, `/write` and `/read` line in it is a command, except in a code fence
or in the body of another command.

This module looks nothing up, and any text can be read: a command that it does not understand becomes Refused.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from onrecord.faces.arbiter.fields import TITLE_BYTES, TYPES, size
from onrecord.faces.arbiter.slash.parsed import (
    AddEntry,
    AddLink,
    ClearNotes,
    Command,
    Density,
    Entries,
    Entry,
    Expand,
    Help,
    Invalidate,
    JudgeEntry,
    ReadFile,
    ReadNotes,
    ReadSharedNotes,
    RefusedCommand,
    SearchEntries,
    WriteFile,
    WriteNotes,
)
from onrecord.model import ids
from onrecord.model.feedback import GIVEN_VERDICTS
from onrecord.model.limits import RELATIONS

#: Half of the limit over HTTP: here an agent should write a summary, and put the rest into a file.
BODY_BYTES: Final = 32 * 1024
DEPTH: Final = 2

_NEW_LINE: Final = re.compile(r"\r\n|\r|\n")
# Programs put this invisible mark before a text, so joined texts may also have it in the middle.
_BYTE_ORDER_MARK: Final = "\ufeff"
_COMMAND: Final = re.compile(r"[ \t\ufeff]*(/(?:mem|write|read))(?=[ \t]|$)[ \t]*(.*)")
_ADD_ENTRY: Final = re.compile(r"add[ \t]+entry(?=[ \t]|$)[ \t]*(.*)")
_NUMBER: Final = re.compile(r"([+-]?)0*([0-9]*)", re.ASCII)
_OPTION: Final = re.compile(r'(?:^|(?<=\s))(types?|tag)=("[^"]*"|\S*)')
_FLAG: Final = re.compile(r"--(supersedes|artifact)(?:=(.*))?")
_END_OF: Final = {"/mem": "/endmem", "/write": "/endwrite"}
#: A line that opens a code fence, perhaps in a list or a quotation. If another backtick follows in the line, it is only
#: code within that line.
_FENCE: Final = re.compile(r"[\s>\ufeff]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
#: The subcommands of /mem.
USES: Final = (
    "help, entries, entry, search, expand, density, add entry, add link, invalidate, feedback, write, read, show, clear, "
    "shared write, shared read, shared clear"
)
_READ_OPTION: Final = re.compile(r"(via|page)=(.*)")
_READ_USAGE: Final = "/read #<id> [via=mem:<entry_id>] [page=N]"
_LIST_OF_IDS: Final = "--supersedes accepts a comma-separated list of ids, e.g. --supersedes #41,#42"
_AN_ARTIFACT: Final = "--artifact requires a positive id, e.g. --artifact #42"
_ADD_USAGE: Final = "usage: /mem add entry <type> <title> [--supersedes #1,#2] [--artifact #N], the content below it, then /endmem"


class _Wrong(Exception):
    """A command is refused; the message says why."""


class _Body(NamedTuple):
    """The lines between a command and the line that ends it; `is_closed` is false if the text has no such line."""

    text: str
    is_closed: bool


def commands(text: str) -> Iterator[Command]:
    """The commands of a text, in order. Each is parsed only when it is asked for: a text may hold more than are run."""
    lines = _NEW_LINE.split(text)
    at = 0
    while at < len(lines):
        if fence := _FENCE.match(lines[at]):
            end = _end_of_fence(lines, at + 1, fence[1])
            yield from _swallowed(lines, at) if end is None else ()
            at = len(lines) if end is None else end + 1
            continue
        found = _COMMAND.fullmatch(lines[at])
        at += 1
        if found is None:
            yield from _stray_end(_bare(lines[at - 1]))
            continue
        word, rest = found[1], found[2].strip()
        if word == "/read":
            yield _read(rest)
        elif word == "/mem" and not _ADD_ENTRY.fullmatch(rest):
            yield _mem(rest)
        else:
            body, at = _body(lines, at, _END_OF[word])
            yield _write(rest, body) if word == "/write" else _add_entry(rest, body)


def _bare(line: str) -> str:
    return line.strip().lstrip(_BYTE_ORDER_MARK).lstrip()


def _end_of_fence(lines: list[str], start: int, fence: str) -> int | None:
    """The line that closes a fence: at least as many of its characters, and nothing else. Shorter fences are text."""
    for at in range(start, len(lines)):
        signs = _bare(lines[at]).lstrip(" \t>")
        if len(signs) >= len(fence) and set(signs) == {fence[0]}:
            return at
    return None


def _swallowed(lines: list[str], at: int) -> Iterator[Command]:
    """If a fence is never closed, all below it is text. If commands are there, say that they were not run."""
    if hidden := sum(_COMMAND.fullmatch(line) is not None for line in lines[at + 1 :]):
        reason = (
            f"the code fence on line {at + 1} is never closed, so all below it is text: {hidden} "
            f"{'command was' if hidden == 1 else 'commands were'} not run. Close it, and send them again"
        )
        yield RefusedCommand("/mem", reason, is_block=False)


def _stray_end(line: str) -> Iterator[Command]:
    if line in _END_OF.values():
        begins = next(word for word, end in _END_OF.items() if end == line)
        reason = f"there is no {begins} block open here, so nothing was closed; the lines above it were not written"
        yield RefusedCommand(line, reason, is_block=False)


def _body(lines: list[str], start: int, end: str) -> tuple[_Body, int]:
    """The body of a command, and the index of the first line after it."""
    for at in range(start, len(lines)):
        if _bare(lines[at]) == end:
            return _Body("\n".join(lines[start:at]), True), at + 1
    return _Body("\n".join(lines[start:]), False), len(lines)


def _mem(rest: str) -> Command:
    name, given = _first_word(rest)
    if name == "shared":
        return _shared(*_first_word(given))
    if name == "add":
        second, given = _first_word(given)
        name = f"add {second}".strip()
    reader = _READERS.get(name)
    if reader is None:
        return _unknown(name)
    head = f"/mem {rest}"
    try:
        return reader(head, given)
    except _Wrong as reason:
        return RefusedCommand(head, str(reason))


def _unknown(name: str) -> Command:
    reason = f"unknown subcommand {_shown(name)}" if name else "usage: /mem <subcommand>"
    return RefusedCommand("/mem", f"{reason} — use {USES}", is_block=False)


def _first_word(text: str) -> tuple[str, str]:
    first, *more = text.split(maxsplit=1) or [""]
    return first, more[0] if more else ""


def _entries(head: str, given: str) -> Command:
    options, bare = _options(given)
    types = _known_types([*options.get("type", ()), *_listed(bare)])
    return Entries(head, types, _tag(options))


def _search(head: str, given: str) -> Command:
    words = given.split()
    options, question = _options(" ".join(word for word in words if word != "--rerank"))
    if not question:
        raise _Wrong("usage: /mem search <query> [type=<types>] [tag=<name>] [--rerank]")
    return SearchEntries(
        head, question, _known_types(options.get("type", ())), _tag(options), rerank="--rerank" in words
    )


def _options(given: str) -> tuple[dict[str, list[str]], str]:
    """The options `type=` and `tag=`, and the remaining words."""
    found: dict[str, list[str]] = {}
    for option in _OPTION.finditer(given):
        name, value = option[1].removesuffix("s"), option[2].strip('"')
        found.setdefault(name, []).extend([value] if name == "tag" else _listed(value))
    return found, " ".join(_OPTION.sub(" ", given).split())


def _listed(given: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", given) if word]


def _known_types(types: Sequence[str]) -> tuple[str, ...]:
    for each in types:
        if each not in TYPES:
            raise _Wrong(_bad_type(each))
    return tuple(dict.fromkeys(types))


def _bad_type(type: str) -> str:
    return f"invalid type {_shown(type)} — must be one of: {', '.join(TYPES)}"


def _tag(options: Mapping[str, list[str]]) -> str | None:
    tags = options.get("tag", [])
    if len(tags) > 1 or tags == [""]:
        raise _Wrong("usage: tag=<name>, one tag at a time")
    return tags[0] if tags else None


def _entry(head: str, given: str) -> Command:
    return Entry(head, _one_id(given, "usage: /mem entry <id>", "bad id"))


def _invalidate(head: str, given: str) -> Command:
    return Invalidate(head, _one_id(given, "usage: /mem invalidate <id>", "bad id"))


def _feedback(head: str, given: str) -> Command:
    words = given.split(maxsplit=2)
    if len(words) != 3:
        raise _Wrong(f"usage: /mem feedback <id> {'|'.join(GIVEN_VERDICTS)} <question>")
    verdict = next((each for each in GIVEN_VERDICTS if each == words[1]), None)
    if verdict is None:
        raise _Wrong(f"invalid verdict {_shown(words[1])} — must be one of: {', '.join(GIVEN_VERDICTS)}")
    return JudgeEntry(head, _id(words[0], "bad id"), verdict, words[2])


def _density(head: str, given: str) -> Command:
    return Density(head, _one_id(given, "usage: /mem density <id>", "bad seed id"))


def _expand(head: str, given: str) -> Command:
    usage = "usage: /mem expand <id> [depth=N]"
    first, *more = given.split() or [""]
    steps = [word.removeprefix("depth=") for word in more]
    if len(steps) > 1 or not all(map(_is_number, steps)):
        raise _Wrong(usage)
    depth = _clamped(steps[0]) if steps else 1
    return Expand(head, _one_id(first, usage, "bad seed id"), depth)


def _is_number(text: str) -> bool:
    return text not in ("", "+", "-") and _NUMBER.fullmatch(text) is not None


def _clamped(number: str) -> int:
    """A depth from 1 to DEPTH. It is read as text, since Python does not convert a number with too many digits."""
    found = _NUMBER.fullmatch(number)
    sign, digits = (found[1], found[2]) if found else ("", "")
    return 1 if sign == "-" or digits in ("", "1") else DEPTH


def _one_id(given: str, usage: str, bad: str) -> str:
    if len(given.split()) != 1:
        raise _Wrong(usage)
    return _id(given, bad)


def _id(given: str, bad: str) -> str:
    """An id without its `#`."""
    try:
        return ids.written(given)
    except ValueError as reason:
        raise _Wrong(f"{bad} {_shown(given)}: {reason}") from None


def _add_link(head: str, given: str) -> Command:
    words = given.split()
    if len(words) != 3:
        raise _Wrong("usage: /mem add link <src_id> <relation> <dst_id>")
    if words[1] not in RELATIONS:
        raise _Wrong(f"invalid relation {_shown(words[1])} — must be one of: {', '.join(RELATIONS)}")
    source, target = _id(words[0], "bad source id"), _id(words[2], "bad target id")
    if source == target:
        raise _Wrong("self-loops not allowed")
    return AddLink(head, source, words[1], target)


def _notes(head: str, given: str) -> Command:
    if not given:
        return RefusedCommand("/mem write", "usage: /mem write <text>", is_block=False)
    return WriteNotes("/mem write", given, shared=False)


def _shared(name: str, text: str) -> Command:
    head = f"/mem shared {name}"
    match name:
        case "write" if text:
            return WriteNotes(head, text, shared=True)
        case "read" | "show":
            return ReadSharedNotes(head)
        case "clear":
            return ClearNotes(head, shared=True)
        case "write":
            return RefusedCommand(head, "usage: /mem shared write <text>", is_block=False)
    return _unknown(f"shared {name}".strip())


_READERS: Final[Mapping[str, Callable[[str, str], Command]]] = {
    "help": lambda head, given: Help("/mem help"),
    "entries": _entries,
    "entry": _entry,
    "search": _search,
    "expand": _expand,
    "density": _density,
    "add link": _add_link,
    "invalidate": _invalidate,
    "feedback": _feedback,
    "write": _notes,
    "read": lambda head, given: ReadNotes("/mem read"),
    "show": lambda head, given: ReadNotes("/mem show"),
    "clear": lambda head, given: ClearNotes("/mem clear", shared=False),
}


def _add_entry(rest: str, body: _Body) -> Command:
    head = f"/mem {rest}"
    try:
        return _new_entry(head, rest, body)
    except _Wrong as reason:
        return RefusedCommand(head, str(reason))


def _new_entry(head: str, rest: str, body: _Body) -> Command:
    found = _ADD_ENTRY.fullmatch(rest)
    type, given = _first_word(found[1] if found else "")
    title, flags = _flags(given)
    if not body.is_closed:
        raise _Wrong(
            "/mem add entry block was not closed with /endmem; entry not written. Nothing below it was run either: "
            "write the block again, with /endmem on a line of its own"
        )
    if not type:
        raise _Wrong(_ADD_USAGE)
    if type not in TYPES:
        raise _Wrong(_bad_type(type))
    if not 1 <= (taken := size(title)) <= TITLE_BYTES:
        raise _Wrong(f"title length must be 1..{TITLE_BYTES} bytes (got {taken})")
    if not body.text.strip():
        raise _Wrong(
            "/mem add entry requires a content body between its line and /endmem: a title alone cannot be found again"
        )
    if (taken := size(body.text)) > BODY_BYTES:
        raise _Wrong(
            f"content body too large (limit 32KB; got {taken} bytes); keep the whole with /write --persist and link it "
            "with --artifact"
        )
    return AddEntry(
        head, type, title, body.text, _superseded(flags.get("supersedes")), _artifact(flags.get("artifact"))
    )


def _flags(given: str) -> tuple[str, dict[str, str]]:
    """The title without its flags, and the value of each flag, which is empty if none was given."""
    words, flags, left = given.split(), dict[str, str](), list[str]()
    at = 0
    while at < len(words):
        flag = _FLAG.fullmatch(words[at])
        at += 1
        if flag is None:
            left.append(words[at - 1])
            continue
        parts = [] if flag[2] is None else [flag[2]]
        # A list may have spaces before or after its commas.
        while at < len(words) and not _FLAG.fullmatch(words[at]) and _goes_on(parts, words[at]):
            parts.append(words[at])
            at += 1
        flags[flag[1]] = "".join(parts)
    return " ".join(left), flags


def _goes_on(parts: list[str], word: str) -> bool:
    return not parts or parts[-1].endswith(",") or word.startswith(",")


def _superseded(given: str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    try:
        return tuple(dict.fromkeys(_id(each, "bad id") for each in given.split(",")))
    except _Wrong:
        raise _Wrong(f"{_LIST_OF_IDS} (got {_shown(given)})" if given else _LIST_OF_IDS) from None


def _artifact(given: str | None) -> str | None:
    if given is None:
        return None
    number = given.removeprefix("#")
    if not re.fullmatch(r"[1-9][0-9]{0,18}", number, re.ASCII):
        raise _Wrong(f"{_AN_ARTIFACT} (got {_shown(given)})" if given else _AN_ARTIFACT)
    return number


def _write(rest: str, body: _Body) -> Command:
    words = rest.split(maxsplit=1)
    if words[:1] != ["--persist"] or len(words) < 2:
        reason = "usage: /write --persist <path>, the content below it, then /endwrite; files are kept with --persist alone"
        return RefusedCommand(f"/write {rest}".rstrip(), reason, is_block=False)
    head = f"/write --persist {words[1]}"
    if not body.is_closed:
        reason = (
            "/write block was not closed with /endwrite; file not written. Nothing below it was run either: write the "
            "block again, with /endwrite on a line of its own"
        )
        return RefusedCommand(head, reason, is_block=False)
    return WriteFile(head, words[1], body.text)


def _read(rest: str) -> Command:
    head = f"/read {rest}".rstrip()
    words = rest.split()
    options: dict[str, str] = {}
    while len(words) > 1 and (option := _READ_OPTION.fullmatch(words[-1])):
        options[option[1]] = option[2]
        words.pop()
    if not words:
        return RefusedCommand("/read", f"usage: {_READ_USAGE}", is_block=False)
    try:
        return ReadFile(head, " ".join(words), _via(options.get("via")), _page(options.get("page")))
    except _Wrong as reason:
        return RefusedCommand(head, str(reason), is_block=False)


def _via(given: str | None) -> str | None:
    if given is None:
        return None
    if not given.startswith("mem:"):
        raise _Wrong(f"bad way {_shown(f'via={given}')}: write via=mem:<entry_id>")
    return _id(given.removeprefix("mem:"), "bad entry id")


def _page(given: str | None) -> int:
    if given is None:
        return 1
    if not re.fullmatch(r"[1-9][0-9]{0,8}", given, re.ASCII):
        raise _Wrong(f"bad page {_shown(given)}: write page=2 for the second")
    return int(given)


def _shown(text: str) -> str:
    """A text in quotes for a message, cut if it is long."""
    return f"'{text if len(text) <= 60 else text[:57] + '...'}'"
