"""Does odd Unicode come back exactly, from every field, on every database, or is it refused by the field's name?"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onrecord import Caller, OnRecord
from onrecord.errors import Invalid
from tests.soak import tries

from .conftest import Stores, outcome

SAMPLES = {
    "Latin": "Ærøskøbing façade",
    "Greek": "Ελληνικά Ωμέγα",
    "Cyrillic": "Привет, мир",
    "Chinese": "数据库备份",
    "Arabic": "قاعدة البيانات",
    "Hindi": "डेटाबेस",
    "Hebrew with points": "שָׁלוֹם",
    "Thai": "ฐานข้อมูล",
    "Korean": "데이터베이스",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪👍🏽",
    "combining": "e\u0301 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤",
    "decomposed": "A\u030angstro\u0308m",
    "right to left": "abc \u202edef\u202c \u200fghi",
    "joiners": "a\u200bb\u200cc\u200dd\ufeffe",
    "noncharacters": "a\ufffeb\uffffc\U0010ffff",
    "beyond the basic plane": "𝕳𝖊𝖑𝖑𝖔 𓀀 𠜎",
    "quotes": 'it\'s "so" \\ $1 %s :x ?',
    "separators": "a\u2028b\u2029c\u00a0d",
    "NUL": "a\x00b",
    "lone surrogate": "a\ud800b",
    "reversed surrogates": "a\udc00\ud800b",
    "controls": "a\x01\x08\x1b\x7f\x85b",
    "line breaks": "a\r\nb\rc\n\td",
}
#: Each text field of a memory: a save that has the text there, and how to read it back.
FIELDS: dict[str, Any] = {
    "content": (lambda text: {"content": text}, lambda memory: memory.content),
    "title": (lambda text: {"title": text}, lambda memory: memory.title),
    "hint": (lambda text: {"hint": text}, lambda memory: memory.hint),
    "tags": (lambda text: {"tags": [text]}, lambda memory: memory.tags[0]),
    "category": (lambda text: {"category": text}, lambda memory: memory.category),
    "source": (lambda text: {"source": text}, lambda memory: memory.source),
    "metadata": (
        lambda text: {"metadata": {text: [text]}},
        lambda memory: memory.metadata[next(iter(memory.metadata))][0],
    ),
    "entities": (lambda text: {"entities": [text]}, lambda memory: memory.entities[0]),
    "query": (lambda text: {"query": text}, lambda memory: memory.query),
    "artifact": (lambda text: {"artifact": text}, lambda memory: memory.artifact),
    "persona": (lambda text: {"scope": "persona", "persona": text}, lambda memory: memory.persona),
    "system": (lambda text: {"scope": "system", "system": text}, lambda memory: memory.system),
    "conversation": (lambda text: {"conversation": text}, lambda memory: memory.conversation),
    "id": (lambda text: {"id": text}, lambda memory: memory.id),
}
#: These keep every character; the others may lose white space at their ends.
KEPT_WHOLE = ("content", "metadata", "query", "id")
#: A memory has one scope: what names a place of one is saved apart.
ROOMS = ("persona", "system", "conversation")
UNSTORABLE = ("NUL", "lone surrogate", "reversed surrogates")
odd = st.text(
    st.one_of(
        st.sampled_from(sorted({letter for text in SAMPLES.values() for letter in text})), st.characters()
    ),
    min_size=1,
    max_size=12,
)


def save(door: OnRecord, field: str, text: str) -> Any:
    """The memory with the text in one field, or the error that says what is wrong with it."""
    return outcome(Invalid, door.remember, **({"content": "x"} | FIELDS[field][0](text)), dedupe=False)


def stripped(field: str, text: str) -> str:
    """What is left of a text in a field."""
    expected = text if field in KEPT_WHOLE else text.strip()
    return expected.removeprefix("#") if field == "id" else expected


def check_saved(door: OnRecord, field: str, text: str, name: str) -> None:
    answer = save(door, field, text)
    if isinstance(answer, Invalid):
        assert {fault.field for fault in answer.faults} == {field}, name
        assert str(answer).isprintable() or "\n" in str(answer), "a reason can be shown anywhere"
        assert not door.browse().memories, name
        return
    if answer.scrubbed:
        return
    read = FIELDS[field][1]
    shown = door.show(answer.memory.id).memory
    assert read(shown) == stripped(field, text), name
    assert shown == answer.memory == door.history(shown.id).versions[0].memory == door.browse().memories[0], (
        name
    )


@settings(max_examples=tries(15, soaking=200))
@given(field=st.sampled_from(sorted(FIELDS)), text=odd)
@example("metadata", "\x85")
@example("id", "#")
def test_any_text_in_any_field_comes_back_or_is_refused_by_its_name(
    stores: Stores, field: str, text: str
) -> None:
    answers = []
    for name, door in stores.emptied("sqlite-memory", "postgres").items():
        check_saved(door, field, text, name)
        answers.append([memory.title for memory in door.browse().memories])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_in_every_field_comes_back_or_is_refused_by_its_name(stores: Stores, sample: str) -> None:
    """Each field alone in memory, where it is found out which take it; these in few memories on the others."""
    text, taken = SAMPLES[sample], list[str]()
    for field in FIELDS:
        door = stores.emptied("sqlite-memory")["sqlite-memory"]
        check_saved(door, field, text, field)
        taken += [field] if door.browse().memories else []
    together = [field for field in taken if field not in ROOMS]
    for name, door in stores.emptied("sqlite-file", "postgres").items():
        for fields in (together, *([field] for field in ROOMS if field in taken)):
            given = {"content": "x"}
            for field in fields:
                given |= FIELDS[field][0](text)
            saved = door.remember(**given, dedupe=False)
            if saved.scrubbed:
                continue
            shown = door.show(saved.memory.id).memory
            assert shown == saved.memory == door.history(shown.id).versions[0].memory, name
            assert shown in door.browse().memories, name
            for field in fields:
                assert FIELDS[field][1](shown) == stripped(field, text), f"{field} on {name}"


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("sample", UNSTORABLE)
def test_what_no_database_holds_is_refused_everywhere(stores: Stores, field: str, sample: str) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    answer = save(door, field, SAMPLES[sample])
    assert isinstance(answer, Invalid)
    assert [fault.field for fault in answer.faults] == [field]
    what = {"NUL": "\\x00", "lone surrogate": "\\ud800", "reversed surrogates": "\\udc00"}[sample]
    assert what in str(answer)


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name not in UNSTORABLE])
def test_what_is_not_odd_to_a_database_is_never_refused_as_content(stores: Stores, sample: str) -> None:
    for name, door in stores.emptied("sqlite-file", "postgres").items():
        assert save(door, "content", SAMPLES[sample]).memory.content == SAMPLES[sample], name


@settings(max_examples=tries(6, soaking=64))
@given(question=odd, tag=odd)
def test_any_question_and_any_filter_is_answered_or_refused_by_its_name(
    stores: Stores, question: str, tag: str
) -> None:
    for door in stores.emptied("sqlite-memory", "postgres").values():
        door.remember("x")
        for field, answer in (
            ("question", outcome(Invalid, door.recall, question)),
            ("tags", outcome(Invalid, door.browse, tags=[tag])),
            ("system", outcome(Invalid, door.browse, system=tag)),
        ):
            assert not isinstance(answer, Invalid) or [fault.field for fault in answer.faults] == [field]


@settings(max_examples=tries(6, soaking=64))
@given(tenant=odd, user=odd)
def test_any_name_of_a_tenant_and_a_user_works_or_is_refused_by_its_name(
    stores: Stores, tenant: str, user: str
) -> None:
    caller = outcome(Invalid, Caller, tenant=tenant, user=user)
    if isinstance(caller, Invalid):
        assert {fault.field for fault in caller.faults} <= {"tenant", "user"}
        return
    for name, door in stores.emptied("sqlite-memory", "postgres").items():
        theirs = door.as_caller(caller)
        memory = theirs.remember("x", scope="user").memory
        assert (memory.tenant, memory.owner) == (tenant, user), name
        assert theirs.show(memory.id).memory == memory, name


@settings(max_examples=tries(6, soaking=60))
@given(saved=st.lists(st.tuples(st.sampled_from(sorted(FIELDS)), odd), min_size=1, max_size=5))
def test_an_export_brings_every_text_to_the_other_databases(
    stores: Stores, tmp_path: Path, saved: list[tuple[str, str]]
) -> None:
    doors = stores.emptied()
    first = doors["sqlite-memory"]
    for field, text in saved:
        save(first, field, text)
    memories = first.browse(limit=1000).memories
    path = str(tmp_path / "odd.jsonl")
    for source, target in (("sqlite-memory", "postgres"), ("postgres", "sqlite-file")):
        doors[source].export(path)
        doors[target].import_(path)
        assert doors[target].browse(limit=1000).memories == memories, f"from {source} to {target}"


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name not in UNSTORABLE])
def test_every_sample_finds_itself(stores: Stores, sample: str) -> None:
    text = SAMPLES[sample]
    for name, door in stores.emptied("sqlite-memory", "postgres").items():
        door.remember(text)
        found = [hit.memory.content for hit in door.recall(text).hits]
        assert found == [text], name
