"""HOW are memories related? By typed edges, which are added and removed in one transaction each."""

from collections.abc import Iterator
from dataclasses import dataclass

from onrecord.errors import Fault, NotFound
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.limits import RelationName
from onrecord.model.memory import Memory, Relation
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.store.ports.records import Writing


@dataclass(frozen=True, slots=True)
class Relate(Request):
    """Add a typed relation from one memory to another; an existing one is reported, not doubled."""

    source: str = ask(rules.ID, "The memory that the relation starts from.", positional=True)
    relation: RelationName = ask(rules.RELATION, f"One of: {', '.join(limits.RELATIONS)}.", positional=True)
    target: str = ask(rules.ID, "The memory it points to.", positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.source == self.target:
            yield Fault("target", "must be another memory: a memory cannot relate to itself")


@dataclass(frozen=True, slots=True, kw_only=True)
class Related(Answer):
    """A relation; `created` is false if it existed before."""

    relation: Relation
    created: bool


@dataclass(frozen=True, slots=True)
class Unrelate(Request):
    """Remove a relation. The past still shows it."""

    source: str = ask(rules.ID, "The memory that the relation starts from.", positional=True)
    relation: RelationName = ask(rules.RELATION, f"One of: {', '.join(limits.RELATIONS)}.", positional=True)
    target: str = ask(rules.ID, "The memory it points to.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrelated(Answer):
    """A relation that was removed."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class RemoveRelation(Request):
    """Remove a relation of the tenant by its number. The past still shows it."""

    id: str = ask(rules.ID, "The relation to remove.", positional=True)


@operation("write", "memory.manage", "PUT /memories/{source}/relations/{relation}/{target}")
def relate(call: Call, ask: Relate) -> Related:
    with call.writing(ask.source) as writing:
        source, target = _ends(writing, ask)
        edge, created = writing.relate(source, ask.relation, target, call.change("relate"))
        return call.done(writing, Related(relation=edge, created=created))


@operation("write", "memory.manage", "DELETE /memories/{source}/relations/{relation}/{target}")
def unrelate(call: Call, ask: Unrelate) -> Unrelated:
    with call.writing(ask.source) as writing:
        source, target = _ends(writing, ask)
        edge = writing.unrelate(source, ask.relation, target, call.change("unrelate"))
        if edge is None:
            raise NotFound(
                f"No relation {source.id} {ask.relation} {target.id}. See `neighbours {source.id}`."
            )
        return call.done(writing, Unrelated(relation=edge))


@operation("write", "memory.manage", "DELETE /relations/{id}")
def remove_relation(call: Call, ask: RemoveRelation) -> Unrelated:
    with call.writing() as writing:
        found = writing.relations.one(ask.id)
        target = None if found is None else writing.memory(found.target)
        if found is None or target is None:
            raise NotFound(f"No relation {ask.id} between memories that you can see. List the relations.")
        source = writing.target(found.source)
        edge = writing.unrelate(source, found.relation, target, call.change("unrelate"))
        assert edge is not None
        return call.done(writing, Unrelated(relation=edge))


def _ends(writing: Writing, ask: Relate | Unrelate) -> tuple[Memory, Memory]:
    """Both ends, or one error for every way in which an end can be missing. The relation belongs to its source."""
    source, target = (writing.memory(end, by_name=True) for end in (ask.source, ask.target))
    if source is None or target is None or source.tenant != target.tenant:
        raise NotFound(
            "One or both memories do not exist here. Both ends of a relation must be in one tenant."
        )
    return writing.target(source.id), target
