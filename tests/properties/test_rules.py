"""Does every parser and rule give a clean value or a clear reason, whatever it is handed?"""

import json
import os
import unicodedata
from copy import deepcopy
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from onrecord import Caller, Memory, OnRecord
from onrecord.care.importing import Imported
from onrecord.care.kinds import KINDS
from onrecord.config import load
from onrecord.errors import Conflict, Invalid, OnRecordError
from onrecord.features import OPERATIONS
from onrecord.model import ids, limits, rules
from onrecord.model.edits import Edit
from onrecord.model.memory import Proposal, derive_title
from onrecord.model.record import RECORD_RULES, record_faults
from onrecord.model.request import checked, request_fields
from onrecord.model.wire import from_json, to_json, write_instant
from onrecord.remember.remember import Remember
from onrecord.store.index.entries import read_positions, write_positions
from tests.soak import SOAKING, tries

from .conftest import KEEPER, Stores, outcome

instants = st.datetimes(timezones=st.just(UTC))
zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
odd_things = st.sampled_from(
    [
        10**5000,
        -1,
        1e308,
        float("nan"),
        b"bytes",
        object(),
        {1: 2},
        {"a": {1, 2}},
        date(2026, 1, 1),
        ...,
        range(3),
    ]
)
anything = json_values | odd_things | st.datetimes() | instants | st.datetimes(timezones=zones)

#: Every rule that stands at some field of a request or of a record, by the name of the field.
EVERY_RULE = {f"record.{name}": rule for name, rule in RECORD_RULES.items()} | {
    f"{operation.name}.{each.name}": each.metadata["rule"]
    for operation in OPERATIONS
    for each in request_fields(operation.request)
}


# -- rules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY_RULE)
@settings(max_examples=tries(8, soaking=100))
@given(value=anything)
def test_a_rule_gives_a_value_or_a_reason(name: str, value: Any) -> None:
    rule = EVERY_RULE[name]
    clean = outcome(ValueError, rule, value)
    if isinstance(clean, ValueError):
        assert str(clean)
    else:
        assert rule(clean) == clean, "a clean value must stay as it is"


@given(st.text())
@example("#42")
@example("##42")
@example("global:5")
@example("global:global:5")
@example("#global:5")
def test_an_id_reads_the_same_however_often_it_is_written(text: str) -> None:
    read = outcome(ValueError, ids.address, text)
    if isinstance(read, ValueError):
        assert str(read)
        return
    home, plain = read
    spelled = ids.spell(home or "", plain)
    assert ids.address(spelled) == (home, plain) == ids.address(f"#{spelled}")
    assert 1 <= len(plain) <= limits.ID_CHARACTERS
    assert not any(
        letter in ":/?#" or letter.isspace() or unicodedata.category(letter) in ("Cc", "Cs")
        for letter in plain
    )


@given(
    st.text(
        st.characters(exclude_characters=":/?#", exclude_categories=["Z", "Cc", "Cs"]),
        min_size=1,
        max_size=200,
    )
)
def test_an_id_without_forbidden_characters_is_used_as_it_is(text: str) -> None:
    assert ids.address(text) == (None, text)


@given(st.integers(min_value=0))
def test_a_whole_number_is_an_id_and_a_number(number: int) -> None:
    assume(len(str(number)) <= limits.ID_CHARACTERS)
    assert ids.address(number) == ids.address(str(number)) == ids.address(f"#{number}") == (None, str(number))
    assert ids.whole_number(str(number)) == number


@given(st.text(st.characters(categories=["Nd"]), min_size=1) | st.from_regex(r"0[0-9]+", fullmatch=True))
def test_only_plain_digits_without_a_leading_zero_are_numbers(text: str) -> None:
    plain = text.isascii() and (text == "0" or not text.startswith("0"))
    assert ids.whole_number(text) == (int(text) if plain else None)


@given(
    st.text(max_size=30)
    | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]{2,15}([+-][0-9:]{2,6}|Z)?)?")
)
@example("9999-12-31T23:59:59-01:00")
@example("0001-01-01T00:00:00+01:00")
@example("9999-W52-7")
@example("2026-W10-1")
@example("\ud800\ud800\ud800\ud800\ud800\ud800\ud800\ud800\ud800\ud800")
def test_a_time_in_words_is_an_instant_or_a_reason(text: str) -> None:
    moment = outcome(ValueError, rules.INSTANT, text)
    if isinstance(moment, ValueError):
        assert str(moment)
    else:
        assert moment.tzinfo is UTC
        assert rules.INSTANT(moment) == moment == rules.INSTANT(moment.isoformat())


@given(st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=zones))
def test_a_time_in_any_zone_is_the_same_instant_in_utc(moment: datetime) -> None:
    assert rules.INSTANT(moment) == rules.INSTANT(moment.isoformat()) == moment
    assert rules.INSTANT(write_instant(moment)) == moment


@given(st.dates())
def test_a_date_is_its_first_moment(day: date) -> None:
    assert rules.INSTANT(day.isoformat()) == datetime(day.year, day.month, day.day, tzinfo=UTC)


# -- requests -----------------------------------------------------------------------------------------------

FAULTY: dict[str, Any] = {
    "content": "",
    "id": "a b",
    "kind": "gossip",
    "title": "x" * 201,
    "hint": "x" * 1001,
    "tags": ["x" * 65],
    "confidence": "sure",
    "metadata": [],
    "scope": "everyone",
    "valid_from": "soon",
    "always_inject": "yes",
    "dedupe": None,
}


@given(st.sets(st.sampled_from(sorted(FAULTY)), min_size=1))
def test_an_error_lists_every_fault_of_a_request_by_its_field(names: set[str]) -> None:
    ask = Remember(**({"content": "sound"} | {name: FAULTY[name] for name in names}))
    with pytest.raises(Invalid) as caught:
        checked(ask, KEEPER)
    assert {fault.field for fault in caught.value.faults} == names


@given(
    st.dictionaries(
        st.sampled_from([each.name for each in fields(Caller)]),
        json_values
        | instants
        | st.sets(st.text(max_size=5))
        | st.dictionaries(st.text(max_size=5), st.text(max_size=5)),
    )
)
def test_a_caller_is_sound_or_its_faults_are_named(values: dict[str, Any]) -> None:
    caller = outcome(Invalid, Caller, **({"tenant": "acme", "user": "ann"} | values))
    if isinstance(caller, Invalid):
        assert {fault.field.partition(".")[0] for fault in caller.faults} <= values.keys()
    else:
        assert caller.tenant != limits.GLOBAL_TENANT
        assert caller.tenant == caller.tenant.strip()
        assert caller.operator in (True, False), "what is almost true must not hold the whole store"


# -- titles, the wire, positions ----------------------------------------------------------------------------

any_text = st.text(
    st.characters() | st.sampled_from(list("\n\r\t \x00\x1f\x85\u2028\u2029\u3000\ud800")), max_size=500
)


@given(st.none() | any_text, any_text, st.integers(1, 12))
def test_a_title_is_always_one_line_of_1_to_200_characters(
    hint: str | None, content: str, times: int
) -> None:
    title = derive_title(hint, content * times)
    assert 1 <= len(title) <= 200
    assert len(title.splitlines()) == 1
    assert title == title.strip()


@given(st.none() | any_text, any_text)
def test_a_title_of_storable_text_is_a_sound_title(hint: str | None, content: str) -> None:
    try:
        clean = (None if hint is None else rules.HINT(hint)), rules.CONTENT(content)
    except ValueError:
        return
    title = derive_title(*clean)
    assert rules.TITLE(title) == title


storable = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=20
)
lines = storable.map(lambda text: "".join(letter for letter in f"x{text}" if letter.isprintable()).strip())
json_objects = st.dictionaries(
    storable,
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | storable,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(storable, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)


proposals = st.builds(
    Proposal,
    change=st.sampled_from(limits.PROPOSED_CHANGES),
    of=st.lists(st.sampled_from(["1", "42", "kb.policy.42"]), max_size=2, unique=True).map(tuple),
    versions=st.lists(st.integers(1, 9), max_size=2).map(tuple),
    fields=st.lists(st.sampled_from(["content", "tags"]), max_size=2, unique=True).map(tuple),
    at=st.none() | instants,
)


edits = st.lists(
    st.builds(Edit, entity=st.just("a.b"), field=st.just("tags"), key=st.just("x"), op=st.just("add"))
    | st.builds(
        Edit, entity=st.just("a"), field=st.just("properties"), key=st.just("k"), value=st.integers()
    ),
    max_size=2,
).map(tuple)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Any sound record."""
    scope = draw(st.sampled_from(limits.SCOPES))
    status = draw(st.sampled_from(limits.STATUSES))
    valid_from = draw(instants)
    return Memory(
        tenant="acme",
        id=("global:" if scope == "global" else "")
        + draw(st.sampled_from(["1", "42", "kb.policy.42", "ünï"])),
        version=draw(st.integers(1, 1000)),
        kind=draw(st.sampled_from(limits.KINDS)),
        dimension=draw(st.sampled_from(limits.DIMENSIONS)),
        title=draw(lines),
        hint=draw(st.none() | lines),
        content="x" + draw(storable),
        tags=tuple(draw(st.lists(lines, max_size=3, unique=True))),
        category=draw(st.none() | lines),
        confidence=draw(st.sampled_from(limits.CONFIDENCES)),
        source=draw(st.none() | lines),
        metadata=draw(json_objects),
        entities=tuple(draw(st.lists(lines, max_size=3, unique=True))),
        query=draw(st.none() | json_objects | lines),
        artifact=draw(st.none() | lines),
        scope=scope,
        owner=draw(lines),
        persona=draw(lines if scope == "persona" else st.none() | lines),
        system=draw(lines if scope == "system" else st.none() | lines),
        conversation=draw(lines if scope == "session" else st.none() | lines),
        author=draw(lines),
        origin=draw(st.sampled_from(limits.ORIGINS)),
        proposes=draw(st.none() | proposals),
        edits=None if scope == "global" else draw(st.none() | edits),
        created_at=draw(instants),
        updated_at=draw(instants),
        valid_from=valid_from,
        valid_to=None if status in limits.LIVE else max(valid_from, draw(instants)),
        verified_at=draw(st.none() | instants),
        status=status,
        status_reason=draw(st.none() | lines),
        always_inject=draw(st.booleans()),
        approved_by=draw(st.none() | lines),
        approved_at=draw(st.none() | instants),
    )


@settings(max_examples=tries(8, soaking=80))
@given(memories())
def test_a_memory_comes_back_from_the_wire_as_it_was(memory: Memory) -> None:
    assert not list(record_faults(memory))
    assert from_json(Memory, json.loads(json.dumps(to_json(memory)))) == memory


@given(st.lists(st.integers(0, 65_535), max_size=64, unique=True).map(sorted))
def test_positions_come_back_as_they_were(places: list[int]) -> None:
    assert read_positions(write_positions(places)) == tuple(places)


@given(st.lists(st.integers(0, 10**6), max_size=200, unique=True).map(sorted))
def test_of_very_many_positions_the_first_are_kept(places: list[int]) -> None:
    kept = read_positions(write_positions(places))
    assert kept == tuple(place for place in places[:64] if place <= 65_535)


# -- configuration ------------------------------------------------------------------------------------------

SETTINGS = tuple(setting.name for setting in load({"ONRECORD_CONFIG": os.devnull}).settings)
values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


def config_file(folder: Path, content: bytes) -> Path:
    path = folder / "config.toml"
    path.write_bytes(content)
    return path


@given(
    content=st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: text.encode(errors="surrogatepass"))
)
@example(b"tenant = 'a'\ntenant = 'b'")
@example(b"tenant = 1")
@example(b"colour = 'red'")
@example(b"tenant = " + b"1" * 5000)
@example(b"tenant = " + b"[" * 5000)
@example(b"\xff")
def test_a_config_file_is_read_or_its_fault_is_named(tmp_path: Path, content: bytes) -> None:
    path = config_file(tmp_path, content)
    config = outcome(Invalid, load, {"ONRECORD_CONFIG": str(path)})
    if isinstance(config, Invalid):
        assert all(str(path) in fault.field for fault in config.faults)
    else:
        assert [setting.name for setting in config.settings] == list(SETTINGS)


def test_the_settings_begin_with_these() -> None:
    assert SETTINGS[:12] == (
        "db",
        "url",
        "key",
        "tenant",
        "project",
        "user",
        "conversation",
        "embedder",
        "embedder_url",
        "embedder_key",
        "embedder_dimensions",
        "embedder_timeout",
    )


#: Told to nobody.
SECRETS = (
    *("key", "embedder_key", "operator_key", "datahub_token", "advisor_key", "oidc_client_secret"),
    "check_connections",
)
#: Those that change others: where the store is reached, and whether the tenant is that of a repository.
BY_THEMSELVES = st.sampled_from([name for name in SETTINGS if name not in ("url", "project")])


@given(
    chosen=st.dictionaries(BY_THEMSELVES, st.none() | values),
    environment=st.dictionaries(BY_THEMSELVES, values),
    file=st.dictionaries(BY_THEMSELVES, values),
)
def test_the_choice_on_the_spot_beats_the_environment_and_that_the_file(
    tmp_path: Path, chosen: dict[str, str | None], environment: dict[str, str], file: dict[str, str]
) -> None:
    # What is blank is told of elsewhere: it is refused, or counts as not set.
    assume(
        all(
            value.strip()
            for told in (chosen, environment, file)
            for value in told.values()
            if value is not None
        )
    )
    # A JSON text is a TOML text too, except for DEL, which TOML wants escaped.
    written = "".join(
        f"{name} = {json.dumps(value, ensure_ascii=True)}\n".replace("\x7f", "\\u007f")
        for name, value in file.items()
        if all(ord(letter) < 0x10000 for letter in value)
    )
    path = config_file(tmp_path, written.encode())
    variables = {f"ONRECORD_{name.upper()}": value for name, value in environment.items()}
    config = load({"ONRECORD_CONFIG": str(path)} | variables, **chosen)
    for setting in config.settings:
        value = config.of_faces.get(setting.name, getattr(config, setting.name, None))
        if chosen.get(setting.name) is not None:
            assert (value, setting.origin) == (chosen[setting.name], "given")
        elif environment.get(setting.name):
            variable = f"ONRECORD_{setting.name.upper()}"
            assert (value, setting.origin) == (environment[setting.name], variable)
        elif any(line.startswith(f"{setting.name} = ") for line in written.splitlines()):
            assert (value, setting.origin) == (file[setting.name], str(path))
        else:
            assert setting.origin == "default"
        # A key is told to nobody, not even how long it is.
        is_secret = setting.name in SECRETS
        assert setting.value == (value and "***" if is_secret else value)


# -- marks of pages -----------------------------------------------------------------------------------------


@settings(max_examples=tries(10, soaking=100))
@given(
    mark=st.text(max_size=40)
    | st.from_regex(r"2026-03-0[1-9]T1[0-9]:00:00(\+00:00|Z)?~-?[0-9]{1,30}~-?[0-9]{1,30}", fullmatch=True)
)
@example("2026-03-01T12:00:00~1~1")
@example("2026-03-01T12:00:00+00:00~99999999999999999999~1")
@example("2026-03-01T12:00:00+00:00~1~99999999999999999999")
@example("0001-01-01T00:00:00+01:00~1~1")
@example("~~")
def test_a_mark_gives_a_page_or_a_reason(stores: Stores, mark: str) -> None:
    doors = stores.emptied("sqlite-memory", "postgres")
    for name, door in doors.items():
        door.remember("oat milk")
        page = outcome(Invalid, door.browse, after=mark)
        if isinstance(page, Invalid):
            assert [fault.field for fault in page.faults] == ["after"], name
        else:
            assert len(page.memories) <= 1, name


@settings(max_examples=tries(6, soaking=60))
@given(ticks=st.lists(st.booleans(), max_size=9), limit=st.integers(1, 4), known=st.booleans())
def test_the_pages_together_are_the_whole_list(
    stores: Stores, ticks: list[bool], limit: int, known: bool
) -> None:
    for name, door in stores.emptied("sqlite-file", "postgres").items():
        for number, moves in enumerate(ticks):
            door.remember(f"memory {number}", scope="global" if number % 4 == 3 else "tenant")
            if moves:
                stores.tick()
        when = {"known_at": stores.clock()} if known else {}
        whole = [memory.id for memory in door.browse(limit=1000, **when).memories]
        assert len(whole) == len(ticks), name
        paged: list[str] = []
        page = door.browse(limit=limit, **when)
        paged += [memory.id for memory in page.memories]
        while page.next is not None and len(paged) <= len(whole):
            page = door.browse(limit=limit, after=page.next, **when)
            paged += [memory.id for memory in page.memories]
        assert paged == whole, f"on {name}, in pages of {limit}"


# -- import lines -------------------------------------------------------------------------------------------


class Lines(list[Any]):
    """The lines of an export, too long to be shown whole."""

    def __repr__(self) -> str:
        return f"<{len(self)} lines of an export>"


@pytest.fixture(scope="module")
def export_lines(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """An export with some of everything: versions, an edge that stands, one taken back, a global memory, a workspace."""
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    door.remember(
        "oat milk", hint="what ann drinks", tags=["drink"], entities=["memory:2"], metadata={"n": [1]}
    )
    door.remember("river lamp", scope="system", system="billing", query="select 1")
    door.remember("cloud", scope="global")
    stores.tick()
    door.revise("1", content="oat milk, cold")
    door.relate("1", "supports", "2")
    door.relate("2", "refines", "1")
    stores.tick()
    door.unrelate("2", "refines", "1")
    door.retire("2", reason="dried up")
    door.register_conversation(title="about milk", agent="scout")
    door.write_artifact("notes/milk.md", "oats, water", conversation="1")
    door.revise("1", artifact="1")
    door.append_scratchpad("half done", agent="scout")
    door.append_scratchpad("done", agent="scout")
    door.set_agent("scout", decay=True)
    path = tmp_path_factory.mktemp("export") / "export.jsonl"
    door.export(str(path))
    return Lines(json.loads(line) for line in path.read_text().splitlines())


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] + [deeper for key, item in items for deeper in paths_in(item, (*path, key))]


tempting = st.sampled_from(
    [
        "", " ", "x", "#1", "1", "2", "9", "global:1", "profile", "global", "tenant", "user", "session", "pending",
        "archived", "active", "supports", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00", "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00", "a\x00b", "\ud800", 0, 1, 2, True, 1.0, 1e400, -1, 2**63, 10**4000, None, [], {},
        ["a", "a"], [" a", "a"], ["memory:#1"], {"a": "\x00"},
    ]
)  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn, lines: Lines) -> list[str]:
    """An export in which something was changed by hand."""
    lines = deepcopy(lines)
    for _ in range(draw(st.integers(1, 2))):
        number = draw(st.integers(0, len(lines) - 1))
        action = draw(st.sampled_from(["change", "change", "change", "delete", "drop", "repeat", "swap"]))
        if action == "drop":
            del lines[number]
        elif action == "repeat":
            lines.insert(draw(st.integers(0, len(lines))), deepcopy(lines[number]))
        elif action == "swap":
            lines.append(lines.pop(number))
        else:
            path = draw(st.sampled_from(paths_in(lines[number])))
            # A copy: the same empty list put into itself would go round in circles.
            put = None if action == "delete" else (deepcopy(draw(tempting | json_values)),)
            spoil(lines, (number, *path), put)
        if not lines:
            break
    return [json.dumps(line) for line in lines]


def spoil(value: Any, path: tuple[Any, ...], put: tuple[Any] | None) -> None:
    for key in path[:-1]:
        value = value[key]
    if put is not None:
        # A copy, since the next change may go inside.
        value[path[-1]] = deepcopy(put[0])
    else:
        del value[path[-1]]


def import_text(door: OnRecord, path: Path, text: str, **how: bool) -> Imported | OnRecordError:
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return outcome(OnRecordError, door.import_, str(path), **how)


@settings(max_examples=tries(24, soaking=160))
@given(data=st.data(), keep_tenants=st.booleans())
def test_an_import_of_a_spoilt_export_is_taken_in_or_refused_and_leaves_a_sound_store(
    stores: Stores, export_lines: Lines, tmp_path: Path, data: st.DataObject, keep_tenants: bool
) -> None:
    text = "\n".join(data.draw(spoilt(export_lines)))
    answers = {}
    for name, door in stores.emptied("sqlite-memory", "postgres").items():
        if not SOAKING and any(isinstance(each, Invalid) for each in answers.values()):
            # What the reader refuses comes to no database; what every database refuses is tried in a soak.
            return
        answers[name] = import_text(door, tmp_path / "spoilt.jsonl", text, keep_tenants=keep_tenants)
        assert isinstance(answers[name], Imported | Invalid | Conflict), f"{name}: {answers[name]}"
        problems = door.doctor().problems
        assert not problems, f"{name} took in what is not sound: {'; '.join(map(str, problems))}"
    assert len(set(map(str, answers.values()))) == 1, answers


@settings(max_examples=tries(10, soaking=100))
@given(
    line=st.text(max_size=60)
    | json_values.map(json.dumps)
    | st.dictionaries(
        st.sampled_from(["tenant", "id", "last_relation", *(kind.key for kind in KINDS)]), json_values
    ).map(json.dumps)
)
@example('{"n": ' + "1" * 5000 + "}")
@example("[" * 100_000)
@example('{"last_id": "' + "9" * 5000 + '", "last_relation": 0, "tenant": "acme"}')
@example('{"last_id": "' + "9" * 300 + '", "last_relation": 0, "tenant": "acme"}')
def test_any_line_is_taken_in_or_refused_with_its_number(
    stores: Stores, export_lines: Lines, tmp_path: Path, line: str
) -> None:
    door = stores.emptied("sqlite-memory")["sqlite-memory"]
    head, tenant = map(json.dumps, export_lines[:2])
    answer = import_text(door, tmp_path / "any.jsonl", f"{head}\n{tenant}\n{line}\n")
    if isinstance(answer, Invalid):
        assert all(fault.field.startswith("any.jsonl, line ") for fault in answer.faults)
        assert not door.browse().memories
    else:
        assert isinstance(answer, Imported), answer
    door.remember("goes on")
    assert door.browse().memories[0].content == "goes on"
    assert door.show(door.browse().memories[0].id).memory.content == "goes on"
