"""Timestamps of rows: a retried row gets the same time and the same clock id as before.

The clock id is a hash of the write (a batch of a stream, or the job of a batch write) and the
partition. The time is that of the write plus the row's position in its partition, in units of
2**-32 s (0.23 ns). Sending a row takes longer, so no timestamp is ahead of the driver's clock, and
routers do not replace it.
"""

from __future__ import annotations

import hashlib
from typing import Final

from zenlake.api.values.timestamp import Timestamp
from zenlake.errors import LocalError
from zenlake.wire import Timestamp as WireTimestamp
from zenlake.wire import ZenohId
from zenlake.wire.values.timestamp import ntp64_of_ns

_NTP64_MAX: Final = (1 << 64) - 1


class RowClock:
    """The timestamps of one partition."""

    __slots__ = ("_start", "id")

    def __init__(self, write: str, partition: int, start_ns: int) -> None:
        digest = hashlib.sha256(f"{write}/{partition}".encode()).digest()
        # Zero bytes at the end of an id are not transmitted: the last byte must not be one.
        self.id = ZenohId(digest[:15] + bytes([digest[15] | 1]))
        self._start = ntp64_of_ns(start_ns)

    def time_at(self, row: int) -> int:
        """The time of the row with this number, in NTP64; each row is one unit later."""
        return self._start + row

    def at(self, row: int) -> Timestamp:
        """The timestamp of the row with this number."""
        return Timestamp.from_wire(WireTimestamp(self.time_at(row), self.id))

    def from_value(self, value: int | str) -> Timestamp:
        """A timestamp from `<ntp64>/<id>`, or from ns since 1970 with the id of this clock."""
        if isinstance(value, str):
            return _parsed(value)
        if value < 0:
            raise LocalError(f"the timestamp is before 1970: {value} ns")
        time = ntp64_of_ns(value)
        if time > _NTP64_MAX:
            raise LocalError(f"the timestamp is after 2106: {value} ns")
        return Timestamp.from_wire(WireTimestamp(time, self.id))


def _parsed(text: str) -> Timestamp:
    """A timestamp from `<ntp64>/<id>`, or from `<RFC 3339 time>/<id>`."""
    if "T" in text:
        return Timestamp.parse_rfc3339(text)
    found = WireTimestamp.parse(text)
    if found.time > _NTP64_MAX:
        raise LocalError(f"{text!r} is no timestamp: the time has more than 64 bits")
    return Timestamp.from_wire(found)
