"""WHICH vectors are wrong? What a tenant's memories require of their vectors, for the doctor and for repairs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from onrecord.model.embedding import embedded_text, text_hash
from onrecord.model.memory import Memory
from onrecord.store.audience import audience_of
from onrecord.store.ports.jobs import EMBED
from onrecord.store.tables import audience_vectors, embedded, jobs, memories, vectors
from onrecord.store.tenant import HomeAddress, of_home

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH: Final = 1_000
# What float32 loses of the length of a unit vector is far less.
_UNIT: Final = 1e-3
_SUM: Final = 1e-3


class ExpectedVectors(NamedTuple):
    """The values that the vectors of a memory must carry."""

    audience: str
    text_hash: str


class WrongVectors(NamedTuple):
    """Wrong vectors of one memory and one model. If only the audience is wrong, they can stay."""

    model: int
    row: int
    reason: str
    is_for_other_eyes: bool = False


class Counts(NamedTuple):
    """What should be recorded of a model's vectors in a tenant, or of those for one audience; `total` is their sum."""

    memories: int
    passages: int
    total: "NDArray[Any]"
    stamp: int

    @property
    def row(self) -> dict[str, Any]:
        return {"memories": self.memories, "passages": self.passages, "total": self.total.tobytes()}


class WrongCounts(NamedTuple):
    """A model whose recorded counts are wrong."""

    model: int
    detail: str


def expected_vectors(memory: Memory) -> ExpectedVectors:
    return ExpectedVectors(audience_of(memory), text_hash(embedded_text(memory)))


def wrong_vectors(
    connection: Connection, address: HomeAddress, wanted: Mapping[int, ExpectedVectors]
) -> Iterator[WrongVectors]:
    """The wrong vectors. Reads every memory's vectors once, one model after the other."""
    dimensions = _dimensions(connection, address)
    rows = connection.execute(_EVERY.execution_options(yield_per=_BATCH), address.parameters)
    for (model, row), group in groupby(rows, key=itemgetter(0, 1)):
        passages = list(group)
        reason = _reason(passages, wanted.get(row), dimensions.get(model))
        if reason is not None:
            yield WrongVectors(model, row, reason)
        elif any(passage.audience != wanted[row].audience for passage in passages):
            yield WrongVectors(
                model, row, "are visible to other users than the memory", is_for_other_eyes=True
            )


def _reason(passages: Sequence[Any], wanted: ExpectedVectors | None, dimensions: int | None) -> str | None:
    import numpy as np

    if wanted is None:
        return "belong to no memory"
    if dimensions is None:
        return "belong to no model"
    if any(passage.text_hash != wanted.text_hash for passage in passages):
        return "are of another text"
    if [passage.passage for passage in passages] != list(range(len(passages))):
        return "have passages that are not numbered 0, 1, 2 …"
    for passage in passages:
        if len(passage.vector) != dimensions:
            return f"have {len(passage.vector)} dimensions, not {dimensions}"
        length = float(np.linalg.norm(passage.vector))
        # Written so that NaN fails too.
        if not abs(length - 1) < _UNIT:
            return f"have a length of {length:.3g}, not 1"
    return None


def miscounts(connection: Connection, address: HomeAddress) -> Iterator[WrongCounts]:
    held = _counted(connection, address)
    recorded = {row.model: row for row in connection.execute(_RECORDED, address.parameters)}
    parts: dict[int, dict[str, Any]] = {}
    for row in connection.execute(_RECORDED_BY_AUDIENCE, address.parameters):
        parts.setdefault(row.model, {})[row.audience] = row
    for model in sorted(recorded.keys() | held.keys() | parts.keys()):
        right = held.get(model, {})
        whole = _together(right)
        if model not in recorded:
            memories = 0 if whole is None else whole.memories
            yield WrongCounts(model, f"{memories} memories have vectors that are not counted")
        elif detail := _difference(recorded[model], whole):
            yield WrongCounts(model, detail)
        elif whole is not None and recorded[model].stamp < whole.stamp:
            yield WrongCounts(model, "a change of its vectors was not recorded")
        else:
            recorded_parts = parts.get(model, {})
            wrong = [
                each
                for each in right.keys() | recorded_parts.keys()
                if _difference(recorded_parts.get(each), right.get(each)) is not None
            ]
            if wrong:
                # Not named, since audiences contain names of people.
                yield WrongCounts(model, f"its vectors are miscounted for {len(wrong)} audiences")


def _difference(recorded: Any, right: Counts | None) -> str | None:
    """How the recorded counts differ from the actual ones; a model without vectors may have no record."""
    import numpy as np

    counted = (0, 0) if recorded is None else (recorded.memories, recorded.passages)
    there = (0, 0) if right is None else (right.memories, right.passages)
    if counted != there:
        return f"counts {counted[0]} memories and {counted[1]} passages, there are {there[0]} and {there[1]}"
    if right is not None and not _is_alike(np.frombuffer(recorded.total, np.uint8), right.total):
        return "the recorded sum of its vectors is wrong"
    return None


def _together(parts: Mapping[str, Counts]) -> Counts | None:
    """The counts of a model: the sum of the counts of its audiences; None if there are none."""
    if not parts:
        return None
    import numpy as np

    memories, passages, totals, stamps = zip(*parts.values(), strict=True)
    return Counts(sum(memories), sum(passages), np.sum(totals, axis=0), max(stamps))


def _is_alike(packed: "NDArray[Any]", total: "NDArray[Any]") -> bool:
    """Whether two sums are equal up to rounding: another order of addition changes a sum a little."""
    import numpy as np

    if packed.nbytes != total.nbytes:
        return False
    return bool(np.allclose(packed.view(np.float64), total, rtol=0, atol=_SUM))


def _counted(connection: Connection, address: HomeAddress) -> dict[int, dict[str, Counts]]:
    """Counts by model and audience from reading every vector; one of the wrong dimensions adds nothing to the sum."""
    import numpy as np

    dimensions = _dimensions(connection, address)
    found: dict[int, dict[str, Counts]] = {}
    rows = connection.execute(_EVERY.execution_options(yield_per=_BATCH), address.parameters)
    for (model, _), group in groupby(rows, key=itemgetter(0, 1)):
        passages = list(group)
        # A memory whose passages have different audiences is reported as a fault of its own.
        audience, parts = passages[0].audience, found.setdefault(model, {})
        nothing = Counts(0, 0, np.zeros(dimensions.get(model, 0), np.float64), 0)
        counts = parts.get(audience, nothing)
        for passage in passages:
            if len(passage.vector) == len(counts.total):
                np.add(counts.total, passage.vector, out=counts.total)
        stamp = max(counts.stamp, *(passage.stamp for passage in passages))
        parts[audience] = Counts(counts.memories + 1, counts.passages + len(passages), counts.total, stamp)
    return found


def stray_jobs(connection: Connection, address: HomeAddress) -> int:
    """Jobs about memories that are not there."""
    counted = select(func.count()).select_from(jobs).where(*_STRAY)
    return int(connection.execute(counted, address.parameters).scalar_one())


def mend(connection: Connection, address: HomeAddress, wanted: Mapping[int, ExpectedVectors]) -> None:
    """Drop wrong vectors, correct the audiences of the others, and recount; dropped vectors can be made again."""
    connection.execute(delete(jobs).where(*_STRAY), address.parameters)
    found = list(wrong_vectors(connection, address, wanted))
    if not found and next(miscounts(connection, address), None) is None:
        return
    for wrong in found:
        its = (of_home(vectors), vectors.c.model == wrong.model, vectors.c.row == wrong.row)
        if wrong.is_for_other_eyes:
            right = {"audience": wanted[wrong.row].audience}
            connection.execute(update(vectors).where(*its).values(right), address.parameters)
        else:
            connection.execute(delete(vectors).where(*its), address.parameters)
    _count_anew(connection, address)


def _count_anew(connection: Connection, address: HomeAddress) -> None:
    """Recount, with a new highest stamp on every vector, so that caches read all of them again."""
    import numpy as np

    here = address.parameters
    held = _counted(connection, address)
    connection.execute(delete(audience_vectors).where(of_home(audience_vectors)), here)
    for before in connection.execute(_RECORDED, here).all():
        parts = held.get(before.model, {})
        counts = _together(parts) or Counts(0, 0, np.zeros(before.dimensions, np.float64), 0)
        stamp = max(counts.stamp, before.stamp) + 1
        its = (of_home(vectors), vectors.c.model == before.model)
        connection.execute(update(vectors).where(*its).values(stamp=stamp), here)
        counted = counts.row | {"stamp": stamp, "dropped": before.dropped + 1}
        its_row = (of_home(embedded), embedded.c.model == before.model)
        connection.execute(update(embedded).where(*its_row).values(counted), here)
        for audience, part in sorted(parts.items()):
            place = {name: getattr(before, name) for name in ("tenant", "collection", "model")}
            connection.execute(insert(audience_vectors), place | {"audience": audience} | part.row)


def _dimensions(connection: Connection, address: HomeAddress) -> dict[int, int]:
    return {row.model: row.dimensions for row in connection.execute(_RECORDED, address.parameters)}


_EVERY: Final[Select[Any]] = (
    select(
        vectors.c.model,
        vectors.c.row,
        vectors.c.passage,
        vectors.c.audience,
        vectors.c.text_hash,
        vectors.c.stamp,
        vectors.c.vector,
    )
    .where(of_home(vectors))
    .order_by(vectors.c.model, vectors.c.row, vectors.c.passage)
)
_RECORDED_BY_AUDIENCE: Final = select(audience_vectors).where(of_home(audience_vectors))
_RECORDED: Final = select(embedded).where(of_home(embedded)).order_by(embedded.c.model)
_STRAY: Final = (
    of_home(jobs),
    jobs.c.name == EMBED,
    jobs.c.subject != 0,
    jobs.c.subject.not_in(select(memories.c.row).where(of_home(memories))),
)
