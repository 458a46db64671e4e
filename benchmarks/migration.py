"""WHAT does it cost to bring an older store up to date? Seconds and disk, beside a plain copy of the file in the same run.

    python benchmarks/migration.py OLDER.db

The store itself is left alone: a copy of it is migrated.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from onrecord import connect


def main() -> None:
    older = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="onrecord-bench-") as folder:
        store = Path(folder, "store.db")
        began = perf_counter()
        shutil.copyfile(older, store)
        copied = perf_counter() - began
        before = _bytes_in(folder)
        began = perf_counter()
        with connect(store, embedder="none") as door:
            migrated = perf_counter() - began
            during = _bytes_in(folder)
            memories = sum(tenant.memories for tenant in door.status().tenants)
        after = _bytes_in(folder)
        again = perf_counter()
        connect(store, embedder="none").close()
        reopened = perf_counter() - again
    print(f"{memories:,} memories, {before / 2**20:,.0f} MiB")
    print(
        f"plain copy {copied:.2f} s; migrated {migrated:.2f} s ({migrated / copied:.1f} times); opened again {reopened:.3f} s"
    )
    print(
        f"disk: {before / 2**20:,.0f} MiB before, {during / 2**20:,.0f} at the end of it, {after / 2**20:,.0f} after (with the copy)"
    )


def _bytes_in(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).iterdir())


if __name__ == "__main__":
    main()
