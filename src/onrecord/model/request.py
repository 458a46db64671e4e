"""WHAT is a request? A frozen value whose fields carry their rule and their help, and can name their faults."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from typing import Any, Final, TypeVar

from onrecord.errors import Fault, Invalid
from onrecord.model import limits, rules
from onrecord.model.caller import Caller
from onrecord.model.rules import ListOf, OrNone, Rule, type_of
from onrecord.model.shapes import faults_at
from onrecord.model.unset import Unset

Asked = TypeVar("Asked", bound="Request")


def ask(rule: Rule, help: str, default: Any = MISSING, *, positional: bool = False) -> Any:
    """A field of a request: its rule, its help text, and its default."""
    return field(default=default, kw_only=not positional, metadata={"rule": rule, "help": help})


class Request:
    """What every request shares: it can name its own faults."""

    __slots__ = ()

    def faults(self, caller: Caller) -> Iterable[Fault]:
        """What is wrong with the fields taken together, for this caller."""
        return ()


def request_fields(request: type[Request] | Request) -> tuple[Field[Any], ...]:
    """The fields in the order in which they are given: those by position first, also where they were inherited last."""
    kind: Any = request if isinstance(request, type) else type(request)
    return _fields_of(kind)


@cache
def _fields_of(kind: Any) -> tuple[Field[Any], ...]:
    return tuple(sorted(fields(kind), key=lambda each: bool(each.kw_only)))


@dataclass(frozen=True, slots=True)
class FieldsOf:
    """The fields of another request, as an object or as that request. Whoever makes the request of them checks them, so
    that a fault can be told of one among many.
    """

    request: type[Request]
    without: tuple[str, ...] = ()

    def __call__(self, value: Any, /) -> Mapping[str, Any]:
        if isinstance(value, self.request):
            fields = ((each, getattr(value, each.name)) for each in request_fields(self.request))
            return {each.name: held for each, held in fields if held is not each.default}
        if not isinstance(value, Mapping):
            raise ValueError(f"must be an object, not {type_of(value)}")
        return value


def checked(request: Asked, caller: Caller) -> Asked:
    """The request with clean values, or Invalid with every fault at once."""
    clean: dict[str, Any] = {}
    faults: list[Fault] = []
    for each in request_fields(request):
        value = getattr(request, each.name)
        # A default needs no check.
        if value is each.default or isinstance(value, Unset):
            continue
        try:
            clean[each.name] = each.metadata["rule"](value)
        except ValueError as reason:
            faults += faults_at(each.name, reason)
    broken = {fault.field for fault in faults}
    tidy = replace(request, **clean)  # type: ignore[type-var]
    try:
        faults += [fault for fault in tidy.faults(caller) if fault.field not in broken]
    except TypeError:
        # A value of a wrong type cannot be compared with other fields; its own fault is listed already.
        if not broken:
            raise
    if faults:
        raise Invalid(faults)
    return tidy


KINDS: Final = ListOf(rules.KIND, at_most=len(limits.KINDS))
DIMENSIONS: Final = ListOf(rules.DIMENSION, at_most=len(limits.DIMENSIONS))
OWNERS: Final = ListOf(rules.NAME, at_most=limits.FILTER_NAMES)
TAGS: Final = ListOf(rules.TAG, at_most=limits.TAGS)
STATUSES: Final = ListOf(rules.STATUS, at_most=len(limits.STATUSES))
ENTITIES: Final = ListOf(rules.Reference(), at_most=limits.ENTITIES)
PLACES: Final = rules.Integer(0, limits.RECALL_LIMIT)
MAYBE_NAME: Final = OrNone(rules.NAME)
#: Whether an advisor is asked, and which.
ADVISED: Final = OrNone(rules.NAME)
WHOM: Final = (
    "yes, no, or one of the models that are configured; the agent's or the tenant's setting when left out"
)
MAYBE_PROPOSAL: Final = OrNone(rules.Choice(limits.PROPOSAL_FILTERS))
MAYBE_INSTANT: Final = OrNone(rules.INSTANT)

AS_OF: Final = "Ask what was true at this time (ISO 8601, UTC unless it says otherwise)."
KNOWN_AT: Final = "Ask what was known at this time."
ONLY_PROPOSALS: Final = f"Only proposals, in this state: {', '.join(limits.PROPOSAL_FILTERS)}; of any status unless some are given."
ONLY_VERIFIED: Final = "Only memories whose checks have all come true when they last ran."
IN_CONVERSATION: Final = "Which conversation, `~ann/talk` for another's; the one you are in when left out."
