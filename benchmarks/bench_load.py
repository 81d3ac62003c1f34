"""A router under load: many active sessions, overload, and many sessions that reconnect at once.

    python benchmarks/bench_load.py [--case active overload herd] [--secs 20]

    active    1,000 sessions publish 10 messages of 100 B a second, each for one other session
    overload  three publishers offer three times the peak: what arrives, compared with the peak, and
              when the router is quick again
    herd      2,000 sessions lose their router at the same time, and reconnect with growing,
              random pauses

The router is a separate process, the sessions are sockets of this one (`ulimit -n`). In `overload`
each publisher and the subscriber are separate processes: in threads of one process the publishers
would slow the subscriber down, and its delay would count as the router's.

The peak is what arrives from one publisher that waits for the router (congestion control BLOCK), so
that nothing is dropped. Each of the three publishers, whose messages may be dropped (DROP), then
offers as much as that one sent. Where the router is the bottleneck it reads no more than it can
forward, TCP holds the publishers up, and nothing is dropped. With `--receiver-mib 100` the
subscriber reads 100 MiB a second and is the bottleneck; then the router drops the excess.
"""

from __future__ import annotations

import argparse
import select
import struct
import time

from bench_idle_sessions import Router
from bench_router import RawSession
from load_herd import herd
from load_overload import MIB, PAYLOAD_BYTES, WARM_S, overload

from zenlake.wire import Declare, DeclareSubscriber, Frame, Push, Put, WireExpr
from zenlake.wire.batch import decode_batch

DECLARED_S = 4.0
"""The time for the router to read all declarations, on a busy machine too."""
STAMP = struct.Struct("<d")


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


class Poller:
    """Reads all sockets, and measures the latency of each publication by its timestamp."""

    def __init__(self, sessions: list[RawSession]) -> None:
        self._poll = select.epoll()
        self._sessions = {one.socket.fileno(): one for one in sessions}
        for one in sessions:
            one.socket.setblocking(False)
            self._poll.register(one.socket.fileno(), select.EPOLLIN)
        self.times: list[float] = []
        self.received = 0

    def read(self, wait_s: float) -> None:
        for descriptor, _ in self._poll.poll(wait_s):
            session = self._sessions[descriptor]
            try:
                data = session.socket.recv(65_536)
            except BlockingIOError:
                continue
            now = time.monotonic()
            for batch in session.deframer.receive(data):
                for frame in decode_batch(bytes(batch)).messages:
                    for message in frame.messages if isinstance(frame, Frame) else ():
                        if isinstance(message, Push) and isinstance(message.body, Put):
                            sent_at = STAMP.unpack_from(bytes(message.body.payload))[0]
                            self.times.append(now - sent_at)
                            self.received += 1


def active(endpoint: str, router: Router, secs: float, count: int, rate: float) -> None:
    sessions = [RawSession(endpoint) for _ in range(count)]
    keys = [f"load/{number}" for number in range(count)]
    for number, session in enumerate(sessions):
        session.say(Declare(DeclareSubscriber(1, WireExpr(0, keys[(number + 1) % count]))))
    heads = [
        bytes(Push(WireExpr(0, key), Put(bytes(PAYLOAD_BYTES))))[:-PAYLOAD_BYTES] for key in keys
    ]
    rest = bytes(PAYLOAD_BYTES - STAMP.size)
    poller = Poller(sessions)
    time.sleep(DECLARED_S)
    poller.read(0)
    is_warm = False
    sent, cpu_s = 0, router.cpu_s()
    began = time.monotonic()
    while (now := time.monotonic()) < began + secs:
        due = int((now - began) * count * rate)
        while sent < due:
            at = sent % count
            sessions[at].send(heads[at] + STAMP.pack(time.monotonic()) + rest)
            sent += 1
            if sent % 20 == 0:
                poller.read(0)
        poller.read(0.001)
        if not is_warm and now > began + WARM_S:
            is_warm = True
            poller.times.clear()
    took_s = time.monotonic() - began
    share = (router.cpu_s() - cpu_s) / took_s
    deadline = time.monotonic() + 20
    while poller.received < sent and time.monotonic() < deadline:
        poller.read(0.1)
    lost = sent - poller.received
    p50, p99 = (percentile(poller.times, part) * 1e3 for part in (0.5, 0.99))
    print(
        f"active: {count:,} sessions, {sent / took_s:,.0f} messages a second,"
        f" {lost} of {sent:,} lost, p50 {p50:.1f} ms, p99 {p99:.1f} ms, {share:.2f} of a core,"
        f" {router.resident_bytes() / MIB:.0f} MiB",
        flush=True,
    )
    for one in sessions:
        one.socket.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cases = ("active", "overload", "herd")
    parser.add_argument("--case", nargs="+", choices=cases, default=cases)
    parser.add_argument("--secs", type=float, default=20.0)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--rate", type=float, default=10.0, help="messages a second of each")
    parser.add_argument("--clients", type=int, default=2_000, help="of the herd")
    parser.add_argument(
        "--receiver-mib", type=float, default=0.0, help="a second, in overload; 0: all there are"
    )
    parser.add_argument("--port", type=int, default=17_448)
    arguments = parser.parse_args()
    endpoint = f"tcp/127.0.0.1:{arguments.port}"
    for case in arguments.case:
        router = Router(arguments.port, 2 * arguments.clients)
        try:
            if case == "active":
                active(endpoint, router, arguments.secs, arguments.sessions, arguments.rate)
            elif case == "overload":
                overload(endpoint, router, arguments.secs, arguments.receiver_mib * MIB)
            else:
                herd(arguments.port, router, arguments.clients)
        finally:
            router.end()


if __name__ == "__main__":
    main()
