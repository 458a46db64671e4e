"""WHAT is asked of the company's memories? Two hundred questions and more, a group for each file of answers."""

from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One question: who asks, by which operation, with which fields, and whether by a door without an embedder."""

    who: str
    operation: str
    fields: dict[str, Any]
    by_words: bool = False


def recall(question: str, who: str = "ann", by_words: bool = False, **fields: Any) -> Asked:
    return Asked(who, "recall", {"question": question, **fields}, by_words)


def search(who: str = "ann", by_words: bool = False, **fields: Any) -> Asked:
    return Asked(who, "search", fields, by_words)


_WORDS = (
    "price_cents",
    "belt 9",
    "account 4899",
    "fuel surcharge",
    "plan-tours",
    "Müller",
    "muller",
    "port 8140",
    "weight_g shipments",
    "delivered_at",
    "DELIVERED AT",
    "Falkenpost takeover",
    "chrony offset",
    "thirty days",
    "skip list",
    "paid_on bank",
    "Black Week",
    "LABEL_FONT=plain",
    "contracts lock",
    "Greta",
    "e-mail mails mailer",
    "shipments.courier_id NULL",
    "solar roofs",
    "Zieliński",
    "the of and",
)

_MEANINGS = (
    "When do we book income for a package?",
    "What should I do if customers see an outdated location?",
    "Who is responsible for the app that shows where a delivery is?",
    "Can I release software at the end of the week?",
    "How long are pictures of front doors kept?",
    "Why might the number of arrived parcels go down later?",
    "Which database should a new microservice use?",
    "How are goods refunded when they were broken on the way?",
    "Who has the final word on closing the books?",
    "what happens if nobody has seen a parcel for a month",
    "Is the mass of a package reliable?",
    "How do I undo a broken release?",
    "What language do we write to customers in?",
    "Which tables should not be read directly?",
    "How do tours of the drivers get made?",
    "Who may look at the accounting data, and how do they get in?",
    "What went wrong around Christmas?",
    "Why was nobody able to log in?",
    "How does the analyst want numbers shown?",
    "How should I write SQL for Ann?",
    "Where do I see how much was really paid for claims?",
    "Why do I get too many rows when I combine parcels with complaints?",
    "Which vehicles serve the centre of a town?",
    "When may I wake the engineer on duty?",
    "What is being built to make tracking faster?",
    "How can receivers pick their time?",
    "Who must agree before drivers are monitored?",
    "How many stops can someone on a bicycle make?",
    "Why is the data of the analysts late after Easter?",
    "What limits the share of freelancers?",
    "How to tell fraud from a real complaint",
    "Where do parcels with unreadable stickers end up?",
    "what is the quickest way to see if a machine jammed",
    "How did the company do in the last quarter of 2025?",
    "Which customers get a delivery promise?",
    "What do the first digits of an account mean?",
    "Do Swiss bills have tax on them?",
    "Is a signature of the neighbour enough?",
    "How do I print a trial label?",
    "What shall we do during a power cut?",
)

_ENTITIES: tuple[Asked, ...] = (
    recall("what should I know?", entities=["shipments.status"]),
    recall("what should I know?", entities=["parcels.shipments.price_cents"]),
    recall("cents", entities=["shipments.price_cents", "ledger.postings.amount"]),
    recall("amount", entities=["claims.amount_cents"], recipe="entity"),
    recall("anything", entities=["customers.segment"], recipe="entity"),
    recall("anything", entities=["couriers.vehicle"], recipe="entity", who="cleo"),
    recall("anything", entities=["memory:svc.tracking"], recipe="entity"),
    recall("revenue", entities=["shipments.revenue"]),
    recall("invoices", entities=["invoices"]),
    recall("invoices", entities=["ledger.invoices"]),
    recall("bills", entities=["ledger.invoices.vat"]),
    recall("vat", entities=["nothing.of.this"]),
    recall("orders.customer_id"),
    recall("shipments.customer_id"),
    recall("what does customer_id mean in shipments"),
    recall("depots.city and depots.opened_on"),
)

_TIMES: tuple[Asked, ...] = (
    recall("What happened in September 2025?"),
    recall("What happened in September 2025?", times="hard"),
    recall("What happened in September 2025?", times="off"),
    recall("incidents last month", times="hard"),
    recall("incidents since March 2026", times="hard"),
    recall("what broke in the first quarter of 2025", times="hard"),
    recall("outages three months ago"),
    recall("what was wrong with tracking in 2025?"),
    recall("incidents between May 2025 and July 2025", times="hard"),
    recall("what happened on 2025-05-05?"),
    recall("What did we decide yesterday?"),
    recall("Which outages were there before February 2025?", times="hard"),
    recall("incident", created_since="2026-01-01"),
    recall("decision", updated_before="2025-09-01"),
    recall("belts", decay=True),
    recall("belts", decay=True, half_life_days=10, decay_floor=0.1),
)

_PAST: tuple[Asked, ...] = (
    recall("May one deploy on Fridays?"),
    recall("May one deploy on Fridays?", as_of="2025-06-12"),
    recall("May one deploy on Fridays?", as_of="2025-01-02"),
    recall("May one deploy on Fridays?", known_at="2025-06-12"),
    recall("Do we deliver to Switzerland?"),
    recall("Do we deliver to Switzerland?", as_of="2026-01-15"),
    recall("Do we deliver to Switzerland?", known_at="2026-01-15"),
    recall("When does enterprise begin?", as_of="2026-01-01"),
    recall("When does enterprise begin?"),
    recall("up to how many euro are claims paid without questions", known_at="2025-10-01"),
    recall("up to how many euro are claims paid without questions"),
    recall("who owns labels", known_at="2025-06-01"),
    recall("who owns labels"),
    recall("port of quotes", as_of="2026-03-01"),
    recall("port of quotes", as_of="2026-05-01"),
    recall("photos of doorsteps", as_of="2026-01-31", known_at="2026-05-01"),
    recall("photos of doorsteps", as_of="2026-01-31", known_at="2026-01-31"),
    recall("tracking", known_at="2025-01-01"),
)

_FILTERS: tuple[Asked, ...] = (
    recall("tracking", kinds=["decision"]),
    recall("tracking", only_kinds=["decision"]),
    recall("tracking", only_kinds=["workflow", "context"]),
    recall("claims", tags=["query"]),
    recall("claims", tags=["service", "money"]),
    recall("mailer", statuses=["stale"]),
    recall("mailer", statuses=["active", "stale"]),
    recall("fridays", statuses=["superseded"]),
    recall("fridays", statuses=["superseded", "active", "archived"]),
    recall("vpn switzerland", statuses=["archived"]),
    recall("couriers bikes depot", statuses=["pending"], who="cleo"),
    recall("couriers bikes depot", statuses=["pending"], who="robot"),
    recall("couriers bikes depot", statuses=["pending"], who="guest"),
    recall("what do I like?", scopes=["user"]),
    recall("passwords", scopes=["global"]),
    recall("billing", scopes=["system"]),
    recall("phone", scopes=["persona"], who="bob"),
    recall("belt 4", scopes=["session"], who="ann in c-17"),
    recall("how to", only_kinds=["workflow"], limit=5),
    recall("how do I make a report?", intent=False),
    recall("how do I make a report?"),
    recall("which decision did we take about weights?", limit=3),
    recall("claims", elsewhere=False, who="ann in c-17"),
    recall("claims", conversation="c-23", who="ann"),
)

_RECIPES = ("lexical", "semantic", "entity", "graph", "graduated", "rrf", "counts", "blend")
_BY_RECIPE = (
    "Why did the belts stop?",
    "Who owns tracking and what does it do?",
    "revenue by customer segment",
    "the database of billing",
)

_CALLERS = ("cleo", "ann", "bob", "ann in c-17", "ann in c-23", "robot", "guest", "dora", "stranger")
_BY_CALLER = (
    "What is known about revenue?",
    "Who keeps the phone, and which database has billing?",
    "Why do claims in Graz double, and what colours shall I use?",
)

_NOTHING = (
    "zeppelin",
    "How do I bake bread?",
    "quantum chromodynamics lattice",
    "?",
    "   ",
    "",
    "🦔",
    "the moons of Jupiter",
    "xyzzy plugh",
    "SELECT * FROM nothing; --",
)

_SCRIPTS = (
    "Laderampe Linz",
    "Förderband",
    "Foerderband Kilogramm",
    "douane Suisse",
    "repartidores Barcelona",
    "仓库盘点",
    "手袋",
    "택배 분실",
    "посылки этикетка",
    "ΔΈΜΑΤΑ Ελλάδα",
    "الطرود",
    "पार्सल ग्राहक",
    "sklad Mikulov",
)

_OPTIONS: tuple[Asked, ...] = (
    recall("Revenue of delivered parcels", query_limit=2),
    recall("Revenue of delivered parcels", query_limit=0),
    recall("claims", max_tokens=60),
    recall("claims", max_tokens=0),
    recall("claims", limit=1),
    recall("claims", limit=25),
    recall("belt", agent="scout"),
    recall("belt", agent="nobody"),
    recall("Graz", who="ann in c-17", conversation_places=0),
    recall("Graz", who="ann in c-17", conversation_places=5, tenant_places=0),
    recall("euro amounts", global_places=0),
    recall("euro amounts", global_places=5, limit=3),
    recall("Why did the belts stop in Graz?", explain=True, limit=3),
    recall("Why did the belts stop in Graz?", explain=True, limit=3, recipe="lexical"),
    recall("shipments", explain=True, limit=2, recipe="graph"),
)

_SEARCHES: tuple[Asked, ...] = (
    search(),
    search(who="guest"),
    search(who="dora"),
    search(who="stranger", question="revenue"),
    search(question="revenue"),
    search(question="how much did customers pay"),
    search(question="broken parcels", max_entities=10),
    search(question="who drives", max_entities=3, max_memories=2),
    search(question="gross or net", datasource="ledger"),
    search(question="gross or net", datasource="parcels"),
    search(question="gross or net", datasource="nowhere"),
    search(entities=["shipments"]),
    search(entities=["shipments.revenue"]),
    search(entities=["parcels.shipments.status", "claims.reason"]),
    search(entities=["invoices"]),
    search(entities=["ledger.invoices"]),
    search(entities=["shipments.price_cents:sum"]),
    search(entities=["customers.segment", "nothing"], question="enterprise"),
    search(entities=["memory:dec.revenue"]),
    search(entities=["memory:absent"]),
    search(entities=["depots"], max_memories=0, max_example_queries=0),
    search(query={"source_model": "shipments", "measures": ["revenue"], "dimensions": ["customers.country"]}),
    search(query={"source_model": "claims", "measures": ["payout"]}, question="what is paid"),
    search(query={"source_model": "nowhere"}),
    search(query={"source_model": "shipments", "filters": ["colour = 'red'"]}),
    search(question="weights", max_memories=1, max_example_queries=1, max_entities=1),
    search(question="zeppelin"),
    search(question="couriers", who="cleo", max_memories=10),
    search(question="Kranlast containers", who="dora"),
    search(question="postings credits negative", max_memories=3),
    search(question="仓库"),
)

_BY_WORDS: tuple[Asked, ...] = (
    *(recall(question, by_words=True) for question in _MEANINGS[:12]),
    *(recall(question, by_words=True, recipe=recipe) for question in _BY_RECIPE[:1] for recipe in _RECIPES),
    recall("shipments", by_words=True, recipe="graph", explain=True),
    recall("tracking", by_words=True, who="bob", tags=["incident"]),
    recall("May one deploy on Fridays?", by_words=True, as_of="2025-06-12"),
    recall("fridays", by_words=True, known_at="2025-06-12"),
    search(by_words=True, question="revenue"),
    search(by_words=True, entities=["shipments"], question="lost"),
    search(by_words=True, question="broken parcels", max_entities=10),
)

#: The answers of each group are a file of this name.
GROUPS: dict[str, tuple[Asked, ...]] = {
    "words": tuple(recall(words, recipe="lexical") for words in _WORDS),
    "meanings": tuple(map(recall, _MEANINGS)),
    "entities": _ENTITIES,
    "times": _TIMES,
    "past": _PAST,
    "filters": _FILTERS,
    "recipes": tuple(
        recall(question, recipe=recipe)
        for question in _BY_RECIPE
        for recipe in _RECIPES
        if recipe != "lexical"
    ),
    "callers": tuple(recall(question, who=who) for question in _BY_CALLER for who in _CALLERS),
    "nothing": tuple(recall(question, limit=3) for question in _NOTHING),
    "scripts": tuple(recall(question, limit=5) for question in _SCRIPTS),
    "options": _OPTIONS,
    "search": _SEARCHES,
    "by_words": _BY_WORDS,
}
#: What is also asked of a store of YAML files.
FEW = ("past", "by_words")
