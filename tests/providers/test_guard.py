"""The guard: what passes it is sound, and whatever an embedder does wrong is a ProviderError that says so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from threading import Event, Thread, get_ident
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onrecord.errors import ProviderError
from onrecord.providers.e5 import E5
from onrecord.providers.embedding import Embedder, EmbeddingModel, Passage
from onrecord.providers.guard import Guarded

MODEL = EmbeddingModel("toy", 3)
SOUND = np.array([3.0, 0.0, 4.0], np.float32)


class Toy:
    """Does what it is told: `answer` makes the vector of each text, or does something worse."""

    def __init__(self, answer: Callable[[str], Any] = lambda text: Passage(SOUND)) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.threads: set[int] = set()

    @property
    def model(self) -> EmbeddingModel:
        return MODEL

    def embed_query(self, text: str) -> Passage:
        self.asked.append(text)
        self.threads.add(get_ident())
        passage: Passage = self.answer(text)
        return passage

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [(self.embed_query(text),) for text in texts]


class Clock:
    """Moves only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def answering(vector: Any, tokens: Any = None) -> Guarded:
    return Guarded(Toy(lambda text: Passage(vector, tokens)))


def failing(problem: BaseException) -> Toy:
    def fail(text: str) -> Passage:
        raise problem

    return Toy(fail)


def test_a_guarded_embedder_is_an_embedder() -> None:
    guarded: Embedder = Guarded(Toy())
    assert guarded.model == MODEL


def test_a_vector_comes_out_in_float32_and_of_unit_length() -> None:
    for vector in (SOUND, SOUND.astype(np.float64), SOUND.astype(np.float16), [3.0, 0.0, 4.0]):
        question = answering(vector).embed_query("q").vector
        ((document,),) = answering(vector).embed_documents(["d"])
        assert question.dtype == document.vector.dtype == np.float32
        assert question == pytest.approx([0.6, 0, 0.8])
        assert np.array_equal(question, document.vector)


WIDE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(arrays.arrays(np.float64, 3, elements=WIDE))
def test_any_finite_vector_is_scaled_or_refused_as_zero(vector: Any) -> None:
    try:
        scaled = answering(vector).embed_query("q").vector
    except ProviderError as problem:
        assert "zero" in str(problem)
        assert np.abs(vector).max() < 1e-37
    else:
        assert np.linalg.norm(scaled.astype(np.float64)) == pytest.approx(1, abs=1e-6)
        assert np.all(np.sign(scaled) * np.sign(vector) >= 0)


def test_a_vector_of_unit_length_stays_as_it_is_to_the_last_bit() -> None:
    plain, guarded = E5(), Guarded(E5())
    text = "Revenue is net of refunds."
    (before,), (after,) = plain.embed_documents([text])[0], guarded.embed_documents([text])[0]
    assert np.array_equal(before.vector, after.vector)
    assert np.array_equal(before.tokens, after.tokens)  # type: ignore[arg-type]
    assert np.array_equal(plain.embed_query(text).vector, guarded.embed_query(text).vector)
    assert np.array_equal(plain.embed_query(text).tokens, guarded.embed_query(text).tokens)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([1.0, float("nan"), 0.0], "not finite"),
        ([1.0, float("inf"), 0.0], "not finite"),
        ([0.0, 0.0, 0.0], "zero"),
        ([1.0, 0.0], "2 dimensions instead of 3"),
        ([[1.0, 0.0, 0.0]], "1 × 3 dimensions instead of 3"),
        (1.0, "no dimensions instead of 3"),
        ([1, 2, 3], "int64"),
        (["a", "b", "c"], "floating-point"),
        (None, "floating-point"),
        ([], "0 dimensions"),
    ],
)
def test_an_unsound_vector_is_refused_with_the_reason(vector: Any, reason: str) -> None:
    for ask in (Guarded.embed_query, lambda guarded, text: guarded.embed_documents([text])):
        with pytest.raises(ProviderError, match=reason) as refusal:
            ask(answering(vector), "q")
        assert "The embedder " in str(refusal.value)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([], "0 texts instead of 2"),
        ([(Passage(SOUND),)], "1 texts instead of 2"),
        ([(Passage(SOUND),)] * 3, "3 texts instead of 2"),
        ([(Passage(SOUND),), ()], "no passage for a text"),
        ([(Passage(SOUND),), None], "no passage for a text"),
        ([(Passage(SOUND),), (SOUND,)], "ndarray instead of a Passage"),
        (None, "NoneType instead of a list"),
        ({"data": []}, "dict instead of a list"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_refused_with_the_reason(answer: Any, reason: str) -> None:
    toy = Toy()
    toy.embed_documents = lambda texts: answer  # type: ignore[method-assign]
    with pytest.raises(ProviderError, match=reason):
        Guarded(toy).embed_documents(["one", "two"])


def test_one_unsound_passage_among_many_is_refused() -> None:
    toy = Toy(lambda text: Passage(SOUND if text != "bad" else SOUND * 0))
    assert len(Guarded(toy).embed_documents(["good", "fine"])) == 2
    with pytest.raises(ProviderError, match="zero"):
        Guarded(toy).embed_documents(["good", "bad", "fine"])


def test_no_texts_need_no_embedder() -> None:
    toy = failing(ConnectionError("refused"))
    guarded = Guarded(toy, patience=1, clock=Clock())
    with pytest.raises(ProviderError):
        guarded.embed_documents(["d"])
    assert guarded.embed_documents([]) == []  # although it is left alone now


def test_sound_tokens_pass() -> None:
    rows = np.eye(2, 4, dtype=np.float32)
    kept = answering(SOUND, rows).embed_query("q").tokens
    assert np.array_equal(kept, rows)  # type: ignore[arg-type]
    small = np.ones((2, 4), np.int8)
    ((document,),) = answering(SOUND, small).embed_documents(["d"])
    assert np.array_equal(document.tokens, small)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tokens",
    [
        "tokens",
        [[1.0]],
        np.ones(4, np.float32),
        np.full((2, 4), np.nan, np.float32),
        np.full((2, 4), 9, np.float32),
        np.array([["a"]]),
        np.ones((1, 1, 4), np.int8),
        np.ones((2, 4), np.int64),
    ],
)
def test_malformed_tokens_are_left_out_and_the_vector_stays(tokens: Any) -> None:
    guarded = answering(SOUND, tokens)
    question, ((document,),) = guarded.embed_query("q"), guarded.embed_documents(["d"])
    assert question.tokens is None
    assert document.tokens is None
    assert question.vector == pytest.approx([0.6, 0, 0.8])


def test_whatever_an_embedder_raises_is_a_provider_error_that_names_it() -> None:
    with pytest.raises(ProviderError, match=r"The embedder Toy failed: KeyError: 'embedding'"):
        Guarded(failing(KeyError("embedding"))).embed_query("q")


def test_a_provider_error_passes_with_its_own_words() -> None:
    problem = ProviderError("Out of tea.")
    with pytest.raises(ProviderError) as raised:
        Guarded(failing(problem)).embed_documents(["d"])
    assert raised.value is problem


def test_a_secret_in_a_foreign_error_is_not_passed_on() -> None:
    key = "sk-proj-" + "a1B2" * 12
    with pytest.raises(ProviderError) as raised:
        Guarded(failing(RuntimeError(f"401 for Authorization: Bearer {key}"))).embed_query("q")
    assert key not in str(raised.value)


@pytest.mark.parametrize("timeout_s", [None, 60.0])
def test_the_interrupt_of_a_person_passes(timeout_s: float | None) -> None:
    guarded = Guarded(failing(KeyboardInterrupt()), timeout_s=timeout_s, patience=1)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            guarded.embed_query("q")


@pytest.mark.parametrize(
    "model", [None, ("toy", 3), EmbeddingModel("", 3), EmbeddingModel("toy", 0), EmbeddingModel("toy", None)]
)  # type: ignore[arg-type]
def test_an_embedder_must_say_which_model_it_is(model: Any) -> None:
    class Nameless(Toy):
        @property
        def model(self) -> EmbeddingModel:
            found: EmbeddingModel = model
            return found

    with pytest.raises(ProviderError, match="The embedder Nameless"):
        _ = Guarded(Nameless()).model
    with pytest.raises(ProviderError, match="The embedder Nameless"):
        Guarded(Nameless()).embed_query("q")


def test_without_a_time_limit_the_embedder_is_asked_directly() -> None:
    toy = Toy()
    Guarded(toy).embed_query("q")
    assert toy.threads == {get_ident()}


def test_a_quick_embedder_answers_within_its_time() -> None:
    toy = Toy()
    assert Guarded(toy, timeout_s=60).embed_query("q").vector == pytest.approx([0.6, 0, 0.8])
    assert get_ident() not in toy.threads


def test_a_slow_embedder_is_given_up() -> None:
    release = Event()

    def dawdle(text: str) -> Passage:
        release.wait()
        return Passage(SOUND)

    guarded = Guarded(Toy(dawdle), timeout_s=0.01)
    try:
        with pytest.raises(ProviderError, match=r"did not answer within 0\.01 s"):
            guarded.embed_query("q")
        with pytest.raises(ProviderError, match=r"did not answer within 0\.02 s"):
            guarded.embed_documents(["x" * 20_000])  # a long text is given longer
    finally:
        release.set()


def test_an_embedder_that_never_returns_does_not_pile_up_threads() -> None:
    release = Event()

    def hang(text: str) -> Passage:
        release.wait()
        return Passage(SOUND)

    toy = Toy(hang)
    guarded = Guarded(toy, timeout_s=0.01, patience=1000)
    try:
        for number in range(16):
            with pytest.raises(ProviderError, match="did not answer"):
                guarded.embed_query(f"q{number}")
        with pytest.raises(ProviderError, match="busy with 16 earlier calls"):
            guarded.embed_query("one more")
        assert len(toy.asked) == 16
    finally:
        release.set()


def test_a_thread_that_is_done_makes_place_for_the_next() -> None:
    guarded = Guarded(Toy(), timeout_s=5)
    for number in range(40):
        guarded.embed_query(str(number))


def test_a_timeout_of_the_embedder_itself_is_told_as_its_own() -> None:
    with pytest.raises(ProviderError, match="TimeoutError: the socket"):
        Guarded(failing(TimeoutError("the socket")), timeout_s=60).embed_query("q")


def test_a_program_ends_while_an_embedder_hangs() -> None:
    program = """
import threading
from onrecord.providers.guard import Guarded
class Hanging:
    def embed_query(self, text):
        threading.Event().wait()
try:
    Guarded(Hanging(), timeout_s=0.01).embed_query("q")
except Exception as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert "did not answer" in done.stdout, done.stderr
    assert done.returncode == 0


def test_after_failures_in_a_row_the_embedder_is_left_alone_for_a_while() -> None:
    clock, toy = Clock(), failing(ConnectionError("refused"))
    guarded = Guarded(toy, patience=3, pause_s=30, clock=clock)
    for _ in range(3):
        with pytest.raises(ProviderError, match="ConnectionError: refused"):
            guarded.embed_query("q")
    clock.now += 18
    with pytest.raises(ProviderError) as raised:
        guarded.embed_documents(["d"])
    assert "failed 3 times in a row and is not called for another 12 s" in str(raised.value)
    # Only the sort of error: its words may repeat what another caller has sent.
    assert "(ConnectionError)" in str(raised.value)
    assert "refused" not in str(raised.value)
    assert len(toy.asked) == 3


def test_after_the_pause_one_call_tries_and_a_success_ends_it() -> None:
    clock, toy = Clock(), failing(ConnectionError("refused"))
    guarded = Guarded(toy, patience=2, pause_s=30, clock=clock)
    for _ in range(2):
        with pytest.raises(ProviderError):
            guarded.embed_query("q")
    clock.now += 30
    with pytest.raises(ProviderError, match="ConnectionError"):
        guarded.embed_query("q")  # tried, and failed again: another pause
    with pytest.raises(ProviderError, match="not called for another 30 s"):
        guarded.embed_query("q")
    assert len(toy.asked) == 3
    clock.now += 30
    toy.answer = lambda text: Passage(SOUND)
    guarded.embed_query("q")
    toy.answer = failing(ConnectionError("refused")).answer
    with pytest.raises(ProviderError, match="ConnectionError"):
        guarded.embed_query("other")  # one failure is not two


def test_while_one_call_tries_the_others_are_not_kept_waiting() -> None:
    clock, toy = Clock(), failing(ConnectionError("refused"))
    guarded = Guarded(toy, patience=1, pause_s=30, clock=clock)
    with pytest.raises(ProviderError):
        guarded.embed_query("q")
    clock.now += 30
    trying, release = Event(), Event()

    def slow(text: str) -> Passage:
        trying.set()
        release.wait()
        return Passage(SOUND)

    toy.answer = slow
    trial = Thread(target=guarded.embed_query, args=("trial",))
    trial.start()
    trying.wait()
    with pytest.raises(ProviderError, match="not called"):
        guarded.embed_query("meanwhile")
    release.set()
    trial.join()
    toy.answer = lambda text: Passage(SOUND)
    guarded.embed_query("afterwards")


def test_a_success_between_failures_begins_the_count_anew() -> None:
    toy = Toy(lambda text: Passage(SOUND if text == "good" else SOUND * 0))
    guarded = Guarded(toy, patience=2, clock=Clock())
    for _ in range(5):
        with pytest.raises(ProviderError, match="zero"):
            guarded.embed_documents(["bad"])
        guarded.embed_documents(["good"])


def test_a_question_asked_again_is_remembered() -> None:
    toy = Toy(lambda text: Passage(np.array([len(text), 1, 0], np.float32)))
    guarded = Guarded(toy)
    first, other = guarded.embed_query("why?"), guarded.embed_query("why? ")
    assert guarded.embed_query("why?") is first
    assert not np.array_equal(first.vector, other.vector)
    assert toy.asked == ["why?", "why? "]


def test_a_failure_is_not_remembered() -> None:
    toy = failing(ConnectionError("refused"))
    guarded = Guarded(toy)
    with pytest.raises(ProviderError):
        guarded.embed_query("q")
    toy.answer = lambda text: Passage(SOUND)
    assert guarded.embed_query("q").vector == pytest.approx([0.6, 0, 0.8])


def test_a_remembered_question_is_answered_while_the_embedder_is_left_alone() -> None:
    toy = Toy()
    guarded = Guarded(toy, patience=1, clock=Clock())
    guarded.embed_query("known")
    toy.answer = failing(ConnectionError("refused")).answer
    with pytest.raises(ProviderError):
        guarded.embed_query("new")
    assert guarded.embed_query("known").vector == pytest.approx([0.6, 0, 0.8])


def test_what_is_remembered_is_bounded() -> None:
    toy = Toy()
    guarded = Guarded(toy)
    for number in range(257):
        guarded.embed_query(str(number))
    guarded.embed_query("256")
    guarded.embed_query("0")  # the oldest was dropped
    long = "x" * 1001
    guarded.embed_query(long)
    guarded.embed_query(long)
    assert toy.asked == [*map(str, range(257)), "0", long, long]


def test_no_one_can_change_what_is_remembered() -> None:
    rows = np.eye(2, 4, dtype=np.float32)
    mine = SOUND / 5
    answer = answering(mine, rows).embed_query("q")
    for array in (answer.vector, answer.tokens):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    small = np.ones((2, 4), np.int8)
    ((document,),) = answering(mine, small).embed_documents(["d"])
    mine[0] = rows[0, 0] = small[0, 0] = 9  # what belongs to the embedder stays its own
    assert answer.vector[0] == pytest.approx(0.6)
    assert document.tokens is not None
    assert document.tokens[0, 0] == 1


@given(st.lists(st.text(max_size=3), max_size=40))
def test_remembering_changes_no_answer(texts: list[str]) -> None:
    def embed(text: str) -> Passage:
        return Passage(np.array([1 + len(text), sum(map(ord, text)), 1], np.float32))

    guarded = Guarded(Toy(embed))
    for text in texts:
        assert np.array_equal(guarded.embed_query(text).vector, Guarded(Toy(embed)).embed_query(text).vector)
