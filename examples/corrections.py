"""A mistake is corrected, and later the truth itself changes: two different things, told apart.

Prints:

    We thought: Refunds are booked on the day of sale.
    We know better: Refunds are booked on the day of the refund.
    The answer for January is the corrected one: Refunds are booked on the day of the refund.
    From March on: Refunds are booked at the end of the month.
    True in February: Refunds are booked on the day of the refund.
    True today: Refunds are booked at the end of the month.
    #1 version 1: remember by ann
    #1 version 2: revise by ann
    #1 version 3: supersede by ann
    Somebody was faster: Memory 3 is at version 2, not 1: someone changed it first.
"""

from datetime import UTC, datetime

from onrecord import Caller, connect
from onrecord.errors import VersionConflict


def day(month: int, day: int) -> datetime:
    return datetime(2026, month, day, tzinfo=UTC)


today = day(1, 10)
memory = connect(":memory:", caller=Caller(tenant="shop", user="ann"), clock=lambda: today)


def told(question: str, **when: datetime) -> str:
    return memory.recall(question, limit=1, **when).hits[0].memory.content


rule = memory.remember("Refunds are booked on the day of sale.", valid_from=day(1, 1)).memory
print("We thought:", rule.content)

# Revise says: the record was wrong. What was true all along shows the new text.
today = day(1, 20)
memory.revise(rule.id, content="Refunds are booked on the day of the refund.")
print("We know better:", told("when are refunds booked"))
print("The answer for January is the corrected one:", told("when are refunds booked", as_of=day(1, 15)))

# Supersede says: the world changed. The old memory ends where the new one begins; both stay readable.
today = day(3, 2)
memory.remember("Refunds are booked at the end of the month.", supersedes=(rule.id,), valid_from=day(3, 1))
print("From March on:", told("when are refunds booked"))
print("True in February:", told("when are refunds booked", as_of=day(2, 15)))
print("True today:", told("when are refunds booked", as_of=today))

for version in memory.history(rule.id).versions:
    print(f"#{rule.id} version {version.number}: {version.change} by {version.by}")

# Two agents correct the same memory: with the version each has read, the slower one learns of it.
seen = memory.remember("The refund report runs at six.").memory
memory.revise(seen.id, content="The refund report runs at seven.", expected_version=seen.version)
try:
    memory.revise(seen.id, content="The refund report runs at eight.", expected_version=seen.version)
except VersionConflict as late:
    print("Somebody was faster:", str(late).split(" Read")[0])

memory.close()
