"""ARE memories edited as files without a loss? What both sides changed comes together, and a second apply finds nothing."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.care.folder.applying import apply, planned, write
from onrecord.care.folder.files import read_manifest
from onrecord.errors import Invalid
from onrecord.model.caller import Caller
from onrecord.text.merging import BETWEEN, OURS, THEIRS, has_marks, merged

TEXT = "Revenue is net of refunds.\n\nIt is booked daily.\n\nSee the board's report."


@pytest.fixture
def door(words_alone: None, tmp_path: Path) -> Any:
    with connect(tmp_path / "store.db") as door:
        door.remember(TEXT, tags=["finance"], entities=["thing:größe"], id="kb.revenue")
        door.remember(
            "Deploys are frozen on Fridays.", title="Freeze", hint="when deploying", kind="decision"
        )
        yield door


@pytest.fixture
def folder(door: OnRecord, tmp_path: Path) -> Path:
    write(door, tmp_path / "folder")
    return tmp_path / "folder"


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def actions(steps: Any) -> list[tuple[str, str]]:
    return [(each.action, each.file) for each in steps.steps]


def done(steps: Any) -> list[tuple[str, str]]:
    return [(each.file, each.outcome) for each in steps.steps]


def test_a_folder_says_what_the_store_says_in_the_same_order_each_time(door: OnRecord, folder: Path) -> None:
    files = {path.name: path.read_text() for path in folder.iterdir()}
    assert sorted(files) == [".onrecord.json", "1.md", "kb.revenue.md"]
    assert files["1.md"] == (
        "---\nid: '1'\nversion: 1\ntitle: Freeze\nhint: when deploying\nkind: decision\nconfidence: medium\n---\n\n"
        "Deploys are frozen on Fridays.\n"
    )
    write(door, folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == files
    assert planned(door, folder).steps == ()


def test_a_file_is_about_the_memory_that_it_was_written_from(door: OnRecord, folder: Path) -> None:
    """Though whoever edits it keeps one under the same name, to which a name alone would lead."""
    door.remember("About the revenue.", id="about", entities=["memory:kb.revenue"])
    door.remember("Only mine.", id=f"{door.caller.user}::kb.revenue", scope="user")
    apply(door, folder)
    edit(folder / "kb.revenue.md", "booked daily", "booked weekly")
    edit(folder / "about.md", "- memory:kb.revenue\n", "- memory:kb.revenue\n- thing:x\n")
    assert [outcome for _, outcome in done(apply(door, folder))] == ["version 2", "version 2"]
    assert "weekly" in door.show("::kb.revenue").memory.content
    assert door.show("about").memory.entities == ("memory:kb.revenue", "thing:x")
    (folder / "kb.revenue.md").unlink()
    assert done(apply(door, folder)) == [("kb.revenue.md", "retired")]
    assert door.show("::kb.revenue").memory.status == "archived"
    assert door.show(f"{door.caller.user}::kb.revenue").memory.status == "active"


def test_a_long_id_of_a_user_with_a_long_name_has_a_file(door: OnRecord, tmp_path: Path) -> None:
    long = door.as_caller(Caller(tenant=door.caller.tenant, user="ä" * 200))
    ids = {long.remember("Mine.", id="k" * 199 + end, scope="user").memory.id for end in "ab"}
    folder = tmp_path / "long"
    assert write(long, folder).memories == len(long.browse().memories)
    assert planned(long, folder).steps == ()
    assert ids <= set(read_manifest(folder))


def test_what_is_changed_added_and_removed_goes_into_the_store(door: OnRecord, folder: Path) -> None:
    edit(folder / "kb.revenue.md", "booked daily", "booked weekly")
    edit(folder / "kb.revenue.md", "- finance\n", "- finance\n- board\n")
    (folder / "new.md").write_text("---\ntags: [a]\n---\nLists are short.\n")
    (folder / "1.md").unlink()
    expected = [("revise", "kb.revenue.md"), ("save", "new.md"), ("retire", "1.md")]
    assert actions(planned(door, folder)) == expected
    assert door.show("kb.revenue").memory.version == 1
    assert actions(apply(door, folder)) == expected
    revenue = door.show("kb.revenue").memory
    assert (revenue.tags, "weekly" in revenue.content, revenue.entities) == (
        ("finance", "board"),
        True,
        ("thing:größe",),
    )
    assert door.show("1").memory.status == "archived"
    [new] = door.browse(tags=["a"]).memories
    assert sorted(path.name for path in folder.glob("*.md")) == [f"{new.id}.md", "kb.revenue.md"]
    assert planned(door, folder).steps == ()


def test_what_changed_in_the_store_comes_into_the_files(door: OnRecord, folder: Path) -> None:
    door.revise("kb.revenue", content="New.")
    door.retire("1")
    door.remember("Third.", id="third")
    assert actions(apply(door, folder)) == [
        ("remove", "1.md"),
        ("write", "kb.revenue.md"),
        ("write", "third.md"),
    ]
    assert "New." in (folder / "kb.revenue.md").read_text()
    assert planned(door, folder).steps == ()


def test_changes_on_both_sides_come_together(door: OnRecord, folder: Path) -> None:
    edit(folder / "kb.revenue.md", "the board's report", "the annual report")
    door.revise("kb.revenue", content=TEXT.replace("daily", "weekly"), tags=["finance", "x"])
    assert actions(apply(door, folder)) == [("merge", "kb.revenue.md")]
    revenue = door.show("kb.revenue").memory
    assert revenue.content == TEXT.replace("daily", "weekly").replace(
        "the board's report", "the annual report"
    )
    assert revenue.tags == ("finance", "x")
    assert planned(door, folder).steps == ()


def test_a_conflict_keeps_both_sides_until_a_person_chooses(door: OnRecord, folder: Path) -> None:
    path = folder / "1.md"
    edit(path, "on Fridays", "on Mondays")
    edit(path, "title: Freeze", "title: Frozen")
    door.revise("1", content="Deploys are frozen on Sundays.", title="Pause")
    told = apply(door, folder)
    assert (actions(told), told.healthy) == ([("conflict", "1.md")], False)
    text = path.read_text()
    assert all(
        each in text
        for each in (OURS, "Sundays", BETWEEN, "Mondays", THEIRS, "title: Pause", "title: Frozen")
    )
    assert apply(door, folder).steps[0].why.startswith("still has marks")
    assert path.read_text() == text
    assert "Sundays" in door.show("1").memory.content
    head, _, rest = text.partition("unresolved:")
    path.write_text(f"{head.replace('Pause', 'Frozen')}---\n\nDeploys are frozen on Mondays.\n")
    assert "Mondays" in rest
    assert actions(apply(door, folder)) == [("revise", "1.md")]
    assert (door.show("1").memory.title, door.show("1").memory.content) == (
        "Frozen",
        "Deploys are frozen on Mondays.",
    )


@pytest.mark.parametrize("how", ["edited here, ended there", "removed here, changed there"])
def test_an_end_on_one_side_does_not_lose_a_change_on_the_other(
    door: OnRecord, folder: Path, how: str
) -> None:
    if how.startswith("edited"):
        edit(folder / "1.md", "Fridays", "Mondays")
        door.retire("1")
        assert actions(apply(door, folder)) == [("conflict", "1.md")]
        assert "Mondays" in (folder / "1.md").read_text()
        return
    (folder / "1.md").unlink()
    door.revise("1", content="Deploys are frozen on Sundays.")
    assert actions(apply(door, folder)) == [("write", "1.md")]
    assert "Sundays" in (folder / "1.md").read_text()


def test_a_file_that_cannot_be_read_stops_everything(door: OnRecord, folder: Path) -> None:
    (folder / "1.md").write_text("---\nid: [\n---\nx")
    shutil.copy(folder / "kb.revenue.md", folder / "copy.md")
    shutil.copy(folder / "kb.revenue.md", folder / "zz.md")
    with pytest.raises(Invalid, match=r"(?s)1\.md.*kb\.revenue\.md: has the id of copy\.md"):
        apply(door, folder)
    assert door.show("1").memory.status == "active"


LINES = st.lists(st.sampled_from([*"abcdef", "", "x y"]), max_size=8).map("\n".join)


@given(LINES, LINES, LINES)
def test_no_line_of_either_side_is_lost(base: str, ours: str, theirs: str) -> None:
    done = merged(base, ours, theirs)
    assert done.conflicts is has_marks(done.text)
    for side in (ours, theirs):
        for line in set(side.split("\n")) - set(base.split("\n")):
            assert line in done.text.split("\n")
    assert merged(base, base, theirs) == (theirs, False)
    assert merged(base, ours, base) == (ours, False)
    assert merged(base, theirs, ours).conflicts is done.conflicts
