"""HOW is a point in time stored? As microseconds since 1970, so that both databases compare it alike."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def microseconds_of(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def datetime_of(microseconds: int) -> datetime:
    return _EPOCH + timedelta(0, 0, microseconds)
