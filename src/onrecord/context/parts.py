"""WHAT fits? The parts of a context with their pieces, chosen so that the whole stays within its tokens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from onrecord.context.frame import Framed
from onrecord.model.answer import Answer
from onrecord.model.limits import ContextPart, Tier
from onrecord.model.memory import Memory
from onrecord.text.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock(Answer):
    """One part of the context, framed; `memories` are the ids in it, `tiers` how far each is trusted, and `costs` how
    many tokens each takes.
    """

    part: ContextPart
    text: str
    tokens: int
    memories: tuple[str, ...] = ()
    tiers: tuple[Tier, ...] = ()
    costs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Answer):
    """A piece that did not fit: its part, its tokens, and its memory if it is one."""

    part: ContextPart
    tokens: int
    memory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextGiven(Answer):
    """Everything in one text and its blocks one by one; `left_out` counts what did not fit the tokens, and `pieces_left_out`
    names it.
    """

    text: str
    tokens: int
    blocks: tuple[ContextBlock, ...] = ()
    left_out: int = 0
    pieces_left_out: tuple[LeftOut, ...] = ()
    degraded: tuple[str, ...] = ()


#: Between two parts, and after a line.
_GAP: Final = "\n\n"
_END: Final = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPiece:
    """A piece that is given whole or not at all, and its memory."""

    text: str
    memory: Memory | None = None

    @property
    def tokens(self) -> int:
        return count_tokens(self.text + _END)


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

    def block(self, chosen: set[int]) -> ContextBlock:
        order = sorted(chosen, reverse=self.backwards)
        text = Framed(self.render([self.pieces[at].text for at in order]))
        shown = [(memory, self.pieces[at].tokens) for at in order if (memory := self.pieces[at].memory)]
        return ContextBlock(
            part=self.name,
            text=text,
            tokens=count_tokens(text),
            memories=tuple(memory.id for memory, _ in shown),
            tiers=tuple(memory.tier for memory, _ in shown),
            costs=tuple(tokens for _, tokens in shown),
        )

    def left_out(self, chosen: set[int]) -> Iterator[LeftOut]:
        """The pieces that were not chosen."""
        for at, piece in enumerate(self.pieces):
            if at not in chosen:
                memory = None if piece.memory is None else piece.memory.id
                yield LeftOut(part=self.name, tokens=piece.tokens, memory=memory)


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
            cost = piece.tokens + (0 if taken else _shell(part))
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
    # The part "always" is the last to be cut, wherever it is shown.
    by_need = sorted(held, key=lambda part: part.name != "always")
    for part in by_need:
        takes_all = part.name == "always" or part is by_need[-1]
        choice.fill(part, choice.left if takes_all else choice.left // 2)
    for part in by_need:
        choice.fill(part, choice.left)
    blocks = tuple(part.block(choice.chosen[part.name]) for part in held if choice.chosen[part.name])
    text = Framed(_GAP.join(block.text for block in blocks))
    left_out = tuple(piece for part in held for piece in part.left_out(choice.chosen[part.name]))
    return ContextGiven(
        text=text,
        tokens=count_tokens(text),
        blocks=blocks,
        left_out=len(left_out),
        pieces_left_out=left_out,
        degraded=tuple(degraded),
    )
