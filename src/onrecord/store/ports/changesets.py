"""WHAT was promoted into the catalog of a tenant? Its changesets, and how one is kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from onrecord.model.changesets import Changeset
from onrecord.store.ports.filters import ChangesetFilter


class Changesets(Protocol):
    """The changesets of the caller's own tenant, in one consistent state.

    They do not check the caller: the calling code must leave out what the caller may not see.
    """

    def one(self, id: str) -> Changeset | None:
        """One changeset; None if the tenant has no such one."""

    def page(self, ask: ChangesetFilter) -> tuple[list[Changeset], int]:
        """A page of changesets, newest first, and how many match."""

    def naming(self, memory: str) -> Sequence[Changeset]:
        """Those that a memory is part of, the oldest first."""

    def of_entity(self, entity: str) -> Sequence[Changeset]:
        """Every changeset of an entity and its parts, the oldest first."""

    def applied_under(self, target: str, prefix: str) -> Sequence[Changeset]:
        """The applied ones of a target, and those of entities whose names begin so; the oldest first."""

    def unsettled(self, before: datetime | None = None) -> Sequence[Changeset]:
        """Those that are being applied, taken back or rolled back, or that were left so before a time; the oldest first."""


class WritableChangesets(Changesets, Protocol):
    """The same in one transaction that keeps other writers out of the tenant."""

    def begin(self, changeset: Changeset) -> Changeset:
        """Keep a new changeset; returns it with the tenant's next number as its id."""

    def replace(self, changeset: Changeset) -> Changeset:
        """Store the new state of one."""
