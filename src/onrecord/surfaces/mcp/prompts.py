"""WHICH prompts can a person pick? remember, recall and review, and those of the tools that are offered: words for the
agent, and no stored text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import mcp_types as protocol

from onrecord.errors import Fault, Invalid, NotFound
from onrecord.model.caller import Caller
from onrecord.model.limits import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt; `argument` is what the person adds, in place of {0}. Without an argument, the prompt is `words_alone`."""

    name: str
    title: str
    description: str
    permission: Permission
    argument: str | None = None
    help: str = ""
    is_required: bool = False
    words: str = ""
    words_alone: str = ""

    def described(self) -> protocol.Prompt:
        arguments = [
            protocol.PromptArgument(name=name, description=self.help, required=self.is_required)
            for name in self.arguments
        ]
        return protocol.Prompt(
            name=self.name, title=self.title, description=self.description, arguments=arguments
        )

    @property
    def arguments(self) -> tuple[str, ...]:
        return () if self.argument is None else (self.argument,)


PROMPTS: Final = (
    Prompt(
        name="remember",
        title="Remember this",
        description="Save something worth knowing in later conversations.",
        permission="memory.manage",
        argument="what",
        help="What to remember, in your own words.",
        is_required=True,
        words=(
            "Save this to memory as one self-contained statement, with a hint that says when to recall it, and name "
            "what it is about. Search memory first: if something there says otherwise, supersede or correct it "
            "rather than add a second voice. Leave out secrets and live figures. Then tell me the id.\n\n{0}"
        ),
    ),
    Prompt(
        name="recall",
        title="What do we know about this?",
        description="Answer from memory, with the ids of what was used.",
        permission="memory.read",
        argument="question",
        help="What you want to know.",
        is_required=True,
        words=(
            "Search memory for this and answer from what it holds. Give the id (#12) of each memory you use and how "
            "old it is; say so plainly if memory holds nothing; check a current fact with a live tool.\n\n{0}"
        ),
    ),
    Prompt(
        name="review",
        title="Review what is remembered",
        description="Go through what memory holds on a subject and propose what to correct, retire or merge.",
        permission="memory.manage",
        argument="subject",
        help="A table, a project, a person; left out, the memories shown at the start.",
        is_required=False,
        words=(
            "Review what memory holds on the subject below: search it in several ways, read the memories in full, and "
            "list what is outdated, what contradicts what, what says the same twice, and what lacks a source. For "
            "each propose to revise, retire, supersede or relate, with ids and a reason. Change nothing before I "
            "agree, and erase nothing unless I ask for exactly that.\n\nSubject: {0}"
        ),
        words_alone=(
            "Review what memory gives at the start of a conversation: read each memory in full and list what is "
            "outdated, what contradicts what, and what says the same twice. For each propose to revise, retire, "
            "supersede or relate, with ids and a reason. Change nothing before I agree, and erase nothing unless I "
            "ask for exactly that."
        ),
    ),
)


def listed(caller: Caller, more: Iterable[Prompt] = ()) -> list[protocol.Prompt]:
    """Those of this caller: our own, and more that come with their tools."""
    return [each.described() for each in (*PROMPTS, *more) if each.permission in caller.permissions]


def given(
    caller: Caller, name: str, arguments: Mapping[str, str], more: Iterable[Prompt] = ()
) -> protocol.GetPromptResult:
    """The text of a prompt; NotFound if this caller has none of that name."""
    offered = (each for each in (*PROMPTS, *more) if each.permission in caller.permissions)
    prompt = next((each for each in offered if each.name == name), None)
    if prompt is None:
        raise NotFound(f"Unknown prompt: {name}")
    there = f"; there is {prompt.argument}" if prompt.argument else ", which has none"
    faults = [
        Fault(each, f"is not an argument of this prompt{there}")
        for each in arguments
        if each not in prompt.arguments
    ]
    added = arguments.get(prompt.argument or "", "").strip()
    if not added and prompt.is_required:
        faults.append(Fault(prompt.argument or "", "is required"))
    if faults:
        raise Invalid(faults)
    # Not `format`: a brace in what was typed is only a brace.
    words = prompt.words.replace("{0}", added) if added else prompt.words_alone
    message = protocol.PromptMessage(role="user", content=protocol.TextContent(text=words))
    return protocol.GetPromptResult(description=prompt.description, messages=[message])
