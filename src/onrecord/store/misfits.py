"""WHICH vectors do not fit? What a tenant's memories demand of their vectors, for the doctor and for mending."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update

from onrecord.model.embedding import embedded_text, text_hash
from onrecord.model.memory import Memory
from onrecord.store.audience import audience_of
from onrecord.store.tables import embedded, jobs, memories, models, vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH: Final = 1_000
# What float32 loses of the length of a unit vector is far less.
_UNIT: Final = 1e-3
_SUM: Final = 1e-3


class Wanted(NamedTuple):
    """What the vectors of a memory must say of it."""

    audience: str
    text_hash: str


class Misfit(NamedTuple):
    """The vectors of one memory by one model that are not right. With only the audience wrong, they can stay."""

    model: int
    row: int
    reason: str
    is_for_other_eyes: bool = False


class Counts(NamedTuple):
    """What is to be said of a model's vectors in a tenant; `total` is their sum."""

    memories: int
    passages: int
    total: "NDArray[Any]"
    stamp: int


class Miscount(NamedTuple):
    """A model of which something else is said than what is there."""

    model: int
    detail: str


def wanted_of(memory: Memory) -> Wanted:
    return Wanted(audience_of(memory), text_hash(embedded_text(memory)))


def misfits(connection: Connection, tenant: int, wanted: Mapping[int, Wanted]) -> Iterator[Misfit]:
    """Every memory's vectors are read once, a model after the other."""
    dimensions: dict[int, int] = dict(connection.execute(select(models.c.key, models.c.dimensions)).all())
    told = connection.execute(_EVERY.execution_options(yield_per=_BATCH), {"home": tenant})
    for (model, row), group in groupby(told, key=itemgetter(0, 1)):
        passages = list(group)
        reason = _reason(passages, wanted.get(row), dimensions.get(model))
        if reason is not None:
            yield Misfit(model, row, reason)
        elif any(passage.audience != wanted[row].audience for passage in passages):
            yield Misfit(model, row, "are for other eyes than the memory", is_for_other_eyes=True)


def _reason(passages: Sequence[Any], wanted: Wanted | None, dimensions: int | None) -> str | None:
    import numpy as np

    if wanted is None:
        return "are of no memory"
    if dimensions is None:
        return "are of no model"
    if any(passage.text_hash != wanted.text_hash for passage in passages):
        return "are of another text"
    if [passage.passage for passage in passages] != list(range(len(passages))):
        return "have passages that are not numbered 0, 1, 2 …"
    for passage in passages:
        if len(passage.vector) != dimensions:
            return f"have {len(passage.vector)} dimensions, not {dimensions}"
        length = float(np.linalg.norm(passage.vector))
        # Written so that what is not a number fails too.
        if not abs(length - 1) < _UNIT:
            return f"have a length of {length:.3g}, not 1"
    return None


def miscounts(connection: Connection, tenant: int) -> Iterator[Miscount]:
    import numpy as np

    held = _counted(connection, tenant)
    said = {row.model: row for row in connection.execute(_SAID, {"home": tenant})}
    for model in sorted(said.keys() | held.keys()):
        if model not in said:
            yield Miscount(model, f"{held[model].memories} memories have vectors that are not counted")
            continue
        counts, right = said[model], held.get(model)
        memories, passages = (right.memories, right.passages) if right else (0, 0)
        if (counts.memories, counts.passages) != (memories, passages):
            yield Miscount(
                model,
                f"counts {counts.memories} memories and {counts.passages} passages, there are {memories} and {passages}",
            )
        elif right is not None and counts.stamp < right.stamp:
            yield Miscount(model, "a change of its vectors goes unseen")
        elif right is not None and not _is_alike(np.frombuffer(counts.total, np.uint8), right.total):
            yield Miscount(model, "the sum of its vectors is another")


def _is_alike(packed: "NDArray[Any]", total: "NDArray[Any]") -> bool:
    """Sums of the same numbers in another order differ a little."""
    import numpy as np

    if packed.nbytes != total.nbytes:
        return False
    return bool(np.allclose(packed.view(np.float64), total, rtol=0, atol=_SUM))


def _counted(connection: Connection, tenant: int) -> dict[int, Counts]:
    """By reading every vector; one of the wrong dimensions adds nothing to the sum."""
    import numpy as np

    dimensions: dict[int, int] = dict(connection.execute(select(models.c.key, models.c.dimensions)).all())
    found: dict[int, Counts] = {}
    told = connection.execute(_EVERY.execution_options(yield_per=_BATCH), {"home": tenant})
    for model, group in groupby(told, key=itemgetter(0)):
        rows, passages, stamp = set[int](), 0, 0
        total = np.zeros(dimensions.get(model, 0), np.float64)
        for passage in group:
            rows.add(passage.row)
            passages += 1
            stamp = max(stamp, passage.stamp)
            if len(passage.vector) == len(total):
                total += passage.vector
        found[model] = Counts(len(rows), passages, total, stamp)
    return found


def stray_jobs(connection: Connection, tenant: int) -> int:
    """Jobs about memories that are not there."""
    counted = select(func.count()).select_from(jobs).where(*_STRAY)
    return int(connection.execute(counted, {"home": tenant}).scalar_one())


def mend(connection: Connection, tenant: int, wanted: Mapping[int, Wanted]) -> None:
    """Drop what is wrong, show the rest to the right eyes, and count anew; what was dropped can be made again."""
    connection.execute(delete(jobs).where(*_STRAY), {"home": tenant})
    found = list(misfits(connection, tenant, wanted))
    if not found and next(miscounts(connection, tenant), None) is None:
        return
    for misfit in found:
        its = (vectors.c.tenant == tenant, vectors.c.model == misfit.model, vectors.c.row == misfit.row)
        if misfit.is_for_other_eyes:
            right = {"audience": wanted[misfit.row].audience}
            connection.execute(update(vectors).where(*its).values(right))
        else:
            connection.execute(delete(vectors).where(*its))
    _count_anew(connection, tenant)


def _count_anew(connection: Connection, tenant: int) -> None:
    """With a stamp beyond all others on every vector, so that whoever has some in memory reads all of them again."""
    import numpy as np

    held = _counted(connection, tenant)
    said = {row.model: row for row in connection.execute(_SAID, {"home": tenant})}
    connection.execute(delete(embedded).where(embedded.c.tenant == tenant))
    known = connection.execute(select(models.c.key, models.c.dimensions)).all()
    for model, dimensions in known:
        if model not in held and model not in said:
            continue
        counts = held.get(model) or Counts(0, 0, np.zeros(dimensions, np.float64), 0)
        before = said.get(model)
        stamp = max(counts.stamp, before.stamp if before else 0) + 1
        its = (vectors.c.tenant == tenant, vectors.c.model == model)
        connection.execute(update(vectors).where(*its).values(stamp=stamp))
        told = counts._asdict() | {"total": counts.total.tobytes(), "stamp": stamp}
        told |= {"tenant": tenant, "model": model, "dropped": (before.dropped if before else 0) + 1}
        connection.execute(insert(embedded), told)


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
    .where(vectors.c.tenant == bindparam("home"))
    .order_by(vectors.c.model, vectors.c.row, vectors.c.passage)
)
_SAID: Final = select(embedded).where(embedded.c.tenant == bindparam("home")).order_by(embedded.c.model)
_STRAY: Final = (
    jobs.c.tenant == bindparam("home"),
    jobs.c.subject != 0,
    jobs.c.subject.not_in(select(memories.c.row).where(memories.c.tenant == bindparam("home"))),
)
