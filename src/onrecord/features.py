"""WHICH operations are there? Those of the files listed here; a file holds one feature: requests, answers, and what is done."""

from typing import Final

from onrecord.access import auditing, keys, tenants
from onrecord.care import backup, doctor, embedding, export, importing, reindex, status
from onrecord.catalog import ingest
from onrecord.catalog import operations as catalog
from onrecord.context import give, turns
from onrecord.operation import Operation, operations_in
from onrecord.recall import browse, history, recall, relations, show, subjects
from onrecord.remember import forget, relate, remember, retire, review, revise
from onrecord.workspace import agents, artifacts, conversations, scratchpads

#: In the order in which people meet them.
FEATURES: Final = (
    *(remember, recall, show, browse, revise, retire, forget, relate, relations, history),
    *(ingest, subjects, catalog),
    review,
    *(give, turns),
    *(conversations, artifacts, scratchpads, agents),
    *(keys, tenants, auditing),
    *(export, importing, backup, doctor, reindex, embedding, status),
)

OPERATIONS: Final[tuple[Operation, ...]] = tuple(
    each for module in FEATURES for each in operations_in(module)
)
