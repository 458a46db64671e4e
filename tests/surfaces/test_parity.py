"""IS it one thing whoever asks? Every operation through every surface: the same answer, and the same refusal.

Each surface has an empty store of its own and is told the same story, call by call.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client

from onrecord import OnRecord, errors
from onrecord import connect as open_store
from onrecord.aio import AsyncOnRecord
from onrecord.app import local_caller
from onrecord.client import connect, connect_async
from onrecord.config import load
from onrecord.context.frame import CAUTION
from onrecord.errors import OnRecordError
from onrecord.features import OPERATIONS
from onrecord.model.limits import TENANT_PERMISSIONS
from onrecord.model.request import request_fields
from onrecord.model.rules import Flag, ListOf, OrNone
from onrecord.model.wire import to_json
from onrecord.operation import Operation
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from onrecord.surfaces.mcp.tools import NOTICE

from .conftest import Served, Shell
from .test_mcp import Agent, introduce, said
from .test_mcp_faces import OF_PEOPLE, write_model

__all__ = ["introduce"]
BY_NAME = {operation.name: operation for operation in OPERATIONS}
SHAPED = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?|onr_\w+")
#: What two stores cannot have in common: how long it took, where they are, what a surface notes of a request, and which
#: sources its operator lets it read.
OWN = frozenset({"ms", "bytes", "location", "request", "audit", "idempotency", "sources"})
#: What a shell opens belongs to the operator of the store; from anywhere else these are refused.
OF_WHOEVER_RUNS_IT = frozenset({"create_tenant", "backup", "waive_keys"})
#: What an unattended run has left in each store for a person to look at.
PROPOSALS = {"proposal.good": "Refunds take a week.", "proposal.bad": "Refunds take a year."}

Call = tuple[str, dict[str, Any]]
#: Every operation, and some calls that are refused. `{key}` is the id of the key made last.
STORY: tuple[Call, ...] = (
    ("ingest", {"path": "{models}"}),
    ("prioritise", {"datasources": ["mydb", "other"]}),
    # With none named the order in force is shown, and stays; it is given up by a word of its own.
    ("prioritise", {}),
    ("prioritise", {"datasources": ["other"], "clear": True}),
    ("prioritise", {"clear": True}),
    ("prioritise", {}),
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
    (
        "recall",
        {"question": "revenue", "limit": 1, "min_relevance": 0.0, "only_dimensions": ["event", "knowledge"]},
    ),
    ("recall", {"question": "revenue", "limit": 1, "min_relevance": 0.0, "after": "1.0"}),
    (
        "recall",
        {"question": "revenue", "only_tags": ["x"], "only_owners": ["ann"], "only_metadata": {"a": [1]}},
    ),
    (
        "recall",
        {"question": "cents", "recipe": "absolute", "entities": ["orders"], "lineage": 1, "background": True},
    ),
    ("give_feedback", {"id": "1", "verdict": "useful", "question": "what is revenue?"}),
    ("set_tenant", {"keep_questions": True}),
    ("give_feedback", {"id": "1", "verdict": "not_useful", "question": "What is  revenue?"}),
    ("give_feedback", {"id": "kb.deploys", "verdict": "useful", "question": "may I deploy today?"}),
    ("give_feedback", {"id": "kb.deploys", "verdict": "none", "question": "may I deploy today?"}),
    ("give_feedback", {"id": "1", "verdict": "splendid", "question": "revenue"}),
    ("give_feedback", {"id": "nowhere", "verdict": "useful", "question": "revenue"}),
    ("feedback", {"id": "1", "limit": 1, "verdict": "not_useful", "user": "nobody"}),
    ("feedback", {"question": "what is REVENUE?"}),
    ("feedback", {"after": "elsewhere"}),
    ("show", {"id": "kb.deploys"}),
    ("show", {"id": "2", "background": True, "rights": True}),
    ("browse", {"persona": "chef", "background": True}),
    ("show", {"id": "nowhere"}),
    ("show", {"id": "1", "as_of": "2001-01-01"}),
    ("browse", {"kinds": ["decision"], "tags": ["net", "gross"], "limit": 1}),
    ("browse", {"limit": 0}),
    ("browse", {"order": "created", "skip": 1, "limit": 2, "count": True, "owners": ["ann", "nobody"]}),
    ("tally", {"by": "tag", "limit": 2}),
    ("tally", {"by": "colour"}),
    ("revise", {"id": "1", "title": "Net revenue", "expected_version": 1}),
    ("revise", {"id": "1", "title": "Lost", "expected_version": 1}),
    ("revise", {"id": "1", "entities": ["urn:li:nowhere", "orders"], "unknown": "keep"}),
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
    ("moments", {"limit": 3}),
    ("moments", {"before": "2001-01-01", "limit": 0}),
    ("moments", {"catalog": True, "limit": 1}),
    ("diff", {"since": "2020-01-01", "until": "2020-01-02", "catalog": True}),
    ("search", {"question": "cents", "entities": ["orders.amount", "nothing"], "max_entities": 1}),
    ("entities", {"inside": "mydb", "kind": "model"}),
    ("inspect", {"model": "mydb.orders", "sections": ["columns", "learnings"]}),
    ("entities", {"inside": "mydb", "known_at": "2100-01-01"}),
    ("inspect", {"model": "mydb.orders", "sections": ["learnings"], "known_at": "2020-01-01"}),
    ("drop_entity", {"entity": "mydb.orders.status"}),
    ("drop_entity", {"entity": "mydb.nothing"}),
    ("judge", {"id": "2"}),
    ("judge", {"id": "nowhere"}),
    (
        "end_turn",
        {
            "event": {
                "session_id": "s-1",
                "hook_event_name": "Stop",
                "prompt": "I like my coffee without any milk.",
            },
        },
    ),
    ("extract", {"user_turn": "I work from Lisbon.", "assistant_turn": "Nice.", "scope": "tenant"}),
    ("recall", {"question": "revenue", "limit": 1, "expand": "yes", "rerank": "yes", "rerank_when": "close"}),
    ("approve", {"id": "2"}),
    ("reject", {"id": "2", "reason": "No."}),
    ("browse", {"statuses": ["pending"]}),
    ("approve", {"id": "proposal.good"}),
    ("reject", {"id": "proposal.bad", "reason": "It takes a week."}),
    ("reject", {"id": "proposal.bad", "reason": "It takes a week."}),
    (
        "remember",
        {
            "content": "Amounts are net of refunds.",
            "id": "insight",
            "edits": [
                {"entity": "orders.amount", "field": "description", "value": "Net of refunds, in cents."},
                {"entity": "mydb.orders", "field": "tags", "op": "add", "key": "finance"},
                {"entity": "mydb.orders", "field": "properties", "key": "tier", "value": [1, "gold", True]},
            ],
        },
    ),
    ("remember", {"content": "Hidden.", "edits": [{"entity": "orders", "field": "tags", "key": "a\u200bb"}]}),
    ("browse", {"proposal": "pending", "count": True}),
    ("tally", {"by": "category", "proposal": "applied"}),
    ("plan", {"entity": "mydb.orders", "memories": ["insight"]}),
    ("apply", {"entity": "mydb.orders"}),
    ("approve", {"id": "insight", "reason": "Checked."}),
    ("plan", {"entity": "mydb.orders"}),
    ("apply", {"entity": "mydb.orders", "mark": "another"}),
    ("apply", {"entity": "mydb.orders", "reason": "Agreed."}),
    ("inspect", {"model": "mydb.orders", "sections": ["columns", "promoted"]}),
    ("search", {"question": "net of refunds", "max_entities": 1}),
    ("browse", {"proposal": "applied"}),
    ("changesets", {"entity": "orders.amount", "states": ["applied"], "skip": 0, "limit": 5}),
    ("roll_back", {"id": "1", "reason": "It was gross.", "then": "archive"}),
    ("roll_back", {"id": "1"}),
    ("changesets", {"id": "1"}),
    ("changesets", {"id": "2"}),
    ("add_check", {"id": "2", "kind": "entity", "entity": "mydb.orders.amount"}),
    ("add_check", {"id": "2", "connection": "nowhere", "sql": "select count(*) from orders", "value": "3"}),
    ("add_check", {"id": "2", "connection": "nowhere", "sql": "delete from orders", "value": "3"}),
    ("add_check", {"id": "2", "kind": "file", "path": "a.sql", "tolerance": 0.5}),
    ("check", {"id": "2"}),
    ("check", {}),
    ("check", {"all": True}),
    ("check", {"id": "2", "proposed": True}),
    ("check", {"queries": True, "format": "junit"}),
    ("checks", {"id": "2"}),
    ("recall", {"question": "cents", "only_verified": True}),
    ("browse", {"check_states": ["unverifiable"]}),
    ("approve_check", {"id": "2", "number": 1}),
    ("approve_check", {"id": "2", "number": 9}),
    ("drop_check", {"id": "2", "number": 2}),
    ("check", {"id": "2"}),
    ("impact", {"sql": "ALTER TABLE orders DROP COLUMN amount", "datasource": "mydb", "format": "markdown"}),
    ("impact", {"sql": "CREATE INDEX fast ON orders (amount)"}),
    ("impact", {"sql": "ALTER TABLE orders DROP COLUMN amount", "datasource": "nowhere"}),
    ("impact", {}),
    ("renames", {}),
    ("accept_renames", {}),
    ("accept_renames", {"entities": ["mydb.orders.amount"], "to": "mydb.orders.total"}),
    ("accept_renames", {"to": "mydb.orders.total"}),
    ("context", {"question": "revenue", "max_tokens": 500, "parts": ["always", "memories"]}),
    ("attach", {"answer": "No column profit on orders", "arguments": "select profit from orders"}),
    ("attach", {"answer": "thing:lamp", "arguments": {"sql": "select 1"}, "limit": 2, "again": True}),
    ("attach", {"answer": "orders", "limit": 0}),
    ("note_turn", {"content": "Hello.", "conversation": "c1"}),
    ("turns", {"conversation": "c1"}),
    ("clear_turns", {"conversation": "c1"}),
    ("register_conversation", {"id": "c1", "title": "The first"}),
    ("conversations", {}),
    ("share_conversation", {"id": "c1", "user": "bob"}),
    ("show_conversation", {"id": "c1"}),
    ("unshare_conversation", {"id": "c1", "user": "bob"}),
    ("share_conversation", {"id": "none", "user": "bob"}),
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
    ("share_agent", {"agent": "planner", "user": "bob"}),
    ("show_agent", {"agent": "planner"}),
    ("unshare_agent", {"agent": "planner", "user": "bob"}),
    ("set_tenant", {"members_retire": True}),
    ("list_tenants", {}),
    ("audit", {"subject": "1", "limit": 2}),
    ("status", {}),
    ("doctor", {}),
    ("reindex", {}),
    ("embed_missing", {}),
    ("embed_missing", {}),
    ("dismiss_failures", {"name": "embed"}),
    ("reassign", {"owner": "nobody@old", "to": "nobody@new", "dry_run": True}),
    ("reassign", {"owner": "bob", "to": "bob"}),
    ("export", {"path": "{folder}/all.jsonl"}),
    ("import_", {"path": "{folder}/all.jsonl", "skip_conflicts": True}),
    ("import_", {"path": "{folder}/none.jsonl"}),
    ("forget", {"id": "3"}),
    ("forget", {"id": "3"}),
    ("backup", {"path": "{folder}/copy.db"}),
    ("create_tenant", {"name": "acme"}),
    ("list_keys", {}),
    ("revoke_key", {"id": "nokey"}),
    ("waive_keys", {}),
    (
        "remember_many",
        {
            "memories": [
                {"content": "Invoices go out on Mondays.", "tags": ["finance"]},
                {"content": "Invoices go out on Mondays."},
                {"content": "", "kind": "facts"},
                {"content": "The key is AKIAIOSFODNN7EXAMPLE.", "supersedes": ["999"]},
            ],
            "on_fault": "skip",
        },
    ),
    ("remember_many", {"memories": [{"content": "One."}, {"content": "Two.", "when": "now"}]}),
    ("remember_many", {"memories": [{"content": "One."}], "dry_run": True}),
    ("remember_many", {"memories": []}),
    ("erase_tenant", {"name": "default", "confirm": "defualt"}),
    ("erase_tenant", {"name": "default", "confirm": "default"}),
    # From now on a server wants to see a key, and is shown this one.
    (
        "create_key",
        {
            "label": "owner",
            "permissions": sorted(TENANT_PERMISSIONS),
            "systems": ["*=manage"],
            "actor": "person",
        },
    ),
    ("create_key", {"label": "agent", "systems": ["crm", "erp=manage"]}),
    ("change_key", {"id": "{key}", "label": "scout", "systems": ["crm"]}),
    ("change_key", {"id": "{key}", "expires_at": "2020-01-01"}),
    ("revoke_key", {"id": "{key}"}),
    ("revoke_key", {"id": "{key}"}),
    ("list_keys", {}),
)
#: Where nobody makes vectors: what needs one is refused, and the rest goes on.
WITHOUT_VECTORS: tuple[Call, ...] = (
    ("remember", {"content": "Revenue is net of refunds."}),
    ("recall", {"question": "what is revenue?", "explain": True}),
    ("embed_missing", {}),
    ("status", {}),
)


class Outcome(NamedTuple):
    """What came of a call: the JSON of its answer, or the kind and the words of a refusal."""

    call: str
    answer: Any = None
    error: str | None = None
    words: str = ""


Act = Callable[[Operation, dict[str, Any]], Outcome]
#: How to come in through a surface, with a key once there is one.
Enter = Callable[[str | None], Act]


def test_the_story_tells_of_every_operation() -> None:
    assert {name for name, _ in STORY} == set(BY_NAME)


def plain(value: Any, own: dict[str, str]) -> Any:
    """Without what two stores cannot have in common, the times of now and secrets among it."""
    if isinstance(value, dict):
        return {name: plain(each, own) for name, each in value.items() if name not in OWN}
    if isinstance(value, list):
        return [plain(each, own) for each in value]
    if isinstance(value, str):
        told = SHAPED.sub("…", value)
        for what, here in own.items():
            told = told.replace(here, f"<{what}>")
        return told
    return value


def told(enter: Enter, story: tuple[Call, ...], folder: Path) -> list[Outcome]:
    """The whole story through one surface, whose files are in this folder."""
    own = {"folder": str(folder)}
    act, outcomes = enter(None), []
    for name, given in story:
        fields = {
            field: value.format(models=folder.parent / "layer", **own) if field in ("path", "id") else value
            for field, value in given.items()
        }
        came = act(BY_NAME[name], fields)
        if name == "create_key" and came.error is None:
            made = came.answer["key"]
            if "key" not in own:
                act = enter(came.answer["secret"])
            own |= {"key": made["id"], f"key of {made['label']}": made["id"]}
        outcomes.append(
            Outcome(f"{name}({given})", plain(came.answer, own), came.error, plain(came.words, own))
        )
    return outcomes


def through_python(door: Any, operation: Operation, given: dict[str, Any]) -> Outcome:
    try:
        return Outcome("", to_json(getattr(door, operation.name)(**given)))
    except OnRecordError as problem:
        return Outcome("", None, kind_of(problem), str(problem))


def kind_of(problem: OnRecordError) -> str:
    """The kind that is known everywhere."""
    return next(
        kind.__name__ for kind in type(problem).__mro__ if kind.__module__ == OnRecordError.__module__
    )


def through_loop(door: Any, loop: asyncio.Runner, operation: Operation, given: dict[str, Any]) -> Outcome:
    async def ask() -> Any:
        return await getattr(door, operation.name)(**given)

    try:
        return Outcome("", to_json(loop.run(ask())))
    except OnRecordError as problem:
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
    singular = {"statuses": "status", "entities": "entity", "memories": "memory"}
    for each in request_fields(operation.request):
        if each.name not in given:
            continue
        value, rule = given[each.name], each.metadata["rule"]
        kind = rule.rule if isinstance(rule, OrNone) else rule
        option = f"--{each.name.replace('_', '-')}"
        if not each.kw_only:
            yield json.dumps(value) if isinstance(value, list) else str(value)
        elif isinstance(kind, Flag):
            yield option if value else option.replace("--", "--no-", 1)
        elif isinstance(kind, ListOf):
            one = singular.get(each.name, each.name.removesuffix("s").replace("_", "-"))
            yield from (word for item in value for word in (f"--{one}", str(item)))
        else:
            yield from (option, json.dumps(value) if isinstance(value, dict | list) else str(value))


def through_tools(agent: Agent, door: OnRecord, operation: Operation, given: dict[str, Any]) -> Outcome:
    if operation.name in OF_PEOPLE:
        # No model has it; the person at the machine does it, so that the story goes on.
        return through_python(door, operation, given)
    result = agent.call(operation.name.rstrip("_"), **given)
    if result.is_error:
        return Outcome("", None, "refused", said(result))
    fields = dict(result.structured_content or {})
    # It is said of the rest, and belongs to no other door.
    assert fields.pop(NOTICE) == CAUTION
    return Outcome("", fields)


def propose(db: Path) -> None:
    """Leave what an unattended run has found out, and a person has to look at."""
    robot = replace(local_caller(load()), actor="unattended", run="night", operator=False)
    with open_store(db, caller=robot) as door:
        for id, content in PROPOSALS.items():
            assert door.remember(content, id=id).memory.status == "pending"


class Surfaces:
    """Every way in, each to a store of its own."""

    def __init__(
        self,
        folder: Path,
        shell: Shell,
        served: Callable[..., Served],
        introduce: Callable[[Client], Agent],
        until: ExitStack,
    ) -> None:
        self._folder, self._shell, self._served, self._introduce = folder, shell, served, introduce
        self._until, self._loop = until, until.enter_context(asyncio.Runner())
        self._models = folder / "layer"
        write_model(self._models, "mydb", "orders", "id", "amount", "status")
        write_model(self._models, "other", "users", "id", "name")

    def tell(self, story: tuple[Call, ...]) -> dict[str, list[Outcome]]:
        """What came of the story through each surface."""
        outcomes = {}
        for surface, opened in {
            "python": self._python,
            "async": self._async,
            "rest": self._rest,
            "async-rest": self._async_rest,
            "cli": self._cli,
            "mcp": self._mcp,
        }.items():
            folder = self._folder / surface
            folder.mkdir()
            propose(folder / "store.db")
            outcomes[surface] = told(opened(folder / "store.db"), story, folder)
        return outcomes

    def _door(self, db: Path) -> OnRecord:
        """The door of the local owner as a server knows them: not as the operator of the store."""
        owner = replace(local_caller(load()), operator=False)
        return self._until.enter_context(open_store(db, caller=owner))

    def _python(self, db: Path) -> Enter:
        act = partial(through_python, self._door(db))
        return lambda key: act

    def _async(self, db: Path) -> Enter:
        act = partial(through_loop, AsyncOnRecord(self._door(db)), self._loop)
        return lambda key: act

    def _rest(self, db: Path) -> Enter:
        url = self._served(db=str(db), sources=str(self._models)).url
        return lambda key: partial(through_python, self._until.enter_context(connect(url, key=key)))

    def _async_rest(self, db: Path) -> Enter:
        url = self._served(db=str(db), sources=str(self._models)).url

        def enter(key: str | None) -> Act:
            client = connect_async(url, key=key)
            self._until.callback(lambda: self._loop.run(client.close()))
            return partial(through_loop, client, self._loop)

        return enter

    def _cli(self, db: Path) -> Enter:
        return lambda key: partial(through_shell, self._shell, str(db))

    def _mcp(self, db: Path) -> Enter:
        tool_request = ToolRequest(self._door(db), chosen(["full"]))
        agent = self._introduce(Client(build_server(lambda context: tool_request)))
        return lambda key: partial(through_tools, agent, tool_request.door)


@pytest.fixture
def surfaces(
    tmp_path: Path,
    shell: Shell,
    served: Callable[..., Served],
    introduce: Callable[[Client], Agent],
) -> Iterator[Surfaces]:
    with ExitStack() as until:
        yield Surfaces(tmp_path, shell, served, introduce, until)


def test_every_operation_gives_the_same_through_every_surface(surfaces: Surfaces) -> None:
    outcomes = surfaces.tell(STORY)
    went_well = {
        name for (name, _), each in zip(STORY, outcomes["python"], strict=True) if each.error is None
    }
    assert set(BY_NAME) - went_well == OF_WHOEVER_RUNS_IT
    assert differing(STORY, outcomes) == []
    orders = [
        each.answer and each.answer["datasources"]
        for (name, _), each in zip(STORY, outcomes["python"], strict=True)
        if name == "prioritise"
    ]
    assert orders == [["mydb", "other"], ["mydb", "other"], None, [], [], ["mydb", "other"]]


def test_without_vectors_it_is_the_same_too(words_alone: None, surfaces: Surfaces) -> None:
    outcomes = surfaces.tell(WITHOUT_VECTORS)
    assert [each.error for each in outcomes["python"]] == [None, None, "Invalid", None]
    assert differing(WITHOUT_VECTORS, outcomes) == []


def differing(
    story: tuple[Call, ...], outcomes: dict[str, list[Outcome]]
) -> list[tuple[str, Outcome, Outcome]]:
    """What came out otherwise than in Python: through which surface, what was wanted, and what came."""
    expected = outcomes["python"]
    return [
        (surface, wanted, came)
        for surface, each in outcomes.items()
        for wanted, came, (name, _) in zip(expected, each, story, strict=True)
        if not is_alike(surface, BY_NAME[name], wanted, came)
    ]


def is_alike(surface: str, operation: Operation, wanted: Outcome, came: Outcome) -> bool:
    if surface == "cli" and (operation.name in OF_WHOEVER_RUNS_IT or operation.command is None):
        return came.error is None
    if surface.endswith("rest") and operation.route is None:
        return came.error == "Forbidden"
    if surface == "mcp" and wanted.error is not None and operation.name not in OF_PEOPLE:
        return came.error == "refused" and all(line in came.words for line in wanted.words.splitlines())
    return came == wanted
