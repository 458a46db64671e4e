"""WHICH entries does a program of the arbiter runtime find over HTTP, and in which order?"""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from ..surfaces.conftest import Served
from .test_arbiter_http import ENTRIES, add, listed, refused

DAY = 86_400


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(db=str(tmp_path_factory.mktemp("served") / "served.db"), worker="no")
    yield served
    served.stop()


def conversation(server: Served) -> Any:
    return server.client.post("/v1/conversations", json={}).json()["id"]


class TestBoosts:
    def test_a_type_raises_its_entries_and_keeps_the_others(self, server: Served) -> None:
        other = add(server, "kestrel", "learning", content="the same words")
        project = add(server, "kestrel", "project", content="the same words")
        assert listed(server, q="kestrel") == [other, project]
        assert listed(server, q="kestrel", type="project") == [project, other]
        assert listed(server, q="kestrel", type="project,learning") == [other, project]

    def test_a_tag_raises_its_entries_and_keeps_the_others(self, server: Served) -> None:
        other = add(server, "kestrel", content="the same words", tags=["bards"])
        tagged = add(server, "kestrel", content="the same words", tags=["birds"])
        assert listed(server, q="kestrel") == [other, tagged]
        assert listed(server, q="kestrel", tag="birds") == [tagged, other]
        assert listed(server, q="kestrel", tag="bird") == [other, tagged]

    def test_cue_words_raise_the_types_they_speak_of_unless_that_is_off(self, server: Served) -> None:
        other = add(server, "kestrel", "project", content="the same words")
        answer = add(server, "kestrel", "reference", content="the same words")
        assert listed(server, q="what is a kestrel?") == [answer, other]
        assert listed(server, q="what is a kestrel?", intent="off") == [other, answer]
        assert listed(server, q="what is a kestrel?", intent="auto") == [answer, other]

    def test_a_type_of_the_caller_wins_over_cue_words(self, server: Served) -> None:
        project = add(server, "kestrel", "project", content="the same words")
        add(server, "kestrel", "reference", content="the same words")
        assert listed(server, q="what is a kestrel?", type="project")[0] == project

    @pytest.mark.parametrize("question", ["kestrel prefer?", "kestrel, prefer, you"])
    def test_a_cue_word_counts_with_punctuation_behind_it(self, server: Served, question: str) -> None:
        add(server, "kestrel", "project", content="the same words")
        liked = add(server, "kestrel", "user", content="the same words")
        assert listed(server, q=question)[0] == liked

    def test_the_title_says_more_than_the_content(self, server: Served) -> None:
        add(server, "of birds", content="one kestrel there")
        titled = add(server, "kestrel", content="one bird there")
        assert listed(server, q="kestrel")[0] == titled


class TestQuestions:
    def test_question_words_say_nothing(self, server: Served) -> None:
        add(server, "kubernetes", content="the cluster")
        add(server, "what is the thing", content="of kubernetes")
        asked, plain = (listed(server, q=q, intent="off") for q in ("what is the kubernetes", "kubernetes"))
        assert asked == plain == [1, 2]

    def test_a_query_of_stop_words_alone_still_runs(self, server: Served) -> None:
        found = add(server, "what is this", content="about it")
        assert listed(server, q="what is this") == [found]

    @pytest.mark.parametrize(
        "question",
        [
            '"kestrel',
            'kes"trel kestrel',
            "kestrel AND",
            "NEAR(kestrel, 5)",
            "kestrel*",
            "title:kestrel",
            "-kestrel OR (",
            "^kestrel { }",
            "kestrel'; DROP TABLE memories; --",
            "\\kestrel %",
        ],
    )
    def test_quotes_and_operators_are_plain_text(self, server: Served, question: str) -> None:
        found = add(server, "kestrel")
        assert listed(server, q=question) == [found]

    def test_any_of_the_words_is_enough(self, server: Served) -> None:
        both = add(server, "red lamp")
        add(server, "red kite")
        assert listed(server, q="red lamp brass") == [both, 2]

    def test_a_word_is_found_by_its_stem_and_without_its_accents(self, server: Served) -> None:
        found = add(server, "Déployments")
        assert listed(server, q="deploying") == [found]

    def test_an_index_that_was_thrown_away_is_made_anew(self, server: Served) -> None:
        add(server, "kestrel")
        for _ in range(2):
            server.parts.door.reindex()
            assert listed(server, q="kestrel") == [1]


class TestConversations:
    def test_what_is_pinned_here_ranks_above_what_is_pinned_to_none(self, server: Served) -> None:
        here = conversation(server)
        free = add(server, "kestrel", content="the same words")
        pinned = add(server, "kestrel", content="the same words", conversation_id=here)
        assert listed(server, q="kestrel") == [free, pinned]
        for more in ({}, {"graduated": "true"}, {"graduated": "1"}):
            assert listed(server, q="kestrel", conversation_id=here, **more) == [pinned, free]

    def test_a_graduated_search_finds_other_conversations_after_the_own(self, server: Served) -> None:
        here, there = conversation(server), conversation(server)
        elsewhere = add(server, "kestrel", content="the same words", conversation_id=there)
        free = add(server, "kestrel", content="the same words")
        pinned = add(server, "kestrel", content="the same words", conversation_id=here)
        asked: dict[str, Any] = {"q": "kestrel", "conversation_id": here}
        assert listed(server, **asked, graduated="true") == [pinned, free, elsewhere]
        assert listed(server, **asked) == [pinned, free]

    @pytest.mark.parametrize("is_free", [True, False], ids=["pinned to none", "pinned elsewhere"])
    def test_a_strong_match_of_the_tenant_outranks_a_weak_one_of_here(
        self, server: Served, is_free: bool
    ) -> None:
        here, there = conversation(server), conversation(server)
        numbers = " ".join(map(str, range(200)))
        weak = add(server, "notes", content=f"a kestrel among {numbers}", conversation_id=here)
        pinned = {} if is_free else {"conversation_id": there}
        strong = add(server, "kestrel gene flow", content="kestrel gene flow", **pinned)
        asked = {"q": "kestrel gene flow", "conversation_id": here, "graduated": "true"}
        assert listed(server, **asked) == [strong, weak]
        # What holds all the words is not weak, wherever they stand.
        scattered = add(
            server, "notes", content=f"kestrel {numbers} flow {numbers} gene", conversation_id=here
        )
        assert listed(server, **asked) == [scattered, strong, weak]

    def test_a_graduated_search_has_no_doubles_and_is_plain_without_a_conversation(
        self, server: Served
    ) -> None:
        here = conversation(server)
        for number in range(30):
            add(server, f"kestrel {number}", conversation_id=here if number % 3 == 0 else None)
        graduated = listed(server, q="kestrel", conversation_id=here, graduated="true")
        assert len(graduated) == len(set(graduated)) == 30
        assert listed(server, q="kestrel", graduated="true") == listed(server, q="kestrel")

    @pytest.mark.usefixtures("words_alone")  # How many there are does not depend on what they mean.
    def test_a_graduated_search_gives_as_many_as_asked_for(self, server: Served) -> None:
        here = conversation(server)
        door = server.parts.door
        for number in range(210):
            pinned = {"conversation": str(here)} if number % 2 else {}
            door.remember(f"kestrel {number}", kind="project", dedupe=False, **pinned)  # type: ignore[arg-type]
        for limit in (67, 150, 200):
            found = listed(server, q="kestrel", conversation_id=here, graduated="true", limit=limit)
            assert len(set(found)) == limit


class TestDecay:
    @pytest.fixture
    def aged(self, server: Served) -> Served:
        """Two entries of the same words: 1 is 400 days old, 2 is ten."""
        now = int(time.time())
        for days in (400, 10):
            add(server, "kestrel", content="the same words", created_at=now - days * DAY)
        return server

    @pytest.mark.parametrize("decay", ["1", "true", "on", "yes", "TRUE", "90", "45.5"])
    def test_with_decay_the_fresh_one_is_first_and_both_are_there(self, aged: Served, decay: str) -> None:
        assert listed(aged, q="kestrel", decay=decay) == [2, 1]

    @pytest.mark.parametrize("decay", [None, "", "0", "false", "off", "no"])
    def test_without_decay_age_says_nothing(self, aged: Served, decay: str | None) -> None:
        assert listed(aged, q="kestrel", **({} if decay is None else {"decay": decay})) == [1, 2]

    def test_a_floor_of_one_leaves_all_of_a_score(self, aged: Served) -> None:
        assert listed(aged, q="kestrel", decay="true", decay_floor="1") == [1, 2]

    def test_a_half_life_says_how_fast(self, server: Served) -> None:
        now = int(time.time())
        for days in (200, 100):
            add(server, "kestrel", content="the same words", created_at=now - days * DAY)
        asked = {"q": "kestrel", "decay": "true"}
        assert (
            listed(server, **asked, decay_half_life_days="60")
            == listed(server, q="kestrel", decay="60")
            == [2, 1]
        )
        assert listed(server, **asked, decay_half_life_days="300") == [1, 2]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("decay", "maybe"),
            ("decay", "-5"),
            ("decay_half_life_days", "0"),
            ("decay_half_life_days", "soon"),
            ("decay_floor", "2"),
            ("decay_floor", "low"),
        ],
    )
    def test_a_setting_that_is_none_is_400(self, server: Served, name: str, value: str) -> None:
        asked = {"q": "kestrel", "decay": "true", name: value}
        refused(server.client.get(ENTRIES, params=asked), 400, name)
