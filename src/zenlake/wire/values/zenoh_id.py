"""ZenohId: the name of a node, one to sixteen bytes (wire reference §1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake._mypyc import mypyc_attr
from zenlake.errors import LocalError
from zenlake.wire.primitives import Z32_MAX, Malformed, read_tail
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

ZID_BYTES_MAX: Final = 16
_DIGITS: Final = frozenset("0123456789abcdef")


@mypyc_attr(acyclic=True)
class ZenohId:
    """An unsigned 128-bit number, not zero, kept as the bytes of the wire.

    The bytes are little-endian without high-order zero bytes, so equal numbers have equal
    bytes. Text is the number in lower-case hexadecimal: the wire's `50 40 30 20 10` is
    `1020304050`. Order is the order of the bytes of the wire, not of the numbers: deployed nodes
    compare ids so, for the weights of links, gateways and connections.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        if not 1 <= len(raw) <= ZID_BYTES_MAX or raw[-1] == 0:
            raise LocalError(f"a ZenohId is 1 to 16 bytes, the last not zero: {raw.hex()!r}")
        self.raw = raw

    @staticmethod
    def parse(text: str) -> ZenohId:
        """The id of a hexadecimal text; as strict as deployed nodes."""
        if not 1 <= len(text) <= 32 or text[0] == "0" or not _DIGITS.issuperset(text):
            raise LocalError(
                f"{text!r} is not a ZenohId: 1 to 32 lower-case hexadecimal digits, no leading 0"
            )
        return ZenohId.from_int(int(text, 16))

    @staticmethod
    def from_int(number: int) -> ZenohId:
        if not 1 <= number < 1 << 128:
            raise LocalError(f"a ZenohId is a number from 1 to 2**128 - 1, not {number}")
        return ZenohId(number.to_bytes((number.bit_length() + 7) // 8, "little"))

    def __int__(self) -> int:
        return int.from_bytes(self.raw, "little")

    def __str__(self) -> str:
        return format(int(self), "x")

    def __repr__(self) -> str:
        return f"ZenohId({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZenohId) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __lt__(self, other: ZenohId) -> bool:
        return self.raw < other.raw

    def __le__(self, other: ZenohId) -> bool:
        return self.raw <= other.raw


def read_zid(buf: bytes, pos: i64, end: i64, size: i64) -> tuple[ZenohId, i64]:
    """A ZenohId of `size` bytes; zero bytes at its high end are accepted and dropped."""
    if size == 0 or size > ZID_BYTES_MAX:
        raise Malformed(f"an id of {size} bytes, 1 to 16 are possible")
    stop = pos + size
    if stop > end:
        raise IndexError
    raw = buf[pos:stop]
    if raw[size - 1] == 0:
        raw = raw.rstrip(b"\x00")
        if not raw:
            raise Malformed("the id is zero")
    return ZenohId(raw), stop


def read_prefixed_zid(buf: bytes, pos: i64, end: i64) -> tuple[ZenohId, i64]:
    """A ZenohId after a length of its own, as in Timestamp and LinkState."""
    if pos >= end:
        raise IndexError
    size: i64 = buf[pos]
    pos += 1
    if size >= 0x80:
        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
    return read_zid(buf, pos, end, size)


def write_prefixed_zid(out: BytesWriter, zid: ZenohId) -> None:
    raw = zid.raw
    out.append(len(raw))
    out.write(raw)
