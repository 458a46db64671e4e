"""The bounded cache: what was not used for longest goes first, and the weights add up."""

from threading import Barrier, Thread

from hypothesis import given
from hypothesis import strategies as st

from onrecord.lru_cache import LruCache


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_to_put_a_value_again_is_to_use_it() -> None:
    cache: LruCache[str, int] = LruCache(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        cache.put(key, value)
    assert [cache.get(key) for key in "abc"] == [3, None, 4]


def test_the_value_put_last_stays_however_much_it_weighs() -> None:
    cache: LruCache[str, str] = LruCache(3, len)
    cache.put("a", "xx")
    cache.put("b", "xxxxx")
    assert (len(cache), cache.weight, cache.get("b")) == (1, 5, "xxxxx")


def test_a_value_that_has_grown_is_weighed_again_and_others_make_room() -> None:
    cache: LruCache[str, list[int]] = LruCache(3, len)
    cache.put("a", [1])
    cache.put("b", [2])
    grown = cache.get("a")
    assert grown is not None
    grown += [1, 1]
    cache.weigh_again("a")
    assert (cache.get("b"), cache.weight) == (None, 3)
    cache.weigh_again("b")
    assert cache.get("b") is None


def test_what_is_taken_out_weighs_no_more() -> None:
    cache: LruCache[str, str] = LruCache(9, len)
    cache.put("a", "xx")
    cache.put("b", "xxx")
    assert (cache.pop("a"), cache.pop("a"), cache.weight) == ("xx", None, 3)
    cache.clear()
    assert (len(cache), cache.weight, cache.get("b")) == (0, 0, None)


def test_threads_that_ask_at_once_get_the_same_value() -> None:
    cache: LruCache[str, object] = LruCache(2)
    start, found = Barrier(8), []

    def ask() -> None:
        start.wait()
        found.append(cache.get_or_put("a", object))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


@given(
    steps=st.lists(st.tuples(st.sampled_from("abcde"), st.text("x", max_size=4) | st.none()), max_size=40),
    most=st.integers(0, 9),
)
def test_the_weight_is_that_of_what_is_kept(steps: list[tuple[str, str | None]], most: int) -> None:
    cache: LruCache[str, str] = LruCache(most, len)
    for key, value in steps:
        if value is None:
            cache.pop(key)
        else:
            cache.put(key, value)
    kept = [value for key in "abcde" if (value := cache.get(key)) is not None]
    assert len(kept) == len(cache)
    assert cache.weight == sum(map(len, kept))
    assert cache.weight <= most or len(cache) == 1
