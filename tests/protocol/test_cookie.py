"""Forged cookies are refused (limits: H03)."""

from __future__ import annotations

import random

import pytest

from tests.chance import IS_FULL, seeded
from tests.protocol.handshakes import CLIENT, acceptor, check_refused, client_offer, router_offer
from zenlake.limits import HANDSHAKE_SECONDS_MAX
from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.cookie import Seal
from zenlake.protocol.errors import HandshakeError
from zenlake.protocol.opening import Opener
from zenlake.wire import CloseReason, Init, Open, QoSLink, Resolution, WhatAmI, ZenohId, decode

FORGED = 10_000 if IS_FULL else 2_000
TERMS = Init(WhatAmI.CLIENT, CLIENT, qos=True, patch=1)


def seal(seed: int = 1) -> Seal:
    return Seal(random.Random(seed).randbytes(32))


def test_sealed_terms_are_restored() -> None:
    assert seal().open(seal().cookie(TERMS, 3.5), 3.5) == TERMS


def test_changed_or_truncated_cookie_is_refused() -> None:
    mine = seal()
    cookie = mine.cookie(TERMS, 1.0)
    for bit in range(8 * len(cookie)):
        forged = bytearray(cookie)
        forged[bit // 8] ^= 1 << bit % 8
        assert mine.open(bytes(forged), 1.0) is None
    for size in range(len(cookie)):
        assert mine.open(cookie[:size], 1.0) is None
        assert mine.open(cookie[size + 1 :], 1.0) is None
    assert mine.open(cookie + b"\x00", 1.0) is None


@pytest.mark.parametrize(
    "terms",
    [
        Init(WhatAmI.ROUTER, ZenohId(b"\x01")),
        Init(WhatAmI.PEER, ZenohId(bytes(range(1, 17))), resolution=Resolution(0), batch_size=16),
        Init(WhatAmI.CLIENT, CLIENT, qos_link=QoSLink.of((1, 3), True), patch=1),
        Init(WhatAmI.CLIENT, CLIENT, lowlatency=True, compression=True, patch=1),
    ],
)
def test_all_terms_are_restored_from_a_short_cookie(terms: Init) -> None:
    cookie = seal().cookie(terms, 1e9, "udp/192.0.2.1:7")
    assert seal().open(cookie, 1e9, "udp/192.0.2.1:7") == terms
    assert len(cookie) <= 18 + len(terms.zid.raw) + 4


def test_cookie_of_another_address_is_refused() -> None:
    cookie = seal().cookie(TERMS, 1.0, "udp/192.0.2.1:7")
    assert seal().open(cookie, 1.0, "udp/192.0.2.1:7") == TERMS
    for source in ("", "udp/192.0.2.1:8", "udp/192.0.2.2:7", "udp/192.0.2.1:77"):
        assert seal().open(cookie, 1.0, source) is None


def test_time_does_not_wrap_around() -> None:
    """The cookie has two bytes of the time; the tag covers all of it."""
    cookie = seal().cookie(TERMS, 100.0)
    assert seal().open(cookie, 100.0 + 65.536) is None
    assert seal().open(cookie, 100.0 - 65.536) is None


def test_cookie_of_another_link_or_an_earlier_run_is_refused() -> None:
    assert seal(2).open(seal(1).cookie(TERMS, 1.0), 1.0) is None


@pytest.mark.parametrize(
    ("age_s", "is_good"),
    [(0, True), (HANDSHAKE_SECONDS_MAX, True), (HANDSHAKE_SECONDS_MAX + 0.01, False), (-1, False)],
)
def test_cookie_expires(age_s: float, is_good: bool) -> None:
    assert (seal().open(seal().cookie(TERMS, 100.0), 100.0 + age_s) is not None) == is_good


def cookie_of(batch: bytes | None) -> bytes:
    assert batch is not None
    ack = decode(batch, "transport")
    assert isinstance(ack, Init)
    assert ack.cookie is not None
    return ack.cookie


def forge(cookie: bytes, generator: random.Random) -> bytes:
    """Bytes that resemble a cookie."""
    kind = generator.randrange(4)
    if kind == 0:
        return generator.randbytes(generator.randrange(200))
    at = generator.randrange(len(cookie))
    if kind == 1:
        return cookie[:at]
    if kind == 2:
        return cookie[:at] + bytes([cookie[at] ^ 1 << generator.randrange(8)]) + cookie[at + 1 :]
    # Complete, but of another link.
    init_syn = Opener(client_offer()).start()
    return cookie_of(acceptor(seed=generator.randrange(1 << 30) + 2).receive(init_syn))


def test_no_forged_open_is_accepted() -> None:
    generator = seeded()
    init_syn = Opener(client_offer()).start()
    refused = 0
    for _ in range(FORGED):
        machine = acceptor()
        cookie = cookie_of(machine.receive(init_syn))
        batch = bytes(Open(10, 0, seconds=True, cookie=forge(cookie, generator)))
        check_refused(machine, batch, CloseReason.INVALID)
        refused += 1
    assert refused == FORGED


def test_a_cookie_is_spent_on_its_own_link_and_in_time() -> None:
    init_syn = Opener(client_offer()).start()
    in_time, too_late = acceptor(), acceptor()
    in_time_cookie = cookie_of(in_time.receive(init_syn, 50.0))
    too_late_cookie = cookie_of(too_late.receive(init_syn, 50.0))
    assert in_time.receive(bytes(Open(10, 0, cookie=in_time_cookie)), 59.9) is not None
    with pytest.raises(HandshakeError) as caught:
        too_late.receive(bytes(Open(10, 0, cookie=too_late_cookie)), 60.1)
    assert caught.value.farewell == b"\x03\x02"


def test_only_the_key_is_kept() -> None:
    """After InitAck, a new acceptor with the same key continues the handshake of the first."""
    machine, twin = acceptor(router_offer(), 7), acceptor(router_offer(), 7)
    opener = Opener(client_offer(batch_size=5000, compression=True))
    init_ack = machine.receive(opener.start())
    assert init_ack is not None
    # The second acceptor has received another INIT: its terms come from the cookie only.
    twin.receive(Opener(router_offer(qos=False)).start())
    open_syn = opener.receive(init_ack)
    assert open_syn is not None
    assert machine.receive(open_syn) == twin.receive(open_syn)
    assert isinstance(machine, Acceptor)
    assert machine.agreed is not None
    assert twin.agreed is not None
    for name in ("zid", "role", "batch_size", "qos", "patch", "compression", "peer_sn"):
        assert getattr(machine.agreed, name) == getattr(twin.agreed, name)
