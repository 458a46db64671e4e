"""WHERE may a file lie? Every rule on both sides, and what holds for whatever text there is."""

import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.model.paths import normalised

#: Texts in which the pieces that paths are made of meet often.
PIECES = st.sampled_from(
    [
        "a",
        "b.txt",
        "/",
        "\\",
        "//",
        ".",
        "..",
        "./",
        "C:",
        "con",
        "NUL.txt",
        " ",
        "\x00",
        "\n",
        "é",
        "日本",
        "~",
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))


@pytest.mark.parametrize(
    ("given_path", "clean"),
    [
        ("notes.md", "notes.md"),
        ("a/b/c.txt", "a/b/c.txt"),
        ("a\\b\\c.txt", "a/b/c.txt"),
        ("a//b///c.txt", "a/b/c.txt"),
        ("a/b/", "a/b"),
        ("a\\\\b\\", "a/b"),
        ("reports/2026 Q1 (final).pdf", "reports/2026 Q1 (final).pdf"),
        ("console.txt", "console.txt"),
        ("com10.log", "com10.log"),
        ("a..b/c.", "a..b/c."),
        ("日本/メモ.md", "日本/メモ.md"),
        ("cafe\u0301.md", "caf\u00e9.md"),
        ("x" * 128, "x" * 128),
        (f"{'x' * 128}/{'y' * 127}", f"{'x' * 128}/{'y' * 127}"),
    ],
)
def test_a_path_is_brought_to_its_one_form(given_path: str, clean: str) -> None:
    assert normalised(given_path) == clean


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("", "must not be empty"),
        ("   ", "must not be empty"),
        ("/etc/passwd", "relative"),
        ("\\server\\share", "relative"),
        ("//server/share", "relative"),
        ("C:/x", "drive"),
        ("c:x", "drive"),
        ("C:\\x", "drive"),
        ("..", r"'\.\.'"),
        ("a/../b", r"'\.\.'"),
        ("..\\..\\etc", r"'\.\."),
        ("./x", r"'\.'"),
        ("a/./b", r"'\.'"),
        (".env", "hidden.*env"),
        ("a/.git/config", "hidden.*git"),
        ("a\x00b", "control.*x00"),
        ("a\nb", "control"),
        ("a\x7f", "control"),
        ("a\x85", "control"),
        ("a\ud800", "control"),
        ("CON", "device.*CON"),
        ("con.txt", "device"),
        ("a/PRN.log", "device.*PRN.log"),
        ("aux", "device"),
        ("nul.tar.gz", "device"),
        ("COM3", "device"),
        ("LPT9.dat", "device"),
        ("com¹", "device"),
        ("con .txt", "device"),
        ("x" * 129, "at most 128"),
        (f"{'x' * 128}/{'y' * 128}", "at most 256"),
    ],
)
def test_a_path_that_is_no_place_is_refused_with_what_is_wrong(bad: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        normalised(bad)


@given(TEXTS)
@example(" /")
@example("\u2002\\")
def test_a_path_is_clean_or_refused_and_its_form_is_final(text: str) -> None:
    try:
        clean = normalised(text)
    except ValueError as refused:
        assert str(refused)
        return
    assert normalised(clean) == clean
    components = clean.split("/")
    assert 0 < len(clean) <= 256
    assert all(component and not component.startswith(".") for component in components)
    assert all(len(component) <= 128 for component in components)
    assert not any(unicodedata.category(each) in ("Cc", "Cs") for each in clean)
    assert "\\" not in clean


@given(TEXTS)
def test_no_path_leads_out_of_its_folder_on_any_system(text: str) -> None:
    try:
        clean = normalised(text)
    except ValueError:
        return
    for kind, root in ((PurePosixPath, "/srv/files"), (PureWindowsPath, "D:\\files")):
        joined = kind(root) / clean
        assert joined.is_relative_to(kind(root))
        assert ".." not in joined.parts
        assert not PureWindowsPath(clean).is_absolute()
    assert not PureWindowsPath(clean).drive
