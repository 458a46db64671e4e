"""WHAT does a member of the tenant learn of another's own? Nothing, by any operation, route, tool or command.

There are two servers. At one a person keeps something of every sort; at the other she has erased all of it again. Whoever
may not see it asks both the same, one question after the other: the answers are equal to the letter, apart from times, and
come by the same statements.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import psycopg
import pytest

from onrecord.errors import NotFound
from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.limits import STATUSES
from onrecord.model.memory import Memory
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.faces import FACES
from onrecord.testing.builders import HOME, Clock, person
from onrecord.testing.executed_statements import executed_statements
from onrecord.testing.strangers import OWNER, World
from tests.databases import BACKENDS
from tests.schemas import address, new_schema
from tests.soak import SOAKING, some

from .conftest import Served
from .test_isolation import (
    BESIDE,
    BY_NAME,
    MOMENT,
    OF_A_MEMORY,
    SECRET,
    SHARED,
    TOOLS,
    Attempt,
    House,
    Meet,
    Tools,
    command_attempts,
    filled,
    none_of,
    own,
    page_attempts,
    route_attempts,
    shared_attempts,
    tool_attempts,
)
from .test_mcp import introduce

__all__ = ["introduce"]
TALK, AGENT = f"{BESIDE}-talk", f"{BESIDE}-agent"
#: Her conversation, as others name it.
HERS: Final = f"~ann/{TALK}"
#: What a member asks of memories, in every way that names another's memory, conversation, agent or file.
MEMORIES: Final[dict[str, list[dict[str, Any]]]] = {
    "remember_many": [
        {
            "memories": [
                {"content": "mine", "artifact": "{file}"},
                {"content": "{code} content", "scope": "user"},
                {"content": "instead", "supersedes": ["{id}"]},
                {"content": "mine", "id": "{name}", "scope": "user"},
                {"content": "mine", "entities": ["memory:{id}"]},
            ],
            "on_fault": "skip",
            "dry_run": True,
        }
    ],
    "remember": [
        {"content": "mine", "artifact": "{file}"},
        {"content": "{code} content", "scope": "user"},
        {"content": "{code} mine", "hint": "{code} hint", "scope": "user"},
        {"content": "instead", "supersedes": ["{id}"]},
        {"content": "mine", "id": "{id}"},
        *({"content": "mine", "id": "{name}", "dry_run": True, **more} for more in ({}, {"scope": "user"})),
        {"content": "mine", "id": "{name}", "review": True, "dry_run": True},
        {"content": "mine", "id": "{name}", "supersedes": ["{name}"]},
        {"content": "mine", "id": "{name}"},
        {"content": "mine", "id": "::{name}", "scope": "user"},
        {"content": "mine", "id": "ann::{name}", "dry_run": True},
        {"content": "mine", "hint": "{code} hint", "by_hint_alone": True, "alike": "keep"},
        {"content": "mine", "edits": [{"entity": "thing:{code}", "field": "description", "value": "mine"}]},
        {"content": "mine", "entities": ["memory:{id}"]},
        {"content": "mine there", "conversation": "~ann/{beside}-talk"},
        {"content": "mine there", "scope": "session", "conversation": "~ann/{beside}-talk"},
        {"content": "mine there", "scope": "session", "conversation": "{beside}-talk"},
        {"content": "mine", "scope": "persona", "persona": "chef"},
        {"content": "mine", "scope": "system", "system": "crm"},
        {"content": "mine", "agent": "{beside}-agent", "auto_tag": "yes", "auto_supersede": "yes"},
    ],
    "extract": [
        {"user_turn": "{code} is mine", "conversation": "~ann/{beside}-talk", "agent": "{beside}-agent"},
        {"user_turn": "{code} is mine", "scope": "tenant", "agent": "{beside}-agent"},
    ],
    "end_turn": [
        {
            "event": {
                "session_id": "~ann/{beside}-talk",
                "hook_event_name": "Stop",
                "prompt": "{code} is mine",
            },
            "agent": "{beside}-agent",
        },
    ],
    "judge": [{"id": "{id}"}, {"id": "::{name}"}, {"id": "{id}", "advisor": "no"}],
    "note_turn": [
        {
            "content": "mine",
            "role": "assistant",
            "conversation": "~ann/{beside}-talk",
            "agent": "{beside}-agent",
            "extract": "yes",
        }
    ],
    "recall": [
        {"question": "{code}", "limit": 100},
        {"question": "{code} content hint", "limit": 100, "explain": True, "statuses": list(STATUSES)},
        {"question": "thing:{code}", "recipe": "entity"},
        {"question": "{code}", "recipe": "lexical", "known_at": "2026-03-01T12:00:00.5Z"},
        {"question": "{beside}", "conversation": "~ann/{beside}-talk", "agent": "{beside}-agent"},
        {"question": "{beside}", "conversation": "~ann/{beside}-talk", "conversation_places": 5},
        {"question": "zqtenant", "agent": "{beside}-agent"},
        {
            "question": "{code}",
            "only_tags": ["{code} tag"],
            "only_entities": ["thing:{code}"],
            "min_relevance": 0.0,
        },
        {"question": "{beside}", "elsewhere": True, "conversation": "~ann/{beside}-talk"},
        {"question": "{beside} {code}", "only_verified": True, "background": True, "limit": 100},
        {
            "question": "{code}",
            "entities": ["{beside}.orders"],
            "lineage": 2,
            "proposal": "any",
            "limit": 100,
        },
    ],
    "give_feedback": [
        {"id": "{id}", "verdict": "useful", "question": "{code}"},
        {"id": "{id}", "verdict": "none", "question": "{beside}"},
    ],
    "feedback": [{}, {"id": "{id}"}, {"question": "{beside}", "user": "ann"}],
    "show": [
        {"id": "{id}"},
        {"id": "{id}", "known_at": "2026-03-01T12:00:00.5Z"},
        {"id": "{id}", "rights": True, "background": True},
        {"id": "::{name}", "as_of": "2026-03-01T12:00:00Z"},
        {"id": World.id("tenant", 2), "rights": True, "background": True},
    ],
    "browse": [
        {"statuses": list(STATUSES), "limit": 1_000},
        {"conversation": "~ann/{beside}-talk"},
        {"tags": ["{code} tag"], "entities": ["thing:{code}"]},
        {"system": "crm", "scopes": ["system", "session", "user", "persona"]},
        {"known_at": "2026-03-01T12:00:00.5Z", "limit": 1_000},
        {"check_states": ["verified", "failed"], "count": True, "limit": 1_000},
        {"owners": ["ann"], "persona": "chef", "order": "oldest", "count": True, "limit": 1_000},
        {"as_of": "2026-03-01T12:00:00Z", "unpinned": True, "count": True, "limit": 1_000},
    ],
    "tally": [
        {"by": "scope", "known_at": "2026-03-01T12:00:00.5Z"},
        {"by": "kind", "check_states": ["verified"]},
        {"by": "tag"},
        {"by": "entity", "entities": ["thing:{code}"]},
        {"by": "owner", "conversation": "~ann/{beside}-talk"},
        {"by": "status", "conversation": "~ann/{beside}-talk"},
    ],
    "plan": [{"entity": "thing:{code}"}, {"entity": "thing:{code}", "memories": ["{id}"]}],
    "apply": [{"entity": "thing:{code}", "memories": ["{id}"]}],
    "roll_back": [{"id": "1"}],
    "changesets": [{}, {"entity": "thing:{code}"}],
    "impact": [
        {"sql": "DROP TABLE orders"},
        {"sql": "ALTER TABLE orders DROP COLUMN amount", "datasource": "{beside}"},
    ],
    "renames": [{}],
    "accept_renames": [{}, {"entities": ["thing:{code}"]}],
    "add_check": [{"id": "{id}", "kind": "entity", "entity": "thing:{code}"}],
    "approve_check": [{"id": "{id}", "number": 1}],
    "drop_check": [{"id": "{id}", "number": 1}],
    "check": [{"id": "{id}"}, {"all": True}, {"queries": True}],
    "checks": [{"id": "{id}"}],
    "register_conversation": [{"id": "~ann/{beside}-talk", "agent": "{beside}-agent"}],
    "revise": [
        {"id": "{id}", "content": "mine"},
        {"id": "::{name}", "content": "mine"},
        {"id": "own", "entities": ["memory:::{name}"]},
        {"id": "own", "conversation": "~ann/{beside}-talk"},
        {"id": "own", "artifact": "{file}"},
    ],
    "retire": [{"id": "{id}"}, {"id": "::{name}"}],
    "forget": [{"id": "{id}", "dry_run": True}, {"id": "{id}"}, {"id": "::{name}"}, {"id": "{name}"}],
    "relate": [
        {"source": "{id}", "relation": "refines", "target": "own"},
        {"source": "own", "relation": "refines", "target": "{id}"},
        {"source": "own", "relation": "refines", "target": "::{name}"},
    ],
    "unrelate": [{"source": "{id}", "relation": "supports", "target": "{other}"}],
    "remove_relation": [{"id": "{edge}"}],
    "relations": [
        {"source": "{id}"},
        {"source": "::{name}"},
        {"target": "{other}"},
        {"target": World.id("tenant", 2)},
    ],
    "neighbours": [{"id": "{id}"}, {"id": "::{name}"}, {"id": World.id("tenant", 2), "depth": 4}],
    "history": [{"id": "{id}"}, {"id": "::{name}"}],
    "diff": [{"since": "2026-02-01", "limit": 1_000}],
    "moments": [{"limit": 1_000}],
    "entities": [
        {"references": True, "limit": 100},
        {"inside": "{beside}", "references": True, "undocumented": True},
        {"inside": "{beside}", "known_at": "2100-01-01", "references": True},
    ],
    "inspect": [
        {"model": "{beside}.orders", "lineage_depth": 2},
        {"model": "{beside}.orders", "known_at": "2100-01-01"},
    ],
    "search": [
        {"question": "{code}", "entities": ["thing:{code}", "memory:{id}"], "max_memories": 50},
        {"question": "{code}", "agent": "{beside}-agent", "expand": "yes", "rerank": "yes"},
    ],
    "context": [
        {"question": "{code}", "max_tokens": 100_000},
        {"conversation": "~ann/{beside}-talk"},
    ],
    "attach": [
        {"answer": ["thing:{code}", "memory:{id}"], "max_tokens": 100_000},
        {"answer": "thing:{code} {beside}.orders", "conversation": "~ann/{beside}-talk", "again": True},
    ],
    "turns": [{"conversation": "~ann/{beside}-talk"}],
    "artifacts": [{"conversation": "~ann/{beside}-talk"}],
    "show_conversation": [{"id": "~ann/{beside}-talk"}],
    "unshare_conversation": [{"id": "~ann/{beside}-talk", "user": "carol"}],
    "share_agent": [{"agent": "{beside}-agent", "user": "eve"}],
    "unshare_agent": [{"agent": "{beside}-agent", "user": "ann"}],
    "set_agent": [{"agent": "{beside}-agent", "limit": 3}],
    "append_scratchpad": [{"content": "mine", "agent": "{beside}-agent"}],
    "export": [{"path": "{beside}.jsonl"}],
    "import_": [{"path": "{beside}.jsonl"}],
    "backup": [{"path": "{beside}"}],
    "dismiss_failures": [{}],
    "reassign": [{"owner": "ann", "to": "bob", "dry_run": True}, {"owner": "ann", "to": "bob"}],
    "doctor": [{}],
    "reindex": [{}],
    "embed_missing": [{}],
    "status": [{}],
}
#: What tells even a member of the conversation nothing: it is the owner's and the reviewers', an admin's, or about the catalog.
IN_VAIN: Final[dict[str, list[dict[str, Any]]]] = {
    "browse": [{"proposal": "any", "background": True, "limit": 1_000}],
    "tally": [{"by": "kind", "proposal": "any"}],
    "checks": [{"id": "{id}", "observe": True}],
    "moments": [{"limit": 1_000, "catalog": True}],
    "diff": [{"since": "2026-02-01", "limit": 1_000, "catalog": True}],
    "context": [{"for_user": "ann", "for_personas": ["chef"], "for_systems": ["crm"], "max_tokens": 100_000}],
}
#: The same at the tools of the faces, beside what strangers of other tenants ask there.
TOOLS_MORE: Final[dict[str, list[dict[str, Any]]]] = {
    "native memory_context": [{"question": "{beside}", "conversation": "~ann/{beside}-talk"}],
    "native memory_search": [{"question": "{beside}", "conversation": "~ann/{beside}-talk"}],
    "native memory_get": [{"id": "{id}", "conversation": "~ann/{beside}-talk"}, {"id": "{name}"}],
    "native memory_save": [
        {"content": "mine of {beside}", "scope": "session", "conversation": "~ann/{beside}-talk"}
    ],
    "native memory_update": [
        {"action": "revise", "id": "{id}", "content": "mine", "conversation": "~ann/{beside}-talk"}
    ],
    "native memory_forget": [{"id": "{id}", "conversation": "~ann/{beside}-talk"}, {"id": "{name}"}],
    "slayer save_memory": [
        {"learning": "mine of {name}", "linked_entities": ["memory:{name}"]},
        {"learning": "mine under {name}", "linked_entities": ["thing:own"], "id": "{name}"},
    ],
    "slayer forget_memory": [{"id": "{name}"}, {"id": "::{name}"}],
    "datamind memory_forget": [{"item_id": "{name}"}],
    "checkstack ai.deleteMemory": [{"id": "{name}"}],
    "data_platform memory_manage": [{"command": "forget", "id": "{name}"}],
    "datamind memory_recall": [
        {"query": "{beside}", "session_id": "~ann/{beside}-talk"},
        {"query": "{beside}", "scope_filter": ["session"], "session_id": "~ann/{beside}-talk"},
    ],
    "checkstack ai.listMemories": [{"systemId": "crm"}],
    "checkstack ai.saveMemory": [
        {"scope": "system", "systemId": "crm", "recallHint": "{code} hint", "content": "mine"}
    ],
}
#: What says where one speaks, or as which agent: whatever takes it has an attempt with another's.
NAMING: Final = frozenset({"conversation", "agent", "session_id", "systemId", "via", "artifact"})
#: What differs between any two answers: times, ids that are drawn by chance and the marks of frames around these, and how
#: long it took.
PASSING: Final = re.compile(
    rf"(?:{MOMENT.pattern})(?:\.\d+)?|(?<=stored-notes-)[0-9a-f]{{12}}|(?<=\"ms\": )[-\d.e]+"
)
#: Whose key it is, the server asks again after a while; a transaction is begun for that too.
BY_THE_CLOCK: Final = re.compile(r"BEGIN|SELECT api_keys\.|SELECT set_config\(")
MANAGER: Final = "manages, and names her conversation"
_READS: Final = frozenset({"memory.read"})
#: Members of the tenant who may not see what is ann's: each names her conversation in another way, or has no need to.
MEMBERS: Final[dict[str, Caller]] = {
    "reads, and names her conversation": person("bob", permissions=_READS, conversation=HERS),
    MANAGER: person("bob", conversation=HERS),
    "manages, from no conversation": person("bert"),
    "was let in and out again": person("dave", conversation=HERS),
    "has another persona and system, and a conversation of the same name": person(
        "erin", personas={"baker"}, systems={"erp": "manage"}, conversation=TALK
    ),
}
CAROL: Final = person("carol", personas=OWNER.personas, systems={"crm": "read"})
#: The memories that are hidden from them: in two conversations, in every scope, and what waits for a review.
KINDS: Final = ("there", "session", "user", "persona", "system", "pending", "waiting")
SOME: Final = ("there", "user", "pending")
#: What tells of the catalog, of the tenant or of what all share, and is an admin's: even a member of the conversation learns
#: nothing of it there.
ALIKE: Final = frozenset(
    {
        "entities",
        "judge",
        "plan",
        "changesets",
        "impact",
        "renames",
        "accept_renames",
        "list_keys",
        "list_tenants",
        "audit",
        "export",
        "backup",
        "status",
        "/confirm/{code}",
        "/operate/keys",
        "/sign-out",
        "ReadSharedNotes",
        "slayer list_datasources",
        "slayer models_summary",
        "datamind memory_list_profiles",
        # One's own alone.
        "feedback",
        "data_platform recall_insight",
        "GET /api/v1/portal/knowledge/insights",
        "GET /api/v1/portal/knowledge/insights/search",
        "GET /api/v1/portal/memory/records",
        "GET /api/v1/portal/memory/records/search",
        "/mine",
        "/mine/insights",
        # Nothing was ingested there.
        "/catalog/changes",
        "/compare ['/compare?of=catalog&since=2026-02-01', None]",
        # For those who review, or look after the store.
        "/catalog/ingest",
        "/connect",
        "/review",
        "/review/renames",
        "/changeset",
        "/changeset/{id}",
        "/plan",
        "/operate",
        "/operate/tenants",
        "/operate/audit",
    }
)
SPOKEN: Final = [face for face in FACES if face != "full"]


@dataclass
class Side(House):
    """A server at which ann keeps something of every sort, or kept it."""

    def furnish(self) -> None:
        world, owner = self.world, self.owner
        _ = self.workspace
        # What everyone sees leads nowhere: not to the file, and not to the conversation in which it was said.
        owner.revise(world.id("tenant", 1), artifact=None, conversation=None)
        owner.revise(world.id("tenant", 2), conversation=None)
        ann = self.door(OWNER.inside(TALK))
        for member in ("carol", "dave"):
            ann.share_conversation(TALK, member)
        ann.share_agent(AGENT, "carol")
        ann.set_agent(AGENT, limit=1, half_life_days=7, metadata={"about": SECRET})
        self._remember("there", ann, scope="session")
        ann.relate("zqthere.1", "supports", "zqthere.2")
        self._remember("pinned", ann, scope="user")
        self._remember("pending", self.door(replace(OWNER, actor="unattended")), scope="tenant")
        self._remember("waiting", self.door(replace(OWNER, actor="unattended")), scope="user")
        for kind in ("there", "user", "system"):
            self.owner.add_check(f"ann::zq{kind}.1", kind="entity", entity=f"{BESIDE}.orders")
            self.owner.check(f"ann::zq{kind}.1")
        dave = self.door(person("dave", conversation=HERS))
        dave.remember(f"{SECRET} of his", id="zqdave.1", scope="session")
        dave.note_turn(f"{SECRET} he said")
        dave.write_artifact("his.md", SECRET)
        for memory, verdict in (("zqthere.1", "useful"), (world.id("tenant", 2), "not_useful")):
            ann.give_feedback(memory, verdict, f"{BESIDE} of {SECRET}")
        ann.unshare_conversation(TALK, "dave")

    def _remember(self, kind: str, door: OnRecord, **more: Any) -> None:
        for number in (1, 2):
            door.remember(
                f"zq{kind} {BESIDE} {SECRET} {number}",
                id=f"zq{kind}.{number}",
                hint=f"zq{kind} hint {number}",
                tags=[f"zq{kind} tag"],
                entities=[f"thing:zq{kind}", f"{BESIDE}.orders.amount", f"{BESIDE}.orders"],
                **more,
            )

    def erase(self) -> None:
        """All of it, so that nothing of it is left but the numbers that it had."""
        owner = self.owner
        for memory in self._hidden:
            owner.forget(memory.id)
        for conversation in ("talk", TALK):
            owner.clear_turns(conversation=f"~ann/{conversation}")
            owner.delete_conversation(f"~ann/{conversation}")
        for agent in (AGENT, f"{SECRET}-agent"):
            owner.clear_scratchpad(agent)
        owner.set_agent(AGENT)

    @property
    def _hidden(self) -> list[Memory]:
        """Hers that no other member of the tenant sees, and what another saved in her conversation."""
        known = self.owner.browse(limit=1_000, statuses=STATUSES).memories
        private = [each for each in known if each.scope not in ("tenant", "global") or each.waits]
        return [each for each in private if each.owner == "ann" or each.id == "dave::zqdave.1"]

    def door(self, caller: Caller) -> OnRecord:
        return self.server.parts.door.as_caller(caller)

    def answer(self, attempt: Attempt, asked: Any) -> "Said":
        """What is told to whoever asks, apart from times, and what the database was told for it."""
        with executed_statements(self.server.parts.store) as statements:
            said = PASSING.sub("…", attempt.ask(asked)).replace(str(self.world.folder), "…")
        return Said(said, [each for each in statements if not BY_THE_CLOCK.match(each)])

    def of_ann(self) -> str:
        """All that is hers alone, and those who changed it."""
        owner, hers = self.door(OWNER.inside(TALK)), self._hidden
        told = [
            [self.owner.history(each.id) for each in hers],
            [self.owner.neighbours(each.id, depth=1) for each in hers],
            owner.show_conversation(TALK),
            owner.turns(),
            owner.artifacts(),
            owner.read_artifact(self.workspace["file"]),
            owner.read_scratchpad(AGENT),
            owner.show_agent(AGENT),
        ]
        return repr(told)

    def fields_of(self, kind: str) -> dict[str, str]:
        one, two = (f"{OWNER.user}::zq{kind}.{number}" for number in (1, 2))
        return self.workspace | {
            "id": one,
            "other": two,
            "edge": self._edges.get(one, "1"),
            "name": f"zq{kind}.1",
            "code": f"zq{kind}",
        }

    @cached_property
    def _edges(self) -> dict[str, str]:
        with self.world.store.archive() as archive:
            return {edge.source: edge.id for edge in archive.edges(Home(HOME)) if edge.relation == "supports"}


@dataclass
class Twins:
    """The server at which it is kept, and the one at which it never was."""

    kept: Side
    bare: Side

    def told(self, ask: "Ask", kinds: Sequence[str], known: Container[str] = ()) -> Iterator["Told"]:
        """What both say to each question that is not `known`, one question after the other."""
        for one, other in zip(ask(self.kept), ask(self.bare), strict=True):
            if str(one) in known:
                continue
            for kind in kinds if one.is_for & OF_A_MEMORY else kinds[:1]:
                asked = filled(one.template, self.kept.fields_of(kind))
                yield Told(one, kind, self.kept.answer(one, asked), self.bare.answer(other, asked))


class Said(NamedTuple):
    """An answer, and the statements that it took."""

    answer: str
    statements: list[str]


@dataclass
class Told:
    """A question and what came of it, where it is kept and where it never was."""

    attempt: Attempt
    kind: str
    kept: Said
    bare: Said

    @property
    def difference(self) -> str:
        kept, bare = ("\n".join((each.answer, *each.statements)) for each in (self.kept, self.bare))
        pairs = enumerate(zip(kept, bare, strict=False))
        at = next((at for at, (one, other) in pairs if one != other), 0)
        one, other = (each[max(at - 200, 0) : at + 200] for each in (kept, bare))
        return f"{self.attempt} on {self.kind}: {one} instead of {other}"


@pytest.fixture(scope="module", params=BACKENDS if SOAKING else BACKENDS[:1])
def twins(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    sides = []
    with ExitStack() as leaving:
        for name in ("kept", "bare"):
            folder = tmp_path_factory.mktemp(name)
            db = str(folder / "served.db")
            if request.param == "postgres":
                address_there = request.getfixturevalue("postgres_server")
                there = leaving.enter_context(psycopg.connect(address_there, autocommit=True))
                db = address(address_there, leaving.enter_context(new_schema(there)))
            server = Served(db=db, embedder="none", user="root", worker="no", sources="none")
            leaving.callback(server.stop)
            sides.append(Side(server, World(server.parts.store, Clock(), folder)))
            sides[-1].furnish()
        sides[-1].erase()
        yield Twins(*sides)


Ask = Callable[[Side], Iterable[Attempt]]


def learned(twins: Twins, caller: Caller, ask: Ask, kinds: Sequence[str]) -> list[str]:
    """Whatever a member learned of what is ann's, or changed of it."""
    for side in (twins.kept, twins.bare):
        with suppress(NotFound):
            # Another's, who came before.
            side.owner.forget("own")
        with side.browser(caller) as browser:
            own(browser)
    before = twins.kept.of_ann()
    faults = [each.difference for each in twins.told(ask, kinds) if each.kept != each.bare]
    return faults + ([] if twins.kept.of_ann() == before else ["one of these changed something"])


@pytest.fixture
def leaving() -> Iterator[ExitStack]:
    with ExitStack() as leaving:
        yield leaving


def by_client(leaving: ExitStack, caller: Caller, *, reads: bool = False) -> Ask:
    def ask(side: Side) -> Iterator[Attempt]:
        door = leaving.enter_context(side.client(caller))
        yield from operations_by(door, reads=reads)

    return ask


def by_tools(introduce: Meet, caller: Caller, *, reads: bool = False) -> Ask:
    return lambda side: operations_by(Tools(side.agent(caller, "full", introduce)), reads=reads)


def operations_by(door: Any, *, reads: bool) -> Iterator[Attempt]:
    for each in (*shared_attempts(door), *shared_attempts(door, MEMORIES)):
        if not reads or BY_NAME[each.name].effect == "read":
            yield each
    if not reads:
        yield from shared_attempts(door, IN_VAIN)


def by_routes(leaving: ExitStack, caller: Caller, *, reads: bool = False) -> Ask:
    """The routes of the faces, and the commands in an agent's text."""

    def ask(side: Side) -> Iterator[Attempt]:
        browser = leaving.enter_context(side.browser(caller))
        yield from route_attempts(browser, reads=reads)
        yield from command_attempts(browser, reads=reads)
        yield from page_attempts(browser, reads=reads)

    return ask


def by_tools_of(face: str, introduce: Meet, caller: Caller, *, reads: bool = False) -> Ask:
    def ask(side: Side) -> Iterator[Attempt]:
        agent = side.agent(caller, face, introduce)
        yield from tool_attempts(agent, face, reads=reads)
        yield from tool_attempts(agent, face, TOOLS_MORE, reads=reads)

    return ask


# What is asked


def test_every_operation_is_asked_of_by_a_member() -> None:
    assert set(SHARED) | set(MEMORIES) == set(BY_NAME)


def test_whatever_names_a_conversation_an_agent_or_a_file_is_asked_with_anothers() -> None:
    takes = {
        (name, field.name)
        for name, operation in BY_NAME.items()
        for field in fields(operation.request)
        if field.name in NAMING
    }
    takes |= {
        (f"{face} {tool.name}", field)
        for face, tools in FACES.items()
        for tool in tools
        if face != "full"
        for field in tool.described().input_schema["properties"]
        if field in NAMING
    }
    asked = {
        (name, field)
        for tried in (SHARED, MEMORIES, TOOLS, TOOLS_MORE)
        for name, templates in tried.items()
        for template in templates
        for field in template
    }
    assert takes - asked == set()


# What comes of it


def test_whoever_was_let_in_learns_by_each_of_these(
    twins: Twins, leaving: ExitStack, introduce: Meet
) -> None:
    """Else all of this would prove nothing."""
    told: dict[tuple[str, str], bool] = {}
    for caller in (CAROL.inside(HERS), CAROL):
        asks = {
            "operations": by_client(leaving, caller, reads=True),
            "full": by_tools(introduce, caller, reads=True),
            "routes": by_routes(leaving, caller, reads=True),
        }
        asks |= {face: by_tools_of(face, introduce, caller, reads=True) for face in SPOKEN}
        for way, ask in asks.items():
            known = {question for (there, question), differs in told.items() if differs and there == way}
            for each in twins.told(ask, ("there", "system"), known):
                differs = each.kept.answer != each.bare.answer or not ALIKE.isdisjoint(
                    (each.attempt.name, str(each.attempt))
                )
                told[way, str(each.attempt)] = differs or told.get((way, str(each.attempt)), False)
    none_of([f"{way}: {question}" for (way, question), differs in told.items() if not differs])


@pytest.mark.parametrize("who", MEMBERS)
def test_by_the_routes_of_the_operations_a_member_learns_nothing_of_what_is_anothers(
    twins: Twins, leaving: ExitStack, who: str
) -> None:
    # What one cannot see is out of sight in one way, whoever one is: one of them tries all, the others one each.
    kinds = KINDS if SOAKING or who == MANAGER else (SOME[[*MEMBERS].index(who) % len(SOME)],)
    none_of(learned(twins, MEMBERS[who], by_client(leaving, MEMBERS[who]), kinds))


@pytest.mark.parametrize("who", [MANAGER, "was let in and out again"] if SOAKING else [MANAGER])
def test_by_the_tools_of_the_operations_a_member_learns_nothing_of_what_is_anothers(
    twins: Twins, introduce: Meet, who: str
) -> None:
    none_of(learned(twins, MEMBERS[who], by_tools(introduce, MEMBERS[who]), SOME[:1]))


@pytest.mark.parametrize("who", some(MEMBERS, 3))
def test_by_the_routes_and_commands_of_the_faces_a_member_learns_nothing_of_what_is_anothers(
    twins: Twins, leaving: ExitStack, who: str
) -> None:
    none_of(learned(twins, MEMBERS[who], by_routes(leaving, MEMBERS[who]), SOME))


@pytest.mark.parametrize("who", some([*MEMBERS][::2], 2))
def test_by_the_tools_of_the_faces_a_member_learns_nothing_of_what_is_anothers(
    twins: Twins, introduce: Meet, who: str
) -> None:
    for face in SPOKEN:
        kinds = SOME if SOAKING else SOME[:2]
        none_of(learned(twins, MEMBERS[who], by_tools_of(face, introduce, MEMBERS[who]), kinds))
