"""WHICH memories belong to another tool's answer? Those about the things that the answer mentions.

They are found by references alone, by at most five statements, whatever the answer holds.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple

from onrecord.attached_buffer import Member
from onrecord.catalog.mentioned import Subject, subjects_of
from onrecord.catalog.mentions import Mention, mentions
from onrecord.context.conversation import for_own_eyes, inside
from onrecord.context.frame import Framed, enclosed, entry, one_line
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.catalog import MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX, URN_PREFIX
from onrecord.model.memory import Memory
from onrecord.model.request import IN_CONVERSATION, MAYBE_NAME, Request, ask
from onrecord.operation import Call, operation
from onrecord.store.index.entries import name_facet, reference_facet
from onrecord.store.ports.records import Reading
from onrecord.text.names import names_of
from onrecord.text.tokens import count_tokens

HEADING: Final = "Known about what this answer mentions."
#: Of one thing so many memories are looked at, those saved last, and so many in all.
_OF_ONE_THING: Final = 20
_MOST_MEMORIES: Final = 100
#: How many ids the text names of memories that it leaves out.
_NAMED: Final = 10
_SCHEMES: Final = (URN_PREFIX, SYSTEM_PREFIX, MEMORY_PREFIX)


@dataclass(frozen=True, slots=True)
class Attach(Request):
    """Find memories about the things that another tool's answer mentions, to show together with that answer.

    An error is an answer too: a correction is needed most when a column is unknown.
    """

    answer: Any = ask(
        rules.Document(), "What the tool answered: JSON, a text, or SQL in either.", positional=True
    )
    arguments: Any = ask(rules.Document(), "What the tool was asked: JSON, a text, or SQL.", None)
    conversation: str | None = ask(MAYBE_NAME, IN_CONVERSATION, None)
    limit: int = ask(rules.Integer(1, limits.ATTACHED), "How many memories at most.", 5)
    max_tokens: int = ask(rules.Integer(0, 1_000_000), "How many tokens the text may cost to read.", 600)
    again: bool = ask(rules.FLAG, "Also give memories that this conversation got before.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached(Answer):
    """The memories to attach, and one text that shows them; the text is empty if there are none.

    `references` are the mentioned things that have memories. `omitted` are the ids of further memories about them, and
    `repeated` the ids of those that this conversation got before. `cut` says that only the beginning of the answer was
    read.
    """

    text: str
    tokens: int
    memories: tuple[Memory, ...] = ()
    references: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    cut: bool = False


@operation("read", "memory.read", "POST /attach")
def attach(call: Call, ask: Attach) -> Attached:
    """Active memories that the caller may read, the newest of each thing first, in the order of mention."""
    found = mentions(ask.arguments, ask.answer)
    caller = for_own_eyes(inside(call.caller, ask.conversation))
    if not found.found:
        return Attached(text="", tokens=0, cut=not found.is_whole)
    with replace(call, caller=caller).reading() as reading:
        known = _known(found.found, reading)
        here = reading.workspace.here
    member = None if here is None else Member(caller.tenant, caller.user, *here[:2])
    candidates = _once(known)
    chosen, rest = candidates[: ask.limit], candidates[ask.limit :]
    before = (
        set() if member is None or ask.again else call.attached.attached_before(member, map(entry, chosen))
    )
    fitting = _fitted([each for each in chosen if entry(each) not in before], rest, ask.max_tokens)
    if member is not None:
        call.attached.note(member, map(entry, fitting.memories))
    return replace(
        fitting,
        references=tuple(each.name for each in known),
        repeated=tuple(each.id for each in chosen if entry(each) in before),
        cut=not found.is_whole,
    )


class _KnownSubject(NamedTuple):
    """A thing, and the memories about it, newest first."""

    name: str
    memories: Sequence[Memory]
    is_part: bool = False


def _known(found: Sequence[Mention], reading: Reading) -> list[_KnownSubject]:
    """What is known of each thing: of those mentioned in their order, then of the parts of mentioned models."""
    subjects = subjects_of(found, reading)
    every = [*subjects.mentioned, *subjects.parts]
    filed: defaultdict[str, list[int]] = defaultdict(list)
    for place, subject in enumerate(every):
        for facet in _facets(subject):
            filed[facet].append(place)
    about: defaultdict[int, dict[str, Memory]] = defaultdict(dict)
    for facet, memory in reading.newest(list(filed), each=_OF_ONE_THING, most=_MOST_MEMORIES):
        for place in filed[facet]:
            about[place][memory.id] = memory
    known: dict[str, _KnownSubject] = {}
    for place in sorted(about):
        each = _settled(every[place], list(about[place].values()), place >= len(subjects.mentioned))
        if each.memories:
            known.setdefault(each.name, each)
    return list(known.values())


def _facets(subject: Subject) -> Iterator[str]:
    yield from map(reference_facet, subject.references)
    if subject.called is not None:
        yield from map(name_facet, names_of(subject.name)[:1])


def _settled(subject: Subject, memories: Sequence[Memory], is_part: bool) -> _KnownSubject:
    """The memories that are certainly about it. A name alone may be that of several things: then it says nothing."""
    exact = set(subject.references)
    about = [each for each in memories if exact.intersection(each.entities)]
    name = subject.name
    if subject.called is not None and not about:
        called = {each for memory in memories for each in memory.entities if _is_called(each, subject.called)}
        if len(called) == 1:
            (name,) = called
            about = [each for each in memories if name in each.entities]
    return _KnownSubject(name, sorted(about, key=lambda each: each.updated_at, reverse=True), is_part)


def _is_called(reference: str, mention: Mention) -> bool:
    """Whether a thing has this name. That of a column may be any word, so it counts only where it is written as a name."""
    wanted = mention.name.casefold()
    if reference.startswith(THING_PREFIX):
        return reference.removeprefix(THING_PREFIX).casefold() == wanted
    names = reference.casefold().split(".")
    if reference.startswith(_SCHEMES) or not (len(names) <= 2 or mention.is_marked):
        return False
    return names[-1 - wanted.count(".") :] == wanted.split(".")


def _once(known: Sequence[_KnownSubject]) -> list[Memory]:
    """The newest of each thing, then the second of each; parts after all that is mentioned itself. Each text once."""
    by_text: dict[str, Memory] = {}
    for is_part in (False, True):
        things = [each.memories for each in known if each.is_part is is_part]
        for memory in filter(None, chain.from_iterable(zip_longest(*things))):
            by_text.setdefault(memory.content.strip(), memory)
    return list({memory.id: memory for memory in by_text.values()}.values())


def _fitted(fresh: Sequence[Memory], rest: Sequence[Memory], max_tokens: int) -> Attached:
    """As many as fit, and at least one, if need be the beginning of it."""
    attached: list[Memory] = []
    for memory in fresh:
        if count_tokens(_text([*attached, memory], fresh, rest)) <= max_tokens:
            attached.append(memory)
    text = _text(attached, fresh, rest) if attached else Framed("")
    if fresh and not attached:
        attached = [fresh[0]]
        text = _cut(fresh, rest, max_tokens)
    ids = {each.id for each in attached}
    omitted = tuple(each.id for each in (*fresh, *rest) if each.id not in ids)
    return Attached(text=text, tokens=count_tokens(text), memories=tuple(attached), omitted=omitted)


def _text(attached: Sequence[Memory], fresh: Sequence[Memory], rest: Sequence[Memory]) -> Framed:
    ids = {each.id for each in attached}
    left = [f"#{one_line(each.id)}" for each in (*fresh, *rest) if each.id not in ids]
    more = f"(more is known: {', '.join(left[:_NAMED])}{' and others' if len(left) > _NAMED else ''})"
    return enclosed(HEADING, [*map(entry, attached), *([more] if left else [])])


def _cut(fresh: Sequence[Memory], rest: Sequence[Memory], max_tokens: int) -> Framed:
    """The first alone, with as much of its content as fits."""
    first, *others = fresh
    size = len(first.content)
    while True:
        size //= 2
        beginning = f"{first.content[:size].rstrip()} … (cut; read #{first.id} for the rest)"
        text = _text([replace(first, content=beginning)], [first, *others], rest)
        if not size or count_tokens(text) <= max_tokens:
            return text
