"""WHO said what? A conversation that was kept whole is cut into its turns, where lines begin with who speaks."""

import re
from typing import Final, NamedTuple

_MARK: Final = re.compile(r"(?m)^(user|human|assistant|ai|system|tool):[ \t]", re.IGNORECASE)
_PEOPLE: Final = frozenset({"user", "human"})
# One mark may be a line of a list; a conversation has an answer.
_FEWEST_TURNS: Final = 2


class TranscriptTurn(NamedTuple):
    """What one side said."""

    speaker: str
    text: str

    @property
    def is_person(self) -> bool:
        return self.speaker in _PEOPLE


def turns_of(text: str) -> tuple[TranscriptTurn, ...]:
    """The turns of a conversation; none if the text is something else."""
    pieces = _MARK.split(text)
    # What stands before the first mark, then by turns a mark and what follows it.
    turns = tuple(
        TranscriptTurn(speaker.lower(), said.strip())
        for speaker, said in zip(pieces[1::2], pieces[2::2], strict=True)
        if said.strip()
    )
    return turns if len(turns) >= _FEWEST_TURNS else ()


def spoken_by_people(text: str) -> tuple[str, ...]:
    """What the people of a conversation said, turn by turn: what it is about stands there, and in few words."""
    return tuple(f"{turn.speaker}: {turn.text}" for turn in turns_of(text) if turn.is_person)
