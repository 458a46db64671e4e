"""Samples in the very forms that the programs write, made where their files are binary."""

import json
import pickle
import sqlite3
import sys
import types
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 3
MEM0 = [
    {
        "id": "ece94161-ba39-453c-86f4-ad46a90958e0",
        "memory": "Ann works at Acme, in Lisbon.",
        "hash": "0145e68a59ee56066b00c314e64b5a9e",
        "metadata": {"category": "work"},
        "created_at": "2026-01-19T04:33:37.392508+00:00",
        "updated_at": "2026-01-19T04:33:37.520619+00:00",
        "user_id": "ann",
    },
    {
        "id": "0a18082c-6316-421b-98c8-84e22ab24cfd",
        "memory": f"The API key is {KEY}",
        "hash": "204eead471954f0ed87b8143baf1a01c",
        "metadata": None,
        "created_at": "2026-01-19T04:33:37.464617+00:00",
        "updated_at": None,
        "user_id": "ann",
    },
]


def mem0_export(folder: Path) -> Path:
    path = folder / "mem0.json"
    relations = [{"source": "ann", "relationship": "works_at", "target": "acme"}]
    path.write_text(json.dumps({"results": MEM0, "relations": relations}))
    return path


def mem0_qdrant(folder: Path) -> Path:
    """The folder of a local Qdrant, whose points are pickled objects of its client."""
    there = folder / "qdrant" / "collection" / "mem0"
    there.mkdir(parents=True)
    name = "qdrant_client.http.models.models"
    point_struct = type("PointStruct", (), {"__module__": name, "__qualname__": "PointStruct"})
    module: Any = types.ModuleType(name)
    module.PointStruct = point_struct
    parts = name.split(".")
    stand_ins = {".".join(parts[:end]): module for end in range(1, len(parts) + 1)}
    sys.modules |= stand_ins
    try:
        with closing(sqlite3.connect(there / "storage.sqlite")) as db, db:
            db.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
            for each in MEM0:
                point = point_struct()
                payload = {"data": each["memory"], "user_id": "ann", "created_at": each["created_at"]}
                payload |= {"updated_at": each["updated_at"], **(each["metadata"] or {})}
                vars(point).update(id=each["id"], vector={"": [0.5, -0.25]}, payload=payload)
                db.execute("INSERT INTO points VALUES (?, ?)", (each["id"], pickle.dumps(point)))
    finally:
        for each in stand_ins:
            del sys.modules[each]
    return folder / "qdrant"


def mem0_history(folder: Path) -> Path:
    path = folder / "history.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, "
            "created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
        )
        for number, (memory, event, text) in enumerate(
            [
                (MEM0[0], "ADD", "Ann works at Acme."),
                (MEM0[1], "ADD", MEM0[1]["memory"]),
                ({"id": "gone", "created_at": None}, "ADD", "Gone."),
                (MEM0[0], "UPDATE", MEM0[0]["memory"]),
                ({"id": "gone", "created_at": None}, "DELETE", None),
            ]
        ):
            at = memory["created_at"] or "2026-01-20T00:00:00+00:00"
            row = (str(number), memory["id"], None, text, event, at, at, int(event == "DELETE"), None, "user")
            db.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    return path


def langgraph(folder: Path) -> Path:
    path = folder / "langgraph.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, "
            "created_at TIMESTAMP, updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key))"
        )
        for prefix, key, value in [
            ("memories.ann", "m1", {"text": "Ann prefers very short answers."}),
            (
                "memories.ann",
                "m2",
                {"content": "Revenue is net of refunds.", "tags": ["finance"], "by": "ann"},
            ),
            ("docs", "d1", {"title": "x", "n": 3}),
        ]:
            at = "2026-01-19 04:33:32"
            db.execute(
                "INSERT INTO store VALUES (?, ?, ?, ?, ?, NULL, NULL)",
                (prefix, key, json.dumps(value).encode(), at, at),
            )
    return path


def memory_service(folder: Path) -> Path:
    path = folder / "sqlite_vec.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL, "
            "tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, "
            "updated_at_iso TEXT, deleted_at REAL DEFAULT NULL)"
        )
        db.execute(
            "CREATE TABLE memory_graph (source_hash TEXT NOT NULL, target_hash TEXT NOT NULL, similarity REAL NOT NULL, "
            "connection_types TEXT NOT NULL, metadata TEXT, created_at REAL NOT NULL, PRIMARY KEY (source_hash, target_hash))"
        )
        for hash, text, gone in [
            ("aa", "Deploys are frozen on Fridays.", None),
            ("bb", "The old rule.", 1767312000.0),
        ]:
            db.execute(
                "INSERT INTO memories (content_hash, content, tags, memory_type, metadata, created_at, updated_at, deleted_at) "
                "VALUES (?, ?, 'ops,team', 'decision', '{\"by\": \"ann\"}', 1767225600.0, 1767225600.0, ?)",
                (hash, text, gone),
            )
        db.execute("INSERT INTO memory_graph VALUES ('aa', 'bb', 0.5, '[\"causal\"]', NULL, 1767225600.0)")
    return path


def _said(id: str, role: str, text: str, parent: str | None, at: float) -> dict[str, Any]:
    message = {"id": id, "author": {"role": role}, "create_time": at, "metadata": {}}
    return {
        "id": id,
        "parent": parent,
        "children": [],
        "message": {**message, "content": {"content_type": "text", "parts": [text]}},
    }


def chatgpt(folder: Path) -> Path:
    asked = [
        _said("a", "system", "", None, 1767225600.0),
        _said("b", "user", "When does our fiscal year start?", "a", 1767225601.5),
        _said("old", "assistant", "In January.", "b", 1767225602.5),
        _said("c", "assistant", "In April.", "b", 1767225603.5),
    ]
    conversation = {
        "title": "Fiscal year",
        "create_time": 1767225600.0,
        "conversation_id": "conv-1",
        "current_node": "c",
    }
    path = folder / "chatgpt.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "conversations.json",
            json.dumps([conversation | {"mapping": {each["id"]: each for each in asked}}]),
        )
    return path


def claude(folder: Path) -> Path:
    path = folder / "claude"
    path.mkdir()
    messages = [
        {"uuid": "m1", "sender": "human", "text": "What is revenue?", "created_at": "2026-01-02T10:00:00Z"},
        {
            "uuid": "m2",
            "sender": "assistant",
            "content": [{"type": "text", "text": "Net of refunds."}, {"type": "tool_use"}],
        },
    ]
    conversation = {"uuid": "conv-2", "name": "Revenue", "chat_messages": messages}
    (path / "conversations.json").write_text(json.dumps([conversation]))
    (path / "memories.json").write_text(
        json.dumps([{"conversations_memory": "Ann is an analyst.", "project_memories": {"p1": "Uses dbt."}}])
    )
    (path / "projects.json").write_text(
        json.dumps([{"name": "Shop", "docs": [{"uuid": "d1", "filename": "a.md", "content": "Orders."}]}])
    )
    return path


def graphiti(folder: Path) -> Path:
    path = folder / "graph.json"
    nodes = [
        {"uuid": "n1", "name": "Ann", "summary": "An analyst.", "labels": ["Person"]},
        {"uuid": "n2", "name": "Acme"},
    ]
    edge = {
        "uuid": "e1",
        "name": "WORKS_AT",
        "fact": "Ann works at Acme.",
        "source_node_uuid": "n1",
        "target_node_uuid": "n2",
    }
    ended = {
        "uuid": "e2",
        "name": "LIVES_IN",
        "fact": "Ann lives in Porto.",
        "source_node_uuid": "n1",
        "valid_at": "2024-01-01T00:00:00Z",
    }
    times = {"created_at": "2026-01-02T00:00:00Z", "invalid_at": "2025-06-01T00:00:00Z"}
    path.write_text(json.dumps({"nodes": nodes, "edges": [edge, ended | times]}))
    return path


def notes(folder: Path) -> Path:
    """Two notes as basic-memory writes them, and one without front matter."""
    path = folder / "notes"
    (path / "decisions").mkdir(parents=True)
    (path / "decisions" / "Refund policy.md").write_text(
        "---\ntitle: Refund policy\ntype: note\npermalink: decisions/refund-policy\ntags:\n- finance\n---\n\n# Refund policy\n\n"
        "## Observations\n- [decision] Revenue is net of refunds #finance (agreed in March)\n\n## Relations\n"
        "- implements [[Fiscal year]]\n- supports [[Plain]]\n- needs [[Nowhere]]\n"
    )
    (path / "decisions" / "Fiscal year.md").write_text(
        "---\ntitle: Fiscal year\npermalink: decisions/fiscal-year\n---\n\n# Fiscal year\n- [fact] It starts in April\n"
    )
    (path / "Plain.md").write_text("# Plain\nNo front matter; `[[code]]` is no link.\n")
    (path / "broken.md").write_text("---\na: [1\n---\ntext\n")
    return path


def lines(folder: Path) -> Path:
    path = folder / "facts.jsonl"
    rows = [
        {"content": "Lists are short.", "tags": ["a"], "created_at": "2026-01-02"},
        {"text": "Second."},
        {"no": 1},
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def table(folder: Path) -> Path:
    path = folder / "facts.csv"
    path.write_text('content,tags,created_at\n"Commas, too",a,2026-01-02\nPlain,,\n,,\n')
    return path


def server_memory(folder: Path) -> Path:
    return Path(__file__).with_name("samples") / "server-memory.jsonl"
