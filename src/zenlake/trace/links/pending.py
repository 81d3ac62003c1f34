"""Pending: the bytes of an incomplete unit, and the packets that carried them."""

from __future__ import annotations


class Pending:
    """Keeps chunks, and joins them when enough bytes have arrived: long units are copied rarely."""

    __slots__ = ("_chunks", "_need", "_packets", "have", "time_ns")

    def __init__(self) -> None:
        self._chunks: list[bytes] | None = None
        self._packets: list[int] | None = None
        """None while nothing is pending, because a capture may have very many connections."""
        self._need = 0
        self.have = 0
        self.time_ns = 0
        """The time of the last packet."""

    def start(self, data: bytes, packet: int, time_ns: int, need: int) -> None:
        """Starts a unit that has at least `need` bytes."""
        self._chunks = [data]
        self._packets = [packet]
        self.have = len(data)
        self.time_ns = time_ns
        self._need = need

    def add(self, data: bytes, packet: int, time_ns: int) -> bool:
        """Adds bytes of the unit; returns whether there are enough."""
        if self._chunks is None or self._packets is None:
            raise RuntimeError("no unit was started")
        self._chunks.append(data)
        self._packets.append(packet)
        self.have += len(data)
        self.time_ns = time_ns
        return self.have >= self._need

    def pop(self) -> bytes:
        """Removes all bytes and returns them."""
        data = b"".join(self._chunks or ())
        self._chunks = self._packets = None
        self.have = self._need = 0
        return data

    def packets(self) -> tuple[int, ...]:
        return tuple(self._packets or ())

    def earlier(self) -> tuple[int, ...]:
        """The packets before the last one."""
        return self.packets()[:-1]
