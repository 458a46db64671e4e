"""HOW is memory told to an agent? Line by line, in frames that no stored text can open, close or leave."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from onrecord.context.frame import lines_of
from onrecord.faces.arbiter.entries import is_bare
from onrecord.faces.arbiter.fields import TYPE_OF
from onrecord.model.findings import Edge
from onrecord.model.memory import Memory
from onrecord.model.workspace import Artifact
from onrecord.recall.relations import Neighbourhood
from onrecord.recall.show import Shown

EXCERPTS: Final = 3
EXCERPT_BYTES: Final = 480
NODES: Final = 50
SPARSE_BELOW: Final = 4
_LINE_CHARACTERS: Final = 300

_LIKE_OURS: Final = re.compile(r"\[(?=\s*(?:/\s*(?:read|write)\b|conversation\s*\]))", re.IGNORECASE)
_LIKE_A_COMMAND: Final = re.compile(r"^(\s*)/(?=\s*(?:mem|endmem|write|endwrite|read)\b)", re.IGNORECASE)
_VERDICTS: Final = {
    "isolated": "nothing is linked to it yet; search, and link what you find",
    "sparse": "little is linked here; new findings are worth adding",
    "dense": "the area is covered; read what is there before you look for more",
}


def told_line(command: str) -> str:
    """A command as it was written, which heads its answer."""
    told = one_line(command)
    return told if len(told) <= _LINE_CHARACTERS else f"{told[: _LINE_CHARACTERS - 1]}…"


def one_line(text: str) -> str:
    return " ".join(line.strip() for line in _safe_lines(text)).strip()


def whole_text(text: str) -> str:
    """A text as it is, except where it would be taken for a frame of ours or for a command."""
    return "\n".join(_LIKE_A_COMMAND.sub(r"\1\\u{2f}", line) for line in _safe_lines(text))


def _safe_lines(text: str) -> list[str]:
    return [_LIKE_OURS.sub(r"\\u{5b}", line) for line in lines_of(text)]


def _quoted(text: str) -> Iterator[str]:
    return (f"    | {line}".rstrip() for line in _safe_lines(text))


def summary(memory: Memory) -> str:
    """`#42  [project] (2026-04-24 · superseded 2026-05-01)  Title [tag]  (source: x)`"""
    line = f"#{one_line(memory.id)}  [{TYPE_OF[memory.kind]}] ({_dates(memory)})  {one_line(memory.title)}"
    if memory.tags:
        line += f" [{', '.join(map(one_line, memory.tags))}]"
    return f"{line}  (source: {one_line(memory.source)})" if memory.source else line


def _dates(memory: Memory) -> str:
    marks = [f"{memory.valid_from:%Y-%m-%d}"]
    if memory.valid_to is not None:
        marks.append(f"superseded {memory.valid_to:%Y-%m-%d}")
    elif memory.status != "active":
        marks.append(memory.status)
    return " · ".join(marks)


def listing(memories: Sequence[Memory], most: int, is_cut: bool) -> Iterator[str]:
    yield f"{len(memories)} {_plural(len(memories), 'entry', 'entries')} (newest first):"
    yield from (f"- {summary(memory)}" for memory in memories)
    if is_cut:
        yield f"({most} are shown and there are more; name a type or a tag, or search)"


def hits(question: str, found: Sequence[Memory], conversation: str | None) -> Iterator[str]:
    """The first few with the beginning of their text; what is pinned to this conversation is marked."""
    count = f"{len(found)} {_plural(len(found), 'match', 'matches')}"
    yield f"{count} for '{one_line(question)}' (top by relevance):"
    for place, memory in enumerate(found):
        is_local = conversation is not None and memory.conversation == conversation
        yield f"- {summary(memory)}{'  [conversation]' if is_local else ''}"
        if place < EXCERPTS and not is_bare(memory):
            yield from _quoted(excerpt(memory.content))


def excerpt(content: str) -> str:
    whole = content.strip().encode()
    if len(whole) <= EXCERPT_BYTES:
        return content.strip()
    return whole[:EXCERPT_BYTES].decode(errors="ignore") + " ..."


def one_entry(shown: Shown, around: Neighbourhood, conversation: str | None) -> Iterator[str]:
    memory = shown.memory
    yield summary(memory)
    if memory.conversation is not None:
        yield f"conversation: {one_line(memory.conversation)}"
    if memory.artifact is not None:
        yield _linked_file(memory, shown.artifact, conversation)
    if is_bare(memory):
        yield "(no content)"
    else:
        yield "content:"
        yield from _quoted(memory.content)
    outgoing = [edge for edge in around.edges if edge.direction == "out"]
    incoming = [edge for edge in around.edges if edge.direction == "in"]
    if not around.edges:
        yield "(no edges)"
    if outgoing:
        yield "outgoing:"
        yield from (f"  --[{edge.relation.relation}]--> {_neighbour(edge)}" for edge in outgoing)
    if incoming:
        yield "incoming:"
        yield from (f"  {_neighbour(edge)}  --[{edge.relation.relation}]-->" for edge in incoming)
    if around.truncated:
        yield f"(the first {len(around.edges)} edges are shown and there are more)"


def _linked_file(memory: Memory, file: Artifact | None, conversation: str | None) -> str:
    """Where the long form is, and the very command that reads it from here."""
    if file is None:
        return f"artifact: {one_line(memory.artifact or '')}"
    way = "" if conversation in (None, file.conversation) else f" via=mem:{one_line(memory.id)}"
    told = f"artifact: #{file.id}  {one_line(file.path)} ({one_line(file.media_type)}, {file.size} bytes)"
    return f"{told}  to read it: /read #{file.id}{way}"


def _neighbour(edge: Edge) -> str:
    memory = edge.memory
    if memory.valid_to is not None:
        return f"#{one_line(memory.id)}  (unavailable) (superseded {memory.valid_to:%Y-%m-%d})"
    return f"#{one_line(memory.id)}  {one_line(memory.title)} ({TYPE_OF[memory.kind]})"


def subgraph(around: Neighbourhood, depth: int) -> Iterator[str]:
    """The entries by how far away they are, then the edges between them."""
    hops = _hops(around)
    shown = dict(list(hops.items())[:NODES])
    counted = f"{len(shown)} {_plural(len(shown), 'node', 'nodes')}"
    yield f"Subgraph around #{one_line(around.center.id)} (depth={depth}, {counted}):"
    for hop in sorted({hop for _, hop in shown.values()}):
        yield f"hop {hop}:"
        yield from (f"  - {summary(memory)}" for memory, at in shown.values() if at == hop)
    edges = [edge.relation for edge in around.edges]
    between = [edge for edge in edges if edge.source in shown and edge.target in shown]
    if between:
        yield "edges:"
        yield from (
            f"  #{one_line(edge.source)} --[{edge.relation}]--> #{one_line(edge.target)}" for edge in between
        )
    if len(hops) > NODES or around.truncated:
        yield f"(capped at {NODES} nodes and there are more; expand one of these to go on)"


def _hops(around: Neighbourhood) -> dict[str, tuple[Memory, int]]:
    """Each entry and how many steps away it is, nearest first."""
    found = {around.center.id: (around.center, 0)}
    for edge in around.edges:
        found.setdefault(edge.memory.id, (edge.memory, edge.hop))
    return found


def degree(around: Neighbourhood) -> Iterator[str]:
    near = [edge for edge in around.edges if edge.hop == 1]
    outgoing = sum(edge.direction == "out" for edge in near)
    names = sorted({edge.relation.relation for edge in near})
    steps = [hop for _, hop in _hops(around).values()]
    one, two = steps.count(1), steps.count(2)
    yield f"Density of #{one_line(around.center.id)}  {one_line(around.center.title)} ({TYPE_OF[around.center.kind]}):"
    yield f"  out-edges: {outgoing}"
    yield f"  in-edges: {len(near) - outgoing}"
    yield f"  distinct relations: {len(names)}{f' ({_listed(names)})' if names else ''}"
    yield f"  1-hop nodes: {one}"
    yield f"  2-hop reach: {two}{' or more' if around.truncated else ''}"
    verdict = "isolated" if not near else "sparse" if one + two < SPARSE_BELOW else "dense"
    yield f"verdict: {verdict} — {_VERDICTS[verdict]}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def _plural(count: int, one: str, several: str) -> str:
    return one if count == 1 else several
