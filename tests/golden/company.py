"""WHAT is in the store that the golden answers come from? The memories of Kestrel Parcels, a company that does not exist.

Everything is written here or put together from tables here, in one order and by one clock: two stores filled by this
say the same to the last letter. Texts are only added at the end of their table, since ids and times follow the order.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from onrecord import Caller, OnRecord
from onrecord.model.limits import PERMISSIONS
from tests.conftest import Clock

MODELS = Path(__file__).with_name("models")
BEGIN = datetime(2025, 1, 6, 9, tzinfo=UTC)
#: The time of asking: all that is told lies before it.
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
#: How far apart two things are told.
STEP_HOURS = 39

PEOPLE: dict[str, Caller] = {
    "cleo": Caller(
        tenant="kestrel",
        user="cleo",
        permissions=frozenset(PERMISSIONS),
        systems={"*": "manage"},
        operator=True,
    ),
    "ann": Caller(tenant="kestrel", user="ann", personas=frozenset({"analyst"}), systems={"billing": "read"}),
    "bob": Caller(
        tenant="kestrel",
        user="bob",
        personas=frozenset({"oncall"}),
        systems={"tracking": "manage", "billing": "manage", "sorter": "read"},
    ),
    "ann in c-17": Caller(
        tenant="kestrel", user="ann", personas=frozenset({"analyst"}), conversation="c-17", actor="agent"
    ),
    "ann in c-23": Caller(tenant="kestrel", user="ann", conversation="c-23", actor="agent"),
    "robot": Caller(tenant="kestrel", user="robot", actor="unattended", run="night-1"),
    "robot later": Caller(tenant="kestrel", user="robot", actor="unattended", run="night-2"),
    "guest": Caller(tenant="kestrel", user="guest", permissions=frozenset({"memory.read"})),
    "dora": Caller(tenant="harbour", user="dora", permissions=frozenset(PERMISSIONS)),
    "stranger": Caller(tenant="nobody", user="zed"),
}


class Done(NamedTuple):
    """Who does what with the store: the name of an operation, and its fields."""

    who: str
    operation: str
    fields: dict[str, Any]


def note(who: str, content: str, kind: str = "fact", **more: Any) -> Done:
    return Done(who, "remember", {"content": content, "kind": kind, **more})


TABLES: tuple[tuple[str, str, str], ...] = (
    (
        "shipments.price_cents",
        "learning",
        "Prices are gross and in cents; divide by 100 and take off VAT before comparing with the ledger.",
    ),
    (
        "shipments.status",
        "learning",
        "A parcel that is lost keeps the status on_van for thirty days; only then a job writes lost.",
    ),
    (
        "shipments.status",
        "fact",
        "Returned parcels go from delivered back to returned, so a delivered count of yesterday may shrink.",
    ),
    (
        "shipments.delivered_at",
        "learning",
        "delivered_at is the time of the scan at the door, in UTC, not the time of the depot.",
    ),
    (
        "shipments.delivered_at",
        "fact",
        "Neighbours who sign for a parcel count as delivered; the name is in the proof service.",
    ),
    (
        "shipments.weight_g",
        "learning",
        "Weights below 20 grams are the sorter's zero point and mean that the scale was empty.",
    ),
    (
        "shipments.weight_g",
        "fact",
        "Until March 2024 weights were typed by hand at the counter and rounded to half a kilo.",
    ),
    ("shipments.customer_id", "fact", "Customer 1 is ourselves: leave internal mail out of every report."),
    (
        "shipments.courier_id",
        "learning",
        "courier_id is NULL for parcels that customers fetch at the depot themselves.",
    ),
    (
        "shipments.handed_in_at",
        "learning",
        "Bulk senders hand in overnight; their parcels carry the date of the next morning.",
    ),
    ("shipments", "reference", "The table of shipments is partitioned by month and kept for seven years."),
    (
        "shipments",
        "learning",
        "Joining shipments to claims doubles rows where a parcel has two claims; count distinct ids.",
    ),
    (
        "customers.country",
        "learning",
        "The country is that of the billing address; for where parcels go, look at the depot instead.",
    ),
    (
        "customers.segment",
        "fact",
        "Segment small means fewer than 500 parcels a month, whatever the contract says.",
    ),
    (
        "customers.churned_at",
        "learning",
        "churned_at is set ninety days after the last parcel and is cleared if the customer comes back.",
    ),
    (
        "customers.name",
        "fact",
        "Names of private senders are hashed in the warehouse; ask legal for the key.",
    ),
    (
        "customers",
        "reference",
        "Customers are loaded from the sales system every hour; deletions arrive only at night.",
    ),
    (
        "depots.capacity_per_hour",
        "fact",
        "Capacity is what the builder promised; real throughput is about 80 percent.",
    ),
    (
        "depots.city",
        "learning",
        "Two depots are called Linz; tell them apart by id, 14 is the one at the harbour.",
    ),
    (
        "depots.opened_on",
        "fact",
        "Depots that were taken over from Falkenpost have the date of the takeover.",
    ),
    (
        "couriers.is_contractor",
        "learning",
        "Contractors changed from NULL to true in May 2025; older rows may be NULL.",
    ),
    ("couriers.vehicle", "fact", "Vehicle is what the courier was given, not what was driven that day."),
    (
        "claims.amount_cents",
        "learning",
        "Claims are what was asked for; what was paid is in the postings of account 4810.",
    ),
    (
        "claims.reason",
        "fact",
        "Reason late exists only for enterprise customers, whose contracts promise a day.",
    ),
    (
        "claims.settled_at",
        "learning",
        "A claim without settled_at that is older than a year was forgotten, not refused.",
    ),
    ("parcels.invoices.total_cents", "fact", "Totals of bills include the fuel surcharge since July 2025."),
    (
        "parcels.invoices.paid_on",
        "learning",
        "paid_on is the day the bank told us, usually two days after the money came.",
    ),
    (
        "parcels.invoices.issued_on",
        "fact",
        "Bills are issued on the second working day of a month for the month before.",
    ),
    (
        "ledger.invoices.net_amount",
        "learning",
        "Net amounts in the books may be negative: a correction is a bill of its own.",
    ),
    ("ledger.invoices.vat", "fact", "VAT is 20 percent in Austria and 19 in Germany; Swiss bills have none."),
    ("ledger.postings.amount", "learning", "Credits are negative; revenue in a report must be turned round."),
    (
        "ledger.postings.booked_on",
        "fact",
        "December stays open for bookings until the auditors leave in February.",
    ),
    (
        "ledger.accounts.number",
        "reference",
        "Accounts that begin with 4 are revenue, with 5 material, with 6 wages.",
    ),
    ("ledger.accounts.is_closed", "fact", "Closed accounts still take corrections of the year before."),
    (
        "claims",
        "workflow",
        "For claims per depot, join claims to shipments and group by depot_id, never by city.",
    ),
)

#: Name, team, port, language, what it does, how it fails, what to do then.
SERVICES: tuple[tuple[str, str, int, str, str, str, str], ...] = (
    (
        "tracking",
        "Doorstep",
        8081,
        "Go",
        "tells customers where their parcel is",
        "shows yesterday's place when the scan queue is behind",
        "restart the consumer scan-reader, then wait ten minutes",
    ),
    (
        "billing",
        "Money",
        8090,
        "Java",
        "makes the bills of the month",
        "stops at the first customer without an address",
        "put the customer on the skip list and run it again",
    ),
    (
        "sorter",
        "Belts",
        8107,
        "Rust",
        "decides on which belt a parcel goes",
        "sends everything to belt 9 when the plan is missing",
        "load the plan of yesterday from the bucket sort-plans",
    ),
    (
        "labels",
        "Counter",
        8112,
        "Python",
        "prints the labels with their codes",
        "prints blank labels when the font server is away",
        "switch to the built-in font with LABEL_FONT=plain",
    ),
    (
        "routes",
        "Doorstep",
        8120,
        "Kotlin",
        "plans the tours of the vans each night",
        "gives up at three when the map is older than a week",
        "renew the map tiles, then start the job plan-tours by hand",
    ),
    (
        "proof",
        "Doorstep",
        8133,
        "Go",
        "keeps signatures and photos of deliveries",
        "answers 404 for photos that are still on the way",
        "tell the caller to ask again after an hour",
    ),
    (
        "quotes",
        "Sales",
        8140,
        "Python",
        "says what a parcel will cost",
        "falls back to list prices when contracts cannot be read",
        "check the lock on the table contracts",
    ),
    (
        "gateway",
        "Platform",
        8443,
        "Envoy",
        "stands before all services and checks tokens",
        "refuses everyone when the clock of the host is wrong",
        "start chrony and look at the offset",
    ),
    (
        "mailer",
        "Counter",
        8151,
        "Node",
        "sends mails to senders and receivers",
        "sends twice after a failover",
        "empty the outbox table before you start the second node",
    ),
    (
        "warehouse",
        "Data",
        8160,
        "SQL",
        "copies every table for the analysts",
        "is a day late after a holiday",
        "run the job catch-up with the missing date",
    ),
    (
        "search",
        "Sales",
        8172,
        "Java",
        "finds customers by name and number",
        "loses umlauts after a reindex",
        "reindex again with the analyzer german",
    ),
    (
        "identity",
        "Platform",
        8180,
        "Go",
        "signs people in and gives out tokens",
        "is slow on Monday mornings",
        "add a third replica before eight o'clock",
    ),
)

DECISIONS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "dec.revenue",
        "Revenue is counted when a parcel is delivered, not when it is handed in.",
        "finance",
        ("shipments.revenue",),
    ),
    (
        "dec.weights",
        "We trust the weight of the sorter and ignore what the sender declares.",
        "pricing",
        ("shipments.weight_g",),
    ),
    ("dec.postgres", "New services keep their data in PostgreSQL; MySQL is frozen.", "platform", ()),
    (
        "dec.rust",
        "The sorter is rewritten in Rust because pauses of the collector stopped the belts.",
        "belts",
        (),
    ),
    (
        "dec.oncall",
        "On call lasts a week, from Wednesday ten o'clock, so that nobody hands over on a Monday.",
        "people",
        (),
    ),
    (
        "dec.utc",
        "All times are stored in UTC and shown in the time of the depot.",
        "platform",
        ("shipments.delivered_at",),
    ),
    (
        "dec.retention",
        "Photos of doorsteps are erased after ninety days, for the privacy of those who live there.",
        "privacy",
        (),
    ),
    (
        "dec.fridays",
        "Nothing is deployed after noon on Fridays, except to mend what is broken.",
        "release",
        (),
    ),
    (
        "dec.friday2",
        "Deploys are allowed on Fridays until four, since rollbacks take a minute.",
        "release",
        (),
    ),
    (
        "dec.bikes",
        "Inner cities are served by cargo bikes from spring to autumn.",
        "fleet",
        ("couriers.vehicle",),
    ),
    (
        "dec.claims",
        "Claims up to fifty euro are paid without questions.",
        "service",
        ("claims.amount_cents",),
    ),
    (
        "dec.surcharge",
        "The fuel surcharge is shown as a line of its own on every bill.",
        "pricing",
        ("parcels.invoices.total_cents",),
    ),
    ("dec.events", "Services speak by events; nobody reads the tables of another team.", "platform", ()),
    ("dec.segment", "Enterprise begins at five thousand parcels a month.", "sales", ("customers.segment",)),
    (
        "dec.lost",
        "A parcel that was not scanned for thirty days is lost, and the sender is told.",
        "service",
        ("shipments.status",),
    ),
    (
        "dec.contractors",
        "At most a third of the couriers in a depot may be contractors.",
        "people",
        ("couriers.is_contractor",),
    ),
    ("dec.dashboards", "There is one dashboard for each question, and it has an owner.", "data", ()),
    (
        "dec.langs",
        "Customer texts are written in German first, then translated to English and Czech.",
        "service",
        (),
    ),
    ("dec.vpn", "The VPN goes away; everything stands behind the gateway with short tokens.", "platform", ()),
    (
        "dec.swiss",
        "We stop delivering to Switzerland until customs can be paid in advance.",
        "sales",
        ("customers.country",),
    ),
    (
        "dec.sla",
        "Tracking must answer within 300 milliseconds for ninety-nine of a hundred requests.",
        "platform",
        (),
    ),
    ("dec.green", "Every depot opened from 2026 has a solar roof.", "fleet", ("depots.opened_on",)),
    (
        "dec.models",
        "Measures are defined once in the semantic model and nowhere else.",
        "data",
        ("shipments.revenue", "claims.payout"),
    ),
    ("dec.pagers", "An alarm that nobody can act on is deleted.", "people", ()),
)

RUNBOOKS: tuple[tuple[str, str], ...] = (
    (
        "How to close the month in the books",
        "1. Freeze the bills. 2. Compare the totals of parcels.invoices with the ledger. 3. Post the difference to 4899. "
        "4. Ask Greta to sign. 5. Unfreeze.",
    ),
    (
        "How to bring back a deleted customer",
        "Take the row from the nightly copy, put it into customers with the old id, and run relink-shipments for it.",
    ),
    (
        "How to roll back a deploy",
        "Run ship rollback SERVICE; it takes the last image that was healthy for an hour. Tell the channel releases.",
    ),
    (
        "How to open a new depot in the systems",
        "Add it to depots, give it a sort plan, order printers, and let routes plan one empty tour as a rehearsal.",
    ),
    (
        "How to answer a customer whose parcel is late",
        "Say sorry once, give the last scan and the next one we expect, and offer a claim only if they are enterprise.",
    ),
    (
        "How to rotate the signing keys of identity",
        "Make the new pair, publish both for a day, switch, and take the old one away the day after.",
    ),
    (
        "How to find a lost parcel",
        "Look at the last scan, call that depot, have them check belt 9 and the cage for broken labels, then the van.",
    ),
    (
        "How to add a column to the warehouse",
        "Open a pull request in the models folder, name an owner, and wait for the nightly job; never alter by hand.",
    ),
    (
        "How to survive Black Week",
        "Freeze changes from the 20th, double the consumers of tracking, and put two people on call at night.",
    ),
    (
        "How to order a test parcel",
        "Use customer 1 and the postcode 0000; labels prints it, and sorter throws it into the test cage.",
    ),
    (
        "What to do when a depot loses power",
        "Send vans to the next depot, switch routes to plan B, and tell tracking to show a banner.",
    ),
    (
        "How to read a sort plan",
        "Each line is a postcode prefix and a belt; the longest prefix wins; a hash begins a comment.",
    ),
    (
        "How to give someone access to the ledger",
        "Their manager asks in the channel access, Greta approves, and platform adds the role ledger-read for 90 days.",
    ),
    (
        "How to run the tour planner by hand",
        "ssh to routes-1, run plan-tours --date DATE --depot ID, and look at the log for the word infeasible.",
    ),
    (
        "How to write an incident report",
        "What happened, who noticed, what helped, what we change; no names, one page, within three days.",
    ),
)

#: Who, in which kind, and what they want.
PREFERENCES: tuple[tuple[str, str, str], ...] = (
    ("ann", "preference", "I like charts with the axis from zero and no legend when there is one line."),
    ("ann", "preference", "Show amounts in euro with a comma, not in cents."),
    ("ann", "preference", "Answer in English even if I write German."),
    ("ann", "feedback", "Do not round shares to whole percents; one decimal is what I need."),
    ("ann", "preference", "Use common table expressions instead of nested selects."),
    ("ann", "user", "I am an analyst in the data team and look after reports on claims and revenue."),
    ("ann", "feedback", "The last summary was too long; five lines are enough."),
    ("ann", "preference", "Weeks begin on Monday in my reports."),
    ("bob", "preference", "Give me the command first and the explanation after it."),
    ("bob", "preference", "Wake me only for tracking and gateway."),
    ("bob", "user", "I am on call every third week and write mostly Go."),
    ("bob", "feedback", "Stop suggesting restarts before you have looked at the logs."),
    ("bob", "preference", "Times in my time zone, Vienna, please."),
    ("bob", "preference", "I drink tea; do not book meetings before ten."),
    ("cleo", "preference", "Send me decisions as a list with a date and a name."),
    ("cleo", "user", "I run the platform team and approve what others propose."),
    ("cleo", "feedback", "Name the owner whenever you name a service."),
)

#: Day, service, and what happened.
INCIDENTS: tuple[tuple[str, str, str, str], ...] = (
    ("2025-01-14", "tracking", "was down for two hours", "a certificate had run out"),
    ("2025-02-03", "billing", "billed 311 customers twice", "the job was started by hand while it ran"),
    ("2025-02-20", "sorter", "stopped all belts in Graz", "a plan with an empty line"),
    ("2025-03-11", "mailer", "sent nine thousand mails at night", "a test list was the real one"),
    ("2025-03-29", "routes", "planned tours an hour late", "the change to summer time"),
    ("2025-04-17", "gateway", "refused every token", "the clock of two hosts was off by five minutes"),
    ("2025-05-05", "labels", "printed labels without a code", "the font server was moved"),
    ("2025-05-22", "warehouse", "lost a day of shipments", "a disk was full"),
    ("2025-06-09", "identity", "locked out all drivers", "a password rule for people was used for devices"),
    ("2025-07-01", "quotes", "quoted last year's prices", "the contract table was locked by a report"),
    ("2025-07-19", "proof", "lost photos of one afternoon", "the bucket had no room"),
    ("2025-08-12", "search", "found nobody called Müller", "umlauts were folded twice"),
    ("2025-09-02", "tracking", "showed parcels in the sea", "longitude and latitude were swapped"),
    ("2025-09-30", "billing", "stopped on the last day of the quarter", "a customer without an address"),
    ("2025-10-26", "routes", "planned two tours for one van", "the change to winter time"),
    ("2025-11-28", "gateway", "was slow for six hours", "Black Friday, and a limit that was too low"),
    ("2025-12-23", "sorter", "sent everything to belt 9", "the plan of the holiday was missing"),
    ("2026-01-08", "mailer", "sent nothing for a day", "the outbox was full of bounces"),
    ("2026-02-13", "identity", "was slow all morning", "a cache was emptied at eight"),
    ("2026-03-16", "tracking", "lost forty minutes of scans", "a queue was deleted by mistake"),
    ("2026-04-21", "warehouse", "had every shipment twice", "the copy ran in two regions"),
)

QUERIES: tuple[tuple[str, str, Any], ...] = (
    (
        "q.revenue",
        "Revenue of delivered parcels by month",
        {"source_model": "shipments", "measures": ["revenue"], "filters": ["status = 'delivered'"]},
    ),
    (
        "q.lost",
        "How many parcels were lost",
        {"source_model": "shipments", "measures": ["*:count"], "filters": ["status = 'lost'"]},
    ),
    (
        "q.claims",
        "What claims cost us by reason",
        {"source_model": "claims", "measures": ["payout"], "dimensions": ["reason"]},
    ),
    (
        "q.segment",
        "Revenue by customer segment",
        {"source_model": "shipments", "measures": ["revenue"], "dimensions": ["customers.segment"]},
    ),
    (
        "q.depot",
        "Parcels handed in by depot",
        {"source_model": "shipments", "measures": ["*:count"], "dimensions": ["depots.city"]},
    ),
    ("q.vat", "VAT to be paid", {"source_model": "ledger.invoices", "measures": ["vat:sum"]}),
    (
        "q.contract",
        "Share of contractors in a depot",
        {"source_model": "couriers", "measures": ["is_contractor:avg"], "dimensions": ["depots.city"]},
    ),
    (
        "q.open",
        "Bills that nobody has paid yet",
        "SELECT id, total_cents FROM parcels.invoices WHERE paid_on IS NULL",
    ),
    (
        "q.late",
        "Parcels on the way for more than three days",
        "SELECT id FROM shipments WHERE delivered_at IS NULL AND handed_in_at < now() - interval '3 days'",
    ),
    (
        "q.weight",
        "Average weight of what couriers carry",
        {"source_model": "shipments", "measures": ["weight_g:avg"], "dimensions": ["couriers.vehicle"]},
    ),
)

PEOPLE_NOTES: tuple[tuple[str, str, str], ...] = (
    ("Greta Lindqvist", "head of accounting", "signs the month and knows every account by its number"),
    ("Tomasz Zieliński", "lead of Belts", "built the first sorter and dislikes plans without comments"),
    ("Amira Haddad", "lawyer", "decides what may be kept about private senders"),
    ("Jonas Weber", "depot manager in Graz", "has the keys to the cage for broken labels"),
    ("Mei Tanaka", "lead of Doorstep", "owns tracking, routes and proof"),
    ("Pavel Dvořák", "head of sales", "promised enterprise customers a day"),
    ("Lucía Ortega", "designer", "made the labels that survive rain"),
    ("Noah Fischer", "apprentice in Platform", "writes the release notes on Thursdays"),
    ("Ines Moser", "works council", "must agree to anything that measures couriers"),
    ("Karl Brandt", "founder", "reads every claim above a thousand euro himself"),
)

PROJECTS: tuple[str, ...] = (
    "Project Heron moves all depots to the new sorter by autumn 2026; Graz is first, Linz is last.",
    "Project Wren lets receivers choose an hour; the pilot runs in Vienna with bikes only.",
    "Project Osprey replaces paper proof by photos; the works council has agreed.",
    "Project Starling merges the two customer tables after the takeover of Falkenpost.",
    "Project Swift brings tracking below 300 milliseconds by keeping the last scan in memory.",
    "Project Dove writes friendlier mails when a parcel is late; conversion of claims fell by a tenth.",
    "Project Ibis counts empty kilometres of vans; the first figures are due in June 2026.",
)

SKILLS: tuple[str, ...] = (
    "To compare two months fairly, divide by working days; the calendar of holidays is in the bucket calendars.",
    "To see why a belt stopped, read the sorter's log backwards from the word JAM.",
    "To check a bill by hand, take price, weight class, surcharge and discount in this order.",
    "To estimate a tour, count forty stops an hour for a bike and twenty for a van.",
    "To tell a hoax claim, look whether the photo was taken before the parcel was handed in.",
    "To test a label, hold it under water for a minute and scan it three times.",
)

SUMMARIES: tuple[tuple[str, str], ...] = (
    (
        "2025-04-01",
        "First quarter 2025: 4.1 million parcels, 0.21 percent lost, two long outages of tracking and sorter.",
    ),
    (
        "2025-07-01",
        "Second quarter 2025: 4.4 million parcels, 0.19 percent lost, drivers were locked out for a morning.",
    ),
    (
        "2025-10-01",
        "Third quarter 2025: 4.2 million parcels, 0.18 percent lost, prices of last year were quoted for a day.",
    ),
    (
        "2026-01-02",
        "Fourth quarter 2025: 6.3 million parcels, 0.27 percent lost, Black Week was calm except for the gateway.",
    ),
    (
        "2026-04-01",
        "First quarter 2026: 4.6 million parcels, 0.17 percent lost, the fewest claims since we count.",
    ),
)

SCRIPTS: tuple[tuple[str, str], ...] = (
    ("Die Laderampe in Linz ist bis Ostern gesperrt; Lieferungen gehen über Wels.", "deutsch"),
    ("Pakete über 31,5 Kilogramm nimmt das Förderband nicht an; sie werden von Hand sortiert.", "deutsch"),
    ("Les colis pour la Suisse attendent à Bregenz jusqu'à ce que la douane soit payée.", "français"),
    ("Los repartidores de Barcelona cobran por parada y no por hora.", "español"),
    ("仓库每天凌晨三点盘点，期间不能收货。", "中文"),
    ("配達員は雨の日に追加の手袋を受け取る。", "日本語"),
    ("택배가 30일 동안 스캔되지 않으면 분실로 처리한다.", "한국어"),
    ("Посылки без этикетки лежат в клетке у девятой ленты.", "русский"),
    ("Τα δέματα για την Ελλάδα φεύγουν κάθε Τρίτη.", "ελληνικά"),
    ("الطرود الثقيلة تُسلَّم في المستودع فقط.", "العربية"),
    ("पार्सल खो जाने पर ग्राहक को तीन दिन में सूचना दें।", "हिन्दी"),
    ("Zásilky do Brna jezdí přes sklad v Mikulově.", "čeština"),
)

CONVERSATION: tuple[tuple[str, str, str], ...] = (
    ("ann in c-17", "context", "We are looking into why claims in Graz doubled in May."),
    ("ann in c-17", "context", "So far: damaged parcels, all from belt 4, none from other belts."),
    ("ann in c-17", "decision", "For this analysis a claim counts in the month of the shipment."),
    ("ann in c-17", "context", "Jonas will measure the drop at the end of belt 4 on Thursday."),
    ("ann in c-17", "learning", "The photos of the claims show the same dent on the left edge."),
    ("ann in c-23", "context", "The board wants one page on revenue by segment."),
    ("ann in c-23", "preference", "In this conversation use the colours of the company."),
    ("ann in c-23", "context", "Draft two was sent to Pavel; he misses the enterprise discount."),
)

ELSEWHERE: tuple[tuple[str, str], ...] = (
    ("fact", "The crane on pier 3 lifts forty tonnes, thirty in wind."),
    ("decision", "Containers without papers are put on the north side."),
    ("workflow", "To clear a container, scan the seal, weigh it, and send the papers to customs."),
    ("learning", "Revenue of the harbour is counted when a ship leaves."),
    ("reference", "Tide tables are renewed every January."),
    ("preference", "The harbour master wants reports in knots and metres."),
    ("fact", "Claims for broken goods are paid by the carrier, not by the harbour."),
    ("learning", "Tracking of containers is off by an hour in summer."),
)

GLOBAL: tuple[tuple[str, str], ...] = (
    ("workflow", "Never put passwords or personal data of customers into a memory."),
    ("fact", "Amounts in all companies of the group are in euro unless a note says otherwise."),
    ("reference", "The group's calendar of holidays is published every October."),
)

MACHINE: tuple[tuple[str, str, str | None], ...] = (
    ("robot", "Shipments of 29 February have no depot in the warehouse.", "shipments.depot_id"),
    ("robot", "Postings to account 4899 grow by about 200 euro each month.", "ledger.postings.amount"),
    ("robot", "Depot 14 hands in twice as many parcels on Mondays.", None),
    ("robot later", "Couriers on bikes have fewer claims than those in vans.", "couriers.vehicle"),
    ("robot later", "The column vehicle is empty for 3 percent of the couriers.", "couriers.vehicle"),
    ("robot later", "All parcels are lost on Fridays.", None),
)


def _tables() -> Iterator[Done]:
    for entity, kind, content in TABLES:
        yield note("ann", content, kind, entities=[entity], tags=["data", entity.split(".")[-1]])


def _services() -> Iterator[Done]:
    """Four notes for each service, in words that differ from one service to the next."""
    openings = ("{0} {1}.", "What does {0} do? It {1}.", "The service {0} {1}.")
    for number, (name, team, port, language, does, fails, cure) in enumerate(SERVICES):
        tags = ["service", name]
        yield note(
            "bob",
            f"{openings[number % 3].format(name, does)} It is written in {language} and owned by the team {team}.",
            "reference",
            id=f"svc.{name}",
            title=f"Service {name}",
            tags=tags,
            confidence="high",
        )
        yield note(
            "bob",
            f"{name} listens on port {port}; its health is at /ready, and /health says nothing about the database.",
            tags=[*tags, "health"],
            hint=f"{name}, {port}, {language}",
        )
        yield note(
            "bob", f"{name.capitalize()} {fails}.", "learning", tags=tags, entities=[f"memory:svc.{name}"]
        )
        yield note(
            "bob",
            f"If {name} {fails}: {cure}.",
            "workflow",
            id=f"fix.{name}",
            title=f"Mend {name}",
            tags=tags,
        )


def _decisions() -> Iterator[Done]:
    for id, content, tag, entities in DECISIONS:
        more: dict[str, Any] = {"supersedes": ["dec.fridays"]} if id == "dec.friday2" else {}
        yield note(
            "cleo",
            content,
            "decision",
            id=id,
            tags=[tag],
            entities=list(entities),
            source="weekly round",
            **more,
        )


def _knowledge() -> Iterator[Done]:
    for title, content in RUNBOOKS:
        yield note("bob", content, "workflow", title=title, tags=["runbook"])
    for who, kind, content in PREFERENCES:
        yield note(who, content, kind, scope="user")
    for day, service, what, why in INCIDENTS:
        yield note(
            "bob",
            f"On {day} {service} {what}: {why}.",
            "context",
            valid_from=f"{day}T06:00:00Z",
            tags=["incident", service],
            metadata={"service": service, "day": day},
        )
    for id, content, query in QUERIES:
        yield note("ann", content, "learning", id=id, query=query, tags=["query"])
    for name, role, what in PEOPLE_NOTES:
        yield note("cleo", f"{name}, {role}, {what}.", "user", title=name, category="people")
    for number, content in enumerate(PROJECTS):
        more = {"always_inject": True} if number == 0 else {}
        yield note("cleo", content, "project", tags=["project"], **more)
    for content in SKILLS:
        yield note("ann", content, "skill")
    for day, content in SUMMARIES:
        yield note("ann", content, "summary", valid_from=f"{day}T00:00:00Z", tags=["quarter"])


def _circles() -> Iterator[Done]:
    """What only some may see."""
    for content, language in SCRIPTS:
        yield note("cleo", content, tags=[language])
    for who, kind, content in CONVERSATION:
        yield note(who, content, kind, scope="session")
    for kind, content in ELSEWHERE:
        yield note("dora", content, kind)
    yield note(
        "ann", "Analysts meet on Tuesdays at nine to compare figures.", scope="persona", persona="analyst"
    )
    yield note("bob", "Whoever is on call keeps the red phone charged.", scope="persona", persona="oncall")
    yield note("bob", "The red phone has the number 4711.", scope="persona", persona="oncall")
    for content in (
        "The database of billing is called money and has one standby.",
        "Billing must not run while the books are frozen.",
        "The on-call password of billing is in the safe, password=Xk29fLq81vTz.",
    ):
        yield note("bob", content, scope="system", system="billing", hint=content[:40])
    yield note(
        "bob", "Scans of tracking are kept for a year.", scope="system", system="tracking", always_inject=True
    )
    yield note("cleo", "Only Belts may load a sort plan.", scope="system", system="sorter")
    for who, content, entity in MACHINE:
        yield note(who, content, "learning", **({"entities": [entity]} if entity else {}))


def _changes() -> Iterator[Done]:
    """What was corrected, doubted, ended, replaced and joined afterwards."""
    yield Done(
        "bob",
        "revise",
        {
            "id": "svc.labels",
            "content": "labels prints labels with their codes; since May 2025 it is owned by the team Belts.",
        },
    )
    yield Done(
        "cleo",
        "revise",
        {"id": "dec.claims", "content": "Claims up to eighty euro are paid without questions."},
    )
    yield Done("cleo", "revise", {"id": "dec.claims", "tags": ["service", "money"], "expected_version": 2})
    yield Done("ann", "revise", {"id": "1", "verified_at": "2026-01-15", "confidence": "high"})
    yield Done(
        "ann",
        "revise",
        {"id": "13", "status": "stale", "status_reason": "The sales system is being replaced."},
    )
    yield Done(
        "bob",
        "revise",
        {"id": "fix.mailer", "status": "stale", "status_reason": "Nobody has tried it since."},
    )
    yield Done(
        "cleo",
        "retire",
        {"id": "dec.swiss", "reason": "Customs can be paid in advance now.", "at": "2026-02-01"},
    )
    yield Done("cleo", "retire", {"id": "dec.vpn", "reason": "Done."})
    yield Done("bob", "retire", {"id": "fix.search"})
    yield note(
        "cleo",
        "Enterprise begins at four thousand parcels a month.",
        "decision",
        id="dec.segment2",
        supersedes=["dec.segment"],
        tags=["sales"],
        entities=["customers.segment"],
    )
    yield note(
        "cleo",
        "Photos of doorsteps are erased after sixty days.",
        "decision",
        id="dec.retention2",
        supersedes=["dec.retention"],
        valid_from="2026-02-01",
    )
    yield note(
        "bob",
        "quotes listens on port 8141 since the move to the new cluster.",
        id="svc.quotes.port",
        tags=["service", "quotes"],
        valid_from="2026-04-01",
    )
    # The very same again, and a hint much like an earlier one: no new memories.
    yield note("cleo", PROJECTS[1], "project", tags=["project"])
    yield note(
        "bob",
        "The standby of billing was moved to Linz.",
        scope="system",
        system="billing",
        hint="The database of billing is called",
    )
    for source, relation, target in (
        ("dec.lost", "supports", "q.lost"),
        ("dec.revenue", "supports", "q.revenue"),
        ("dec.models", "relates_to", "dec.revenue"),
        ("dec.rust", "relates_to", "svc.sorter"),
        ("fix.sorter", "refines", "svc.sorter"),
        ("fix.tracking", "refines", "svc.tracking"),
        ("fix.billing", "refines", "svc.billing"),
        ("dec.sla", "relates_to", "svc.tracking"),
        ("svc.tracking", "relates_to", "svc.proof"),
        ("svc.tracking", "relates_to", "svc.routes"),
        ("dec.contractors", "contradicts", "q.contract"),
        ("dec.bikes", "supports", "dec.green"),
        ("q.claims", "refines", "dec.claims"),
        ("dec.utc", "supports", "dec.events"),
        ("svc.quotes.port", "contradicts", "svc.quotes"),
        ("svc.gateway", "supports", "svc.identity"),
        ("dec.pagers", "relates_to", "dec.oncall"),
        ("svc.warehouse", "supports", "dec.dashboards"),
    ):
        yield Done("cleo", "relate", {"source": source, "relation": relation, "target": target})
    yield Done("cleo", "unrelate", {"source": "dec.bikes", "relation": "supports", "target": "dec.green"})
    yield Done(
        "cleo", "set_agent", {"agent": "scout", "decay": True, "decay_floor": 0.3, "half_life_days": 60}
    )
    yield Done("cleo", "share_agent", {"agent": "scout", "user": "ann"})
    yield Done("ann", "register_conversation", {"id": "c-17", "title": "Claims in Graz"})
    yield Done(
        "ann in c-17", "write_artifact", {"path": "notes/graz.md", "content": "# Graz\nBelt 4 drops parcels."}
    )
    yield Done("ann", "append_scratchpad", {"content": "Ask Jonas about belt 4.", "agent": "scout"})


def story() -> Iterator[Done]:
    """All of it in order; whatever needs the id of a memory that was not named comes after these."""
    # Tenants begin in the order in which an export tells of them: of two hits that weigh the same, that of the older
    # tenant stands first in its channel.
    for kind, content in GLOBAL:
        yield note("cleo", content, kind, scope="global", always_inject=kind == "workflow")
    yield Done("dora", "remember", {"content": "The harbour has its own store of knowledge.", "id": "about"})
    yield Done("cleo", "ingest", {"path": str(MODELS)})
    for part in (_tables, _services, _decisions, _knowledge, _circles, _changes):
        yield from part()


Ids = dict[str, str]


def fill(door: OnRecord, clock: Clock, each: Callable[[Done, Any], None] = lambda told, answer: None) -> None:
    """Tell the whole story to an empty store; what the robot proposed is then looked through."""
    doors = {name: door.as_caller(caller) for name, caller in PEOPLE.items()}
    clock.now = BEGIN
    proposed = []
    for told in story():
        clock.tick(hours=STEP_HOURS)
        answer = getattr(doors[told.who], told.operation)(**told.fields)
        if told.who.startswith("robot"):
            proposed.append(answer.memory.id)
        each(told, answer)
    for id in proposed[:2]:
        doors["cleo"].approve(id)
    doors["cleo"].reject(proposed[-1], reason="Not even one in ten.")
    doors["cleo"].forget(proposed[2])
    clock.now = NOW
