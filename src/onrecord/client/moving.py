"""HOW does a file travel? An export is written as a whole or not at all; an import is read from its file."""

import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from onrecord.care.export import Exported, atomic_file
from onrecord.care.export import exported as report
from onrecord.care.kinds import STANDARD, kind_of
from onrecord.errors import StoreUnavailable


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
            entry = json.loads(line)
            counts[kind_of(entry).key] += 1
            versions += len(entry.get("versions", ()))
    return report(path, counts, versions)


@contextmanager
def _written(path: str) -> Iterator[Path]:
    """A private file that replaces the target, or is printed, when it is complete."""
    if path != STANDARD:
        with atomic_file(Path(path)) as file:
            yield file
        return
    with tempfile.TemporaryDirectory(prefix="onrecord-") as folder:
        file = Path(folder, "export.jsonl")
        yield file
        with file.open(encoding="utf-8") as lines:
            shutil.copyfileobj(lines, sys.stdout)


@contextmanager
def _read(path: str) -> Iterator[Path]:
    try:
        if path != STANDARD:
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
