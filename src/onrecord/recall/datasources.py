"""WHERE are the best? A question is about one datasource, so what belongs to others is less likely to be needed."""

from typing import Final

from onrecord.recall.draft import RecallDraft, RecallTools, boosted
from onrecord.text.names import datasources_in

#: What is left of the score of what belongs to a datasource that none of the best belongs to. With less, little more is found,
#: and a question about two datasources loses the weaker one.
ELSEWHERE: Final = 0.35
#: How many of the best decide which datasource that is.
_BEST: Final = 20


def lower_other_datasources(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Lower what belongs to other datasources than the strongest among the best, each by how far behind it is. What belongs
    to none stays as it is.
    """
    homes = {key: datasources_in(draft.matches[key].entities) for key in draft.parts}
    if not any(homes.values()):
        return draft
    strength: dict[str, float] = {}
    for key in draft.ranked()[:_BEST]:
        for home in homes[key]:
            strength[home] = strength.get(home, 0.0) + draft.score(key)
    strongest = max(strength.values(), default=0.0)
    if strongest <= 0:
        return draft
    shares = {
        key: max(strength.get(home, 0.0) for home in own) / strongest for key, own in homes.items() if own
    }
    lowered = {key: ELSEWHERE + (1 - ELSEWHERE) * share for key, share in shares.items() if share < 1}
    return boosted(draft, "datasource", lowered)
