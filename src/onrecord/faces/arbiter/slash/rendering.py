"""HOW do we show memories to an agent? Line by line, in frames that no stored text can open, close or leave."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from onrecord.context.frame import lines_of
from onrecord.context.legend import MEANING
from onrecord.faces.arbiter.entries import is_bare
from onrecord.faces.arbiter.fields import TYPE_OF, TYPES, kinds_of
from onrecord.model.checks import CHECK_WORDS
from onrecord.model.conversation_names import called
from onrecord.model.findings import Edge
from onrecord.model.limits import RELATIONS
from onrecord.model.memory import Memory, Relation
from onrecord.model.tiers import WORDS
from onrecord.model.workspace import Artifact, ConversationKey
from onrecord.recall.relations import Neighbourhood
from onrecord.recall.show import Shown

EXCERPTS: Final = 3
EXCERPT_BYTES: Final = 480
NODES: Final = 50
PAGE_BYTES: Final = 32 * 1024
SPARSE_BELOW: Final = 4
_LINE_CHARACTERS: Final = 300

_LIKE_OURS: Final = re.compile(r"\[(?=\s*(?:/\s*(?:read|write)\b|conversation\s*\]))", re.IGNORECASE)
_LIKE_A_COMMAND: Final = re.compile(r"^(\s*)/(?=\s*(?:mem|endmem|write|endwrite|read)\b)", re.IGNORECASE)
_VERDICTS: Final = {
    "isolated": "nothing is linked to it yet; search, and link what you find",
    "sparse": "little is linked here; new findings are worth adding",
    "dense": "the area is covered; read what is there before you look for more",
}


def heading(command: str) -> str:
    """A command as it was written, to head its answer; cut if it is long."""
    line = one_line(command)
    return line if len(line) <= _LINE_CHARACTERS else f"{line[: _LINE_CHARACTERS - 1]}…"


def one_line(text: str) -> str:
    return " ".join(line.strip() for line in _safe_lines(text)).strip()


def whole_text(text: str) -> str:
    """A text as it is, but escaped where a reader could take it for one of our frames or for a command."""
    return "\n".join(_LIKE_A_COMMAND.sub(r"\1\\u{2f}", line) for line in _safe_lines(text))


def _safe_lines(text: str) -> list[str]:
    return [_LIKE_OURS.sub(r"\\u{5b}", line) for line in lines_of(text)]


def _quoted(text: str) -> Iterator[str]:
    return (f"    | {line}".rstrip() for line in _safe_lines(text))


def summary(memory: Memory) -> str:
    """A memory in one line: `#42  [project] (2026-04-24 · superseded 2026-05-01 · by an agent)  Title [tag]  (source: x)`

    The tier of the author comes before the title, so that no title can imitate it.
    """
    line = f"#{one_line(memory.id)}  [{TYPE_OF[memory.kind]}] ({_marks(memory)})  {one_line(memory.title)}"
    if memory.tags:
        line += f" [{', '.join(map(one_line, memory.tags))}]"
    return f"{line}  (source: {one_line(memory.source)})" if memory.source else line


def _found(memory: Memory) -> str:
    """A line of a list; if the memory is linked to a file, with the command that reads it from any conversation."""
    if memory.artifact is None:
        return f"- {summary(memory)}"
    way = f"/read #{memory.artifact} via=mem:{one_line(memory.id)}"
    return f"- {summary(memory)}  (artifact #{memory.artifact}: {way})"


def _marks(memory: Memory) -> str:
    marks = [f"{memory.valid_from:%Y-%m-%d}"]
    if memory.valid_to is not None:
        marks.append(f"superseded {memory.valid_to:%Y-%m-%d}")
    elif memory.status != "active":
        marks.append(memory.status)
    if memory.check_state is not None:
        # What was seen comes from a database.
        seen = f': "{one_line(memory.check_seen)}"' if memory.check_seen else ""
        marks.append(f"{CHECK_WORDS[memory.check_state]}{seen}")
    marks.append(WORDS[memory.tier])
    return " · ".join(marks)


def listing(memories: Sequence[Memory], most: int, is_cut: bool) -> Iterator[str]:
    yield f"{len(memories)} {_plural(len(memories), 'entry', 'entries')} (newest first):"
    yield from map(_found, memories)
    if is_cut:
        yield f"({most} are shown and there are more; name a type or a tag, or search)"


def hits(question: str, found: Sequence[Memory], here: ConversationKey | None) -> Iterator[str]:
    """The results of a search, the first few with the start of their text; marks those pinned to this conversation."""
    count = f"{len(found)} {_plural(len(found), 'match', 'matches')}"
    yield f"{count} for '{one_line(question)}' (top by relevance):"
    for place, memory in enumerate(found):
        is_local = here is not None and memory.pinned == here
        yield f"{_found(memory)}{'  [conversation]' if is_local else ''}"
        if place < EXCERPTS and not is_bare(memory):
            yield from _quoted(excerpt(memory.content))


def excerpt(content: str) -> str:
    whole = content.strip().encode()
    if len(whole) <= EXCERPT_BYTES:
        return content.strip()
    return whole[:EXCERPT_BYTES].decode(errors="ignore") + " ..."


def one_entry(shown: Shown, around: Neighbourhood, here: ConversationKey | None, user: str) -> Iterator[str]:
    memory = shown.memory
    yield summary(memory)
    if memory.pinned is not None:
        yield f"conversation: {one_line(called(memory.pinned, user))}"
    if memory.artifact is not None:
        yield _linked_file(memory, shown.artifact, here and called(here, user))
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


def _linked_file(memory: Memory, file: Artifact | None, here: str | None) -> str:
    """The file that an entry is linked to, and the command that reads it from this conversation."""
    if file is None:
        return f"artifact: {one_line(memory.artifact or '')}"
    is_near = here in (None, file.conversation)
    way = "" if is_near else f" via=mem:{one_line(memory.id)}"
    line = f"artifact: #{file.id}  {one_line(file.path)} ({one_line(file.media_type)}, {file.size} bytes)"
    return f"{line}  to read it: /read #{file.id}{way}"


def _neighbour(edge: Edge) -> str:
    memory = edge.memory
    if memory.valid_to is not None:
        return f"#{one_line(memory.id)}  (unavailable) (superseded {memory.valid_to:%Y-%m-%d})"
    return f"#{one_line(memory.id)}  {one_line(memory.title)} ({TYPE_OF[memory.kind]})"


def subgraph(around: Neighbourhood, depth: int) -> Iterator[str]:
    """The tree of what is linked to an entry, with the relation on every edge."""
    hops = _hops(around)
    shown = dict(list(hops.items())[:NODES])
    counted = f"{len(shown)} {_plural(len(shown), 'node', 'nodes')}"
    yield f"Subgraph around #{one_line(around.center.id)} (depth={depth}, {counted}):"
    yield summary(around.center)
    edges = [edge.relation for edge in around.edges]
    between = [edge for edge in edges if edge.source in shown and edge.target in shown]
    yield from _Tree(shown, between).branches(around.center.id, "  ")
    if len(hops) > NODES or around.truncated:
        yield f"(capped at {NODES} nodes and there are more; expand one of these to go on)"


class _Tree:
    """The lines of a tree, which shows every edge once.

    Where an edge first leads to an entry one step farther away, that entry is shown with its own edges. Any other edge
    only gives the id of the entry, which is elsewhere in the tree.
    """

    def __init__(self, nodes: Mapping[str, tuple[Memory, int]], edges: Sequence[Relation]) -> None:
        self._nodes, self._edges = nodes, edges
        self._placed: set[str] = set()
        self._shown: set[str] = set()

    def branches(self, id: str, indent: str) -> Iterator[str]:
        mine = [
            edge for edge in self._edges if id in (edge.source, edge.target) and edge.id not in self._shown
        ]
        self._shown.update(edge.id for edge in mine)
        ends = {edge.id: edge.target if edge.source == id else edge.source for edge in mine}
        own = {end for end in ends.values() if self._is_farther(id, end)} - self._placed
        self._placed |= own
        grown: set[str] = set()
        for edge in mine:
            end = ends[edge.id]
            arrow = f"--[{edge.relation}]-->" if edge.source == id else f"<--[{edge.relation}]--"
            if end in own - grown:
                grown.add(end)
                yield f"{indent}{arrow} {summary(self._nodes[end][0])}"
                yield from self.branches(end, f"{indent}    ")
            else:
                yield f"{indent}{arrow} #{one_line(end)}  (elsewhere in this tree)"

    def _is_farther(self, id: str, end: str) -> bool:
        return self._nodes[end][1] == self._nodes[id][1] + 1


def _hops(around: Neighbourhood) -> dict[str, tuple[Memory, int]]:
    """Each entry and how many steps away it is, nearest first."""
    found = {around.center.id: (around.center, 0)}
    for edge in around.edges:
        found.setdefault(edge.memory.id, (edge.memory, edge.hop))
    return found


def degree(around: Neighbourhood) -> Iterator[str]:
    """How many links an entry has to live entries. Edges to entries that have ended do not count."""
    live = {around.center.id, *(edge.memory.id for edge in around.edges if edge.memory.is_live)}
    edges = [edge for edge in around.edges if {edge.relation.source, edge.relation.target} <= live]
    near = [edge for edge in edges if edge.hop == 1]
    outgoing = sum(edge.direction == "out" for edge in near)
    names = sorted({edge.relation.relation for edge in near})
    first = {edge.memory.id for edge in near}
    second = {
        end
        for edge in edges
        if not first.isdisjoint(ends := {edge.relation.source, edge.relation.target})
        for end in ends - first - {around.center.id}
    }
    yield f"Density of #{one_line(around.center.id)}  {one_line(around.center.title)} ({TYPE_OF[around.center.kind]}):"
    yield f"  out-edges: {outgoing}"
    yield f"  in-edges: {len(near) - outgoing}"
    yield f"  distinct relations: {len(names)}{f' ({_listed(names)})' if names else ''}"
    yield f"  1-hop nodes: {len(first)}"
    yield f"  2-hop reach: {len(second)}{' or more' if around.truncated else ''}"
    if over := sum(edge.hop == 1 for edge in around.edges) - len(near):
        yield f"  not counted: {over} {_plural(over, 'edge', 'edges')} to what is over"
    verdict = "isolated" if not near else "sparse" if len(first | second) < SPARSE_BELOW else "dense"
    yield f"verdict: {verdict} — {_VERDICTS[verdict]}"


def pages(text: str) -> list[str]:
    """A text in pages of at most PAGE_BYTES, cut after a line if possible."""
    whole, start, cut = text.encode(), 0, list[str]()
    while len(whole) - start > PAGE_BYTES:
        end = whole.rfind(b"\n", start, start + PAGE_BYTES) + 1 or start + PAGE_BYTES
        while whole[end] & 0xC0 == 0x80:
            end -= 1
        cut.append(whole[start:end].decode())
        start = end
    return [*cut, whole[start:].decode()]


def usage(commands: str) -> Iterator[str]:
    """The help: each type with the meanings of those of our kinds that it covers; the relations; the commands."""
    yield "Types of an entry:"
    for type in TYPES:
        yield f"- {type}: {'; '.join(MEANING[kind] for kind in kinds_of([type]))}"
    yield f"Relations: {', '.join(RELATIONS)}"
    yield f"Commands: {commands}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def _plural(count: int, one: str, several: str) -> str:
    return one if count == 1 else several
