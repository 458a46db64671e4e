"""HOW is DataHub spoken to? Over GraphQL: its client, its names, what stands there, and how it is changed."""

from typing import Final

#: What it is called as a source and as a target; where it is, the settings say.
NAME: Final = "datahub"
