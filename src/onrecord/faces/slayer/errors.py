"""WHAT goes wrong, in the words of the semantic layer? Its exceptions; each is also one of ours and a `ValueError`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from onrecord.catalog.resolution import AmbiguousModel, Unresolved
from onrecord.errors import Fault, Invalid, NotFound, OnRecordError

P = ParamSpec("P")
Answer = TypeVar("Answer")


class BadValueError(Invalid, ValueError):
    """An argument that cannot be taken."""


class EntityResolutionError(Unresolved, ValueError):
    """A reference that means nothing the catalog knows."""


class AmbiguousModelError(AmbiguousModel, ValueError):
    """The name of models in several datasources."""


class NotFoundError(NotFound, ValueError):
    """There is no such memory, model or datasource."""


#: By method of the semantic layer: its names for our arguments.
_OF_MODEL: Final = {"entity": "name", "entities": "name"}
_ARGUMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "save_memory": {"entities": "linked_entities", "content": "learning", "hint": "description"},
    "inspect_model": {"model": "model_name", "entities": "model_name"},
    "delete_model": _OF_MODEL,
    "delete_datasource": _OF_MODEL,
    "edit_model": {"entity": "model_name", "entities": "model_name", "parts": "remove"},
    "edit_model_remove": {**_OF_MODEL, "parts": "remove"},
    "models_summary": {"inside": "datasource_name"},
    "ingest_datasource_models": {"datasource": "datasource_name", "schema": "schema_name"},
}


def name_of(problem: OnRecordError) -> str:
    """The name that the semantic layer has for this kind of error."""
    theirs = type(as_theirs(problem))
    return "ValueError" if theirs is BadValueError else theirs.__name__


def as_theirs(problem: OnRecordError, method: str = "") -> OnRecordError:
    """The same error as an exception of the semantic layer, with its argument names; unchanged if it has no such
    exception.
    """
    if isinstance(problem, NotFound):
        return NotFoundError(str(problem))
    if not isinstance(problem, Invalid):
        return problem
    theirs: Invalid
    if isinstance(problem, Unresolved):
        kind = AmbiguousModelError if isinstance(problem, AmbiguousModel) else EntityResolutionError
        theirs = kind(problem.reference, problem.reason, problem.candidates)
    else:
        theirs = BadValueError(())
    names = _ARGUMENTS.get(method, {})
    Invalid.__init__(
        theirs, [Fault(names.get(each.field, each.field), each.message) for each in problem.faults]
    )
    return theirs


@contextmanager
def said_of(method: str) -> Iterator[None]:
    """Raise errors from inside as those of the semantic layer, with the argument names of this method."""
    try:
        yield
    except (Invalid, NotFound) as problem:
        raise as_theirs(problem, method) from None


def in_their_words(function: Callable[P, Answer]) -> Callable[P, Answer]:
    """The function, raising the errors of the semantic layer instead of ours."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> Answer:
        with said_of(function.__name__):
            return function(*given, **named)

    return call
