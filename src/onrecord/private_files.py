"""WHO may read a file of ours? Its owner alone: memories are private, and so are the keys and the audit beside them.

Only what we make ourselves is made so. A folder that was there is left as it is, and a file that others can read is told
of until `onrecord doctor --fix` closes it: whoever shares one on purpose need not.
"""

import logging
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_OWNER_ALONE: Final = 0o600
_FOLDER: Final = 0o700
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_log: Final = logging.getLogger("onrecord.store")
_told_of: Final = set[str]()


def make_folder(path: Path) -> None:
    """A folder with those above it that are not there; each that is made is its owner's alone."""
    if path.is_dir():
        return
    if path.parent != path:
        make_folder(path.parent)
    path.mkdir(_FOLDER, exist_ok=True)


def make_file(path: Path) -> None:
    """An empty file, unless there is one.

    One that is there is not even opened: closing it again would take away the locks that this process has on it.
    """
    try:
        path.touch(_OWNER_ALONE, exist_ok=False)
    except FileExistsError:
        return


def make_anew(path: Path) -> None:
    """An empty file in the place of whatever is left there: a link to another file is not followed."""
    path.unlink(missing_ok=True)
    path.touch(_OWNER_ALONE, exist_ok=False)


def opener(path: str, flags: int) -> int:
    """For `open`: what it makes is made so."""
    return os.open(path, flags, _OWNER_ALONE)


def open_ones(files: Iterable[Path]) -> Iterator[Path]:
    """Those that others on this machine can read or write."""
    if os.name != "posix":
        return
    for path in files:
        try:
            # A link is not ours to follow: someone may have laid it there.
            mode = path.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and mode & _OTHERS:
            yield path


def close(path: Path) -> None:
    """Let none but its owner read and write a file."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


def tell_of_open_ones(location: str, files: Iterable[Path]) -> None:
    """Warn of a store whose files others can read, once in this process."""
    if location not in _told_of and (found := list(open_ones(files))):
        _told_of.add(location)
        _log.warning(
            "Others on this machine can read %s. `onrecord doctor --fix` closes what is open.",
            ", ".join(map(str, found)),
        )
