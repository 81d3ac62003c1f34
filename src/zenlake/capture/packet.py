"""Packet: one captured packet; Skipped: counts of what was not read, by reason."""

from __future__ import annotations


class Packet:
    """Bytes of the link layer, with their time and number.

    `number` counts from 1 over all files of a capture, as `packet` does in the tables and as
    other tools do. Packets with a number up to 0 are the state at the start of a recording: they
    were sent before it begins. `original_bytes` exceeds `len(data)` if a snap length cut the
    packet.
    """

    __slots__ = ("data", "interface", "link_type", "number", "original_bytes", "time_ns")

    def __init__(
        self,
        number: int,
        time_ns: int,
        link_type: int,
        data: bytes,
        original_bytes: int,
        interface: int = 0,
    ) -> None:
        self.number = number
        self.time_ns = time_ns
        self.link_type = link_type
        self.data = data
        self.original_bytes = original_bytes
        self.interface = interface

    @property
    def is_cut(self) -> bool:
        return self.original_bytes > len(self.data)

    def __repr__(self) -> str:
        return f"Packet({self.number}, {self.time_ns}, {self.link_type}, {len(self.data)} bytes)"


class Skipped:
    """Counts of what was skipped while reading, by reason: how often, and how many bytes.

    Every stage of reading counts here what it drops, so that nothing is lost silently.
    """

    __slots__ = ("bytes", "counts")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.bytes: dict[str, int] = {}

    def add(self, reason: str, bytes: int, count: int = 1) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + count
        self.bytes[reason] = self.bytes.get(reason, 0) + bytes

    def clear(self) -> None:
        self.counts.clear()
        self.bytes.clear()

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __repr__(self) -> str:
        return f"Skipped({self.counts})"
