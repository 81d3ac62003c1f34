"""`Proxy`: a TCP link between two routers that can be cut or stalled."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

_READ_BYTES = 1 << 16
_RESET = struct.pack("ii", 1, 0)


class Proxy:
    """Forwards connections from `port` to `target` while the link is neither cut nor stalled."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._is_cut = False
        self._flows = threading.Event()
        """Cleared while the link is stalled: bytes are neither forwarded nor lost."""
        self._flows.set()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections with RST; new ones are refused in the same way."""
        with self._lock:
            self._is_cut = True
            ended, self._sockets = self._sockets, set()
        for one in ended:
            _end(one)

    def stall(self) -> None:
        """Forward nothing; the system still acknowledges received bytes, so no side notices."""
        self._flows.clear()

    def heal(self) -> None:
        self._is_cut = False
        self._flows.set()

    def close(self) -> None:
        self._server.close()
        self.cut()
        self._flows.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        self._flows.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
        except OSError:
            _end(near)
            return
        far.settimeout(None)
        with self._lock:
            is_cut = self._is_cut
            if not is_cut:
                self._sockets |= {near, far}
        if is_cut:
            _end(near)
            _end(far)
            return
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._pass_on, args=(near, far), daemon=True).start()
        self._pass_on(far, near)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_READ_BYTES):
                self._flows.wait()
                target.sendall(data)
        with self._lock:
            self._sockets -= {source, target}
        for one in (source, target):
            _end(one)


def _end(one: socket.socket) -> None:
    """Close a socket and wake its reader, which closing alone does not."""
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        one.shutdown(socket.SHUT_RDWR)
    one.close()
