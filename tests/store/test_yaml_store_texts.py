"""DOES any memory that the model allows come back from YAML as it was? Whatever its texts look like."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from onrecord.model import ids, limits, rules
from onrecord.model.collections import Home
from onrecord.model.edits import Edit
from onrecord.model.limits import GLOBAL_TENANT, LIVE
from onrecord.model.memory import Memory, Proposal, Relation, Version, derive_title
from onrecord.model.record import RECORD_RULES, record_faults
from onrecord.store.ports.archive import Counters, MemoryHistory
from onrecord.store.sql import SqlStore
from onrecord.store.tables import metadata, store_facts
from onrecord.store.yaml import MEMORIES
from onrecord.store.yaml.backend import YamlBackend
from onrecord.store.yaml.document import read_document
from onrecord.store.yaml.entries import entry_of, memory_of
from onrecord.store.yaml.rendering import render
from onrecord.testing.builders import everything
from onrecord.yaml_reader import UnreadableYaml, json_of, parse
from tests.soak import tries

#: Texts that mean something to some reader of YAML, or nearly.
ODD = (
    "yes No null ~ true 1e5 1.5 .5 0x1F 0o17 017 1_000 1:30 +1 -1 .inf .NaN = << y N 2026-01-01 2026-01-01T12:00:00Z "
    "- -a ? : # & * ! | > % @ ` , [ ] { } ' \" \\ --- ... a:b a#b a: : a"
).split(" ")
ODD += [
    "- a", "? a", ": a", "# a", "a: b", "a #b", "a:", " a", "a ", "'a'", '"a"', "it's", 'say "it"', "a\\b", "!!str a",
    "%YAML 1.1", "<<<<<<< HEAD", "a\nb", "a\n", "a\n\n\n", "\na", "\n\n a", " a\n b", "\ta\n\tb", "a\n \nb", "a\n\t\nb",
    "a\nb  \n", "a\n- b\n", "a\n# b\n", "---\na\n...\n", "a\r\nb", "a\rb", "a\x85b", "a\u2028b\u2029c", "\ufeffa", "a\ufeffb",
    "\x01\x1b\x7f\x9f", "\ufffe\uffff", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301", "\u05e9\u05b8\u05c1", "a\u00a0", "\u3000a",
    "9" * 70, "9" * 400 + ".0", "x" * 2000, "word " * 400, "\t", "a\tb", "a:\tb", "a\t#b", "\u2028\nb",
]  # fmt: skip
letters = st.one_of(
    st.sampled_from(sorted({letter for text in ODD for letter in text})),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
texts = st.one_of(
    st.sampled_from(ODD), st.text(letters, max_size=40), st.lists(st.sampled_from(ODD)).map("\n".join)
)
scalars = st.one_of(
    texts,
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(allow_nan=False, allow_infinity=False),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)


def clean(rule: rules.Rule, given: st.SearchStrategy[Any], instead: Any = None) -> st.SearchStrategy[Any]:
    """What a rule leaves of some values; something plain instead of those that it refuses."""

    def tried(value: Any) -> Any:
        try:
            return rule(value)
        except ValueError:
            return instead

    return given.map(tried)


def without(pattern: str) -> st.SearchStrategy[str]:
    return texts.map(lambda text: re.sub(pattern, "", text)[:64])


#: Most fields have one line, so most texts would be refused as they are.
lines = without(r"[\x00-\x1f\x7f-\x9f]")
names = clean(rules.NAME, lines, "x")
plain_ids = clean(ids.plain_id, without(r"[\s:/?#\x00-\x1f\x7f-\x9f]"), "x")
proposals = st.builds(
    Proposal,
    change=st.sampled_from(limits.PROPOSED_CHANGES),
    of=st.lists(st.sampled_from(["1", "42", "kb.policy.42"]), max_size=2, unique=True).map(tuple),
    versions=st.lists(st.integers(1, 9), max_size=2).map(tuple),
    fields=st.lists(st.sampled_from(["content", "tags"]), max_size=2, unique=True).map(tuple),
    at=st.none() | moments,
)
edits = st.lists(
    st.builds(Edit, entity=st.just("a.b"), field=st.just("tags"), key=names, op=st.just("add"))
    | st.builds(
        Edit,
        entity=st.just("a.b.c"),
        field=st.just("properties"),
        key=names,
        value=st.integers() | st.booleans() | st.just(["x", 1.5]),
    )
    | st.builds(Edit, entity=st.just("a"), field=st.just("description"), value=st.just("Ä\n- b: c\n")),
    max_size=3,
).map(tuple)
STRATEGIES: dict[str, st.SearchStrategy[Any]] = {
    "kind": st.sampled_from(limits.KINDS),
    "dimension": st.sampled_from(limits.DIMENSIONS),
    "title": clean(rules.TITLE, lines, "x"),
    "hint": clean(RECORD_RULES["hint"], st.none() | texts),
    "content": clean(rules.CONTENT, texts, "x"),
    "tags": clean(RECORD_RULES["tags"], st.lists(lines, max_size=3), ()),
    "category": clean(RECORD_RULES["category"], st.none() | lines),
    "confidence": st.sampled_from(limits.CONFIDENCES),
    "source": clean(RECORD_RULES["source"], st.none() | lines),
    "metadata": clean(RECORD_RULES["metadata"], st.dictionaries(texts, values, max_size=4), {}),
    "entities": clean(RECORD_RULES["entities"], st.lists(lines, max_size=3), ()),
    "query": clean(RECORD_RULES["query"], st.none() | texts | st.dictionaries(texts, values, max_size=3)),
    "artifact": clean(RECORD_RULES["artifact"], st.none() | lines),
    "scope": st.sampled_from(limits.SCOPES),
    "owner": names,
    "author": names,
    "persona": names | st.none(),
    "system": names | st.none(),
    "conversation": names | st.none(),
    "origin": st.sampled_from(limits.ORIGINS),
    "created_at": moments,
    "updated_at": moments,
    "valid_from": moments,
    "valid_to": moments,
    "verified_at": moments | st.none(),
    "status": st.sampled_from(limits.STATUSES),
    "status_reason": clean(RECORD_RULES["status_reason"], st.none() | texts),
    "always_inject": st.booleans(),
    "approved_by": names | st.none(),
    "approved_at": moments | st.none(),
    "proposes": st.none() | proposals,
    "edits": st.none() | edits,
    "changeset": st.none() | st.just("7"),
}


@st.composite
def memories(draw: Callable[..., Any]) -> Memory:
    """Any sound record. Some fields hold what they would if nobody had chosen."""
    drawn = {name: draw(strategy) for name, strategy in STRATEGIES.items()}
    if draw(st.booleans()):
        drawn["updated_at"] = drawn["valid_from"] = drawn["created_at"]
    if drawn["status"] in LIVE:
        drawn["valid_to"] = None
    else:
        drawn["valid_to"] = max(drawn["valid_to"], drawn["valid_from"])
    is_global = drawn["scope"] == "global"
    drawn["edits"] = None if is_global else drawn["edits"]
    drawn["changeset"] = None if drawn["edits"] is None else drawn["changeset"]
    for scope, name in (("persona", "persona"), ("system", "system"), ("session", "conversation")):
        if drawn["scope"] == scope:
            drawn[name] = draw(names)
    id = draw(plain_ids)
    tenant = GLOBAL_TENANT if is_global else draw(st.just("default") | names)
    assume(is_global or tenant != GLOBAL_TENANT)
    memory = Memory(tenant=tenant, id=ids.spell(tenant, id), **drawn)
    if draw(st.booleans()):
        memory = replace(memory, title=derive_title(memory.hint, memory.content))
    assume(not list(record_faults(memory)))
    return memory


@settings(max_examples=tries(20, soaking=200))
@given(memory=memories(), column=st.integers(0, 4))
def test_an_entry_that_is_read_says_what_was_written(memory: Memory, column: int) -> None:
    text = (
        " " * column + "\n" + render(entry_of(memory), column) if column else render(entry_of(memory), column)
    )
    [slot] = read_document(text).slots
    assert slot.entry is not None
    assert memory_of(slot.entry.values, datetime.now(UTC), replace(memory, place=None)) == memory


@settings(max_examples=tries(20, soaking=200))
@given(value=st.dictionaries(texts, values, max_size=4))
@example({text: text for text in ODD})
@example({"a": "9" * 70})
@example({"<<": 1, "=": 2})
@example({"k" * 3000: {"k" * 600: []}})
def test_any_value_is_read_alike_by_us_and_by_any_other_reader(value: dict[str, Any]) -> None:
    value = rules.Json()(value)
    text = render({"metadata": value}, 0)
    root = parse(text).root
    assert root is not None
    assert json_of(root) == [{"metadata": value}]
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        assert yaml.load(text, Loader=loader) == [{"metadata": value}]


@settings(max_examples=tries(20, soaking=200))
@example({text: text for text in ODD}, 20)
@given(value=st.dictionaries(texts, values, max_size=4), width=st.integers(20, 100))
def test_what_another_writer_wrote_is_read_as_it_was_meant(value: dict[str, Any], width: int) -> None:
    value = rules.Json()(value)
    for dumper in (yaml.SafeDumper, getattr(yaml, "CSafeDumper", yaml.SafeDumper)):
        for style in (None, True):
            text = yaml.dump([value], Dumper=dumper, default_flow_style=style, width=width, sort_keys=False)
            root = parse(text).root
            assert root is not None
            assert json_of(root) == [value]


@settings(max_examples=tries(20, soaking=200))
@given(text=st.text(letters, max_size=60) | st.lists(st.sampled_from(ODD)).map("\n".join))
def test_any_text_is_a_document_or_broken_at_one_of_its_lines(text: str) -> None:
    try:
        document = read_document(text)
    except UnreadableYaml as broken:
        assert 1 <= broken.line <= len(text.splitlines()) + 1
        assert broken.reason
    else:
        assert not document.is_cut or document.text() == text or not document.slots


@pytest.fixture(scope="module")
def two_stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqlStore, SqlStore]]:
    """A store, and another that is given its files."""
    with pytest.MonkeyPatch.context() as patch:
        # Nothing here asks what a loss of power leaves.
        patch.setattr(os, "fsync", lambda file: None)
        stores = [SqlStore(YamlBackend(tmp_path_factory.mktemp("texts") / MEMORIES)) for _ in range(2)]
        yield stores[0], stores[1]
        for store in stores:
            store.close()


@settings(max_examples=tries(8, soaking=80))
@given(
    saved=st.lists(memories(), min_size=1, max_size=4, unique_by=lambda memory: (memory.tenant, memory.id))
)
def test_any_memory_with_its_past_is_told_by_the_files_alone(
    two_stores: tuple[SqlStore, SqlStore], saved: list[Memory]
) -> None:
    store, elsewhere = two_stores
    try:
        for memory in saved:
            with store.restoring(Home(memory.tenant)) as restoring:
                restoring.restore([history(memory)])
        here = [memory.id for memory in saved if memory.tenant == saved[0].tenant]
        if len(here) > 1:
            with store.restoring(Home(saved[0].tenant)) as restoring:
                restoring.restore_edges([edge(here[0], here[1])], Counters("0", 1))
        for path in Path(store.location).parent.glob("memories.*"):
            shutil.copy(path, Path(elsewhere.location).parent)
        held, told = everything(store), everything(elsewhere)
        assert {tenant: told[tenant] for tenant in held} == held
        assert not list(store.store_problems())
    finally:
        with store._backend.writing() as connection:
            for table in metadata.tables.values():
                if table is not store_facts:
                    connection.execute(table.delete())


def history(memory: Memory) -> MemoryHistory:
    """A memory that said something else before."""
    middle = memory.created_at + timedelta(microseconds=1)
    before = replace(memory, content="something else", title="something else", version=1)
    first = Version(
        number=1,
        change="remember",
        by="ann",
        origin="person",
        at=memory.created_at,
        until=middle,
        memory=before,
    )
    last = Version(
        number=2,
        change="revise",
        by="bob",
        origin="agent",
        at=middle,
        until=None,
        memory=replace(memory, version=2),
    )
    return MemoryHistory(memory.id, (first, last))


def edge(source: str, target: str) -> Relation:
    made = datetime(2026, 3, 1, tzinfo=UTC)
    return Relation(
        id="1", source=source, relation="supports", target=target, created_at=made, created_by="ann"
    )
