"""Routers of zenlake and eclipse-zenoh compared: rates, latencies, processor time per message.

    python benchmarks/bench_router.py [--rounds 5] [--secs 1.0] [--only raw-8 8B ...]

The same clients use both routers alternately, in another order every round. In cases named
`raw-...` the clients are sockets that send the same full batches repeatedly, like the fastest
publishers, and count the bytes that arrive; in the others they are sessions of eclipse-zenoh.
Congestion control is BLOCK, so every message must arrive.

`router, CPU us` is the processor time of the router per message that it delivered.
"""

from __future__ import annotations

import argparse
import os
import select
import socket
import statistics
import threading
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection
from typing import Any

from bench_session import (
    KEY,
    OURS,
    THEIRS,
    WARM_UP_SECS,
    Act,
    Case,
    Node,
    Report,
    matched_publisher,
    now,
    ping,
    pong,
    publisher,
    querier,
    queryable,
    repeated_puts,
    router,
    subscriber,
)
from processes import free_endpoint

from zenlake._compiled import is_compiled
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    CongestionControl,
    Declare,
    DeclareSubscriber,
    Frame,
    NetworkMessage,
    Push,
    Put,
    QoS,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.framing import StreamDeframer, frame_batch
from zenlake.wire.sequence import next_sn

BLOCK = QoS.of(congestion=CongestionControl.BLOCK)
HEADER_BYTES = 16
"""More bytes than a batch needs around its messages."""
RECEIVE_BYTES = 1 << 19


class RawSession:
    """A socket with an open client session."""

    def __init__(self, endpoint: str) -> None:
        host, _, port = endpoint.partition("/")[2].rpartition(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.deframer = StreamDeframer()
        opener = Opener(Offer(ZenohId(os.urandom(8) + b"\1"), WhatAmI.CLIENT, lease_ms=600_000))
        self.socket.sendall(frame_batch(opener.start()))
        while opener.agreed is None:
            for batch in self.deframer.receive(self.socket.recv(65_536)):
                answer = opener.receive(batch)
                if answer is not None:
                    self.socket.sendall(frame_batch(answer))
        self.batch_bytes = opener.agreed.batch_size - HEADER_BYTES
        self._sn = opener.agreed.own_sn
        self._sn_mask = opener.agreed.sn_mask

    def send(self, content: bytes) -> None:
        header = bytes(Frame(self._sn, []))
        self._sn = next_sn(self._sn, self._sn_mask)
        self.socket.sendall(frame_batch(header + content))

    def say(self, message: NetworkMessage) -> None:
        self.send(bytes(message))


@dataclass(frozen=True)
class RawCase:
    name: str
    size: int = 8
    publishers: int = 1
    subscribers: int = 1


def raw_publishers(endpoint: str, case: RawCase) -> Act:
    """Full batches of equal publications, by one session after the other."""
    sessions = [RawSession(endpoint) for _ in range(case.publishers)]
    message = bytes(Push(WireExpr(0, KEY), Put(bytes(case.size)), BLOCK))
    in_a_batch = max(1, sessions[0].batch_bytes // len(message))
    content = message * in_a_batch
    sent = 0

    def act(seconds: float) -> Report:
        nonlocal sent
        begun = now()
        while now() < begun + seconds:
            for session in sessions:
                session.send(content)
            sent += in_a_batch * len(sessions)
        return {"count": sent, "begun": begun}

    return act


def raw_subscribers(endpoint: str, case: RawCase) -> Act:
    """Count messages by bytes: the first one is decoded for its size."""
    sessions = [RawSession(endpoint) for _ in range(case.subscribers)]
    for session in sessions:
        session.say(Declare(DeclareSubscriber(1, WireExpr(0, KEY))))
    found = {session.socket.fileno(): session for session in sessions}
    count = 0
    at = 0.0
    message_bytes = 0

    def read() -> None:
        nonlocal count, at, message_bytes
        poll = select.epoll()
        for descriptor in found:
            poll.register(descriptor, select.EPOLLIN)
        while True:
            for descriptor, _ in poll.poll():
                session = found[descriptor]
                for batch in session.deframer.receive(session.socket.recv(RECEIVE_BYTES)):
                    if len(batch) <= 1:
                        continue
                    message_bytes = message_bytes or size_of_push(batch)
                    count += len(batch) // message_bytes if message_bytes else 0
                at = now()

    threading.Thread(target=read, daemon=True).start()
    return lambda seconds: {"count": count, "at": at}


def size_of_push(batch: bytes) -> int:
    from zenlake.wire import decode_batch

    for frame in decode_batch(batch).messages:
        if isinstance(frame, Frame):
            for message in frame.messages:
                if isinstance(message, Push):
                    return len(bytes(message))
    return 0


RAW_ROLES = {"publishers": raw_publishers, "subscribers": raw_subscribers}


def run_raw(connection: Connection, role: str, endpoint: str, case: RawCase) -> None:
    act = RAW_ROLES[role](endpoint, case)
    while (seconds := connection.recv()) is not None:
        connection.send(act(seconds))
    os._exit(0)


class RawNode(Node):
    """A process with its own sockets."""

    def __init__(self, role: str, endpoint: str, case: RawCase) -> None:
        self._start(run_raw, role, endpoint, case)


def express_publisher(zenoh: Any, session: Any, case: Case) -> Act:
    put = matched_publisher(zenoh, session, KEY, express=True).put
    return repeated_puts(put, bytes(case.size), 100)


CASES: tuple[RawCase | Case, ...] = (
    RawCase("raw-8"),
    RawCase("raw-1KiB", 1 << 10),
    RawCase("raw-fan-out-100", subscribers=100),
    RawCase("raw-fan-in-100", publishers=100),
    Case("8B", (publisher, subscriber)),
    Case("8B-unbatched", (express_publisher, subscriber)),
    Case("1KiB", (publisher, subscriber), 1 << 10, shared_memory=False),
    Case("32KiB", (publisher, subscriber), 32 << 10, shared_memory=False),
    Case("ping", (ping, pong)),
    Case("get", (querier, queryable)),
)


def measure(module: str, case: RawCase | Case, seconds: float) -> Report:
    endpoint = free_endpoint()
    served = case if isinstance(case, Case) else Case(case.name, (router, router))
    with Node(module, router, endpoint, served) as forwarder:
        forwarder.act()
        if isinstance(case, RawCase):
            passive: Node = RawNode("subscribers", endpoint, case)
            passive.act()
            active: Node = RawNode("publishers", endpoint, case)
            copies = case.subscribers
        else:
            active, passive = (Node(THEIRS, role, endpoint, case) for role in case.roles)
            copies = 1
        with active, passive:
            sent = active.act(WARM_UP_SECS)["count"]
            before = passive.report_when_received(sent * copies)
            cpu = forwarder.act()["cpu"]
            result = active.act(seconds)
            after = passive.report_when_received(result["count"] * copies)
            cpu = forwarder.act()["cpu"] - cpu
    if "rate" in result:
        times = {f"{name}, us": result[name] * 1e6 for name in ("p50", "p99")}
        return {**times, "router, CPU us": cpu / (result["count"]) * 1e6}
    received = after["count"] - before["count"]
    if after["count"] != result["count"] * copies:
        raise RuntimeError(f"{case.name}: {result['count'] * copies} sent, {after['count']} came")
    return {
        "rate, 1/s": received / (after["at"] - result["begun"]),
        "router, CPU us": cpu / received * 1e6,
    }


def print_row(case: RawCase | Case, rounds: list[dict[str, Report]]) -> None:
    for figure in rounds[0][OURS]:
        ours, theirs = (
            statistics.median(one[name][figure] for one in rounds) for name in (OURS, THEIRS)
        )
        print(
            f"{case.name:<18}{figure:<18}{ours:>14,.2f}{theirs:>14,.2f}{ours / theirs:>9.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [one.name for one in CASES]
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=float, default=1.0)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    arguments = parser.parse_args()
    kind = "compiled" if is_compiled() else "plain"
    print(f"zenlake {version('zenlake')} ({kind}), eclipse-zenoh {version('eclipse-zenoh')}")
    print(f"{'case':<18}{'figure':<18}{'ours':>14}{'theirs':>14}{'ratio':>9}")
    for case in CASES:
        if case.name not in arguments.only:
            continue
        rounds = []
        for number in range(arguments.rounds):
            order = (OURS, THEIRS) if number % 2 else (THEIRS, OURS)
            rounds.append({name: measure(name, case, arguments.secs) for name in order})
        print_row(case, rounds)


if __name__ == "__main__":
    main()
