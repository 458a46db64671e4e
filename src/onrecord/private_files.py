"""WHO may read a file of ours? Its owner alone: memories are private, and so are the keys and the audit beside them.

Only files and folders that we make ourselves get these permissions. Existing folders stay as they are. We warn of a
file that others can read until `onrecord doctor --fix` closes it, since someone may share one on purpose.
"""

import logging
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_OWNER_ALONE: Final = 0o600
_FOLDER: Final = 0o700
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_log: Final = logging.getLogger("onrecord.store")
_warned_of: Final = set[str]()


def make_folder(path: Path) -> None:
    """Make a folder with its missing parents; only the owner can read those that are made."""
    if path.is_dir():
        return
    if path.parent != path:
        make_folder(path.parent)
    path.mkdir(_FOLDER, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file, unless there is one.

    An existing file is not even opened: closing it again would release the locks that this process holds on it.
    """
    try:
        path.touch(_OWNER_ALONE, exist_ok=False)
    except FileExistsError:
        return


def make_anew(path: Path) -> None:
    """Make an empty file in place of whatever is there; a link to another file is not followed."""
    path.unlink(missing_ok=True)
    path.touch(_OWNER_ALONE, exist_ok=False)


@contextmanager
def replacing(path: Path, partial: Path | None = None) -> Iterator[Path]:
    """A new private file, which takes the place of `path` when the block is done. If the block fails, `path` stays as it is.

    Its name is `partial`, or one that no other process uses.
    """
    partial = partial or path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        make_anew(partial)
        yield partial
        # POSIX syncs what is open for reading, and the block may have made it read-only; Windows asks for more.
        with partial.open("rb" if os.name == "posix" else "rb+") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def opener(path: str, flags: int) -> int:
    """For `open(opener=…)`: files that it makes are readable by their owner alone."""
    return os.open(path, flags, _OWNER_ALONE)


def open_ones(files: Iterable[Path]) -> Iterator[Path]:
    """Those of the files that others on this machine can read or write."""
    if os.name != "posix":
        return
    for path in files:
        try:
            # Links are not followed, since someone else may have made them.
            mode = path.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and mode & _OTHERS:
            yield path


def close(path: Path) -> None:
    """Let only its owner read and write a file."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


def tell_of_open_ones(location: str, files: Iterable[Path]) -> None:
    """Warn once in this process if others can read files of a store."""
    if location not in _warned_of and (found := list(open_ones(files))):
        _warned_of.add(location)
        _log.warning(
            "Others on this machine can read %s. `onrecord doctor --fix` closes what is open.",
            ", ".join(map(str, found)),
        )
