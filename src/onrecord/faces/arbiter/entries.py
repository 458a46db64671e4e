"""HOW does an agent of the arbiter runtime speak to us? Entries, relations and their graph, in its words and shapes.

This module only translates; the operations decide what is stored, found and refused. In the runtime, times are whole
seconds, sizes are bytes, and an id is written as a number if it is one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from math import floor
from typing import Any, Final, TypeVar

from onrecord.errors import Conflict, Invalid, NotFound, OnRecordError
from onrecord.faces.arbiter import advice
from onrecord.faces.arbiter.fields import (
    TYPE_OF,
    Wrong,
    is_yes,
    moment_in,
    page_size,
    positive_in,
    read_artifact,
    read_content,
    read_id,
    read_moment,
    read_source,
    read_tags,
    read_title,
    read_type,
    read_types,
)
from onrecord.model import ids
from onrecord.model.conversation_names import called, key_of
from onrecord.model.limits import BROWSE_LIMIT, RELATIONS, Status
from onrecord.model.memory import Memory, Relation
from onrecord.model.rules import shown
from onrecord.model.workspace import Artifact, Conversation
from onrecord.recall.recall import Recalled
from onrecord.remember.forget import Forgotten
from onrecord.remember.retire import Retired
from onrecord.remember.revise import Revised
from onrecord.service import OnRecord

#: The statuses that a list shows: entries that have not ended and do not wait for a review.
ACTIVE: Final[tuple[Status, ...]] = ("active", "stale")
#: Ranks title and tags above content, a phrase above scattered words, and entries pinned to the conversation above
#: others.
RECIPE: Final = "graduated"
#: One list by rank alone: neither the conversation nor the tenant nor the global tenant has reserved places in it.
ONE_LIST: Final[Mapping[str, Any]] = {
    "recipe": RECIPE,
    "conversation_places": 0,
    "tenant_places": 0,
    "global_places": 0,
}

#: The fields of an entry that may change after it was written.
PATCHABLE: Final = ("type", "title", "content", "source", "tags", "artifact_id")
LIST_LIMIT, LIST_MOST = 50, 200
RELATIONS_LIMIT, RELATIONS_MOST = 200, 1_000

_PAGE: Final = 1_000
_SECOND, _MOMENT = timedelta(seconds=1), timedelta(microseconds=1)
_NO: Final = frozenset({"", "0", "false", "off", "no"})
#: Marks an entry that has only a title. The content of a memory is never empty, so it repeats the title.
_TITLE_ONLY: Final = "title_only"

Answer = TypeVar("Answer")


class Gone(NotFound):
    """It was there a moment ago."""


class Exists(Conflict):
    """The same relation is there already, under its own number."""

    def __init__(self, existing: int | str) -> None:
        self.existing = existing
        super().__init__(f"relation already exists: it is #{existing}")


def create_entry(door: OnRecord, body: Mapping[str, Any]) -> dict[str, Any]:
    """Store a new entry as given. Those in `supersedes_ids` end with it: either all of this happens, or nothing."""
    wanted: dict[str, Any] = {
        "auto_tag": advice.whom("auto_tag", body.get("auto_tag")),
        "auto_supersede": advice.whom("supersede", body.get("supersede")),
    }
    saved = entry_fields(door, {"type": None, "title": None, "content": "", **body}, "")
    supersedes = _superseded(body.get("supersedes_ids"))
    if written := read_moment("created_at", body.get("created_at")):
        saved["created_at"] = written
    try:
        answer = _linked(
            body, lambda: door.remember(**saved, dedupe=False, alike="keep", supersedes=supersedes, **wanted)
        )
    except OnRecordError:
        _require_active(door, supersedes)
        raise
    if answer.outcome == "rejected":
        raise Conflict(answer.warnings[-1])
    fields = hydrated(door, answer.memory)
    if supersedes:
        fields["supersedes_manual"] = {
            "requested": [number(id) for id in supersedes],
            "invalidated": [number(id) for id in answer.superseded],
        }
    if answer.memory.proposes is not None:
        fields["proposal"] = answer.warnings[-1]
    waits = answer.memory.status == "pending"
    return fields | advice.on_entry(body, answer.advice, by_hand=bool(supersedes), waits=waits)


def get_entry(door: OnRecord, id: str) -> dict[str, Any]:
    """An active entry with the file it is linked to."""
    return hydrated(door, active(door, id))


def patch_entry(door: OnRecord, id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Change the given fields of an active entry; only the fields in PATCHABLE can ever change."""
    before = active(door, id)
    if fixed := [name for name in body if name not in PATCHABLE]:
        raise Wrong(
            fixed[0], f"{', '.join(map(shown, fixed))} cannot be patched; what can is {', '.join(PATCHABLE)}"
        )
    changes = entry_fields(door, body, before.title)
    if "content" in changes:
        others = {name: value for name, value in before.metadata.items() if name != _TITLE_ONLY}
        changes["metadata"] = others | changes.get("metadata", {})
    elif "title" in changes and is_bare(before):
        changes["content"] = changes["title"]
    if not changes:
        return hydrated(door, before)
    try:
        revised = _linked(body, lambda: door.revise(ids.exactly(before.id), **changes))
    except (NotFound, Conflict):
        raise Gone(f"entry {id} vanished while it was changed; nothing was written") from None
    return hydrated(door, revised.memory) | _proposal(revised)


def delete_entry(door: OnRecord, id: str) -> dict[str, Any]:
    """Erase an entry and its relations, even an entry that has ended."""
    try:
        gone = door.forget(id)
    except NotFound:
        raise missing(id) from None
    if gone.proposal is None:
        return {"deleted": True} | ({"note": " ".join(gone.warnings)} if gone.warnings else {})
    return {"deleted": False} | _proposal(gone)


def _proposal(answer: Revised | Retired | Forgotten) -> dict[str, Any]:
    """If the change waits for review, the text that says so: a person wrote the entry, and nothing has changed yet."""
    return {} if answer.proposal is None else {"proposal": answer.warnings[-1]}


def invalidate_entry(door: OnRecord, id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """End an entry that is no longer true. A second call fails, since there is nothing left to end."""
    asked = read_moment("when", body.get("when"))
    memory = known(door, id, "not found or already invalidated")
    # An entry cannot end before it began. If that is asked, it ends where it began: its window is empty, and it was
    # never true.
    at = asked if asked is None else max(asked, memory.valid_from)
    try:
        retired = door.retire(ids.exactly(memory.id), at=at)
    except Invalid as problem:
        raise Wrong("when", f"'when' {problem.faults[0].message}") from None
    if not retired.changed and retired.proposal is None:
        raise missing(id, "not found or already invalidated")
    fields = {"invalidated": retired.changed, "id": number(memory.id)} | _proposal(retired)
    if asked is None or seconds(asked) >= (begun := seconds(memory.valid_from)):
        return fields
    early = "'when' lies before the entry began, so its window"
    if retired.proposal is not None:
        return fields | {
            "note": f"{early} will be closed where it opened, at {begun}, once someone accepts this"
        }
    return fields | {"valid_to": begun, "note": f"{early} is closed where it opened: valid_to is {begun}"}


def list_entries(door: OnRecord, query: Mapping[str, str]) -> dict[str, Any]:
    """Entries, last updated first. With a question in `q`: best first, and type and tag raise entries and hide none."""
    asked = _filters(door, query)
    question = query.get("q", "")
    if not question.strip():
        memories: Sequence[Memory] = door.browse(**asked, unpinned=True).memories
        advised = None
    else:
        found = search(door, question, asked, query)
        memories, advised = [hit.memory for hit in found.hits], found.advice
    answer_fields = {"entries": [entry(door, memory) for memory in memories], "count": len(memories)}
    return answer_fields | advice.on_search(query, advised)


def search(door: OnRecord, question: str, asked: Mapping[str, Any], query: Mapping[str, str]) -> Recalled:
    """The entries that answer a question, best first.

    With `graduated`, or if no conversation is named, they include entries pinned to other conversations, which come
    after equally good entries of this conversation.
    """
    return door.recall(
        question,
        **asked,
        **_decay(query),
        **ONE_LIST,
        elsewhere=asked["conversation"] is None or is_yes(query.get("graduated", "")),
        intent=query.get("intent", "auto").lower() not in _NO - {""},
        expand=advice.whom("expand", query.get("expand")),
        rerank=advice.whom("rerank", query.get("rerank")),
        rerank_fine=advice.whom("rerank_fine", query.get("rerank_fine")),
    )


def create_relation(door: OnRecord, body: Mapping[str, Any]) -> dict[str, Any]:
    """Create a relation; if it exists already, raise Exists with its number."""
    ends = [body.get("source_id"), body.get("target_id")]
    if any(end in (None, 0, "") or isinstance(end, bool) for end in ends):
        raise Wrong("source_id", "source_id and target_id are required, as the ids of two entries")
    source, target = (read_id("source_id and target_id", end) for end in ends)
    if source == target:
        raise Wrong("target_id", f"self-loops not allowed: #{source} cannot relate to itself")
    relation = body.get("relation")
    if relation not in RELATIONS:
        raise Wrong("relation", f"invalid relation {shown(relation)}: must be one of {', '.join(RELATIONS)}")
    try:
        made = door.relate(source, relation, target)
    except NotFound:
        raise Wrong(
            "source_id", "entries belong to different tenants, or one of them does not exist"
        ) from None
    if not made.created:
        raise Exists(number(made.relation.id))
    return edge(door, made.relation)


def list_relations(door: OnRecord, query: Mapping[str, str]) -> dict[str, Any]:
    """Relations, newest first."""
    name = query.get("relation", "")
    if name and name not in RELATIONS:
        raise Wrong(
            "relation", f"invalid relation filter {shown(name)}: must be one of {', '.join(RELATIONS)}"
        )
    ends = {
        end: read_id(f"{end}_id", query[f"{end}_id"])
        for end in ("source", "target")
        if query.get(f"{end}_id")
    }
    limit = page_size(query, RELATIONS_LIMIT, RELATIONS_MOST)
    found = door.relations(**ends, relation=name or None, limit=limit).relations
    return {"relations": [edge(door, each) for each in found], "count": len(found)}


def delete_relation(door: OnRecord, id: str) -> dict[str, Any]:
    """Remove a relation."""
    try:
        door.remove_relation(id)
    except NotFound:
        raise NotFound(f"relation {id} not found") from None
    return {"deleted": True}


def graph(door: OnRecord, query: Mapping[str, str]) -> dict[str, Any]:
    """Every active entry of the given types, and every relation between two of them."""
    kinds = read_types(query.get("type", ""))
    entries = [
        entry(door, memory)
        for page in _pages(lambda after: door.browse(kinds=kinds, statuses=ACTIVE, limit=_PAGE, after=after))
        for memory in page.memories
    ]
    there = {each["id"] for each in entries}
    edges = [
        edge(door, relation)
        for page in _pages(lambda after: door.relations(limit=_PAGE, after=after))
        for relation in page.relations
    ]
    return {
        "tenant_id": number(door.caller.tenant),
        "entries": entries,
        "relations": [each for each in edges if {each["source_id"], each["target_id"]} <= there],
    }


def entry(door: OnRecord, memory: Memory) -> dict[str, Any]:
    """A memory in the shape of an entry."""
    return {
        "id": number(memory.id),
        "tenant_id": number(memory.tenant),
        "type": TYPE_OF[memory.kind],
        "title": memory.title,
        "content": "" if is_bare(memory) else memory.content,
        "source": memory.source or "",
        "tags": list(memory.tags),
        "artifact_id": None if memory.artifact is None else number(memory.artifact),
        "created_at": seconds(memory.created_at),
        "updated_at": seconds(memory.updated_at),
        "valid_from": seconds(memory.valid_from),
        "valid_to": None if memory.valid_to is None else seconds(memory.valid_to),
        "conversation_id": memory.pinned and conversation_id(called(memory.pinned, door.caller.user)),
        "author": memory.author,
        "tier": memory.tier,
    }


def hydrated(door: OnRecord, memory: Memory) -> dict[str, Any]:
    """A memory in the shape of an entry, with the file that it is linked to."""
    fields = entry(door, memory)
    return fields if memory.artifact is None else fields | file_of(door.show(ids.exactly(memory.id)).artifact)


def file_of(artifact: Artifact | None) -> dict[str, Any]:
    return {} if artifact is None else {"artifact": file(artifact)}


def file(artifact: Artifact) -> dict[str, Any]:
    """A file without its content."""
    return {
        "id": number(artifact.id),
        "conversation_id": conversation_id(artifact.conversation),
        "path": artifact.path,
        "sha256": artifact.sha256,
        "mime_type": artifact.media_type,
        "size": artifact.size,
        "created_at": seconds(artifact.created_at),
        "updated_at": seconds(artifact.updated_at),
    }


def edge(door: OnRecord, relation: Relation) -> dict[str, Any]:
    """A relation in the runtime's shape."""
    return {
        "id": number(relation.id),
        "tenant_id": number(door.caller.tenant),
        "source_id": number(relation.source),
        "target_id": number(relation.target),
        "relation": relation.relation,
        "created_at": seconds(relation.created_at),
    }


def number(id: str) -> int | str:
    """An id, as a number if it is one."""
    whole = ids.whole_number(id)
    return id if whole is None else whole


def seconds(moment: datetime) -> int:
    return floor(moment.timestamp())


def missing(id: str, how: str = "not found") -> NotFound:
    return NotFound(f"entry {id} {how}")


def is_bare(memory: Memory) -> bool:
    """Whether an entry has only a title."""
    return memory.metadata.get(_TITLE_ONLY) is True and memory.content == memory.title


def active(door: OnRecord, id: str) -> Memory:
    memory = known(door, id)
    if not memory.is_live:
        raise missing(id)
    return memory


def known(door: OnRecord, id: str, how: str = "not found") -> Memory:
    """An entry, also one that is over."""
    try:
        return door.show(id).memory
    except NotFound:
        raise missing(id, how) from None


def entry_fields(door: OnRecord, body: Mapping[str, Any], title: str) -> dict[str, Any]:
    """The fields of an entry that a body gives, under our names.

    If the content is empty, the title takes its place: the one in the body, or else `title`.
    """
    fields: dict[str, Any] = {}
    if "type" in body:
        fields["kind"] = read_type(body["type"])
    if "title" in body:
        fields["title"] = title = read_title(body["title"])
    if "content" in body:
        content = read_content(body["content"])
        fields |= (
            {"content": content} if content.strip() else {"content": title, "metadata": {_TITLE_ONLY: True}}
        )
    if "source" in body:
        fields["source"] = read_source(body["source"]) or None
    if "tags" in body:
        fields["tags"] = read_tags(body["tags"])
    if "artifact_id" in body:
        fields["artifact"] = read_artifact(body["artifact_id"])
    if "conversation_id" in body:
        fields["conversation"] = read_conversation(door, body["conversation_id"])
    return fields


def read_conversation(door: OnRecord, value: Any) -> str | None:
    """The id of a conversation of this tenant; None for null and 0."""
    if value is None or (value == 0 and not isinstance(value, bool)):
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise NotFound
        return conversation_of(door, str(value)).id
    except (NotFound, Invalid):
        raise Wrong(
            "conversation_id", f"conversation_id does not exist for this tenant: {shown(value)}"
        ) from None


def conversation_of(door: OnRecord, given: str) -> Conversation:
    """The conversation that an id means here: one's own, or else the one that the tenant gave this number, for its members.

    Ids are numbers here, and the tenant gives none twice. Others may still have chosen one that was given: theirs is meant by
    its name alone, `~eve/7`, so that nobody changes what a number means by sharing theirs. NotFound if there is none.
    """
    with suppress(NotFound):
        return door.show_conversation(given).conversation
    found = None if _number_of(given) is None else _numbered(door, ids.plain_conversation(given))
    if found is None:
        raise NotFound(f"conversation {given} not found")
    return found


def _numbered(door: OnRecord, name: str) -> Conversation | None:
    """The conversation that the tenant gave a number, if one is a member of it.

    If an import added another one with that number, the one that was begun first counts; listings show it last.
    """
    page = door.conversations(name=name, limit=BROWSE_LIMIT)
    found = [each for each in page.conversations if each.numbered]
    while page.next is not None:
        page = door.conversations(name=name, limit=BROWSE_LIMIT, after=page.next)
        found += [each for each in page.conversations if each.numbered]
    return found[-1] if found else None


def conversation_id(name: str) -> int | str:
    """The id of a conversation: its number, even if someone else began it, or else the name by which the caller finds it."""
    whole = ids.whole_number(key_of(name, "").id)
    return name if whole is None else whole


def _number_of(given: str) -> int | None:
    return ids.whole_number(ids.plain_conversation(given))


def _linked(body: Mapping[str, Any], act: Callable[[], Answer]) -> Answer:
    try:
        return act()
    except Invalid as error:
        if any(fault.field == "artifact" for fault in error.faults):
            raise Wrong(
                "artifact_id", f"artifact_id does not exist for this tenant: {shown(body.get('artifact_id'))}"
            ) from None
        raise


def _superseded(value: Any) -> list[str]:
    """The ids of entries to end."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise Wrong("supersedes_ids", "supersedes_ids must be an array of positive ids")
    if any(isinstance(each, bool) or not isinstance(each, int | str) or each in (0, "") for each in value):
        raise Wrong("supersedes_ids", "supersedes_ids must contain only positive ids")
    if any(isinstance(each, int) and each < 0 for each in value):
        raise Wrong("supersedes_ids", "supersedes_ids must contain only positive ids")
    return list(dict.fromkeys(read_id("supersedes_ids", each) for each in value))


def _require_active(door: OnRecord, wanted: Sequence[str]) -> None:
    """Raise Wrong for the first of the entries that does not exist or is not active."""
    for id in wanted:
        try:
            memory = door.show(id).memory
        except NotFound:
            raise Wrong("supersedes_ids", f"supersedes_ids: #{id} does not exist for this tenant") from None
        if not memory.is_live:
            raise Wrong("supersedes_ids", f"supersedes_ids: #{id} is invalidated already; name active ones")


def _filters(door: OnRecord, query: Mapping[str, str]) -> dict[str, Any]:
    as_of = moment_in(query, "as_of")
    named = query.get("conversation_id", "").strip()
    return {
        "kinds": read_types(query.get("type", "")),
        "tags": [query["tag"]] if query.get("tag") else [],
        "conversation": read_conversation(door, named) if named else None,
        "created_since": moment_in(query, "since"),
        "updated_before": moment_in(query, "before_updated_at"),
        # We answer in whole seconds, so callers ask in whole seconds too: `as_of` means the end of that second.
        "as_of": None if as_of is None else as_of.replace(microsecond=0) + _SECOND - _MOMENT,
        # For a time in the past, include entries that were active then and have ended since.
        "statuses": ACTIVE if as_of is None else (),
        "limit": page_size(query, LIST_LIMIT, LIST_MOST),
    }


def _decay(query: Mapping[str, str]) -> dict[str, Any]:
    wanted = query.get("decay", "").strip().lower()
    half_life = positive_in(query, "decay_half_life_days")
    if wanted not in _NO and not is_yes(wanted):
        half_life = positive_in(query, "decay")
    floor_given = query.get("decay_floor", "").strip()
    asked: dict[str, Any] = {"decay": wanted not in _NO}
    if half_life is not None:
        asked["half_life_days"] = max(1, round(half_life))
    if floor_given:
        try:
            asked["decay_floor"] = float(floor_given)
        except ValueError:
            raise Wrong("decay_floor", f"decay_floor must be a number (got {shown(floor_given)})") from None
    return asked


def _pages(ask: Callable[[str | None], Answer]) -> Iterator[Answer]:
    after: str | None = None
    while True:
        page: Any = ask(after)
        yield page
        after = page.next
        if after is None:
            return
