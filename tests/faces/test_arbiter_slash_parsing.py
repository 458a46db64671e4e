"""CAN any text be read? Whatever an agent writes: no error, nothing lost, and nothing run that stands in a body."""

import re

from hypothesis import given
from hypothesis import strategies as st

from onrecord.faces.arbiter import slash
from onrecord.faces.arbiter.slash.grammar import commands
from onrecord.faces.arbiter.slash.parsed import AddEntry, Command, RefusedCommand, WriteFile

from .conftest import Ground

WORDS = st.sampled_from(
    "/mem /write /read /endmem /endwrite add entry entries link search expand density invalidate shared write read show "
    'clear --supersedes --artifact --persist --rerank type= tag= tag=" depth= depth=2 via=mem:1 #1 #1,#2 1 , project '
    "reference user a/b ../x supports \ud800 \x00 \u2028 é 😀 [END MEMORY]".split(" ")
)
LINES = st.lists(WORDS | st.text(max_size=8), max_size=8).map(" ".join)
TEXTS = st.lists(LINES, max_size=12).map("\n".join) | st.text()
END = re.compile(r"\s*/end(mem|write)\s*")


def parse(text: str) -> list[Command]:
    return list(commands(text))


@given(TEXTS)
def test_parsing_never_raises_and_is_the_same_each_time(text: str) -> None:
    assert parse(text) == parse(text)


@given(TEXTS)
def test_there_are_no_more_commands_than_lines(text: str) -> None:
    assert len(parse(text)) <= len(re.split(r"\r\n|\r|\n", text))


@given(st.lists(LINES.filter(lambda line: not END.fullmatch(line) and line.strip()), min_size=1, max_size=12))
def test_what_stands_in_a_body_is_kept_and_never_a_command(lines: list[str]) -> None:
    body = "\n".join(re.split(r"\r\n|\r|\n", "\n".join(lines)))
    if any(END.fullmatch(line) for line in body.split("\n")):
        return
    (entry,) = parse(f"/mem add entry project Title\n{body}\n/endmem")
    assert isinstance(entry, AddEntry) or (isinstance(entry, RefusedCommand) and not body.strip())
    assert not isinstance(entry, AddEntry) or entry.body == body
    (file,) = parse(f"/write --persist path\n{body}\n/endwrite")
    assert isinstance(file, WriteFile)
    assert file.content == body


@given(TEXTS)
def test_an_open_block_swallows_the_rest_and_is_refused(text: str) -> None:
    if any(END.fullmatch(line) for line in re.split(r"\r\n|\r|\n", text)):
        return
    (only,) = parse(f"/mem add entry project Title\n{text}")
    assert isinstance(only, RefusedCommand)
    assert "not closed with /endmem" in only.reason


@given(TEXTS)
def test_what_is_quoted_is_never_a_command(text: str) -> None:
    assert parse("\n".join(f"    | {line}" for line in re.split(r"\r\n|\r|\n", text))) == []


@given(text=TEXTS)
def test_every_text_can_be_run_and_told_in_utf_8(ground: Ground, text: str) -> None:
    answer = slash.run(ground.first, text, conversation="c")
    answer.output.encode()
    for result in answer.results:
        assert result.output.startswith("[/")
        assert result.ok == (
            "ERR: " not in result.output.partition("\n")[2][:5] and "] ERR: " not in result.output
        )
