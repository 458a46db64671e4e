"""WHICH shape has a whole object or list? Objects with named fields, and lists of one shape; every fault names its
place inside.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from itertools import islice
from typing import Any

from onrecord.errors import Fault, Invalid
from onrecord.model.limits import FAULTS_SHOWN
from onrecord.model.near_names import cut_name, unknown_names
from onrecord.model.rules import OrNone, Rule, shown, type_of

#: What must hold between fields: given those that are right, and all that were given.
Between = Callable[[Mapping[str, Any], Mapping[str, Any]], Iterable[Fault]]


class Faults(ValueError):
    """Several faults at once, each with its path inside the checked value; an empty path is the value itself."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{each.field} {each.message}".strip() for each in self.faults))


def faults_at(path: str, reason: ValueError) -> list[Fault]:
    """The faults that a rule found in the value at a path."""
    if not isinstance(reason, Faults):
        return [Fault(path, str(reason))]
    return [Fault(_joined(path, each.field), each.message) for each in reason.faults]


def _joined(path: str, inner: str) -> str:
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


def checked_field(field: str, rule: Rule, value: object) -> Any:
    """The clean value, or Invalid with every fault found in it, under this field."""
    try:
        return rule(value)
    except ValueError as reason:
        raise Invalid(faults_at(field, reason)) from None


def taken(shape: "Object", given: Mapping[str, Any]) -> dict[str, Any]:
    """The clean arguments, checked by the rules of their fields; Invalid lists every fault.

    A null counts as left out: some clients send every argument they know, with null for those without a value.
    """
    clean = checked_field("", shape, given)
    return {name: value for name, value in clean.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Object:
    """An object with these fields and no others; null counts as left out, unless the field's rule is an OrNone.

    `build` makes a value of the given fields, in the order in which they were given. With `short_for`, a text alone
    stands for an object with that one field. With `passes_over`, unknown fields are ignored. `synonyms` maps names
    that others use to fields, for hints.
    """

    noun: str
    fields: Mapping[str, Rule]
    needed: tuple[str, ...] = ()
    build: Callable[..., Any] = dict
    between: Between | None = None
    short_for: str | None = None
    passes_over: bool = False
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, value: Any, /) -> Any:
        if self.short_for and isinstance(value, str):
            value = {self.short_for: value}
        if not isinstance(value, Mapping):
            raise ValueError(f"must be {self.noun}, which is an object, not {type_of(value)}")
        clean: dict[str, Any] = {}
        faults: list[Fault] = []
        if not self.passes_over:
            faults += unknown_names(
                value,
                self.fields,
                f"is not a field of {self.noun}",
                f", which has {', '.join(self.fields)}",
                self.synonyms,
            )
        for name, item in value.items():
            rule = self.fields.get(name)
            if rule is not None and (item is not None or isinstance(rule, OrNone)):
                try:
                    clean[name] = rule(item)
                except ValueError as reason:
                    faults += faults_at(name, reason)
        lacking = [name for name in self.needed if name not in clean]
        faults += [Fault(name, "is missing") for name in lacking if value.get(name) is None]
        if self.between is not None:
            broken = {fault.field for fault in faults}
            more = (fault for fault in self.between(clean, value) if fault.field not in broken)
            faults += islice(more, FAULTS_SHOWN)
        if faults:
            raise Faults(faults)
        return self.build(**clean)


@dataclass(frozen=True, slots=True)
class Several:
    """A list of values of one shape, in which the same value may occur twice."""

    each: Rule
    at_least: int = 0
    at_most: int | None = None

    def __call__(self, value: Any, /) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"must be a list, not {type_of(value)}")
        if len(value) < self.at_least:
            raise ValueError("must not be empty")
        if self.at_most is not None and len(value) > self.at_most:
            raise ValueError(f"must have at most {self.at_most} entries (has {len(value)})")
        clean: list[Any] = []
        faults: list[Fault] = []
        for place, item in enumerate(value):
            try:
                clean.append(self.each(item))
            except ValueError as reason:
                faults += faults_at(f"[{place}]", reason)
                if len(faults) >= FAULTS_SHOWN:
                    break
        if faults:
            raise Faults(faults)
        return tuple(clean)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two values of one shape; `what` says which is which."""

    each: Rule
    what: str

    def __call__(self, value: Any, /) -> tuple[Any, ...]:
        pair = Several(self.each)(value)
        if len(pair) != 2:
            raise ValueError(f"must have two entries, {self.what} (has {len(pair)})")
        return pair


@dataclass(frozen=True, slots=True)
class Either:
    """One of several shapes, which differ in their JSON types; `wanted` lists them in words."""

    wanted: str
    options: Mapping[Any, Rule]

    def __call__(self, value: Any, /) -> Any:
        for kind, rule in self.options.items():
            if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
                return rule(value)
        raise ValueError(f"must be {self.wanted}, not {type_of(value)}")


@dataclass(frozen=True, slots=True)
class Described:
    """A rule with a description and a default for its schema."""

    rule: Rule
    help: str = ""
    default: Any = None

    def __call__(self, value: Any, /) -> Any:
        return self.rule(value)


@dataclass(frozen=True, slots=True)
class Exactly:
    """One value and no other."""

    value: Any

    def __call__(self, value: Any, /) -> Any:
        if value != self.value or isinstance(value, bool):
            raise ValueError(f"must be {self.value} (got {shown(value)})")
        return value


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with free names, whose values all have one shape."""

    noun: str
    name: Rule
    each: Rule

    def __call__(self, value: Any, /) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ValueError(f"must be {self.noun}, not {type_of(value)}")
        clean: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, item in value.items():
            try:
                clean[self.name(name)] = self.each(item)
            except ValueError as reason:
                faults += faults_at(cut_name(str(name)) or "''", reason)
                if len(faults) >= FAULTS_SHOWN:
                    break
        if faults:
            raise Faults(faults)
        return clean


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored value exactly as its rule writes it. Anything else was not written by us, or means something else."""

    rule: Rule

    def __call__(self, value: Any, /) -> Any:
        if (message := kept_fault(self.rule, value)) is not None:
            raise ValueError(message)
        return value


def kept_fault(rule: Rule, value: object) -> str | None:
    """What is wrong with a stored value that differs from what its rule writes."""
    try:
        clean = rule(value)
    except ValueError as reason:
        return str(reason)
    return None if clean == value else f"must be written as {clean!a}"


def kept_faults(rules: Mapping[str, Rule], values: Mapping[str, Any]) -> list[Fault]:
    """The same for several fields; missing ones are skipped."""
    messages = ((name, kept_fault(rule, values[name])) for name, rule in rules.items() if name in values)
    return [Fault(name, message) for name, message in messages if message is not None]


def taken_by(
    function: Callable[..., Any], fields: Mapping[str, Rule], parameter: Callable[[str], str] = str
) -> Object:
    """The shape of a call's arguments. Which are optional, and their defaults, come from the function that does the
    work.

    `parameter` maps a field to the function's parameter where their names differ.
    """
    defaults = {name: each.default for name, each in signature(function).parameters.items()}
    rules, needed = dict(fields), []
    for name, rule in fields.items():
        # A field without a parameter of its name, which goes into `**named`, is optional.
        default = defaults.get(parameter(name))
        if default is Parameter.empty:
            needed.append(name)
        elif default is not None:
            rules[name] = (
                replace(rule, default=default)
                if isinstance(rule, Described)
                else Described(rule, default=default)
            )
    return Object("what this takes", rules, needed=tuple(needed))
