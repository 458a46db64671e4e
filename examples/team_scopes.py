"""One store, several people and agents: each sees what is meant for them, and nothing tells them of the rest.

Prints:

    ann    sees: billing: retry at night, invoices need a VAT id, my desk is by the window
    bob    sees: invoices need a VAT id, who approves invoices
    agent  sees: billing: retry at night, invoices need a VAT id
    bob asks for ann's note: No memory 2 that you can see.
    bob asks for nothing at all: No memory 99 that you can see.
    bob corrects ann's rule: You may read memory 1 but not change it: it belongs to ann.
    the night run proposes #5 (pending)
    after review it is active
"""

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Forbidden, NotFound

ann = Caller(tenant="acme", user="ann", systems={"billing": "manage"})
bob = Caller(tenant="acme", user="bob", conversation="planning")
agent = Caller(tenant="acme", user="support-agent", actor="agent", systems={"billing": "read"})
night = Caller(tenant="acme", user="night-run", actor="unattended")
chief = Caller(tenant="acme", user="chief", permissions=frozenset({"memory.read", "memory.review"}))

memory = connect(":memory:", caller=ann)


def titles(door: OnRecord) -> str:
    return ", ".join(sorted(each.title for each in door.browse().memories))


memory.remember("invoices need a VAT id", scope="tenant")
memory.remember("my desk is by the window", scope="user")
memory.remember("billing: retry at night", scope="system", system="billing")
memory.as_caller(bob).remember("who approves invoices", scope="session")

for name, caller in (("ann", ann), ("bob", bob), ("agent", agent)):
    print(f"{name:6} sees: {titles(memory.as_caller(caller))}")

# A forbidden id and an unknown one get the same answer.
for what, id in (("ann's note", "2"), ("nothing at all", "99")):
    try:
        memory.as_caller(bob).show(id)
    except NotFound as answer:
        print(f"bob asks for {what}: {str(answer).split(' Check')[0]}")

try:
    memory.as_caller(bob).revise("1", content="invoices need nothing")
except Forbidden as answer:
    print(f"bob corrects ann's rule: {answer}")

# What runs without a person watching may propose, and a reviewer decides.
proposal = memory.as_caller(night).remember("invoices above 10,000 need two signatures").memory
print(f"the night run proposes #{proposal.id} ({proposal.status})")
accepted = memory.as_caller(chief).approve(proposal.id).memory
print(f"after review it is {accepted.status}")

memory.close()
