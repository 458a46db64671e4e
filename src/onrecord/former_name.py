"""WHAT did the project's former name leave behind? Settings, a config file and a store that must not be overlooked.

Until it was called OnRecord, the project had a name that belongs to another package. What is left of that is never passed
over in silence: someone would find an empty store in the place of theirs.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import platformdirs

from onrecord import private_files
from onrecord.errors import Fault, Invalid, StoreUnavailable

_NAME: Final = "recollect"
_PREFIX: Final = "RECOLLECT_"
_PREFIX_NOW: Final = "ONRECORD_"
_CURE: Final = "`onrecord migrate` takes it over"


def refuse_variables(
    environment: Mapping[str, str], settings: Collection[str], given: Collection[str]
) -> None:
    """Variables of the former prefix count only where what they set is set anew, or given on the spot."""
    left = [
        Fault(_PREFIX + name, f"is the former name of a setting; set {_PREFIX_NOW}{name} instead")
        for setting in (*settings, "config")
        if (name := setting.upper()) and _PREFIX + name in environment
        if _PREFIX_NOW + name not in environment and setting not in given
    ]
    if left:
        raise Invalid(left)


def renamed_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The same variables under the prefix of today."""
    return {
        _PREFIX_NOW + name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else name: value
        for name, value in environment.items()
    }


def refuse_config(path: Path) -> None:
    """A config file at its former place counts for nothing, so someone must say whether it should."""
    former = _former_config()
    if former.exists() and not path.exists():
        reason = f"is the config file of the former name, and there is none at {path}; {_CURE}"
        raise Invalid([Fault(str(former), reason)])


def refuse_store(path: Path) -> None:
    """A store at its former place, and none where it is looked for: a new one would hide it."""
    former = _former_store()
    if former.exists() and not path.exists():
        raise StoreUnavailable(
            f"{former} is the store of the former name, and there is none at {path}; {_CURE}, or name one with --db."
        )


def take_over(config: Path, store: Path) -> Iterator[tuple[Path, Path]]:
    """Copy what is at the former places to those of today, unless something is there; what is copied stays as well."""
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
    """Whole or not at all, and never over what another process has put there meanwhile."""
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
    """By SQLite itself, which knows what is still in the log beside the file."""
    with closing(sqlite3.connect(former)) as source, closing(sqlite3.connect(now)) as target:
        source.backup(target)
