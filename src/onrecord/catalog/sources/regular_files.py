"""HOW is a file of a source read safely? Its bytes, if it is a regular file within bounds; a pipe or a device might never
end.
"""

import os
import stat
from pathlib import Path
from typing import Final

#: Three times the size of the largest known manifest of dbt.
MOST_BYTES: Final = 512 * 1024 * 1024


def read_regular(path: Path) -> bytes:
    """The bytes; OSError if the file cannot be read, is not a regular file, or is too large."""
    # Without waiting for a writer, in case it is a pipe.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        content = file.read(MOST_BYTES + 1) if status.st_size <= MOST_BYTES else None
    if content is None or len(content) > MOST_BYTES:
        raise OSError(f"it is larger than {MOST_BYTES:,} bytes")
    return content
