"""WHAT is a line of an export? A JSON object, with its place in the file for errors."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Final, NamedTuple

from onrecord.errors import Fault, Invalid, invalid
from onrecord.model.rules import Rule
from onrecord.model.shapes import Faults, faults_at

#: A memory with its whole history; no more is read of a line that does not end.
LINE_CHARACTERS: Final = 64 * 1024 * 1024
_read_json: Final = json.JSONDecoder().decode


class ExportLine(NamedTuple):
    """One line of a file, by the number that an editor shows."""

    file: str
    number: int
    value: Mapping[str, Any]

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.number}"

    @property
    def without_value(self) -> "ExportLine":
        """Its place alone, to let go of the text in memory."""
        return self._replace(value={})

    def fault(self, message: str) -> Invalid:
        return invalid(self.place, message)

    def faults(self, found: Iterable[Fault], under: str = "") -> Invalid:
        """An error with the line's faults and their paths."""
        located = faults_at(under, Faults(found))
        return Invalid(Fault(f"{self.place}, {fault.field}", fault.message) for fault in located)

    def checked(self, name: str, rule: Rule) -> Any:
        """The value under a name, checked by a rule."""
        if (value := self.value.get(name)) is None:
            raise self.faults([Fault(name, "is missing")])
        try:
            return rule(value)
        except ValueError as reason:
            raise self.faults(faults_at(name, reason)) from None

    def read(self, rule: Rule) -> Any:
        """The whole line, checked by a rule."""
        try:
            return rule(self.value)
        except ValueError as reason:
            raise self.faults(faults_at("", reason)) from None


def lines_of(file: IO[str], name: str) -> Iterator[ExportLine]:
    """Every line that is not blank, read one at a time."""
    number = 0
    try:
        for number, text in enumerate(iter(lambda: file.readline(LINE_CHARACTERS + 1), ""), 1):
            if len(text) > LINE_CHARACTERS:
                raise ExportLine(name, number, {}).fault(f"is longer than {LINE_CHARACTERS:,} characters")
            if text.strip():
                value = _read_json(text)
                if not isinstance(value, dict):
                    raise ExportLine(name, number, {}).fault("is not a JSON object")
                yield ExportLine(name, number, value)
    except json.JSONDecodeError as problem:
        reason = f"is not JSON: {problem.msg} at column {problem.colno}"
        raise ExportLine(name, number, {}).fault(reason) from None
    except UnicodeDecodeError:
        raise ExportLine(name, number + 1, {}).fault("is not UTF-8") from None
    except ValueError as problem:
        # A number of thousands of digits, which Python declines to read.
        raise ExportLine(name, number, {}).fault(f"is not JSON that can be read: {problem}") from None
    except RecursionError:
        raise ExportLine(name, number, {}).fault("is nested too deeply") from None
