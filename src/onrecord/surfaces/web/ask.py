"""WHAT does an agent get for a question? The answer as it gets it, with the reasons."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from starlette.responses import RedirectResponse, Response

from onrecord.model.advice import UNADVISED
from onrecord.model.feedback import GIVEN_VERDICTS, GivenVerdict, Verdict
from onrecord.model.findings import Group
from onrecord.model.ids import exactly
from onrecord.model.limits import BROWSE_LIMIT, KINDS, RECALL_LIMIT, SCOPES, STATUSES
from onrecord.model.memory import Memory
from onrecord.recall.hits import Hit
from onrecord.recall.recall import Recalled
from onrecord.surfaces.web import first_run
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Act, Page

_SHOWN: Final = (
    *("only_kinds", "only_tags", "only_entities", "only_owners", "scopes", "statuses", "created_since"),
    *("updated_before", "min_relevance"),
)
_FILTERS: Final = (*_SHOWN, "limit", "after")
#: How many hits that were left out are shown.
_WEAK: Final = 10
#: How much to begin with is shown.
_LATEST: Final = 5
_ABOUT: Final = 8
#: The channels in the order of their colours, with the words for them.
CHANNELS: Final = {
    "lexical": "words",
    "semantic": "meaning",
    "references": "what it is about",
    "tokens": "word by word",
    "neighbour": "the turn before",
    "graph": "links",
}
BOOSTS: Final = "boosts"


class Beginnings(NamedTuple):
    """Where to begin without a question: what changed last, what is written about most, if that was counted, and how much waits
    for one's review.
    """

    latest: Sequence[Memory]
    about: Sequence[Group] | None
    waiting: int


class Reason(NamedTuple):
    """What a hit owes to one channel, or to its boosts."""

    name: str
    amount: float


def ask(view: PageView) -> Response:
    question = view.query.one("question").strip()
    given = view.attempt(lambda: view.fields("recall", view.query, *_FILTERS) | view.times)
    recalled = weak = None
    if question and given is not None:
        recalled = view.attempt(lambda: view.door.recall(question, **given, explain=True))
        weak = None if recalled is None else _weak(view, question, given, recalled)
    offer = first_run.offer(view)
    # With nothing asked, and something to begin with.
    begins = not question and given is not None and offer != "first things"
    hits = (*recalled.hits, *(weak or ())) if recalled is not None else ()
    return view.html(
        "ask.html",
        question=question,
        offer=offer,
        beginnings=view.attempt(lambda: _beginnings(view)) if begins else None,
        recalled=recalled,
        weak=weak or (),
        reasons={hit.memory.id: _of_hit(hit) for hit in hits},
        verdicts=_own_verdicts(view, question) if hits else {},
        act_of=ACT_OF,
        scale=max((hit.score for hit in hits), default=0.0),
        channels=CHANNELS,
        legend=(*CHANNELS.values(), BOOSTS),
        filters=[(name, value) for name, value in view.query.pairs if name in _SHOWN and value],
        choices={"only_kinds": KINDS, "scopes": SCOPES, "statuses": STATUSES},
    )


def _beginnings(view: PageView) -> Beginnings:
    # Every memory is counted for it, so it is brought into the page after the rest of it.
    about = None
    if view.query.has("about"):
        about = view.door.tally("entity", limit=_ABOUT, **view.times).groups
    waiting = None
    if view.may("memory.review"):
        waiting = view.door.browse(statuses=["pending"], limit=1, count=True, **view.known_at).total
    return Beginnings(
        latest=view.door.browse(limit=_LATEST, **view.times).memories,
        about=about,
        waiting=waiting or 0,
    )


def _weak(view: PageView, question: str, given: dict[str, Any], recalled: Recalled) -> Sequence[Hit]:
    """The best of those that were left out as weak, if the answer is whole. No advisor is asked a second time."""
    if recalled.next or given.get("after") or given.get("min_relevance") == 0:
        return ()
    wanted: dict[str, Any] = {"limit": min(RECALL_LIMIT, len(recalled.hits) + _WEAK), "min_relevance": 0.0}
    shown = {hit.memory.id for hit in recalled.hits}
    everything = view.door.recall(question, **(given | wanted | UNADVISED))
    return [hit for hit in everything.hits if hit.memory.id not in shown]


def _of_hit(hit: Hit) -> Sequence[Reason]:
    """What the score of a hit is made of, by channel; boosts are what they add, or make all the others smaller."""
    shares = dict.fromkeys(CHANNELS, 0.0)
    for part in hit.why.parts:
        shares[part.channel] = shares.get(part.channel, 0.0) + max(part.share, 0.0)
    before = sum(shares.values())
    smaller = min(1.0, hit.score / before) if before else 1.0
    reasons = [Reason(CHANNELS.get(name, name), share * smaller) for name, share in shares.items()]
    return [*reasons, Reason(BOOSTS, max(hit.score - before, 0.0))]


def _own_verdicts(view: PageView, question: str) -> dict[str, Verdict]:
    """What the caller said of hits of this question before."""
    if not view.may("memory.manage"):
        return {}
    caller = view.door.caller.user
    said = view.door.feedback(question=question, user=caller, limit=BROWSE_LIMIT).feedback
    return {each.memory: each.verdict for each in said}


def _judge(verdict: GivenVerdict, view: PageView, form: Form) -> Response:
    """Keep what is said of a hit, and show the same answer again."""
    fields = view.fields("give_feedback", form, "question")
    view.door.give_feedback(exactly(form.one("id")), verdict, **fields)
    return RedirectResponse(view.same(done=verdict), 303)


#: The form of each verdict; a verdict that was given is taken back by its button.
ACT_OF: Final[dict[GivenVerdict, str]] = {verdict: f"judge_{verdict}" for verdict in GIVEN_VERDICTS}
_ACTS: Final[dict[str, Act]] = {act: partial(_judge, verdict) for verdict, act in ACT_OF.items()}
_DONE: Final = {
    "useful": "Noted that it was useful. It changes no answer; your own store can be measured by it.",
    "not_useful": "Noted that it was not useful. It changes no answer; your own store can be measured by it.",
    "none": "Taken back.",
}
PAGES = (Page(path="/", show=ask, menu="Ask", acts=first_run.ACTS | _ACTS, done=first_run.DONE | _DONE),)
