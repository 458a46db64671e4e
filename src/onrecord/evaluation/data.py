"""WHAT is asked, and where is the answer? A task: documents in haystacks, and questions whose answers are known.

A folder a task, with `corpus.jsonl` ({"corpus", "id", "text", "meta"}) and `queries.jsonl` ({"id", "corpus",
"text", "gold", "group", "meta"}). `corpus` names the haystack; `gold` lists the documents that answer the question.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from onrecord.errors import Fault, Invalid

_CORPUS: Final = "corpus.jsonl"
_QUESTIONS: Final = "queries.jsonl"
_NO_GROUP: Final = "all"


class Document(NamedTuple):
    """One text to remember, with what the data says about it."""

    id: str
    text: str
    meta: Mapping[str, Any]


class Question(NamedTuple):
    """A question, the documents that answer it, the kind of question it is, and what else the data says of it."""

    id: str
    text: str
    gold: frozenset[str]
    group: str
    meta: Mapping[str, Any]


class Haystack(NamedTuple):
    """Documents that are searched together, and the questions asked of them."""

    name: str
    documents: list[Document]
    questions: list[Question]


class Task(NamedTuple):
    """The haystacks of a folder that are asked anything, and what was odd about its data, counted."""

    name: str
    haystacks: list[Haystack]
    notices: Counter[str]


class _Line(NamedTuple):
    path: Path
    number: int
    value: Mapping[str, Any]


def tasks_in(data: Path) -> list[str]:
    """Every folder that holds a task, by name."""
    found = sorted(path.parent.name for path in data.glob(f"*/{_CORPUS}"))
    if not found:
        raise Invalid([Fault(str(data), f"holds no task: a folder with {_CORPUS} and {_QUESTIONS}")])
    return found


def read_task(data: Path, name: str, skipped: Collection[str] = ()) -> Task:
    """A task without the groups to be skipped. Only what is asked about is kept."""
    notices: Counter[str] = Counter()
    haystacks: dict[str, Haystack] = {}
    for haystack, question in _questions(data / name / _QUESTIONS):
        if question.group in skipped:
            notices[f"Questions of the group {question.group}, left out"] += 1
        elif not question.gold:
            notices["Questions without a gold document, left out"] += 1
        else:
            haystacks.setdefault(haystack, Haystack(haystack, [], [])).questions.append(question)
    if not haystacks:
        raise Invalid([Fault(str(data / name / _QUESTIONS), "holds no question to ask")])
    _fill(haystacks, data / name / _CORPUS)
    for each in haystacks.values():
        _look_for_gold(each, notices)
    return Task(name, list(haystacks.values()), notices)


def _fill(haystacks: Mapping[str, Haystack], path: Path) -> None:
    is_empty = True
    for line in _lines(path):
        is_empty = False
        document = Document(_name(line, "id"), _text(line), _meta(line))
        if asked := haystacks.get(_name(line, "corpus")):
            asked.documents.append(document)
    if is_empty:
        raise Invalid([Fault(str(path), "holds no document")])


def _look_for_gold(haystack: Haystack, notices: Counter[str]) -> None:
    """What is nowhere cannot be found; it counts as missed, since the data says that it is needed."""
    known = {document.id for document in haystack.documents}
    for question in haystack.questions:
        if missing := len(question.gold - known):
            notices["Gold documents that are not in their haystack, counted as missed"] += missing


def _questions(path: Path) -> Iterator[tuple[str, Question]]:
    for line in _lines(path):
        group = line.value.get("group")
        question = Question(
            id=_name(line, "id"),
            text=_text(line),
            gold=_gold(line),
            group=_NO_GROUP if group is None else str(group),
            meta=_meta(line),
        )
        yield _name(line, "corpus"), question


def _name(line: _Line, field: str) -> str:
    return _as_name(line, field, line.value.get(field))


def _as_name(line: _Line, field: str, value: Any) -> str:
    """Any text, or a whole number, which stands for its digits."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _fault(line, f"{field} must be a text")
    return str(value)


def _text(line: _Line) -> str:
    text = line.value.get("text")
    if not isinstance(text, str):
        raise _fault(line, "text must be a text")
    return text


def _meta(line: _Line) -> Mapping[str, Any]:
    meta = line.value.get("meta") or {}
    if not isinstance(meta, dict):
        raise _fault(line, "meta must be an object")
    return meta


def _gold(line: _Line) -> frozenset[str]:
    gold = line.value.get("gold") or []
    if not isinstance(gold, list):
        raise _fault(line, "gold must be a list of ids")
    return frozenset(_as_name(line, "gold", each) for each in gold)


def _lines(path: Path) -> Iterator[_Line]:
    """Each line that is not empty, with its place for whoever must mend it."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, text in enumerate(lines, 1):
                if text.strip():
                    yield _line(path, number, text)
    except OSError as problem:
        raise Invalid([Fault(str(path), f"cannot be read: {problem.strerror or problem}")]) from None
    except UnicodeDecodeError:
        raise Invalid([Fault(f"{path}, after line {number}", "is not UTF-8")]) from None


def _line(path: Path, number: int, text: str) -> _Line:
    line = _Line(path, number, {})
    try:
        value = json.loads(text)
    except json.JSONDecodeError as problem:
        raise _fault(line, f"is not JSON: {problem.msg} at column {problem.colno}") from None
    except (ValueError, RecursionError) as problem:
        raise _fault(line, f"is not JSON that can be read: {problem}") from None
    if not isinstance(value, dict):
        raise _fault(line, "is not a JSON object")
    return line._replace(value=value)


def _fault(line: _Line, message: str) -> Invalid:
    return Invalid([Fault(f"{line.path}, line {line.number}", message)])
