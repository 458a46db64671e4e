"""A LangGraph program whose long-term memory is kept here: a graph notes what people like, and finds it again by meaning.

Prints:

    ann: noted
    bob: noted
    ann: I remember: I drink oat milk in my coffee.
    namespaces: users.ann, users.bob
    2 versions of ann's note
"""

import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from onrecord import connect
from onrecord.frameworks.langgraph import OnRecordStore


class State(TypedDict, total=False):
    user: str
    said: str
    answer: str


def answer(state: State, runtime: Runtime) -> State:
    mine = ("users", state["user"])
    if not state["said"].endswith("?"):
        runtime.store.put(mine, "drinks", {"text": state["said"]})
        return {"answer": "noted"}
    found = runtime.store.search(mine, query=state["said"], limit=1)
    return {"answer": f"I remember: {found[0].value['text']}"}


memory = connect(sys.argv[1] if len(sys.argv) > 1 else ":memory:")
store = OnRecordStore(memory, index={"fields": ["text"]})

builder = StateGraph(State)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
builder.add_edge("answer", END)
graph = builder.compile(store=store)

store.put(("users", "ann"), "drinks", {"text": "I drink cow's milk in my coffee."})
for user, said in (
    ("ann", "I drink oat milk in my coffee."),
    ("bob", "I like my tea black."),
    ("ann", "Which milk do I want?"),
):
    print(f"{user}: {graph.invoke({'user': user, 'said': said})['answer']}")

print("namespaces:", ", ".join(".".join(each) for each in store.list_namespaces(prefix=("users",))))
ann = memory.recall("oat milk").hits[0].memory
print(len(memory.history(ann.id).versions), "versions of ann's note")
memory.close()
