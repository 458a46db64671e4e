"""WHO makes missing vectors where no worker runs? A background process that a command starts: gentle, bounded, and one at a
time.
"""

import os
import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from onrecord.errors import OnRecordError

if TYPE_CHECKING:
    from onrecord.config import Config
    from onrecord.doors import Door

#: So long such a process works at most, and so long no command starts another.
_LASTING: Final = timedelta(minutes=2)


def leave_worker(door: "Door", config: "Config") -> None:
    """If something was put off or vectors are missing, start a process that does it. Nobody waits for it, and whatever
    keeps it from starting spoils no command.
    """
    from onrecord.config import read_choice

    if config.url is not None:
        # A server has a worker of its own.
        return
    from onrecord.service import OnRecord

    assert isinstance(door, OnRecord)
    if config.db == ":memory:" or not read_choice("worker", config.worker):
        return
    try:
        worker = door.worker
        if worker.is_wanted() and worker.takes_turn(_LASTING):
            _start(config)
    except (OnRecordError, OSError):
        return


def _start(config: "Config") -> None:
    within = str(int(_LASTING.total_seconds()))
    subprocess.Popen(
        [sys.executable, "-m", "onrecord", "work", "--once", "--gently", "--within", within],
        # The address of a store may hold a password, and everyone can read the options of a process.
        env={
            **{name: value for name, value in os.environ.items() if name != "ONRECORD_URL"},
            "ONRECORD_DB": config.db,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
