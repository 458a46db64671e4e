"""HOW WELL is it seen that something was said already? Which memories are told as near, and which may be superseded.

Run `python evals/said_already.py` for a report, `--json` for numbers only. `said_already.tsv` holds pairs of texts with a
label: `same` (another spelling), `paraphrase`, `number`, `entity` or `opposite` (nearly the same words, another fact),
`topic` (another fact about the same thing), `unrelated`.

How honest is it? All pairs were written and labelled before there was a rule. Of each label every other pair, the first,
the third and so on, is for calibration: the two thresholds and the lists of `text/wording.py` were chosen by looking at
those alone. The others are held out, and were only counted. Both halves are by one author, and some texts occur in both.
`said_already_blind.tsv` is by another author, who had not seen the rule: other domains, and as many traps as came to mind.
`said_already_captures.tsv` are twenty near-identical captures as people write them and twenty that only look so, written
before articles were let go.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from onrecord.providers.e5 import E5
from onrecord.providers.embedding import Embedder, likeness_of
from onrecord.remember.alike import LISTED_FROM, is_same_text

PAIRS = Path(__file__).with_suffix(".tsv")
BLIND = PAIRS.with_name("said_already_blind.tsv")
CAPTURES = PAIRS.with_name("said_already_captures.tsv")
#: Pairs that say the same; only here is superseding right.
SAME = frozenset({"same", "paraphrase"})
#: Pairs with nothing to tell.
APART = frozenset({"topic", "unrelated"})


class Pair(NamedTuple):
    label: str
    one: str
    other: str


class Judged(NamedTuple):
    """A pair, and what would happen to it."""

    pair: Pair
    likeness: float
    told: bool
    superseded: bool


def parts() -> dict[str, list[Pair]]:
    """The pairs for calibration, those held out, those of another author, and captures of one thing."""
    found: dict[str, list[Pair]] = {
        "calibration": [],
        "held-out": [],
        "blind": _read(BLIND),
        "captures": _read(CAPTURES),
    }
    counts: dict[str, int] = defaultdict(int)
    for pair in _read(PAIRS):
        counts[pair.label] += 1
        found["calibration" if counts[pair.label] % 2 else "held-out"].append(pair)
    return found


def _read(path: Path) -> list[Pair]:
    return [Pair(*line.split("\t")) for line in path.read_text("utf-8").splitlines()]


def judge(pairs: Sequence[Pair], embedder: Embedder) -> Iterator[Judged]:
    for pair in pairs:
        (one,), (other,) = embedder.embed_documents([pair.one, pair.other])
        likeness = likeness_of(float(one.vector @ other.vector), embedder)
        same = is_same_text(pair.one, pair.other, likeness)
        yield Judged(pair, likeness, likeness >= LISTED_FROM, same)


def counted(judged: Sequence[Judged]) -> dict[str, object]:
    """Precision and recall of both, and the share of each label."""
    told = [each.pair.label for each in judged if each.told]
    ended = [each.pair.label for each in judged if each.superseded]
    same = [each for each in judged if each.pair.label in SAME]
    labels = list(dict.fromkeys(each.pair.label for each in judged))
    shares = {
        label: {
            "pairs": len(those),
            "told": sum(each.told for each in those),
            "superseded": sum(each.superseded for each in those),
        }
        for label in labels
        for those in [[each for each in judged if each.pair.label == label]]
    }
    return {
        "pairs": len(judged),
        "tell": {
            "precision": 1 - sum(label in APART for label in told) / len(told),
            "says the same": sum(label in SAME for label in told) / len(told),
            "recall": sum(each.told for each in same) / len(same),
        },
        "supersede": {
            "precision": sum(label in SAME for label in ended) / len(ended),
            "recall": sum(each.superseded for each in same) / len(same),
        },
        "labels": shares,
    }


def measure(embedder: Embedder | None = None) -> dict[str, dict[str, object]]:
    model = embedder or E5()
    return {name: counted(list(judge(pairs, model))) for name, pairs in parts().items()}


def show(report: dict[str, dict[str, object]]) -> None:
    for name, part in report.items():
        print(f"\n{name}: {part['pairs']} pairs")
        for what in ("tell", "supersede"):
            figures = part[what]
            assert isinstance(figures, dict)
            print(f"  {what:10} " + ", ".join(f"{each} {value:.3f}" for each, value in figures.items()))
        labels = part["labels"]
        assert isinstance(labels, dict)
        for label, shares in labels.items():
            print(f"  {label:10} " + ", ".join(f"{value} {each}" for each, value in shares.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what is told or superseded on a save.")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    report = measure()
    if parser.parse_args().json:
        print(json.dumps(report, indent=1))
    else:
        show(report)


if __name__ == "__main__":
    main()
