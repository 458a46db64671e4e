"""HOW do two files change together? The last line of a change in the history confirms it, and the new memories.yaml is ready.

A change is put down in this order, each step on disk before the next:

1. the new memories.yaml, under a name of its own (`.memories.yaml.new`);
2. the lines of the change at the end of the history, of which the last one names the digest of that file; or, to
   forget, a new history in place of the old one. With this the change is made;
3. the new memories.yaml in place of the old one;
4. the index, with the digests of both files.

After a crash before 2, the next opening removes the new file, which no commit names: nothing happened. After 2
the last commit names the file that lies ready, and that file takes its place: all of it happened. After 3 the files
agree, and only the index is behind, which its digests show; it is derived anew. A line torn in 2 has no commit
after it, and is cut off. At no point do the files say different things for longer than it takes to open the store.
"""

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from onrecord import private_files
from onrecord.errors import StoreUnavailable
from onrecord.store.yaml.history import Tail, digest_of, hash_of
from onrecord.store.yaml.locking import HeldLock

_Mark = tuple[int, int, int, int]

EDITED: Final = "{path} was edited by someone at this very moment; nothing was changed. Try again."
#: Some programs write a file in pieces; after this time without a change it counts as complete.
_CALM_S: Final = 0.5
# A file that was changed twice within one tick of its clock may look the same.
_TICK_NS: Final = 100_000_000
_COARSE_TICK_NS: Final = 2_000_000_000
_REPLACE_TRIES: Final = 20


class TextFile:
    """One file, whose digest is known without reading it if it cannot have changed.

    A file that only programs write counts as unchanged when size and time are the same. People may change a letter
    without either showing it.
    """

    def __init__(self, path: Path, *, by_people: bool) -> None:
        self.path = path
        self._by_people = by_people
        # One value, since several threads look at it.
        self._known: tuple[_Mark, hashlib.blake2b] | None = None

    @property
    def staged(self) -> Path:
        """The path of its next content, before it is moved into place."""
        return self.path.with_name(f".{self.path.name}.new")

    def read(self) -> bytes | None:
        """Its bytes; None if it does not exist."""
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                content = file.read()
        except FileNotFoundError:
            self._known = None
            return None
        except OSError as problem:
            raise StoreUnavailable(f"{self.path} cannot be read: {problem.strerror or problem}.") from None
        is_sure = len(content) == stat.st_size and not (self._by_people and _is_fresh(stat))
        self._known = (_mark(stat), hash_of(content)) if is_sure else None
        return content

    def digest(self) -> str:
        if (known := self._known) is not None:
            with suppress(OSError):
                if _mark(self.path.stat()) == known[0]:
                    return known[1].hexdigest()
        return digest_of(self.read())

    def append(self, lines: bytes) -> str:
        """Add to its end and return the new digest; if that fails, the file is as before."""
        with open(self.path, "ab", opener=private_files.opener) as file:
            before = os.fstat(file.fileno())
            known = self._known if self._known and self._known[0] == _mark(before) else None
            longer = known[1].copy() if known else hash_of(self.read() or b"")
            try:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                # If not even this works, the torn end is cut off when the store is next opened.
                with suppress(OSError):
                    os.ftruncate(file.fileno(), before.st_size)
                raise
            longer.update(lines)
            self._known = _mark(os.fstat(file.fileno())), longer
        return longer.hexdigest()

    def age(self) -> float:
        """How many seconds ago it was changed; if it is gone, when its folder was."""
        for path in (self.path, self.path.parent):
            with suppress(OSError):
                return time.time() - path.stat().st_mtime
        return _CALM_S


def _mark(stat: os.stat_result) -> _Mark:
    return stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_dev


def _is_fresh(stat: os.stat_result) -> bool:
    """Whether a change just now might not show in the file's time."""
    tick = _COARSE_TICK_NS if stat.st_mtime_ns % 1_000_000_000 == 0 else _TICK_NS
    return abs(time.time_ns() - stat.st_mtime_ns) < tick


class Digests(NamedTuple):
    """One state of both files."""

    yaml: str
    history: str


class FileChange(NamedTuple):
    """What a change writes: the new file, if it changes, and new lines for the history, or the whole history."""

    yaml: bytes | None
    lines: bytes
    anew: bool


class Files:
    """memories.yaml and its history."""

    def __init__(self, path: Path) -> None:
        self.yaml = TextFile(path, by_people=True)
        self.history = TextFile(path.with_name(f"{path.stem}.history.jsonl"), by_people=False)

    def are_there(self) -> bool:
        """Whether either exists; a history alone means that the other was lost."""
        return self.yaml.path.exists() or self.history.path.exists()

    def digests(self) -> Digests:
        return Digests(self.yaml.digest(), self.history.digest())

    def has_leftovers(self) -> bool:
        """Whether a staged file exists: someone is writing, or was interrupted."""
        return self.yaml.staged.exists() or self.history.staged.exists()

    def is_calm(self) -> bool:
        """Whether neither was changed a moment ago, when someone might still be writing."""
        return not any(0 <= file.age() < _CALM_S for file in (self.yaml, self.history))

    def recover(self, lines: bytes | None, tail: Tail) -> bytes | None:
        """Finish what a crash interrupted, or remove every trace of it; returns the history afterwards.

        Call it only with the lock held.
        """
        try:
            self._finish(tail)
            self.history.staged.unlink(missing_ok=True)
            if lines is None or tail.sound == len(lines):
                return lines
            with self.history.path.open("rb+") as file:
                file.truncate(tail.sound)
                os.fsync(file.fileno())
        except OSError as problem:
            raise StoreUnavailable(_explained(self.yaml.path, problem)) from problem
        return lines[: tail.sound]

    def _finish(self, tail: Tail) -> None:
        """Move the staged file into place, if the history says that its change was made."""
        if not self.yaml.staged.exists():
            return
        if tail.commit == (digest_of(self.yaml.staged.read_bytes()), self.yaml.digest()):
            _replace(self.yaml.staged, self.yaml.path)
            _sync_folder(self.yaml.path.parent)
        else:
            self.yaml.staged.unlink()

    def put_down(self, held: HeldLock, change: FileChange, over: Digests) -> Digests:
        """Make a change if the files are unchanged, and return their digests afterwards."""
        try:
            if change.yaml is not None:
                _write(self.yaml.staged, change.yaml, like=self.yaml.path)
            if change.anew:
                _write(self.history.staged, change.lines, like=self.history.path)
            self._check(held, over)
            history = self._commit(change)
        except (OSError, StoreUnavailable) as problem:
            for staged in (self.yaml.staged, self.history.staged):
                with suppress(OSError):
                    staged.unlink(missing_ok=True)
            if isinstance(problem, StoreUnavailable):
                raise
            raise StoreUnavailable(_explained(self.yaml.path, problem)) from problem
        self._put_in_place(change)
        return Digests(over.yaml if change.yaml is None else digest_of(change.yaml), history)

    def _commit(self, change: FileChange) -> str:
        if not change.anew:
            return self.history.append(change.lines)
        _replace(self.history.staged, self.history.path)
        return digest_of(change.lines)

    def _put_in_place(self, change: FileChange) -> None:
        """The change is made. If the file cannot be moved into place now, the next process does it."""
        try:
            _sync_folder(self.yaml.path.parent)
            if change.yaml is not None:
                with suppress(OSError):
                    _replace(self.yaml.staged, self.yaml.path)
                _sync_folder(self.yaml.path.parent)
        except OSError as problem:
            raise StoreUnavailable(
                f"{self.yaml.path} was changed, but the disk does not confirm it ({problem.strerror or problem}). "
                "Check the disk, and look whether the change is there."
            ) from problem

    def _check(self, held: HeldLock, over: Digests) -> None:
        for file in (self.yaml, self.history):
            if file.path.exists() and not os.access(file.path, os.W_OK):
                raise StoreUnavailable(
                    f"{file.path} cannot be written (read-only); nothing was changed. It can still be read."
                )
        if self.digests() != over:
            raise StoreUnavailable(EDITED.format(path=self.yaml.path))
        if not held.is_in_place():
            raise StoreUnavailable(
                f"The lock of {self.yaml.path} was removed while it was held; nothing was changed. Try again."
            )


def _explained(path: Path, problem: OSError) -> str:
    reason = problem.strerror or str(problem)
    return f"{path} could not be written ({reason}); nothing was changed. Check the folder and the disk."


def _write(path: Path, content: bytes, *, like: Path) -> None:
    with open(path, "wb", opener=private_files.opener) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        path.chmod(like.stat().st_mode & 0o7777)


def _replace(source: Path, target: Path) -> None:
    """Put a file in place of another. Some systems refuse while a program has the other one open."""
    for left in range(_REPLACE_TRIES, -1, -1):
        try:
            source.replace(target)
            return
        except PermissionError:
            if not left:
                raise
            time.sleep(0.05)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
