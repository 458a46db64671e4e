"""WHAT fits? The parts of a context with their pieces, chosen so that the whole stays within its tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from onrecord.context.frame import Framed
from onrecord.model.answer import Answer
from onrecord.model.limits import ContextPart, Tier
from onrecord.model.memory import Memory
from onrecord.text.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock(Answer):
    """One part of the context, framed; `memories` are the ids in it, and `tiers` how far each is trusted."""

    part: ContextPart
    text: str
    tokens: int
    memories: tuple[str, ...] = ()
    tiers: tuple[Tier, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextGiven(Answer):
    """Everything in one text and its blocks one by one; `left_out` counts what did not fit the tokens."""

    text: str
    tokens: int
    blocks: tuple[ContextBlock, ...] = ()
    left_out: int = 0
    degraded: tuple[str, ...] = ()


#: Between two parts, and after a line.
_GAP: Final = "\n\n"
_END: Final = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPiece:
    """A piece that is given whole or not at all, and its memory."""

    text: str
    memory: Memory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """One part: its pieces, the most important first, and how they are put together.

    `is_run`: the pieces after one that does not fit would be misread, and are left out. `backwards`: shown from last
    to first.
    """

    name: ContextPart
    pieces: Sequence[ContextPiece]
    render: Callable[[Sequence[str]], str]
    is_run: bool = False
    backwards: bool = False

    def told(self, chosen: set[int]) -> ContextBlock:
        order = sorted(chosen, reverse=self.backwards)
        text = Framed(self.render([self.pieces[at].text for at in order]))
        shown = [memory for at in order if (memory := self.pieces[at].memory) is not None]
        return ContextBlock(
            part=self.name,
            text=text,
            tokens=count_tokens(text),
            memories=tuple(memory.id for memory in shown),
            tiers=tuple(memory.tier for memory in shown),
        )


@dataclass(slots=True)
class _ChosenPieces:
    """Which pieces of each part fit. Tokens are rounded up: a whole never has more than its parts together."""

    left: int
    chosen: dict[ContextPart, set[int]] = field(default_factory=dict)

    def fill(self, part: ContextSection, most: int) -> None:
        """Add pieces that fit, for at most so many tokens."""
        taken = self.chosen.setdefault(part.name, set())
        for at, piece in enumerate(part.pieces):
            if at in taken:
                continue
            cost = count_tokens(piece.text + _END) + (0 if taken else _shell(part))
            if cost <= min(most, self.left):
                taken.add(at)
                most -= cost
                self.left -= cost
            elif part.is_run:
                return


def _shell(part: ContextSection) -> int:
    """The most tokens that a part costs without its pieces; its frame's name has a fixed length."""
    return count_tokens(part.render([""] * len(part.pieces)) + _GAP)


def fitted(parts: Sequence[ContextSection], max_tokens: int, degraded: Sequence[str] = ()) -> ContextGiven:
    """As much as fits. What holds in every turn takes what it needs, so that nothing else can crowd it out; each other part
    may first take half of what is left, so that none starves the next, and then the rest."""
    held = [part for part in parts if part.pieces]
    choice = _ChosenPieces(max_tokens)
    # It is the last to be given up, wherever it is told.
    by_need = sorted(held, key=lambda part: part.name != "always")
    for part in by_need:
        takes_all = part.name == "always" or part is by_need[-1]
        choice.fill(part, choice.left if takes_all else choice.left // 2)
    for part in by_need:
        choice.fill(part, choice.left)
    blocks = tuple(part.told(choice.chosen[part.name]) for part in held if choice.chosen[part.name])
    text = Framed(_GAP.join(block.text for block in blocks))
    told = sum(map(len, choice.chosen.values()))
    return ContextGiven(
        text=text,
        tokens=count_tokens(text),
        blocks=blocks,
        left_out=sum(len(part.pieces) for part in held) - told,
        degraded=tuple(degraded),
    )
