"""Resolution: how many bits sequence numbers and request ids have (wire reference §1.9, §6.5)."""

from __future__ import annotations

from typing import Final

from zenlake.errors import LocalError
from zenlake.wire.defaults import DEFAULT_RESOLUTION_BYTE
from zenlake.wire.sequence import SN_MASKS

_BITS: Final = (8, 16, 32, 64)


class Resolution:
    """The byte `X|X|X|X|RID|FSN` of INIT and JOIN; 0x0A, both 32 bits, if none is sent."""

    __slots__ = ("byte",)

    def __init__(self, byte: int = DEFAULT_RESOLUTION_BYTE) -> None:
        if not 0 <= byte <= 0x0F:
            raise LocalError(f"a resolution byte is 0x00 to 0x0f, not {byte:#x}")
        self.byte = byte

    @staticmethod
    def of(sn_bits: int = 32, request_id_bits: int = 32) -> Resolution:
        if sn_bits not in _BITS or request_id_bits not in _BITS:
            raise LocalError("a resolution is 8, 16, 32 or 64 bits")
        return _RESOLUTIONS[_BITS.index(request_id_bits) << 2 | _BITS.index(sn_bits)]

    @property
    def sn_bits(self) -> int:
        return _BITS[self.byte & 3]

    @property
    def sn_mask(self) -> int:
        return SN_MASKS[self.byte & 3]

    @property
    def request_id_bits(self) -> int:
        return _BITS[self.byte >> 2]

    def __str__(self) -> str:
        return f"sequence numbers {self.sn_bits} bits, request ids {self.request_id_bits} bits"

    def __repr__(self) -> str:
        return f"Resolution({self.byte:#04x})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resolution) and self.byte == other.byte

    def __hash__(self) -> int:
        return self.byte


_RESOLUTIONS: Final = [Resolution(byte) for byte in range(16)]

DEFAULT_RESOLUTION: Final = _RESOLUTIONS[DEFAULT_RESOLUTION_BYTE]


def resolution_of_byte(byte: int) -> Resolution:
    """The four high bits are ignored."""
    return _RESOLUTIONS[byte & 0x0F]


def byte_of_resolution(resolution: Resolution) -> int:
    return resolution.byte
