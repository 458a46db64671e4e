"""WHAT may come next? The words of a closed list, for the tab key. Checks happen elsewhere."""

from collections.abc import Callable, Iterable
from typing import Final

import click
from click.shell_completion import CompletionItem

from onrecord.model.rules import Choice, ListOf, OrNone, Rule

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _recipes() -> Iterable[str]:
    from onrecord.recall.recipes import RECIPES

    return RECIPES


def _sections() -> Iterable[str]:
    from onrecord.catalog.inspection import SECTIONS

    return SECTIONS


#: Fields whose words are not known to their rule.
_KNOWN_ELSEWHERE: Final[dict[str, Callable[[], Iterable[str]]]] = {"recipe": _recipes, "sections": _sections}


def completion_of(name: str, rule: Rule) -> Completion | None:
    """The completion of a field that has a closed list."""
    kind = rule.rule if isinstance(rule, OrNone) else rule
    each = kind.each if isinstance(kind, ListOf) else kind
    if name in _KNOWN_ELSEWHERE:
        return among(_KNOWN_ELSEWHERE[name])
    if isinstance(each, Choice):
        # One text may hold several words of a closed list, separated by commas.
        return among(lambda: each.options, several=isinstance(kind, ListOf))
    return None


def among(words: Callable[[], Iterable[str]], *, several: bool = False) -> Completion:
    """Words that begin like what is typed; with `several`, like the part after the last comma."""

    def complete(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        before, comma, begun = typed.rpartition(",") if several else ("", "", typed)
        return [CompletionItem(f"{before}{comma}{word}") for word in words() if word.startswith(begun)]

    return complete


RECIPE: Final = among(_recipes)
