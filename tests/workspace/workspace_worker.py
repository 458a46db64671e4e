"""WHAT does a process do that uses a workspace beside others? Run as a script: an address, two caps, a job, its number."""

import os
import signal
import sys
import traceback
from itertools import count
from typing import Any

from sqlalchemy import Engine, event

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Conflict
from onrecord.model.limits import PERMISSIONS
from onrecord.workspace import artifacts, scratchpads
from tests.new_stores import compile_once

ANN = Caller(tenant="default", user="ann", permissions=frozenset(PERMISSIONS), operator=True)


def fill(memory: OnRecord, number: int) -> None:
    """Write until there is no room; say how many files and notes were taken."""
    files = notes = 0
    inside = memory.as_caller(ANN.inside("talk"))
    for turn in count():
        try:
            inside.write_artifact(f"{number}/{turn}.txt", "x" * 37)
            files += 1
        except Conflict:
            break
    for turn in count():
        try:
            inside.append_scratchpad(f"process {number} turn {turn:03}", agent="scout")
            notes += 1
        except Conflict:
            break
    # As a whole, for others write there too.
    os.write(sys.stdout.fileno(), f"{files} {notes}\n".encode())


def fill_at_once(db: str, processes: int) -> None:
    """As many processes as are wanted, which begin when the last of them has opened the store."""
    with connect(":memory:", caller=ANN) as door:
        # What they all compile is compiled once.
        door.as_caller(ANN.inside("talk")).write_artifact("a.txt", "x")
        door.append_scratchpad("x", agent="scout")
    opened, tell = os.pipe()
    waiting, let_go = os.pipe()
    for number in range(processes):
        if os.fork() == 0:
            os.close(let_go)
            try:
                with connect(db, caller=ANN) as door:
                    os.write(tell, b".")
                    os.read(waiting, 1)
                    fill(door, number)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os.write(tell, b".")
                os._exit(1)
    for _ in range(processes):
        os.read(opened, 1)
    os.close(let_go)
    statuses = [os.wait()[1] for _ in range(processes)]
    if any(statuses):
        sys.exit("one of them failed")


def fork(db: str) -> None:
    """For each statement that is told, a process that dies there: it has loaded all it needs, and starts at once."""
    with connect(":memory:", caller=ANN) as door:
        door.conversations()
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                with connect(db, caller=ANN) as door:
                    die(door, int(line))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            print(flush=True)
        elif status:
            sys.exit("it failed")


def die(memory: OnRecord, statement: int) -> None:
    """Delete a conversation, and die just before the nth statement of it; commits count. Else say how many there were."""
    run = 0

    def step(*told: Any) -> None:
        nonlocal run
        if told[2:] and told[2].startswith("VACUUM"):
            # Done afterwards, for the sake of what is gone already.
            return
        run += 1
        if run == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    memory.conversations()
    event.listen(Engine, "before_cursor_execute", step)
    event.listen(Engine, "commit", step)
    memory.delete_conversation("talk")
    print(run, flush=True)


if __name__ == "__main__":
    db, of_conversation, of_pad, job, given = sys.argv[1:]
    artifacts.CONVERSATION_BYTES = int(of_conversation)  # type: ignore[misc]
    scratchpads.SCRATCHPAD_BYTES = int(of_pad)  # type: ignore[misc]
    compile_once()
    if job == "fork":
        fork(db)
    else:
        fill_at_once(db, int(given))
