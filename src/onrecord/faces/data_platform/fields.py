"""WHICH values does the data platform take? Its closed lists, its limits in bytes, and its words for what is wrong.

The lists are checked here and are not in the schemas of the tools, so that an agent that guesses wrong gets an error that names them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from onrecord.errors import Fault, Forbidden, HigherTier, Invalid, NotFound, OnRecordError, SaveLimit
from onrecord.model import limits

P = ParamSpec("P")
Answer = TypeVar("Answer")

CATEGORIES: Final = (
    *("correction", "business_context", "data_quality", "usage_guidance", "relationship", "enhancement"),
    "general",
)
SOURCES: Final = ("user", "agent_discovery", "enrichment_gap", "automation", "lineage_event")
STATUSES: Final = ("active", "stale", "superseded", "archived")
#: By field: the values that it takes. A filter takes those of its field.
CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "dimension": limits.DIMENSIONS,
    "category": CATEGORIES,
    "confidence": limits.CONFIDENCES,
    "source": SOURCES,
    "status": STATUSES,
}
#: What an insight takes of them: it always says what it is for, and comes from someone in a session.
OF_INSIGHTS: Final[Mapping[str, Sequence[str]]] = {
    **CHOICES,
    "category": CATEGORIES[:-1],
    "source": SOURCES[:3],
    "status": limits.PROPOSAL_STATES,
}
LEAST_BYTES: Final = 10
MOST_BYTES: Final = 4_000
MOST_ENTITIES: Final = 10
MOST_COLUMNS: Final = 20
MOST_ACTIONS: Final = 5
MOST_THREADS: Final = 50
MOST_INSIGHTS: Final = 50
MOST_CHANGES: Final = 20

LISTED: Final = 20
MOST_LISTED: Final = 100
RECALLED: Final = 10
MOST_RECALLED: Final = 50

#: The platform's names for our fields.
_NAMES: Final[Mapping[str, str]] = {
    "question": "query",
    "entity": "entity_urn",
    "entities": "entity_urns",
    "memories": "insight_ids",
    "only_dimensions": "dimension",
    "dimensions": "dimension",
    "categories": "category",
    "sources": "source",
    "owners": "created_by",
    "skip": "offset",
    "created_since": "since",
    "created_before": "until",
}


class RefusedField(Invalid):
    """An invalid field of a call, reported with the platform's own text."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__([Fault(field, message)])
        self.args = (message,)


def clamped(limit: int | None, usual: int, most: int) -> int:
    """How many are given: the usual number for none or less, and never more than the most."""
    return usual if limit is None or limit <= 0 else min(limit, most)


def check_content(content: str | None, field: str = "content") -> Iterator[Fault]:
    size = len((content or "").encode("utf-8", "surrogatepass"))
    if not size:
        yield Fault(field, f"{field} is required (minimum {LEAST_BYTES} bytes)")
    elif size < LEAST_BYTES:
        yield Fault(field, f"{field} must be at least {LEAST_BYTES} bytes (got {size})")
    elif size > MOST_BYTES:
        yield Fault(field, f"{field} must be at most {MOST_BYTES} bytes (got {size})")


def check_choices(
    given: Mapping[str, str | None], choices: Mapping[str, Sequence[str]] = CHOICES
) -> Iterator[Fault]:
    """Faults of values that are in no list; what is empty counts as left out. `filter_status` takes what `status` does."""
    for name, value in given.items():
        field = name.removeprefix("filter_")
        if value and value not in choices[field]:
            yield Fault(name, f'invalid {field} "{value}": must be one of: {", ".join(choices[field])}')


def check_number(field: str, items: Sequence[Any] | None, most: int) -> Iterator[Fault]:
    """A fault if there are more than the most."""
    if items and len(items) > most:
        yield Fault(field, f"{field} exceeds maximum of {most} (got {len(items)})")


def check_entities(urns: Sequence[str] | None) -> Iterator[Fault]:
    return check_number("entity_urns", urns, MOST_ENTITIES)


def refuse(*checks: Iterator[Fault]) -> None:
    """Invalid with everything that the checks found."""
    if faults := [fault for check in checks for fault in check]:
        raise Invalid(faults)


def in_its_words(verb: str | None = None) -> Callable[[Callable[P, Answer]], Callable[P, Answer]]:
    """Faults that are raised inside name fields as the platform does. With a verb, the function acts on one memory: a caller who may
    not do that gets an error that names the verb.
    """

    def mark(function: Callable[P, Answer]) -> Callable[P, Answer]:
        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> Answer:
            try:
                return function(*given, **named)
            except OnRecordError as problem:
                raise _said(problem, verb) from None

        return call

    return mark


def _said(problem: OnRecordError, verb: str | None) -> OnRecordError:
    if isinstance(problem, Invalid) and not isinstance(problem, RefusedField):
        return Invalid(Fault(_NAMES.get(each.field, each.field), each.message) for each in problem.faults)
    if verb and isinstance(problem, NotFound):
        return NotFound("memory not found")
    if verb and isinstance(problem, Forbidden) and not isinstance(problem, HigherTier | SaveLimit):
        return Forbidden(f"you can only {verb} your own memories")
    return problem
