"""SharedSocket: one descriptor that several threads use and any of them may close.

A descriptor that is closed while another thread is about to use it may be reused for another file
before that call begins. So `close` only wakes all threads; the descriptor itself is closed when the
last of them has left.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from typing import Final

from zenlake.forks import close_after_fork

_RECEIVE_BUFFER_BYTES: Final = 4 << 20


class SharedSocket:
    """A socket, how many threads are inside a call on it, and whether it is over."""

    __slots__ = ("_gate", "_users", "is_closed", "socket")

    def __init__(self, one: socket.socket) -> None:
        self.socket = one
        self.is_closed = False
        self._users = 0
        self._gate = threading.Lock()
        close_after_fork(one)

    def enter(self) -> bool:
        """Note that a call begins; False if the socket is closed and must not be used."""
        with self._gate:
            if self.is_closed:
                return False
            self._users += 1
            return True

    def leave(self) -> None:
        with self._gate:
            self._users -= 1
            if self.is_closed and self._users == 0:
                self.socket.close()

    def wait(self, events: int, timeout_s: float) -> bool:
        """Wait for readiness; True also if the socket was closed meanwhile."""
        if not self.enter():
            return True
        try:
            poll = select.poll()
            poll.register(self.socket, events)
            return bool(poll.poll(max(0, timeout_s) * 1000))
        finally:
            self.leave()

    def close(self) -> None:
        with self._gate:
            if self.is_closed:
                return
            self.is_closed = True
            # Wakes a thread in recv or accept, even on a socket that is not connected.
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)
            if self._users == 0:
                self.socket.close()


def ask_for_room(one: socket.socket) -> None:
    """Set a large receive buffer, for datagrams that arrive while the reader is busy."""
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
