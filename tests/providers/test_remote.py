"""Embedders elsewhere, against a server of our own: what is sent, what comes back, and what is said when it fails."""

from __future__ import annotations

import base64
import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import connect
from onrecord.errors import ProviderError
from onrecord.providers import bounded_answers, remote
from onrecord.providers.embedding import EmbeddingModel
from onrecord.providers.guard import Guarded
from onrecord.providers.opening import open_embedder, read_options
from onrecord.providers.pieces import PIECE_SIZES
from onrecord.providers.prompts import prompts_for
from onrecord.providers.remote import Options, Remote, Service
from tests.forked import Forked

KEY = "sk-proj-" + "q7Wx" * 10
Reply = tuple[int, bytes, str]


def vector_of(text: str, dimensions: int = 4) -> list[float]:
    return [float(len(text)), 1.0, *[0.5] * (dimensions - 2)]


def embeddings(body: dict[str, Any]) -> Reply:
    """What OpenAI and Ollama answer; vectors as text where that is asked for, as both do."""

    def written(vector: list[float]) -> Any:
        if body.get("encoding_format") == "base64":
            return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()
        return vector

    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": written(vector_of(text, body.get("dimensions", 4))),
        }
        for index, text in enumerate(body["input"])
    ]
    return reply(
        {
            "object": "list",
            "data": data,
            "model": body["model"],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
    )


def reply(content: object, status: int = 200) -> Reply:
    return status, json.dumps(content).encode(), "application/json"


def error(status: int, message: str, code: str | None = None) -> Callable[[dict[str, Any]], Reply]:
    return lambda body: reply({"error": {"message": message, "type": "some_error", "code": code}}, status)


class Server:
    """A service on the loopback that answers as the test tells it to, and keeps what it was sent."""

    def __init__(self) -> None:
        self.script: Callable[[dict[str, Any]], Reply] = embeddings
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.connections: set[Any] = set()
        self.connection_ended = Event()
        self.dribbles_until: Event | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(body)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                outer.paths.append(self.path)
                outer.connections.add(self.client_address)
                status, content, kind = outer.script(body)
                if outer.dribbles_until:
                    self.dribble(outer.dribbles_until)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def dribble(self, end: Event) -> None:
                """Begin an answer that never ends, a space at a time."""
                self.wfile.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
                )
                while not end.wait(0.02):
                    self.wfile.write(b" ")
                raise ConnectionError

            def finish(self) -> None:
                super().finish()
                outer.connection_ended.set()

            def log_message(self, format: str, *args: Any) -> None:
                """Be silent."""

            def handle(self) -> None:
                try:
                    super().handle()
                except (ConnectionError, ValueError):  # who asked has gone
                    self.close_connection = True

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def openai(self, model: str = "toy", timeout_s: float = 60.0, dimensions: int | None = None) -> Remote:
        url = f"{self.address}/v1"
        return Remote(
            Service("openai", model, Options(url=url, key=KEY, timeout_s=timeout_s, dimensions=dimensions))
        )

    def ollama(self, model: str = "toy") -> Remote:
        return Remote(Service("ollama", model, Options(url=self.address, timeout_s=60.0)))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in [
        name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("OPENAI_")
    ]:
        monkeypatch.delenv(name)
    server = Server()
    yield server
    server.close()


def test_a_question_goes_to_openais_endpoint_with_the_key(server: Server) -> None:
    passage = server.openai("text-embedding-3-small").embed_query("why?")
    assert passage.vector.tolist() == vector_of("why?")
    assert passage.vector.dtype == np.float32
    assert server.paths == ["/v1/embeddings"]
    assert server.asked[0]["model"] == "text-embedding-3-small"
    assert server.asked[0]["input"] == ["why?"]
    assert "dimensions" not in server.asked[0]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_ollama_is_found_without_its_path_and_needs_no_key(server: Server) -> None:
    assert server.ollama().embed_query("why?").vector.tolist() == vector_of("why?")
    assert server.paths == ["/v1/embeddings"]


def test_vectors_as_plain_numbers_are_read_too(server: Server) -> None:
    server.script = lambda body: embeddings({**body, "encoding_format": "float"})
    assert server.openai().embed_query("why?").vector.tolist() == vector_of("why?")


def test_the_model_is_named_as_it_is_set_and_learns_its_dimensions_from_the_first_answer(
    server: Server,
) -> None:
    embedder = server.openai("text-embedding-3-small")
    embedder.embed_query("why?")
    assert embedder.model == EmbeddingModel("openai:text-embedding-3-small", 4)
    assert len(server.asked) == 1
    assert server.ollama("nomic-embed-text").model == EmbeddingModel("ollama:nomic-embed-text", 4)
    assert len(server.asked) == 2  # no answer yet: it had to ask


def test_fewer_dimensions_are_asked_for_where_they_are_set(server: Server) -> None:
    embedder = server.openai(dimensions=7)
    assert embedder.model.dimensions == 7
    assert server.asked == []
    assert embedder.embed_query("why?").vector.shape == (7,)
    assert server.asked[0]["dimensions"] == 7


def test_documents_come_back_in_their_order_however_many_they_are(server: Server) -> None:
    texts = ["x" * (1 + number % 90) for number in range(200)]
    answer = server.openai().embed_documents(texts)
    assert [passage.vector[0] for (passage,) in answer] == [len(text) for text in texts]
    assert [len(body["input"]) for body in server.asked] == [32] * 6 + [8]


def test_no_request_is_too_big(server: Server) -> None:
    text = " ".join(["lengthy"] * 180)
    server.openai().embed_documents([text] * 30 + [text * 10])
    assert len(server.asked) == 2
    assert all(sum(map(len, body["input"])) <= 60_000 for body in server.asked)


def test_a_long_text_becomes_overlapping_passages_between_its_neighbours(server: Server) -> None:
    words = [f"word{number}" for number in range(400)]
    before, long, after = server.openai().embed_documents(["before", " ".join(words), "after"])
    assert len(before) == len(after) == 1
    assert len(long) == 3
    sent = server.asked[0]["input"][1:-1]
    assert [passage.vector[0] for passage in long] == [len(text) for text in sent]
    assert [text.split()[0] for text in sent] == ["word0", "word140", "word280"]
    assert sent[-1].endswith("word399")
    assert set(words) == {word for text in sent for word in text.split()}


def test_of_a_long_question_the_beginning_is_asked(server: Server) -> None:
    server.openai().embed_query(" ".join(["word"] * 1000))
    (sent,) = server.asked[0]["input"]
    assert len(sent.split()) == 180


def test_a_text_that_the_window_does_not_hold_is_cut_more_finely(server: Server) -> None:
    def small_window(body: dict[str, Any]) -> Reply:
        if any(len(text) > 400 for text in body["input"]):
            return error(400, "the input length exceeds the context length")(body)
        return embeddings(body)

    server.script = small_window
    text = " ".join(f"word{number}" for number in range(200))
    short, long = server.ollama().embed_documents(["short", text])
    assert len(short) == 1
    assert len(long) > 3
    assert {word for sent in server.asked[-1]["input"] for word in sent.split()} == {"short", *text.split()}
    assert server.ollama().embed_query(text).vector.shape == (4,)


def test_a_window_that_holds_nothing_is_told(server: Server) -> None:
    server.script = error(400, "maximum context length is 8 tokens", "context_length_exceeded")
    for ask in (Remote.embed_query, lambda embedder, text: embedder.embed_documents([text])):
        with pytest.raises(ProviderError, match="too long even in the smallest pieces"):
            ask(server.openai(), "why?")


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_is_read_no_further_than_vectors_can_be_long(
    server: Server, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(bounded_answers, "ANSWER_BYTES", 10_000)
    assert server.openai().embed_query("why?").vector.shape == (4,)
    server.script = lambda body: (status, b"[" + b"0," * 10_000, "application/json")
    with pytest.raises(ProviderError, match="sent a longer answer than is accepted"):
        server.openai().embed_query("why?")


def test_an_empty_text_has_a_vector(server: Server) -> None:
    assert len(server.openai().embed_documents(["", " \n"])) == 2
    assert all(server.asked[0]["input"])
    assert server.openai().embed_query("").vector.shape == (4,)


def test_questions_and_documents_are_told_apart_as_the_model_learned_it(server: Server) -> None:
    embedder = server.ollama("nomic-embed-text:latest")
    embedder.embed_query("why?")
    embedder.embed_documents(["because"])
    assert [body["input"] for body in server.asked] == [["search_query: why?"], ["search_document: because"]]


@pytest.mark.parametrize(
    ("model", "question"),
    [
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: "),
        ("intfloat/multilingual-e5-large", "query: "),
        ("snowflake-arctic-embed2:568m", "query: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: "),
        ("bge-m3", ""),
        ("text-embedding-3-small", ""),
    ],
)
def test_what_stands_before_a_question_depends_on_the_model(model: str, question: str) -> None:
    assert prompts_for(model).query == question


def test_connections_are_kept_from_one_question_to_the_next(server: Server) -> None:
    embedder = server.openai()
    for number in range(5):
        embedder.embed_query(str(number))
    assert len(server.connections) == 1


def test_threads_may_share_it(server: Server) -> None:
    embedder = server.openai()
    texts = ["x" * number for number in range(1, 41)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda text: embedder.embed_query(text).vector[0], texts))
    assert vectors == [len(text) for text in texts]


def test_an_async_program_may_call_it(server: Server) -> None:
    import asyncio

    async def program() -> float:
        return float(server.openai().embed_query("why?").vector[0])

    assert asyncio.run(program()) == 4


def test_what_is_set_for_other_programs_is_not_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-someone-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-else")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-else")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OLLAMA_API_KEY", "else")
    server.ollama().embed_query("why?")
    assert "else" not in str(server.headers)


OPENAI = "The embedder openai:toy at 127.0.0.1:"


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        (401, f"Incorrect API key provided: {KEY}.", "does not accept the key (HTTP 401: Incorrect API key"),
        (
            403,
            "No access",
            "does not allow this key to use the model (HTTP 403: No access). Check `embedder_key`.",
        ),
        (404, "No such model", "does not know this model"),
        (429, "Slow down", "gets too many requests, or its quota is used up (HTTP 429: Slow down). Wait"),
        (400, "Bad input", "refused (HTTP 400: Bad input)."),
        (500, "Oops", "failed (HTTP 500: Oops). Try again later."),
        (503, "", "failed (HTTP 503). Try again later."),
    ],
)
def test_a_refusal_says_what_happened_and_what_to_do(
    server: Server, status: int, message: str, said: str
) -> None:
    server.script = error(status, message)
    with pytest.raises(ProviderError) as raised:
        server.openai().embed_query("why?")
    assert str(raised.value).startswith(OPENAI)
    assert said in str(raised.value)
    assert KEY not in str(raised.value)
    assert raised.value.__cause__ is None  # it would quote the answer whole
    assert len(server.asked) == 1  # it is not asked again and again


def test_a_key_that_looks_like_none_is_not_repeated_either(server: Server) -> None:
    server.script = error(401, "No account for maple-syrup here")
    options = Options(url=f"{server.address}/v1", key="maple-syrup", timeout_s=60)
    with pytest.raises(ProviderError, match=r"No account for \*\*\* here"):
        Remote(Service("openai", "toy", options)).embed_query("why?")


def test_a_refusal_that_is_no_json_is_told_briefly(server: Server) -> None:
    server.script = lambda body: (502, b"<html>" + b"Bad gateway " * 500, "text/html")
    with pytest.raises(ProviderError, match="HTTP 502") as raised:
        server.openai().embed_query("why?")
    assert len(str(raised.value)) < 400


def test_a_model_that_ollama_has_not_fetched_is_told(server: Server) -> None:
    server.script = error(404, 'model "toy" not found, try pulling it first')
    with pytest.raises(ProviderError, match=r"Fetch it with `ollama pull toy`\."):
        server.ollama().embed_query("why?")


def test_a_service_that_is_not_there_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        gone = Remote(Service("ollama", "toy", Options(url=f"http://someone:hunter2@127.0.0.1:{port}")))
        with pytest.raises(
            ProviderError, match=rf"127\.0\.0\.1:{port} cannot be reached\. Is it running"
        ) as raised:
            gone.embed_query("why?")
    assert "hunter2" not in str(raised.value)


def test_a_service_that_hangs_is_given_up(server: Server) -> None:
    release = Event()

    def hang(body: dict[str, Any]) -> Reply:
        release.wait()
        return embeddings(body)

    server.script = hang
    try:
        with pytest.raises(
            ProviderError, match=r"did not answer within 0\.2 s\. Allow it more with `embedder_timeout`"
        ):
            server.openai(timeout_s=0.2).embed_query("why?")
    finally:
        release.set()


def test_a_service_that_answers_without_end_is_given_up(server: Server) -> None:
    server.dribbles_until = Event()
    embedder = server.openai(timeout_s=0.3)  # kept, for its end would close the connection
    try:
        with pytest.raises(ProviderError, match=r"did not answer within 0\.3 s"):
            embedder.embed_query("why?")
        assert server.connection_ended.wait(600)  # the request was ended, not left running
    finally:
        server.dribbles_until.set()


def test_connections_are_closed_with_their_embedder(server: Server) -> None:
    embedder = server.openai()
    embedder.embed_query("why?")
    assert not server.connection_ended.is_set()
    del embedder
    gc.collect()
    assert server.connection_ended.wait(600)


def one_vector(content: object) -> Callable[[dict[str, Any]], Reply]:
    return lambda body: reply(
        {"object": "list", "model": "toy", "data": [{"index": 0, "embedding": content}]}
    )


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (lambda body: (200, b"no JSON at all {", "application/json"), "something other than JSON"),
        (lambda body: (200, b"<html>Welcome</html>", "text/html"), "something other than JSON"),
        (lambda body: reply([]), "cannot read"),
        (lambda body: reply({"hello": "world"}), "cannot read"),
        (lambda body: reply({"data": None, "model": "toy"}), "cannot read"),
        (lambda body: reply({"data": [], "model": "toy"}), "cannot read|0 vectors for 1 texts"),
        (one_vector("not base64!"), "other than vectors of numbers"),
        (one_vector({"a": 1}), "other than vectors of numbers"),
        (one_vector(["a", "b"]), "other than vectors of numbers"),
        (one_vector([[1.0], [2.0, 3.0]]), "other than vectors of numbers"),
        (one_vector([None, 1.0]), "not finite"),
        (one_vector([float("nan"), 1.0]), "not finite"),
        (one_vector([1e300, 1.0]), "not finite"),
        (one_vector([0.0, 0.0]), "zero"),
        (one_vector([]), "other than vectors of numbers"),
        (one_vector([[1.0, 2.0]]), "other than vectors of numbers"),
        (one_vector(3.0), "other than vectors of numbers"),
    ],
)
def test_nonsense_is_refused(server: Server, script: Callable[[dict[str, Any]], Reply], said: str) -> None:
    server.script = script
    with pytest.raises(ProviderError, match=said):
        Guarded(server.openai()).embed_query("why?")


@pytest.mark.parametrize("kept", [0, 1, 4])
def test_another_number_of_vectors_is_refused(server: Server, kept: int) -> None:
    server.script = lambda body: embeddings({**body, "input": (body["input"] * 2)[:kept]})
    with pytest.raises(ProviderError, match=f"{kept} vectors for 3 texts|not understood"):
        server.openai().embed_documents(["one", "two", "three"])


def test_a_service_that_changes_its_dimensions_is_refused(server: Server) -> None:
    guarded = Guarded(server.openai())
    guarded.embed_query("why?")
    server.script = lambda body: embeddings({**body, "dimensions": 5})
    with pytest.raises(ProviderError, match="openai:toy returned a vector of 5 dimensions instead of 4"):
        guarded.embed_documents(["because"])


def test_a_service_that_ignores_the_dimensions_that_are_set_is_refused(server: Server) -> None:
    server.script = lambda body: embeddings({**body, "dimensions": 4})
    with pytest.raises(ProviderError, match="of 4 dimensions instead of 7"):
        Guarded(server.openai(dimensions=7)).embed_query("why?")


@pytest.mark.parametrize("nonsense", [[], [[1.0, 2.0]], 3.0])
def test_nonsense_teaches_it_nothing(server: Server, nonsense: object) -> None:
    embedder = Guarded(server.openai())
    server.script = one_vector(nonsense)
    with pytest.raises(ProviderError):
        embedder.embed_query("why?")
    server.script = embeddings
    embedder.embed_query("why?")
    assert embedder.model.dimensions == 4


def test_it_recovers_when_the_service_does(server: Server) -> None:
    embedder = Guarded(server.openai())
    server.script = error(500, "Oops")
    with pytest.raises(ProviderError):
        embedder.embed_query("why?")
    server.script = embeddings
    assert np.linalg.norm(embedder.embed_query("why?").vector) == pytest.approx(1)


def test_opened_by_its_name_it_is_guarded(server: Server) -> None:
    options = read_options(url=f"{server.address}/v1", key=KEY, dimensions="6", timeout="60")
    embedder = open_embedder("openai:text-embedding-3-small", options)
    assert embedder is not None
    assert embedder.model == EmbeddingModel("openai:text-embedding-3-small", 6)
    ((passage,),) = embedder.embed_documents(["because"])
    assert np.linalg.norm(passage.vector) == pytest.approx(1)


def test_openai_itself_is_not_asked_without_a_key() -> None:
    with pytest.raises(ProviderError, match=r"api\.openai\.com needs a key\. Set `embedder_key`\."):
        Remote(Service("openai", "text-embedding-3-small")).embed_query("why?")


def test_a_missing_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "onrecord.providers.bounded_answers", raising=False)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ProviderError, match=r"pip install 'onrecord\[client\]'"):
        Remote(Service("ollama", "toy")).embed_query("why?")


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(Service("openai", "toy", Options(key=KEY)))


def test_the_client_library_is_loaded_only_when_it_is_used() -> None:
    program = (
        "import sys, onrecord.providers.opening as o; o.open_embedder('ollama:toy'); o.can_open('ollama:toy');"
        "print([name for name in ('pydantic_ai', 'openai', 'numpy', 'onnxruntime', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_opens_its_own_connections(server: Server) -> None:
    program = f"""
import os, sys
from onrecord.providers.remote import Options, Remote, Service
embedder = Remote(Service("ollama", "toy", Options(url="{server.address}", timeout_s=30)))
embedder.embed_query("parent")
child = os.fork()
if not child:
    os._exit(int(embedder.embed_query("child").vector[0] != 5))
_, status = os.waitpid(child, 0)
embedder.embed_query("again")
sys.exit(status)
"""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = Forked([sys.executable, "-c", program], stderr=subprocess.PIPE, env=environment)
    _, told = done.communicate(timeout=600)
    assert done.returncode == 0, told
    assert [body["input"] for body in server.asked] == [["parent"], ["child"], ["again"]]
    assert len(server.connections) == 2


@given(st.text(max_size=3000), st.sampled_from(PIECE_SIZES))
def test_the_pieces_of_a_text_hold_all_of_it(text: str, grain: Any) -> None:
    pieces = grain.pieces(text)
    assert all(piece in text and len(piece) <= grain.characters for piece in pieces)
    assert len("".join(text.split())) <= sum(len("".join(piece.split())) for piece in pieces)
    assert text.strip().startswith(pieces[0])
    assert text.strip().endswith(pieces[-1])


def test_a_text_without_spaces_is_cut_as_well() -> None:
    text = "東京都の売上は返金を除く" * 40
    pieces = PIECE_SIZES[0].pieces(text)
    assert len(pieces) > 1
    assert all(piece in text for piece in pieces)
    assert pieces[0][-40:] == pieces[1][:40]


def test_every_service_has_an_address() -> None:
    assert {kind: Service(kind, "toy").address for kind in remote.URLS} == remote.URLS
    assert Service("ollama", "toy", Options(url="http://box:11434/")).address == "http://box:11434/v1"
    assert Service("openai", "toy", Options(url="http://box:8080/api/")).address == "http://box:8080/api"


#: The same four things in six languages, as a multilingual model knows them to be the same.
LANGUAGES = {
    "revenue": ("revenue", "Umsatz", "ingresos", "chiffre d'affaires", "выручка", "売上"),
    "holiday": ("holiday", "Urlaub", "vacaciones", "vacances", "отпуск", "休暇"),
    "invoice": ("invoice", "Rechnung", "factura", "facture", "счёт", "請求書"),
    "train": ("train", "Zug", "tren", "train à grande vitesse", "поезд", "列車"),
}


def across_languages(body: dict[str, Any]) -> Reply:
    """Vectors by what a text is about, whatever the language."""
    data = []
    for index, text in enumerate(body["input"]):
        vector = [1.0 if any(word in text for word in words) else 0.01 for words in LANGUAGES.values()]
        data.append({"object": "embedding", "index": index, "embedding": vector})
    return reply({"object": "list", "data": data, "model": body["model"]})


def test_a_multilingual_model_behind_the_port_finds_a_memory_by_a_question_in_another_language(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the port does for such a model: its prefixes go out, and its vectors alone find what shares no word."""
    server.script = across_languages
    monkeypatch.setenv("ONRECORD_EMBEDDER_URL", f"{server.address}/v1")
    monkeypatch.setenv("ONRECORD_EMBEDDER_KEY", KEY)
    with connect(":memory:", embedder="openai:intfloat/multilingual-e5-small") as door:
        saved = {
            (about, word): door.remember(f"{word}.", alike="keep", dedupe=False).memory.id
            for about, words in LANGUAGES.items()
            for word in words
        }
        for about, words in LANGUAGES.items():
            for word in words:
                found = [
                    hit.memory.id for hit in door.recall(f"{word}?", limit=len(words), min_relevance=0).hits
                ]
                assert set(found) == {saved[about, each] for each in words}, word
    prefixes = {text.split()[0] for body in server.asked for text in body["input"]}
    assert prefixes == {"passage:", "query:"}
