"""QoSLink: which priorities and which reliability a link is for (wire reference §5.3)."""

from __future__ import annotations

from zenlake.errors import LocalError
from zenlake.wire.primitives import Z64_MAX


class QoSLink:
    """The z64 of INIT's QoSLink extension.

    Bits 2 to 0 select the content: 1 plain QoS, bit 1 a range of priorities (first in bits 10 to
    3, last in bits 18 to 11), bit 2 a reliability (bit 19, 1 reliable).
    """

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        if not 0 <= value <= Z64_MAX:
            raise LocalError(f"{value} does not fit z64")
        self.value = value

    @staticmethod
    def of(priorities: tuple[int, int] | None = None, reliable: bool | None = None) -> QoSLink:
        if priorities is None and reliable is None:
            return QoSLink(1)
        value = 0
        if priorities is not None:
            first, last = priorities
            if not 0 <= first <= last <= 7:
                raise LocalError(f"priorities {first}-{last} are no range within 0-7")
            value |= 2 | first << 3 | last << 11
        if reliable is not None:
            value |= 4 | reliable << 19
        return QoSLink(value)

    @property
    def priorities(self) -> tuple[int, int] | None:
        if self.value & 2 == 0:
            return None
        return self.value >> 3 & 0xFF, self.value >> 11 & 0xFF

    @property
    def reliable(self) -> bool | None:
        return self.value >> 19 & 1 != 0 if self.value & 4 else None

    def __str__(self) -> str:
        parts = []
        if self.priorities is not None:
            parts.append("priorities {}-{}".format(*self.priorities))
        if self.reliable is not None:
            parts.append("reliable" if self.reliable else "best effort")
        return ", ".join(parts) or ("QoS" if self.value & 1 else "no QoS")

    def __repr__(self) -> str:
        return f"QoSLink({self.value:#x})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QoSLink) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


def qos_link_of_number(number: int) -> QoSLink:
    return QoSLink(number)


def number_of_qos_link(link: QoSLink) -> int:
    return link.value
