"""HOW MANY requests has a caller left? A bucket holds the limit of a minute; a request takes one, and it refills evenly."""

from typing import Final

MINUTE_S: Final = 60.0


def left_after_request(held: tuple[float, float] | None, now: float, limit: int) -> float:
    """How many requests are left after one more. Less than 0 if there was not enough for it: by how much.

    `held` is how many were left at an earlier time; without it the bucket is full.
    """
    left, then = held or (float(limit), now)
    return min(limit, left + max(now - then, 0.0) * limit / MINUTE_S) - 1
