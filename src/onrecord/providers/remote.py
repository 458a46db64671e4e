"""HOW does a text become a vector elsewhere? Through any service that speaks OpenAI's protocol, such as Ollama.

The client library is loaded when a text is first embedded. We do not repeat a failed request: the person who waits is
better served by an answer without vectors now, and a job embeds the text later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, TypeVar
from urllib.parse import urlsplit
from weakref import finalize

from onrecord.errors import ProviderError
from onrecord.providers.embedding import EmbeddingModel, Passage
from onrecord.providers.pieces import PIECE_SIZES, PieceSize
from onrecord.providers.prompts import prompts_for
from onrecord.providers.quoting import quoted
from onrecord.providers.waiting import begin, wait_for

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.embeddings import EmbeddingModel as RemoteModel
    from pydantic_ai.embeddings import EmbeddingSettings

Kind = Literal["openai", "ollama"]
Input = Literal["query", "document"]
_Answer = TypeVar("_Answer")

URLS: Final[dict[Kind, str]] = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434/v1",
}
_MOST_TEXTS, _MOST_CHARACTERS = 32, 60_000  # of one request; some services allow no more
_TOO_LONG: Final = ("context length", "input length", "maximum context", "too long", "too many tokens")
_NO_KEY: Final = "not-set"  # the client wants one even where the service does not
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
        self._clients: dict[int, RemoteModel] = {}  # by process: a fork must not share connections

    @property
    def model(self) -> EmbeddingModel:
        """The model with its dimensions. If no number is set, the first answer tells it; this asks for one if there
        was none.
        """
        if self._dimensions is None:
            self.embed_query(_EMPTY)
        assert self._dimensions is not None
        return EmbeddingModel(self._service.name, self._dimensions)

    def embed_query(self, text: str) -> Passage:
        """The vector of a question; text beyond the model's window is ignored."""
        (passage,) = _as_finely_as_needed(
            lambda grain: self._embed([self._prompts.query + grain.pieces(text)[0]], "query")
        )
        return passage

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return _as_finely_as_needed(lambda grain: self._passages(texts, grain))

    def _passages(self, texts: Sequence[str], grain: PieceSize) -> list[tuple[Passage, ...]]:
        cut = [grain.pieces(text) for text in texts]
        pieces = [self._prompts.document + piece for text in cut for piece in text]
        passages = iter([each for batch in _batches(pieces) for each in self._embed(batch, "document")])
        return [tuple(next(passages) for _ in text) for text in cut]

    def _embed(self, texts: list[str], kind: Input) -> list[Passage]:
        """Embed texts in one request."""
        client = self._client()
        wanted = self._options.dimensions
        settings: EmbeddingSettings = {} if wanted is None else {"dimensions": wanted}
        request = client.embed([text or _EMPTY for text in texts], input_type=kind, settings=settings)
        try:
            vectors = wait_for(request, self._options.timeout_s).embeddings
        except Exception as problem:
            # Without the cause, which may quote the request.
            raise self._explained(problem) from None
        return self._read(vectors, len(texts))

    def _read(self, vectors: Sequence[Sequence[float]], expected: int) -> list[Passage]:
        import numpy as np

        if len(vectors) != expected:
            raise self._failed(f"answered {len(vectors)} vectors for {expected} texts")
        try:
            with np.errstate(over="ignore"):  # what does not fit becomes infinite, which the guard refuses
                passages = [Passage(np.asarray(vector, np.float32)) for vector in vectors]
        except (TypeError, ValueError):
            raise self._failed(_NO_VECTORS) from None
        if any(passage.vector.ndim != 1 or not passage.vector.size for passage in passages):
            raise self._failed(_NO_VECTORS)
        if self._dimensions is None:
            self._dimensions = passages[0].vector.size
        return passages

    def _client(self) -> RemoteModel:
        with self._loading:
            if os.getpid() not in self._clients:
                self._clients[os.getpid()] = self._connected()
            return self._clients[os.getpid()]

    def _connected(self) -> RemoteModel:
        service = self._service
        if service.address == URLS["openai"] and not self._options.key:
            raise self._failed("needs a key", "Set `embedder_key`.")
        try:
            from openai import AsyncOpenAI
            from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
            from pydantic_ai.providers.ollama import OllamaProvider
            from pydantic_ai.providers.openai import OpenAIProvider

            from onrecord.providers.bounded_answers import bounded_client
        except ImportError as problem:
            raise self._failed(
                f"needs one more package ({problem.name} is missing)", "pip install 'onrecord[advisor]'."
            ) from problem
        client = AsyncOpenAI(
            api_key=self._options.key or _NO_KEY,
            base_url=service.address,
            timeout=self._options.timeout_s,
            max_retries=0,
            http_client=bounded_client(),
        )
        finalize(self, _close, client, os.getpid())
        # The client reads these from environment variables of other programs.
        client.organization = client.project = None
        provider = OllamaProvider if service.kind == "ollama" else OpenAIProvider
        return OpenAIEmbeddingModel(service.model, provider=provider(openai_client=client))

    def _explained(self, problem: Exception) -> ProviderError:
        """The error of the client library as a sentence that says what happened and what to do."""
        from pydantic_ai.exceptions import (
            ModelAPIError,
            ModelConnectionError,
            ModelHTTPError,
            ModelTimeoutError,
        )

        from onrecord.providers.bounded_answers import is_too_much

        if is_too_much(problem):
            return self._failed("answered more than is read", _IS_IT_THE_ADDRESS)
        if isinstance(problem, TimeoutError | ModelTimeoutError):
            return self._failed(
                f"did not answer within {self._options.timeout_s:g} s",
                "Allow it more with `embedder_timeout`.",
            )
        if isinstance(problem, ModelConnectionError):
            return self._failed("cannot be reached", "Is it running, and is `embedder_url` its address?")
        if isinstance(problem, ModelHTTPError):
            return self._refused(problem.status_code, self._excuse(problem.body))
        if isinstance(problem, ModelAPIError):
            return self._failed("answered with something other than JSON", _IS_IT_THE_ADDRESS)
        return self._failed(
            f"answered in a way that is not understood ({type(problem).__name__})", _IS_IT_THE_ADDRESS
        )

    def _refused(self, status: int, excuse: str) -> ProviderError:
        if status == 413 or (status in (400, 422) and any(sign in excuse.lower() for sign in _TOO_LONG)):
            return _TooLong(
                self._sentence(f"finds a text too long even when finely cut (HTTP {status}{excuse})")
            )
        what, remedy = _REFUSALS.get(
            status, ("failed", "Try again later.") if status >= 500 else ("refused", "")
        )
        if status == 404 and self._service.kind == "ollama":
            remedy = f"Fetch it with `ollama pull {self._service.model}`."
        return self._failed(f"{what} (HTTP {status}{excuse})", remedy)

    def _excuse(self, body: object) -> str:
        """What the service says about it."""
        said = body.get("message") if isinstance(body, dict) else body
        if not isinstance(said, str) or not said.strip():
            return ""
        return f": {quoted(said, self._options.key)}"

    def _failed(self, what: str, remedy: str = "") -> ProviderError:
        return ProviderError(" ".join(filter(None, (self._sentence(what), remedy))))

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
    429: ("is asked too often, or its quota is used up", "Wait, or look at the account of this key."),
}


def _close(client: AsyncOpenAI, process: int) -> None:
    """Close the client once its embedder is no longer used, unless a fork inherited it: those connections are not
    ours.
    """
    if process == os.getpid():
        begin(client.close())


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
