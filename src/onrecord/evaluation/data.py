"""WHAT is asked, and where is the answer? A task: documents in haystacks, and questions whose answers are known.

A folder a task, with `corpus.jsonl` ({"corpus", "id", "text", "meta"}) and `queries.jsonl` ({"id", "corpus",
"text", "gold", "group", "meta"}). `corpus` names the haystack; `gold` lists the documents that answer the question.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from onrecord.care.lines import lines_of
from onrecord.errors import invalid
from onrecord.model.rules import Rule, anything, type_of
from onrecord.model.shapes import Either, MapOf, Object, Several

_CORPUS: Final = "corpus.jsonl"
_QUESTIONS: Final = "queries.jsonl"
_NO_GROUP: Final = "all"


class EvalDocument(NamedTuple):
    """One text to remember, with what the data says about it."""

    id: str
    text: str
    meta: Mapping[str, Any]


class EvalQuestion(NamedTuple):
    """A question, the documents that answer it, the kind of question it is, and what else the data says of it."""

    id: str
    text: str
    gold: frozenset[str]
    group: str
    meta: Mapping[str, Any]


class Haystack(NamedTuple):
    """Documents that are searched together, and the questions asked of them."""

    name: str
    documents: list[EvalDocument]
    questions: list[EvalQuestion]


class Task(NamedTuple):
    """The haystacks of a folder that have questions, and counts of oddities in its data."""

    name: str
    haystacks: list[Haystack]
    notices: Counter[str]


def tasks_in(data: Path) -> list[str]:
    """Every folder that holds a task, by name."""
    found = sorted(path.parent.name for path in data.glob(f"*/{_CORPUS}"))
    if not found:
        raise invalid(str(data), f"holds no task: a folder with {_CORPUS} and {_QUESTIONS}")
    return found


def read_task(data: Path, name: str, skipped: Collection[str] = ()) -> Task:
    """A task without the skipped groups. Only haystacks with questions are kept."""
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
        raise invalid(str(data / name / _QUESTIONS), "holds no question to ask")
    _fill(haystacks, data / name / _CORPUS)
    for each in haystacks.values():
        _look_for_gold(each, notices)
    return Task(name, list(haystacks.values()), notices)


def _fill(haystacks: Mapping[str, Haystack], path: Path) -> None:
    is_empty = True
    for line in _read(path, _DOCUMENT):
        is_empty = False
        if asked := haystacks.get(line["corpus"]):
            asked.documents.append(EvalDocument(line["id"], line["text"], line.get("meta", {})))
    if is_empty:
        raise invalid(str(path), "holds no document")


def _look_for_gold(haystack: Haystack, notices: Counter[str]) -> None:
    """Count answers that are in no document; they count as missed, since the data says that they are needed."""
    known = {document.id for document in haystack.documents}
    for question in haystack.questions:
        if missing := len(question.gold - known):
            notices["Gold documents that are not in their haystack, counted as missed"] += missing


def _questions(path: Path) -> Iterator[tuple[str, EvalQuestion]]:
    for line in _read(path, _QUESTION):
        question = EvalQuestion(
            id=line["id"],
            text=line["text"],
            gold=frozenset(line.get("gold", ())),
            group=line.get("group", _NO_GROUP),
            meta=line.get("meta", {}),
        )
        yield line["corpus"], question


def _read(path: Path, shape: Object) -> Iterator[dict[str, Any]]:
    """The checked object of each line that is not empty; Invalid names the line."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for line in lines_of(file, str(path)):
                yield line.read(shape)
    except OSError as problem:
        raise invalid(str(path), f"cannot be read: {problem.strerror or problem}") from None


def _text(value: Any) -> str:
    """Any text: characters that no database can hold are removed later, and counted."""
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {type_of(value)}")
    return value


#: A whole number stands for its digits.
_NAME: Final = Either("a text", {str: _text, int: str})
_LINE: Final[Mapping[str, Rule]] = {
    "corpus": _NAME,
    "id": _NAME,
    "text": _text,
    "meta": MapOf("an object", anything, anything),
}
_NEEDED: Final = ("corpus", "id", "text")
_DOCUMENT: Final = Object("a document", _LINE, needed=_NEEDED, passes_over=True)
_QUESTION: Final = Object(
    "a question", {**_LINE, "gold": Several(_NAME), "group": str}, needed=_NEEDED, passes_over=True
)
