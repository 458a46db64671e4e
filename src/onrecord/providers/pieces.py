"""WHERE is a text cut when the tokens of its model are unknown? At words, as the built-in embedder cuts it.

A window counts tokens, and only the model knows how many a text has. So there are several grains: if a model finds a
piece too long, it gets finer ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from onrecord.providers.e5.passages import Cut

# Ideographs and kana are written without spaces: each counts as a word.
_UNSPACED: Final = "぀-ヿ㐀-䶿一-鿿豈-﫿"
_WORD: Final = rf"[{_UNSPACED}]\s*|[^\s{_UNSPACED}]+\s*"


@dataclass(frozen=True, slots=True)
class PieceSize:
    """How finely a text is cut: at most so many words a piece, and at most so many characters for texts of long
    words.
    """

    cut: Cut
    characters: int

    def pieces(self, text: str) -> list[str]:
        """Stretches of the text, unchanged; a text without words gives one empty piece."""
        words = [tuple(map(ord, word)) for word in re.findall(_WORD, text)]
        return ["".join(map(chr, piece)).rstrip() for piece in self.cut.passages(words, self.characters)]


# A piece has about 250 tokens in the usual grain, and a hundred even of dense code in the finest.
PIECE_SIZES: Final = tuple(PieceSize(Cut(180 // share, 40 // share), 1500 // share) for share in (1, 2, 4, 8))
