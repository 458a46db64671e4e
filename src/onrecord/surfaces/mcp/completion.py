"""WHICH words can a person pick while they fill in a prompt or an address? Those that memory holds, of what this caller sees."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import mcp_types as protocol

from onrecord.context.frame import visible
from onrecord.errors import NotFound
from onrecord.model.limits import BROWSE_LIMIT, TallyBy
from onrecord.service import OnRecord
from onrecord.surfaces.mcp import prompts, resources
from onrecord.surfaces.mcp.tool_request import ToolRequest

#: More are not shown by the protocol.
_MOST: Final = 100
Words = Callable[[OnRecord], Iterable[str]]


def completed(request: ToolRequest, asked: protocol.CompleteRequestParams) -> protocol.Completion:
    """The words that go on from what is typed, best known first; NotFound for what has no such field."""
    words = _words_of(request, asked.ref, asked.argument.name)
    typed = asked.argument.value.casefold()
    # A word with letters that nobody sees is none that anyone types.
    known = (each for each in dict.fromkeys(words(request.door)) if visible(each) == each)
    fitting = [each for each in known if typed in each.casefold()]
    fitting.sort(key=lambda each: not each.casefold().startswith(typed))
    return protocol.Completion(values=fitting[:_MOST], total=len(fitting), has_more=len(fitting) > _MOST)


def _words_of(
    request: ToolRequest, ref: protocol.ResourceTemplateReference | protocol.PromptReference, name: str
) -> Words:
    if isinstance(ref, protocol.PromptReference):
        caller = request.door.caller
        offered = {each.name: each for each in prompts.listed(caller, request.prompts)}
        if ref.name not in offered:
            raise NotFound(f"Unknown prompt: {ref.name}")
        fields = {each.name for each in offered[ref.name].arguments or ()}
        known: Mapping[tuple[str, str], Words] = _OF_PROMPTS
        what = ref.name
    else:
        templates = {each.uri_template for each in resources.templates(request.door.caller)}
        if ref.uri not in templates:
            raise NotFound(f"There is no template {ref.uri!a}. There are {', '.join(sorted(templates))}.")
        fields = {name for template, name in _OF_TEMPLATES if template == ref.uri}
        known, what = _OF_TEMPLATES, ref.uri
    if name not in fields:
        raise NotFound(f"{what} has no field {name!a}; it has {', '.join(sorted(fields)) or 'none'}.")
    return known.get((what, name), lambda door: ())


def _ids(door: OnRecord) -> Iterable[str]:
    return (each.id for each in door.browse(limit=BROWSE_LIMIT).memories)


def _counted(by: TallyBy) -> Words:
    return lambda door: (each.value for each in door.tally(by, limit=BROWSE_LIMIT).groups if each.value)


def _subjects(door: OnRecord) -> Iterable[str]:
    return (*_counted("entity")(door), *_counted("tag")(door))


_OF_TEMPLATES: Final[Mapping[tuple[str, str], Words]] = {
    (resources.ENTRY, "id"): _ids,
    (resources.ENTITY, "ref"): _counted("entity"),
}
_OF_PROMPTS: Final[Mapping[tuple[str, str], Words]] = {("review", "subject"): _subjects}
