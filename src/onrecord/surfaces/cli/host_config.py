"""WHERE in a configuration is our entry? It is found, added and removed as text, so that the rest stays as it was.

After every change the result is parsed: if anything but our entry differs, the change is not made.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any, Final

_BYTE_ORDER_MARK: Final = "\ufeff"
_BLANK: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM: Final = re.compile(r"[^\s,\]}/\"]+")
_BESIDE: Final = re.compile(r"[ \t]*//[^\r\n]*")
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_HEADER: Final = re.compile(r"^[ \t]*\[+\s*(?P<name>[^\[\]\n]*?)\s*\]+", re.MULTILINE)


class UnreadableConfig(Exception):
    """Why a configuration cannot be changed."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object in a text: from its name to the end of its value, where the value begins, and the value."""

    start: int
    value: int
    end: int
    content: Any


@dataclass(frozen=True, slots=True)
class JsonForm:
    """JSON, also with comments and trailing commas, with servers as the members of one object."""

    section: str

    def whole(self, name: str, entry: dict[str, Any]) -> str:
        return json.dumps({self.section: {name: entry}}, indent=2, ensure_ascii=False) + "\n"

    def entry(self, text: str, name: str) -> dict[str, Any] | None:
        return None if _start(text) == len(text) else _entry(self._read(text).get(self.section, {}), name)

    def put(self, text: str, name: str, entry: dict[str, Any]) -> str:
        if _start(text) == len(text):
            return text + self.whole(name, entry)
        was = self._read(text)
        members, _ = _members(text, _start(text))
        if self.section not in members:
            after = _inserted(text, members, _start(text), self.section, {name: entry})
        else:
            value = members[self.section].value
            inner, _ = _members(text, value)
            if name in inner:
                there = inner[name]
                if was[self.section][name] == entry:
                    return text
                after = text[: there.value] + _written(text, there.start, entry) + text[there.end :]
            else:
                after = _inserted(text, inner, value, name, entry)
        expected = was | {self.section: {**was.get(self.section, {}), name: entry}}
        return _checked(self._read(after) == expected, after)

    def remove(self, text: str, name: str) -> str:
        if _start(text) == len(text):
            return text
        was = self._read(text)
        if name not in was.get(self.section, {}):
            return text
        value = _members(text, _start(text))[0][self.section].value
        members, _ = _members(text, value)
        after = _without(text, members, name, value)
        kept = {each: settings for each, settings in was[self.section].items() if each != name}
        return _checked(self._read(after) == was | {self.section: kept}, after)

    def _read(self, text: str) -> dict[str, Any]:
        try:
            value, end = _value(text, _start(text))
        except RecursionError:
            raise UnreadableConfig("it is nested too deeply") from None
        if _after_blank(text, end) != len(text):
            raise _wrong(text, end, "there is text after the end")
        if not isinstance(value, dict):
            raise UnreadableConfig("it must be a JSON object")
        if not isinstance(value.get(self.section, {}), dict):
            raise UnreadableConfig(f"{self.section} in it must be an object")
        return value


def _start(text: str) -> int:
    return _after_blank(text, len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0)


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> tuple[Any, int]:
    """The value that begins here, and where it ends."""
    match text[at : at + 1]:
        case "{":
            members, end = _members(text, at)
            return {name: each.content for name, each in members.items()}, end
        case "[":
            return _array(text, at)
        case '"':
            return _string(text, at)
    found = _ATOM.match(text, at)
    try:
        return json.loads(found[0] if found else ""), found.end() if found else at
    except ValueError:
        raise _wrong(text, at, "a value is missing") from None


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    try:
        return str(json.loads(found[0] if found else "")), found.end() if found else at
    except ValueError:
        raise _wrong(text, at, "a text in quotation marks is expected") from None


def _array(text: str, at: int) -> tuple[list[Any], int]:
    items = []
    at = _after_blank(text, at + 1)
    while text[at : at + 1] != "]":
        item, at = _value(text, at)
        items.append(item)
        at = _after_comma(text, at, "]")
    return items, at + 1


def _members(text: str, at: int) -> tuple[dict[str, _Member], int]:
    """The members of the object that begins here, and where it ends."""
    if text[at : at + 1] != "{":
        raise _wrong(text, at, "an object is expected")
    members: dict[str, _Member] = {}
    at = _after_blank(text, at + 1)
    while text[at : at + 1] != "}":
        start = at
        name, at = _string(text, at)
        at = _after_blank(text, at)
        if text[at : at + 1] != ":":
            raise _wrong(text, at, "a colon is missing")
        value = _after_blank(text, at + 1)
        read, end = _value(text, value)
        if name in members:
            raise _wrong(text, start, f"{name!a} appears there twice")
        members[name] = _Member(start, value, end, read)
        at = _after_comma(text, end, "}")
    return members, at + 1


def _after_comma(text: str, at: int, closing: str) -> int:
    at = _after_blank(text, at)
    if text[at : at + 1] == ",":
        return _after_blank(text, at + 1)
    if text[at : at + 1] != closing:
        raise _wrong(text, at, f"a comma or {closing} is missing")
    return at


def _inserted(text: str, members: dict[str, _Member], opening: int, name: str, entry: dict[str, Any]) -> str:
    """A new member after the last one, formatted like its neighbours."""
    if members:
        last = list(members.values())[-1]
        member = f"{json.dumps(name)}: {_written(text, last.start, entry)}"
        comma = _after_blank(text, last.end)
        has_comma = text[comma] == ","
        before = text[: comma + 1] if has_comma else f"{text[: last.end]},"
        rest = text[comma + 1 if has_comma else last.end :]
        # A comment at the end of the line is about what comes before it.
        beside = _BESIDE.match(rest)
        kept = beside[0] if beside else ""
        ends = "," if has_comma else ""
        return f"{before}{kept}{_break(text, last.start)}{member}{ends}{rest[len(kept) :]}"
    _, end = _members(text, opening)
    line = re.match(r"[ \t]*", text[text.rfind("\n", 0, opening) + 1 :])
    outer, step, newline = line[0] if line else "", _step(text), _newline(text)
    body = _laid_out(entry, step, outer + step, newline)
    inside = text[opening + 1 : end - 1].rstrip()
    return (
        f"{text[: opening + 1]}{inside}{newline}{outer}{step}{json.dumps(name)}: {body}{newline}{outer}"
        f"{text[end - 1 :]}"
    )


def _without(text: str, members: dict[str, _Member], name: str, opening: int) -> str:
    """The text without a member and its comma; other people's comments stay."""
    names = list(members)
    place, there = names.index(name), members[name]
    comma = _after_blank(text, there.end)
    has_comma = text[comma] == ","
    if has_comma and place + 1 < len(names):
        return text[: there.start] + text[comma + 1 :].lstrip()
    rest = text[comma + 1 if has_comma else there.end :]
    if place:
        before = members[names[place - 1]].end
        between = text[before : there.start]
        first = _after_blank(text, before) - before
        if not has_comma:
            between = between[:first] + between[first + 1 :]
        return text[:before] + between.rstrip() + rest
    is_alone = not text[opening + 1 : there.start].strip() and rest.lstrip().startswith("}")
    return text[: opening + 1] + rest.lstrip() if is_alone else text[: there.start].rstrip() + rest


def _break(text: str, start: int) -> str:
    """The white space between two members, as before the one that begins here."""
    line = text.rfind("\n", 0, start) + 1
    lead = text[line:start]
    return " " if lead.strip() else f"{_newline(text)}{lead}"


def _written(text: str, start: int, entry: dict[str, Any]) -> str:
    """The entry as the value of the member that begins here."""
    line = text.rfind("\n", 0, start) + 1
    lead = text[line:start]
    if lead.strip():
        return json.dumps(entry, ensure_ascii=False)
    return _laid_out(entry, _step(text), lead, _newline(text))


def _laid_out(entry: dict[str, Any], step: str, lead: str, newline: str) -> str:
    return json.dumps(entry, indent=step, ensure_ascii=False).replace("\n", newline + lead)


def _step(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _wrong(text: str, at: int, reason: str) -> UnreadableConfig:
    line = text.count("\n", 0, at) + 1
    return UnreadableConfig(
        f"it cannot be read as JSON: {reason} (line {line}, column {at - text.rfind(chr(10), 0, at)})"
    )


@dataclass(frozen=True, slots=True)
class TomlForm:
    """TOML, with each server a table of its own."""

    section: str

    def whole(self, name: str, entry: dict[str, Any]) -> str:
        plain = {each: value for each, value in entry.items() if not isinstance(value, dict)}
        tables = {each: value for each, value in entry.items() if isinstance(value, dict)}
        lines = [f"[{self.section}.{name}]", *_pairs(plain)]
        for each, value in tables.items():
            lines += ["", f"[{self.section}.{name}.{each}]", *_pairs(value)]
        return "\n".join(lines) + "\n"

    def entry(self, text: str, name: str) -> dict[str, Any] | None:
        return _entry(self._read(text).get(self.section, {}), name)

    def put(self, text: str, name: str, entry: dict[str, Any]) -> str:
        was = self._read(text)
        if was.get(self.section, {}).get(name) == entry:
            return text
        kept = self.remove(text, name)
        newline = _newline(text)
        gap = "" if not kept.strip() else newline * (1 if kept.endswith("\n") else 2)
        after = kept + gap + self.whole(name, entry).replace("\n", newline)
        expected = was | {self.section: {**was.get(self.section, {}), name: entry}}
        return _checked(self._read(after) == expected, after)

    def remove(self, text: str, name: str) -> str:
        was = self._read(text)
        if name not in was.get(self.section, {}):
            return text
        headers = [(each.start(), _keys(each["name"])) for each in _HEADER.finditer(text)]
        ours = (self.section, name)
        after, end = text, len(text)
        for start, keys in reversed(headers):
            if keys[:2] == ours:
                after = after[:start].rstrip(" \t") + after[end:]
            end = start
        after = _tidied(text, after)
        kept = {each: settings for each, settings in was[self.section].items() if each != name}
        left = self._read(after)
        return _checked(left.get(self.section, {}) == kept and _others(left, was, self.section), after)

    def _read(self, text: str) -> dict[str, Any]:
        try:
            values = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as problem:
            raise UnreadableConfig(f"it cannot be read as TOML: {problem}") from None
        if not isinstance(values.get(self.section, {}), dict):
            raise UnreadableConfig(f"{self.section} in it must be a table")
        return values


#: The format of a configuration. `whole` writes one with a single entry, `entry` reads an entry, `put` adds or replaces one,
#: and `remove` takes one out. All that change a text raise UnreadableConfig if that cannot be done safely.
Form = JsonForm | TomlForm


def _entry(servers: dict[str, Any], name: str) -> dict[str, Any] | None:
    found = servers.get(name)
    return found if isinstance(found, dict) else None


def _others(left: dict[str, Any], was: dict[str, Any], section: str) -> bool:
    return {name: value for name, value in left.items() if name != section} == {
        name: value for name, value in was.items() if name != section
    }


def _tidied(before: str, after: str) -> str:
    """Without the blank line that came with our table, if the table was the last."""
    if before.startswith(after) and after.endswith("\n\n"):
        return after[:-1]
    return after[:-2] if before.startswith(after) and after.endswith("\r\n\r\n") else after


def _keys(header: str) -> tuple[str, ...]:
    """The parts of the name of a table, with or without quotation marks."""
    return tuple(part.strip().strip("\"'") for part in header.split("."))


def _pairs(values: dict[str, Any]) -> list[str]:
    # A text or a list of texts is written in TOML as in JSON.
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]


def _checked(is_right: bool, after: str) -> str:
    if not is_right:
        raise UnreadableConfig("it is laid out in a way that cannot be changed safely")
    return after
