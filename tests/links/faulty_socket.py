"""A socket whose calls fail as often as a test wants, and then work."""

from __future__ import annotations

import os
import socket
from typing import Any


class FaultySocket:
    """`faults` has, by the name of a call, its error code and how often it fails."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real
        self.faults: dict[str, tuple[int, int]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def _fail(self, call: str) -> None:
        code, count = self.faults.get(call, (0, 0))
        if count > 0:
            self.faults[call] = (code, count - 1)
            raise OSError(code, os.strerror(code))

    def accept(self) -> object:
        self._fail("accept")
        return self._real.accept()

    def recv(self, *arguments: int) -> bytes:
        self._fail("receive")
        return self._real.recv(*arguments)

    def recvfrom(self, *arguments: int) -> object:
        self._fail("receive")
        return self._real.recvfrom(*arguments)

    def send(self, data: bytes, *arguments: int) -> int:
        self._fail("send")
        return self._real.send(data, *arguments)

    def sendto(self, data: bytes, *arguments: Any) -> int:
        self._fail("send")
        return self._real.sendto(data, *arguments)


def make_faulty(owner: Any) -> FaultySocket:
    """Put a FaultySocket between a link or listener and its socket."""
    faulty = FaultySocket(owner._shared.socket)
    owner._shared.socket = faulty
    if hasattr(owner, "_socket"):
        owner._socket = faulty
    return faulty
