"""WHICH memories did a session of a coding agent get already? A small file for each session says so, since every hook is a process of its
own; losing it costs a repetition, and nothing else.
"""

import json
import time
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import platformdirs

from onrecord import private_files

_KEPT_S: Final = 7 * 86_400
_MOST: Final = 2_000


class HookSession:
    """The versions of memories that one session was shown."""

    def __init__(self, name: str) -> None:
        folder = platformdirs.user_cache_path("onrecord") / "sessions"
        self._path = folder / f"{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"

    def shown(self) -> frozenset[str]:
        try:
            return frozenset(map(str, json.loads(self._path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError):
            return frozenset()

    def note(self, versions: Iterable[str], *, anew: bool = False) -> None:
        """Remember that these were shown; `anew` forgets the earlier ones, which the session no longer has before it."""
        kept = [*(() if anew else self.shown()), *versions]
        try:
            private_files.make_folder(self._path.parent)
            with private_files.replacing(self._path) as partial:
                partial.write_text(json.dumps(sorted(set(kept))[-_MOST:]), encoding="utf-8")
            for each in self._path.parent.iterdir():
                if time.time() - each.stat().st_mtime > _KEPT_S:
                    each.unlink(missing_ok=True)
        except OSError:
            return
