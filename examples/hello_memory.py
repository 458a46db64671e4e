"""An agent's memory in the words of datamind: profiles, sessions, kinds, and what was just said.

Prints:

    [hello_memory] memory_recall: "What do we know about Ann's coffee preference?"
      score=1.000 Ann takes oat milk in her coffee.
      score=0.493 The user's name is Ann.
    [hello_memory] in another profile: Always cite sources.
    [hello_memory] after memory_forget: The user's name is Ann.
    [hello_memory] the last 2 turns: Where is my coffee? / On its way.
    [hello_memory] extracted 0 fact(s)
"""

import asyncio

from onrecord import connect
from onrecord.faces.datamind import MemoryService, OnRecordMemoryStore, ShortTermMemory

QUESTION = "What do we know about Ann's coffee preference?"


async def main() -> None:
    store = OnRecordMemoryStore(connect(":memory:"))
    memory = MemoryService(store, profile="cafe", short_term=ShortTermMemory(max_turns=2))

    await memory.save("The user's name is Ann.")
    oat = await memory.save("Ann takes oat milk in her coffee.", kind="preference")
    await memory.save("The ferry to the island leaves at nine.", scope="session", session_id="travel")
    await memory.save("Always cite sources.", scope="global")

    print(f'[hello_memory] memory_recall: "{QUESTION}"')
    for item in await memory.recall(QUESTION, scope_filter=["profile"]):
        print(f"  score={item.score:.3f} {item.content}")

    elsewhere = await memory.recall("Does Ann's coffee need sources?", profile="library")
    print("[hello_memory] in another profile:", *(item.content for item in elsewhere))

    await memory.forget(oat)
    left = await memory.recall("Ann", scope_filter=["profile"])
    print("[hello_memory] after memory_forget:", *(item.content for item in left))

    for role, text in (("user", "Hello."), ("user", "Where is my coffee?"), ("assistant", "On its way.")):
        memory.short_term.append("talk", role, text)
    print(
        "[hello_memory] the last 2 turns:",
        " / ".join(turn.content for turn in memory.short_term.recent("talk")),
    )

    # Facts are extracted by an advisor (ONRECORD_ADVISOR=openai:MODEL …); without one there are none.
    facts = await memory.extract_and_save(
        user_turn="I'm moving to Shenzhen next month and will start jogging in the morning.",
        assistant_turn="Nice — Shenzhen in April is great for outdoor runs.",
        scope="session",
        session_id="abc",
    )
    print(f"[hello_memory] extracted {len(facts)} fact(s){':' if facts else ''}")
    for fact in facts:
        print(f"  - {fact}")
    store.close()


asyncio.run(main())
