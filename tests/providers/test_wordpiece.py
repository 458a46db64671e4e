"""Texts become the tokens that BERT was trained on. The table was made with the reference tokenizer."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.providers import e5
from onrecord.providers.e5 import wordpiece
from onrecord.providers.e5.passages import Cut
from onrecord.providers.e5.wordpiece import LONGEST_WORD, Word, WordPiece

VOCABULARY = Path(e5.__file__).with_name("vocab.txt").read_text(encoding="utf-8").splitlines()
WORDPIECE = WordPiece(VOCABULARY)

GOLDEN = (
    ("Revenue is net of refunds.", "revenue is net of ref ##unds ."),
    ("mydb.orders.amount_usd >= 12.50", "my ##db . orders . amount _ usd > = 12 . 50"),
    ("unbelievably misremembered", "un ##bel ##ie ##va ##bly mis ##rem ##em ##bered"),
    ("don't stop", "don ' t stop"),
    ("Café déjà-vu, naïve Ångström", "cafe de ##ja - vu , naive ang ##strom"),
    ("cafe\u0301", "cafe"),
    ("İstanbul STRASSE Straße", "istanbul st ##ras ##se st ##raße"),
    ("ΟΔΥΣΣΕΥΣ Σίσυφος", "ο ##δ ##υ ##σ ##σ ##ε ##υ ##σ σ ##ι ##σ ##υ ##φ ##ος"),
    ("Привет, мир!", "п ##р ##и ##в ##е ##т , м ##и ##р !"),
    ("会议在3点", "会 [UNK] [UNK] 3 [UNK]"),
    ("カタカナ ひらがな", "カ ##タ ##カ ##ナ ひ ##ら ##か ##な"),
    ("회의", "[UNK]"),
    ("שָׁלוֹם", "ש ##ל ##ו ##ם"),
    ("नमस्ते", "न ##म ##स ##त"),
    ("zero\u200bwidth soft\u00adhyphen", "zero ##wi ##dt ##h soft ##hy ##ph ##en"),
    ("a\x00b\x07c\x0bd\ufffde", "abc ##de"),
    ("ascii\x1f only\x7f\x0b", "as ##ci ##i only"),
    ("tab\tnew\nline\r\nfeed", "tab new line feed"),
    ("no\u00a0break\u2003em\u3000wide\u2028line", "no break em wide line"),
    ("[CLS] [SEP] [MASK] [UNK] [PAD]", "[ cl ##s ] [ sep ] [ mask ] [ un ##k ] [ pad ]"),
    ("##ing", "# # ing"),
    ("\U0001d4b3 \U0001f642\U0001f44d\U0001f3fd \u00bd \ufb01", "[UNK] [UNK] ½ ﬁ"),
    ("\U0001f9ff\U0001fae0", "[UNK]"),
    ("“quoted” — dashes… ¿qué?", "“ quoted ” — dash ##es … ¿ que ?"),
    ("price: $5 + 3€ ^ ~ `x` |y|", "price : $ 5 + 3 ##€ ^ ~ ` x ` | y |"),
    ("豈更", "[UNK] [UNK]"),
    ("ǅ Ǆ ŉ ª", "[UNK] [UNK] [UNK] ª"),
    ("a’s o‘clock", "a ’ s o ‘ clock"),
    ("http://example.org/a_b?c=d&e=%20", "http : / / example . org / a _ b ? c = d & e = % 20"),
    ("x" * LONGEST_WORD, " ".join(["xx", *["##xx"] * 49])),
    ("x" * (LONGEST_WORD + 1), "[UNK]"),
    ("  ", ""),
    ("", ""),
)


@pytest.mark.parametrize(("text", "pieces"), GOLDEN)
def test_the_pieces_are_those_of_the_reference(text: str, pieces: str) -> None:
    assert [VOCABULARY[token] for token in chain.from_iterable(WORDPIECE.words(text))] == pieces.split()


@given(st.text())
def test_no_text_can_spell_a_marker(text: str) -> None:
    markers = {VOCABULARY.index(marker) for marker in ("[CLS]", "[SEP]", "[PAD]", "[MASK]")}
    assert markers.isdisjoint(chain.from_iterable(WORDPIECE.words(text)))


@given(st.text(), st.text())
def test_a_word_is_read_alike_wherever_it_stands(left: str, right: str) -> None:
    assert WORDPIECE.words(f"{left} {right}") == WORDPIECE.words(left) + WORDPIECE.words(right)


@given(st.text())
def test_every_word_has_tokens(text: str) -> None:
    assert all(WORDPIECE.words(text))


@given(st.text())
def test_words_that_were_met_before_are_read_as_at_first(text: str) -> None:
    assert WORDPIECE.words(text) == WORDPIECE.words(text)


def test_a_full_memory_of_words_is_emptied_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    forgetful = WordPiece(VOCABULARY)
    monkeypatch.setattr(wordpiece, "_REMEMBERED_WORDS", 2)
    assert forgetful.words("one two three four one") == WORDPIECE.words("one two three four one")


words = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=30).map(tuple), max_size=60)
cuts = st.integers(1, 12).flatmap(lambda size: st.builds(Cut, st.just(size), st.integers(0, size - 1)))


@given(words, cuts, st.integers(1, 40))
def test_every_passage_fits_and_no_token_is_lost(text: list[Word], cut: Cut, room: int) -> None:
    # Tokens numbered through, so that each can be told from every other.
    numbers = iter(range(10_000))
    numbered = [tuple(next(numbers) for _ in word) for word in text]
    passages = list(cut.passages(numbered, room))
    assert all(len(passage) <= room for passage in passages)
    assert all(passage == list(range(passage[0], passage[-1] + 1)) for passage in passages if passage)
    assert set(chain.from_iterable(passages)) == set(chain.from_iterable(numbered))
    assert [passage[0] for passage in passages if passage] == sorted({p[0] for p in passages if p})


def test_passages_overlap_by_the_words_asked_for() -> None:
    text = [(number,) for number in range(10)]
    assert list(Cut(words=4, overlap=1).passages(text, 100)) == [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]]


def test_a_text_without_words_is_one_empty_passage() -> None:
    assert list(Cut().passages([], 100)) == [[]]


@pytest.mark.parametrize(("words", "overlap"), [(10, 10), (0, 0), (5, -1)])
def test_a_cut_that_would_never_end_is_refused(words: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="longer than its overlap"):
        Cut(words, overlap)
