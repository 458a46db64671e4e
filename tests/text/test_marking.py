"""WHERE the words of a question stand in a text, and what differs between two texts."""

import random

import pytest

from onrecord.text.differences import differences
from onrecord.text.marking import passages, pieces, spans


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        ("Orders were ordered.", "an order", "[Orders] were [ordered]."),
        ("The orders_archive, ordersArchive.", "which order?", "The [orders]_archive, [orders]Archive."),
        ("mydb.orders_archive is old", "ordersarchive", "[mydb.orders_archive] is old"),
        ("naïve Déploiement", "deploiement naive", "[naïve] [Déploiement]"),
        ("東京都に住む", "東京", "[東京]都に住む"),
        ("ﬁnance and Ｆｉｎａｎｃｅ", "finance", "[ﬁnance] and [Ｆｉｎａｎｃｅ]"),
        ("the what of it", "is the of", "[the] what [of] it"),
        ("nothing here", "else", "nothing here"),
        ("nothing here", "", "nothing here"),
        ("👍 done", "👍", "[👍] done"),
    ],
)
def test_words_are_marked_as_they_are_found(text: str, question: str, marked: str) -> None:
    told = pieces(text, spans(text, question))
    assert "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in told) == marked


def test_passages_of_a_long_text_are_those_with_most_of_the_words() -> None:
    text = "a b " * 500 + "revenue is net " + "c d " * 500 + "revenue of revenue is revenue " + "e f " * 500
    found = passages(text, spans(text, "revenue"), characters=100, most=1)
    assert len(found) == 1
    assert "revenue of revenue is revenue" in text[slice(*found[0])]
    both = passages(text, spans(text, "revenue"), characters=100, most=2)
    assert [text[slice(*each)].count("revenue") for each in both] == [1, 3]
    assert all(end - start <= 400 for start, end in both)
    assert passages(text, [], characters=100, most=2)[0][0] == 0


def test_a_difference_tells_both_texts_and_reads_as_phrases() -> None:
    told = differences("Deploys are frozen on Fridays.", "Deploys are frozen from Thursday noon.")
    assert told == [
        ("same", "Deploys are frozen "),
        ("removed", "on Fridays"),
        ("added", "from Thursday noon"),
        ("same", "."),
    ]
    chance = random.Random(7)
    for _ in range(300):
        before, after = (" ".join(chance.choices("abcde", k=chance.randint(0, 12))) for _ in range(2))
        spans_told = differences(before, after)
        assert "".join(span.text for span in spans_told if span.change != "added") == before
        assert "".join(span.text for span in spans_told if span.change != "removed") == after


def test_two_texts_with_nothing_in_common_are_told_as_one_for_the_other() -> None:
    before, after = (" ".join(f"{letter}{number}" for number in range(8_000)) for letter in "ab")
    assert [span.change for span in differences(before, after)] == ["removed", "added"]
