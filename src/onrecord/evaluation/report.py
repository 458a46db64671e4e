"""HOW does a measurement look? Lines for people, in percent; one JSON object for programs, in shares."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from onrecord.evaluation.scores import MEASURES, Averages
from onrecord.evaluation.unanswerable import AbstentionCount, Whose

#: Printed once below the tables.
FOOTNOTE: Final = (
    "In percent. 95 %: from and to, by 1,000 bootstrap resamples of the questions with a fixed seed. "
    "Chance: the mean of every order."
)
_NAME_WIDTH: Final = 26
_WHOSE: Final[Mapping[Whose, str]] = {"foreign": "of other tasks", "other": "of other haystacks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The results of one task."""

    task: str
    #: How documents were saved and questions asked, if not in the default way.
    way: str
    recipe: str | None
    documents: int
    haystacks: int
    overall: Averages
    groups: Mapping[str, Averages]
    chance: Averages
    silence: Mapping[Whose, AbstentionCount]
    saved_s: float
    asked_s: float
    notices: Mapping[str, int]

    @property
    def per_second(self) -> float:
        """Questions answered in a second, one after the other."""
        return self.overall.questions / self.asked_s


def lines_of(report: Report) -> Iterator[str]:
    """A table of every measure, overall and by group, and the oddities of the data."""
    way = f", {report.way}" if report.way else ""
    yield (
        f"{_shown(report.task)}{way}: {report.overall.questions:,} questions, {report.documents:,} documents in "
        f"{report.haystacks:,} {'haystack' if report.haystacks == 1 else 'haystacks'}; "
        f"saved in {report.saved_s:.1f} s, {report.per_second:,.0f} questions a second"
    )
    yield f"{'':{_NAME_WIDTH}} {'n':>6}" + "".join(f"{name:>{_width(name)}}" for name in MEASURES)
    yield from _rows("overall", report.overall)
    yield _row("chance", "", report.chance.mean)
    for group, averages in report.groups.items():
        yield from _rows(_shown(group), averages)
    for whose, each in report.silence.items():
        yield f"unanswerable, {_WHOSE[whose]}: {100 * each.share:.1f} % of {each.questions:,} questions got no answer"
    yield from (f"{_shown(what)}: {count:,}" for what, count in report.notices.items())


def _rows(name: str, averages: Averages) -> Iterator[str]:
    yield _row(name, f"{averages.questions:,}", averages.mean)
    yield _row("  95 % from", "", averages.low)
    yield _row("       to", "", averages.high)


def _row(name: str, count: str, values: Mapping[str, float]) -> str:
    short = name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"
    cells = "".join(f"{100 * values[measure]:{_width(measure)}.1f}" for measure in MEASURES)
    return f"{short:{_NAME_WIDTH}} {count:>6}{cells}"


def _width(measure: str) -> int:
    return max(len(measure), len("100.0")) + 2


def _shown(name: str) -> str:
    """Names of folders and groups come from outside: control characters are written out."""
    return name if name.isprintable() else ascii(name)


def json_of(report: Report) -> dict[str, Any]:
    """Everything, as shares between 0 and 1."""
    return {
        "task": report.task,
        "recipe": report.recipe,
        "way": report.way or None,
        "n": report.overall.questions,
        "documents": report.documents,
        "haystacks": report.haystacks,
        "overall": report.overall.mean,
        "groups": {
            name: {"n": averages.questions, **averages.mean} for name, averages in report.groups.items()
        },
        "ci95": _interval(report.overall),
        "groups_ci95": {name: _interval(averages) for name, averages in report.groups.items()},
        "chance": report.chance.mean,
        "unanswerable": {
            whose: {"n": each.questions, "silent": each.share} for whose, each in report.silence.items()
        },
        "saved_s": round(report.saved_s, 3),
        "per_second": round(report.per_second, 1),
        "notices": dict(report.notices),
    }


def _interval(averages: Averages) -> dict[str, tuple[float, float]]:
    return {measure: (averages.low[measure], averages.high[measure]) for measure in MEASURES}
