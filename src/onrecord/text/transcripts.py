"""WHO said what? A transcript is cut into turns at the lines that begin with the name of a speaker."""

import re
from typing import Final, NamedTuple

_MARK: Final = re.compile(r"(?m)^(user|human|assistant|ai|system|tool):[ \t]", re.IGNORECASE)
_PEOPLE: Final = frozenset({"user", "human"})
#: What a question ends with; in Chinese and Japanese, and in Arabic and Persian, it looks otherwise.
QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f")
# One mark may be a line of a list; a conversation has an answer.
_FEWEST_TURNS: Final = 2


class TranscriptTurn(NamedTuple):
    """What one speaker said."""

    speaker: str
    text: str

    @property
    def is_person(self) -> bool:
        return self.speaker in _PEOPLE


def turns_of(text: str) -> tuple[TranscriptTurn, ...]:
    """The turns of a conversation; none if the text is something else."""
    pieces = _MARK.split(text)
    # The text before the first mark, then by turns a mark and the text after it.
    turns = tuple(
        TranscriptTurn(speaker.lower(), words.strip())
        for speaker, words in zip(pieces[1::2], pieces[2::2], strict=True)
        if words.strip()
    )
    return turns if len(turns) >= _FEWEST_TURNS else ()


def spoken_by_people(text: str) -> tuple[str, ...]:
    """What the users said, turn by turn: this states in few words what the conversation is about."""
    return tuple(f"{turn.speaker}: {turn.text}" for turn in turns_of(text) if turn.is_person)
