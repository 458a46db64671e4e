"""IS a note that defines a word of the question found, however little else it says?"""

import pytest

from onrecord import OnRecord
from onrecord.text.definitions import defined_term


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Churn refers to customers who left.", "Churn"),
        ("'active user' means a login within 30 days", "active user"),
        ("Net weight = gross weight - packing", "Net weight"),
        ("A SKU is the number of an article", "A SKU"),
        ("Customers are loaded every hour", None),
        ("ARPU stands for average revenue per user", "ARPU"),
        ("Customers who left", None),
        ("refers to nothing before it", None),
        ("The quick brown fox " * 8 + "means late", None),
    ],
)
def test_a_text_defines_what_stands_before_its_first_verb(text: str, term: str | None) -> None:
    assert defined_term(text) == term


def test_a_definition_is_raised_if_the_question_contains_the_whole_term(memory: OnRecord) -> None:
    memory.remember("Female refers to gender = 'F'", id="term")
    memory.remember("Female lions refers to zoo.lions", id="longer")
    hits = {
        hit.memory.id: dict(hit.why.boosts) for hit in memory.recall("how many female clients left?").hits
    }
    assert "defines" in hits["term"]
    assert "defines" not in hits["longer"]


def test_the_past_is_not_ordered_by_what_a_text_defines_today(memory: OnRecord) -> None:
    saved = memory.remember("Notes on female clients", id="term").memory
    memory.revise("term", content="Female refers to gender = 'F'")
    (then,) = memory.recall("female clients", known_at=saved.created_at).hits
    assert not then.why.boosts
