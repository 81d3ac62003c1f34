"""Attacks on open sessions as streams of bytes: deaf readers, odd leases, framing (H06 to H12)."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import struct
import threading

from attacks.hostile import KEEP_ALIVE, HostileClient
from attacks.plan import Tally, Target, attack
from zenlake.wire import (
    CongestionControl,
    DeclareSubscriber,
    Fragment,
    Oam,
    Priority,
    Push,
    Put,
    QoS,
    WireExpr,
)
from zenlake.wire.framing import frame_batch


@attack("deaf-reader", "H07", {"grown_mib": 48}, seconds=15.0)
def deaf_reader(target: Target, tally: Tally) -> None:
    """100 MB are published for a subscriber that reads nothing."""
    deaf = HostileClient(target, tally, is_deaf=True)
    publisher = HostileClient(target, tally)
    deaf.declare([DeclareSubscriber(1, WireExpr(0, "flood"))])
    put = bytes(Push(WireExpr(0, "flood"), Put(bytes(10_000))))
    while not target.is_over and publisher.send([put] * 4):
        target.sleep(0.004)
    deaf.close(is_reset=True)


@attack("blocked-reader", "H07", {"grown_mib": 48}, seconds=15.0)
def blocked_reader(target: Target, tally: Tally) -> None:
    """The same with congestion control BLOCK: the publisher waits, nobody else does."""
    deaf = HostileClient(target, tally, is_deaf=True)
    publishers = [HostileClient(target, tally) for _ in range(4)]
    deaf.declare([DeclareSubscriber(1, WireExpr(0, "flood"))])
    block = QoS.of(congestion=CongestionControl.BLOCK)
    put = bytes(Push(WireExpr(0, "flood"), Put(bytes(10_000)), block))
    while not target.is_over:
        for one in publishers:
            one.send([put] * 4)
        target.sleep(0.004)
    deaf.close(is_reset=True)


@attack("deaf-readers", "H07", {"grown_mib": 300}, seconds=15.0)
def deaf_readers(target: Target, tally: Tally) -> None:
    """100 sessions that read nothing and subscribe to everything."""
    deaf = [HostileClient(target, tally, is_deaf=True) for _ in range(target.scaled(30, 100))]
    for one in deaf:
        one.declare([DeclareSubscriber(1, WireExpr(0, "flood/**"))])
    publisher = HostileClient(target, tally)
    put = bytes(Push(WireExpr(0, "flood/x"), Put(bytes(20_000))))
    while not target.is_over and publisher.send([put]):
        target.sleep(0.02)
    for one in deaf:
        one.close(is_reset=True)


@attack("unread-samples", "memory", {"grown_mib": 512}, seconds=15.0, needs=("subscriber",))
def unread_samples(target: Target, tally: Tally) -> None:
    """80 samples of 40 MiB for a subscriber of the node's own application that reads none."""
    publisher = HostileClient(target, tally)
    size = target.scaled(4 << 20, 40 << 20)
    put = Push(WireExpr(0, "unread"), Put(bytes(size)))
    for _ in range(80):
        if target.is_over or not publisher.send_large(put):
            break
    publisher.close(is_reset=True)


@attack("odd-leases", "H08", {"cpu_share": 0.12}, seconds=8.0)
def odd_leases(target: Target, tally: Tally) -> None:
    """Leases of 1 ms, of 584 million years and others, and KEEP_ALIVE only."""
    clients: list[HostileClient] = []
    for lease_ms in (1, 2, 10, 1 << 32, (1 << 64) - 1, (1 << 63) + 1):
        with contextlib.suppress(Exception):
            clients.append(HostileClient(target, tally, lease_ms=lease_ms))
    while not target.is_over:
        for one in clients:
            with contextlib.suppress(OSError):
                one.send_raw(KEEP_ALIVE)
        target.sleep(0.02)


@attack("keep-alive-flood", "H08, H12", {"grown_mib": 16}, seconds=8.0)
def keep_alive_flood(target: Target, tally: Tally) -> None:
    """KEEP_ALIVE and empty batches as fast as they can be written, from four sessions."""
    many = KEEP_ALIVE * 5_000 + bytes(10_000)

    def flood(client: HostileClient) -> None:
        with contextlib.suppress(OSError):
            while not target.is_over:
                client.send_raw(many, 10_000)

    clients = [HostileClient(target, tally) for _ in range(4)]
    threads = [threading.Thread(target=flood, args=(one,)) for one in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@attack("put-flood", "H12", {"grown_mib": 64}, seconds=10.0)
def put_flood(target: Target, tally: Tally) -> None:
    """Publications that nobody wants, as fast as they can be written, from ten sessions."""
    clients = [HostileClient(target, tally) for _ in range(10)]
    puts = [bytes(Push(WireExpr(0, f"nobody/{n}"), Put(b""))) for n in range(1_000)]

    def flood(client: HostileClient) -> None:
        while not target.is_over and client.send(puts):
            pass

    threads = [threading.Thread(target=flood, args=(one,)) for one in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@attack("single-bytes", "H12", seconds=8.0)
def single_bytes(target: Target, tally: Tally) -> None:
    """Batches that come byte by byte, in 50 sessions."""
    clients = [HostileClient(target, tally) for _ in range(50)]
    put = bytes(Push(WireExpr(0, "slow/bytes"), Put(bytes(200))))
    streams = [one.next_frame(put) for one in clients]
    for n in itertools.count():
        if target.is_over:
            break
        for one, stream in zip(clients, streams, strict=True):
            with contextlib.suppress(OSError):
                one.send_raw(stream[n % len(stream) :][:1], 0)


@attack("open-fragments", "F04", {"grown_mib": 560}, seconds=15.0)
def open_fragments(target: Target, tally: Tally) -> None:
    """First fragments without a last one, in every channel of 200 sessions."""
    piece = bytes(30_000)
    clients = []
    with contextlib.suppress(OSError):
        for _ in range(target.scaled(30, 200)):
            if target.is_over:
                break
            client = HostileClient(target, tally)
            clients.append(client)
            for priority in Priority:
                for reliable in (True, False):
                    for n in (0, 1):
                        fragment = Fragment(client.sn + n, piece, reliable, True, priority, n == 0)
                        client.send_raw(frame_batch(bytes(fragment)))
    target.sleep(2.0)
    for one in clients:
        one.close()


@attack("garbage", "H04, C02", {"files_left": 0, "threads_left": 0}, seconds=10.0)
def garbage(target: Target, tally: Tally) -> None:
    """Open sessions that send bytes without sense, mutated messages and link states."""
    chance = random.Random(5)
    samples = [
        bytes(Push(WireExpr(0, "a/b"), Put(b"x" * 40))),
        bytes(Oam(1, body=os.urandom(200))),
        bytes(Push(WireExpr(3, "/**"), Put(b""))),
    ]
    while not target.is_over:
        with contextlib.suppress(OSError, ConnectionError):
            client = HostileClient(target, tally)
            for _ in range(20):
                data = bytearray(chance.choice(samples) * 10)
                for _ in range(3):
                    data[chance.randrange(len(data))] = chance.randrange(256)
                client.send_raw(client.next_frame(bytes(data)))
            client.send_raw(struct.pack("<H", 1_000) + chance.randbytes(1_000))
            client.close(is_reset=chance.random() < 0.5)
