"""HOW OFTEN may a caller ask? What is left, what is refused, and what a crowd costs."""

import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.access import throttle
from onrecord.access.throttle import Buckets, Budget, OwnBuckets, Throttle
from onrecord.errors import StoreUnavailable, TooMany
from onrecord.model.caller import Caller
from onrecord.store.sqlite.rates import SharedBuckets

ANN = Caller(tenant="acme", user="ann")
KEY = Caller(tenant="acme", user="ann", key="abcdefgh")


@pytest.fixture(params=["own", "shared"])
def buckets(request: pytest.FixtureRequest, timer: Callable[[], float], tmp_path: Path) -> Iterator[Buckets]:
    """Those of one process, and those that processes share."""
    made = OwnBuckets(timer) if request.param == "own" else SharedBuckets(tmp_path / "rates.db", timer)
    yield made
    made.close()


def allowed(throttle: Throttle, caller: Caller, times: int) -> int:
    done = 0
    for _ in range(times):
        try:
            throttle.take(caller)
        except TooMany:
            continue
        done += 1
    return done


def test_a_budget_tells_the_limit_what_is_left_and_when_it_is_whole_again(buckets: Buckets) -> None:
    limited = Throttle(60, buckets=buckets)
    assert limited.take(ANN) == Budget(limit=60, remaining=59, reset=1)
    assert limited.take(ANN) == Budget(limit=60, remaining=58, reset=2)


def test_one_request_too_many_is_refused_and_told_when_to_come_back(buckets: Buckets) -> None:
    limited = Throttle(6, buckets=buckets)
    assert allowed(limited, ANN, 6) == 6
    with pytest.raises(TooMany) as refused:
        limited.take(ANN)
    assert refused.value.retry_after == 10
    assert "10 s" in str(refused.value)


def test_after_the_time_that_was_told_the_next_request_is_allowed(buckets: Buckets, timer) -> None:
    limited = Throttle(6, buckets=buckets)
    allowed(limited, ANN, 6)
    with pytest.raises(TooMany) as refused:
        limited.take(ANN)
    timer.tick(refused.value.retry_after)
    assert allowed(limited, ANN, 5) == 1


def test_a_key_has_the_lower_of_its_own_limit_and_the_servers(buckets: Buckets) -> None:
    for own, server, limit in ((5, 10, 5), (20, 10, 10), (None, 10, 10), (5, None, 5)):
        limited = Throttle(server, of_key=lambda key, own=own: own, buckets=buckets)
        assert allowed(limited, replace(KEY, key=f"{own} {server}"), 30) == limit


def test_without_any_limit_there_is_no_budget() -> None:
    assert Throttle(None).take(ANN) is None


def test_one_caller_does_not_use_up_what_another_has(buckets: Buckets) -> None:
    limited = Throttle(3, buckets=buckets)
    assert allowed(limited, ANN, 9) == 3
    for other in (KEY, Caller(tenant="acme", user="bob"), Caller(tenant="globex", user="ann")):
        assert allowed(limited, other, 9) == 3


def test_another_conversation_is_not_another_budget(buckets: Buckets) -> None:
    limited = Throttle(3, buckets=buckets)
    assert sum(allowed(limited, ANN.inside(f"talk {number}"), 1) for number in range(9)) == 3


def test_many_threads_together_get_no_more_than_the_limit(buckets: Buckets) -> None:
    limited = Throttle(100, buckets=buckets)
    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(lambda _: allowed(limited, KEY, 50), range(16))) == 100


def test_processes_that_share_a_file_share_what_is_left(timer: Callable[[], float], tmp_path: Path) -> None:
    path = tmp_path / "new" / "rates.db"
    doors = [Throttle(10, buckets=SharedBuckets(path, timer)) for _ in range(3)]
    assert sum(allowed(each, KEY, 8) for each in doors) == 10
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for each in doors:
        each.close()


def test_what_is_shared_holds_no_one_who_was_quiet_for_a_minute(timer, tmp_path: Path) -> None:
    shared = SharedBuckets(tmp_path / "rates.db", timer)
    for number in range(50):
        shared.take(("user", "acme", f"user {number}"), 5)
    timer.tick(61)
    shared.take(("user", "acme", "another"), 5)
    assert shared._connection.execute("SELECT count(*) FROM rates").fetchone() == (1,)
    shared.close()


def test_a_file_in_which_nothing_can_be_counted_is_told(tmp_path: Path) -> None:
    (tmp_path / "rates.db").write_text("not a database, but long enough to be taken for one " * 100)
    with pytest.raises(StoreUnavailable, match="rates_file"):
        SharedBuckets(tmp_path / "rates.db")


def test_of_very_many_callers_only_the_latest_are_remembered(
    timer: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "_MOST_CALLERS", 10)
    own = OwnBuckets(timer)
    limited = Throttle(1, buckets=own)
    for number in range(100):
        limited.take(Caller(tenant="acme", user=f"user {number}"))
    assert len(own._buckets) == 10
    with pytest.raises(TooMany):
        limited.take(Caller(tenant="acme", user="user 99"))


@given(
    limit=st.integers(1, 600),
    pauses=st.lists(st.floats(0, 30, allow_subnormal=False), min_size=1, max_size=200),
)
def test_whatever_the_rhythm_no_more_is_allowed_than_a_full_bucket_and_what_flowed_in(
    limit: int, pauses: list[float]
) -> None:
    now = 0.0
    limited = Throttle(limit, buckets=OwnBuckets(lambda: now))
    done = 0
    for pause in pauses:
        now += pause
        done += allowed(limited, ANN, 3)
    assert done <= limit + now * limit / 60 + 1e-6
