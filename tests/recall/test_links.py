"""IS a question of several steps answered? Each memory names the next one, and only the first is what the question names."""

import pytest

from onrecord import OnRecord
from onrecord.recall import graph
from onrecord.recall.hits import Hit

QUESTION = "In which year was the founder of the firm that built the Alma bridge born?"
CHAIN = {
    "bridge": ("The Alma bridge was built by Korvel.", ["thing:Alma bridge", "thing:Korvel"]),
    "firm": ("Korvel is a firm; its founder was Ines Dahl.", ["thing:Korvel", "thing:Ines Dahl"]),
    "founder": ("Ines Dahl was born in the year 1870.", ["thing:Ines Dahl", "thing:Trondheim"]),
}


@pytest.fixture
def chain(memory: OnRecord) -> OnRecord:
    for id, (text, things) in CHAIN.items():
        memory.remember(text, id=id, entities=things)
    return memory


def found(door: OnRecord) -> dict[str, Hit]:
    return {hit.memory.id: hit for hit in door.recall(QUESTION).hits}


def test_a_hit_that_a_lead_has_raised_leads_on(chain: OnRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first hit alone nothing leads to the founder, who is named by the second."""
    monkeypatch.setattr(graph, "_SEEDS", 1)
    hits = found(chain)
    assert hits["firm"].why.path == ("bridge", "thing:Korvel")
    assert hits["founder"].why.path == ("firm", "thing:Ines Dahl")
    monkeypatch.setattr(graph, "_FARTHER", 1)
    assert not found(chain)["founder"].why.path


def test_a_farther_hit_leads_only_to_what_says_more(chain: OnRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """What says nothing that the hits on the way do not say gains nothing by being joined to the second."""
    chain.remember("Korvel is a firm; its founder was Ines Dahl!", id="echo", entities=["thing:Ines Dahl"])
    monkeypatch.setattr(graph, "_SEEDS", 1)
    hits = found(chain)
    assert {part.channel for part in hits["founder"].why.parts} >= {"graph"}
    assert hits["echo"].why.path != ("firm", "thing:Ines Dahl")
