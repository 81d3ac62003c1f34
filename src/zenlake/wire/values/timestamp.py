"""Timestamp: a time and the id of its clock (wire reference §1.6)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from zenlake._mypyc import mypyc_attr
from zenlake.errors import LocalError
from zenlake.wire.primitives import read_tail_z64, read_z64, write_z64
from zenlake.wire.values.zenoh_id import ZenohId, read_prefixed_zid, write_prefixed_zid
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

_NS_PER_S: Final = 1_000_000_000


@mypyc_attr(acyclic=True)
class Timestamp:
    """A time in NTP64 since 1970 and the id of its clock.

    NTP64: whole seconds in the high 32 bits, 1/2**32 s in the low ones. The value is ordered
    and otherwise opaque: a node with a hybrid logical clock counts in its four lowest bits.
    """

    __slots__ = ("_time", "_written", "id")

    def __init__(self, time: int, id: ZenohId, written: bytes = b"") -> None:
        """`written`, if not empty, is the encoded time, decoded at first use, which is rare."""
        self._time = time
        self._written = written
        self.id = id

    @property
    def time(self) -> int:
        if self._written:
            self._time, _ = read_z64(self._written, 0, len(self._written))
            self._written = b""
        return self._time

    @staticmethod
    def parse(text: str) -> Timestamp:
        """The timestamp of a text `<ntp64 in decimal>/<id>`."""
        time, slash, zid = text.partition("/")
        if not slash or not time.isdecimal() or not time.isascii():
            raise LocalError(f"{text!r} is no timestamp: expected <ntp64>/<id>")
        return Timestamp(int(time), ZenohId.parse(zid))

    @property
    def ns(self) -> int:
        """Nanoseconds since 1970, rounded up as deployed nodes do."""
        fraction = self.time & 0xFFFF_FFFF
        return (self.time >> 32) * _NS_PER_S + -(-fraction * _NS_PER_S >> 32)

    def to_rfc3339(self) -> str:
        """The time as text for users: nine digits of fraction, lossy."""
        ns = self.ns
        instant = datetime.fromtimestamp(ns // _NS_PER_S, UTC)
        return f"{instant:%Y-%m-%dT%H:%M:%S}.{ns % _NS_PER_S:09}Z/{self.id}"

    def __str__(self) -> str:
        return f"{self.time}/{self.id}"

    def __repr__(self) -> str:
        return f"Timestamp.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.time == other.time and self.id == other.id

    def __hash__(self) -> int:
        return hash((self.time, self.id))

    def __lt__(self, other: Timestamp) -> bool:
        if self.time != other.time:
            return self.time < other.time
        return self.id < other.id

    def __le__(self, other: Timestamp) -> bool:
        return self == other or self < other


def ntp64_of_ns(ns: int) -> int:
    """The NTP64 time of nanoseconds since 1970, rounded down; `Timestamp.ns` is the inverse."""
    seconds, rest = divmod(ns, _NS_PER_S)
    return seconds << 32 | (rest << 32) // _NS_PER_S


def read_timestamp(buf: bytes, pos: i64, end: i64) -> tuple[Timestamp, i64]:
    if pos >= end:
        raise IndexError
    first: i64 = buf[pos]
    pos += 1
    time: int = first
    if first >= 0x80:
        time, pos = read_tail_z64(buf, pos, end, first)
    zid, pos = read_prefixed_zid(buf, pos, end)
    return Timestamp(time, zid), pos


def write_timestamp(out: BytesWriter, timestamp: Timestamp) -> None:
    write_z64(out, timestamp.time)
    write_prefixed_zid(out, timestamp.id)
