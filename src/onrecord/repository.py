"""WHICH repository is this? Its name as a tenant, the same in every folder of it, in its worktrees and in other clones of it."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Final

_ORIGIN: Final = re.compile(
    r'^\[remote "origin"\]\s*\n(?:[ \t]+.*\n)*?[ \t]+url[ \t]*=[ \t]*(\S+)', re.MULTILINE
)
_ADDRESS: Final = re.compile(r"^(?:\w[\w+.-]*://)?(?:[^@/]*@)?(?P<place>.+?)(?:\.git)?/*$")
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST: Final = 150


def root_of(folder: Path) -> Path | None:
    """The uppermost folder of the repository, or of the worktree, that a folder is in; None outside of any."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def tenant_of(folder: Path) -> str | None:
    """The tenant of the repository that a folder is in: made of the address of its origin, or of its own place; None outside
    of any.
    """
    for each in (folder, *folder.parents):
        if (held := _held(each / ".git")) is not None:
            return _named(held)
    return None


def _held(git: Path) -> Path | None:
    """Where a repository keeps its settings; a worktree says where that is."""
    try:
        if git.is_dir():
            return git.resolve()
        own = (git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()).resolve()
        shared = own / "commondir"
        return (own / shared.read_text(encoding="utf-8").strip()).resolve() if shared.exists() else own
    except (OSError, ValueError):
        return None


def _named(held: Path) -> str:
    try:
        origin = _ORIGIN.search((held / "config").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        origin = None
    if origin is not None and (address := _ADDRESS.match(origin[1])):
        return _ODD.sub("-", address["place"]).strip("-.")[-_LONGEST:] or "repository"
    root = held.parent if held.name == ".git" else held
    name = _ODD.sub("-", root.name).strip("-.")[:_LONGEST]
    return f"{name or 'repository'}-{sha256(str(root).encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
