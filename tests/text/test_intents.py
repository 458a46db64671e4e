"""Do cue words, and only whole ones, say which kinds a question asks for?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.model.limits import KINDS
from onrecord.text.intents import read_intents

TASTE = ("user", "feedback", "preference")
ROWS = {
    "favorite favourite prefer love hate enjoy dislike wants liked": TASTE,
    "what-is where-is who-is how-many url address endpoint": ("reference",),
    "how-to how-do why-is explain tutorial guide": ("learning",),
    "when before after since first recent ago did": ("project",),
}
CUES = [(cue.replace("-", " "), kinds) for cues, kinds in ROWS.items() for cue in cues.split()]


@pytest.mark.parametrize(("cue", "kinds"), CUES)
def test_each_cue_speaks_of_its_kinds(cue: str, kinds: tuple[str, ...]) -> None:
    assert read_intents(f"xx {cue} yy") == kinds


@pytest.mark.parametrize(("cue", "kinds"), CUES)
@pytest.mark.parametrize("written", ["{}?", "({})", "{}, yy", "“{}”", "xx: {}!"])
def test_punctuation_around_a_cue_changes_nothing(cue: str, kinds: tuple[str, ...], written: str) -> None:
    assert read_intents(written.format(cue.upper())) == kinds


@pytest.mark.parametrize(("cue", "kinds"), CUES)
def test_a_part_of_a_word_is_no_cue(cue: str, kinds: tuple[str, ...]) -> None:
    assert read_intents(f"x{cue}x") == ()
    assert read_intents(f"{cue}_x") == ()


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("What's the port?", ("reference",)),
        ("Where’s the runbook?", ("reference",)),
        ("the how-to for backups", ("learning",)),
        ("How  do\nI deploy?", ("learning",)),
        ("What did Ann prefer first?", ("user", "feedback", "project", "preference")),
        ("How many hosts, and why is one down?", ("reference", "learning")),
        ("", ()),
        ("whatever the addresses are", ()),
        ("how does it work", ()),
        ("What? Is it there", ()),
        ("is what", ()),
        ("what", ()),
    ],
)
def test_questions_speak_of_the_kinds_of_all_their_cues(question: str, kinds: tuple[str, ...]) -> None:
    assert read_intents(question) == kinds


@given(st.text())
def test_any_text_gives_kinds_in_the_order_of_the_list(question: str) -> None:
    found = read_intents(question)
    assert list(found) == [kind for kind in KINDS if kind in found]
