"""Two clocks: when a thing was true, and when we knew it.

Prints:

    true on 15 May, as we know it now:      the nightly load runs on host blue
    true on 15 May, as we knew it that day: the nightly load runs on host red
    found by a word only the old text held: the nightly load runs on host red
    edges of the runbook today:     none
    edges of the runbook on 20 May: relates_to the nightly load runs on host blue
    between 1 May and 1 June:
      added    #1 the nightly load runs on host blue
      added    #2 runbook for the nightly load
    between 1 June and 1 July:
      retired  #2 runbook for the nightly load
"""

from datetime import UTC, datetime

from onrecord import Caller, connect


def day(month: int, day: int) -> datetime:
    return datetime(2026, month, day, tzinfo=UTC)


today = day(5, 10)
memory = connect(":memory:", caller=Caller(tenant="ops", user="ann"), clock=lambda: today)

host = memory.remember("the nightly load runs on host red").memory

# On 18 May we find out that it had moved to blue before we ever wrote it down.
today = day(5, 18)
memory.revise(host.id, content="the nightly load runs on host blue")

now_known = memory.show(host.id, as_of=day(5, 15)).memory.content
then_known = memory.show(host.id, as_of=day(5, 15), known_at=day(5, 15)).memory.content
print("true on 15 May, as we know it now:     ", now_known)
print("true on 15 May, as we knew it that day:", then_known)

old = memory.recall("red", known_at=day(5, 15)).hits[0].memory
print("found by a word only the old text held:", old.content)
assert not memory.recall("red", recipe="lexical").hits

# Edges are remembered in time as well.
today = day(5, 19)
book = memory.remember("runbook for the nightly load", kind="reference").memory
memory.relate(book.id, "relates_to", host.id)
today = day(6, 20)
memory.unrelate(book.id, "relates_to", host.id)
memory.retire(book.id, reason="the load is gone")

print("edges of the runbook today:    ", memory.neighbours(book.id).edges or "none")
edge = memory.neighbours(book.id, known_at=day(5, 20)).edges[0]
print("edges of the runbook on 20 May:", edge.relation.relation, edge.memory.content)

for since, until, label in (
    (day(5, 1), day(6, 1), "between 1 May and 1 June"),
    (day(6, 1), day(7, 1), "between 1 June and 1 July"),
):
    print(f"{label}:")
    for change in memory.diff(since, until=until).memories:
        print(f"  {change.change:8} #{change.id} {change.after.title}")

memory.close()
