"""Claude's memory tool over a store: what the model writes under /memories are memories, with their versions.

The commands are given here as the model sends them; in a program `client.beta.messages.tool_runner(…, tools=[files])` does it.

Prints:

    File created successfully at: /memories/shop/refunds.md
    The memory file has been edited. Here is the snippet showing the change (with line numbers):
         1	# Refunds
         2	Within 60 days.
    Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:
    25B	/memories
    25B	/memories/shop/
    25B	/memories/shop/refunds.md
    Found by anyone who asks: shop/refunds.md
    It said before: Within 30 days.
    Successfully deleted /memories/shop/refunds.md
    Kept in the past: archived
"""

import sys

from onrecord import connect
from onrecord.frameworks.anthropic import MemoryTool

memory = connect(sys.argv[1] if len(sys.argv) > 1 else ":memory:")
files = MemoryTool(memory)
path = "/memories/shop/refunds.md"

print(files.call({"command": "create", "path": path, "file_text": "# Refunds\nWithin 30 days."}))
print(files.call({"command": "str_replace", "path": path, "old_str": "30", "new_str": "60"}))
print(files.call({"command": "view", "path": "/memories"}))

found = memory.recall("How long can a customer return something?").hits[0].memory
print("Found by anyone who asks:", found.title)
print("It said before:", memory.history(found.id).versions[0].memory.content.splitlines()[1])

print(files.call({"command": "delete", "path": path}))
print("Kept in the past:", memory.show(found.id).memory.status)
memory.close()
