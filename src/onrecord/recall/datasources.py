"""WHERE are the best? A query uses one datasource, so entities beside the best ones are likelier to be needed."""

from typing import Final

from onrecord.recall.draft import RecallDraft, RecallTools, boosted

#: How much the datasource that holds most of the best adds to the scores of its entities.
IN_IT: Final = 0.5
#: How many of the best decide which datasource that is.
_BEST: Final = 20


def boost_datasource(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Raise entities by the scores of the best in their datasource, relative to the strongest datasource."""
    homes = {key: draft.matches[key].entities[0].partition(".")[0] for key in draft.parts}
    strength: dict[str, float] = {}
    for key in draft.ranked()[:_BEST]:
        strength[homes[key]] = strength.get(homes[key], 0.0) + draft.score(key)
    strongest = max(strength.values(), default=0.0)
    if strongest <= 0:
        return draft
    factors = {key: 1 + IN_IT * strength[home] / strongest for key, home in homes.items() if home in strength}
    return boosted(draft, "datasource", factors)
