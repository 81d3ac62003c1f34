"""A pair of links within the process."""

from __future__ import annotations

import threading
from collections import deque

from zenlake.links.link import Link, LinkError, LinkTimeout


class MemoryLink(Link):
    """One end of a pair; what is sent here is received at the other end."""

    protocol = "memory"

    def __init__(self, name: str, other_name: str, is_stream: bool, room_bytes: int) -> None:
        self.src = f"memory/{name}"
        self.dst = f"memory/{other_name}"
        self.is_stream = is_stream
        self.is_reliable = is_stream
        self.mtu = 65_535
        self.interfaces: list[str] = []
        self.other: MemoryLink = self
        self._room_bytes = room_bytes
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_closed = False
        self._changed = threading.Condition()

    def receive(self, timeout_s: float | None = None) -> bytes:
        with self._changed:
            if not self._changed.wait_for(self._has_news, timeout_s):
                raise LinkTimeout(self.dst, f"nothing received in {timeout_s:.3g} s")
            if not self._waiting:
                return b""
            if self.is_stream:
                data = b"".join(self._waiting)
                self._waiting.clear()
            else:
                data = self._waiting.popleft()
            self._waiting_bytes -= len(data)
            self._changed.notify_all()
            return data

    def _has_news(self) -> bool:
        return bool(self._waiting) or self._is_closed

    def try_send(self, data: bytes) -> int:
        if self._is_closed:
            raise LinkError(self.dst, "the link is closed")
        other = self.other
        with other._changed:
            room = other._room_bytes - other._waiting_bytes
            taken = min(len(data), room) if self.is_stream else len(data)
            if taken <= 0 or taken > room:
                return 0
            other._waiting.append(data[:taken])
            other._waiting_bytes += taken
            other._changed.notify_all()
            return taken

    def wait_writable(self, timeout_s: float) -> bool:
        other = self.other
        with other._changed:
            return other._changed.wait_for(
                lambda: other._is_closed or other._waiting_bytes < other._room_bytes, timeout_s
            )

    def close(self) -> None:
        for end in (self, self.other):
            with end._changed:
                end._is_closed = True
                end._changed.notify_all()


def memory_pair(is_stream: bool = True, room_bytes: int = 1 << 20) -> tuple[MemoryLink, MemoryLink]:
    """Two connected links; each direction buffers `room_bytes`."""
    left = MemoryLink("left", "right", is_stream, room_bytes)
    right = MemoryLink("right", "left", is_stream, room_bytes)
    left.other = right
    right.other = left
    return left, right
