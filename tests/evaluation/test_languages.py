"""Words are found in other languages, also where they end otherwise."""

import pytest

from evals.languages import BAR, recall_by_language
from onrecord import OnRecord


def test_every_language_is_answered_by_words_alone() -> None:
    told = recall_by_language("lexical")
    assert len(told) == 10
    assert min(told.values()) >= BAR, told


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Принтеру нужны чернила.", "принтеры"),
        ("Οι εκτυπωτές θέλουν μελάνι.", "εκτυπωτής"),
        ("मंज़िल के प्रिंटर", "प्रिंटरों"),
        ("الطابعة تحتاج إلى حبر", "طابعة"),
    ],
)
def test_a_word_in_another_script_is_found_by_another_form_of_it(
    memory: OnRecord, text: str, question: str
) -> None:
    memory.remember(text)
    assert memory.recall(question, recipe="lexical").hits
