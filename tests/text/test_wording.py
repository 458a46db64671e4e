"""DO two texts say the same in the same words? Whatever could be a fact tells them apart."""

import re
from collections.abc import Iterator
from itertools import combinations

import pytest

from evals.said_already import BLIND, CAPTURES, PAIRS
from onrecord.text.wording import is_same_wording


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Revenue is net.", "the revenue is net"),
        ("Please note that revenue is net", "Revenue is net!"),
        ("Don't join on `user_id`.", "Do not join on user_id"),
        ("It's safe, and we can't wait.", "it is safe, and we cannot wait"),
        ("It reads 'NaN' then", 'It reads "NaN" then'),
        ("Stores 8001–8099 are outlets", "Stores 8001-8099 are outlets"),
        ("Do NOT run it", "do not run it"),
        ("売上は税込みです。", "売上は税込みです"),
        ("The orders table excludes test stores 9001-9099.", "Orders table excludes test stores 9001-9099"),
        ("Revenue in the finance mart isn't net.", "Revenue in finance mart is not net"),
        ("We moved the forecast. The old one stays.", "We moved forecast. Old one stays."),
        ("A cancelled order stays in an open batch", "cancelled order stays in open batch"),
        ("Loaded from the CRM & the shop", "Loaded from the CRM and the shop"),
        ('"Revenue is net."', "Revenue is net"),
        ("By the way, it closes at 18:00!", "It closes at 18:00 (FYI)"),
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
        ("Rows where (a or b) and c are kept.", "Rows where a or (b and c) are kept."),
        ("Anna, says Ben, owns the report.", "Anna says Ben owns the report."),
        ("The clerk who is late pays the fee.", "The clerk, who is late, pays the fee."),
        ("Anna is the owner of the dashboard.", "Anna is an owner of the dashboard."),
        ("A number of stores report late.", "The number of stores report late."),
        ("Two managers sign each contract.", "The two managers sign each contract."),
        ("Store 5 sold the most shoes.", "Store 5 sold most shoes."),
        ("Group a gets the discount.", "Group gets the discount."),
        ("The room gets cold at night.", "The room is cold at night."),
        ("Unknown is stored as 'null' there", "Unknown is stored as null there"),
        ("Exports are (not) allowed.", "Exports are not allowed."),
        ("NB: the sales tax is 15 %.", "The sales tax is 15 %."),
        ("if paid:\n  ship\n  bill", "if paid:\n  ship\nbill"),
        ("It comes to 4!", "It comes to 4"),
        ("Orders table excludes the outlets", "The orders table excludes outlets"),
        ("Anna is owner of the tool", "Anna is the owner of the tool"),
        ("Anna is in charge of Ben", "Anna is in the charge of Ben"),
        ("Those on call leave early", "Those on the call leave early"),
        ("The owner and manager sign", "The owner and the manager sign"),
        ("All stores close", "All the stores close"),
        ("It arrives next week", "It arrives the next week"),
        ("Give dog food", "Give the dog food"),
        ("Goods go to store rooms", "Goods go to the store rooms"),
        ("Second stores opened", "The second stores opened"),
        ("Wir liefern alle Kunden", "Wir liefern an alle Kunden"),
        ("El almacén cierra las seis", "El almacén cierra a las seis"),
        ("Not managers sign", "Not the managers sign"),
        ("x & y are set", "x and y are set"),
        ("user_id & key match", "user_id and key match"),
        ("Gift cards count", "Also gift cards count"),
        ("The export is broken", "The export is currently broken"),
        ('He said "revenue is net"', "He said revenue is net"),
    ],
)
def test_what_could_be_a_fact_does(one: str, other: str) -> None:
    assert not is_same_wording(one, other)
    assert not is_same_wording(other, one)


#: Words with which a text may begin without saying anything else.
_OPENS = re.compile(r"\W*(?:the|a|an|please|note|that|important:?|also,|reminder:|fyi:)\W*", re.IGNORECASE)
_ARTICLES = ("the", "a", "an")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return sorted(
        {
            text
            for file in (PAIRS, BLIND, CAPTURES)
            for line in file.read_text("utf-8").splitlines()
            for text in line.split("\t")[1:]
        }
    )


def test_no_word_can_be_left_out_doubled_moved_or_changed_and_no_mark_put_in(texts: list[str]) -> None:
    for text in texts:
        words = text.split()
        begins = next((at for at, word in enumerate(words) if not _OPENS.fullmatch(word)), 0)
        for at in range(begins, len(words)):
            if any(map(str.isalnum, words[at])):
                for other in _mutated(words, at):
                    assert not is_same_wording(text, " ".join(other)), (text, other)


def _mutated(words: list[str], at: int) -> Iterator[list[str]]:
    before, word, after = words[:at], words[at], words[at + 1 :]
    for instead in ([word, word], ["xyzzy"], ["not", word], ["and", word], [f"({word})"]):
        yield [*before, *instead, *after]
    if word not in _ARTICLES and word != "(FYI).":
        yield [*before, *after]
    if after:
        yield [*before, f"{word},", *after] if not word.endswith(",") else [*before, word.rstrip(","), *after]
        if after[0] != word:
            yield [*before, after[0], word, *after[1:]]


def test_an_article_is_never_exchanged_doubled_or_put_before_a_number(texts: list[str]) -> None:
    for text in texts:
        words = text.split()
        for at, word in enumerate(words):
            around = words[:at], words[at + (word in _ARTICLES) :]
            put = {each: " ".join((*around[0], each, *around[1])) for each in (*_ARTICLES, "the the")}
            for one, other in combinations(put.values(), 2):
                assert not is_same_wording(one, other), (one, other)
            if word[0].isdigit():
                assert not any(is_same_wording(text, put[each]) for each in _ARTICLES), put
