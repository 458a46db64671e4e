"""WHAT did someone say themselves? A turn without the blocks that programs put into it: memories, tools' answers, quotes.

Reads each text once, from left to right: a block that nobody closes reaches to the end.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

#: The names of elements that hosts put into prompts. What stands in them was not said by anyone.
_ELEMENTS: Final = (
    *("memory", "memories", "memory_context", "relevant_memories", "retrieved_memories", "stored_memories"),
    *("context", "documents", "document", "search_results", "system", "system-reminder", "system_reminder"),
    *("tool", "tools", "tool_call", "tool_calls", "tool_use", "tool_result", "tool_results", "tool_output"),
    *(
        "function_call",
        "function_calls",
        "function_result",
        "function_results",
        "result",
        "results",
        "output",
    ),
    *("stdout", "stderr", "file", "attachment", "thinking", "untrusted", "quote", "blockquote"),
)
_OPENING: Final = re.compile(
    rf"<(?P<element>{'|'.join(_ELEMENTS)}|stored-notes[\w-]*)(?:\s[^<>]{{0,200}})?>"
    r"|\[(?P<mem>/mem\b[^\]\n]{0,300})\]"
    r"|\[(?P<delegation>DELEGATION CONTEXT)\]"
    r"|(?P<fence>```|~~~)",
    re.IGNORECASE,
)
_END_MEMORY: Final = re.compile(r"\[END (?:SHARED )?MEMORY\]")
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
    ends = [found.end() for found in _END_MEMORY.finditer(text)]
    at = 0
    while opened := _OPENING.search(text, at):
        yield text[at : opened.start()]
        at = _end_of(folded, ends, opened)
    yield text[at:]


def _end_of(folded: str, ends: list[int], opened: re.Match[str]) -> int:
    """Where a block ends; one that nobody closes at the end of the text."""
    if opened["mem"]:
        closed = bisect_right(ends, opened.end())
        if closed < len(ends):
            return ends[closed]
        # A command that answers on one line has no end of its own.
        line = folded.find("\n", opened.end())
        return len(folded) if line < 0 else line
    named = opened["element"] or ""
    closing = "[end delegation context]" if opened["delegation"] else opened["fence"] or f"</{named.lower()}>"
    found = folded.find(closing, opened.end())
    return len(folded) if found < 0 else found + len(closing)


def _lower(letter: str) -> str:
    return letter.lower() if letter.isascii() else letter
