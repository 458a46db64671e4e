"""OnRecord in one minute: remember, recall, be corrected, look back. Run it with `make demo`."""

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from onrecord import connect

path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="onrecord-demo-")) / "demo.db"
now = datetime.now(UTC)
spring, summer = now - timedelta(days=200), now - timedelta(days=60)


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


with connect(path) as memory:
    heading("1. Leave what was learned")
    facts = [
        memory.remember(
            "orders.is_returned holds 0, 1 or NULL; treat NULL as not returned.",
            kind="learning",
            tags=["orders", "nulls"],
            entities=["thing:orders.is_returned"],
        ),
        memory.remember(
            "Revenue is net of refunds: use orders.amount_net.",
            hint="how to compute revenue",
            kind="decision",
            valid_from=spring,
        ),
        memory.remember("Dashboards break silently when the nightly load is late.", kind="feedback"),
        memory.remember("Staging login: postgres://etl:hunter2secret@db.internal/staging", kind="reference"),
    ]
    for fact in facts:
        note = f"  ({fact.scrubbed} secret taken out)" if fact.scrubbed else ""
        print(f"#{fact.memory.id}  {fact.memory.title}{note}")

    heading("2. Ask in plain words")
    for question in ("which column do I use for revenue?", "are NULL values in is_returned returns?"):
        best = memory.recall(question, limit=1).hits[0]
        print(f"? {question}\n  #{best.memory.id}  {best.memory.content}  (score {best.score:.2f})")

    heading("3. The truth changes")
    new = memory.remember(
        "Revenue is gross since the new tax rules: use orders.amount_gross.",
        kind="decision",
        supersedes=[facts[1].memory.id],
        valid_from=summer,
    )
    print(f"#{new.memory.id} supersedes #{new.superseded[0]}")
    for label, moment in (("in spring", spring + timedelta(days=1)), ("today", None)):
        answer = memory.recall("which column for revenue", as_of=moment, limit=1).hits[0].memory
        print(f"  true {label}: {answer.content}")

    heading("4. What changed, and who changed it")
    for change in memory.diff(now - timedelta(minutes=1)).memories:
        print(f"  {change.change:8} #{change.id}  {change.after.title}")
    for version in memory.history(facts[1].memory.id).versions:
        print(f"  #{facts[1].memory.id} version {version.number}: {version.change} by {version.by}")

    heading("5. Everything agrees")
    print(f"  {memory.doctor().memories} memories, {len(memory.doctor().problems)} problems")
    print(f"\nYour data is one file: {memory.location}")
    print(
        f"Go on from the shell: {Path(sys.executable).with_name('onrecord')} --db {memory.location} recall revenue"
    )
