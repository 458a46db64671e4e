"""WHAT does an answer hold? A part of the wrong type is an error, and never treated as missing."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from onrecord.catalog.datahub.client import IncompleteAnswer

Kind = TypeVar("Kind", str, bool, list[Any], dict[str, Any])
Answer = Mapping[str, Any]


def unreadable(what: str) -> IncompleteAnswer:
    return IncompleteAnswer(f"DataHub sent an answer that OnRecord cannot read: {what}.")


def maybe(answer: Answer, name: str, kind: type[Kind]) -> Kind | None:
    """The value under a name; None if it is missing."""
    value = answer.get(name)
    if value is not None and not isinstance(value, kind):
        raise unreadable(f"{name} is not {_KINDS[kind]}")
    return value


def need(answer: Answer, name: str, kind: type[Kind]) -> Kind:
    value = maybe(answer, name, kind)
    if value is None:
        raise unreadable(f"{name} is missing")
    return value


def inside(answer: Answer, *names: str) -> Answer:
    """The object at the end of a path; an empty one if there is none."""
    for name in names:
        answer = maybe(answer, name, dict) or {}
    return answer


def each_in(answer: Answer, name: str) -> Iterator[dict[str, Any]]:
    """The objects of a list; none if there is no list."""
    for item in maybe(answer, name, list) or ():
        if not isinstance(item, dict):
            raise unreadable(f"{name} holds something other than objects")
        yield item


def whole_list(answer: Answer, name: str, listed: str, most: int) -> list[dict[str, Any]]:
    """The objects of a list of which at most so many were asked for; an error if there are more."""
    found = maybe(answer, name, dict)
    if found is None:
        raise unreadable(f"{name} is missing")
    total = found.get("total")
    if not isinstance(total, int) or total > most:
        raise IncompleteAnswer(
            f"DataHub has more {listed} there than the {most} that are read, so a missing one may exist all the same."
        )
    return list(each_in(found, listed))


_KINDS: Mapping[type[Any], str] = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}
