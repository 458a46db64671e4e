"""DOES it still say the same? Answers kept as files, compared letter by letter.

ONRECORD_TEST_GOLDEN=write writes the files anew instead, for someone to review what has changed.
"""

import os
import re
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path

ANSWERS = Path(__file__).parent / "golden" / "answers"
#: Where this checkout lies says nothing; a catalog notes from where it was told.
_ROOT = str(Path(__file__).parents[1])
WRITES = os.environ.get("ONRECORD_TEST_GOLDEN") == "write"
#: How much of a difference is shown: enough to see what kind it is.
_MOST_LINES = 80
_MOST_LETTERS = 300

#: A score; where vectors had a part in it, another processor or database adds up in another order.
_SCORE = re.compile(r"-?\d+\.\d{3,}\b")
_STEP = 0.000_11

Alike = Callable[[str, str], bool]


def check(path: Path, said: str, *, alike: Alike = str.__eq__) -> None:
    """Fail, and show where, unless the file says what was said."""
    check_all({path: said}, alike=alike)


def check_all(said: Mapping[Path, str], *, alike: Alike = str.__eq__, writes: bool = True) -> None:
    """The same for several files. With `writes=False` another test writes them, and this one only compares."""
    said = {path: text.replace(_ROOT, "<checkout>") for path, text in said.items()}
    if WRITES:
        for path, text in said.items() if writes else ():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        return
    differing = [_difference(path, text) for path, text in said.items() if not alike(_read(path), text)]
    assert not differing, _explained("\n".join(differing))


def nearly(then: str, now: str) -> bool:
    """The same letter by letter, but for the last of the four decimals of a score."""
    if _SCORE.sub("", then) != _SCORE.sub("", now):
        return False
    pairs = zip(_SCORE.findall(then), _SCORE.findall(now), strict=True)
    return all(abs(float(one) - float(other)) <= _STEP for one, other in pairs)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _difference(path: Path, text: str) -> str:
    lines = unified_diff(
        _read(path).split("\n"),
        text.split("\n"),
        f"{path.name}, as kept",
        f"{path.name}, now",
        lineterm="",
        n=2,
    )
    return "\n".join(line[:_MOST_LETTERS] for line in lines)


def _explained(difference: str) -> str:
    lines = difference.split("\n")
    more = [f"… and {len(lines) - _MOST_LINES} lines more"] if len(lines) > _MOST_LINES else []
    return "\n".join(
        ("the answers differ; if that is meant, `make golden` keeps them:", *lines[:_MOST_LINES], *more)
    )


_SECRET = re.compile(r"\b(?:rk|onr)_[a-z0-9]+_[A-Za-z0-9]+")
_TOOK = re.compile(
    r'(?<="ms": )[\d.]+|\b\d+\.\d\d(?= ms\b)|(?<="bytes": )\d{4,}\b|\b\d{5,}(?= bytes)|(?<=\()[\d,]{6,}(?= bytes\))'
)
#: The digits of a score beyond the fourth differ from one processor to another.
_LONG_SCORE = re.compile(r"\b\d+\.\d{5,}\b")
_RANDOM = re.compile(r"\b[0-9a-f]{32}\b")


def steady(text: str, own: Mapping[str, str]) -> str:
    """Without what differs from run to run: secrets, durations, sizes, and what is named in `own` by what it stands for."""
    text = _SECRET.sub("<secret>", text)
    for what, here in own.items():
        text = text.replace(here, f"<{what}>")
    text = _RANDOM.sub("<random>", _TOOK.sub("…", text))
    return _LONG_SCORE.sub(lambda found: f"{float(found[0]):.4f}", text)
