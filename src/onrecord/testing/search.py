"""WHICH memories does a question find? Those with its words, weighted by field; punctuation means nothing."""

from typing import Any, Final

import pytest

from onrecord.errors import Invalid
from onrecord.model.when import NOW, When
from onrecord.recall.hits import Hit
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, matched, person, recalled
from onrecord.text import question_terms

_FILLER: Final = [f"word{number}" for number in range(24)]


def _scores(door: OnRecord, question: str, **ask: Any) -> dict[str, float]:
    """The scores by words alone, before they are combined with other scores."""
    return {
        hit.memory.id: hit.why.parts[0].score for hit in door.recall(question, recipe="lexical", **ask).hits
    }


def _boosts(hit: Hit) -> list[str]:
    return [name for name, _ in hit.why.boosts]


class SearchConformance(Conformance):
    """Which memories are found, and in which order."""

    def test_any_word_may_match_and_more_words_rank_higher(self, ann: OnRecord) -> None:
        ann.remember("a red kite", id="red")
        ann.remember("a lamp of brass", id="lamp")
        ann.remember("a red lamp", id="both")
        ann.remember("something else", id="neither")
        found = recalled(ann, "red lamp")
        assert (found[0], set(found)) == ("both", {"both", "red", "lamp"})

    def test_a_rare_word_says_more_than_a_common_one(self, ann: OnRecord) -> None:
        for number in range(8):
            ann.remember(f"common text {number}")
        ann.remember("rare text here", id="rare")
        assert recalled(ann, "common rare")[0] == "rare"

    def test_the_longer_text_of_two_ranks_lower(self, ann: OnRecord) -> None:
        ann.remember("kestrel " + " ".join(_FILLER), id="long")
        ann.remember("kestrel flies", id="short")
        assert recalled(ann, "kestrel") == ["short", "long"]

    def test_title_and_hint_weigh_above_tags_above_content_above_source(self, ann: OnRecord) -> None:
        """Each memory has three words, and one of them is the same word, each time in another field."""
        ann.remember("two words", id="title", title="kestrel")
        ann.remember("two words", id="hint", hint="kestrel")
        ann.remember("two words", id="tag", tags=["kestrel"])
        ann.remember("two kestrel words", id="content")
        ann.remember("two words", id="source", source="kestrel")
        scores = _scores(ann, "kestrel")
        assert scores["title"] == scores["hint"] > scores["tag"] > scores["content"] > scores["source"] > 0

    def test_a_title_cut_from_the_text_does_not_count_twice(self, ann: OnRecord) -> None:
        ann.remember("kestrel two words", id="first")
        ann.remember("two words kestrel", id="last", title="two words kestrel")
        scores = _scores(ann, "kestrel")
        assert scores["first"] == scores["last"]

    def test_a_question_names_its_conversation_and_may_leave_others_out(self, ann: OnRecord) -> None:
        for id, conversation in (("there", "other"), ("free", None), ("here", "talk")):
            ann.remember(f"kestrel {id}", id=id, conversation=conversation)
        assert recalled(ann, "kestrel") == ["there", "free", "here"]
        assert recalled(ann, "kestrel", conversation="talk") == ["here", "there", "free"]
        assert recalled(ann, "kestrel", conversation="talk", recipe="graduated") == [
            "here",
            "free",
            "there",
        ]
        assert recalled(ann, "kestrel", conversation="talk", elsewhere=False) == ["here", "free"]
        inside = ann.as_caller(ann.caller.inside("talk"))
        assert recalled(inside, "kestrel", elsewhere=False) == ["here", "free"]

    def test_a_question_is_limited_to_a_time_of_writing(self, ann: OnRecord, clock: Clock) -> None:
        for id in "abc":
            ann.remember(f"kestrel {id}", id=id)
            last = clock.now
            clock.tick()
        assert recalled(ann, "kestrel", created_since=last) == ["c"]
        assert recalled(ann, "kestrel", updated_before=last) == ["a", "b"]
        ann.revise("a", title="kestrel")
        assert recalled(ann, "kestrel", updated_before=last) == ["b"]

    def test_a_kind_raises_and_hides_nothing(self, ann: OnRecord) -> None:
        ann.remember("kestrel one", id="fact", kind="fact")
        ann.remember("kestrel two", id="skill", kind="skill")
        assert recalled(ann, "kestrel") == ["fact", "skill"]
        hits = ann.recall("kestrel", kinds=["skill", "user"]).hits
        assert [hit.memory.id for hit in hits] == ["skill", "fact"]
        assert [_boosts(hit) for hit in hits] == [["kind"], []]

    def test_a_tag_raises_and_hides_nothing(self, ann: OnRecord) -> None:
        for id in ("red", "green"):
            ann.remember("kestrel", id=id, tags=[id])
        assert recalled(ann, "kestrel", tags=["green", "unknown"]) == ["green", "red"]
        assert recalled(ann, "kestrel", tags=["unknown"]) == ["red", "green"]

    def test_kind_and_tag_do_not_find_what_no_word_does(self, ann: OnRecord) -> None:
        ann.remember("kestrel", kind="skill", tags=["bird"])
        assert recalled(ann, "unrelated", kinds=["skill"], tags=["bird"]) == []

    def test_what_is_pinned_to_this_conversation_beats_its_equal(self, ann: OnRecord) -> None:
        ann.remember("kestrel", id="loose")
        inside = ann.as_caller(person(conversation="talk"))
        inside.remember("kestrel", id="pinned")
        assert recalled(inside, "kestrel") == ["pinned", "loose"]
        for outside in (ann, ann.as_caller(person("bob", conversation="other talk"))):
            hits = outside.recall("kestrel").hits
            assert [hit.memory.id for hit in hits] == ["loose", "pinned"]
            assert hits[0].score == hits[1].score

    def test_words_match_whatever_their_case_accents_and_endings(self, ann: OnRecord) -> None:
        ann.remember("The café serves Crème brûlée to running orders", id="k")
        for question in ("CAFE", "creme brulee", "ran runs running", "order", "Café"):
            assert recalled(ann, question) == ["k"], question

    @pytest.mark.parametrize(
        "question", ["orders", "archive", "mydb.orders_archive", "OrdersArchive", "orders-archive"]
    )
    def test_a_name_is_found_whole_and_by_its_parts(self, ann: OnRecord, question: str) -> None:
        ann.remember("rows live in mydb.orders_archive and orders_archive", id="k")
        assert recalled(ann, question) == ["k"]

    @pytest.mark.parametrize(
        ("content", "question"),
        [
            ("東京の天気予報", "天気"),
            ("สวัสดีครับ", "สวัส"),
            ("Привет, мир", "МИР"),
            ("שלום עולם", "עולם"),
            ("안녕하세요", "안녕"),
        ],
    )
    def test_other_scripts_are_found(self, ann: OnRecord, content: str, question: str) -> None:
        ann.remember(content, id="k")
        assert recalled(ann, question) == ["k"]

    def test_own_and_global_memories_are_ranked_together(self, root: OnRecord) -> None:
        root.remember("kestrel and more words than one", id="own")
        root.remember("kestrel", scope="global", id="all")
        assert recalled(root, "kestrel") == ["global:all", "own"]
        elsewhere = root.as_caller(person(tenant="beta"))
        assert recalled(elsewhere, "kestrel") == ["global:all"]

    def test_words_that_were_revised_away_find_nothing(self, ann: OnRecord) -> None:
        ann.remember("kestrel", id="k", tags=["bird"], hint="when hunting")
        ann.revise("k", content="falcon", tags=[], hint=None)
        assert recalled(ann, "kestrel bird hunting") == []
        assert recalled(ann, "falcon") == ["k"]

    def test_nothing_relevant_returns_nothing(self, ann: OnRecord) -> None:
        assert recalled(ann, "kestrel") == []
        ann.remember("something else")
        assert recalled(ann, "kestrel") == []

    def test_a_limit_cuts_the_same_list(self, ann: OnRecord) -> None:
        for number in range(12):
            ann.remember(" ".join(["kestrel", *_FILLER[:number]]), id=str(number))
        everything = recalled(ann, "kestrel word3", limit=200)
        assert len(everything) == 12
        for limit in (1, 5, 11):
            assert recalled(ann, "kestrel word3", limit=limit) == everything[:limit]

    def test_equals_come_in_the_order_in_which_they_were_saved(self, ann: OnRecord, clock: Clock) -> None:
        for id in ("b", "c", "a"):
            ann.remember("kestrel", id=id)
            clock.tick()
        ann.revise("b", confidence="high")
        assert recalled(ann, "kestrel") == ["b", "c", "a"]

    def test_the_same_question_has_the_same_answer_every_time(self, ann: OnRecord) -> None:
        for number in range(30):
            ann.remember(f"kestrel {_FILLER[number % 7]} {_FILLER[number % 5]}", dedupe=False)
        first = ann.recall("kestrel word1 word3", kinds=["fact"])
        for _ in range(3):
            assert ann.recall("kestrel word1 word3", kinds=["fact"]) == first

    def test_a_store_says_where_the_words_stand(self, ann: OnRecord, store: Store, clock: Clock) -> None:
        ann.remember("kestrel and falcon and kestrel", id="k")
        with store.reading(ann.caller, clock.now) as reading:
            pairs = [("kestrel", "falcon"), ("falcon", "owl")]
            ((match, _),) = matched(reading, "kestrel falcon owl", most=5)
            places = reading.index.places([match], pairs)[match.key]
            assert (places.length, places.positions) == (5, {"kestrel": (0, 4), "falcon": (2,)})
            assert reading.index.places([], pairs) == reading.index.places([match], []) == {}

    def test_a_store_says_which_words_stand_in_more_than_the_content(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        said = "kestrel kestrel owl falcon heron"
        ann.remember(said, id="k", title="An owl", hint="falcon", tags=["heron"], source="kestrel page")
        words = ("kestrel", "owl", "falcon", "heron", "page")
        with store.reading(ann.caller, clock.now) as reading:
            ((match, _),) = matched(reading, " ".join(words), most=5)
            places = reading.index.places([match], [(word, word) for word in words])[match.key]
            assert places.labels == {"owl", "falcon", "heron"}

    def test_what_was_matched_is_read_in_the_same_order(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        for number in (3, 1, 2):
            ann.remember(" ".join(["kestrel", *_FILLER[:number]]), id=str(number))
        then = clock.now
        clock.tick()
        ann.revise("2", content="kestrel and nothing else")
        with store.reading(ann.caller, clock.now) as reading:
            for when in (NOW, When(known_at=then)):
                matches = [match for match, _ in matched(reading, "kestrel", most=5, when=when)]
                memories = reading.read(matches[::-1], when)
                assert [memory.id for memory in memories] == [match.id for match in matches[::-1]]
                assert [memory.version for memory in memories if memory.id == "2"] == [
                    1 if when.known_at else 2
                ]
            assert reading.read([]) == []

    def test_a_store_gives_the_best_and_no_more_than_wanted(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        for number in range(5):
            ann.remember(" ".join(["kestrel", *_FILLER[:number]]), id=str(number))
        with store.reading(ann.caller, clock.now) as reading:
            found = [
                reading.index.match_terms(question_terms("kestrel"), most=most) for most in (1, 3, 5, 50)
            ]
            eligible = reading.eligible([each.key for each in found[-1]])
        assert [len(some) for some in found] == [1, 3, 5, 5]
        assert all(some == found[-1][: len(some)] for some in found)
        assert [eligible[each.key].id for each in found[-1]] == ["0", "1", "2", "3", "4"]


#: A word among what a query language would understand.
_MARKED: Final = (
    '"lamp"', '"lamp', "'lamp", "lamp'", "title:lamp", "content : lamp", "lamp AND", "AND lamp", "lamp OR",
    "NOT lamp", "NEAR(lamp harbour)", "NEAR(lamp, 5)", "lamp*", "*lamp", "(lamp", "lamp)", "((", "-lamp",
    "+lamp", "^lamp", "{lamp}", "[lamp]", "lamp\\", "\\lamp", "lamp -- comment", "lamp; DROP TABLE memories",
    "%lamp_", "lamp & ! | <->", "lamp:*", "@@ lamp", "lamp\n\tharbour\r", "lamp ? :x $1 %s", "{0} lamp {}",
    "Lamp?!", "lamp\u200b", "\ufefflamp", "lamp 🎉", "lamp~2", "/lamp/", "<lamp>", "lamp=lamp",
)  # fmt: skip


class QuestionConformance(Conformance):
    """A question is read as words, never as query syntax."""

    def test_punctuation_and_operators_mean_nothing(self, ann: OnRecord) -> None:
        ann.remember("the lamp is lit", id="k")
        ann.remember("nothing of the kind", id="other")
        for question in _MARKED:
            # Only the words are tested here; relevance is not.
            found = recalled(ann, question, min_relevance=0)
            assert found == (["k"] if "lamp" in question.lower() else []), question

    def test_a_question_without_words_finds_nothing(self, ann: OnRecord) -> None:
        ann.remember("the lamp is lit. 🎉 100% _ * ?!")
        for question in ("", " ", "\n\t", "?!", "\"'", "-- ; *", "...", "()", "%", "_"):
            assert recalled(ann, question) == [], question

    def test_a_question_of_small_words_alone_still_runs(self, ann: OnRecord) -> None:
        ann.remember("to be or not to be", id="hamlet")
        ann.remember("lamps of brass", id="other")
        assert recalled(ann, "to be") == ["hamlet"]
        assert recalled(ann, "what is that") == []

    def test_small_words_beside_others_do_not_find(self, ann: OnRecord) -> None:
        ann.remember("what is the matter", id="small")
        ann.remember("a lamp of brass", id="lamp")
        assert recalled(ann, "what is the lamp") == ["lamp"]

    def test_a_negation_is_a_word(self, ann: OnRecord) -> None:
        ann.remember("do not enter", id="k")
        assert recalled(ann, "not allowed") == ["k"]

    def test_a_question_may_be_ten_thousand_characters_long(self, ann: OnRecord) -> None:
        ann.remember("the lamp is lit", id="k")
        long = " ".join(f"noise{number}" for number in range(2_000))[:9_990]
        assert recalled(ann, f"{long} lamp", min_relevance=0) == ["k"]
        assert recalled(ann, "lamp " * 2_000) == ["k"]
        assert recalled(ann, "x" * 10_000) == []
        with pytest.raises(Invalid, match="10000"):
            ann.recall("x" * 10_001)

    def test_a_pasted_page_is_found_by_its_rarest_words(self, ann: OnRecord) -> None:
        words = [f"common{number}" for number in range(150)]
        for number in range(3):
            ann.remember(" ".join([*words, f"page{number}"]), id=str(number))
        ann.remember("kestrel", id="rare")
        assert "rare" in recalled(ann, " ".join([*words, "kestrel"]))

    @pytest.mark.parametrize("question", ["lamp\x00", "\x00", "lamp\ud800", "\udfff"])
    def test_what_no_database_can_hold_is_refused_with_a_reason(self, ann: OnRecord, question: str) -> None:
        with pytest.raises(Invalid, match="question: contains"):
            ann.recall(question)
