"""HOW does an agent use memory in the middle of a turn? By command lines in its own text, each answered by a block.

This module only translates: it turns commands into operations, and their answers into lines of text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from onrecord.context.conversation import inside
from onrecord.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    OnRecordError,
    OutcomeUnknown,
    StoreUnavailable,
    TooMany,
    invalid,
)
from onrecord.faces.arbiter import advice, agents
from onrecord.faces.arbiter.entries import ACTIVE, ONE_LIST
from onrecord.faces.arbiter.fields import TYPE_OF, kinds_of
from onrecord.faces.arbiter.slash import rendering
from onrecord.faces.arbiter.slash.grammar import DEPTH, USES, commands
from onrecord.faces.arbiter.slash.parsed import (
    AddEntry,
    AddLink,
    ClearNotes,
    Command,
    Density,
    Entries,
    Entry,
    Expand,
    Help,
    Invalidate,
    JudgeEntry,
    ReadFile,
    ReadNotes,
    ReadSharedNotes,
    RefusedCommand,
    SearchEntries,
    WriteFile,
    WriteNotes,
)
from onrecord.faces.arbiter.slash.rendering import one_line
from onrecord.model import ids
from onrecord.model.advice import NO, Advised
from onrecord.model.agent import ShownAgent
from onrecord.model.conversation_names import key_of
from onrecord.model.limits import NEIGHBOUR_LIMIT, RelationName
from onrecord.model.request import checked
from onrecord.model.rules import OrNone, Text
from onrecord.model.shapes import checked_field
from onrecord.model.workspace import DEFAULT_AGENT, SHARED_SCRATCHPAD, AgentSettings, ConversationKey
from onrecord.providers.advising import NO_ADVISOR
from onrecord.recall.relations import Neighbourhood
from onrecord.remember.remember import Remembered
from onrecord.service import OnRecord
from onrecord.workspace.agents import ShowAgent

__all__ = ["COMMANDS", "SAID", "SlashAnswer", "SlashResult", "commands", "run"]

#: The most commands that we run in one text.
COMMANDS: Final = 200
#: What an agent has said: what cannot be stored in it is refused by the command that would store it.
SAID: Final = Text(any_character=True)
#: Once the answers to a text are longer than this, we run no more of its commands.
OUTPUT_BYTES: Final = 16 * 1024 * 1024
_BROWSED: Final = 100
_FOUND: Final = 50
_FOUND_TO_RERANK: Final = 10
_SOURCE: Final = "agent"
#: The switches of an agent that concern what it adds.
_ON_ENTRIES: Final = ("auto_tag", "auto_supersede")
_MEDIA_TYPE: Final = "text/plain"
_UNAVAILABLE: Final = "the store cannot be used right now; nothing was changed by this. Try again in a moment"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashResult:
    """The result of one command: its line, whether it was done, and the block of output."""

    command: str
    ok: bool
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashAnswer:
    """What an agent's text gives back: the blocks one after the other, and each by itself."""

    output: str
    results: tuple[SlashResult, ...] = ()


class _Failed(Exception):
    """A command failed; the message says why."""


def run(
    door: OnRecord,
    text: str,
    *,
    agent: str | None = None,
    conversation: str | None = None,
    count_another: Callable[[], None] = lambda: None,
) -> SlashAnswer:
    """Run the commands of a text in order. If one fails, its block says so, and the next ones still run.

    `count_another` counts a command against the caller's limit. We call it before each command but the first, which
    was counted when the text came in. If it raises TooMany, we do not run the rest, and the last block says when to
    send it again.
    """
    checked_field("text", SAID, text)
    turn = _CommandRunner(_for_an_agent(door, conversation), _agent_name(door, agent))
    results: list[SlashResult] = []
    written = 0
    for command in commands(text):
        if len(results) >= COMMANDS or written > OUTPUT_BYTES:
            results.append(_stopped(command, "too much at once", "in another text"))
            break
        try:
            if results:
                count_another()
        except TooMany as limit:
            results.append(_stopped(command, "too many commands", f"in {limit.retry_after} s"))
            break
        results.append(turn.result(command))
        written += len(results[-1].output)
    return SlashAnswer(output="\n\n".join(result.output for result in results), results=tuple(results))


def _for_an_agent(door: OnRecord, conversation: str | None) -> OnRecord:
    """The door for an agent's text: what the text writes counts as an agent's, even if a person passes the text on."""
    checked_field("conversation", OrNone(SAID), conversation)
    caller = inside(door.caller, conversation and ids.plain_conversation(conversation))
    return door.as_caller(replace(caller, actor="agent") if caller.actor == "person" else caller)


def _agent_name(door: OnRecord, agent: str | None) -> str:
    name = DEFAULT_AGENT if agent is None else checked(ShowAgent(agent), door.caller).agent
    if name == SHARED_SCRATCHPAD:
        raise invalid("agent", f"{SHARED_SCRATCHPAD} names the notes that all agents share; name one agent")
    return name


def _stopped(command: Command, reason: str, when: str) -> SlashResult:
    line = rendering.heading(command.head)
    message = f"[/mem] ERR: {reason}; from '{line}' on nothing was run. Send the rest {when}"
    return SlashResult(command=line, ok=False, output=message)


class _CommandRunner:
    """Runs the commands in one text of one agent."""

    def __init__(self, door: OnRecord, agent: str) -> None:
        self._door, self._agent = door, agent
        self._acts: Mapping[type[Command], Callable[[Any], Iterator[str]]] = {
            Help: self._help,
            Entries: self._entries,
            Entry: self._entry,
            SearchEntries: self._search,
            Expand: self._expand,
            Density: self._density,
            AddEntry: self._add_entry,
            AddLink: self._add_link,
            Invalidate: self._invalidate,
            JudgeEntry: self._judge_entry,
            WriteNotes: self._write_notes,
            ReadNotes: self._read_notes,
            ReadSharedNotes: self._read_shared_notes,
            ClearNotes: self._clear_notes,
            WriteFile: self._write_file,
            ReadFile: self._read_file,
            RefusedCommand: self._refuse,
        }

    def result(self, command: Command) -> SlashResult:
        ok = True
        try:
            lines = list(self._acts[type(command)](command))
        except (_Failed, OnRecordError) as problem:
            ok, lines = False, [f"ERR: {_reason(problem)}"]
        closing = command.closing
        if isinstance(command, RefusedCommand) and not command.is_block:
            closing = None
        line = rendering.heading(command.head)
        output = f"[{line}] {lines[0]}" if closing is None else "\n".join([f"[{line}]", *lines, closing])
        return SlashResult(command=line, ok=ok, output=output)

    @property
    def _conversation(self) -> str | None:
        return self._door.caller.conversation

    @cached_property
    def _here(self) -> ConversationKey | None:
        """Which conversation the agent is in, as far as it is a member there."""
        if self._conversation is None:
            return None
        try:
            found = self._door.show_conversation(self._conversation).conversation
        except NotFound:
            return ConversationKey(self._door.caller.user, self._conversation)
        return key_of(found.id, self._door.caller.user)

    @cached_property
    def _settings(self) -> ShownAgent:
        """How the agent is set; one that others use searches with the defaults."""
        try:
            return self._door.show_agent(self._agent)
        except Forbidden:
            return ShownAgent(agent=self._agent, settings=AgentSettings())

    def _refuse(self, asked: RefusedCommand) -> Iterator[str]:
        raise _Failed(asked.reason)

    def _help(self, asked: Help) -> Iterator[str]:
        return rendering.usage(USES)

    def _entries(self, asked: Entries) -> Iterator[str]:
        tags = () if asked.tag is None else (asked.tag,)
        kinds = kinds_of(asked.types)
        found = self._door.browse(kinds=kinds, tags=tags, statuses=ACTIVE, limit=_BROWSED)
        if found.memories:
            yield from rendering.listing(found.memories, _BROWSED, found.next is not None)
        else:
            yield "(no entries)" if asked.tag is None else f"(no entries tagged '{one_line(asked.tag)}')"

    def _entry(self, asked: Entry) -> Iterator[str]:
        around = self._around(asked.id, depth=1)
        return rendering.one_entry(self._door.show(asked.id), around, self._here, self._door.caller.user)

    def _search(self, asked: SearchEntries) -> Iterator[str]:
        found = self._door.recall(
            asked.question,
            kinds=kinds_of(asked.types),
            tags=() if asked.tag is None else (asked.tag,),
            limit=_FOUND_TO_RERANK if asked.rerank else _FOUND,
            agent=self._agent,
            statuses=ACTIVE,
            decay=agents.decays(self._settings),
            expand=self._whom("search_expand"),
            rerank=agents.advisor_of(self._settings) if asked.rerank else None,
            **ONE_LIST,
        )
        yield from advice.also_searched(found.advice)
        for switch, is_asked in (("search_expand", False), ("rerank", asked.rerank)):
            yield from (f"({line})" for line in self._unadvised(switch, found.advice, is_asked))
        if not found.hits:
            yield f"(no entries match '{one_line(asked.question)}')"
            return
        memories = [hit.memory for hit in found.hits]
        yield from rendering.hits(asked.question, memories, self._here)

    def _expand(self, asked: Expand) -> Iterator[str]:
        return rendering.subgraph(self._around(asked.id, asked.depth), asked.depth)

    def _density(self, asked: Density) -> Iterator[str]:
        return rendering.degree(self._around(asked.id, DEPTH))

    def _around(self, id: str, depth: int) -> Neighbourhood:
        """The neighbours of an entry; _Failed if the entry does not exist or has ended."""
        try:
            around = self._door.neighbours(id, depth=depth, limit=NEIGHBOUR_LIMIT)
        except NotFound:
            raise _Failed(f"entry {id} not found") from None
        if not around.center.is_live:
            raise _Failed(f"entry {id} not found")
        return around

    def _add_entry(self, asked: AddEntry) -> Iterator[str]:
        for old in asked.supersedes:
            if not self._is_live(old):
                raise _Failed(
                    f"--supersedes #{old} does not exist for this tenant (or is already invalidated; pass active ids only)"
                )
        given: dict[str, Any] = {} if asked.artifact is None else {"artifact": asked.artifact}
        given |= {name: self._whom(name) for name in _ON_ENTRIES}
        try:
            saved = self._door.remember(
                asked.body,
                kind=asked.type,  # type: ignore[arg-type]
                title=asked.title,
                source=_SOURCE,
                supersedes=asked.supersedes,
                dedupe=False,
                alike="keep",
                agent=self._agent,
                **given,
            )
        except Invalid as problem:
            if {fault.field for fault in problem.faults} == {"artifact"}:
                raise _Failed(f"artifact #{asked.artifact} does not exist for this tenant") from None
            raise
        if saved.outcome == "rejected":
            raise _Failed(saved.warnings[-1])
        *lines, last = self._saved(saved)
        yield from lines
        yield f"{last.removesuffix('.')}.  Use this id in subsequent /mem add link calls to reference it."

    def _saved(self, saved: Remembered) -> Iterator[str]:
        memory = saved.memory
        linked = "" if memory.artifact is None else f" (linked to artifact #{memory.artifact})"
        yield f"OK: added entry #{memory.id} [{TYPE_OF[memory.kind]}] {one_line(memory.title)}{linked}"
        for advised in saved.advice:
            if advised.task == "tag" and advised.said:
                yield f"  auto-tagged: {', '.join(map(one_line, advised.said))}"
        if saved.superseded:
            how = (
                "superseded"
                if any(each.task == "supersede" for each in saved.advice)
                else "superseded (manual)"
            )
            yield f"  {how}: {', '.join(f'#{old}' for old in saved.superseded)}"
        for name in _ON_ENTRIES:
            yield from (f"  {line}" for line in self._unadvised(name, saved.advice))
        if saved.scrubbed:
            yield f"  taken out before it was stored: {_secrets(saved.scrubbed)}"
        if memory.proposes is not None:
            yield f"  {saved.warnings[-1]}"
        elif any(each.task == "supersede" for each in saved.advice):
            yield from (f"  {one_line(warning)}" for warning in saved.warnings)

    def _whom(self, switch: str) -> str | None:
        """Whom the agent's document wants to be asked, if the caller may read its settings."""
        if "memory.read" not in self._door.caller.permissions:
            return None
        return agents.whom(self._settings, switch)

    def _unadvised(self, switch: str, found: Sequence[Advised], is_asked: bool = False) -> Iterator[str]:
        """Says what an advisor was to do and did not."""
        nobody = self._whom(switch) == NO and agents.wants(self._settings, switch)
        if (nobody or is_asked) and agents.advisor_of(self._settings) == NO:
            # No advisor was asked, so we say so here: the runtime's switches need a model of their own.
            note = agents.NO_MODEL if self._door.advisor.is_there else NO_ADVISOR
            found = [Advised(task=advice.SWITCHES[switch][0], model="", applied=False, note=note)]
        yield from advice.lines_about(switch, found)

    def _is_live(self, id: str) -> bool:
        try:
            return self._door.show(id).memory.is_live
        except NotFound:
            return False

    def _add_link(self, asked: AddLink) -> Iterator[str]:
        relation: RelationName = asked.relation  # type: ignore[assignment]
        try:
            made = self._door.relate(asked.source, relation, asked.target)
        except NotFound:
            raise _Failed("one or both endpoint ids do not exist for this tenant") from None
        edge = made.relation
        if not made.created:
            raise _Failed(
                f"a {edge.relation} relation from #{edge.source} to #{edge.target} already exists (id={edge.id})"
            )
        yield f"OK: added relation #{edge.id}: #{edge.source} --[{edge.relation}]--> #{edge.target}."

    def _invalidate(self, asked: Invalidate) -> Iterator[str]:
        try:
            retired = self._door.retire(asked.id)
        except NotFound:
            raise _Failed(f"entry #{asked.id} not found or already invalidated") from None
        if retired.proposal is not None:
            yield f"OK: {retired.warnings[-1]}"
            return
        if not retired.changed:
            raise _Failed(f"entry #{asked.id} not found or already invalidated")
        yield (
            f"OK: invalidated entry #{asked.id} (still reachable through historical reads, hidden from default queries)."
        )

    def _judge_entry(self, asked: JudgeEntry) -> Iterator[str]:
        try:
            given = self._door.give_feedback(asked.id, asked.verdict, asked.question)
        except NotFound:
            raise _Failed(f"entry #{asked.id} not found") from None
        verdict = "none" if given.feedback is None else given.feedback.verdict
        yield f"OK: {'noted' if given.changed else 'noted before'}: entry #{asked.id} {verdict.replace('_', ' ')}"

    def _write_notes(self, asked: WriteNotes) -> Iterator[str]:
        pad = SHARED_SCRATCHPAD if asked.shared else self._agent
        try:
            size = self._door.append_scratchpad(asked.text, agent=pad).size
        except Conflict:
            raise _Failed("scratchpad exceeds maximum size (4 MiB); clear it first") from None
        whose = ("shared memory", "shared scratchpad") if asked.shared else ("memory", "scratchpad")
        yield f"OK: {whose[0]} written ({size} bytes total in {whose[1]})"

    def _read_notes(self, asked: ReadNotes) -> Iterator[str]:
        return self._pad(self._agent, "(no memory)")

    def _read_shared_notes(self, asked: ReadSharedNotes) -> Iterator[str]:
        return self._pad(SHARED_SCRATCHPAD, "(shared scratchpad empty)")

    def _pad(self, agent: str, empty: str) -> Iterator[str]:
        content = self._door.read_scratchpad(agent).content
        yield rendering.whole_text(content.strip("\n")) if content else empty

    def _clear_notes(self, asked: ClearNotes) -> Iterator[str]:
        gone = self._door.clear_scratchpad(SHARED_SCRATCHPAD if asked.shared else self._agent).cleared
        whose = "shared scratchpad" if asked.shared else "memory"
        yield f"OK: {whose} cleared ({gone} bytes)"

    def _write_file(self, asked: WriteFile) -> Iterator[str]:
        if self._conversation is None:
            raise _Failed("there is no active conversation that the file could be kept with")
        written = self._door.write_artifact(asked.path, asked.content, media_type=_MEDIA_TYPE)
        file = written.artifact
        done = "saved" if written.created else "overwrote"
        taken = f", {_secrets(written.scrubbed)} taken out" if written.scrubbed else ""
        yield (
            f"OK: {done} artifact #{file.id} {one_line(file.path)} ({file.size} bytes{taken}). "
            f"Link an entry to it with --artifact #{file.id}."
        )

    def _read_file(self, asked: ReadFile) -> Iterator[str]:
        try:
            read = self._door.read_artifact(self._file_id(asked.file), via=asked.via)
        except NotFound:
            raise _Failed(
                f"artifact {one_line(asked.file)} not found in this conversation; to read one of another conversation, "
                "add via=mem:<entry_id> of an entry that links to it"
            ) from None
        file = read.artifact
        yield f"#{file.id}  {one_line(file.path)} ({one_line(file.media_type)}, {file.size} bytes)"
        if read.encoding == "base64":
            yield "(not a text; in base64:)"
        pages = rendering.pages(read.content)
        if asked.page > len(pages):
            raise _Failed(f"artifact #{file.id} has {len(pages)} pages; there is no page {asked.page}")
        yield rendering.whole_text(
            pages[asked.page - 1].removesuffix("\n" if asked.page < len(pages) else "")
        )
        if asked.page < len(pages):
            way = "" if asked.via is None else f" via=mem:{one_line(asked.via)}"
            yield f"(page {asked.page} of {len(pages)}; it goes on with /read #{file.id}{way} page={asked.page + 1})"
        elif asked.page > 1:
            yield f"(page {asked.page} of {len(pages)}, the last)"

    def _file_id(self, given: str) -> str:
        """The id of a file, given as a number or as the path of a file in this conversation."""
        number = given.removeprefix("#")
        if ids.whole_number(number) is not None:
            return number
        found = [file.id for file in self._door.artifacts().artifacts if file.path == given]
        if self._conversation is None or not found:
            raise NotFound
        return found[0]


def _reason(problem: Exception) -> str:
    if isinstance(problem, OutcomeUnknown):
        return one_line(str(OutcomeUnknown()))
    if isinstance(problem, StoreUnavailable):
        # Its own message may reveal where the store is.
        return _UNAVAILABLE
    if isinstance(problem, Invalid):
        return one_line("; ".join(map(str, problem.faults)))
    return one_line(str(problem))


def _secrets(count: int) -> str:
    return f"{count} {'secret' if count == 1 else 'secrets'}"
