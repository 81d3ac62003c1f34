"""Pending: the bytes of a unit that is not whole yet, and the packets that brought them."""

from __future__ import annotations


class Pending:
    """Chunks are joined once there are enough, so that long units are not copied often."""

    __slots__ = ("_chunks", "_need", "_packets", "have", "time_ns")

    def __init__(self) -> None:
        self._chunks: list[bytes] | None = None
        self._packets: list[int] | None = None
        """None while nothing is pending: a capture may have very many connections."""
        self._need = 0
        self.have = 0
        self.time_ns = 0
        """Of the packet that came last."""

    def start(self, data: bytes, packet: int, time_ns: int, need: int) -> None:
        """The beginning of a unit; at least `need` bytes are of use."""
        self._chunks = [data]
        self._packets = [packet]
        self.have = len(data)
        self.time_ns = time_ns
        self._need = need

    def add(self, data: bytes, packet: int, time_ns: int) -> bool:
        """More of the unit that was started; whether there is enough now."""
        if self._chunks is None or self._packets is None:
            raise RuntimeError("no unit was started")
        self._chunks.append(data)
        self._packets.append(packet)
        self.have += len(data)
        self.time_ns = time_ns
        return self.have >= self._need

    def pop(self) -> bytes:
        """All there is; nothing is pending any more."""
        data = b"".join(self._chunks or ())
        self._chunks = self._packets = None
        self.have = self._need = 0
        return data

    def packets(self) -> tuple[int, ...]:
        return tuple(self._packets or ())

    def earlier(self) -> tuple[int, ...]:
        """The packets before the one that made it enough."""
        return self.packets()[:-1]
