"""HOW OFTEN may a caller ask? What is left, what is refused, and what a crowd costs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.access import throttle
from onrecord.access.throttle import Budget, Throttle
from onrecord.errors import TooMany
from onrecord.model.caller import Caller

ANN = Caller(tenant="acme", user="ann")
KEY = Caller(tenant="acme", user="ann", key="abcdefgh")


def allowed(throttle: Throttle, caller: Caller, times: int) -> int:
    done = 0
    for _ in range(times):
        try:
            throttle.take(caller)
        except TooMany:
            continue
        done += 1
    return done


def test_a_budget_tells_the_limit_what_is_left_and_when_it_is_whole_again(timer: Callable[[], float]) -> None:
    limited = Throttle(60, timer=timer)
    assert limited.take(ANN) == Budget(limit=60, remaining=59, reset=1)
    assert limited.take(ANN) == Budget(limit=60, remaining=58, reset=2)


def test_one_request_too_many_is_refused_and_told_when_to_come_back(timer: Callable[[], float]) -> None:
    limited = Throttle(6, timer=timer)
    assert allowed(limited, ANN, 6) == 6
    with pytest.raises(TooMany) as refused:
        limited.take(ANN)
    assert refused.value.retry_after == 10
    assert "10 s" in str(refused.value)


def test_after_the_time_that_was_told_the_next_request_is_allowed(timer) -> None:
    limited = Throttle(6, timer=timer)
    allowed(limited, ANN, 6)
    with pytest.raises(TooMany) as refused:
        limited.take(ANN)
    timer.tick(refused.value.retry_after)
    assert allowed(limited, ANN, 5) == 1


def test_a_key_has_the_lower_of_its_own_limit_and_the_servers(timer: Callable[[], float]) -> None:
    for own, server, limit in ((5, 10, 5), (20, 10, 10), (None, 10, 10), (5, None, 5)):
        limited = Throttle(server, of_key=lambda key, own=own: own, timer=timer)
        assert allowed(limited, KEY, 30) == limit


def test_without_any_limit_there_is_no_budget() -> None:
    assert Throttle(None).take(ANN) is None


def test_one_caller_does_not_use_up_what_another_has(timer: Callable[[], float]) -> None:
    limited = Throttle(3, timer=timer)
    assert allowed(limited, ANN, 9) == 3
    for other in (KEY, Caller(tenant="acme", user="bob"), Caller(tenant="globex", user="ann")):
        assert allowed(limited, other, 9) == 3


def test_another_conversation_is_not_another_budget(timer: Callable[[], float]) -> None:
    limited = Throttle(3, timer=timer)
    assert sum(allowed(limited, ANN.inside(f"talk {number}"), 1) for number in range(9)) == 3


def test_many_threads_together_get_no_more_than_the_limit(timer: Callable[[], float]) -> None:
    limited = Throttle(100, timer=timer)
    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(lambda _: allowed(limited, KEY, 50), range(16))) == 100


def test_of_very_many_callers_only_the_latest_are_remembered(
    timer: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "_MOST_CALLERS", 10)
    limited = Throttle(1, timer=timer)
    for number in range(100):
        limited.take(Caller(tenant="acme", user=f"user {number}"))
    assert len(limited._buckets) == 10
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
    limited = Throttle(limit, timer=lambda: now)
    done = 0
    for pause in pauses:
        now += pause
        done += allowed(limited, ANN, 3)
    assert done <= limit + now * limit / 60 + 1e-6
