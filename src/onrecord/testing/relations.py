"""HOW are memories related? By typed relations, which are added once, removed, and followed."""

from typing import Any

import pytest

from onrecord.errors import Forbidden, Invalid, NotFound
from onrecord.model.findings import Edge
from onrecord.model.limits import RELATIONS
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import START, Clock, Conformance, around, everything, person, refused


def _listed(door: OnRecord, **asked: Any) -> list[str]:
    return [edge.id for edge in door.relations(**asked).relations]


class RelateConformance(Conformance):
    """Adding and removing relations."""

    @pytest.fixture
    def notes(self, ann: OnRecord) -> OnRecord:
        for id in "abcde":
            ann.remember(f"note {id}", id=id)
        return ann

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_an_edge_is_seen_from_both_ends(self, notes: OnRecord, clock: Clock, relation: str) -> None:
        later = clock.tick()
        made = notes.relate("a", relation, "b")
        assert made.created
        assert (made.relation.source, made.relation.relation, made.relation.target) == ("a", relation, "b")
        assert (made.relation.created_at, made.relation.created_by) == (later, "ann")
        (out,), (back,) = notes.neighbours("a").edges, notes.neighbours("b").edges
        assert (out.relation, out.memory.id, out.direction, out.hop) == (made.relation, "b", "out", 1)
        assert (back.relation, back.memory.id, back.direction, back.hop) == (made.relation, "a", "in", 1)
        assert notes.show("a").edges == (out,)

    def test_a_duplicate_triple_reports_the_existing_one(
        self, notes: OnRecord, store: Store, clock: Clock
    ) -> None:
        first = notes.relate("a", "supports", "b").relation
        before = everything(store)
        clock.tick()
        again = notes.relate("#a", "supports", "b")
        assert (again.created, again.relation) == (False, first)
        assert everything(store) == before

    def test_another_direction_or_relation_is_another_edge(self, notes: OnRecord) -> None:
        for triple in (("a", "supports", "b"), ("b", "supports", "a"), ("a", "refines", "b")):
            assert notes.relate(*triple).created
        assert len(around(notes, "a")) == 3

    def test_edges_are_numbered_and_a_number_is_never_used_twice(self, notes: OnRecord) -> None:
        numbers = [notes.relate("a", "supports", id).relation.id for id in "bc"]
        notes.unrelate("a", "supports", "c")
        notes.forget("c")
        numbers.append(notes.relate("a", "supports", "d").relation.id)
        assert numbers == ["1", "2", "3"]

    @pytest.mark.parametrize("end", ["a", "#a"])
    def test_a_memory_cannot_relate_to_itself(self, notes: OnRecord, store: Store, end: str) -> None:
        with refused(Invalid, "itself", by=store):
            notes.relate("a", "supports", end)

    def test_unknown_foreign_and_hidden_ends_look_the_same(self, notes: OnRecord, store: Store) -> None:
        notes.as_caller(person("bob")).remember("bob's own", id="hidden", scope="user")
        notes.as_caller(person("eve", tenant="beta")).remember("eve's", id="foreign")
        texts = set()
        for end in ("unknown", "foreign", "hidden", "global:1"):
            for source, target in (("a", end), (end, "a")):
                for method in (notes.relate, notes.unrelate):
                    with refused(NotFound, by=store) as failed:
                        method(source, "supports", target)
                    texts.add(str(failed.value))
        assert len(texts) == 1

    def test_edges_are_listed_newest_first_by_either_end_and_by_name(self, notes: OnRecord) -> None:
        for triple in (("a", "supports", "b"), ("b", "refines", "c"), ("a", "refines", "c")):
            notes.relate(*triple)
        assert _listed(notes) == ["3", "2", "1"]
        assert _listed(notes, source="#a") == ["3", "1"]
        assert _listed(notes, target="c") == ["3", "2"]
        assert _listed(notes, relation="supports") == ["1"]
        assert _listed(notes, source="a", target="c", relation="refines") == ["3"]
        assert _listed(notes, source="unknown") == _listed(notes, source="global:1") == []

    def test_a_list_of_edges_goes_on_where_the_page_before_ended(self, notes: OnRecord, store: Store) -> None:
        for id in "bcd":
            notes.relate("a", "supports", id)
        first = notes.relations(limit=2)
        assert [edge.id for edge in first.relations] == ["3", "2"]
        last = notes.relations(limit=2, after=first.next)
        assert ([edge.id for edge in last.relations], last.next) == (["1"], None)
        with refused(Invalid, "after", by=store):
            notes.relations(after="nowhere")

    def test_an_edge_is_listed_while_its_ends_are_there_retired_or_not(self, notes: OnRecord) -> None:
        notes.relate("a", "supports", "b")
        notes.relate("a", "supports", "c")
        notes.retire("b")
        assert _listed(notes) == ["2", "1"]
        notes.forget("b")
        assert _listed(notes) == ["2"]
        notes.unrelate("a", "supports", "c")
        assert _listed(notes) == []

    def test_an_edge_is_taken_back_by_its_number_once(self, notes: OnRecord, store: Store) -> None:
        made = notes.relate("a", "supports", "b").relation
        gone = notes.remove_relation(made.id).relation
        assert (gone.id, gone.source, gone.target) == (made.id, "a", "b")
        assert gone.removed_at is not None
        assert around(notes, "a") == []
        for id in (made.id, "7", "no-number", "9" * 30):
            with refused(NotFound, by=store):
                notes.remove_relation(id)

    def test_an_edge_of_another_memory_is_not_taken_back_by_its_number(
        self, notes: OnRecord, store: Store
    ) -> None:
        notes.relate("a", "supports", "b")
        with pytest.raises(Forbidden):
            notes.as_caller(person("bob")).remove_relation("1")
        with refused(NotFound, by=store):
            notes.as_caller(person("eve", tenant="beta")).remove_relation("1")
        assert _listed(notes) == ["1"]

    def test_a_global_and_another_memory_are_never_joined(self, root: OnRecord, store: Store) -> None:
        root.remember("of the tenant", id="t")
        for id in ("global:1", "global:2"):
            root.remember(f"for all {id}", id=id)
        with refused(NotFound, by=store):
            root.relate("t", "supports", "global:1")
        with refused(NotFound, by=store):
            root.relate("global:1", "supports", "t")
        assert root.relate("global:1", "supports", "global:2").created
        assert around(root, "global:1") == [("global:1", "supports", "global:2")]

    def test_an_edge_belongs_to_its_source(self, notes: OnRecord, store: Store) -> None:
        bob = notes.as_caller(person("bob"))
        bob.remember("bob's", id="b2")
        notes.relate("a", "supports", "b2")
        assert bob.relate("b2", "contradicts", "a").created
        with refused(Forbidden, "belongs to ann", by=store):
            bob.relate("a", "refines", "b2")
        with refused(Forbidden, "belongs to ann", by=store):
            bob.unrelate("a", "supports", "b2")

    def test_an_edge_that_is_taken_back_is_gone_now_and_kept_for_the_past(
        self, notes: OnRecord, clock: Clock
    ) -> None:
        notes.relate("a", "supports", "b")
        later = clock.tick()
        removed = notes.unrelate("a", "supports", "b").relation
        assert (removed.removed_at, removed.removed_by) == (later, "ann")
        assert around(notes, "a") == around(notes, "b") == []
        assert around(notes, "a", known_at=START) == [("a", "supports", "b")]

    def test_taking_back_what_is_not_there_says_so(self, notes: OnRecord, store: Store) -> None:
        notes.relate("a", "supports", "b")
        for triple in (("b", "supports", "a"), ("a", "refines", "b"), ("a", "supports", "c")):
            with refused(NotFound, "No relation", by=store):
                notes.unrelate(*triple)
        notes.unrelate("a", "supports", "b")
        with refused(NotFound, "No relation", by=store):
            notes.unrelate("a", "supports", "b")

    def test_an_edge_can_be_drawn_again(self, notes: OnRecord, clock: Clock) -> None:
        first = notes.relate("a", "supports", "b").relation
        notes.unrelate("a", "supports", "b")
        clock.tick()
        again = notes.relate("a", "supports", "b")
        assert again.created
        assert again.relation.id != first.id
        assert around(notes, "a") == [("a", "supports", "b")]

    def test_an_edge_stays_when_an_end_is_retired(self, notes: OnRecord) -> None:
        notes.relate("a", "supports", "b")
        notes.retire("b")
        assert around(notes, "a") == around(notes, "b") == [("a", "supports", "b")]
        notes.retire("a")
        assert notes.relate("a", "refines", "b").created


class WalkConformance(Conformance):
    """Following relations from one memory to the next."""

    @pytest.fixture
    def ring(self, ann: OnRecord) -> OnRecord:
        for id in "abcdef":
            ann.remember(f"note {id}", id=id)
        for source, relation, target in (
            ("a", "supports", "b"),
            ("b", "refines", "c"),
            ("c", "supports", "d"),
            ("d", "supports", "a"),
            ("e", "contradicts", "a"),
        ):
            ann.relate(source, relation, target)
        return ann

    def test_a_walk_goes_breadth_first_and_meets_every_edge_once(self, ring: OnRecord) -> None:
        met = [(edge.relation.source + edge.relation.target, edge.hop) for edge in self._walk(ring, depth=4)]
        assert met == [("ab", 1), ("da", 1), ("ea", 1), ("bc", 2), ("cd", 2)]

    @pytest.mark.parametrize(("depth", "reached"), [(1, "bde"), (2, "bcde"), (3, "bcde")])
    def test_depth_says_how_far(self, ring: OnRecord, depth: int, reached: str) -> None:
        assert {edge.memory.id for edge in self._walk(ring, depth=depth)} == set(reached)

    def test_direction_says_which_way(self, ring: OnRecord) -> None:
        out = [(edge.memory.id, edge.direction) for edge in self._walk(ring, depth=4, direction="out")]
        back = [(edge.memory.id, edge.direction) for edge in self._walk(ring, depth=4, direction="in")]
        assert out == [("b", "out"), ("c", "out"), ("d", "out"), ("a", "out")]
        assert back == [("d", "in"), ("e", "in"), ("c", "in"), ("b", "in"), ("a", "in")]

    def test_an_edge_between_two_that_were_just_reached_is_met(self, ring: OnRecord) -> None:
        ring.relate("e", "supports", "d")
        for direction in ("in", "both"):
            met = [
                edge.relation.source + edge.relation.target
                for edge in self._walk(ring, depth=2, direction=direction)
            ]
            assert "ed" in met, direction

    def test_relations_narrow_the_walk(self, ring: OnRecord) -> None:
        met = self._walk(ring, depth=4, relations=["supports"])
        assert [edge.relation.source + edge.relation.target for edge in met] == ["ab", "da", "cd"]

    def test_more_than_asked_for_is_said(self, ring: OnRecord) -> None:
        whole, cut = ring.neighbours("a", depth=4, limit=5), ring.neighbours("a", depth=4, limit=4)
        assert (whole.truncated, len(whole.edges)) == (False, 5)
        assert (cut.truncated, cut.edges) == (True, whole.edges[:4])

    def test_a_walk_never_steps_on_what_the_caller_does_not_see(self, ring: OnRecord) -> None:
        ring.remember("bridge", id="bridge", scope="user")
        ring.remember("beyond", id="beyond")
        ring.relate("a", "supports", "bridge")
        ring.relate("bridge", "supports", "beyond")
        bob = ring.as_caller(person("bob"))
        assert "beyond" in {edge.memory.id for edge in self._walk(ring, depth=2)}
        assert {edge.memory.id for edge in self._walk(bob, depth=4)} == set("bcde")
        assert around(bob, "beyond") == []

    @staticmethod
    def _walk(door: OnRecord, **ask: Any) -> tuple[Edge, ...]:
        return door.neighbours("a", **ask).edges
