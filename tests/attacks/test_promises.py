"""IS each promise shown? Every test that the table names is there, and every file of attacks is named."""

import ast
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
SHOWN_BY = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


@cache
def functions_of(name: str) -> set[str]:
    root = HERE.parent.parent / "src" if name.startswith("onrecord/") else HERE.parent
    tree = ast.parse((root / name).read_text("utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def test_each_promise_names_tests_that_are_there() -> None:
    rows = [line.split("|")[1:3] for line in (HERE / "README.md").read_text("utf-8").splitlines()[7:]]
    told = {promise.strip(): SHOWN_BY.findall(shown) for promise, shown in rows if "**" not in promise}
    assert [promise for promise, shown in told.items() if not shown] == []
    named = {each for shown in told.values() for each in shown}
    assert [f"{file}::{test}" for file, test in sorted(named) if test not in functions_of(file)] == []
    attacks = {f"attacks/{path.name}" for path in HERE.glob("test_*.py") if path != Path(__file__)}
    assert attacks - {file for file, _ in named} == set()
