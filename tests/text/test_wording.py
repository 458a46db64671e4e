"""DO two texts say the same in the same words? Whatever could be a fact tells them apart."""

import re

import pytest

from evals.said_already import PAIRS
from onrecord.text.wording import is_same_wording


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Revenue is net.", "the revenue is net"),
        ("Please note that revenue is net", "Revenue is net!"),
        ("Don't join on `user_id`.", "Do not join on user_id"),
        ("It's safe, and we can't wait.", "it is safe and we cannot wait"),
        ("Stores 8001–8099 are outlets", "Stores 8001-8099 are outlets"),
        ("Do NOT run it", "do not run it"),
        ("売上は税込みです。", "売上は税込みです"),
    ],
)
def test_spelling_makes_no_difference(one: str, other: str) -> None:
    assert is_same_wording(one, other)
    assert is_same_wording(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IT owns the report", "it owns the report"),
        ("The user likes Turkey", "The user likes turkey"),
        ("Few stores report", "A few stores report"),
        ("Store A is full", "Store is full"),
        ("No, use the index", "No use the index"),
        ("Revenue is net", "Revenue is net?"),
        ("The board is 5' long", 'The board is 5" long'),
        ("In Maßen trinken", "In Massen trinken"),
        ("10² rows are kept", "102 rows are kept"),
        ("की रिपोर्ट सही है", "का रिपोर्ट सही है"),
        ("Orders.Amount is gross", "orders.amount is gross"),
        ("orders count here, refunds not", "not orders count here, refunds"),
        ("Do not deploy. Monday run tests", "Run tests. Do not deploy Monday"),
        ("Anna reports to Ben daily", "Ben reports to Anna daily"),
        ("The store is closed", "The stores are closed"),
        ("offset +2 hours", "offset -2 hours"),
        ("Use cents for orders, euros for refunds.", "For refunds use cents, for orders euros."),
        ("By night alerts go to ops, by day sales", "Alerts go to ops by day, sales by night"),
        ("The loss was (100) in March", "The loss was 100 in March"),
    ],
)
def test_what_could_be_a_fact_does(one: str, other: str) -> None:
    assert not is_same_wording(one, other)
    assert not is_same_wording(other, one)


def test_no_word_can_be_left_out_doubled_or_changed() -> None:
    texts = {text for line in PAIRS.read_text("utf-8").splitlines() for text in line.split("\t")[1:]}
    light = re.compile(r"\W*(?:the|an?|please|note|that|important:?)\W*", re.IGNORECASE)
    for text in texts:
        words = text.split()
        for at, word in enumerate(words):
            if light.fullmatch(word) or not any(map(str.isalnum, word)):
                continue
            for instead in ([], [word, word], ["xyzzy"], ["not", word]):
                assert not is_same_wording(text, " ".join((*words[:at], *instead, *words[at + 1 :]))), (
                    text,
                    instead,
                )
