"""WHICH target takes a change? DataHub, if it is set and knows the entity; else the catalog of the store itself; for
an entity that no source has, the changesets alone.
"""

from dataclasses import dataclass
from datetime import datetime

from onrecord.catalog.datahub import NAME as DATAHUB
from onrecord.catalog.datahub.urns import DATASET, urn_of
from onrecord.catalog.stored import StoredCatalog
from onrecord.catalog.targets import Target
from onrecord.catalog.targets.amendments import AmendmentsTarget
from onrecord.catalog.targets.unsourced import NAME as UNSOURCED
from onrecord.catalog.targets.unsourced import UnsourcedTarget, is_unsourced
from onrecord.errors import CatalogUnavailable
from onrecord.model.caller import Caller
from onrecord.model.service_address import ServiceAddress
from onrecord.store.ports.store import Store


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets that a caller's changes can go to."""

    store: Store
    caller: Caller
    now: datetime
    embeds: bool
    datahub: ServiceAddress | None

    def of(self, root: str, lookup: StoredCatalog) -> Target:
        """The target for approved changes of an entity: an entity with the URN of a dataset belongs to DataHub."""
        datasource, _, name = root.partition(".")
        has_urn = root.startswith(DATASET) or (name and urn_of(lookup.model(datasource, name)) is not None)
        if has_urn and self.datahub is not None:
            return self.named(DATAHUB)
        return self.named(UNSOURCED if is_unsourced(root, lookup) else AmendmentsTarget.name)

    def named(self, name: str) -> Target:
        """The target that a changeset was written to; only that one can roll it back."""
        if name == UNSOURCED:
            return UnsourcedTarget(self.store, self.caller, self.now)
        if name != DATAHUB:
            return AmendmentsTarget(self.store, self.caller, self.now, embeds=self.embeds)
        if self.datahub is None:
            raise CatalogUnavailable(
                "This was written to DataHub, but no DataHub is configured here. Set `datahub_url`."
            )
        # Few have one.
        from onrecord.catalog.targets.datahub import DatahubTarget

        return DatahubTarget(self.store, self.caller, self.now, self.datahub, embeds=self.embeds)
