"""HOW does a file travel? An export is written as a whole or not at all; an import is read from its file."""

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from onrecord.care.export import Exported
from onrecord.care.export import exported as report
from onrecord.care.kinds import kind_of
from onrecord.errors import StoreUnavailable

_STANDARD: Final = "-"


@contextmanager
def file_for(name: str, path: str) -> Iterator[Path]:
    """The file that an export writes or an import reads during the call."""
    with _written(path) if name == "export" else _read(path) as file:
        yield file


def exported(file: Path, path: str) -> Exported:
    """How much a whole export holds."""
    counts, versions = Counter[str](), 0
    with file.open(encoding="utf-8") as lines:
        # The first line is the head.
        for line in islice(lines, 1, None):
            told = json.loads(line)
            counts[kind_of(told).key] += 1
            versions += len(told.get("versions", ()))
    return report(path, counts, versions)


@contextmanager
def _written(path: str) -> Iterator[Path]:
    """A private file beside the target, which it replaces when complete."""
    target = None if path == _STANDARD else Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target and target.parent, prefix=".onrecord-", suffix=".part")
        os.close(handle)
        partial = Path(name)
        try:
            yield partial
            if target is None:
                with partial.open(encoding="utf-8") as file:
                    shutil.copyfileobj(file, sys.stdout)
            else:
                with partial.open("rb+") as written:
                    os.fsync(written.fileno())
                partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as problem:
        raise StoreUnavailable(f"{path} cannot be written: {problem.strerror or problem}.") from None


@contextmanager
def _read(path: str) -> Iterator[Path]:
    try:
        if path != _STANDARD:
            Path(path).open("rb").close()
            yield Path(path)
            return
        # Kept in a file, so that it can be sent again.
        with tempfile.TemporaryDirectory(prefix="onrecord-") as folder:
            kept = Path(folder) / "import.jsonl"
            kept.write_text(sys.stdin.read(), encoding="utf-8")
            yield kept
    except OSError as problem:
        raise StoreUnavailable(f"{path} cannot be read: {problem.strerror or problem}.") from None
