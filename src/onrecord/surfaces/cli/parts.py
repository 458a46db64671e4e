"""WHAT does a shell show of an answer? Lines and tables; times, numbers and names look the same in all of them."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from onrecord.model import ids
from onrecord.model.checks import CHECK_WORDS
from onrecord.model.conversation_names import is_reserved
from onrecord.model.limits import CheckState

if TYPE_CHECKING:
    from onrecord.model.advice import Advised
    from onrecord.model.edits import Edit
    from onrecord.model.memory import Relation
    from onrecord.model.workspace import Artifact

_EXCERPT: Final = 300
#: The user who reads what the shell shows.
READER: Final = ContextVar("reader", default="")


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows under headings."""

    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]


Part = TextTable | str
#: The heading of each column, and the field that it shows or a function that writes it.
Columns = dict[str, str | Callable[[Any], str]]
Show = Callable[[Any], Iterator[Part]]

#: The function that shows an answer, by the name of its type, so that no other type is loaded.
SHOWN: Final[dict[str, Show]] = {}


def shows(show: Show) -> None:
    """Register the function that shows the type of answer in its annotation."""
    SHOWN[show.__annotations__["answer"].partition("[")[0]] = show


def says(**sentences: Callable[[Any], str]) -> None:
    """Register sentences, each for the type of answer that needs no more."""
    SHOWN.update({name: _only(say) for name, say in sentences.items()})


def _only(say: Callable[[Any], str]) -> Show:
    return lambda answer: iter((say(answer),))


def table(items: Sequence[Any], columns: Columns) -> TextTable:
    rows = [
        [cell(getattr(each, show)) if isinstance(show, str) else show(each) for show in columns.values()]
        for each in items
    ]
    return TextTable(tuple(columns), rows)


def cell(value: Any) -> str:
    if isinstance(value, datetime):
        return minute(value)
    return ", ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)


def listed(
    items: Sequence[Any], columns: Columns, without_any: str, after: str | None = None
) -> Iterator[Part]:
    """A table of what was asked for, or a sentence if there is nothing; `after` is the mark of the next page."""
    if not items:
        yield without_any
        return
    yield table(items, columns)
    if after:
        yield f"More: --after '{after}'"


def day(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d") if moment else ""


def minute(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment else ""


def named(id: str) -> str:
    """The id of a memory as whoever reads the shell would give it."""
    return f"#{ids.as_read_by(id, READER.get())}"


def number_of(item: Any) -> str:
    return named(item.id)


def size_of(item: Any) -> str:
    return f"{item.size:,}"


def many(number: int, one: str, several: str | None = None) -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"


def many_memories(number: int) -> str:
    return many(number, "memory", "memories")


def excerpt(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


def advice_lines(advice: "Sequence[Advised]") -> Iterator[str]:
    for each in advice:
        yield f"{each.summary()} ({each.took()})" if each.tries else each.summary()


def scrubbed_line(secrets: int) -> Iterator[str]:
    if secrets:
        yield f"{many(secrets, 'secret')} taken out before saving."


def put_off_lines(reasons: Sequence[str]) -> Iterator[str]:
    return (f"Put off {reason}" for reason in reasons)


def arrow(relation: "Relation") -> str:
    return f"{named(relation.source)} --[{relation.relation}]--> {named(relation.target)}"


def artifact_line(artifact: "Artifact") -> str:
    return f"#{artifact.id}  {artifact.path} ({artifact.media_type}, {artifact.size:,} bytes)"


def numbered(name: str) -> str:
    """The name of a conversation, marked like an id unless it says whose it is."""
    return name if is_reserved(name) else f"#{name}"


def edit_line(edit: "Edit") -> str:
    what = " ".join(filter(None, (edit.op, edit.entity, edit.field, edit.key)))
    return what if edit.value is None else f"{what}: {written(edit.value)}"


def written(value: Any) -> str:
    if value is None:
        return "(nothing)"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def check_mark(state: CheckState, seen: str | None = None) -> str:
    """The state of checks in words, with what was seen."""
    return f"{CHECK_WORDS[state]}: {seen}" if seen else CHECK_WORDS[state]
