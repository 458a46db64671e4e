"""WHAT did an advisor do, in the words of the runtime? Blocks of an answer over HTTP, and lines of a slash command's."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from onrecord.context.frame import one_line
from onrecord.faces.arbiter.fields import is_no, is_yes, read_model
from onrecord.model import ids
from onrecord.model.advice import NO, YES, Advised, Task
from onrecord.providers.advising import NO_ADVISOR

#: The note for advice that was requested but not given, because no advisor is configured.
LEFT_OUT: Final = f"{NO_ADVISOR} here, so this was left out"
_NO_QUESTION: Final = "there is no q, so there was nothing to ask"
_BY_HAND: Final = "supersedes_ids was given, so nobody was asked"
_WAITS: Final = "the entry waits for a review, so nobody was asked"
_NOTHING_NEAR: Final = "there is nothing else of this type, so nobody was asked"
#: The task behind each switch of an agent, and the note if it was not done.
SWITCHES: Final[Mapping[str, tuple[Task, str]]] = {
    "search_expand": ("expand", "only the query itself was searched"),
    "rerank": ("rerank", "the order is that of the search"),
    "auto_tag": ("tag", "the entry is stored as it was written"),
    "auto_supersede": ("supersede", "the entry is stored as it was written"),
}


def whom(field: str, value: Any) -> str | None:
    """Whom a parameter wants to be asked: the model that it names, or whichever is configured."""
    read_model(field, value)
    if not value:
        return None
    return YES if is_yes(value) else NO if is_no(value) else value


def on_search(query: Mapping[str, str], found: Sequence[Advised] | None) -> dict[str, Any]:
    """The blocks of an answer about a search: `expansion` and `rerank`. Without a question, nothing was searched for."""
    blocks: dict[str, Any] = {}
    if model := query.get("expand"):
        advised = _of("expand", found)
        queries = list(advised.said) if advised else []
        blocks["expansion"] = _block(model, advised, _NO_QUESTION, queries=queries)
    if query.get("rerank") or query.get("rerank_fine"):
        blocks["rerank"] = _block(query.get("rerank", ""), _of("rerank", found), _NO_QUESTION)
        if fine := query.get("rerank_fine"):
            advised = _of("rerank_fine", found)
            blocks["rerank"] |= {"fine_model": fine, "fine_applied": advised is not None and advised.applied}
            if advised is not None and (note := _note(advised)):
                blocks["rerank"] |= {"note": blocks["rerank"].get("note", note)}
    return blocks


def on_entry(
    body: Mapping[str, Any], found: Sequence[Advised], *, by_hand: bool, waits: bool
) -> dict[str, Any]:
    """The blocks of an answer about a new entry: `auto_tag` and `supersede`. One that waits for a review ends nothing yet."""
    blocks: dict[str, Any] = {}
    if model := body.get("auto_tag"):
        advised = _of("tag", found)
        blocks["auto_tag"] = _block(model, advised, added=list(advised.said) if advised else [])
    if model := body.get("supersede"):
        advised = _of("supersede", found)
        blocks["supersede"] = _block(
            model,
            advised,
            _BY_HAND if by_hand else _WAITS if waits else _NOTHING_NEAR,
            candidates=[_number(id) for id in advised.shown] if advised else [],
            invalidated=[_number(id) for id in advised.said] if advised else [],
        )
    return blocks


def lines_about(switch: str, found: Sequence[Advised]) -> Iterator[str]:
    """What a slash command says of a switch that was asked for and not obeyed."""
    task, instead = SWITCHES[switch]
    advised = _of(task, found)
    if advised is not None and not advised.applied:
        note = one_line(advised.note or "")
        is_plain = advised.note == NO_ADVISOR or advised.was_needless
        yield f"{switch}: {note if is_plain else f'advisor unavailable: {note}'}; {instead}"


def also_searched(found: Sequence[Advised]) -> Iterator[str]:
    """The line by which an agent sees what else was searched for."""
    advised = _of("expand", found)
    if advised is not None and advised.applied:
        phrases = " | ".join(f"'{one_line(each)}'" for each in advised.said)
        yield f"(also searched: {phrases})"


def _of(task: Task, found: Sequence[Advised] | None) -> Advised | None:
    return next((each for each in found or () if each.task == task), None)


def _block(model: str, advised: Advised | None, otherwise: str = "", **lists: list[Any]) -> dict[str, Any]:
    """What was asked for, whether it was done, what came of it, and why not if it was not."""
    note = otherwise if advised is None else _note(advised)
    fields = {"model": model, "applied": advised is not None and advised.applied, **lists}
    return fields | ({"note": note} if note else {})


def _note(advised: Advised) -> str | None:
    if advised.note == NO_ADVISOR:
        return LEFT_OUT
    if advised.applied or not advised.note:
        return None
    return advised.note if advised.was_needless else f"advisor unavailable: {advised.note}"


def _number(id: str) -> int | str:
    whole = ids.whole_number(id)
    return id if whole is None else whole
