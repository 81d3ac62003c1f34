"""Priority, congestion control and the QoS byte of network messages (wire reference §2.4)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from zenlake._mypyc import mypyc_attr
from zenlake.errors import LocalError
from zenlake.wire.defaults import DEFAULT_QOS_BYTE
from zenlake.wire.headers import QOS_BLOCK, QOS_BLOCK_FIRST, QOS_EXPRESS


class Priority(IntEnum):
    """The lane in which a message is sent; the lowest number is served first."""

    CONTROL = 0
    REAL_TIME = 1
    INTERACTIVE_HIGH = 2
    INTERACTIVE_LOW = 3
    DATA_HIGH = 4
    DATA = 5
    DATA_LOW = 6
    BACKGROUND = 7

    def __str__(self) -> str:
        return self.name.lower()


class CongestionControl(IntEnum):
    """The treatment of a message by a sender whose queue is full."""

    DROP = 0
    BLOCK = 1
    BLOCK_FIRST = 2

    def __str__(self) -> str:
        return self.name.lower()


PRIORITIES: Final = list(Priority)
CONGESTION_BITS: Final = (0, QOS_BLOCK, QOS_BLOCK_FIRST)
"""Of the QoS byte, for each `CongestionControl`."""


@mypyc_attr(acyclic=True)
class QoS:
    """The QoS byte `0|0|F|E|D|prio`: read it by its properties, build it with `of`.

    D=1 is Block, with or without F; F alone is BlockFirst; neither is Drop.
    """

    __slots__ = ("byte",)

    def __init__(self, byte: int) -> None:
        if not 0 <= byte <= 0x3F:
            raise LocalError(f"a QoS byte is 0x00 to 0x3f, not {byte:#x}")
        self.byte = byte

    @staticmethod
    def of(
        priority: Priority = Priority.DATA,
        congestion: CongestionControl = CongestionControl.DROP,
        express: bool = False,
    ) -> QoS:
        bits = CONGESTION_BITS[congestion] | (QOS_EXPRESS if express else 0)
        return QOS_BYTES[priority | bits]

    @property
    def priority(self) -> Priority:
        return PRIORITIES[self.byte & 7]

    @property
    def congestion(self) -> CongestionControl:
        if self.byte & QOS_BLOCK:
            return CongestionControl.BLOCK
        if self.byte & QOS_BLOCK_FIRST:
            return CongestionControl.BLOCK_FIRST
        return CongestionControl.DROP

    @property
    def express(self) -> bool:
        return self.byte & QOS_EXPRESS != 0

    def __str__(self) -> str:
        express = ", express" if self.express else ""
        return f"{self.priority}, {self.congestion}{express}"

    def __repr__(self) -> str:
        return f"QoS({self.byte:#04x})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QoS) and self.byte == other.byte

    def __hash__(self) -> int:
        return self.byte


QOS_BYTES: Final = [QoS(byte) for byte in range(0x40)]

DEFAULT_QOS: Final = QOS_BYTES[DEFAULT_QOS_BYTE]
"""The QoS of a message without the extension: DATA, DROP, not express."""


def qos_of_byte(byte: int) -> QoS:
    """Bits 7 and 6 are reserved and ignored."""
    return QOS_BYTES[byte & 0x3F]


def byte_of_qos(qos: QoS) -> int:
    return qos.byte


def priority_of_byte(byte: int) -> Priority:
    """The QoS of FRAME, FRAGMENT and transport OAM: bits 7 to 3 are reserved and ignored."""
    return PRIORITIES[byte & 7]
