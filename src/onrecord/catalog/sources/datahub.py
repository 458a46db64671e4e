"""WHAT does a DataHub know? Its datasets with their fields, page by page, and whether one that is not listed is gone.

The listing comes from a search index that lags behind; each dataset is read by its URN. A dataset that DataHub fails
to return stays as the catalog has it.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple
from weakref import finalize

from onrecord.catalog.datahub import NAME
from onrecord.catalog.datahub.client import DatahubClient, IncompleteAnswer
from onrecord.catalog.datahub.datasets import READ_AT_ONCE, DatasetReader, listed_urns, model_from, presence
from onrecord.catalog.datahub.urns import DATASET, Table, canonicals, table_of
from onrecord.catalog.sources.fingerprinting import fingerprint
from onrecord.errors import CatalogUnavailable
from onrecord.model.catalog import Datasource, Model
from onrecord.model.service_address import ServiceAddress

#: How many datasets a note names.
_NAMED: Final = 5


class _Kept(NamedTuple):
    """Where in the file a dataset lies, and the fingerprint of its model."""

    at: int
    size: int
    fingerprint: str


class DatahubCatalog:
    """All datasets of one DataHub. It is read once: open it again to see what has changed since.

    A dataset is called `<platform>_<catalog>_<schema>.<table>`, and has its URN as another name. What was read waits in
    a file without a name until it is asked for, so that of many datasets few are in memory.
    """

    kind = "DataHub"
    leaves_samples = True

    def __init__(self, address: ServiceAddress) -> None:
        self._address = address
        self.location = address.url
        self.origin = f"{NAME}:{address.url}"
        self._kept: dict[str, _Kept] = {}
        self._unread: dict[str, str] = {}
        self._notes: list[str] = []

    def datasources(self) -> Sequence[Datasource]:
        tables = dict[str, Table | None]()
        for urn, name in self._read.names.items():
            if name in self._kept or name in self._unread:
                tables.setdefault(name.partition(".")[0], table_of(urn))
        return [
            Datasource(
                name=name,
                details={
                    key: value
                    for key, value in (
                        ("type", table.platform),
                        ("database", table.catalog),
                        ("schema", table.schema),
                        ("env", table.env),
                    )
                    if value
                },
            )
            for name, table in sorted(tables.items())
            if table is not None
        ]

    def priority(self) -> None:
        return None

    def fingerprints(self) -> Mapping[str, str]:
        assert self._read
        return {name: self._kept[name].fingerprint for name in sorted(self._kept)}

    def models(self, wanted: Collection[str] | None = None) -> Iterator[Model]:
        held = self._read
        for name in sorted(self._kept):
            if wanted is None or name in wanted:
                at, size, _ = self._kept[name]
                held.file.seek(at)
                yield model_from(json.loads(held.file.read(size)), held.names)

    def notes(self) -> Sequence[str]:
        return self._notes

    def still_known(self, missing: Mapping[str, Sequence[str]]) -> Set[str]:
        """Of models that were known and are not listed now, those that are not certainly gone: their datasets exist, or
        DataHub does not say.
        """
        asked = {
            urn: name
            for name, aliases in missing.items()
            if name not in self._unread
            for urn in aliases
            if urn.startswith(DATASET)
        }
        there, unanswered = set[str](), set[str]()
        with DatahubClient(self._address) as client:
            for urns in _batches(sorted(asked), READ_AT_ONCE):
                try:
                    exists = presence(client, urns)
                except CatalogUnavailable as problem:
                    unanswered.update(asked[urn] for urn in urns)
                    self._notes.append(
                        f"{_some(urns)} stay in the catalog unchanged, since DataHub did not describe them: {problem}"
                    )
                    continue
                there.update(asked[urn] for urn, is_there in exists.items() if is_there)
                unanswered.update(asked[urn] for urn in urns if urn not in exists)
        if there:
            self._notes.append(
                f"{_some(sorted(there))}: missing from DataHub's listing but still in DataHub, so they stay in the catalog unchanged"
            )
        return there | unanswered | (self._unread.keys() & missing.keys())

    @cached_property
    def _read(self) -> "_Held":
        file: IO[bytes] = TemporaryFile(prefix="onrecord")  # noqa: SIM115, it lives as long as this source
        finalize(self, file.close)
        with DatahubClient(self._address) as client:
            urns = list(dict.fromkeys(listed_urns(client)))
            names = canonicals(urns)
            if unnamed := [urn for urn in urns if urn not in names]:
                self._notes.append(f"{_some(unnamed)} are left out: their URNs name no table")
            reader = DatasetReader(client)
            for batch in _batches(sorted(names), READ_AT_ONCE):
                for dataset, model in self._read_each(reader, batch, names):
                    written = json.dumps(dataset).encode()
                    self._kept[model.canonical] = _Kept(file.tell(), len(written), fingerprint(model))
                    file.write(written)
        return _Held(file, names)

    def _read_each(
        self, reader: DatasetReader, urns: Sequence[str], names: Mapping[str, str]
    ) -> list[tuple[dict[str, Any], Model]]:
        """Read some datasets. If DataHub fails on one of several, the others are read without it."""
        try:
            return [(each, model_from(each, names)) for each in reader.read(urns)]
        except IncompleteAnswer as problem:
            if len(urns) == 1:
                self._unread[names[urns[0]]] = str(problem)
                self._notes.append(
                    f"{urns[0]} stays in the catalog unchanged, since DataHub did not describe it: {problem}"
                )
                return []
            middle = len(urns) // 2
            found = [
                *self._read_each(reader, urns[:middle], names),
                *self._read_each(reader, urns[middle:], names),
            ]
            if not found and all(names[urn] in self._unread for urn in urns):
                # Not one of them could be read: it is DataHub that fails.
                raise
            return found


class _Held(NamedTuple):
    """The datasets as they were read, and our names for those that are listed."""

    file: IO[bytes]
    names: Mapping[str, str]


def _batches(items: Sequence[str], size: int) -> Iterator[list[str]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
