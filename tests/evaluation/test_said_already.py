"""IS it seen that something was said already, as docs/evals.md says? With the built-in embedder, on pairs written for it."""

from collections import Counter
from typing import Any

from evals.said_already import measure, parts


def test_nothing_is_superseded_wrongly_and_little_is_told_in_vain() -> None:
    report: dict[str, Any] = measure()
    for part in report.values():
        assert part["supersede"]["precision"] >= 0.99
        assert part["supersede"]["recall"] >= 0.28
        assert part["tell"]["precision"] >= 0.95
        assert part["tell"]["recall"] >= 0.85
        for label, shares in part["labels"].items():
            assert label in ("same", "paraphrase") or shares["superseded"] == 0


def test_both_halves_have_pairs_of_every_label() -> None:
    every = {name: Counter(pair.label for pair in pairs) for name, pairs in parts().items()}
    calibration, held_out = every["calibration"], every["held-out"]
    assert sum(calibration.values()) + sum(held_out.values()) >= 300
    assert calibration.keys() == held_out.keys()
    assert min(*calibration.values(), *held_out.values()) >= 15
    assert sum(every["blind"].values()) >= 60
