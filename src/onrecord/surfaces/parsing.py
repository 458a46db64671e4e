"""WHAT does a text mean? A number, a time or a list, by the rule of its field; for every surface that takes
texts.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from onrecord.model.rules import (
    Choice,
    Document,
    Flag,
    Fraction,
    Identifier,
    Integer,
    Json,
    ListOf,
    Number,
    OrNone,
    Rule,
    shown,
)
from onrecord.model.shapes import Described, Several

# More digits than any limit has; the rule refuses the number all the same.
_NUMBER: Final = re.compile(r"-?[0-9]{1,40}")
_DECIMAL: Final = re.compile(r"[0-9]*\.?[0-9]+", re.ASCII)
_FLAGS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def text_parser(rule: Rule) -> Callable[[str], Any]:
    """How to read one text for this rule. An unreadable text stays as it is, for the rule to refuse."""
    if isinstance(rule, OrNone):
        inner = text_parser(rule.rule)
        return lambda text: None if text == "" else inner(text)
    if isinstance(rule, Described):
        return text_parser(rule.rule)
    if isinstance(rule, Integer):
        return lambda text: int(text) if _NUMBER.fullmatch(text) else text
    if isinstance(rule, Fraction):
        return lambda text: float(text) if _DECIMAL.fullmatch(text) else text
    if isinstance(rule, Number):
        return lambda text: float(text) if _DECIMAL.fullmatch(text.removeprefix("-")) else text
    if isinstance(rule, Flag):
        return lambda text: _FLAGS.get(text.lower(), text)
    if isinstance(rule, Several):
        return _read_list
    return _read_json if isinstance(rule, Json | Document) else str


def list_parser(rule: Rule) -> Callable[[Sequence[str]], list[str]] | None:
    """How to read several texts, if the rule takes a list; for closed lists and ids one text may hold several."""
    if isinstance(rule, OrNone):
        # A list that was given and is empty is not one that was left out.
        return list_parser(rule.rule)
    if not isinstance(rule, ListOf):
        return None
    if isinstance(rule.each, Choice | Identifier):
        return lambda texts: [part for text in texts for part in text.split(",") if part]
    return lambda texts: [text for text in texts if text]


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _read_list(text: str) -> Any:
    """A JSON list, or JSON lines: a value on each. One object alone is a list of it."""
    whole = _read_json(text)
    if isinstance(whole, list | dict):
        return whole if isinstance(whole, list) else [whole]
    lines = [_read_json(line) for _, line in _lines(text)]
    return text if any(isinstance(each, str) for each in lines) else lines


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers. A text inside JSON may hold what else would end a line."""
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def why_no_list(text: str) -> str:
    """What is wrong with a text that is to be a list and cannot be read as one."""
    if text.lstrip().startswith("["):
        return f"is not JSON ({_fault_in(text)})"
    for number, line in _lines(text):
        if not line.lstrip().startswith("{"):
            return (
                "must be a JSON list, lines of JSON with an object each, or the name of a file of them "
                f"(line {number} is {shown(line)})"
            )
        if fault := _fault_in(line):
            return f"line {number} is not JSON ({fault})"
    return "must be a JSON list"


def _fault_in(text: str) -> str | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column" if "\n" in text.strip() else "column"
        return f"{problem.msg}, at {place} {problem.colno}"
    except (ValueError, RecursionError) as problem:
        return str(problem)
    return None
