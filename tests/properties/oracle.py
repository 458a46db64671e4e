"""What must a store answer? A naive account of everything that ever happened, kept in plain lists.

Nothing here is quick or clever: a question walks over all that is known. Texts are taken to be plain lower-case
words, none of them a stop word or the stem of another, so that splitting at spaces is all the analysis there is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onrecord import Caller

Record = dict[str, Any]
Then = datetime | None

LIVE = ("active", "stale")
NAME_OF_SCOPE = {"persona": "persona", "user": "owner", "system": "system", "session": "conversation"}
EDITABLE = ("content", "kind", "title", "hint", "tags", "source", "entities", "valid_from")


class Refused(Exception):
    """The request must fail; any of these errors may be the one that says so."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = frozenset(kinds)
        super().__init__(" or ".join(sorted(self.kinds)))


@dataclass
class Version:
    at: datetime
    change: str
    by: str
    origin: str
    record: Record


@dataclass(eq=False)
class Kept:
    """One memory: where it lives, and every state it was ever in."""

    home: str
    id: str
    versions: list[Version] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"global:{self.id}" if self.home == "global" else self.id

    @property
    def today(self) -> Record:
        return self.versions[-1].record

    def told(self, caller: Caller) -> list[Version]:
        """What a caller is told of it: the versions behind the last that was not for them, if it is for them today."""
        if not sees(caller, self.home, self.today):
            return []
        hidden = [
            number for number, each in enumerate(self.versions) if not saw(caller, self.home, each.record)
        ]
        return self.versions[hidden[-1] + 1 :] if hidden else self.versions

    def known_at(self, moment: Then, caller: Caller) -> Record | None:
        """How it stood for a caller when a moment had passed: the last of the versions recorded until then."""
        told = self.told(caller)
        if moment is None:
            return told[-1].record if told else None
        recorded = [version for version in self.versions if version.at <= moment]
        return recorded[-1].record if recorded and recorded[-1] in told else None


@dataclass(eq=False)
class Bond:
    home: str
    number: int
    source: Kept
    relation: str
    target: Kept
    created_at: datetime
    created_by: str
    removed_at: Then = None
    removed_by: str | None = None

    def known_at(self, moment: Then) -> bool:
        if moment is None:
            return self.removed_at is None
        return self.created_at <= moment and (self.removed_at is None or moment < self.removed_at)

    def ends_told(self, caller: Caller, moment: datetime) -> bool:
        return all(end.known_at(moment, caller) for end in (self.source, self.target))

    def told(self) -> Record:
        return {
            "id": str(self.number),
            "source": self.source.name,
            "relation": self.relation,
            "target": self.target.name,
            "created_at": self.created_at,
            "created_by": self.created_by,
            "removed_at": self.removed_at,
            "removed_by": self.removed_by,
        }


def sees(caller: Caller, home: str, record: Record) -> bool:
    """Who sees what, said once more in other words."""
    if home == "global":
        return True
    if home != caller.tenant:
        return False
    mine = {
        "tenant": True,
        "user": record["owner"] == caller.user,
        "persona": record["persona"] in caller.personas,
        "system": record["system"] in caller.systems or "*" in caller.systems,
        # Nothing is shared here, so of one name each has a conversation of their own.
        "session": (record["owner"], record["conversation"]) == (caller.user, caller.conversation),
    }
    return caller.is_admin or mine[record["scope"]]


def saw(caller: Caller, home: str, record: Record) -> bool:
    """Who is told what it said, if they see what it says: also whose it was, unless it was a system's."""
    own = record["owner"] == caller.user and home == caller.tenant and record["scope"] != "system"
    return sees(caller, home, record) or own


def may_change(caller: Caller, home: str, record: Record) -> bool:
    if not sees(caller, home, record):
        return False
    if home == "global":
        return "memory.global" in caller.permissions
    if caller.is_admin:
        return True
    manages = "manage" in (caller.systems.get(record["system"]), caller.systems.get("*"))
    owns = record["owner"] == caller.user
    return owns or (record["scope"] == "system" and manages)


def jaccard(left: str, right: str) -> float:
    one, other = set(left.split()), set(right.split())
    return len(one & other) / len(one | other)


def true_at(record: Record, moment: datetime) -> bool:
    ended = record["valid_to"] is not None and record["valid_to"] <= moment
    return bool(record["valid_from"] <= moment and not ended)


def words(record: Record) -> set[str]:
    texts = [
        record["title"],
        record["hint"] or "",
        record["content"],
        record["source"] or "",
        *record["tags"],
    ]
    return {word for text in texts for word in text.split()}


def told(record: Record) -> Record:
    """What a caller is shown of a record."""
    return {name: value for name, value in record.items() if name != "own_title"}


class Oracle:
    """Every memory and every edge, in the order in which they came."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []
        self.bonds: list[Bond] = []
        self.last_id: dict[str, int] = {}
        self.last_bond: dict[str, int] = {}

    # -- finding ------------------------------------------------------------------------------------------

    def holder(self, home: str, id: str) -> Kept | None:
        return next((kept for kept in self.kept if (kept.home, kept.id) == (home, id)), None)

    def seen(self, caller: Caller, id: str) -> Kept | None:
        home, plain = address(caller, id)
        kept = self.holder(home, plain)
        return kept if kept and sees(caller, kept.home, kept.today) else None

    def target(self, caller: Caller, id: str) -> Kept:
        kept = self.seen(caller, id)
        if kept is None:
            raise Refused("NotFound")
        if not self.open_to(caller, kept):
            raise Refused("Forbidden")
        return kept

    def open_to(self, caller: Caller, kept: Kept) -> bool:
        """Whether the caller may change it."""
        return may_change(caller, kept.home, kept.today)

    # -- changing -----------------------------------------------------------------------------------------

    def remember(self, caller: Caller, now: datetime, content: str, **given: Any) -> Record:
        fresh = self.fresh(caller, now, content, given)
        home, plain = address(caller, given.get("id", ""))
        home = "global" if fresh["scope"] == "global" else home
        named = dict.fromkeys(id.removeprefix("#") for id in given.get("supersedes", ()))
        supersedes = [self.find_old(caller, id) for id in named]
        before = self.holder(home, plain) if plain else None
        problems = [problem for _, problem in supersedes if problem]
        if before is not None:
            problems += self.problems_of_saving_onto(caller, before)
        elif not given.get("supersedes") and given.get("dedupe", True) and not plain:
            before = self.duplicate(caller, home, fresh)
        olds = [old for old, _ in supersedes if old is not None]
        begins = (
            fresh["valid_from"] if before is None or "valid_from" in given else before.today["valid_from"]
        )
        if olds and (begins > now or any(old.home != home for old in olds)):
            problems.append("Invalid")
        if problems:
            raise Refused(*problems)
        saved, outcome = self.save(caller, now, (home, plain), before, {**given, "content": content}, fresh)
        for old in olds:
            self.supersede(caller, now, saved, old)
        return {"outcome": outcome, "superseded": [old.name for old in olds], "memory": told(saved.today)}

    def fresh(self, caller: Caller, now: datetime, content: str, given: Record) -> Record:
        """The record that a request describes, had there been none before."""
        names_global = given.get("id", "").removeprefix("#").startswith("global:")
        scope = given.get("scope", "global" if names_global else "tenant")
        record = {
            "tenant": "global" if scope == "global" else caller.tenant,
            "kind": given.get("kind", "fact"),
            "title": given.get("title") or given.get("hint") or content,
            "hint": given.get("hint"),
            "content": content,
            "tags": tuple(given.get("tags", ())),
            "source": given.get("source"),
            "entities": tuple(given.get("entities", ())),
            "scope": scope,
            "owner": caller.user,
            "persona": given.get("persona"),
            "system": given.get("system"),
            "conversation": None if scope == "global" else given.get("conversation", caller.conversation),
            # Everyone speaks in conversations of their own here.
            "conversation_by": None,
            "author": caller.user,
            "origin": caller.actor,
            "created_at": now,
            "updated_at": now,
            "valid_from": given.get("valid_from", now),
            "valid_to": None,
            "status": "active",
            "status_reason": None,
            "proposes": None,
            "checks": (),
            "check_state": None,
            "own_title": "title" in given,
        }
        allowed = {
            "global": "memory.global" in caller.permissions,
            "tenant": True,
            "user": True,
            "persona": caller.is_admin or record["persona"] in caller.personas,
            "system": caller.is_admin or caller.reads(record["system"] or ""),
            "session": record["conversation"] is not None
            and (caller.is_admin or record["conversation"] == caller.conversation),
        }
        supersedes = [place.removeprefix("#") for place in given.get("supersedes", ())]
        if (
            not allowed[scope]
            or (names_global and scope != "global")
            or (scope in ("persona", "system") and record[scope] is None)
            or (supersedes and given.get("valid_from", now) > now)
            or spelled(given.get("id"), scope) in supersedes
        ):
            raise Refused("Invalid")
        return record

    def find_old(self, caller: Caller, id: str) -> tuple[Kept | None, str | None]:
        try:
            old = self.target(caller, id)
        except Refused as refusal:
            return None, str(refusal)
        return (old, None) if old.today["status"] in LIVE else (None, "Conflict")

    def problems_of_saving_onto(self, caller: Caller, before: Kept) -> list[str]:
        if not sees(caller, before.home, before.today):
            return ["Conflict"]
        if not self.open_to(caller, before):
            return ["Forbidden"]
        return [] if before.today["status"] in LIVE else ["Conflict"]

    def duplicate(self, caller: Caller, home: str, fresh: Record) -> Kept | None:
        """The oldest with the same content, otherwise the one whose hint is most alike."""

        def room(record: Record) -> tuple[str, str | None]:
            return record["scope"], record.get(NAME_OF_SCOPE.get(record["scope"], ""))

        candidates = [
            kept
            for kept in self.kept
            if kept.home == home
            and room(kept.today) == room(fresh)
            and may_change(caller, home, kept.today)
            and (kept.today["owner"] == fresh["owner"] or fresh["scope"] == "system")
            and kept.today["status"] in LIVE
        ]
        for kept in candidates:
            if kept.today["content"] == fresh["content"]:
                return kept
        best, alike = None, 0.0
        for kept in candidates:
            if fresh["hint"] and kept.today["hint"]:
                score = jaccard(fresh["hint"], kept.today["hint"])
                if score >= 0.6 and score > alike:
                    best, alike = kept, score
        return best

    def save(
        self,
        caller: Caller,
        now: datetime,
        place: tuple[str, str],
        before: Kept | None,
        given: Record,
        fresh: Record,
    ) -> tuple[Kept, str]:
        if before is None:
            return self.add(caller, now, place, fresh), "created"
        changes = {name: fresh[name] for name in EDITABLE if name in given}
        if "scope" in given:
            changes |= {name: fresh[name] for name in ("scope", "persona", "system")}
            if fresh["scope"] == "session":
                changes["conversation"] = fresh["conversation"]
        if before.today["status"] == "stale":
            changes |= {"status": "active", "status_reason": None}
        after = edited(before.today, changes)
        if after == before.today:
            return before, "unchanged"
        self.record(before, caller, now, "remember", after)
        return before, "updated"

    def add(self, caller: Caller, now: datetime, place: tuple[str, str], fresh: Record) -> Kept:
        home, plain = place
        if not plain:
            plain = str(self.last_id.get(home, 0) + 1)
        if plain.isdigit():
            self.last_id[home] = max(self.last_id.get(home, 0), int(plain))
        kept = Kept(home, plain)
        self.kept.append(kept)
        first = {"id": kept.name, "version": 1} | fresh
        kept.versions.append(Version(now, "remember", caller.user, caller.actor, first))
        return kept

    def record(self, kept: Kept, caller: Caller, now: datetime, change: str, after: Record) -> None:
        """One more version. A clock that went back never puts it before the one it follows."""
        if change != "forget":
            after = after | {"updated_at": max(now, kept.today["updated_at"])}
        if after["content"] != kept.today["content"]:
            after = after | {"author": caller.user, "origin": caller.actor}
        after = after | {"version": len(kept.versions) + 1}
        at = max(now, kept.versions[-1].at)
        kept.versions.append(Version(at, change, caller.user, caller.actor, after))

    def supersede(self, caller: Caller, now: datetime, new: Kept, old: Kept) -> None:
        self.bind(caller, now, new, "supersedes", old)
        ended = old.today | {
            "status": "superseded",
            "status_reason": f"superseded by {new.name}",
            "valid_to": max(new.today["valid_from"], old.today["valid_from"]),
        }
        self.record(old, caller, now, "supersede", ended)

    def revise(self, caller: Caller, now: datetime, id: str, **given: Any) -> Record:
        kept = self.target(caller, id)
        before = kept.today
        problems = []
        if given.get("expected_version") not in (None, before["version"]):
            problems.append("VersionConflict")
        if before["status"] not in LIVE:
            problems.append("Conflict")
        if problems:
            raise Refused(*problems)
        changes = {name: value for name, value in given.items() if name != "expected_version"}
        after = edited(before, changes)
        if after != before:
            self.record(kept, caller, now, "revise", after)
        return {"changed": changed(before, after), "memory": told(kept.today)}

    def retire(
        self, caller: Caller, now: datetime, id: str, at: Then = None, reason: str | None = None
    ) -> Record:
        kept = self.target(caller, id)
        before = kept.today
        if before["status"] not in LIVE:
            return {"changed": False, "memory": told(before)}
        if at is not None and not before["valid_from"] <= at <= now:
            raise Refused("Invalid")
        ended = {
            "status": "archived",
            "status_reason": reason,
            "valid_to": at or max(now, before["valid_from"]),
        }
        self.record(kept, caller, now, "retire", before | ended)
        return {"changed": True, "memory": told(kept.today)}

    def forget(self, caller: Caller, now: datetime, id: str) -> Record:
        kept = self.target(caller, id)
        system = kept.today["system"] if kept.today["scope"] == "system" else None
        if (
            system
            and not caller.is_admin
            and "manage" not in (caller.systems.get(system), caller.systems.get("*"))
        ):
            raise Refused("Forbidden")
        gone = [bond for bond in self.bonds if kept in (bond.source, bond.target)]
        # Only what the caller sees is counted.
        ends = [bond.target if bond.source is kept else bond.source for bond in gone]
        self.kept = [other for other in self.kept if other is not kept]
        self.bonds = [bond for bond in self.bonds if bond not in gone]
        reference, stripped = f"memory:{kept.name}", 0
        for other in self.kept:
            # A tenant's own ids mean something in that tenant alone; a global one is known everywhere.
            if kept.home in ("global", other.home) and self.strip(other, reference, caller, now):
                stripped += sees(caller, other.home, other.today)
        return {
            "id": kept.name,
            "versions": len(kept.told(caller)),
            "relations": sum(sees(caller, end.home, end.today) for end in ends),
            "references": stripped,
        }

    def strip(self, kept: Kept, reference: str, caller: Caller, now: datetime) -> bool:
        held = reference in kept.today["entities"]
        if held:
            self.record(kept, caller, now, "forget", dict(kept.today))
        for version in kept.versions:
            left = tuple(each for each in version.record["entities"] if each != reference)
            version.record = version.record | {"entities": left}
        return held

    def ends(self, caller: Caller, source: str, target: str) -> tuple[Kept, Kept]:
        one, other = self.seen(caller, source), self.seen(caller, target)
        if one is None or other is None or one.home != other.home:
            raise Refused("NotFound")
        return self.target(caller, source), other

    def relate(self, caller: Caller, now: datetime, source: str, relation: str, target: str) -> Record:
        if source.removeprefix("#") == target.removeprefix("#"):
            raise Refused("Invalid")
        bond, created = self.bind(caller, now, *self.between(caller, source, relation, target))
        return {"created": created, "relation": bond.told()}

    def between(self, caller: Caller, source: str, relation: str, target: str) -> tuple[Kept, str, Kept]:
        one, other = self.ends(caller, source, target)
        return one, relation, other

    def bind(
        self, caller: Caller, now: datetime, source: Kept, relation: str, target: Kept
    ) -> tuple[Bond, bool]:
        standing = self.standing(source, relation, target)
        if standing is not None:
            return standing, False
        number = self.last_bond.get(source.home, 0) + 1
        self.last_bond[source.home] = number
        # A clock that went back never makes an edge stand twice at one moment.
        triple = (source, relation, target)
        earlier = [bond for bond in self.bonds if (bond.source, bond.relation, bond.target) == triple]
        begins = max([now, *(bond.removed_at for bond in earlier if bond.removed_at is not None)])
        bond = Bond(source.home, number, source, relation, target, begins, caller.user)
        self.bonds.append(bond)
        return bond, True

    def standing(self, source: Kept, relation: str, target: Kept) -> Bond | None:
        triple = (source, relation, target)
        return next(
            (
                bond
                for bond in self.bonds
                if (bond.source, bond.relation, bond.target) == triple and bond.removed_at is None
            ),
            None,
        )

    def unrelate(self, caller: Caller, now: datetime, source: str, relation: str, target: str) -> Record:
        bond = self.standing(*self.between(caller, source, relation, target))
        if bond is None:
            raise Refused("NotFound")
        bond.removed_at, bond.removed_by = max(now, bond.created_at), caller.user
        return {"relation": bond.told()}

    # -- reading ------------------------------------------------------------------------------------------

    def show(
        self, caller: Caller, now: datetime, id: str, as_of: Then = None, known_at: Then = None
    ) -> Record:
        kept = self.seen(caller, id)
        record = self.stood(caller, kept, as_of, known_at) if kept else None
        if record is None:
            raise Refused("NotFound")
        around = self.walk(caller, kept, 1, "both", as_of, known_at)
        return {"memory": told(record), "edges": set(around)}

    def stood(self, caller: Caller, kept: Kept, as_of: Then, known_at: Then) -> Record | None:
        record = kept.known_at(known_at, caller)
        if record is None or (as_of is not None and not true_at(record, as_of)):
            return None
        return record

    def browse(
        self,
        caller: Caller,
        now: datetime,
        as_of: Then = None,
        known_at: Then = None,
        statuses: Iterable[str] = (),
        tags: Iterable[str] = (),
        entities: Iterable[str] = (),
    ) -> list[Record]:
        """Last updated first; of one tenant, those saved later first."""
        found = []
        for kept in self.kept:
            record = kept.known_at(known_at, caller)
            if record is None:
                continue
            if tags and not set(tags) & set(record["tags"]):
                continue
            if entities and not set(entities) & set(record["entities"]):
                continue
            if listed(record, now, as_of, known_at, tuple(statuses)):
                found.append(told(record))
        found.reverse()
        return sorted(found, key=lambda record: record["updated_at"], reverse=True)

    def recall(self, caller: Caller, now: datetime, question: str, **when: Any) -> set[str]:
        wanted = set(question.split())
        return {record["id"] for record in self.browse(caller, now, **when) if wanted & words(record)}

    def history(self, caller: Caller, now: datetime, id: str) -> list[Record]:
        kept = self.seen(caller, id)
        if kept is None:
            raise Refused("NotFound")
        versions = kept.told(caller)
        befores = [None, *(version.record for version in versions)]
        untils = [*(version.at for version in versions[1:]), None]
        return [
            {
                "number": version.record["version"],
                "change": version.change,
                "by": version.by,
                "origin": version.origin,
                "at": version.at,
                "until": until,
                "changed": changed(before, version.record),
                "memory": told(version.record),
            }
            for version, until, before in zip(versions, untils, befores, strict=False)
        ]

    def neighbours(
        self,
        caller: Caller,
        now: datetime,
        id: str,
        depth: int = 1,
        direction: str = "both",
        as_of: Then = None,
        known_at: Then = None,
    ) -> dict[str, Record]:
        self.show(caller, now, id, as_of, known_at)
        return self.walk(caller, self.seen(caller, id), depth, direction, as_of, known_at)

    def walk(
        self, caller: Caller, center: Kept | None, depth: int, direction: str, as_of: Then, known_at: Then
    ) -> dict[str, Record]:
        """Each edge met, with the number of steps at which it was met first, and the far end as it stood."""

        def standing(kept: Kept) -> bool:
            return self.stood(caller, kept, as_of, known_at) is not None

        walkable = [
            bond
            for bond in self.bonds
            if bond.known_at(known_at) and standing(bond.source) and standing(bond.target)
        ]
        reached = [center]
        met: dict[str, Record] = {}
        for hop in range(1, depth + 1):
            arrived = list(reached)
            for bond in walkable:
                out = direction in ("out", "both") and bond.source in reached
                back = direction in ("in", "both") and bond.target in reached
                if out or back:
                    far = self.stood(caller, bond.target if out else bond.source, as_of, known_at) or {}
                    edge = {"hop": hop, "direction": "out" if out else "in", "memory": told(far)}
                    met.setdefault(str(bond.number), bond.told() | edge)
                    arrived += [bond.source, bond.target]
            reached = arrived
        return met

    def diff(self, caller: Caller, now: datetime, since: datetime, until: datetime) -> Record:
        changes = {}
        for kept in self.kept:
            before, after = kept.known_at(since, caller), kept.known_at(until, caller)
            if after is not None and (before is None or before["version"] != after["version"]):
                changes[kept.name] = difference(before, after)
        bonds = sorted(self.bonds, key=lambda bond: bond.home == "global")

        def told_at(moment: datetime) -> list[Bond]:
            return [bond for bond in bonds if bond.known_at(moment) and bond.ends_told(caller, moment)]

        return {
            "memories": changes,
            "related": [bond.told() for bond in told_at(until) if since < bond.created_at],
            "unrelated": [
                bond.told()
                for bond in told_at(since)
                if bond.removed_at is not None and bond.removed_at <= until
            ],
        }


def address(caller: Caller, id: str) -> tuple[str, str]:
    plain = id.removeprefix("#")
    if plain.startswith("global:"):
        return "global", plain.removeprefix("global:")
    return caller.tenant, plain


def spelled(id: str | None, scope: str) -> str | None:
    """An id as it will be shown, so that one thing under two names is seen to be one."""
    if id is None:
        return None
    plain = id.removeprefix("#").removeprefix("global:")
    return f"global:{plain}" if scope == "global" else plain


def edited(before: Record, changes: Record) -> Record:
    """What is given replaces; a title that nobody chose follows the text."""
    after = before | changes
    if "title" in changes:
        after["own_title"] = True
    elif not before["own_title"]:
        after["title"] = after["hint"] or after["content"]
    return after


def listed(
    record: Record,
    now: datetime,
    as_of: Then,
    known_at: Then,
    statuses: tuple[str, ...],
) -> bool:
    """What a list shows: what is active, or was true at a time, or has a status that was asked for."""
    if statuses:
        began = as_of is None or record["valid_from"] <= as_of
        ended = as_of is not None and record["valid_to"] is not None and record["valid_to"] <= as_of
        return record["status"] in statuses and began and not ended
    if as_of is not None:
        return true_at(record, as_of)
    return record["status"] == "active" and record["valid_from"] <= (known_at or now)


def changed(before: Record | None, after: Record) -> set[str]:
    """The fields in which two states differ, apart from those that differ in every two."""
    if before is None:
        return set()
    return {name for name in told(after) if before[name] != after[name]} - {"version", "updated_at"}


def difference(before: Record | None, after: Record) -> Record:
    told_of = {"before": before and told(before), "after": told(after), "changed": changed(before, after)}
    if before is None:
        return {"change": "added"} | told_of
    retired = before["status"] in LIVE and after["status"] not in LIVE
    return {"change": "retired" if retired else "revised"} | told_of
