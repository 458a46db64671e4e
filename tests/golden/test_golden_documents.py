"""ARE the documents what they were? Help, schemas, exports, the files of a YAML store, and what an agent is told."""

import json
import shlex
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import pytest

from onrecord import OnRecord, connect
from onrecord.model.wire import to_json
from onrecord.surfaces.cli.group import command_group
from onrecord.surfaces.rest import openapi
from tests import kept
from tests.conftest import Clock
from tests.surfaces.conftest import Shell

from .company import BEGIN, MODELS, PEOPLE, STEP_HOURS, Done, story
from .conftest import Transcript

pytestmark = pytest.mark.golden
Doors = Callable[[str], OnRecord]


def test_openapi() -> None:
    kept.check(
        kept.ANSWERS / "schemas" / "openapi.json",
        json.dumps(openapi.document(), ensure_ascii=False, indent=1) + "\n",
    )


def _commands(group: click.Group, *before: str) -> Iterator[tuple[str, ...]]:
    yield before
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, *before, name)
        else:
            yield (*before, name)


def test_the_help_of_every_command(shell: Shell, clock: Clock) -> None:
    transcript = Transcript()
    for words in _commands(command_group()):
        came = shell(*words, "--help")
        transcript.note(f"$ {shlex.join(('onrecord', *words, '--help'))}", came.out + came.err)
    transcript.check("schemas/help.txt")


#: What a person looks up in a large store.
LOOKED_UP: tuple[tuple[str, ...], ...] = (
    ("recall", "Who owns tracking?"),
    ("recall", "Who owns tracking?", "--limit", "2", "--explain"),
    ("recall", "zeppelin"),
    ("show", "dec.claims"),
    ("show", "dec.claims", "--known-at", "2025-10-01"),
    ("show", "global:1"),
    ("browse", "--limit", "5"),
    ("browse", "--kind", "decision", "--limit", "3"),
    ("browse", "--status", "stale", "--status", "archived"),
    ("history", "dec.claims"),
    ("neighbours", "svc.tracking", "--depth", "2"),
    ("relations", "--limit", "4"),
    ("diff", "2026-02-20"),
    ("moments", "--limit", "4"),
    ("search", "revenue"),
    ("search", "--entity", "shipments.status", "--max-entities", "0"),
    ("entities",),
    ("entities", "parcels.shipments"),
    ("inspect", "shipments"),
    ("context", "claims in Graz"),
    ("audit", "--limit", "4"),
    ("agents", "show", "scout"),
    ("scratchpads", "list"),
    ("conversations", "list"),
    ("status",),
    ("doctor",),
    ("tenants", "list"),
)


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_a_person_looks_up_in_the_company(company: Path, clock: Clock, shell: Shell, form: str) -> None:
    transcript = Transcript(folder=str(company.parent))
    for words in LOOKED_UP:
        given = [*words, *(["--json"] if form == "json" else [])]
        came = shell("--db", str(company), "--tenant", "kestrel", "--user", "cleo", *given)
        transcript.note(f"$ onrecord {shlex.join(given)}", f"{came.out}{came.err}[{came.code}]")
    transcript.check(f"company/shell.{form}.txt")


#: Who begins something, and with what.
BEGINNINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("cleo", {}),
    ("ann", {}),
    ("ann in c-17", {}),
    ("ann in c-17", {"question": "Why do claims double?"}),
    ("ann in c-17", {"question": "Why do claims double?", "max_tokens": 150}),
    ("ann in c-23", {"parts": ["briefing"]}),
    ("bob", {"question": "tracking is behind"}),
    ("bob", {"parts": ["legend"]}),
    ("bob", {"parts": ["always"]}),
    ("robot", {"question": "couriers"}),
    ("dora", {"question": "containers"}),
    ("stranger", {}),
    ("stranger", {"question": "revenue", "max_tokens": 0}),
)


def test_what_an_agent_is_told_unasked(doors: Doors, clock: Clock) -> None:
    transcript = Transcript()
    talking = doors("ann in c-17")
    for role, content in (("user", "Why do claims in Graz double?"), ("assistant", "Let me look at belt 4.")):
        clock.tick(minutes=1)
        talking.note_turn(content, role=role)
    for who, given in BEGINNINGS:
        told = doors(who).context(**given)
        parts = [f"{block.part}: {block.tokens} tokens, {', '.join(block.memories)}" for block in told.blocks]
        transcript.note(
            f"{who}: {json.dumps(given)}",
            told.text,
            f"[{told.tokens} tokens, {told.left_out} left out, {told.degraded}]",
            *parts,
        )
    transcript.check("company/context.txt")


def test_an_export_of_the_company(doors: Doors, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    doors("cleo").export(str(path), all_tenants=True)
    kept.check(kept.ANSWERS / "company" / "export.jsonl", path.read_text(encoding="utf-8"))


#: What is wrong with it: whose it is, the operation and its fields.
WRONG: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("cleo", "remember", {}),
    ("cleo", "remember", {"content": 5}),
    ("cleo", "remember", {"content": "x", "id": "a:b"}),
    ("cleo", "remember", {"content": "x", "id": "a b"}),
    ("cleo", "remember", {"content": "x", "kind": "opinion", "confidence": "sure", "scope": "planet"}),
    ("cleo", "remember", {"content": "x", "tags": "one"}),
    ("cleo", "remember", {"content": "x", "tags": ["y" * 65]}),
    ("cleo", "remember", {"content": "x", "tags": [str(number) for number in range(33)]}),
    ("cleo", "remember", {"content": "x", "title": "y" * 201}),
    ("cleo", "remember", {"content": "x", "metadata": [1]}),
    ("cleo", "remember", {"content": "x", "metadata": {"a": float("nan")}}),
    ("cleo", "remember", {"content": "x", "valid_from": "tomorrow"}),
    ("cleo", "remember", {"content": "x", "supersedes": ["nowhere"]}),
    ("cleo", "remember", {"content": "x", "supersedes": ["dec.fridays"]}),
    ("cleo", "remember", {"content": "x", "entities": ["nowhere.at.all"]}),
    ("cleo", "remember", {"content": "x", "entities": ["name"]}),
    ("cleo", "remember", {"content": "x", "query": {"source_model": "nowhere"}}),
    ("cleo", "remember", {"content": "x", "query": "SELEC nothing FROM"}),
    ("cleo", "remember", {"content": "x", "artifact": "99"}),
    ("cleo", "remember", {"content": "x", "scope": "system"}),
    ("cleo", "remember", {"content": "x", "scope": "session"}),
    ("ann", "remember", {"content": "x", "scope": "global"}),
    ("ann", "remember", {"content": "x", "scope": "persona", "persona": "oncall"}),
    ("ann", "remember", {"content": "x", "scope": "system", "system": "sorter"}),
    ("robot", "remember", {"content": "x", "always_inject": True}),
    ("guest", "remember", {"content": "x"}),
    ("ann", "remember", {"content": "x", "colour": "red"}),
    ("ann", "recall", {"question": "x", "recipe": "soup"}),
    ("ann", "recall", {"question": "x", "limit": 201, "kinds": ["opinion"]}),
    ("ann", "recall", {"question": "x" * 10_001}),
    ("ann", "recall", {"question": "x", "agent": "a b"}),
    ("ann", "recall", {"question": "x", "decay_floor": 1.5, "half_life_days": 0}),
    ("ann", "recall", {"question": "x", "times": "maybe"}),
    ("ann", "show", {"id": "nowhere"}),
    ("dora", "show", {"id": "dec.claims"}),
    ("ann", "show", {"id": "dec.claims", "as_of": "2001-01-01"}),
    ("ann", "revise", {"id": "dec.claims", "content": "y"}),
    ("cleo", "revise", {"id": "dec.claims", "content": "y", "expected_version": 1}),
    ("cleo", "revise", {"id": "dec.vpn", "content": "y"}),
    ("cleo", "revise", {"id": "dec.claims", "status": "archived"}),
    ("robot", "forget", {"id": "1"}),
    ("ann", "forget", {"id": "dec.claims"}),
    ("ann", "retire", {"id": "dec.claims"}),
    ("cleo", "retire", {"id": "dec.claims", "at": "2030-01-01"}),
    ("cleo", "relate", {"source": "dec.claims", "relation": "likes", "target": "1"}),
    ("cleo", "relate", {"source": "dec.claims", "relation": "supports", "target": "nowhere"}),
    ("cleo", "unrelate", {"source": "dec.claims", "relation": "supports", "target": "1"}),
    ("cleo", "approve", {"id": "nowhere"}),
    ("ann", "approve", {"id": "1"}),
    ("cleo", "browse", {"after": "nowhere"}),
    ("cleo", "neighbours", {"id": "1", "depth": 9}),
    ("cleo", "entities", {"inside": "nowhere"}),
    ("cleo", "inspect", {"model": "nowhere"}),
    ("cleo", "inspect", {"model": "invoices", "data_source": "nowhere"}),
    ("cleo", "inspect", {"model": "shipments", "sections": ["poems"]}),
    ("ann", "ingest", {"path": "somewhere"}),
    ("cleo", "ingest", {"path": "/nowhere/at/all"}),
    ("cleo", "ingest", {"path": "mysql://host/db"}),
    ("cleo", "prioritise", {"datasources": ["nowhere"]}),
    ("cleo", "drop_entity", {"entity": "nowhere"}),
    ("cleo", "drop_entity", {"entity": "parcels", "kind": "model"}),
    ("ann", "note_turn", {"content": "x"}),
    ("ann", "show_conversation", {"id": "nowhere"}),
    ("ann", "write_artifact", {"path": "/etc/x", "content": "x", "conversation": "c-17"}),
    ("ann", "read_artifact", {"id": "99"}),
    ("ann", "append_scratchpad", {"content": "x", "agent": "a/b"}),
    ("ann", "create_key", {"label": "x"}),
    ("cleo", "create_key", {"label": "x", "permissions": ["memory.fly"], "systems": ["a=own"]}),
    ("cleo", "revoke_key", {"id": "nowhere"}),
    ("dora", "create_tenant", {"name": "x"}),
    ("cleo", "create_tenant", {"name": "global"}),
    ("cleo", "erase_tenant", {"name": "nowhere", "confirm": "nowhere"}),
    ("dora", "export", {"path": "x", "all_tenants": True}),
    ("cleo", "import_", {"path": "/nowhere/at/all.jsonl"}),
    ("ann", "status", {}),
)


def test_what_is_wrong_with_a_request_is_told_in_the_same_words(doors: Doors) -> None:
    transcript = Transcript()
    for who, name, given in WRONG:
        method = getattr(doors(who), name)
        short = json.dumps(given, ensure_ascii=False)[:120]
        transcript.call(f"{who}: {name} {short}", lambda method=method, given=given: to_json(method(**given)))
    transcript.check("company/refused.txt")


def _for_yaml() -> Iterator[tuple[int, Done]]:
    """Some of what the company tells and what was changed of it, each with its place in the whole story."""
    there: set[str] = set()
    for number, told in enumerate(story()):
        id = str(told.fields.get("id", ""))
        named = {str(told.fields[name]) for name in ("id", "source", "target") if name in told.fields}
        if told.operation == "remember" and (number % 8 == 0 or id.startswith("dec.")):
            there.add(id)
            yield number, told
        elif told.operation not in ("remember", "ingest") and named <= there:
            yield number, told


def test_the_files_of_a_store_in_yaml(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "yaml"
    folder.mkdir()
    clock.now = BEGIN
    with connect(f"yaml:{folder}", caller=PEOPLE["cleo"], embedder="none") as door:
        door.ingest(str(MODELS))
        for number, told in _for_yaml():
            clock.now = BEGIN + timedelta(hours=STEP_HOURS * (number + 1))
            getattr(door.as_caller(PEOPLE[told.who]), told.operation)(**told.fields)
    there = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    said = {
        kept.ANSWERS / "yaml" / path.name: path.read_text(encoding="utf-8")
        for path in there
        if path.suffix in (".yaml", ".jsonl")
    }
    names = "".join(f"{path.relative_to(folder)}\n" for path in there)
    kept.check_all({**said, kept.ANSWERS / "yaml" / "files.txt": names})
