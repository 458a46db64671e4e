"""HOW does a document become a memory? One function says which part of it goes where.

What exceeds our limits is cut or left out, and counted, so that no data stops a measurement.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from onrecord.catalog.naming import legal_names
from onrecord.evaluation.data import EvalDocument
from onrecord.model import limits, rules
from onrecord.model.unset import UNSET, Unset
from onrecord.service import OnRecord

# How dialogues write their dates, apart from ISO 8601: 2023/04/10 (Mon) 23:07, and 1:56 pm on 8 May, 2023.
_DATES: Final = ("%Y/%m/%d %H:%M", "%I:%M %p on %d %B, %Y")
_WEEKDAY: Final = re.compile(r" \(\w+\)")


def memory_of(document: EvalDocument, now: datetime, notices: Counter[str]) -> dict[str, Any]:
    """The fields of a save: text, names, conversation and past date have fields of their own; the rest is metadata."""
    values = dict(document.meta)
    named = values.pop("entities", None)
    speaker = values.get("speaker")
    return {
        "content": _fitting(document.text, notices),
        "entities": _references(
            [*(named if isinstance(named, list) else ()), *([speaker] if speaker else ())], notices
        ),
        "conversation": _conversation(values.get("session")),
        "valid_from": _past(values.get("date"), now),
        "metadata": _metadata(values, notices),
    }


def datasource_of(document: EvalDocument) -> list[str]:
    """The database that a document is about, as a datasource is called where there is no catalog."""
    database = document.meta.get("db")
    return list(legal_names([database]).values()) if isinstance(database, str) else []


def save_all(
    door: OnRecord,
    documents: Sequence[EvalDocument],
    now: datetime,
    notices: Counter[str],
    saved: Callable[[], None],
    references: Callable[[EvalDocument], Sequence[str]] = datasource_of,
    more: Callable[[str], dict[str, Any]] = lambda text: {},
) -> dict[str, str]:
    """Save each document under a number; returns the document's id for each memory.

    An id of its own keeps a memory from being merged with another of the same text. `references` says which datasource
    and which entities of the catalog a document is about; they come before the names in it. `more` gives fields that a
    text is kept with.
    """
    names: dict[str, str] = {}
    for number, document in enumerate(documents, 1):
        fields = memory_of(document, now, notices)
        fields["entities"] = [*references(document), *fields["entities"]][: limits.ENTITIES]
        if fields["content"].strip():
            fields |= more(fields["content"])
            answer = door.remember(**fields, id=str(number), alike="keep")
            names[answer.memory.id] = document.id
            notices["Secrets taken out of documents"] += answer.scrubbed
        else:
            notices["Documents without text, left out"] += 1
        saved()
    return names


def _fitting(text: str, notices: Counter[str]) -> str:
    """The text, cut to the size that a memory may have."""
    clean = storable(text)
    if len(raw := clean.encode()) <= limits.CONTENT_BYTES:
        return clean
    notices[f"Documents longer than {limits.CONTENT_BYTES // 1024} KiB, cut there"] += 1
    return raw[: limits.CONTENT_BYTES].decode(errors="ignore")


def storable(text: str) -> str:
    """The text without characters that JSON can hold and databases cannot: half an emoji, and NUL."""
    return text.encode(errors="replace").decode().replace("\x00", " ")


def _conversation(session: Any) -> str | None:
    """A session of the data becomes a conversation."""
    try:
        return None if session is None else rules.NAME(str(session))
    except ValueError:
        return None


def _references(named: Sequence[Any], notices: Counter[str]) -> list[str]:
    """`thing:` keeps a name that begins with `memory:` from being read as a memory."""
    rule, found = rules.Reference(), dict[str, None]()
    for name in named:
        text = " ".join(str(name).split())
        try:
            found |= {rule(f"thing:{text}"): None} if text else {}
        except ValueError:
            notices["Entities that cannot be references, left out"] += 1
    if (excess := len(found) - limits.ENTITIES) > 0:
        notices[f"Entities beyond {limits.ENTITIES} of one document, left out"] += excess
    return list(found)[: limits.ENTITIES]


def _past(date: Any, now: datetime) -> datetime | Unset:
    """Since when it is true. A future date would hide the memory from a question asked today."""
    moment = _moment(date) if isinstance(date, str) else None
    return UNSET if moment is None or moment > now else moment


def _moment(date: str) -> datetime | None:
    try:
        return rules.instant(date)
    except ValueError:
        pass
    for form in _DATES:
        try:
            return datetime.strptime(_WEEKDAY.sub("", date), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _metadata(meta: dict[str, Any], notices: Counter[str]) -> dict[str, Any]:
    try:
        clean: dict[str, Any] = rules.Json()(meta)
    except ValueError:
        notices["Metadata that cannot be stored, left out"] += 1
        return {}
    return clean
