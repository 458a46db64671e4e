"""HOW sure is a mean? Its interval, from resamples of what it is the mean of, with a fixed seed."""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES: Final = 1_000
_SEED: Final = 0
#: Where the middle 95 % of the resampled means begin and end.
_LOW, _HIGH = int(0.025 * RESAMPLES), int(0.975 * RESAMPLES)


def interval(values: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
    """The ends of the 95 % intervals of the means of some columns; a row is resampled as a whole."""
    import numpy as np

    chance = np.random.default_rng(_SEED)
    means = np.array(
        [values[chance.integers(len(values), size=len(values))].mean(axis=0) for _ in range(RESAMPLES)]
    )
    means.sort(axis=0)
    return means[_LOW], means[_HIGH]
