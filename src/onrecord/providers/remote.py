"""HOW does a text become a vector elsewhere? Through any service that speaks OpenAI's protocol, such as Ollama.

It needs an HTTP client and no library of models; that is loaded when a text is first embedded. We do not repeat a failed request: the person who waits is
better served by an answer without vectors now, and a job embeds the text later.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar
from urllib.parse import urlsplit
from weakref import finalize

from onrecord.errors import ProviderError
from onrecord.providers.embedding import EmbeddingModel, Passage
from onrecord.providers.pieces import PIECE_SIZES, PieceSize
from onrecord.providers.prompts import prompts_for
from onrecord.providers.quoting import quoted
from onrecord.providers.waiting import begin, wait_for

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from numpy.typing import NDArray

Kind = Literal["openai", "ollama"]
_Answer = TypeVar("_Answer")

URLS: Final[dict[Kind, str]] = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434/v1",
}
_MOST_TEXTS, _MOST_CHARACTERS = 32, 60_000  # of one request; some services allow no more
_TOO_LONG: Final = ("context length", "input length", "maximum context", "too long", "too many tokens")
#: Vectors as bytes take a fifth of what they take as digits; a service that does not know this sends digits.
_AS_BYTES: Final = {"encoding_format": "base64"}
_EMPTY: Final = "."  # services refuse an empty text; this says as little


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to reach a service. Only the service ever sees the key."""

    url: str = ""
    key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Service:
    """Which service to ask, for which model, and how."""

    kind: Kind
    model: str
    options: Options = Options()

    @property
    def name(self) -> str:
        """The name of the model, in the settings and with each stored vector."""
        return f"{self.kind}:{self.model}"

    @property
    def address(self) -> str:
        """The address of requests. For Ollama it often lacks the path of this protocol, which is added."""
        url = (self.options.url or URLS[self.kind]).rstrip("/")
        return f"{url}/v1" if self.kind == "ollama" and not urlsplit(url).path else url

    @property
    def host(self) -> str:
        """The address as people see it, without the password that it may hold."""
        return urlsplit(self.address).netloc.rpartition("@")[2]


class Remote:
    """An embedder over a service; threads may share it. Its vectors are not checked: put a guard around it."""

    def __init__(self, service: Service) -> None:
        self._service, self._options = service, service.options
        self._prompts = prompts_for(service.model)
        self._dimensions = service.options.dimensions
        self._loading = Lock()
        self._clients: dict[int, AsyncClient] = {}  # by process: a fork must not share connections

    @property
    def model(self) -> EmbeddingModel:
        """The model with its dimensions. If no number is set, it is read from the first answer; this asks for one if there
        was none.
        """
        if self._dimensions is None:
            self.embed_query(_EMPTY)
        assert self._dimensions is not None
        return EmbeddingModel(self._service.name, self._dimensions)

    def embed_query(self, text: str) -> Passage:
        """The vector of a question; text beyond the model's window is ignored."""
        (passage,) = _as_finely_as_needed(
            lambda grain: self._embed([self._prompts.query + grain.pieces(text)[0]])
        )
        return passage

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return _as_finely_as_needed(lambda grain: self._passages(texts, grain))

    def _passages(self, texts: Sequence[str], grain: PieceSize) -> list[tuple[Passage, ...]]:
        cut = [grain.pieces(text) for text in texts]
        pieces = [self._prompts.document + piece for text in cut for piece in text]
        passages = iter([each for batch in _batches(pieces) for each in self._embed(batch)])
        return [tuple(next(passages) for _ in text) for text in cut]

    def _embed(self, texts: list[str]) -> list[Passage]:
        """Embed texts in one request."""
        client = self._client()
        wanted = {} if self._options.dimensions is None else {"dimensions": self._options.dimensions}
        asked = {
            "model": self._service.model,
            "input": [text or _EMPTY for text in texts],
            **_AS_BYTES,
            **wanted,
        }
        try:
            status, content = wait_for(_posted(client, asked), self._options.timeout_s)
        except Exception as problem:
            # Without the cause, which may quote the request.
            raise self._explained(problem) from None
        if not 200 <= status < 300:
            raise self._refused(status, self._excuse(content))
        return self._read(self._vectors(content), len(texts))

    def _vectors(self, content: bytes) -> list[object]:
        """The vectors of an answer in the order of their texts."""
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise self._failed("answered with something other than JSON", _IS_IT_THE_ADDRESS) from None
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
            raise self._failed("sent an answer that OnRecord cannot read", _IS_IT_THE_ADDRESS)
        places = [each.get("index", place) for place, each in enumerate(data)]
        if sorted(map(str, places)) != sorted(map(str, range(len(data)))):
            raise self._failed("sent an answer that OnRecord cannot read", _IS_IT_THE_ADDRESS)
        return [
            each.get("embedding")
            for _, each in sorted(zip(places, data, strict=True), key=lambda pair: pair[0])
        ]

    def _read(self, vectors: Sequence[object], expected: int) -> list[Passage]:
        import numpy as np

        if len(vectors) != expected:
            raise self._failed(f"answered {len(vectors)} vectors for {expected} texts")
        try:
            with np.errstate(over="ignore"):  # what does not fit becomes infinite, which the guard refuses
                passages = [Passage(_numbers(vector)) for vector in vectors]
        except (TypeError, ValueError):
            raise self._failed(_NO_VECTORS) from None
        if any(passage.vector.ndim != 1 or not passage.vector.size for passage in passages):
            raise self._failed(_NO_VECTORS)
        if self._dimensions is None:
            self._dimensions = passages[0].vector.size
        return passages

    def _client(self) -> AsyncClient:
        with self._loading:
            if os.getpid() not in self._clients:
                self._clients[os.getpid()] = self._connected()
            return self._clients[os.getpid()]

    def _connected(self) -> AsyncClient:
        service = self._service
        if service.address == URLS["openai"] and not self._options.key:
            raise self._failed("needs a key", "Set `embedder_key`.")
        try:
            from onrecord.providers.bounded_answers import bounded_client
        except ImportError as problem:
            raise self._failed(
                f"needs one more package ({problem.name} is missing)", "pip install 'onrecord[client]'."
            ) from problem
        client = bounded_client()
        client.base_url = f"{service.address}/"
        client.timeout = self._options.timeout_s
        if self._options.key:
            client.headers["authorization"] = f"Bearer {self._options.key}"
        finalize(self, _close, client, os.getpid())
        return client

    def _explained(self, problem: Exception) -> ProviderError:
        """The error of the client as a sentence that says what happened and what to do."""
        import httpx2

        from onrecord.providers.bounded_answers import is_too_much

        if is_too_much(problem):
            return self._failed("sent a longer answer than is accepted", _IS_IT_THE_ADDRESS)
        if isinstance(problem, TimeoutError | httpx2.TimeoutException):
            return self._failed(
                f"did not answer within {self._options.timeout_s:g} s",
                "Allow it more with `embedder_timeout`.",
            )
        if isinstance(problem, httpx2.TransportError):
            return self._failed("cannot be reached", "Is it running, and is `embedder_url` its address?")
        return self._failed(
            f"sent an answer that OnRecord cannot read ({type(problem).__name__})", _IS_IT_THE_ADDRESS
        )

    def _refused(self, status: int, excuse: str) -> ProviderError:
        if status == 413 or (status in (400, 422) and any(sign in excuse.lower() for sign in _TOO_LONG)):
            too_long = "finds a text too long even in the smallest pieces (HTTP {})"
            return _TooLong(
                self._sentence(too_long.format(f"{status}{excuse}")),
                for_all=self._sentence(too_long.format(status)),
            )
        what, remedy = _REFUSALS.get(
            status, ("failed", "Try again later.") if status >= 500 else ("refused", "")
        )
        if status == 404 and self._service.kind == "ollama":
            remedy = f"Fetch it with `ollama pull {self._service.model}`."
        for_all = self._with_remedy(f"{what} (HTTP {status})", remedy)
        return ProviderError(self._with_remedy(f"{what} (HTTP {status}{excuse})", remedy), for_all=for_all)

    def _excuse(self, content: bytes) -> str:
        """What the service says about it."""
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = content.decode("utf-8", "replace")
        problem = body.get("error", body) if isinstance(body, dict) else body
        message = problem.get("message") if isinstance(problem, dict) else problem
        if not isinstance(message, str) or not message.strip():
            return ""
        return f": {quoted(message, self._options.key)}"

    def _failed(self, what: str, remedy: str = "") -> ProviderError:
        return ProviderError(self._with_remedy(what, remedy))

    def _with_remedy(self, what: str, remedy: str) -> str:
        return " ".join(filter(None, (self._sentence(what), remedy)))

    def _sentence(self, what: str) -> str:
        return f"The embedder {self._service.name} at {self._service.host} {what}."


class _TooLong(ProviderError):
    """The text is longer than the window of the model."""


_NO_VECTORS: Final = "answered with something other than vectors of numbers"
_IS_IT_THE_ADDRESS: Final = "Is `embedder_url` the address of a service with embeddings, up to its /v1?"
_REFUSALS: Final = {
    401: ("does not accept the key", "Check `embedder_key`."),
    402: ("wants to be paid", "Look at the account of this key."),
    403: ("does not allow this key to use the model", "Check `embedder_key`."),
    404: ("does not know this model, or is another service", "Check `embedder` and `embedder_url`."),
    429: ("gets too many requests, or its quota is used up", "Wait, or look at the account of this key."),
}


async def _posted(client: AsyncClient, asked: dict[str, object]) -> tuple[int, bytes]:
    answer = await client.post("embeddings", json=asked)
    return answer.status_code, answer.content


def _numbers(vector: object) -> NDArray[Any]:
    """A vector as numbers: it comes as a list, or as bytes in base64."""
    import numpy as np

    if isinstance(vector, str):
        return np.frombuffer(base64.b64decode(vector, validate=True), "<f4").astype(np.float32)
    return np.asarray(vector, np.float32)


def _close(client: AsyncClient, process: int) -> None:
    """Close the client once its embedder is no longer used, unless a fork inherited it: those connections are not
    ours.
    """
    if process == os.getpid():
        begin(client.aclose())


def _as_finely_as_needed(embed: Callable[[PieceSize], _Answer]) -> _Answer:
    """Embed a text in the usual grain, and in finer ones while the service finds a piece too long."""
    *coarser, finest = PIECE_SIZES
    for grain in coarser:
        with suppress(_TooLong):
            return embed(grain)
    return embed(finest)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _MOST_TEXTS or size + len(text) > _MOST_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
