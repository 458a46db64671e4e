"""HOW is a model asked? Through one client library for all providers, which is loaded when a model is first asked.

A failed request is repeated twice at most, after a short wait of random length, and only as long as there is time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from random import random
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from onrecord.advisor.tasks import ModelReply
from onrecord.errors import ProviderError
from onrecord.providers.quoting import quoted
from onrecord.providers.waiting import wait_for

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

Kind = Literal["openai", "anthropic", "google", "ollama"]
#: How a model is to give its reply a shape: by calling a tool, in the JSON mode of its service, or in plain text.
Form = Literal["tools", "json", "text"]
KINDS: Final[tuple[Kind, ...]] = ("openai", "anthropic", "google", "ollama")
FORMS: Final[tuple[Form, ...]] = ("tools", "json", "text")
OPENAI_URL: Final = "https://api.openai.com/v1"
#: Named here, since the clients take other addresses from environment variables of other programs.
ANTHROPIC_URL: Final = "https://api.anthropic.com"
GOOGLE_URL: Final = "https://generativelanguage.googleapis.com"
OLLAMA_URL: Final = "http://127.0.0.1:11434/v1"
_TRIES: Final = 3
_FIRST_WAIT_S: Final = 0.25
#: A reply has some hundred tokens; nothing longer is read.
ANSWER_BYTES: Final = 1024 * 1024
#: So much more for a model that thinks before it replies, even if it is asked not to.
_THINKING_TOKENS: Final = 2_000
#: Where a service does not count tokens, one stands for so many bytes, so that its cost is rather too high.
TOKEN_BYTES: Final = 2
#: No request has more tokens; a service that says so is wrong.
_MOST_TOKENS: Final = 10**8
_CLOSING_S: Final = 5.0
_LONGEST_S: Final = 3600.0
_NO_KEY: Final = "not-set"  # clients want one even where the service does not
_TOOL: Final = "reply"
#: Refusals of a request as such: of its text, or its length.
_ABOUT_THE_REQUEST: Final = frozenset({400, 413, 422})
_REMEDIES: Final[Mapping[int | None, str]] = {
    401: "Is `advisor_key` its key?",
    403: "May `advisor_key` use this model?",
    404: "Is `advisor_url` its address, and does it have this model?",
}
_PACKAGES: Final[Mapping[Kind, str]] = {
    "openai": "advisor",
    "ollama": "advisor",
    "anthropic": "advisor-anthropic",
    "google": "advisor-google",
}


class ModelName(NamedTuple):
    """A model of a provider."""

    kind: Kind
    model: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How providers are reached, by their kind. Only the provider ever sees its key."""

    urls: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: Form = "tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """What one request holds."""

    instructions: str
    text: str
    shape: Mapping[str, Any]
    reply_tokens: int

    @property
    def size(self) -> int:
        """How many bytes are sent."""
        return len((self.instructions + self.text).encode("utf-8", "surrogatepass"))


class CountedReply(NamedTuple):
    """A reply, how many tokens were read and written for it, and how often it was asked for."""

    reply: ModelReply
    tokens_in: int
    tokens_out: int
    tries: int = 1
    #: How many replies before it never came, although the service may have worked on them.
    lost: int = 0


class Tries:
    """How often a model was asked, and how many of the replies were lost on their way."""

    def __init__(self) -> None:
        self.made = self.lost = 0


class NoReply(ProviderError):
    """A model gave no reply. `lost` counts those that its service may have worked on nonetheless."""

    def __init__(self, message: str, *, for_all: str | None = None, may_cost: bool = True) -> None:
        super().__init__(message, for_all=for_all)
        #: Whether the request itself was refused, which says nothing about the next one.
        self.is_about_it = False
        self.tries = 1
        self.lost = int(may_cost)


class Models:
    """The models of all providers; threads may share it."""

    def __init__(self, access: Access, *, jitter: Callable[[], float] = random) -> None:
        self._access, self._jitter = access, jitter
        self._loading = Lock()
        self._opened: dict[tuple[int, ModelName], Model] = {}  # by process: a fork must not share connections
        self._clients: dict[int, AsyncClient] = {}

    def ask(self, name: ModelName, question: ModelQuestion, timeout_s: float) -> CountedReply:
        """Ask a model once; NoReply if it gives none in time."""
        model, tries = self._model(name), Tries()
        try:
            answer = wait_for(self._asked(model, question, monotonic() + timeout_s, tries), timeout_s)
        except Exception as problem:
            failure = self._explained(name, problem)
        else:
            return _counted(answer, question, tries)
        # Raised out here, the error does not lead to the request, which holds the key.
        failure.tries, failure.lost = tries.made, tries.lost + failure.lost
        raise failure

    def reply_tokens(self, name: ModelName, wanted: int) -> int:
        """How many tokens a reply may take; ProviderError if the model cannot be asked at all."""
        thinks = self._model(name).profile.get("thinking_always_enabled", False) or name.kind == "ollama"
        return wanted + (_THINKING_TOKENS if thinks else 0)

    async def _asked(
        self, model: Model, question: ModelQuestion, until: float, tries: Tries
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest

        request = ModelRequest.user_text_prompt(question.text, instructions=question.instructions)
        settings: Any = _settings(model, question)
        for attempt in range(_TRIES):
            tries.made += 1
            try:
                return await model_request(
                    model,
                    [request],
                    model_settings=settings | {"timeout": max(until - monotonic(), 0.001)},
                    model_request_parameters=self._form(question, model),
                    instrument=False,
                )
            except Exception as problem:
                wait = _FIRST_WAIT_S * 2**attempt * (0.5 + self._jitter())
                if attempt == _TRIES - 1 or not _may_pass(problem) or monotonic() + wait >= until:
                    raise
                tries.lost += _may_cost(problem)
                await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _form(self, question: ModelQuestion, model: Model) -> ModelRequestParameters:
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        shape = dict(question.shape)
        if self._access.form == "tools":
            tool = ToolDefinition(name=_TOOL, parameters_json_schema=shape, description="Give your reply.")
            return ModelRequestParameters(output_tools=[tool], output_mode="tool", allow_text_output=True)
        # A model without such a mode gets the shape in its prompt alone, as all do.
        if self._access.form == "json" and model.profile.get("supports_json_schema_output", False):
            wanted = OutputObjectDefinition(json_schema=shape, name=_TOOL)
            return ModelRequestParameters(output_mode="native", output_object=wanted)
        return ModelRequestParameters()

    def _model(self, name: ModelName) -> Model:
        with self._loading:
            here = os.getpid(), name
            if here not in self._opened:
                self._opened[here] = self._connected(name)
            return self._opened[here]

    def _connected(self, name: ModelName) -> Model:
        kind, key = name.kind, self._access.keys.get(name.kind)
        url = self._access.urls.get(kind)
        if not key and kind != "ollama" and (url is None or url.rstrip("/") == OPENAI_URL):
            raise ProviderError(f"The advisor {name} needs a key. Set `advisor_key` or `advisor_key_file`.")
        try:
            return _CONNECT[kind](name.model, url, key or _NO_KEY, self._client())
        except ImportError:
            raise ProviderError(
                f"The advisor {name} needs one more package: pip install 'onrecord[{_PACKAGES[kind]}]'."
            ) from None

    def _client(self) -> AsyncClient:
        """The connections of this process, for all models."""
        from onrecord.providers.bounded_answers import bounded_client

        here = os.getpid()
        if here not in self._clients:
            self._clients[here] = bounded_client(ANSWER_BYTES, follows=False)
            # Each request has a time of its own.
            self._clients[here].timeout = _LONGEST_S
        return self._clients[here]

    def close(self) -> None:
        """Close the connections of this process; those that a fork inherited are not ours."""
        with self._loading:
            self._opened.clear()
            client = self._clients.pop(os.getpid(), None)
        if client is not None:
            with suppress(Exception):  # they end with the process in any case
                wait_for(client.aclose(), _CLOSING_S)

    def _explained(self, name: ModelName, problem: Exception) -> NoReply:
        """The error of the client library as a sentence that says what happened and what to do."""
        from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, ModelTimeoutError

        from onrecord.providers.bounded_answers import is_too_much

        called = f"The advisor {name}"
        if is_too_much(problem):
            return NoReply(f"{called} sent a longer reply than is read.")
        if isinstance(problem, TimeoutError | ModelTimeoutError):
            return NoReply(f"{called} did not answer in time. Allow it more with `advisor_timeout`.")
        if isinstance(problem, ModelConnectionError):
            return NoReply(
                f"{called} cannot be reached. Is it running, and is `advisor_url` its address?",
                may_cost=not _is_unsent(problem),
            )
        status = problem.status_code if isinstance(problem, ModelHTTPError) else _status_of(problem)
        if status is not None and 300 <= status < 400:
            return NoReply(
                f"{called} redirects to another address (HTTP {status}), which is not followed. Is `advisor_url` its address?",
                may_cost=False,
            )
        if isinstance(problem, ModelHTTPError):
            refused = f"{called} refused (HTTP {status}"
            message = f"{refused}{self._excuse(problem.body)}). {_REMEDIES.get(status, '')}".strip()
            for_all = f"{refused}). {_REMEDIES.get(status, '')}".strip()
            failure = NoReply(message, for_all=for_all, may_cost=False)
            failure.is_about_it = status in _ABOUT_THE_REQUEST
            return failure
        return NoReply(f"{called} sent a reply that cannot be read ({type(problem).__name__}).")

    def _excuse(self, body: object) -> str:
        """What the service says about it, shortened and without secrets: some services quote the key."""
        message = body.get("message") if isinstance(body, dict) else body
        if not isinstance(message, str) or not message.strip():
            return ""
        for key in self._access.keys.values():
            message = message.replace(key, "***")
        return f": {quoted(message, None)}"


def _may_pass(problem: Exception) -> bool:
    """Whether the same request may succeed in a moment."""
    from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, ModelTimeoutError

    if isinstance(problem, ModelHTTPError):
        return problem.status_code in (408, 429) or problem.status_code >= 500
    return isinstance(problem, ModelConnectionError) and not isinstance(problem, ModelTimeoutError)


def _settings(model: Model, question: ModelQuestion) -> dict[str, Any]:
    """How a model is to reply: without long thought and the same each time, as far as it has settings for that."""
    settings: dict[str, Any] = {"max_tokens": question.reply_tokens, "thinking": False}
    profile: Mapping[str, Any] = {**model.profile}
    if not (profile.get("openai_supports_reasoning") or profile.get("anthropic_disallows_sampling_settings")):
        settings["temperature"] = 0.0
    return settings


def _may_cost(problem: Exception) -> bool:
    """Whether a service that was reached may have worked on a reply that never came."""
    from pydantic_ai.exceptions import ModelHTTPError

    return not isinstance(problem, ModelHTTPError) and not _is_unsent(problem)


def _is_unsent(problem: BaseException) -> bool:
    """Whether there was no connection at all."""
    import httpx2

    return any(isinstance(each, httpx2.ConnectError | httpx2.ConnectTimeout) for each in _causes(problem))


def _status_of(problem: BaseException) -> int | None:
    """The HTTP status of an answer that the client library does not take for one."""
    statuses = (getattr(each, "status_code", None) for each in _causes(problem))
    return next((status for status in statuses if isinstance(status, int)), None)


def _causes(problem: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = problem
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _counted(answer: ModelResponse, question: ModelQuestion, tries: Tries) -> CountedReply:
    from pydantic_ai.messages import TextPart, ToolCallPart

    text, arguments = "", None
    for part in answer.parts:
        if isinstance(part, TextPart):
            text += part.content
        elif isinstance(part, ToolCallPart) and arguments is None:
            arguments = _arguments(part)
    counted = answer.usage.input_tokens, answer.usage.output_tokens
    read, written = (min(max(tokens or 0, 0), _MOST_TOKENS) for tokens in counted)
    if not read and not written:
        read = question.size // TOKEN_BYTES
        written = len(text or str(arguments)) // TOKEN_BYTES
    return CountedReply(ModelReply(text, arguments), read, written, tries.made, tries.lost)


def _arguments(part: Any) -> Mapping[str, Any] | None:
    try:
        found = part.args_as_dict()
    except Exception:  # whatever a half-written call makes its parser raise
        return None
    return found if isinstance(found, Mapping) else None


def _openai(model: str, url: str | None, key: str, over: AsyncClient) -> Model:
    return _over_openai("openai", model, url or OPENAI_URL, key, over)


def _ollama(model: str, url: str | None, key: str, over: AsyncClient) -> Model:
    address = (url or OLLAMA_URL).rstrip("/")
    return _over_openai("ollama", model, address if address.endswith("/v1") else f"{address}/v1", key, over)


def _over_openai(kind: Kind, model: str, url: str, key: str, over: AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(api_key=key, base_url=url, max_retries=0, http_client=over)
    # The client reads these from environment variables of other programs.
    client.organization = client.project = None
    client._custom_headers = {}
    if kind == "ollama":
        return OllamaModel(model, provider=OllamaProvider(openai_client=client))
    return OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client))


def _anthropic(model: str, url: str | None, key: str, over: AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    # Its own retries would come on top of ours.
    client = AsyncAnthropic(api_key=key, base_url=url or ANTHROPIC_URL, max_retries=0, http_client=over)
    # The client reads these from an environment variable of other programs.
    client._custom_headers = {}
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))


def _google(model: str, url: str | None, key: str, over: AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=key, base_url=url or GOOGLE_URL, http_client=over)
    return GoogleModel(model, provider=provider)


_CONNECT: Final[Mapping[Kind, Callable[[str, str | None, str, AsyncClient], Model]]] = {
    "openai": _openai,
    "ollama": _ollama,
    "anthropic": _anthropic,
    "google": _google,
}


def model_named(name: str) -> ModelName | None:
    """The model that a text such as openai:gpt-5-mini names, or None."""
    kind, _, model = name.strip().partition(":")
    return ModelName(kind, model.strip()) if kind in KINDS and model.strip() else None
