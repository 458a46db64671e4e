"""IS "Where a new thing goes" true? An operation and a field of a memory are added to a copy, by those edits and no others."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/onrecord")
#: The new operation, and those whose fields or answers have the new field.
TOUCHED = ("count_memories", "remember", "revise", "show", "recall", "history")
#: What says whether all surfaces, schemas and pages know of it.
PROOFS = (
    "tests/surfaces/test_parity.py::test_the_story_tells_of_every_operation",
    "tests/surfaces/test_parity.py::test_every_operation_gives_the_same_through_every_surface",
    *(
        f"tests/surfaces/test_schema.py::{test}[{operation}]"
        for test in (
            "test_an_answer_fits_its_schema_and_comes_back_the_same",
            "test_the_schema_of_a_request_is_sound_and_knows_its_fields",
            "test_the_defaults_of_a_request_fit_its_schema",
        )
        for operation in TOUCHED
    ),
    "tests/surfaces/test_signatures.py",
    "tests/surfaces/test_openapi.py::TestTheDocument",
    "tests/docs/test_reference.py",
)

OPERATION = '''

@dataclass(frozen=True, slots=True)
class CountMemories(Request):
    """Count the memories of a kind that the caller sees."""

    kind: Kind = ask(rules.KIND, "Which kind.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedMemories(Answer):
    """How many there are."""

    kind: str
    memories: int


@operation("read", "memory.read", "GET /counts/{kind}")
def count_memories(call: Call, ask: CountMemories) -> CountedMemories:
    with call.reading() as reading:
        found, _ = reading.browse(Browse(kinds=(ask.kind,), limit=1_000))
    return CountedMemories(kind=ask.kind, memories=len(found))
'''
MIGRATION = '''"""A memory may say which region it is about."""

import sqlalchemy as sa
from alembic import op

revision = "{number}"
down_revision = "{last}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("memories", "versions"):
        op.add_column(table, sa.Column("region", sa.Text()))
'''


def _compiled(folder: Path) -> Path:
    """Where Python keeps what it compiled of a folder, if not inside."""
    return Path(f"{sys.pycache_prefix}{folder}") if sys.pycache_prefix else folder / "__pycache__" / "none"


class Copy:
    """A copy of the project, to be changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # With what was compiled, which is as good there: a copy keeps the times of its files.
        for name in ("src", "tests", "docs"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.onnx"))
            if (compiled := _compiled(ROOT / name)).exists():
                shutil.copytree(compiled, _compiled(root / name))
        for model in (ROOT / "src").rglob("*.onnx"):
            (root / model.relative_to(ROOT)).symlink_to(model)
        for page in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "pyproject.toml", "Makefile"):
            shutil.copy(ROOT / page, root)

    def put(self, path: Path | str, after: str, text: str) -> None:
        """Write something behind what stands there once."""
        file = self.root / path
        before = file.read_text(encoding="utf-8")
        assert before.count(after) == 1, (path, after)
        file.write_text(before.replace(after, after + text), encoding="utf-8")

    def run(self, *words: str) -> None:
        # Not the worker that this test runs in.
        outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment = {**outside, "PYTHONPATH": str(self.root / "src")}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.root, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]


def add_an_operation(copy: Copy) -> None:
    feature = PACKAGE / "recall" / "browse.py"
    with (copy.root / feature).open("a", encoding="utf-8") as file:
        file.write(OPERATION)
    copy.put(
        feature,
        "from dataclasses import dataclass, replace\n",
        "from onrecord.model import rules\n"
        "from onrecord.model.limits import Kind\n"
        "from onrecord.model.request import Request, ask\n",
    )
    copy.put(PACKAGE / "features.py", '"onrecord.recall.browse": ("browse", "tally"', ', "count_memories"')
    # What only people can say: how it is used, and a call by which the surfaces are compared.
    copy.put("docs/guide.md", "# Guide\n", "\n```console\n$ onrecord count-memories decision\n```\n")
    copy.put(
        "tests/surfaces/test_parity.py",
        "STORY: tuple[Call, ...] = (\n",
        '    ("count_memories", {"kind": "fact"}),\n',
    )


def add_a_field_of_a_memory(copy: Copy) -> None:
    copy.put(
        PACKAGE / "model" / "memory.py",
        "    category: str | None = None\n",
        "    region: str | None = None\n",
    )
    copy.put(
        PACKAGE / "model" / "record.py",
        '    "category": OrNone(rules.CATEGORY),\n',
        '    "region": _MAYBE_NAME,\n',
    )
    help = '    region: str | None | Unset = ask(MAYBE_NAME, "The region it is about.", UNSET)\n'
    for file, before in (
        ("remember.py", '"A heading of your own.", UNSET)\n'),
        ("revise.py", '"The new category.", UNSET)\n'),
    ):
        copy.put(PACKAGE / "remember" / file, before, help)
    copy.put(
        PACKAGE / "store" / "tables.py",
        '        Column("category", Text),\n',
        '        Column("region", Text),\n',
    )
    versions = copy.root / PACKAGE / "store" / "migrations" / "versions"
    last = max(each.name[:4] for each in versions.glob("0*.py"))
    number = f"{int(last) + 1:04}"
    (versions / f"{number}_region.py").write_text(MIGRATION.format(number=number, last=last))
    copy.put(
        "tests/surfaces/test_parity.py",
        '"id": "kb.deploys", "hint": "naïve <b>"',
        ', "region": "emea"',
    )


#: The pages and the stub are written anew.
WRITTEN = """
import runpy
for program in ("docs/generate.py", "docs/stub.py"):
    runpy.run_path(program, run_name="__main__")
"""
#: It is saved, revised, moved to another store and into a YAML file, and read back there.
STORED = """
from onrecord import connect
with connect("one.db") as one:
    one.remember("Prices are net.", id="a", region="emea")
    assert one.revise("a", region="apac").changed == ("region",)
    assert [each.memory.region for each in one.history("a").versions] == ["emea", "apac"]
    one.export("all.jsonl")
for db in ("two.db", "memories.yaml"):
    with connect(db) as other:
        other.import_("all.jsonl")
        assert other.show("a").memory.region == "apac"
"""


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    root = tmp_path / "copy"
    yield Copy(root)
    shutil.rmtree(_compiled(root), ignore_errors=True)


def test_an_operation_and_a_field_of_a_memory_are_added_where_the_table_says(
    copy: Copy, tmp_path: Path
) -> None:
    add_an_operation(copy)
    add_a_field_of_a_memory(copy)
    # In one process: most of its time goes into loading what all three need.
    copy.run("-c", WRITTEN + STORED)
    # In a folder of its own: the usual one would be closed to others, and a PostgreSQL lies there that another user runs.
    folder = f"--basetemp={tmp_path / 'inner'}"
    copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", folder, *PROOFS)
