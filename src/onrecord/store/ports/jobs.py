"""WHAT is put off? Work that a save leaves behind, for whichever worker comes next."""

from typing import Final, NamedTuple

from onrecord.model.collections import Home

#: The job of making the vectors of a memory, or of all that have none.
EMBED: Final = "embed"


class Job(NamedTuple):
    """Work that one worker has claimed for a while. `subject` is the row of a memory, or 0 for the whole tenant."""

    home: Home
    name: str
    subject: int
    attempts: int
    worker: str
