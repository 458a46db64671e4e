"""HOW does a host start the tools of datamind? By the command, with settings in its environment."""

import os
from pathlib import Path

from mcp import StdioServerParameters

from tests.forked import relayed
from tests.surfaces.conftest import COMMAND, SOURCE


def speaking_datamind(db: Path | None, *paths: Path, **settings: str) -> StdioServerParameters:
    """`paths` are where modules of one's own lie."""
    environment = {name: os.environ[name] for name in os.environ if name.startswith("ONRECORD_")}
    environment |= {"PYTHONPATH": os.pathsep.join([SOURCE, *map(str, paths)]), **settings}
    if db is not None:
        environment["DATAMIND__MEMORY__DSN"] = str(db)
    program, *words = relayed(COMMAND[-1], "mcp", "--face", "datamind")
    return StdioServerParameters(command=program, args=words, env=environment)
