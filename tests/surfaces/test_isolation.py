"""WHO gets at what is another's over the network? Nobody: every operation, route and tool is tried with foreign ids.

The same is asked for what is hidden and for what never was; the answers must be alike, and nothing may have changed.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Final, get_args
from urllib.parse import unquote

import httpx2
import pytest
from mcp import Client, MCPError
from sqlalchemy import delete

from onrecord.client import connect
from onrecord.client.sending import read_arguments
from onrecord.config import load
from onrecord.errors import NotFound, OnRecordError
from onrecord.faces.arbiter.slash import commands
from onrecord.faces.arbiter.slash.parsed import Command, RefusedCommand
from onrecord.features import OPERATIONS
from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.limits import SCOPES, STATUSES, Scope
from onrecord.model.wire import from_json, to_json
from onrecord.service import OnRecord
from onrecord.store.tables import WORKSPACE
from onrecord.surfaces import web
from onrecord.surfaces.mcp import resources
from onrecord.surfaces.mcp.faces import FACES
from onrecord.surfaces.recent_requests import RecentRequests
from onrecord.surfaces.rest.declared import of_faces
from onrecord.surfaces.web import confirm, operate, sign_in
from onrecord.surfaces.web import connect as connecting
from onrecord.surfaces.web.sign_in import ComingIn
from onrecord.testing.builders import HOME, Clock, administrator
from onrecord.testing.embedder import StubEmbedders
from onrecord.testing.strangers import ATTEMPTS, OWNER, STRANGERS, TAKEN, Stranger, Try, World, outcome
from tests.soak import SOAKING

from .conftest import Served
from .test_mcp import Agent, introduce, said
from .test_mcp_faces import write_model
from .test_mcp_transports import Site

__all__ = ["introduce"]
Meet = Callable[[Client], Agent]
Fields = Mapping[str, str]
BY_NAME = {operation.name: operation for operation in OPERATIONS}
#: One for each way to be a stranger.
DISTINCT = [
    "another tenant",
    "an admin of another tenant",
    "another user",
    "no persona",
    "no system",
    "no session",
]
#: Who tries what others prove already: what a stranger sees is decided in the store, where the conformance suite has every
#: one of them try; here one from outside and one from inside show that no surface asks in another's name.
FEW = ["an admin of another tenant", "another user"]
ABROAD = [name for name, each in STRANGERS.items() if each.caller.tenant != HOME]
#: A word in the names of what the owner's tenant has beside memories, and one in its texts that nobody asks for.
BESIDE, SECRET = "zqbeside", "zqsecret"
#: What the owner proposes for the catalog.
INSIGHT = f"{BESIDE}.insight"
#: What names something that everyone in the tenant shares: only those outside of it are strangers to that.
OF_THE_TENANT = frozenset({"beside", "file", "key", "tenant"})
OF_A_MEMORY = frozenset({"id", "other", "edge", "code"})
#: Times, and ids that are drawn by chance.
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?|\b1[78]\d{8}\b|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"
)
FIELD = re.compile(r"\{(\w+)\}")
#: After how many attempts it is looked at what is there.
LOOKED_AFTER = 32
#: What differs between any two answers.
PASSING = frozenset({"date", "x-request-id", "content-length"})
#: What makes something new, which has a number of its own.
NUMBERED = frozenset(
    {
        "POST /memories",
        "/memory/new",
        "POST /v1/conversations",
        "POST /v1/conversations/{id}/artifacts",
        "POST /v1/memory/entries",
        "AddEntry",
        "WriteFile",
        "native memory_save",
        "slayer save_memory",
        "datamind memory_save",
        "checkstack ai.saveMemory",
        "data_platform memory_manage",
        "data_platform capture_insight",
        "write_artifact",
        "remember",
        "create_key",
        "append_scratchpad",
        "WriteNotes",
        "ClearNotes",
    }
)

#: Every route of a face: what is asked there, as a path and a body.
ROUTES: dict[str, list[tuple[str, Any]]] = {
    "POST /memories": [
        ("/memories", {"learning": "mine", "linked_entities": ["memory:{id}"]}),
        ("/memories", {"learning": "mine", "linked_entities": ["{beside}.orders"]}),
    ],
    "DELETE /memories/{id}": [("/memories/{id}", None)],
    "POST /search": [
        ("/search", {"question": "{code}", "entities": ["thing:{code}", "memory:{id}"]}),
        ("/search", {"question": "{code}", "max_results": 50}),
        ("/search", {"entities": ["{beside}.orders"]}),
    ],
    "GET /api/memory/{profile}": [
        (f"/api/memory/{HOME}?query={{code}}", None),
        ("/api/memory/{tenant}?query={code}", None),
    ],
    "GET /api/v1/admin/memory/records": [
        ("/api/v1/admin/memory/records?per_page=100", None),
        ("/api/v1/admin/memory/records?entity_urn=thing:{code}&created_by=ann", None),
    ],
    "GET /api/v1/admin/memory/records/stats": [("/api/v1/admin/memory/records/stats?created_by=ann", None)],
    "GET /api/v1/admin/memory/records/{id}": [("/api/v1/admin/memory/records/{id}", None)],
    "PUT /api/v1/admin/memory/records/{id}": [
        ("/api/v1/admin/memory/records/{id}", {"content": "mine and nobody else's"})
    ],
    "DELETE /api/v1/admin/memory/records/{id}": [("/api/v1/admin/memory/records/{id}", None)],
    "GET /api/v1/portal/memory/records": [("/api/v1/portal/memory/records?limit=100", None)],
    "GET /api/v1/portal/memory/records/stats": [("/api/v1/portal/memory/records/stats", None)],
    "GET /api/v1/portal/memory/records/search": [("/api/v1/portal/memory/records/search?q={code}", None)],
    "GET /api/v1/admin/embedding/status": [("/api/v1/admin/embedding/status", None)],
    "GET /api/v1/admin/index-jobs": [("/api/v1/admin/index-jobs", None)],
    "GET /api/v1/admin/index-jobs/failures": [("/api/v1/admin/index-jobs/failures", None)],
    "GET /api/v1/admin/index-jobs/jobs": [("/api/v1/admin/index-jobs/jobs", None)],
    "POST /api/v1/admin/index-jobs/dismiss": [("/api/v1/admin/index-jobs/dismiss", {})],
    "POST /api/v1/admin/index-jobs/reindex": [("/api/v1/admin/index-jobs/reindex", {})],
    "GET /api/v1/admin/knowledge/insights": [
        ("/api/v1/admin/knowledge/insights", None),
        ("/api/v1/admin/knowledge/insights?entity_urn=thing:{code}&captured_by=ann", None),
    ],
    "GET /api/v1/admin/knowledge/insights/stats": [("/api/v1/admin/knowledge/insights/stats", None)],
    "GET /api/v1/admin/knowledge/insights/{id}": [("/api/v1/admin/knowledge/insights/{id}", None)],
    "PUT /api/v1/admin/knowledge/insights/{id}": [
        ("/api/v1/admin/knowledge/insights/{id}", {"insight_text": "mine and nobody else's"})
    ],
    "PUT /api/v1/admin/knowledge/insights/{id}/status": [
        ("/api/v1/admin/knowledge/insights/{id}/status", {"status": "approved"})
    ],
    "GET /api/v1/admin/knowledge/changesets": [
        ("/api/v1/admin/knowledge/changesets?entity_urn=thing:{code}", None)
    ],
    "GET /api/v1/admin/knowledge/changesets/{id}": [("/api/v1/admin/knowledge/changesets/1", None)],
    "POST /api/v1/admin/knowledge/changesets/{id}/rollback": [
        ("/api/v1/admin/knowledge/changesets/1/rollback", {})
    ],
    "GET /api/v1/portal/knowledge/insights": [("/api/v1/portal/knowledge/insights", None)],
    "GET /api/v1/portal/knowledge/insights/stats": [("/api/v1/portal/knowledge/insights/stats", None)],
    "GET /api/v1/portal/knowledge/insights/search": [
        ("/api/v1/portal/knowledge/insights/search?q={beside}", None)
    ],
    "GET /v1/memory": [("/v1/memory", None)],
    "GET /v1/memory/entries": [
        ("/v1/memory/entries?q={code}", None),
        ("/v1/memory/entries?limit=200", None),
        ("/v1/memory/entries?tag={code}%20tag", None),
        ("/v1/memory/entries?conversation_id=~ann/{beside}-talk", None),
    ],
    "POST /v1/memory/entries": [
        ("/v1/memory/entries", {"type": "context", "title": "mine", "supersedes_ids": ["{id}"]}),
        ("/v1/memory/entries", {"type": "context", "title": "mine", "artifact_id": "{file}"}),
    ],
    "GET /v1/memory/entries/{id}": [("/v1/memory/entries/{id}", None)],
    "PATCH /v1/memory/entries/{id}": [("/v1/memory/entries/{id}", {"title": "mine"})],
    "DELETE /v1/memory/entries/{id}": [("/v1/memory/entries/{id}", None)],
    "POST /v1/memory/entries/{id}/invalidate": [("/v1/memory/entries/{id}/invalidate", {})],
    "GET /v1/memory/relations": [
        ("/v1/memory/relations?source_id={id}", None),
        ("/v1/memory/relations?target_id={other}&relation=supports", None),
    ],
    "POST /v1/memory/relations": [
        ("/v1/memory/relations", {"source_id": "{id}", "target_id": "{other}", "relation": "supports"}),
        ("/v1/memory/relations", {"source_id": "own", "target_id": "{id}", "relation": "refines"}),
    ],
    "DELETE /v1/memory/relations/{id}": [("/v1/memory/relations/{edge}", None)],
    "GET /v1/memory/graph": [("/v1/memory/graph", None)],
    "GET /v1/memory/{agent}": [("/v1/memory/{beside}-agent", None)],
    "GET /v1/conversations": [("/v1/conversations", None)],
    "POST /v1/conversations": [("/v1/conversations", {"title": "{beside}"})],
    "GET /v1/conversations/{id}": [("/v1/conversations/~ann/{beside}-talk", None)],
    "DELETE /v1/conversations/{id}": [("/v1/conversations/~ann/{beside}-talk", None)],
    "GET /v1/conversations/{id}/artifacts": [("/v1/conversations/~ann/{beside}-talk/artifacts", None)],
    "POST /v1/conversations/{id}/artifacts": [
        ("/v1/conversations/~ann/{beside}-talk/artifacts", {"path": "plan.md", "content": "mine"})
    ],
    "GET /v1/conversations/{id}/artifacts/{artifact}": [
        ("/v1/conversations/~ann/{beside}-talk/artifacts/{file}", None),
        ("/v1/conversations/~ann/{beside}-talk/artifacts/{file}?via=mem:{id}", None),
    ],
    "DELETE /v1/conversations/{id}/artifacts/{artifact}": [
        ("/v1/conversations/~ann/{beside}-talk/artifacts/{file}", None)
    ],
    "GET /v1/conversations/{id}/artifacts/{artifact}/raw": [
        ("/v1/conversations/~ann/{beside}-talk/artifacts/{file}/raw", None)
    ],
    "GET /v1/artifacts": [("/v1/artifacts", None)],
    "GET /v1/artifacts/{artifact}": [
        ("/v1/artifacts/{file}", None),
        ("/v1/artifacts/{file}?via=mem:{id}", None),
    ],
    "DELETE /v1/artifacts/{artifact}": [("/v1/artifacts/{file}", None)],
    "GET /v1/artifacts/{artifact}/raw": [("/v1/artifacts/{file}/raw", None)],
    "GET /v1/agents/{agent}": [("/v1/agents/{beside}-agent", None)],
    "PUT /v1/agents/{agent}": [("/v1/agents/{beside}-other-agent", {"memory": {"age_decay": False}})],
    "DELETE /v1/admin/tenants/{id}": [("/v1/admin/tenants/{tenant}", None)],
    "POST /v1/slash": [("/v1/slash", {"text": "/mem entry #{id}", "conversation": "~ann/{beside}-talk"})],
}
#: What tells an owner who is no admin nothing of a memory: it is an admin's, or only counts.
UNTOLD = {route for route in ROUTES if "/api/v1/admin/" in route or route.endswith("/stats")}
#: Every command that an agent can write in its text; `agent` is whose notes they are about.
COMMANDS: dict[str, list[str]] = {
    "Help": ["/mem help"],
    "Entries": ["/mem entries", '/mem entries tag="{code} tag"'],
    "Entry": ["/mem entry #{id}"],
    "SearchEntries": ["/mem search {code}", "/mem search {code} --rerank"],
    "Expand": ["/mem expand #{id} 2"],
    "Density": ["/mem density #{id}"],
    "AddEntry": [
        "/mem add entry context mine --supersedes #{id}\nwords\n/endmem",
        "/mem add entry context mine --artifact #{file}\nwords\n/endmem",
    ],
    "AddLink": ["/mem add link #{id} supports #{other}", "/mem add link #{id} refines #{other}"],
    "Invalidate": ["/mem invalidate #{id}"],
    "JudgeEntry": ["/mem feedback #{id} useful {code}"],
    "WriteNotes": ["/mem write a note of {beside}", "/mem shared write a note"],
    "ReadNotes": ["/mem read"],
    "ReadSharedNotes": ["/mem shared read"],
    "ClearNotes": ["/mem clear", "/mem shared clear"],
    "ReadFile": ["/read #{file}", "/read #{file} via=mem:{id}"],
    "WriteFile": ["/write --persist {beside}.md\nwords\n/endwrite"],
}
#: Every tool of a face that is not simply an operation.
TOOLS: dict[str, list[dict[str, Any]]] = {
    "native memory_context": [{"question": "{code}", "max_tokens": 100_000}],
    "native memory_search": [{"question": "{code}", "limit": 100}, {"question": "thing:{code}"}],
    "native memory_get": [{"id": "{id}"}, {"id": "{id}", "as_of": "2026-03-01T12:00:00Z"}],
    "native memory_save": [{"content": "{code} content", "scope": "user", "entities": ["memory:{id}"]}],
    "native memory_update": [
        {"action": "revise", "id": "{id}", "content": "mine"},
        {"action": "retire", "id": "{id}"},
        {"action": "supersede", "id": "{id}", "content": "mine"},
        {"action": "relate", "id": "{id}", "relation": "supports", "target": "{other}"},
        {"action": "relate", "id": "own", "relation": "refines", "target": "{id}"},
        {"action": "useful", "id": "{id}", "question": "{code}"},
    ],
    "native memory_forget": [{"id": "{id}"}],
    "slayer save_memory": [
        {"learning": "mine", "linked_entities": ["memory:{id}"]},
        {"learning": "mine", "linked_entities": ["{beside}.orders"]},
    ],
    "slayer forget_memory": [{"id": "{id}"}],
    "slayer search": [
        {"question": "{code}", "entities": ["memory:{id}"]},
        {"question": "{code}", "max_results": 50},
        {"entities": ["{beside}.orders"], "datasource": "{beside}"},
    ],
    "slayer inspect_model": [{"model_name": "{beside}.orders"}],
    "slayer delete_model": [{"name": "orders", "data_source": "{beside}"}],
    "slayer delete_datasource": [{"name": "{beside}"}],
    "slayer edit_model": [{"model_name": "{beside}.orders", "remove": {"columns": ["amount"]}}],
    "slayer list_datasources": [{}],
    "slayer models_summary": [{}, {"datasource_name": "{beside}", "compact": False}],
    "slayer ingest_datasource_models": [{"path": "{beside}"}],
    "datamind memory_save": [
        {"content": "{code} content", "profile": "{tenant}"},
        {"content": "mine of {beside}", "scope": "session", "session_id": "~ann/{beside}-talk"},
    ],
    "datamind memory_recall": [
        {"query": "{code}", "top_k": 10, "include_archived": True},
        {"query": "{code}", "profile": "{tenant}"},
    ],
    "datamind memory_forget": [{"item_id": "{id}"}, {"item_id": "{id}", "hard": True}],
    "datamind memory_list_profiles": [{}],
    "checkstack ai.searchMemory": [{"query": "{code}", "limit": 50}],
    "checkstack ai.saveMemory": [{"scope": "user", "recallHint": "{code} hint", "content": "mine"}],
    "checkstack ai.deleteMemory": [{"id": "{id}"}, {"id": "{id}", "dryRun": True}],
    "checkstack ai.listMemories": [{}],
    "checkstack ai.setMemoryAlwaysInject": [{"id": "{id}", "alwaysInject": False}],
    "data_platform memory_manage": [
        {"command": "remember", "content": "mine and mine alone", "entity_urns": ["memory:{id}"]},
        {"command": "remember", "content": "mine of {beside}", "entity_urns": ["{beside}.orders"]},
        {"command": "update", "id": "{id}", "content": "mine and nobody else's"},
        {"command": "forget", "id": "{id}"},
        {"command": "list", "limit": 100, "filter_entity_urn": "thing:{code}"},
        {"command": "list", "limit": 100, "filter_status": "archived"},
        {"command": "review_stale"},
    ],
    "data_platform capture_insight": [
        {"category": "correction", "insight_text": "mine and mine alone", "entity_urns": ["memory:{id}"]},
        {"category": "correction", "insight_text": "mine of {beside}", "entity_urns": ["{beside}.orders"]},
    ],
    "data_platform recall_insight": [{"query": "{beside}", "limit": 50}],
    "data_platform apply_knowledge": [
        {"action": "bulk_review"},
        {"action": "review", "entity_urn": "thing:{code}"},
        {"action": "synthesize", "entity_urn": "{beside}.orders", "insight_ids": ["{id}"]},
        {"action": "approve", "insight_ids": ["{id}"]},
        {"action": "reject", "insight_ids": ["{id}"]},
        {"action": "rollback", "changeset_id": "1", "confirm": True},
        {"action": "list_changesets", "entity_urn": "thing:{code}"},
    ],
    "data_platform memory_recall": [
        {"query": "{code}", "limit": 50, "include_stale": True},
        {"query": "{code}", "strategy": "lexical"},
        {"query": "", "strategy": "graph", "entity_urns": ["thing:{code}", "memory:{id}", "{beside}.orders"]},
    ],
}
#: Every address that an agent can open.
RESOURCES = (
    "memory://context",
    "memory://overview",
    "memory://entry/{id}",
    "memory://entity/thing:{code}",
    "memory://entity/{beside}.orders",
)
#: Every operation on what a tenant shares, for those who are outside of it.
SHARED: dict[str, list[dict[str, Any]]] = {
    "impact": [
        {"sql": "ALTER TABLE orders DROP COLUMN amount", "datasource": "{beside}"},
        {"path": "{beside}"},
    ],
    "ingest": [{"path": "{beside}"}],
    "search": [{"question": "{beside}", "entities": ["{beside}.orders.amount"]}],
    "entities": [{"inside": "{beside}"}, {}],
    "inspect": [{"model": "{beside}.orders"}],
    "drop_entity": [{"entity": "{beside}.orders"}, {"entity": "{beside}"}],
    "prioritise": [{"datasources": ["{beside}"]}],
    "context": [{"question": "{beside}", "conversation": "~ann/{beside}-talk", "max_tokens": 100_000}],
    "attach": [
        {"answer": {"table": "{beside}.orders"}, "arguments": "select amount from {beside}.orders"},
        {"answer": "{beside} orders amount", "conversation": "~ann/{beside}-talk", "again": True},
    ],
    "turns": [{"conversation": "~ann/{beside}-talk"}],
    "clear_turns": [{"conversation": "~ann/{beside}-talk"}],
    "end_turn": [
        {"event": {"session_id": "{beside}-elsewhere", "hook_event_name": "Stop", "prompt": "mine"}}
    ],
    "note_turn": [{"content": "mine", "conversation": "{beside}-elsewhere"}],
    "register_conversation": [{"id": "{beside}-elsewhere"}],
    "conversations": [{}, {"agent": "{beside}-agent"}],
    "show_conversation": [{"id": "~ann/{beside}-talk"}],
    "share_conversation": [{"id": "~ann/{beside}-talk", "user": "eve"}],
    "unshare_conversation": [{"id": "~ann/{beside}-talk", "user": "ann"}],
    "delete_conversation": [{"id": "~ann/{beside}-talk"}],
    "write_artifact": [{"path": "plan.md", "content": "mine", "conversation": "~ann/{beside}-talk"}],
    "read_artifact": [{"id": "{file}"}, {"id": "{file}", "via": "{id}"}],
    "artifacts": [{}, {"conversation": "~ann/{beside}-talk"}],
    "delete_artifact": [{"id": "{file}"}],
    "remember": [{"content": "mine", "artifact": "{file}"}],
    "remember_many": [{"memories": [{"content": "mine", "artifact": "{file}"}], "dry_run": True}],
    "append_scratchpad": [{"content": "mine", "agent": "{beside}-other-agent"}],
    "read_scratchpad": [{"agent": "{beside}-agent"}],
    "scratchpads": [{}],
    "clear_scratchpad": [{"agent": "{beside}-agent"}],
    "show_agent": [{"agent": "{beside}-agent"}],
    "share_agent": [{"agent": "{beside}-other-agent", "user": "eve"}],
    "unshare_agent": [{"agent": "{beside}-other-agent", "user": "ann"}],
    "recall": [{"question": "{beside}", "agent": "{beside}-agent"}],
    "set_agent": [{"agent": "{beside}-other-agent", "decay": True}],
    "create_key": [{"tenant": "{tenant}"}, {"label": "mine", "tenant": "{tenant}", "user": "ann"}],
    "list_keys": [{}],
    "change_key": [{"id": "{key}", "label": "mine"}],
    "revoke_key": [{"id": "{key}"}],
    "waive_keys": [{}],
    "create_tenant": [{"name": "{tenant}"}],
    "list_tenants": [{}],
    "set_tenant": [{"members_retire": False}],
    "give_feedback": [{"id": "{id}", "verdict": "useful", "question": "{code}"}],
    "feedback": [{}, {"id": "{id}"}, {"question": "{beside}"}, {"user": "ann"}],
    "erase_tenant": [{"name": "{tenant}", "confirm": "{tenant}"}],
    "audit": [{"subject": "{key}"}, {"subject": "{beside}", "user": "ann"}],
    "approve": [{"id": "{id}"}],
    "reject": [{"id": "{id}"}],
    "plan": [{"entity": "{beside}.orders"}, {"entity": "{beside}", "memories": ["{id}"]}],
    "apply": [{"entity": "{beside}.orders"}],
    "roll_back": [{"id": "1"}],
    "changesets": [{}, {"id": "1"}, {"entity": "{beside}.orders"}],
}


@dataclass
class House:
    """A server with the owner's memories and workspace on it, and a key for everyone who comes."""

    server: Served
    world: World

    def key(self, caller: Caller) -> str:
        return self.server.make_key(
            tenant=caller.tenant,
            user=caller.user,
            personas=sorted(caller.personas),
            permissions=sorted(caller.permissions),
            systems=[f"{name}={grant}" for name, grant in caller.systems.items()],
            actor=caller.actor,
        )

    def browser(self, caller: Caller) -> httpx2.Client:
        return self.server.connect(self.key(caller), **_speaking_in(caller))

    def client(self, caller: Caller) -> Any:
        return connect(self.server.url, key=self.key(caller), conversation=caller.conversation)

    def agent(self, caller: Caller, face: str, introduce: Meet) -> Agent:
        site = Site(self.server.url, self.server.parts.door)
        return introduce(site.client(f"/mcp/{face}", key=self.key(caller), **_speaking_in(caller)))

    @cached_property
    def owner(self) -> OnRecord:
        return self.server.parts.door.as_caller(administrator("ann"))

    @cached_property
    def workspace(self) -> dict[str, str]:
        """What the owner's tenant shares that is no memory, by the names that the attempts have for it."""
        owner, talk, agent = self.owner, f"{BESIDE}-talk", f"{BESIDE}-agent"
        for datasource in (BESIDE, SECRET):
            write_model(self.world.folder, datasource, "orders", "id", "amount")
        self.world.door(administrator("ann")).ingest(str(self.world.folder))
        owner.register_conversation(talk, agent=agent, title=SECRET)
        owner.note_turn(SECRET, conversation=talk)
        # No stranger has so many files: none of theirs has the number of the last.
        files = [
            owner.write_artifact(f"{SECRET}-{number}.md", SECRET, conversation=talk) for number in range(30)
        ]
        for each in (agent, f"{SECRET}-agent", "shared"):
            owner.append_scratchpad(SECRET, agent=each)
        owner.set_agent(agent, decay=True)
        edit = {"entity": f"{BESIDE}.orders.amount", "field": "description", "value": SECRET}
        self.world.door(OWNER).remember(f"{SECRET} of {BESIDE}", id=INSIGHT, edits=[edit])
        key = owner.create_key(label=SECRET).key.id
        owner.revise(self.world.id("tenant", 1), artifact=files[-1].artifact.id)
        owner.set_tenant(keep_questions=True)
        self.world.door(OWNER).give_feedback(self.world.id("tenant", 1), "useful", f"{SECRET} {BESIDE}")
        return {"beside": BESIDE, "file": files[-1].artifact.id, "key": key, "tenant": HOME}

    def shared(self) -> str:
        """All of that as its owner sees it."""
        owner = self.owner
        told = [
            owner.conversations(),
            owner.turns(conversation=f"{BESIDE}-talk"),
            owner.artifacts(),
            owner.read_artifact(self.workspace["file"]),
            owner.read_scratchpad(f"{BESIDE}-agent"),
            owner.read_scratchpad(),
            owner.show_agent(f"{BESIDE}-agent"),
            [key for key in owner.list_keys().keys if key.label == SECRET],
            owner.entities(inside=BESIDE),
            owner.feedback(question=f"{SECRET} {BESIDE}"),
        ]
        return json.dumps(to_json(told))

    def hidden(self, scope: Scope) -> dict[str, str]:
        """What an attempt on a memory of a scope needs to know."""
        one, two = (self.world.id(scope, number) for number in (1, 2))
        with self.world.store.archive() as archive:
            edges = [edge.id for edge in archive.edges(Home(HOME)) if edge.source == one]
        edge = min(edges, default="0", key=int)
        return self.workspace | {"id": one, "other": two, "edge": edge, "code": f"zq{scope}"}

    @cached_property
    def ghost(self) -> dict[str, str]:
        """The same for what never was."""
        one, two = self.world.ghosts("tenant")
        word = one.content.split()[0]
        named = {"id": one.id, "other": two.id, "code": word, "beside": f"{word}beside"}
        return named | {"edge": "1000001", "file": "1000002", "key": "zqnokey0", "tenant": f"{word}tenant"}

    def ghost_like(self, scope: Scope) -> dict[str, str]:
        """What never was, with ids such as the memories of a scope have."""
        owns = "" if self.world.id(scope, 1) == self.world.name(scope, 1) else f"{OWNER.user}::"
        return self.ghost | {name: owns + self.ghost[name] for name in ("id", "other")}

    @contextmanager
    def knowing_meanings(self) -> Iterator[None]:
        """The server finds what means the same, too."""
        door = self.server.parts.door
        plain, door._embedders = door._embedders, StubEmbedders(self.world.stub)
        yield
        door._embedders = plain

    def sweep(self, *kept: str) -> None:
        """What strangers saved is gone before the next one asks."""
        of_the_owner = {self.world.id(scope, number) for scope in SCOPES for number in (1, 2)} | {
            f"{OWNER.user}::{INSIGHT}"
        }
        for tenant in {each.caller.tenant for each in STRANGERS.values()}:
            door = self.server.parts.door.as_caller(administrator(tenant=tenant))
            for memory in door.browse(limit=1_000, statuses=STATUSES).memories:
                is_owners = memory.tenant != tenant or (tenant == HOME and memory.id in of_the_owner)
                if not is_owners and memory.id not in kept:
                    door.forget(memory.id)
            if tenant != HOME:
                # What it took in from an export of the owner's is its own; the next one shall not find it there.
                self._drop_workspace(tenant)

    def _drop_workspace(self, tenant: str) -> None:
        store: Any = self.server.parts.store
        with store._backend.writing() as connection:
            number = store._tenants.look_up(connection, tenant)
            for table in WORKSPACE:
                connection.execute(delete(table).where(table.c.tenant == number))

    def held(self, stranger: Stranger) -> Any:
        memories = self.world.held(stranger.hidden)
        return memories, self.shared() if stranger.caller.tenant != HOME else None


def tried_in(stranger: Stranger) -> Sequence[Scope]:
    """The scopes whose memories a stranger tries to get at; from another tenant all are closed in the same way."""
    return stranger.hidden if stranger.caller.tenant == HOME else ("tenant", "user", "session")


def comer(who: str) -> Caller:
    """A stranger; from another tenant it comes in no conversation, in which it could name any."""
    caller = STRANGERS[who].caller
    return caller if caller.tenant == HOME else caller.inside(None)


def _speaking_in(caller: Caller) -> dict[str, str]:
    return {"OnRecord-Conversation": caller.conversation} if caller.conversation else {}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    server = Served(db=str(folder / "served.db"), embedder="none", user="root", worker="no", sources="none")
    house = House(server, World(server.parts.store, Clock(), folder))
    _ = house.workspace
    yield house
    server.stop()


@pytest.fixture(autouse=True)
def _swept(house: House) -> None:
    house.sweep()


def filled(template: Any, fields: Fields) -> Any:
    """A question with the names of what is asked about."""
    if isinstance(template, str):
        return FIELD.sub(lambda name: fields[name[1]], template)
    if isinstance(template, dict):
        return {name: filled(value, fields) for name, value in template.items()}
    if isinstance(template, list):
        return [filled(each, fields) for each in template]
    return template


def named_in(template: Any) -> set[str]:
    return set(FIELD.findall(json.dumps(template)))


def plain(text: str, asked: set[str], fields: Fields, *, numbered: bool) -> str:
    """An answer without the names that were asked for, and without the time of now."""
    for name in sorted(asked, key=lambda each: -len(fields[each])):
        # People are shown their own ids without their name.
        for spelling in (fields[name], fields[name].rpartition("::")[2]):
            text = re.sub(rf"(?<![^\W_]){re.escape(spelling)}(?![^\W_])", f"<{name}>", text)
    text = MOMENT.sub("…", text)
    return re.sub(r"\d+", "#", text) if numbered else text


@dataclass
class Attempt:
    """One question, what it is one of, and what is told to whoever asks it."""

    name: str
    template: Any
    ask: Callable[[Any], str]

    def __str__(self) -> str:
        return f"{self.name} {self.template}"

    @property
    def is_for(self) -> set[str]:
        return named_in(self.template)

    def scopes(self, hidden: Sequence[Scope]) -> Sequence[Scope]:
        """Those in which it asks for something else each time."""
        return hidden if self.is_for & OF_A_MEMORY else hidden[: bool(self.is_for)]

    def told(self, fields: Fields) -> tuple[str, str]:
        """The very answer, and what is left of it to compare."""
        raw = self.ask(filled(self.template, fields))
        return raw, plain(raw, self.is_for, fields, numbered=self.name in NUMBERED)


def faults_of(house: House, who: str, attempts: Sequence[Attempt]) -> list[str]:
    """Whatever a stranger learned or changed by these."""
    stranger = STRANGERS[who]
    is_abroad = stranger.caller.tenant != HOME
    secrets = [f"zq{scope}" for scope in stranger.hidden] + ([SECRET] if is_abroad else [])
    before = house.held(stranger)
    since: list[str] = []
    faults: list[str] = []
    attempts = [each for each in attempts if is_abroad or not each.is_for & OF_THE_TENANT]
    for attempt in attempts:
        expected: dict[str, str] = {}
        for scope in attempt.scopes(tried_in(stranger)):
            ghost = house.ghost_like(scope)
            if ghost["id"] not in expected:
                raw, expected[ghost["id"]] = attempt.told(ghost)
                faults += [f"{attempt} tells of {word}: {raw}" for word in secrets if word in raw]
            if attempt.name in NUMBERED:
                house.sweep("own")
            _, answer = attempt.told(house.hidden(scope))
            if answer != expected[ghost["id"]]:
                faults.append(f"{attempt} on {scope}: {answer} instead of {expected[ghost['id']]}")
        if attempt.name in NUMBERED:
            house.sweep("own")
        since.append(f"{attempt}")
        if len(since) == LOOKED_AFTER or attempt is attempts[-1]:
            before, since, faults = looked(before, house.held(stranger), since, faults)
    return faults


def looked(before: Any, now: Any, since: list[str], faults: list[str]) -> tuple[Any, list[str], list[str]]:
    """What is there now, and whether anything of it was changed since the last look."""
    return now, [], faults + ([f"one of these changed something: {since}"] if now != before else [])


def unseen_by_the_owner(house: House, attempts: Sequence[Attempt]) -> list[str]:
    """Those attempts that tell even the owner nothing, and so prove nothing."""
    ghost = house.ghost
    of_memories = [SECRET, *(f"zq{scope}" for scope in SCOPES)]
    blind = []
    for attempt in attempts:
        # Every page has the name of the tenant in its head.
        secrets = of_memories if attempt.name in PAGES_ASKED else [*of_memories, HOME]
        raw, nothing = attempt.told(ghost)
        differs = any(attempt.told(house.hidden(scope))[1] != nothing for scope in attempt.scopes(SCOPES))
        if not differs and not any(word in raw for word in secrets):
            blind.append(f"{attempt}")
    return blind


class Tools:
    """The methods of a door, each by the tool of its name."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = BY_NAME[name]

        def call(*given: Any, **named: Any) -> Any:
            arguments = to_json(read_arguments(operation, given, named))
            try:
                result = self._agent.call(name.rstrip("_"), **arguments)
            except MCPError as problem:
                raise NotFound(str(problem)) from None
            if result.is_error:
                # Tools tell their reason, and not its kind.
                raise NotFound(said(result))
            return from_json(operation.answer, result.structured_content)

        return call


def operations_tried(house: House, who: str, door: Any, *, most: int = len(SCOPES)) -> list[str]:
    """Whatever a stranger learned or changed by the operations, in so many of the scopes that are hidden from it."""
    stranger, world = STRANGERS[who], house.world
    since: list[str] = []
    faults: list[str] = []
    secrets = [f"zq{scope}" for scope in stranger.hidden]
    before = world.held(stranger.hidden)
    for name, attempt in ATTEMPTS.items():
        if "." in name.split(":")[0]:
            continue
        nothing = MOMENT.sub("…", outcome(attempt, Try(world, door, *world.ghosts(stranger.hidden[0]))))
        faults += [f"{name} tells of {word}: {nothing}" for word in secrets if word in nothing]
        if name in TAKEN and stranger.chose_ids:
            nothing = "The id zqghost.1 cannot be used here. Choose another, or leave it out."
        for scope in tried_in(stranger)[:most]:
            answer = MOMENT.sub("…", outcome(attempt, Try(world, door, *world.kept[scope])))
            if answer != nothing and not (name in TAKEN and answer.endswith(nothing)):
                faults.append(f"{name} on {scope}: {answer} instead of {nothing}")
        since.append(name)
        if len(since) == LOOKED_AFTER or name == [*ATTEMPTS][-1]:
            before, since, faults = looked(before, world.held(stranger.hidden), since, faults)
    return faults


def shared_attempts(door: Any, tried: Mapping[str, list[dict[str, Any]]] = SHARED) -> Iterator[Attempt]:
    for name, templates in tried.items():

        def ask(fields: dict[str, Any], name: str = name) -> str:
            try:
                return json.dumps(to_json(getattr(door, name)(**fields)))
            except OnRecordError as problem:
                return f"{type(problem).__name__}: {problem}"

        yield from (Attempt(name, template, ask) for template in templates)


def route_attempts(browser: httpx2.Client, *, reads: bool = False) -> Iterator[Attempt]:
    for route, templates in ROUTES.items():
        method = route.split()[0]
        if reads and (route in UNTOLD or not (method == "GET" or route == "POST /search")):
            continue

        def ask(template: list[Any], method: str = method) -> str:
            path, body = template
            came = browser.request(method, path, **({} if body is None else {"json": body}))
            headers = {name: value for name, value in came.headers.items() if name not in PASSING}
            try:
                told = came.json()
            except ValueError:
                told = came.text
            if isinstance(told, dict):
                told.pop("request", None)
            return json.dumps([came.status_code, told, sorted(headers.items())])

        yield from (Attempt(route, list(template), ask) for template in templates)


#: Pages by what stands in their address, and the forms that they take: what leads to another's memory, conversation or file.
PAGES_ASKED: Final[dict[str, list[list[Any]]]] = {
    "/": [
        ["/?question={code}", None],
        ["/?question={code}+content&scopes=user&scopes=session", None],
        *(
            ["/", {"act": f"judge_{verdict}", "id": "{id}", "question": "which?"}]
            for verdict in ("useful", "not_useful", "none")
        ),
    ],
    "/memory": [["/memory", None], ["/memory?tags={code}+tag&entities=thing:{code}", None]],
    "/memory/{id}": [
        ["/memory/{id}", None],
        ["/memory/{id}?known_at=2026-03-01T12:00:00.5Z", None],
        ["/memory/{id}", {"act": "revise", "content": "mine"}],
        ["/memory/{id}", {"act": "verify"}],
        ["/memory/{id}", {"act": "always", "always_inject": "true"}],
        ["/memory/{id}", {"act": "pin", "conversation": "mine"}],
        ["/memory/{id}", {"act": "relate", "relation": "supports", "target": "own"}],
        ["/memory/own", {"act": "relate", "relation": "supports", "target": "{id}"}],
        [
            "/memory/own",
            {"act": "unrelate", "source": "{id}", "relation": "supports", "target": "{other}"},
        ],
        ["/memory/{id}", {"act": "share", "scope": "tenant"}],
        ["/memory/{id}", {"act": "add_check", "kind": "entity", "entity": "thing:mine"}],
        ["/memory/{id}", {"act": "approve_check", "number": "1"}],
        ["/memory/{id}", {"act": "drop_check", "number": "1"}],
        ["/memory/{id}", {"act": "check"}],
        ["/memory/{id}", {"act": "observe"}],
        ["/memory/{id}", {"act": "retire", "reason": "mine"}],
        ["/memory/{id}", {"act": "try_forgetting"}],
        ["/memory/{id}", {"act": "forget", "sure": "yes"}],
    ],
    "/compare": [
        ["/compare?since=2026-02-01", None],
        ["/compare?of=catalog&since=2026-02-01", None],
    ],
    "/conversation": [["/conversation", None], ["/conversation?name={beside}", None]],
    "/conversation/{id:path}": [
        ["/conversation/~ann/{beside}-talk", None],
        ["/conversation/~ann/{beside}-talk", {"act": "share", "user": "eve"}],
        ["/conversation/~ann/{beside}-talk", {"act": "unshare", "user": "ann"}],
        ["/conversation/~ann/{beside}-talk", {"act": "delete"}],
    ],
    "/artifact/{id}": [["/artifact/{file}", None], ["/artifact/{file}", {"act": "delete"}]],
    "/artifact/{id}/raw": [["/artifact/{file}/raw", None], ["/artifact/{file}/raw?via={id}", None]],
    "/scratchpad/{agent:path}": [
        ["/scratchpad/{beside}-agent", None],
        ["/scratchpad/{beside}-agent", {"act": "append", "content": "mine"}],
        ["/scratchpad/{beside}-agent", {"act": "clear"}],
    ],
    "/context": [
        ["/context?question={code}", None],
        ["/context?conversation=~ann/{beside}-talk", None],
    ],
    "/memory/new": [
        ["/memory/new?again={id}", None],
        ["/memory/new", {"act": "try_saving", "content": "mine", "entities": "memory:{id}"}],
        ["/memory/new", {"act": "save", "content": "mine", "artifact": "{file}"}],
    ],
    "/compare/moments": [["/compare/moments", None]],
    "/graph": [
        ["/graph?memory={id}", None],
        ["/graph?question={code}", None],
        ["/graph?entity=thing:{code}", None],
    ],
    "/mine": [["/mine", None], ["/mine", {"act": "always", "id": "{id}", "always_inject": "true"}]],
    "/mine/systems": [
        ["/mine/systems?system=crm", None],
        ["/mine/systems", {"act": "always", "id": "{id}", "always_inject": "true"}],
    ],
    "/embed/system/{id}": [["/embed/system/crm", None]],
    "/confirm/{code}": [["/confirm/{code}", None], ["/confirm/{code}", {"act": "yes", "shown": "mine"}]],
    "/mine/insights": [["/mine/insights", None]],
    "/catalog": [["/catalog", None]],
    "/catalog/source": [["/catalog/source?name={beside}", None]],
    "/catalog/model": [
        ["/catalog/model?name={beside}.orders", None],
        ["/catalog/model?name={beside}.orders&known_at=2100-01-01", None],
    ],
    "/catalog/undocumented": [["/catalog/undocumented", None]],
    "/catalog/changes": [["/catalog/changes", None], ["/catalog/changes?known_at=2100-01-01", None]],
    "/catalog/impact": [["/catalog/impact", {"act": "ask", "sql": "DROP TABLE orders"}]],
    "/catalog/ingest": [
        ["/catalog/ingest", None],
        ["/catalog/ingest", {"act": "ingest", "path": "{beside}"}],
    ],
    "/review": [
        ["/review", None],
        ["/review?known_at=2100-01-01", None],
        ["/review", {"act": "approve", "id": "{id}"}],
        ["/review", {"act": "correct", "id": "{id}", "content": "mine"}],
        ["/review", {"act": "reject", "id": "{id}", "reason": "mine"}],
        ["/review", {"act": "advise", "id": "{id}"}],
        ["/review", {"act": "observe", "id": "{id}"}],
        ["/review", {"act": "approve_many", "chosen": "{id} 1"}],
        ["/review", {"act": "reject_many", "chosen": "{id} 1", "reason": "mine"}],
    ],
    "/review/renames": [
        ["/review/renames", None],
        ["/review/renames", {"act": "accept", "entities": "{beside}.orders.amount", "to": "mine"}],
    ],
    "/changeset": [["/changeset", None], ["/changeset?entity={beside}.orders", None]],
    "/changeset/{id}": [["/changeset/1", None], ["/changeset/1", {"act": "roll_back", "reason": "mine"}]],
    "/plan": [
        ["/plan?entity=thing:{code}", None],
        ["/plan?entity={beside}.orders&memories={id}", None],
        ["/plan?entity={beside}.orders", {"act": "apply"}],
    ],
    "/operate": [
        ["/operate", None],
        ["/operate", {"act": "doctor", "fix": "true"}],
        ["/operate", {"act": "reindex"}],
        ["/operate", {"act": "embed"}],
        ["/operate", {"act": "dismiss"}],
    ],
    "/operate/export": [["/operate/export", {"act": "export"}]],
    "/operate/keys": [
        ["/operate/keys?key={key}", None],
        ["/operate/keys", {"act": "change", "id": "{key}", "label": "mine"}],
        ["/operate/keys", {"act": "revoke", "id": "{key}"}],
    ],
    "/operate/tenants": [
        ["/operate/tenants", None],
        ["/operate/tenants", {"act": "set", "agents_share": "true"}],
        ["/operate/tenants", {"act": "create", "name": "{tenant}"}],
        ["/operate/tenants", {"act": "erase", "name": "{tenant}", "confirm": "{tenant}"}],
    ],
    "/operate/audit": [["/operate/audit?subject={id}", None], ["/operate/audit?user=ann", None]],
    "/sign-out": [["/sign-out", None]],
    "/connect": [["/connect", None]],
}
#: Forms that name nothing of anybody, and make something new each time.
MAKING_NEW: Final = {
    ("/", "load_demo"),
    ("/", "remove_demo"),
    ("/operate/keys", "create"),
    ("/sign-out", "here"),
    ("/sign-out", "everywhere"),
    ("/confirm/{code}", "no"),
}
#: Pages that tell an owner who is no admin nothing of what is kept: they are for others, or about something else.
UNTOLD_PAGES: Final = {
    "/connect",
    "/sign-out",
    "/confirm/{code}",
    "/compare/moments",
    "/review",
    "/catalog/ingest",
    "/operate",
    "/changeset",
    "/plan",
}
#: What differs between two pages that say the same: the proof of a form, the number of the request, the port, the key, and
#: how long it took.
_OF_THE_PAGE: Final = re.compile(
    r'(?<=name="form_token" value=")[^"]*|(?<=Request )[0-9a-f]{32}|(?<=127\.0\.0\.1:)\d+|[\d.]+(?= ms)|(?<=<td class="number">)\d+\.\d\d(?=</td>)|(?<=<dt>Key</dt><dd>)\w+'
)


def page_attempts(browser: httpx2.Client, *, reads: bool = False) -> Iterator[Attempt]:
    """Pages and their forms, sent as a browser sends them."""
    found = re.search(r'name="form_token" value="([^"]*)"', browser.get("/memory/new").text)
    # Who may change nothing is shown no form.
    assert found or "memory.manage" not in browser.get("/sign-out").text, "else every form is refused alike"
    proof = found[1] if found else ""

    def ask(template: list[Any]) -> str:
        path, form = template
        if form is None:
            came = browser.get(path)
        else:
            came = browser.post(path, data={**form, "form_token": proof})
        # Addresses name what was asked for as it is.
        return _OF_THE_PAGE.sub(
            "…", unquote(f"{came.status_code} {came.headers.get('location')} {came.text}")
        )

    for page, templates in PAGES_ASKED.items():
        for template in templates:
            if not (reads and template[1] is not None):
                yield Attempt(page, template, ask)


def command_attempts(browser: httpx2.Client, *, reads: bool = False) -> Iterator[Attempt]:
    # The help is the same for everyone.
    no_reads = {
        "AddEntry",
        "AddLink",
        "Invalidate",
        "JudgeEntry",
        "WriteNotes",
        "ClearNotes",
        "WriteFile",
        "Help",
    }

    def ask(template: dict[str, Any]) -> str:
        return browser.post("/v1/slash", json=template).text

    for command, texts in COMMANDS.items():
        if not (reads and command in no_reads):
            for text in texts:
                agent = {"agent": "{beside}-agent"} if "Notes" in command else {}
                yield Attempt(command, {"text": text, **agent}, ask)


def tool_attempts(
    agent: Agent, face: str, tried: Mapping[str, list[dict[str, Any]]] = TOOLS, *, reads: bool = False
) -> Iterator[Attempt]:
    effects = {tool.name: tool.operation.effect for tool in FACES[face]}
    for name, templates in tried.items():
        its_face, _, tool = name.partition(" ")
        if its_face != face or (reads and effects[tool] != "read"):
            continue

        def ask(arguments: dict[str, Any], tool: str = tool) -> str:
            try:
                result = agent.call(tool, **arguments)
            except MCPError as problem:
                return str(problem)
            return json.dumps([result.is_error, said(result), result.structured_content])

        yield from (Attempt(name, template, ask) for template in templates)
    for uri in RESOURCES:
        yield Attempt("resource", uri, lambda address: _opened(agent, address))


def _opened(agent: Agent, uri: str) -> str:
    try:
        return agent.read(uri)
    except MCPError as problem:
        return str(problem)


# What is tried


def test_every_operation_has_an_attempt() -> None:
    tried = {name.split(":")[0] for name in ATTEMPTS if "." not in name.split(":")[0]}
    assert tried == set(BY_NAME)


def test_every_operation_on_what_a_tenant_shares_has_an_attempt() -> None:
    kinds = ("workspace", "access", "catalog", "context")
    shared = {each.name for each in OPERATIONS if each.request.__module__.split(".")[1] in kinds}
    assert shared
    assert shared <= set(SHARED)


def test_every_route_of_a_face_has_an_attempt() -> None:
    there = {
        f"{route.method} {route.path.replace(':path', '')}" for http in of_faces() for route in http.routes
    }
    assert there == set(ROUTES)


def test_every_command_in_a_text_has_an_attempt(house: House) -> None:
    there = {kind.__name__ for kind in get_args(Command)} - {RefusedCommand.__name__}
    assert there == set(COMMANDS)
    fields = house.ghost
    for command, texts in COMMANDS.items():
        assert {type(each).__name__ for text in texts for each in commands(filled(text, fields))} == {command}


def test_every_tool_has_an_attempt() -> None:
    there = {f"{face} {tool.name}" for face, tools in FACES.items() if face != "full" for tool in tools}
    assert there == set(TOOLS)


def test_every_resource_has_an_attempt() -> None:
    there = [str(each.uri) for each in resources.listed(OWNER)]
    there += [each.uri_template for each in resources.templates(OWNER)]
    assert {each.split("{")[0] for each in there} == {re.split(r"thing:|\{", each)[0] for each in RESOURCES}


def test_every_page_and_every_form_has_an_attempt(house: House) -> None:
    runner: Any = SimpleNamespace(store=house.server.parts.store)
    of_server = (*operate.pages(RecentRequests()), *connecting.pages(load(), ComingIn()))
    of_runner = (sign_in.sign_out_page(runner), confirm.page(runner, {}))
    pages = (*web.PAGES, *web.EMBEDDED, *of_server, *of_runner)
    assert {page.path for page in pages} == set(PAGES_ASKED)
    forms = {(page.path, act) for page in pages for act in page.acts}
    tried = {(path, form["act"]) for path, asked in PAGES_ASKED.items() for _, form in asked if form}
    assert tried | MAKING_NEW == forms
    assert not tried & MAKING_NEW


def test_the_owner_sees_what_strangers_do_not(house: House, introduce: Meet) -> None:
    """Else all of this would prove nothing."""
    outside = OWNER.inside(None)
    with house.browser(outside) as browser, house.client(OWNER) as client:
        attempts = [*route_attempts(browser, reads=True), *command_attempts(browser, reads=True)]
        untold = tuple(UNTOLD_PAGES)
        attempts += [each for each in page_attempts(browser, reads=True) if not each.name.startswith(untold)]
        for face in FACES:
            if face != "full":
                agent = house.agent(outside, face, introduce)
                attempts += tool_attempts(agent, face, reads=True)
        blind = unseen_by_the_owner(house, attempts)
        for scope in SCOPES:
            trial = Try(house.world, client, *house.world.kept[scope])
            for name in (
                "recall",
                "show",
                "browse",
                "neighbours",
                "history",
                "diff",
                "search",
                "context",
                "attach",
            ):
                told = outcome(ATTEMPTS[name], trial)
                if "zqghost" not in told and told != "True":
                    blind.append(f"{name} on {scope}: {told}")
    none_of(blind)


# What comes of it


@pytest.mark.parametrize("who", STRANGERS if SOAKING else DISTINCT[1:5])
def test_by_the_client_a_stranger_finds_nothing_and_changes_nothing(house: House, who: str) -> None:
    with house.knowing_meanings(), house.client(STRANGERS[who].caller) as client:
        # One of them in every scope that is hidden, the others in one.
        most = len(SCOPES) if SOAKING or who == DISTINCT[1] else 1
        none_of(operations_tried(house, who, client, most=most))


@pytest.mark.parametrize("who", FEW if SOAKING else FEW[1:])
def test_by_the_tools_of_the_operations_a_stranger_finds_nothing_and_changes_nothing(
    house: House, introduce: Meet, who: str
) -> None:
    tools = Tools(house.agent(STRANGERS[who].caller, "full", introduce))
    with house.knowing_meanings():
        none_of(operations_tried(house, who, tools, most=1))


@pytest.mark.parametrize("who", ABROAD if SOAKING else FEW[:1])
def test_what_a_tenant_shares_is_not_there_for_another(house: House, introduce: Meet, who: str) -> None:
    caller = comer(who)
    tools = Tools(house.agent(caller, "full", introduce))
    with house.client(caller) as client:
        none_of(faults_of(house, who, [*shared_attempts(client)]))
    none_of(faults_of(house, who, [*shared_attempts(tools)]))


@pytest.mark.parametrize("who", DISTINCT if SOAKING else DISTINCT[1:5])
def test_by_the_routes_of_the_faces_a_stranger_finds_nothing_and_changes_nothing(
    house: House, who: str
) -> None:
    with house.browser(comer(who)) as browser:
        own(browser)
        attempts = [*route_attempts(browser), *command_attempts(browser), *page_attempts(browser)]
        none_of(faults_of(house, who, attempts))


@pytest.mark.parametrize("face", [face for face in FACES if face != "full"])
@pytest.mark.parametrize("who", DISTINCT if SOAKING else FEW)
def test_by_the_tools_of_the_faces_a_stranger_finds_nothing_and_changes_nothing(
    house: House, introduce: Meet, who: str, face: str
) -> None:
    agent = house.agent(comer(who), face, introduce)
    with house.browser(comer(who)) as browser:
        own(browser)
    none_of(faults_of(house, who, [*tool_attempts(agent, face)]))


def none_of(faults: Sequence[str]) -> None:
    assert not faults, "\n".join(faults)


def own(browser: httpx2.Client) -> None:
    """A memory of the stranger's own, to join to what is another's."""
    browser.post("/v1/memories", json={"content": "an own note", "id": "own", "scope": "user"})
