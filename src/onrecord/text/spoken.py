"""WHAT did someone say themselves? A turn without the blocks that programs put into it: memories, tools' answers, quotes.

Reads each text once, from left to right: an unclosed block reaches to the end.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

#: The names of elements that hosts put into prompts, with a dash or an underscore. Their content was not written by the user
#: or the assistant.
_ELEMENTS: Final = (
    *(r"[\w-]{0,40}memor(?:y|ies)[\w-]{0,40}", r"stored-notes[\w-]{0,40}", "onrecord", "context"),
    *(
        "documents?",
        "search_results",
        "system",
        "system_reminder",
        "tools?",
        "tool_calls?",
        "tool_use",
        "tool_results?",
    ),
    *("tool_output", "function_calls?", "function_results?", "results?", "output", "command_name"),
    *("command_message", "command_args", "local_command_stdout", "local_command_stderr", "bash_input"),
    *("bash_stdout", "bash_stderr", "task_notification", "user_prompt_submit_hook", "private"),
    *("environment_context", "user_instructions", "stdout", "stderr", "file", "attachment", "thinking"),
    *("think", "untrusted", "quote", "blockquote"),
)
_NAMES: Final = "|".join(_ELEMENTS).replace("_", "[_-]")
_MARK: Final = re.compile(
    rf"<(?P<element>{_NAMES})(?:\s[^<>]{{0,200}})?>"
    rf"|</(?P<closed>{_NAMES})\s*>"
    r"|\[(?P<command>/(?:mem|read|write)\b[^\]\n]{0,300})\]"
    r"|\[(?P<delegation>DELEGATION CONTEXT)\]"
    r"|\[(?P<end>END (?:(?:SHARED )?MEMORY|FILE|DELEGATION CONTEXT))\]"
    r"|(?P<fence>`{3,}|~{3,})",
    re.IGNORECASE,
)
_END_COMMAND: Final = re.compile(r"\[END (?:(?:SHARED )?MEMORY|FILE)\]")
_END_DELEGATION: Final = "[end delegation context]"
#: A paragraph that a tool wrote, and a line that is quoted or shown by our own frame.
_TOOLS: Final = re.compile(
    r"(?:tool|function|observation|tool result|output)\s*(?:\([^)\n]*\)\s*)?[:>]", re.IGNORECASE
)
_QUOTED: Final = re.compile(r"\s*(?:>|\|)")


def said_by_themselves(turn: str) -> str:
    """The turn without blocks, quoted lines and paragraphs of tools."""
    kept = "\n".join(_outside_blocks(turn))
    paragraphs = re.split(r"\n\s*\n", kept)
    spoken = [
        "\n".join(line for line in each.splitlines() if not _QUOTED.match(line))
        for each in paragraphs
        if not _TOOLS.match(each.lstrip())
    ]
    return "\n\n".join(part.strip() for part in spoken if part.strip())


def _outside_blocks(text: str) -> Iterator[str]:
    # As long as the text itself: some letters have a longer lower case.
    folded = text.lower() if text.isascii() else "".join(map(_lower, text))
    marks = list(_MARK.finditer(text))
    ends = [found.end() for found in _END_COMMAND.finditer(text)]
    kept, began, at = list[str](), dict[str, int](), 0
    for number, mark in enumerate(marks):
        if mark.start() < at:
            continue
        if mark["closed"] or mark["end"]:
            # What it closes began before the text, or was closed by something inside it: all of that is a block.
            del kept[began.get((mark["closed"] or mark["end"]).lower(), 0) :]
        else:
            kept.append(text[at : mark.start()])
            began[(mark["element"] or "").lower()] = len(kept)
        at = mark.end() if mark["closed"] or mark["end"] else _end_of(folded, ends, marks, number)
    return iter((*kept, text[at:]))


def _end_of(folded: str, ends: list[int], marks: Sequence[re.Match[str]], number: int) -> int:
    """The end of the block that a mark opens; that of an unclosed one is the end of the text."""
    opened = marks[number]
    if opened["command"]:
        closed = bisect_right(ends, opened.end())
        if closed < len(ends):
            return ends[closed]
        # A command that answers on one line has no end of its own.
        line = folded.find("\n", opened.end())
        return len(folded) if line < 0 else line
    if opened["delegation"]:
        found = folded.find(_END_DELEGATION, opened.end())
        return len(folded) if found < 0 else found + len(_END_DELEGATION)
    if fence := opened["fence"]:
        later = (marks[at] for at in range(number + 1, len(marks)))
        return next((each.end() for each in later if (each["fence"] or "").startswith(fence)), len(folded))
    return _end_of_element(folded, marks, number)


def _end_of_element(folded: str, marks: Sequence[re.Match[str]], number: int) -> int:
    """The end of an element that may hold others of its name."""
    name, depth = marks[number]["element"].lower(), 0
    for at in range(number, len(marks)):
        mark = marks[at]
        depth += (mark["element"] or "").lower() == name
        depth -= (mark["closed"] or "").lower() == name
        if depth == 0:
            return mark.end()
    return len(folded)


def _lower(letter: str) -> str:
    return letter.lower() if letter.isascii() else letter
