"""IS what is deleted gone? No byte of a SQLite file or its log holds a word of a deleted file or of cleared notes."""

from pathlib import Path

import pytest

from onrecord import connect

_MARK = "zqsecretword"


@pytest.mark.parametrize("kind", ["store.db", "store"])
def test_no_byte_holds_a_word_of_what_was_deleted_written_over_or_cleared(kind: str, tmp_path: Path) -> None:
    db = str(tmp_path / kind) if kind.endswith(".db") else f"yaml:{tmp_path / kind}"
    with connect(db) as door:
        inside = door.as_caller(door.caller.inside("talk"))
        inside.write_artifact("over.txt", f"{_MARK} at first " * 100)
        inside.write_artifact("deleted.txt", f"{_MARK} to be deleted " * 100)
        inside.write_artifact("ended.txt", f"{_MARK} to end with its conversation " * 100)
        door.append_scratchpad(f"{_MARK} noted " * 100, agent="scout")
        assert _MARK in _bytes(tmp_path)
        inside.write_artifact("over.txt", "harmless")
        inside.delete_artifact("2")
        door.delete_conversation("talk")
        door.clear_scratchpad("scout")
        assert _MARK not in _bytes(tmp_path)


def _bytes(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return b"".join(file.read_bytes() for file in files).decode("latin-1").lower()
