"""HOW do we use DataHub? Over GraphQL: its client, its names, its current values, and how to change them."""

from typing import Final

#: What it is called as a source and as a target; where it is, the settings say.
NAME: Final = "datahub"
