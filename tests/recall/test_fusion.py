"""Channels become one order: who is asked first says nothing, and who has nothing to say changes nothing."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onrecord.recall.draft import RecallDraft, RecallTools
from onrecord.recall.fusion import fuse
from onrecord.recall.recipes import RECIPES, Fusion
from onrecord.store.ports.index import Found, Key

from .conftest import CHANNELS, a_draft, a_list, finds, weighings

#: Those that take the lists as they come; an absolute score looks at each memory itself (`test_absolute.py`).
FUSIONS = [each for each in get_args(Fusion) if each != "absolute"]
Finds = Mapping[str, Sequence[Found]]

pytestmark = pytest.mark.parametrize("fusion", FUSIONS)


def fused(found: Finds, weights: Mapping[str, float], fusion: Fusion) -> RecallDraft:
    return fuse(a_draft(found, weights=weights, fusion=fusion), RecallTools())


def test_every_fusion_is_used_by_a_recipe(fusion: Fusion) -> None:
    assert fusion in {recipe.fusion for recipe in RECIPES.values()}


@given(found=finds, weights=weighings, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_channels_says_nothing(
    fusion: Fusion, found: Finds, weights: Mapping[str, float], seed: Random
) -> None:
    shuffled = list(found.items())
    seed.shuffle(shuffled)
    one, other = fused(found, weights, fusion), fused(dict(shuffled), weights, fusion)
    assert one.ranked() == other.ranked()
    assert dict(one.parts) == dict(other.parts)


@given(found=finds, weights=weighings)
def test_whoever_was_found_is_ranked_once_and_with_a_reason_from_each_finder(
    fusion: Fusion, found: Finds, weights: Mapping[str, float]
) -> None:
    draft = fused(found, weights, fusion)
    assert sorted(draft.ranked()) == sorted({each.key for listed in found.values() for each in listed})
    for key, parts in draft.parts.items():
        finders = {channel for channel, listed in found.items() if key in places(listed)}
        assert finders <= {part.channel for part in parts}
        assert draft.score(key) >= 0


@given(found=finds, weights=weighings, extra=st.sampled_from(CHANNELS))
def test_a_channel_that_found_nothing_changes_nothing(
    fusion: Fusion, found: Finds, weights: Mapping[str, float], extra: str
) -> None:
    assume(extra not in found)
    before, after = fused(found, weights, fusion), fused({**found, extra: ()}, weights, fusion)
    assert after.ranked() == before.ranked()
    assert {key: after.score(key) for key in after.parts} == {key: before.score(key) for key in before.parts}


@given(found=finds, weights=weighings, extra=st.sampled_from(CHANNELS), irrelevant=a_list())
def test_a_channel_without_weight_takes_no_one_away_and_moves_no_one(
    fusion: Fusion, found: Finds, weights: Mapping[str, float], extra: str, irrelevant: Sequence[Found]
) -> None:
    assume(extra not in found)
    before = fused(found, weights, fusion).ranked()
    after = fused({**found, extra: irrelevant}, {**weights, extra: 0.0}, fusion).ranked()
    assert [key for key in after if key in before] == before


@given(listed=a_list(), weights=weighings, channel=st.sampled_from(CHANNELS))
def test_a_channel_alone_keeps_its_order(
    fusion: Fusion, listed: Sequence[Found], weights: Mapping[str, float], channel: str
) -> None:
    assert fused({channel: listed}, weights, fusion).ranked() == [each.key for each in listed]


@given(found=finds, weights=weighings)
def test_who_comes_before_another_in_every_list_that_has_both_and_in_all_of_its_lists_is_not_behind(
    fusion: Fusion, found: Finds, weights: Mapping[str, float]
) -> None:
    draft = fused(found, weights, fusion)
    for better in draft.parts:
        for worse in draft.parts:
            if is_ahead(better, worse, found):
                assert draft.score(better) >= draft.score(worse) - 1e-9


def is_ahead(better: Key, worse: Key, found: Finds) -> bool:
    """Whether one is listed before the other wherever the other is listed."""
    lists = [place for listed in found.values() if worse in (place := places(listed))]
    return all(better in place and place[better] <= place[worse] for place in lists)


def places(listed: Sequence[Found]) -> dict[Key, int]:
    return {each.key: rank for rank, each in enumerate(listed)}
