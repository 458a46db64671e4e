"""WHAT did the project's former name leave behind? Settings, a config file and a store that must not be overlooked.

Until it was called OnRecord, the project had a name that belongs to another package. What is left under that name is
never ignored silently: someone would find an empty store where theirs should be.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import platformdirs

from onrecord import private_files
from onrecord.errors import Fault, Invalid, StoreUnavailable, invalid

_NAME: Final = "recollect"
_PREFIX: Final = "RECOLLECT_"
_PREFIX_NOW: Final = "ONRECORD_"
_CURE: Final = "`onrecord migrate` takes it over"


def refuse_variables(
    environment: Mapping[str, str], settings: Collection[str], given: Collection[str]
) -> None:
    """Refuse a variable with the former prefix, unless its setting is set under the new prefix or given as an
    argument.
    """
    left = [
        Fault(_PREFIX + name, f"is the former name of a setting; set {_PREFIX_NOW}{name} instead")
        for setting in (*settings, "config")
        if (name := setting.upper()) and _PREFIX + name in environment
        if _PREFIX_NOW + name not in environment and setting not in given
    ]
    if left:
        raise Invalid(left)


def renamed_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The same variables with the new prefix."""
    return {
        _PREFIX_NOW + name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else name: value
        for name, value in environment.items()
    }


def refuse_config(path: Path) -> None:
    """Refuse to go on while there is a config file at its former place: it is not read, and its owner may think that
    it is.
    """
    former = _former_config()
    if former.exists() and not path.exists():
        reason = f"is the config file of the former name, and there is none at {path}; {_CURE}"
        raise invalid(str(former), reason)


def refuse_store(path: Path) -> None:
    """Refuse to make a new store while there is one at its former place and none at the new one: the new store would
    hide it.
    """
    former = _former_store()
    if former.exists() and not path.exists():
        raise StoreUnavailable(
            f"{former} is a store made under the project's former name, and there is none at {path}. {_CURE}, or name one with --db."
        )


def take_over(config: Path, store: Path) -> Iterator[tuple[Path, Path]]:
    """Copy what is at the former places to the new ones, unless something is there. The originals stay."""
    for former, now, copy in (
        (_former_config(), config, _copy_text),
        (_former_store(), store, _copy_store),
    ):
        if former.exists() and not now.exists():
            _copied(former, now, copy)
            yield former, now


def _former_config() -> Path:
    return platformdirs.user_config_path(_NAME) / "config.toml"


def _former_store() -> Path:
    return platformdirs.user_data_path(_NAME) / f"{_NAME}.db"


def _copied(former: Path, now: Path, copy: Callable[[Path, Path], None]) -> None:
    """Copy the whole file or nothing, and never over a file that another process has written meanwhile."""
    partial = now.with_name(f".{now.name}.{os.getpid()}.part")
    try:
        private_files.make_folder(now.parent)
        private_files.make_anew(partial)
        copy(former, partial)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        os.link(partial, now)
    except FileExistsError:
        return
    except (OSError, sqlite3.Error) as problem:
        raise StoreUnavailable(
            f"{former} could not be copied to {now}: {problem}. Nothing was changed."
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def _copy_text(former: Path, now: Path) -> None:
    now.write_bytes(former.read_bytes())


def _copy_store(former: Path, now: Path) -> None:
    """Let SQLite copy the store, since it knows what is still in the log beside the file."""
    with closing(sqlite3.connect(former)) as source, closing(sqlite3.connect(now)) as target:
        source.backup(target)
