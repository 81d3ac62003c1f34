"""`zenlake router --record` as a process, and a client that publishes numbers to it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Frame,
    Push,
    Put,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.framing import StreamDeframer, frame_batch
from zenlake.wire.message import NetworkMessage
from zenlake.wire.sequence import next_sn


class RouterProcess:
    """The real command; `port` once it listens."""

    def __init__(self, folder: Path, *options: str) -> None:
        begun = time.monotonic()
        command = [sys.executable, "-m", "zenlake", "router", "-l", "tcp/127.0.0.1:0"]
        command += ["--no-multicast-scouting", "--record", str(folder), *options]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines: list[str] = []
        self._listens = threading.Event()
        self.port = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listens.wait(30):
            self.kill()
            raise AssertionError(self.lines)
        self.started_s = time.monotonic() - begun

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            found = re.search(r"reachable at tcp/127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                self._listens.set()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._end()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(30)
        self._end()
        return code

    def _end(self) -> None:
        self._reader.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()


class NumberPublisher:
    """Publishes numbers at a rate; `sent` has the time of each batch and its last number."""

    def __init__(self, port: int, first: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        deframer = StreamDeframer()
        opener = Opener(Offer(ZenohId(os.urandom(8) + b"\1"), WhatAmI.CLIENT, lease_ms=60_000))
        self._socket.sendall(frame_batch(opener.start()))
        while opener.agreed is None:
            for batch in deframer.receive(self._socket.recv(65_536)):
                answer = opener.receive(batch)
                if answer is not None:
                    self._socket.sendall(frame_batch(answer))
        self._sn, self._mask = opener.agreed.own_sn, opener.agreed.sn_mask
        self.next = first
        self.sent: list[tuple[float, int]] = []
        self._send([Declare(DeclareKeyExpr(1, WireExpr(0, "robot")))])

    def _send(self, messages: list[NetworkMessage]) -> None:
        self._socket.sendall(frame_batch(bytes(Frame(self._sn, messages))))
        self._sn = next_sn(self._sn, self._mask)

    def run(self, seconds: float, rate: int, in_a_batch: int = 100) -> None:
        """Publish until the time is over or the link ends."""
        begun = time.monotonic()
        try:
            for number in range(int(seconds * rate / in_a_batch)):
                due = begun + number * in_a_batch / rate
                time.sleep(max(0.0, due - time.monotonic()))
                values = range(self.next, self.next + in_a_batch)
                self._send([Push(WireExpr(1), Put(one.to_bytes(8, "big"))) for one in values])
                self.next += in_a_batch
                self.sent.append((time.monotonic(), self.next - 1))
        except OSError:
            pass  # the router was killed

    def close(self) -> None:
        self._socket.close()
