"""YAML: knowledge as code, in a file that people read, edit and review."""

from typing import Final

#: The file of the memories, in a folder that is named as a store.
MEMORIES: Final = "memories.yaml"
