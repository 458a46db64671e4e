"""HOW is the quality of answers measured from a shell? `onrecord eval`: a tool for operators, not an operation."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

import click

from onrecord import faces
from onrecord.errors import Invalid, invalid
from onrecord.surfaces.cli import render
from onrecord.surfaces.cli.commands import common_options, opened_door
from onrecord.surfaces.cli.completion import RECIPE

if TYPE_CHECKING:
    from onrecord.evaluation import Progress
    from onrecord.evaluation.data import Task
    from onrecord.evaluation.methods import EvalMethod
    from onrecord.evaluation.report import Report
    from onrecord.service import OnRecord

#: The faces that are searched in words of their own.
_FACES = {face.name: face for face in faces.TABLE if face.evaluating is not None}
#: What an advisor may do for a search, and what it reads out of texts.
_SEARCHED = ("expand", "rerank", "rerank_fine", "rerank_close")
_READ = ("extract", "supersede")

_HELP = """Measure how well questions with known answers are answered.

DIR/TASK holds corpus.jsonl, a line {"corpus", "id", "text", "meta"} for each document, and queries.jsonl, a line
{"id", "corpus", "text", "gold", "group"} for each question; without TASK every such folder is measured. Documents
are saved into a new store that is gone afterwards, each haystack ("corpus") in a tenant of its own, and each
question is asked once. Your own store is not touched.

With --own your own store is measured instead, which is only read: the questions that people judged are asked again, and
the hits that they called useful are the right ones. The exit code is 1 if it is worse than what it is compared with.
"""


def eval_command() -> click.Command:
    """The command; what it needs is loaded when it runs."""
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.Command(
        "eval",
        params=[
            click.Argument(["tasks"], metavar="[TASK]...", nargs=-1),
            click.Option(["--data"], type=folder, help="The folder with the tasks."),
            click.Option(
                ["--own"],
                is_flag=True,
                help="Measure your own store by the feedback in it; with --recipe, compare that recipe with the default.",
            ),
            click.Option(
                ["--against"],
                type=click.Path(exists=True, dir_okay=False, path_type=Path),
                metavar="FILE",
                help="With --own: compare with the figures that an earlier --own --json wrote to FILE.",
            ),
            click.Option(
                ["--recipe"],
                help="How to search; else as recall or search does by itself.",
                shell_complete=RECIPE,
            ),
            click.Option(
                ["--through"],
                type=click.Choice(["recall", "search", *_FACES]),
                default="recall",
                help="search: documents that describe tables become the catalog of all tasks named, "
                "all others memories about it. A face: as its users search.",
            ),
            click.Option(
                ["--within-datasource"],
                is_flag=True,
                help="With --through search: ask each question within the datasource that its data names.",
            ),
            click.Option(
                ["--skip-group", "skipped"],
                multiple=True,
                metavar="GROUP",
                help="Leave out questions of this group. May be repeated.",
            ),
            click.Option(
                ["--unanswerable"],
                type=click.IntRange(min=0),
                default=25,
                show_default=True,
                help="Also ask so many questions of each other task in DIR, and of each other haystack, "
                "and count those that get no answer.",
            ),
            click.Option(
                ["--advisor", "advised"],
                type=click.Choice([*_SEARCHED, *_READ]),
                multiple=True,
                help="Measure without and with what the configured advisor does: tasks of a search on the tasks in DIR, "
                "extract on DIR/dialogues.tsv and supersede on DIR/pairs.tsv. May be repeated.",
            ),
            click.Option(["--store"], help="An empty store to measure on; what is saved stays in it."),
            click.Option(
                ["--json", "file"],
                type=click.Path(dir_okay=False, path_type=Path),
                metavar="FILE",
                help="Append the figures to FILE, one JSON object a task.",
            ),
        ],
        help=_HELP,
        short_help="Measure how well questions with known answers are answered",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, own: bool, against: Path | None, **given: Any) -> None:
    if not own:
        if given["data"] is None or against is not None:
            raise click.UsageError("--against goes with --own" if against else "Give --data DIR, or --own")
        _measure_tasks(context, **given)
        return
    others = (given["tasks"], given["data"], given["store"], given["advised"], given["within_datasource"])
    if any(others) or given["through"] != "recall":
        raise click.UsageError(
            "--own measures the store that is set, by recall: it goes with --recipe, --against and --json"
        )
    _measure_own(context, given["recipe"], against, given["file"])


def _measure_tasks(
    context: click.Context,
    tasks: Sequence[str],
    data: Path,
    skipped: Sequence[str],
    store: str | None,
    file: Path | None,
    unanswerable: int,
    **how: Any,
) -> None:
    from onrecord.evaluation import OtherTasks, evaluate
    from onrecord.evaluation.data import read_task, tasks_in
    from onrecord.evaluation.report import FOOTNOTE

    if any(value not in (None, False) for value in (context.obj or {}).values()):
        raise click.UsageError("Write the options of eval after `eval`; --store names a store to measure on")
    asked: tuple[str, ...] = how.pop("advised")
    if asked:
        _require_advisor()
    with _appended(file) as results:
        _measure_reading(data, [task for task in asked if task in _READ], store, results)
        if asked and all(task in _READ for task in asked):
            return
        read = [read_task(data, name, skipped) for name in tasks or tasks_in(data)]
        ways = _ways(_way(read, **how), [task for task in asked if task in _SEARCHED])
        others = _others(data, {task.name for task in read}) if unanswerable else []
        for number, (task, way) in enumerate(((task, way) for task in read for way in ways), 1):
            with render.progress() as progress, _empty_store(store, number) as door:
                report = evaluate(
                    task,
                    door,
                    tenant=f"task-{number}",
                    now=datetime.now(UTC),
                    way=way,
                    others=OtherTasks([*read, *others], unanswerable),
                    progress=progress,
                )
            _tell(report, results)
    click.echo(FOOTNOTE)


def _measure_own(context: click.Context, recipe: str | None, against: Path | None, file: Path | None) -> None:
    """Measure the configured store by its feedback."""
    from onrecord.evaluation.own import measure_own

    with _appended(file) as results:
        with opened_door(common_options(context, {}), create=False) as door:
            report = measure_own(door, recipe, against)
        for line in report.lines():
            click.echo(line)
        if results is not None:
            results.write(json.dumps(report.as_json()) + "\n")
    if report.is_worse:
        context.exit(1)


def _ways(way: "EvalMethod", advised: Sequence[str]) -> "list[EvalMethod]":
    """The way to measure; if an advisor is measured, without it and with each of its tasks and all of them."""
    from onrecord.evaluation import ThroughRecall

    if not advised:
        return [way]
    if not isinstance(way, ThroughRecall):
        raise click.UsageError("--advisor is for recall, not for another --through")
    each = [(task,) for task in advised]
    together = [tuple(advised)] if len(advised) > 1 else []
    return [way, *(ThroughRecall(way.recipe, tasks) for tasks in (*each, *together))]


def _measure_reading(data: Path, advised: Sequence[str], store: str | None, results: IO[str] | None) -> None:
    """Measure what an advisor reads out of texts: facts, and contradictions."""
    from onrecord.evaluation import advisor_tasks

    for number, task in enumerate(advised, 1):
        with render.progress() as progress, _empty_store(store, number) as door:
            done = partial(_step, progress, task, count(1))
            if task == "extract":
                report = advisor_tasks.measure_extraction(door, advisor_tasks.read_dialogues(data), done)
            else:
                report = advisor_tasks.measure_supersession(door, advisor_tasks.read_pairs(data), done)
        for line in report.lines():
            click.echo(line)
        if results is not None:
            results.write(json.dumps(report.as_json()) + "\n")


def _require_advisor() -> None:
    """Say so at once if there is none, rather than measure everything twice without one."""
    from onrecord.app import connect

    with connect(":memory:") as door:
        if not door.advisor.is_there:
            raise invalid("advisor", "none is configured; set ONRECORD_ADVISOR to measure one")


def _step(progress: "Progress", task: str, steps: "count[int]") -> None:
    progress(task, next(steps), None)


def _others(data: Path, known: set[str]) -> "list[Task]":
    """The tasks that are not measured themselves; tasks without questions are skipped."""
    from onrecord.evaluation.data import read_task, tasks_in

    others = []
    for name in tasks_in(data):
        with suppress(Invalid):
            others += [read_task(data, name)] if name not in known else []
    return others


def _way(read: "Sequence[Task]", recipe: str | None, through: str, within_datasource: bool) -> "EvalMethod":
    from onrecord.evaluation import ThroughFace, ThroughRecall, ThroughSearch
    from onrecord.evaluation.table_documents import schemas_of

    if through != "search" and within_datasource:
        raise click.UsageError("--within-datasource is for --through search")
    if through in _FACES:
        if recipe is not None:
            raise click.UsageError("A face chooses its recipe itself: leave --recipe out")
        return ThroughFace(through, _FACES[through].load("evaluating").SEARCH, schemas_of(read))
    if through == "recall":
        return ThroughRecall(recipe)
    return ThroughSearch(schemas_of(read), within_datasource, recipe)


@contextmanager
def _empty_store(store: str | None, task: int) -> "Iterator[OnRecord]":
    """A new store in a folder of its own, or the named one, if it is empty."""
    from onrecord.app import connect

    with (
        TemporaryDirectory(prefix="onrecord-eval-") as folder,
        connect(Path(folder) / "store.db" if store is None else store) as door,
    ):
        if store is not None and task == 1 and door.doctor().memories:
            raise invalid("store", f"{door.location} holds memories already; name an empty one")
        yield door


@contextmanager
def _appended(file: Path | None) -> Iterator[IO[str] | None]:
    """The file of results, opened before the work so that a wrong name costs no time."""
    if file is None:
        yield None
        return
    try:
        results = file.open("a", encoding="utf-8")
    except OSError as problem:
        raise invalid("json", f"{file} cannot be written: {problem.strerror or problem}") from None
    with results:
        yield results


def _tell(report: "Report", results: IO[str] | None) -> None:
    from onrecord.evaluation.report import json_of, lines_of

    for line in lines_of(report):
        click.echo(line)
    click.echo()
    if results is not None:
        # As ASCII: the names are not ours, and may hold what UTF-8 cannot write.
        results.write(json.dumps(json_of(report)) + "\n")
        results.flush()
