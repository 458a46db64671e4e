"""HOW does an agent reach us? The Model Context Protocol: tools, resources and prompts, over stdio and over HTTP."""

from typing import Final

#: The faces there are, by name; here, so that a command line completes them without loading any.
FACE_NAMES: Final = ("native", "full", "slayer", "datamind", "checkstack")
