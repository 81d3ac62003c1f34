"""`Asker`: a client on a bare socket that sees whether each REQUEST gets one RESPONSE_FINAL.

Sessions of an API end a query by themselves at its timeout, so they cannot tell. If the router
dies the requests of the session die with it; the asker connects anew.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections import Counter

from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    Frame,
    Query,
    QueryTarget,
    Request,
    ResponseFinal,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.batch import decode_batch
from zenlake.wire.framing import StreamDeframer, frame_batch
from zenlake.wire.sequence import next_sn

TIMEOUT_MS = 1_000
FINAL_S = 15.0
"""The time for a final to arrive after the timeout: a router may be paused, the machine busy."""
ASK_S = 0.05
READ_S = 0.02
LEASE_MS = 60_000
KEEP_ALIVE = frame_batch(b"\x04")


class Asker:
    """Sends queries until it is stopped; `counts` has the outcomes."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._is_over = threading.Event()
        self.counts: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for the last finals."""
        self._is_over.set()
        self._thread.join(TIMEOUT_MS / 1000 + FINAL_S + 10)

    def _run(self) -> None:
        while not self._is_over.is_set():
            with contextlib.suppress(OSError, ConnectionError):
                self._converse()
            self._is_over.wait(0.2)

    def _converse(self) -> None:
        """One session, until its link ends."""
        link = _Link(self._port)
        self.counts["asker_sessions"] += 1
        open_requests: dict[int, float] = {}
        ended: set[int] = set()
        request_id = 0
        next_at = 0.0
        try:
            while True:
                now = time.monotonic()
                if not self._is_over.is_set() and now >= next_at:
                    request_id += 1
                    next_at = now + ASK_S
                    open_requests[request_id] = now
                    self.counts["requests"] += 1
                    link.ask(request_id)
                self._note_finals(link.finals(), open_requests, ended)
                self._note_missing(open_requests)
                if self._is_over.is_set() and not open_requests:
                    return
        finally:
            self.counts["requests_cut"] += len(open_requests)
            link.close()

    def _note_finals(
        self, finals: list[int], open_requests: dict[int, float], ended: set[int]
    ) -> None:
        for id in finals:
            if id in ended:
                self.counts["second_finals"] += 1
            elif open_requests.pop(id, None) is None:
                self.counts["unknown_finals"] += 1
            else:
                self.counts["finals"] += 1
            ended.add(id)

    def _note_missing(self, open_requests: dict[int, float]) -> None:
        latest = time.monotonic() - TIMEOUT_MS / 1000 - FINAL_S
        for id in [id for id, asked in open_requests.items() if asked < latest]:
            del open_requests[id]
            self.counts["missing_finals"] += 1


class _Link:
    """An open session of a client."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self._deframer = StreamDeframer()
        self._sent_at = 0.0
        opener = Opener(Offer(ZenohId(os.urandom(8) + b"\1"), WhatAmI.CLIENT, lease_ms=LEASE_MS))
        try:
            self._socket.sendall(frame_batch(opener.start()))
            while opener.agreed is None:
                for batch in self._deframer.receive(self._read()):
                    answer = opener.receive(batch)
                    if answer is not None:
                        self._socket.sendall(frame_batch(answer))
        except BaseException:
            self._socket.close()
            raise
        self._sn = opener.agreed.own_sn
        self._sn_mask = opener.agreed.sn_mask
        self._socket.settimeout(READ_S)

    def ask(self, id: int) -> None:
        request = Request(
            id, WireExpr(0, "chaos/query/*"), Query(), target=QueryTarget.ALL, timeout_ms=TIMEOUT_MS
        )
        header = bytes(Frame(self._sn, []))
        self._sn = next_sn(self._sn, self._sn_mask)
        self._socket.settimeout(5)
        self._socket.sendall(frame_batch(header + bytes(request)))
        self._socket.settimeout(READ_S)
        self._sent_at = time.monotonic()

    def finals(self) -> list[int]:
        """The requests that ended, or end within a moment."""
        if time.monotonic() - self._sent_at > LEASE_MS / 8000:
            self._socket.sendall(KEEP_ALIVE)
            self._sent_at = time.monotonic()
        found: list[int] = []
        try:
            data = self._read()
        except TimeoutError:
            return found
        for batch in self._deframer.receive(data):
            for transport in decode_batch(bytes(batch)).messages:
                if isinstance(transport, Frame):
                    for message in transport.messages:
                        if isinstance(message, ResponseFinal):
                            found.append(message.request_id)
        return found

    def close(self) -> None:
        self._socket.close()

    def _read(self) -> bytes:
        data = self._socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the router closed the connection")
        return data
