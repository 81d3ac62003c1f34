"""Attacks before a session is open: connections that hold places, cost work or lie (H01 to H15)."""

from __future__ import annotations

import contextlib
import random
import select
import socket
import time
from typing import Any

from attacks.hostile import SOURCE, connect, is_ended, random_zid, reset
from attacks.plan import Tally, Target, attack
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import Frame, Init, Join, Open, Resolution, WhatAmI, ZenohId, decode_batch
from zenlake.wire.framing import StreamDeframer, frame_batch


@attack("slow-handshakes", "H01", {"closed_after_s": 11}, seconds=13.0, opens="tcp")
def slow_handshakes(target: Target, tally: Tally) -> None:
    """100 connections send one byte a second; the node closes all within 10 s."""
    began = time.monotonic()
    connections = [connect(target) for _ in range(100)]
    while connections and not target.is_over:
        for one in connections:
            with contextlib.suppress(OSError):
                one.send(b"\xff")
                tally.sent(b"\xff")
        next_at = time.monotonic() + 1.0
        while connections and (left_s := next_at - time.monotonic()) > 0 and not target.is_over:
            # The node sends nothing: only the end of the connection can be read.
            for one in select.select(connections, [], [], left_s)[0]:
                connections.remove(one)
                one.close()
                tally.highest("closed_after_s", time.monotonic() - began)
    if connections and not target.is_quick:
        tally.facts["closed_after_s"] = 999
    for one in connections:
        one.close()


@attack(
    "silent-connections",
    "H02",
    {"grown_mib": 100, "files_peak": 130, "files_left": 0, "threads_left": 0},
    seconds=11.0,
    opens="tcp",
)
def silent_connections(target: Target, tally: Tally) -> None:
    """500 connections a second that send nothing; at most 100 are pending."""
    connections: list[socket.socket] = []
    began = time.monotonic()
    while not target.is_over:
        with contextlib.suppress(OSError):
            connections.append(connect(target))
            tally.messages += 1
        if len(connections) > 500:
            connections.pop(0).close()
        target.sleep(began + tally.messages / 500 - time.monotonic())
    for one in connections:
        one.close()


@attack("empty-batches", "handshake", {"cpu_share": 0.5}, seconds=8.0, opens="tcp")
def empty_batches(target: Target, tally: Tally) -> None:
    """2 MB of empty batches on new connections, before any message, once a second."""
    data = bytes(2_000_000)
    while not target.is_over:
        with contextlib.suppress(OSError), connect(target) as one:
            one.sendall(data)
            tally.sent(data, len(data) // 2)
            if not is_ended(one, 1.0):
                tally.count("kept_open")
        target.sleep(0.5)


def next_batch(one: socket.socket, deframer: StreamDeframer) -> bytes:
    """What the node sends next; b"" if it closes the connection."""
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            if batches := deframer.receive(data):
                return batches[0]
    return b""


def as_far_as_open(one: socket.socket, offer: Offer) -> tuple[Opener, bytes]:
    """Exchange INIT, and return OpenSyn instead of sending it."""
    opener = Opener(offer)
    one.sendall(frame_batch(opener.start()))
    answer = opener.receive(next_batch(one, StreamDeframer()))
    assert answer is not None
    return opener, answer


def offer(**changes: Any) -> Offer:
    return Offer(random_zid(), WhatAmI.CLIENT, **changes)


@attack("forged-cookies", "H03", {"accepted": 0, "threads_left": 0, "files_left": 0}, seconds=15.0)
def forged_cookies(target: Target, tally: Tally) -> None:
    """Cookies of other connections, cut, changed or made up; none opens a session."""
    chance = random.Random(3)
    foreign = b""
    while not target.is_over and tally.messages < 10_000:
        with contextlib.suppress(OSError, Exception), connect(target) as one:
            _, syn = as_far_as_open(one, offer())
            message = decode_batch(syn).messages[0]
            assert isinstance(message, Open)
            assert message.cookie is not None
            own, flipped = message.cookie, bytearray(message.cookie)
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            message.cookie = chance.choice(
                [foreign or b"x", bytes(flipped), own[:-1], own + b"\0", chance.randbytes(len(own))]
            )
            foreign = own
            forged = frame_batch(bytes(message))
            one.sendall(forged)
            tally.sent(forged)
            answer = decode_batch(next_batch(one, StreamDeframer())).messages
            if answer and isinstance(answer[0], Open):
                tally.count("accepted")


def odd_batches(chance: random.Random) -> list[bytes]:
    """Messages of a handshake that are out of order, of another time or beyond their range."""
    zid = random_zid()
    return [
        bytes(Open(10_000, 0, cookie=b"c")),
        bytes(Open(10_000, 0)),
        bytes(Frame(0, [])),
        bytes(Join(WhatAmI.PEER, zid, 10_000, 0, 0)),
        bytes(Init(WhatAmI.CLIENT, zid, version=chance.choice((0, 8, 10, 255)))),
        bytes(Init(WhatAmI.CLIENT, zid, resolution=Resolution(0x0A), batch_size=1)),
        bytes(Init(WhatAmI.CLIENT, zid, resolution=Resolution(0x0F), batch_size=0)),
        bytes(Init(WhatAmI.CLIENT, zid, cookie=b"c" * 30)),
        bytes(Init(WhatAmI.ROUTER, ZenohId(b"\1"))),
        bytes(Init(WhatAmI.PEER, zid)),
        b"\x04",
        b"\x03\x00",
        chance.randbytes(40),
    ]


@attack(
    "handshake-orders",
    "H04, H05",
    {"kept_open": 0, "threads_left": 0, "files_left": 0},
    seconds=10.0,
    opens="tcp",
)
def handshake_orders(target: Target, tally: Tally) -> None:
    """Any two messages of a handshake in any order, and values out of range."""
    chance = random.Random(4)
    while not target.is_over:
        with contextlib.suppress(OSError), connect(target) as one:
            for _ in range(3):
                batch = frame_batch(chance.choice(odd_batches(chance)))
                one.sendall(batch)
                tally.sent(batch)
            if not is_ended(one, 7.0):
                tally.count("kept_open")


@attack("cut-handshakes", "H15", {"threads_left": 0, "files_left": 0}, seconds=10.0, opens="tcp")
def cut_handshakes(target: Target, tally: Tally) -> None:
    """Handshakes cut at every byte, by FIN and by RST."""
    cut = 0
    while not target.is_over:
        with contextlib.suppress(Exception):
            one = connect(target)
            init = frame_batch(Opener(offer()).start())
            if cut % 300 <= len(init):
                data = init[: cut % 300]
            else:
                _, syn = as_far_as_open(one, offer())
                data = frame_batch(syn)[: cut % 300 - len(init)]
            one.sendall(data)
            tally.sent(data)
            if cut % 2:
                reset(one)
            else:
                one.close()
        cut += 1


@attack("password-guesses", "H14", {"accepted": 0}, seconds=10.0, needs=("users",))
def password_guesses(target: Target, tally: Tally) -> None:
    """10,000 guesses of a password, from 100 addresses."""
    while not target.is_over and tally.messages < 10_000:
        source = f"127.0.2.{tally.messages % 100 + 1}"
        tally.messages += 1
        with contextlib.suppress(Exception), connect(target, source) as one:
            name = "good" if tally.messages % 2 else "nobody"
            _, syn = as_far_as_open(one, offer(user=name, password=f"guess{tally.messages}"))
            data = frame_batch(syn)
            one.sendall(data)
            tally.sent(data, 0)
            answer = decode_batch(next_batch(one, StreamDeframer())).messages
            if answer and isinstance(answer[0], Open):
                tally.count("accepted")


@attack("tls-stalls", "H13", {"threads_left": 0, "files_left": 0}, seconds=10.0, needs=("tls",))
def tls_stalls(target: Target, tally: Tally) -> None:
    """Connections to a TLS listener that stop within the first record, or send something else."""
    chance = random.Random(13)
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(400)
    connections: list[socket.socket] = []
    while not target.is_over:
        with contextlib.suppress(OSError):
            one = socket.create_connection(("127.0.0.1", target.tls_port), 5, (SOURCE, 0))
            connections.append(one)
            data = chance.choice([hello[: chance.randrange(400)], chance.randbytes(600), b""])
            one.sendall(data)
            tally.sent(data)
        if len(connections) > 300:
            connections.pop(0).close()
        target.sleep(0.005)
    for one in connections:
        one.close()
