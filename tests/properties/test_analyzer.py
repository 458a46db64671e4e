"""Does every text find itself, and every spelling of a name the others, in any script?"""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from onrecord.text import document_words, question_terms, term_set
from onrecord.text.stopwords import STOP_WORDS

SCRIPTS = {
    "Chinese": "数据库每天晚上备份一次",
    "Japanese": "データベースは毎晩バックアップされます",
    "Korean": "데이터베이스는 매일 밤 백업됩니다",
    "Thai": "ฐานข้อมูลสำรองทุกคืน",
    "Hindi": "डेटाबेस का हर रात बैकअप होता है",
    "Arabic": "تُنسخ قاعدة البيانات كل ليلة",
    "Hebrew": "מסד הנתונים מגובה בכל לילה",
    "Greek": "Η βάση δεδομένων αντιγράφεται κάθε νύχτα",
    "Russian": "База данных копируется каждую ночь",
    "German": "Die Datenbank wird jede Nacht übergroß gesichert",
    "Vietnamese": "Cơ sở dữ liệu được sao lưu mỗi đêm",
    "Tamil": "தரவுத்தளம் ஒவ்வொரு இரவும் காப்புப் பிரதி எடுக்கப்படுகிறது",
}
# Any character at all, weighted towards those of the scripts above and towards what joins names.
letters = st.sampled_from(sorted({letter for text in SCRIPTS.values() for letter in text}))
joiners = st.sampled_from(list("._/-aZ09 é\u0301\u200d🎉\x00\ud800İßŉﬁ①"))
any_text = st.text(st.one_of(letters, joiners, st.characters()), max_size=40)

ascii_words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)
names = st.lists(ascii_words, min_size=2, max_size=4)


def indexed(text: str) -> set[str]:
    return {term for terms in document_words(text) for term in terms}


def finds(question: str, text: str) -> bool:
    return any(token.term in indexed(text) for token in question_terms(question))


@given(any_text)
def test_no_text_is_refused(text: str) -> None:
    assert all(terms for terms in document_words(text)), "a word without a term cannot be found"
    assert all(1 <= len(term) <= 64 for term in indexed(text))
    places = [token.position for token in question_terms(text)]
    assert places == sorted(places)


@given(any_text)
def test_the_same_text_gives_the_same_terms(text: str) -> None:
    assert document_words(text) == document_words(text)
    assert question_terms(text) == question_terms(text)


@given(any_text)
@example("to_do or is_on")
@example("the_order")
@example("数据 a_b.C-d/E")
def test_what_a_question_looks_for_is_indexed_under_the_same_text(text: str) -> None:
    assert {token.term for token in question_terms(text)} <= indexed(text)


@given(any_text)
def test_a_text_with_any_word_finds_itself(text: str) -> None:
    assert finds(text, text) == bool(indexed(text))


@given(any_text, any_text, any_text)
def test_a_text_is_found_among_other_words(before: str, text: str, after: str) -> None:
    assume(indexed(text))
    assert finds(text, f"{before} {text} {after}")


@given(any_text)
def test_a_term_is_one_word_when_it_is_read_again(text: str) -> None:
    """Stemming may shorten an English word once more; nothing else may change what is a term already."""
    for term in indexed(text):
        if term.isascii():
            assert len(document_words(term)) == 1
        else:
            assert term in indexed(term)


@given(any_text)
def test_composed_and_decomposed_letters_are_the_same(text: str) -> None:
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert indexed(forms[0]) == indexed(forms[1])
    assert question_terms(forms[0]) == question_terms(forms[1])


@given(ascii_words)
def test_case_does_not_matter(word: str) -> None:
    for variant in (word.upper(), word.title(), word.capitalize()):
        assert indexed(variant) == indexed(word)


@pytest.mark.parametrize("script", SCRIPTS)
def test_case_does_not_matter_in_any_script(script: str) -> None:
    text = SCRIPTS[script]
    assert indexed(text.upper()) == indexed(text.lower()) == indexed(text)


@given(names)
@example(["order", "id"])
@example(["is", "active"])
@example(["to", "do"])
@example(["to", "date"])
def test_a_name_is_found_however_its_parts_are_joined(parts: list[str]) -> None:
    camel = parts[0] + "".join(part.title() for part in parts[1:])
    spellings = [joint.join(parts) for joint in "_-./"] + [
        camel,
        camel[0].upper() + camel[1:],
        "".join(parts),
    ]
    for question in spellings:
        for text in spellings:
            assert finds(question, f"see {text} there"), f"{question} does not find {text}"


@given(path=st.lists(names.map("_".join), min_size=1, max_size=3), joint=st.sampled_from("./"))
@example(path=["mydb", "orders", "customer_id"], joint=".")
def test_each_name_of_a_path_is_one_term_of_it(path: list[str], joint: str) -> None:
    whole = joint.join(path)
    for name in path:
        assert indexed(name.replace("_", "")) <= indexed(whole)
        assert term_set(name) <= {token.term for token in question_terms(whole)} | indexed(whole)


@given(names)
def test_the_parts_of_a_name_find_it(parts: list[str]) -> None:
    for joint in "_-./":
        for part in parts:
            assert finds(part, joint.join(parts))


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_part_of_a_sentence_finds_it(script: str) -> None:
    text = SCRIPTS[script]
    if " " in text:
        assert all(finds(word, text) for word in text.split())
    else:
        assert all(finds(text[at : at + 2], text) for at in range(len(text) - 1))


@pytest.mark.parametrize("script", SCRIPTS)
def test_one_script_does_not_find_another(script: str) -> None:
    for other, text in SCRIPTS.items():
        shares_letters = {script, other} <= {"Chinese", "Japanese"}
        if other != script and not shares_letters:
            assert not finds(SCRIPTS[script], text), f"{script} finds {other}"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("تنسخ", SCRIPTS["Arabic"]),
        ("שלום", "שָׁלוֹם"),
        ("cafe", "Café"),
        ("CAFÉ", "cafe"),
        ("strasse", "Straße"),
        ("βαση", SCRIPTS["Greek"]),
        ("ΒΆΣΗ", SCRIPTS["Greek"]),
        ("ｏｒｄｅｒ", "order"),
        ("ﾃﾞｰﾀ", SCRIPTS["Japanese"]),
        ("file", "ﬁle"),
        ("istanbul", "İstanbul"),
    ],
)
def test_points_accents_and_widths_do_not_matter(question: str, text: str) -> None:
    assert finds(question, text)
    assert finds(text, question)


@given(st.lists(st.sampled_from(sorted(STOP_WORDS)), min_size=1, max_size=5).map(" ".join))
def test_a_question_of_stop_words_alone_still_looks_for_them(question: str) -> None:
    assert {token.term for token in question_terms(question)} == indexed(question)


@given(
    st.lists(st.sampled_from(sorted(STOP_WORDS)), max_size=5),
    ascii_words.filter(lambda word: word not in STOP_WORDS),
)
def test_stop_words_beside_another_word_are_left_out(stops: list[str], word: str) -> None:
    assert term_set(" ".join([*stops, word])) == term_set(word)


@given(st.text(st.sampled_from("!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~…“”«»、。！？؟،।€→ \n\t"), max_size=20))
def test_punctuation_alone_looks_for_nothing(text: str) -> None:
    assert question_terms(text) == ()


def test_each_emoji_is_a_word() -> None:
    assert indexed("🎉👩‍👩‍👧🇩🇪👍🏽❤️") == {"🎉", "👩", "👧", "🇩🇪", "👍", "❤"}
    assert indexed("🎉party🎉") == indexed("party") | {"🎉"}
