"""Attacks over UDP, where a source address proves nothing (H10, H11).

Any address of 127.0.0.0/8 can be bound, so an attacker takes the place of as many hosts as it
likes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import time
from collections.abc import Iterable

from attacks.hostile import random_zid
from attacks.plan import Tally, Target, attack
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import Join, Scout, WhatAmI, WhatAmIMatcher, ZenohId

AMPLIFICATION_MAX = 3.0


class Sources:
    """UDP sockets on many loopback addresses that count what comes back."""

    def __init__(self, count: int, first: int = 0) -> None:
        self.sent_bytes = 0
        self.received_bytes = 0
        self.sockets: list[socket.socket] = []
        for n in range(first, first + count):
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.bind((f"127.1.{n >> 8}.{n & 255}", 0))
            one.setblocking(False)
            self.sockets.append(one)

    def towards(self, group: str) -> tuple[str, int]:
        """The address of a multicast group, which is reached over the loopback interface."""
        for one in self.sockets:
            loopback = socket.inet_aton("127.0.0.1")
            one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, loopback)
        host, _, port = group.rpartition(":")
        return host, int(port)

    def send(self, data: bytes, address: tuple[str, int], number: int) -> None:
        one = self.sockets[number % len(self.sockets)]
        with contextlib.suppress(OSError):
            one.sendto(data, address)
            self.sent_bytes += len(data)
        self._count(one)

    def flood(
        self,
        target: Target,
        tally: Tally,
        datagrams: Iterable[bytes],
        address: tuple[str, int],
        rate: int,
        in_a_row: int = 1,
    ) -> None:
        """Send so many a second until the attack is over, and note the amplification."""
        left = iter(datagrams)
        began = time.monotonic()
        while not target.is_over:
            for data in itertools.islice(left, in_a_row):
                self.send(data, address, tally.messages)
                tally.sent(data)
            target.sleep(began + tally.messages / rate - time.monotonic())
        tally.facts["amplification"] = self.amplification()

    def _count(self, one: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                self.received_bytes += len(data)

    def amplification(self) -> float:
        """Bytes that came back for each byte sent; waits a moment for the last ones."""
        time.sleep(0.3)
        for one in self.sockets:
            self._count(one)
            one.close()
        return self.received_bytes / max(1, self.sent_bytes)


def init_syn() -> bytes:
    return Opener(Offer(random_zid(), WhatAmI.CLIENT), is_lossy=True).start()


@attack(
    "udp-init-flood",
    "UDP",
    {"amplification": AMPLIFICATION_MAX, "failed_opens": 0, "grown_mib": 100},
    seconds=10.0,
    opens="udp",
)
def udp_init_flood(target: Target, tally: Tally) -> None:
    """5,000 INITs a second from 400 addresses; honest handshakes over UDP succeed."""
    inits = itertools.cycle([init_syn() for _ in range(1_000)])
    Sources(400).flood(target, tally, inits, ("127.0.0.1", target.udp_port), 5_000, in_a_row=25)


@attack("udp-tiny-inits", "UDP", {"amplification": AMPLIFICATION_MAX}, seconds=5.0)
def udp_tiny_inits(target: Target, tally: Tally) -> None:
    """The shortest INITs from addresses that do not answer: how much goes to the victim."""
    # Version 9, a client with a ZID of one byte and no sizes: 4 bytes in all.
    tiny = itertools.repeat(b"\x01\x09\x02\x01")
    Sources(200, 1_000).flood(target, tally, tiny, ("127.0.0.1", target.udp_port), 500)


@attack("udp-noise", "H05", {"amplification": 1.0, "grown_mib": 64}, seconds=8.0, opens="udp")
def udp_noise(target: Target, tally: Tally) -> None:
    """Datagrams of random bytes, of other messages and of none, from 400 addresses."""
    noise = [os.urandom(n % 300) for n in range(600)] + [b"\x04", b"", b"\x03\x00", b"\x45\x00"]
    address = ("127.0.0.1", target.udp_port)
    Sources(400, 2_000).flood(target, tally, itertools.cycle(noise), address, 4_000, in_a_row=20)


@attack(
    "scout-flood",
    "H10",
    {"amplification": AMPLIFICATION_MAX, "cpu_share": 0.6, "grown_mib": 32},
    seconds=8.0,
    needs=("scouting",),
)
def scout_flood(target: Target, tally: Tally) -> None:
    """10,000 SCOUTs a second from 400 addresses."""
    sources = Sources(400, 3_000)
    scouts = itertools.repeat(bytes(Scout(WhatAmIMatcher(7), zid=random_zid())))
    sources.flood(target, tally, scouts, sources.towards(target.group), 10_000, in_a_row=50)
    tally.facts["answered_bytes"] = sources.received_bytes


@attack("join-storm", "H11", {"grown_mib": 100}, seconds=10.0, needs=("group",))
def join_storm(target: Target, tally: Tally) -> None:
    """JOINs of 10,000 names to a group that the node listens to, from 400 addresses."""
    sources = Sources(400, 4_000)
    zids = (ZenohId(os.urandom(8) + b"\1") for _ in itertools.count())
    joins = (bytes(Join(WhatAmI.PEER, zid, 10_000, 0, 0)) for zid in zids)
    sources.flood(target, tally, joins, sources.towards(target.group), 2_000)


@attack("udp-forged-ban", "UDP", {"failed_opens": 0}, seconds=5.0, needs=("users",), opens="tcp")
def udp_forged_ban(target: Target, tally: Tally) -> None:
    """INITs without credentials in the name of 127.0.0.1 must not ban its clients."""
    init = init_syn()
    while not target.is_over:
        # Another socket, and so another port, for each: these are twelve handshakes and more.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.bind(("127.0.0.1", 0))
            one.sendto(init, ("127.0.0.1", target.udp_port))
            tally.sent(init)
        target.sleep(0.05)
