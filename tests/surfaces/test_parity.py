"""IS it one thing whoever asks? Every operation through every surface: the same answer, and the same refusal.

Each surface has an empty store of its own and is told the same story, call by call.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client

from recollect import Recollect, errors
from recollect import connect as open_store
from recollect.aio import AsyncRecollect
from recollect.app import local_caller
from recollect.client import connect, connect_async
from recollect.config import load
from recollect.errors import RecollectError
from recollect.model.requests import request_fields
from recollect.model.rules import Flag, Listing, OrNone
from recollect.model.wire import to_json
from recollect.service import OPERATIONS, Operation
from recollect.surfaces.mcp.faces import chosen
from recollect.surfaces.mcp.server import Visit, build_server

from .conftest import Served, Shell
from .test_mcp import Agent, introduce, said
from .test_mcp_faces import write_model

__all__ = ["introduce"]
BY_NAME = {operation.name: operation for operation in OPERATIONS}
SHAPED = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?|rk_\w+")
#: What two stores cannot have in common: how long it took, where they are, and what a surface notes of a request.
OWN = frozenset({"ms", "bytes", "location", "request", "audit", "idempotency"})
#: What a shell opens belongs to whoever runs the store; from anywhere else these are refused.
OF_WHOEVER_RUNS_IT = frozenset({"create_tenant", "backup"})
#: There is no proposal here to turn down, no key of a known name, and no embedder.
REFUSED = frozenset({"reject", "revoke_key", "embed_missing"})

Call = tuple[str, dict[str, Any]]
#: Every operation, and some calls that are refused.
STORY: tuple[Call, ...] = (
    ("ingest", {"path": "{models}"}),
    ("prioritise", {"datasources": ["mydb", "other"]}),
    ("remember", {"content": "Revenue is net of refunds.", "kind": "decision", "tags": ["finance", "net"]}),
    (
        "remember",
        {
            "content": "Amounts are in cents.",
            "entities": ["mydb.orders.amount"],
            "metadata": {"a": {"b": [1, None, 2.5]}},
        },
    ),
    ("remember", {"content": "Deploys are frozen on Fridays.", "id": "kb.deploys", "hint": "naïve <b>"}),
    ("remember", {"content": "Gone soon.", "valid_from": "2026-01-02T03:04:05Z", "always_inject": True}),
    ("remember", {"content": "", "kind": "facts"}),
    ("remember", {"content": "Nobody's.", "scope": "persona"}),
    ("recall", {"question": "what is revenue?", "kinds": ["decision"], "limit": 3, "explain": True}),
    ("show", {"id": "kb.deploys"}),
    ("show", {"id": "nowhere"}),
    ("show", {"id": "1", "as_of": "2001-01-01"}),
    ("browse", {"kinds": ["decision"], "tags": ["net", "gross"], "limit": 1}),
    ("browse", {"limit": 0}),
    ("revise", {"id": "1", "title": "Net revenue", "expected_version": 1}),
    ("revise", {"id": "1", "title": "Lost", "expected_version": 1}),
    ("relate", {"source": "1", "relation": "supports", "target": "2"}),
    ("relate", {"source": "1", "relation": "supports", "target": "1"}),
    ("neighbours", {"id": "2", "direction": "in", "relations": ["supports"]}),
    ("relations", {"source": "1", "relation": "supports"}),
    ("relations", {"after": "nowhere"}),
    ("unrelate", {"source": "1", "relation": "supports", "target": "2"}),
    ("relate", {"source": "2", "relation": "refines", "target": "1"}),
    ("remove_relation", {"id": "2"}),
    ("remove_relation", {"id": "2"}),
    ("retire", {"id": "3", "reason": "It is over."}),
    ("history", {"id": "1"}),
    ("diff", {"since": "2020-01-01", "until": "2100-01-01"}),
    ("diff", {"since": "2020-01-01", "until": "2019-01-01"}),
    ("search", {"question": "cents", "entities": ["orders.amount", "nothing"], "max_entities": 1}),
    ("entities", {"inside": "mydb", "kind": "model"}),
    ("inspect", {"model": "mydb.orders", "sections": ["columns", "learnings"]}),
    ("drop_entity", {"entity": "mydb.orders.status"}),
    ("drop_entity", {"entity": "mydb.nothing"}),
    ("approve", {"id": "2"}),
    ("reject", {"id": "2", "reason": "No."}),
    ("context", {"question": "revenue", "max_tokens": 500, "parts": ["always", "memories"]}),
    ("note_turn", {"content": "Hello.", "conversation": "c1"}),
    ("turns", {"conversation": "c1"}),
    ("clear_turns", {"conversation": "c1"}),
    ("register_conversation", {"id": "c1", "title": "The first"}),
    ("conversations", {}),
    ("show_conversation", {"id": "c1"}),
    ("write_artifact", {"path": "notes/plan.md", "content": "A plan.", "conversation": "c1"}),
    ("write_artifact", {"path": "../plan.md", "content": "A plan.", "conversation": "c1"}),
    ("artifacts", {"conversation": "c1"}),
    ("read_artifact", {"id": "1"}),
    ("delete_artifact", {"id": "1"}),
    ("delete_conversation", {"id": "c1"}),
    ("append_scratchpad", {"content": "A note.", "agent": "planner"}),
    ("read_scratchpad", {"agent": "planner"}),
    ("scratchpads", {}),
    ("clear_scratchpad", {"agent": "planner"}),
    ("set_agent", {"agent": "planner", "decay": True, "decay_floor": 0.25}),
    ("show_agent", {"agent": "planner"}),
    ("list_tenants", {}),
    ("audit", {"subject": "1", "limit": 2}),
    ("status", {}),
    ("doctor", {}),
    ("reindex", {}),
    ("embed_missing", {}),
    ("export", {"path": "{folder}/all.jsonl"}),
    ("import_", {"path": "{folder}/all.jsonl", "skip_conflicts": True}),
    ("import_", {"path": "{folder}/none.jsonl"}),
    ("forget", {"id": "3"}),
    ("forget", {"id": "3"}),
    ("backup", {"path": "{folder}/copy.db"}),
    ("create_tenant", {"name": "acme"}),
    ("list_keys", {}),
    ("revoke_key", {"id": "nokey"}),
    ("erase_tenant", {"name": "default", "confirm": "defualt"}),
    ("erase_tenant", {"name": "default", "confirm": "default"}),
    # The last one: from now on a server wants to see a key.
    ("create_key", {"label": "agent", "systems": ["crm", "erp=manage"]}),
)


class Outcome(NamedTuple):
    """What came of a call: the JSON of its answer, or the kind and the words of a refusal."""

    call: str
    answer: Any = None
    error: str | None = None
    words: str = ""


Act = Callable[[Operation, dict[str, Any]], Outcome]


def test_the_story_tells_of_every_operation() -> None:
    assert {name for name, _ in STORY} == set(BY_NAME)


def plain(value: Any, folder: Path) -> Any:
    """Without what two stores cannot have in common, the times of now and secrets among it."""
    if isinstance(value, dict):
        told = {name: plain(each, folder) for name, each in value.items() if name not in OWN}
        if "secret" in value:
            told["key"]["id"] = "…"
        return told
    if isinstance(value, list):
        return [plain(each, folder) for each in value]
    if isinstance(value, str):
        return SHAPED.sub("…", value.replace(str(folder), "…"))
    return value


def told(acts: dict[str, Act], folder: Path, models: Path) -> dict[str, list[Outcome]]:
    """The whole story through each surface."""
    outcomes: dict[str, list[Outcome]] = {}
    for surface, act in acts.items():
        own = folder / surface
        own.mkdir(exist_ok=True)
        for name, given in STORY:
            fields = {
                field: value.format(models=models, folder=own) if field == "path" else value
                for field, value in given.items()
            }
            came = act(BY_NAME[name], fields)
            here = Outcome(f"{name}({given})", plain(came.answer, own), came.error, plain(came.words, own))
            outcomes.setdefault(surface, []).append(here)
    return outcomes


def through_python(door: Any, operation: Operation, given: dict[str, Any]) -> Outcome:
    try:
        return Outcome("", to_json(getattr(door, operation.name)(**given)))
    except RecollectError as problem:
        return Outcome("", None, kind_of(problem), str(problem))


def kind_of(problem: RecollectError) -> str:
    """The kind that is known everywhere."""
    return next(
        kind.__name__ for kind in type(problem).__mro__ if kind.__module__ == RecollectError.__module__
    )


def through_loop(door: Any, loop: asyncio.Runner, operation: Operation, given: dict[str, Any]) -> Outcome:
    async def ask() -> Any:
        return await getattr(door, operation.name)(**given)

    try:
        return Outcome("", to_json(loop.run(ask())))
    except RecollectError as problem:
        return Outcome("", None, kind_of(problem), str(problem))


def through_shell(shell: Shell, db: str, operation: Operation, given: dict[str, Any]) -> Outcome:
    if operation.command is None:
        return Outcome("", "not on a command line")
    came = shell("--db", db, *operation.command.split(), *words_of(operation, given), "--json")
    if came.code == 0 or came.out:
        return Outcome("", json.loads(came.out))
    refused = json.loads(came.err)
    # A more special kind is told by its own name there.
    kind = refused["error"] if hasattr(errors, refused["error"]) else "Invalid"
    return Outcome("", None, kind, refused["message"])


def words_of(operation: Operation, given: dict[str, Any]) -> Iterator[str]:
    """The same as a person types it."""
    singular = {"statuses": "status", "entities": "entity"}
    for each in request_fields(operation.request):
        if each.name not in given:
            continue
        value, rule = given[each.name], each.metadata["rule"]
        kind = rule.rule if isinstance(rule, OrNone) else rule
        option = f"--{each.name.replace('_', '-')}"
        if not each.kw_only:
            yield str(value)
        elif isinstance(kind, Flag):
            yield option if value else option.replace("--", "--no-", 1)
        elif isinstance(kind, Listing):
            one = singular.get(each.name, each.name.removesuffix("s"))
            yield from (word for item in value for word in (f"--{one}", str(item)))
        else:
            yield from (option, json.dumps(value) if isinstance(value, dict) else str(value))


def through_tools(agent: Agent, operation: Operation, given: dict[str, Any]) -> Outcome:
    result = agent.call(operation.name.rstrip("_"), **given)
    if result.is_error:
        return Outcome("", None, "refused", said(result))
    return Outcome("", result.structured_content)


@contextmanager
def doors(folder: Path, db: str) -> Iterator[Recollect]:
    """The door of the local owner as a server knows them: not as whoever runs the store."""
    with open_store(
        folder / db, caller=replace(local_caller(load()), operator=False), embedder="none"
    ) as door:
        yield door


def test_every_operation_gives_the_same_through_every_surface(
    tmp_path: Path,
    shell: Shell,
    served: Callable[..., Served],
    introduce: Callable[[Client], Agent],
) -> None:
    models = tmp_path / "layer"
    write_model(models, "mydb", "orders", "id", "amount", "status")
    write_model(models, "other", "users", "id", "name")
    here = served(db=str(tmp_path / "rest.db"), sources=str(models))
    also = served(db=str(tmp_path / "async-rest.db"), sources=str(models))
    with (
        doors(tmp_path, "python.db") as python,
        doors(tmp_path, "async.db") as other,
        doors(tmp_path, "mcp.db") as third,
        connect(here.url) as client,
        asyncio.Runner() as loop,
    ):
        visit = Visit(third, chosen(["full"]))
        agent = introduce(Client(build_server(lambda context: visit)))
        async_client = connect_async(also.url)
        outcomes = told(
            {
                "python": partial(through_python, python),
                "async": partial(through_loop, AsyncRecollect(other), loop),
                "rest": partial(through_python, client),
                "async-rest": partial(through_loop, async_client, loop),
                "cli": partial(through_shell, shell, str(tmp_path / "cli.db")),
                "mcp": partial(through_tools, agent),
            },
            tmp_path,
            models,
        )
        loop.run(async_client.close())
    expected = outcomes.pop("python")
    went_well = {name for (name, _), each in zip(STORY, expected, strict=True) if each.error is None}
    assert set(BY_NAME) - went_well == {*OF_WHOEVER_RUNS_IT, *REFUSED}
    differing = [
        (surface, wanted, came)
        for surface, each in outcomes.items()
        for wanted, came, (name, _) in zip(expected, each, STORY, strict=True)
        if not is_alike(surface, BY_NAME[name], wanted, came)
    ]
    for each in differing:
        print("DIFF", each)
    assert differing == []


def is_alike(surface: str, operation: Operation, wanted: Outcome, came: Outcome) -> bool:
    if surface == "cli" and (operation.name in OF_WHOEVER_RUNS_IT or operation.command is None):
        return came.error is None
    if surface.endswith("rest") and operation.route is None:
        return came.error == "Forbidden"
    if surface == "mcp" and wanted.error is not None:
        return came.error == "refused" and all(line in came.words for line in wanted.words.splitlines())
    return came == wanted
