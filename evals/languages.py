"""HOW well are questions answered in other languages? `languages.tsv` has a line `language⇥memory⇥question`: each memory answers its
question, and the memories of a language are searched together, in a tenant of their own.

    python evals/languages.py [RECIPE]
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

from onrecord import Caller, OnRecord, connect

_HERE: Final = Path(__file__).parent
_CUT: Final = 5
#: By words alone every language reaches this.
BAR: Final = 80.0


def recall_by_language(recipe: str = "lexical") -> dict[str, float]:
    """The share of questions, in per cent, whose memory is among the first five."""
    texts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in (_HERE / "languages.tsv").read_text(encoding="utf-8").splitlines():
        language, memory, question = line.split("\t")
        texts[language].append((memory, question))
    embedder = "none" if recipe == "lexical" else "e5"
    with connect(":memory:", embedder=embedder) as door:
        return {
            language: _recall(door.as_caller(Caller(tenant=language, user="ann")), pairs, recipe)
            for language, pairs in texts.items()
        }


def _recall(door: OnRecord, pairs: list[tuple[str, str]], recipe: str) -> float:
    for number, (memory, _) in enumerate(pairs, 1):
        door.remember(memory, id=str(number), alike="keep")
    found = 0
    for number, (_, question) in enumerate(pairs, 1):
        hits = door.recall(question, limit=_CUT, recipe=recipe, min_relevance=0).hits
        found += str(number) in {hit.memory.id for hit in hits}
    return 100 * found / len(pairs)


if __name__ == "__main__":
    told = recall_by_language(*sys.argv[1:])
    for language, share in sorted(told.items()):
        print(f"{language}: recall@{_CUT} {share:.0f} %")
    if min(told.values()) < BAR:
        sys.exit(f"below {BAR:.0f} %")
