"""MAY this vector be stored and compared? A guard around any embedder passes on only well-formed vectors that came in
time.

Whatever an embedder does wrong becomes a ProviderError that says so; a save or a search then goes on without vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from onrecord.errors import ProviderError
from onrecord.providers.breaker import Breaker
from onrecord.providers.embedding import Calibration, Embedder, EmbeddingModel, Passage
from onrecord.providers.scrubber import scrub

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Answer = TypeVar("_Answer")
_REMEMBERED_QUESTIONS: Final = 256
_LONGEST_REMEMBERED: Final = 1000  # characters; longer questions do not come twice, and would fill the memory
_MOST_AT_ONCE: Final = 16
_CHARACTERS_PER_TIMEOUT: Final = 20_000
_UNIT: Final = 1e-6  # so near to unit length a vector is left as it is, to the last bit
_LONGEST_EXCUSE: Final = 200


class Guarded:
    """An embedder that checks the answers of another one, which may fail, be slow, or answer nonsense.

    With `timeout_s` the other runs in a thread, which is abandoned after that many seconds (and as many again for
    each 20,000 characters of documents); without it, it is called directly. After `patience` failures in a row it is
    not called for `pause_s`. The vectors of the last questions are cached: agents often ask the same again.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        timeout_s: float | None = None,
        patience: int = 3,
        pause_s: float = 30.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._embedder, self._timeout_s = embedder, timeout_s
        self._breaker = Breaker(patience, pause_s, clock)
        self._threads = BoundedSemaphore(_MOST_AT_ONCE)
        self._model: EmbeddingModel | None = None
        self._remembered = lru_cache(_REMEMBERED_QUESTIONS)(self._question)

    @property
    def model(self) -> EmbeddingModel:
        return self._model or self._asked(self._known_model)

    @property
    def known_model(self) -> EmbeddingModel | None:
        """The model, if nothing must be loaded or asked to know it."""
        return self.model if getattr(self._embedder, "names_itself", False) else self._model

    def embed_query(self, text: str) -> Passage:
        return self._remembered(text) if len(text) <= _LONGEST_REMEMBERED else self._question(text)

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        texts = list(texts)
        return self._asked(lambda: self._documents(texts), sum(map(len, texts))) if texts else []

    def _question(self, text: str) -> Passage:
        def ask() -> Passage:
            answer = self._embedder.embed_query(text)
            return _checked(answer, self._known_model().dimensions, _question_tokens)

        return self._asked(ask)

    def _documents(self, texts: list[str]) -> list[tuple[Passage, ...]]:
        answer = self._embedder.embed_documents(texts)
        if not isinstance(answer, list | tuple):
            raise _BadAnswer(f"returned a {type(answer).__name__} instead of a list")
        if len(answer) != len(texts):
            raise _BadAnswer(f"returned vectors for {len(answer)} texts instead of {len(texts)}")
        if not all(isinstance(passages, list | tuple) and passages for passages in answer):
            raise _BadAnswer("returned no passage for a text")
        dimensions = self._known_model().dimensions
        return [
            tuple(_checked(passage, dimensions, _document_tokens) for passage in passages)
            for passages in answer
        ]

    def _known_model(self) -> EmbeddingModel:
        """The model, read after a vector was made, so that an embedder may learn from its first answer which model it
        is.
        """
        if self._model is None:
            model = self._embedder.model
            if not (isinstance(model, EmbeddingModel) and model.name and model.dimensions > 0):
                raise _BadAnswer("does not say which model it is, and how many dimensions its vectors have")
            self._model = model
        return self._model

    @property
    def calibration(self) -> Calibration | None:
        """The calibration of the embedder, if it has one."""
        held = getattr(self._embedder, "calibration", None)
        return held if isinstance(held, Calibration) else None

    @property
    def _called(self) -> str:
        return f"The embedder {self._model.name if self._model else type(self._embedder).__name__}"

    def _asked(self, ask: Callable[[], _Answer], characters: int = 0) -> _Answer:
        self._breaker.check(self._called)
        try:
            if self._timeout_s is None:
                answer = ask()
            else:
                answer = self._in_time(ask, self._timeout_s * (1 + characters // _CHARACTERS_PER_TIMEOUT))
        except ProviderError as problem:
            self._breaker.failed(problem)
            raise
        except Exception as problem:
            failure = self._explained(problem)
            self._breaker.failed(failure)
            raise failure from problem
        self._breaker.worked()
        return answer

    def _explained(self, problem: Exception) -> ProviderError:
        if isinstance(problem, _BadAnswer):
            return ProviderError(f"{self._called} {problem}.")
        return ProviderError(
            f"{self._called} failed: {_in_few_words(problem)}",
            for_all=f"{self._called} failed ({type(problem).__name__}).",
        )

    def _in_time(self, ask: Callable[[], _Answer], seconds: float) -> _Answer:
        """Call it in a daemon thread, so that the end of the program does not wait for it, as it would for an
        executor's.
        """
        deadline = monotonic() + seconds
        if not self._threads.acquire(timeout=seconds):
            raise ProviderError(f"{self._called} is still busy with {_MOST_AT_ONCE} earlier calls.")
        future: Future[_Answer] = Future()
        try:
            Thread(target=self._work, args=(ask, future), name="onrecord-embedder", daemon=True).start()
        except BaseException:
            self._threads.release()
            raise
        try:
            return future.result(max(0.0, deadline - monotonic()))
        except TimeoutError:
            if future.done():  # at the last moment, or with a TimeoutError of its own
                return future.result()
            raise ProviderError(f"{self._called} did not answer within {seconds:g} s.") from None

    def _work(self, ask: Callable[[], _Answer], future: Future[_Answer]) -> None:
        try:
            answer = ask()
        except BaseException as problem:
            future.set_exception(problem)
        else:
            future.set_result(answer)
        finally:
            self._threads.release()


class _BadAnswer(Exception):
    """The answer is unusable; the text says why, and is shown after the name of the embedder."""


def _checked(
    passage: object, dimensions: int, tokens: Callable[[NDArray[Any]], NDArray[Any] | None]
) -> Passage:
    if not isinstance(passage, Passage):
        raise _BadAnswer(f"returned a {type(passage).__name__} instead of a Passage")
    vector = _unit(passage.vector, dimensions)
    vector.flags.writeable = False  # it is shared by all who ask the same
    return Passage(vector, _tokens(passage.tokens, tokens), passage.words)


def _unit(vector: object, dimensions: int) -> NDArray[Any]:
    """The vector in float32 and of unit length."""
    import numpy as np

    given = np.asarray(vector)
    if given.dtype.kind != "f":
        raise _BadAnswer(f"returned a vector of {given.dtype}, not of floating-point numbers")
    if given.shape != (dimensions,):
        shape = " × ".join(map(str, given.shape)) or "no"
        raise _BadAnswer(f"returned a vector of {shape} dimensions instead of {dimensions}")
    exact = given.astype(np.float64)
    if not np.isfinite(exact).all():
        raise _BadAnswer("returned a vector with a number that is not finite")
    largest = float(np.abs(exact).max())
    if largest <= float(np.finfo(np.float32).tiny):
        raise _BadAnswer("returned a vector of zeros")
    scaled = exact / largest  # the squares of very large and very small numbers would leave the range
    length = float(np.linalg.norm(scaled))
    return (exact if abs(length * largest - 1) <= _UNIT else scaled / length).astype(np.float32)


def _tokens(tokens: object, accepted: Callable[[NDArray[Any]], NDArray[Any] | None]) -> NDArray[Any] | None:
    """The vectors of tokens, or None if they are malformed: a vector is usable without them, since they only decide
    between hits that are nearly equal.
    """
    import numpy as np

    if not isinstance(tokens, np.ndarray) or tokens.ndim != 2:
        return None
    kept = accepted(tokens)
    if kept is not None:
        kept.flags.writeable = False
    return kept


def _question_tokens(tokens: NDArray[Any]) -> NDArray[Any] | None:
    import numpy as np

    if tokens.dtype.kind != "f" or not np.isfinite(tokens).all():
        return None
    short = tokens.astype(np.float32)
    longest = np.linalg.norm(short, axis=1).max(initial=0.0)
    return short if longest <= 1 + 1e-3 else None


def _document_tokens(tokens: NDArray[Any]) -> NDArray[Any] | None:
    return tokens.copy() if tokens.dtype.name == "int8" else None


def _in_few_words(problem: Exception) -> str:
    """The kind of an error without its text, which may quote the configuration."""
    words = " ".join(scrub(str(problem)).text.split())[:_LONGEST_EXCUSE]
    return f"{type(problem).__name__}: {words}" if words else type(problem).__name__
