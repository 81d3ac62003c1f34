"""A tap: forwards the bytes of TCP connections, and keeps them as a capture."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tests.capture.headers import ethernet, packet
from tests.capture.tcp_packets import TcpPackets
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.capture.transport import ACK, FIN, SYN

_SEGMENT_BYTES = 32_000
_KEEP_ALIVE = b"\x01\x00\x04"


class Recording:
    """A capture that one or more taps write."""

    def __init__(self, path: Path) -> None:
        self.lock = threading.RLock()
        self.taps = 0
        self._file = path.open("wb")
        self._writer = PcapngWriter(self._file)
        self.count = 0
        self.activity = 0
        """The reads of all taps, without those of a single KEEP_ALIVE."""

    def until_quiet(self, quiet_s: float = 0.3) -> None:
        """Wait until no tap has received anything for so long.

        eclipse-zenoh does not report that a declaration or a publication has reached all nodes.
        """
        before = -1
        while before != self.activity:
            before = self.activity
            time.sleep(quiet_s)

    def write(self, frame: bytes) -> None:
        with self.lock:
            self.count += 1
            self._writer.write(packet(frame, 1, self.count, time.time_ns()))

    def close(self) -> None:
        with self.lock:
            self._file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class RecordedConnection:
    """The two directions of a connection as segments."""

    def __init__(self, tap: Tap, port: int) -> None:
        self._recording = tap.recording
        self._packets = TcpPackets((port, 7447), tap.hosts)
        self._write(0, b"", SYN)
        self._write(1, b"", SYN | ACK)
        self._write(0, b"", ACK)

    def add(self, direction: int, data: bytes) -> None:
        if data != _KEEP_ALIVE:
            self._recording.activity += 1
        for start in range(0, len(data), _SEGMENT_BYTES):
            self._write(direction, data[start : start + _SEGMENT_BYTES], ACK)

    def end(self, direction: int) -> None:
        self._write(direction, b"", FIN | ACK)

    def _write(self, direction: int, data: bytes, flags: int) -> None:
        with self._recording.lock:
            self._recording.write(ethernet(self._packets.packet(direction, data, flags)))


class Tap:
    """Forwards connections from `port` to `target`; the file is complete when the tap is closed.

    Taps that share a recording have addresses of their own in it.
    """

    def __init__(self, where: Path | Recording, target: int) -> None:
        self.recording = where if isinstance(where, Recording) else Recording(where)
        self._owns_recording = self.recording is not where
        number = self.recording.taps
        self.recording.taps += 1
        self.hosts = (f"10.0.{number}.1", f"10.0.{number}.2")
        self._cutting = threading.Lock()
        self._is_cut = False
        self._target = target
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._start(self._accept)

    def until_quiet(self, quiet_s: float = 0.3) -> None:
        self.recording.until_quiet(quiet_s)

    def cut(self) -> None:
        """Ends all connections, and every new one at once, until `heal`."""
        with self._cutting:
            self._is_cut = True
            for one in self._sockets:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def heal(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        for one in (self._server, *self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join(5)
        if self._owns_recording:
            self.recording.close()

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                near, address = self._server.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # the target does not listen at the moment
                near.close()
                continue
            for one in (near, far):  # else short messages wait for acknowledgements
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._cutting:
                if self._is_cut:
                    near.close()
                    far.close()
                    continue
                self._sockets += [near, far]
            talk = RecordedConnection(self, address[1])
            self._start(self._pass_on, near, far, talk, 0)
            self._start(self._pass_on, far, near, talk, 1)

    def _pass_on(
        self, source: socket.socket, target: socket.socket, talk: RecordedConnection, direction: int
    ) -> None:
        try:
            while data := source.recv(65536):
                talk.add(direction, data)
                target.sendall(data)
            talk.end(direction)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
