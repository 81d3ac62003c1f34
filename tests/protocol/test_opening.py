"""The opener: bytes in, bytes out (wire reference §5.2, §12.3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.handshakes import (
    CLIENT,
    ROUTER,
    acceptor,
    bits,
    check_refused,
    client_offer,
    refusal_of,
    router_offer,
)
from zenlake.errors import LocalError
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    Bound,
    CloseReason,
    Extension,
    Init,
    Open,
    QoSLink,
    Resolution,
    WhatAmI,
    ZenohId,
)

INIT_ACK = bits(
    "e1 09 00 aa 0a 00 c0 21 20 7e a9 b0 2e 60 f8 b4 2b cf c6 16 07 e7 42 26 a6 fb ce 5d 8d 14 81"
    "eb 12 52 49 8d a3 d5 35 c7 82 81 27 01"
)
OPEN_SYN = bits(
    "42 0a 90 ec ca 7f 21 20 7e a9 b0 2e 60 f8 b4 2b cf c6 16 07 e7 42 26 a6 fb ce 5d 8d 14 81 eb"
    "12 52 49 8d a3 d5 35 c7 82"
)
OPEN_ACK = bits("62 0a 9f fc b5 4c")


def started(offer: Offer | None = None, expected: ZenohId | None = None) -> Opener:
    opener = Opener(offer or client_offer(), expected)
    opener.start()
    return opener


def half_open(**options: Any) -> Opener:
    """An opener that waits for OpenAck."""
    opener = started(client_offer(**options))
    opener.receive(bytes(init_ack()))
    return opener


def init_ack(**fields: Any) -> Init:
    return Init(
        fields.pop("whatami", WhatAmI.ROUTER), fields.pop("zid", ROUTER), cookie=b"cookie", **fields
    )


def test_a_recorded_handshake() -> None:
    """Vectors 30 to 33, byte for byte."""
    opener = Opener(client_offer(batch_size=65480), ROUTER)
    assert opener.start() == bits("c1 09 42 50 40 30 20 10 0a c8 ff 81 27 01")
    assert opener.receive(INIT_ACK) == OPEN_SYN
    assert opener.agreed is None
    assert opener.receive(OPEN_ACK) is None
    agreed = opener.agreed
    assert agreed is not None
    assert (agreed.zid, agreed.role, agreed.is_opener) == (ROUTER, WhatAmI.ROUTER, True)
    assert (agreed.batch_size, agreed.qos, agreed.patch) == (49152, True, 1)
    assert (agreed.own_sn, agreed.peer_sn) == (267_564_560, 160_267_807)
    assert (agreed.own_lease_ms, agreed.peer_lease_ms, agreed.keep_alive) == (10_000, 10_000, 4)


BB = ZenohId.parse("bb")
OFFERS = [
    (34, WhatAmI.CLIENT, {}, "81 09 02 bb 81 27 01"),
    (35, WhatAmI.PEER, {"batch_size": 65480, "qos": False}, "c1 09 01 bb 0a c8 ff 27 01"),
    (
        36,
        WhatAmI.PEER,
        {"batch_size": 1024, "resolution": Resolution(9)},
        "c1 09 01 bb 09 00 04 81 27 01",
    ),
    (
        37,
        WhatAmI.PEER,
        {"batch_size": 65480, "compression": True},
        "c1 09 01 bb 0a c8 ff 81 86 27 01",
    ),
    (
        38,
        WhatAmI.PEER,
        {"batch_size": 65480, "qos": False, "low_latency": True},
        "c1 09 01 bb 0a c8 ff 85 27 01",
    ),
    (
        39,
        WhatAmI.PEER,
        {"batch_size": 65480, "qos_link": QoSLink.of((1, 3), True)},
        "c1 09 01 bb 0a c8 ff a1 8e b0 20 27 01",
    ),
    (
        40,
        WhatAmI.PEER,
        {"batch_size": 65480, "qos_link": QoSLink.of((6, 7), False)},
        "c1 09 01 bb 0a c8 ff a1 b6 70 27 01",
    ),
    (
        41,
        WhatAmI.PEER,
        {"batch_size": 65480, "user": "usr1", "password": "pwd1"},
        "c1 09 01 bb 0a c8 ff 81 c3 01 02 27 01",
    ),
]


@pytest.mark.parametrize(("number", "role", "options", "wanted"), OFFERS)
def test_recorded_offers(number: int, role: WhatAmI, options: dict[str, Any], wanted: str) -> None:
    offer = Offer(BB, role, **options)
    assert Opener(offer).start() == bits(wanted), number


def test_patch_0_is_not_written() -> None:
    assert Opener(client_offer(qos=False, patch=0)).start() == bits("01 09 42 50 40 30 20 10")


@pytest.mark.parametrize("cookie", [b"", b"x", bytes(65_000)], ids=len)
def test_any_cookie_is_echoed(cookie: bytes) -> None:
    ack = init_ack()
    ack.cookie = cookie
    sn = started().receive(bytes(ack))
    assert sn is not None
    assert sn.endswith(cookie)


@pytest.mark.parametrize(
    ("lease_ms", "wanted"), [(10_000, "42 0a"), (1500, "02 dc 0b"), (1000, "42 01"), (1, "02 01")]
)
def test_whole_seconds_are_sent_in_seconds(lease_ms: int, wanted: str) -> None:
    said = started(client_offer(lease_ms=lease_ms)).receive(bytes(init_ack()))
    assert said is not None
    assert said.startswith(bits(wanted))


@pytest.mark.parametrize(
    ("message", "lease_ms"),
    [
        (Open(0, 0), 0),
        (Open(1, 0), 1),
        (Open(2, 0, seconds=True), 2000),
        (Open(2**64 - 1, 0, seconds=True), (2**64 - 1) * 1000),
    ],
    ids=str,
)
def test_any_lease_is_accepted(message: Open, lease_ms: int) -> None:
    opener = half_open()
    opener.receive(bytes(message))
    assert opener.agreed is not None
    assert opener.agreed.peer_lease_ms == lease_ms


def test_declined_options_are_off() -> None:
    opener = half_open(compression=True)
    opener.receive(OPEN_ACK)
    agreed = opener.agreed
    assert agreed is not None
    assert (agreed.qos, agreed.compression, agreed.low_latency) == (False, False, False)
    assert agreed.patch == 0


def test_answers_to_extensions_not_offered_are_ignored() -> None:
    opener = started(client_offer(qos=False))
    ack = init_ack(
        qos=True,
        shm=b"\x01",
        auth=(Extension(0x22, 7),),
        multilink=b"",
        lowlatency=True,
        compression=True,
        patch=1,
        region="x",
        extensions=(Extension(0x0C),),
    )
    assert opener.receive(bytes(ack)) is not None
    open_ack = Open(10, 0, shm=1, multilink_ack=True, remote_bound=Bound.SOUTH)
    opener.receive(bytes(open_ack))
    agreed = opener.agreed
    assert agreed is not None
    assert (agreed.qos, agreed.compression, agreed.low_latency) == (False, False, False)


def test_a_larger_batch_size_is_harmless() -> None:
    opener = started(client_offer(batch_size=1000))
    assert opener.receive(bytes(init_ack())) is not None


@pytest.mark.parametrize("offered", range(16))
@pytest.mark.parametrize("answered", range(16))
def test_a_larger_resolution_is_refused(offered: int, answered: int) -> None:
    opener = started(client_offer(resolution=Resolution(offered)))
    ack = bytes(init_ack(resolution=Resolution(answered), batch_size=65_535))
    if answered >> 2 <= offered >> 2 and answered & 3 <= offered & 3:
        assert opener.receive(ack) is not None
    else:
        check_refused(opener, ack, CloseReason.INVALID)


INVALID = CloseReason.INVALID
GENERIC = CloseReason.GENERIC


@pytest.mark.parametrize(
    ("ack", "reason"),
    [
        (init_ack(version=8), INVALID),
        (init_ack(version=10), INVALID),
        (init_ack(resolution=Resolution(), batch_size=0), INVALID),
        (init_ack(resolution=Resolution(), batch_size=15), INVALID),
        (init_ack(qos=True, qos_link=QoSLink(1)), GENERIC),
        (init_ack(patch=2), GENERIC),
        (init_ack(zid=CLIENT), CloseReason.CONNECTION_TO_SELF),
        (Init(WhatAmI.ROUTER, ROUTER), INVALID),
        (Open(10, 0), INVALID),
        (Open(10, 0, cookie=b""), INVALID),
    ],
    ids=str,
)
def test_answers_that_are_refused(ack: Init | Open, reason: CloseReason) -> None:
    check_refused(started(), bytes(ack), reason)


@pytest.mark.parametrize("batch", ["", "04", "25 00", "07", "ff", "e1", "e1 09 03 aa 00"])
def test_batch_that_is_not_an_init_ack_is_refused(batch: str) -> None:
    check_refused(started(), bits(batch), INVALID)


@pytest.mark.parametrize(
    "batch", ["", "04", "25 00", "42 0a 05 00", bytes(init_ack()).hex(), "62 0a", "62 0a 80"]
)
def test_batch_that_is_not_an_open_ack_is_refused(batch: str) -> None:
    check_refused(half_open(), bits(batch), INVALID)


def test_a_first_number_outside_the_resolution_is_refused() -> None:
    check_refused(half_open(), bytes(Open(10, 1 << 28)), INVALID)


def test_answer_of_an_unexpected_node_is_refused() -> None:
    opener = started(expected=ZenohId.parse("ab"))
    check_refused(opener, bytes(init_ack()), INVALID)


def test_qos_range_outside_the_offer_is_refused() -> None:
    opener = started(client_offer(qos_link=QoSLink.of((1, 3), True)))
    check_refused(opener, bytes(init_ack(qos_link=QoSLink.of((2, 3), True))), GENERIC)


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (0, "it may demand a user and a password"),
        (2, "invalid"),
        (3, "too many sessions"),
        (4, "a link with this node already"),
        (7, "it is this node itself"),
        (99, "close reason 99"),
    ],
)
def test_a_close_is_not_answered(code: int, cause: str) -> None:
    for opener in (started(), half_open()):
        error = refusal_of(opener, bytes([3, code]))
        assert error.farewell is None
        assert error.reason == (code if code < 8 else GENERIC)
        assert cause in error.cause


def test_only_the_first_message_of_a_batch_is_read() -> None:
    opener = started()
    assert opener.receive(INIT_ACK + b"\x04\xff\xff") == OPEN_SYN
    opener.receive(OPEN_ACK + b"\x03\x00")
    assert opener.agreed is not None


def test_misuse_is_a_local_error() -> None:
    opener = Opener(client_offer())
    with pytest.raises(LocalError):
        opener.receive(INIT_ACK)
    opener.start()
    with pytest.raises(LocalError):
        opener.start()
    opener.receive(INIT_ACK)
    opener.receive(OPEN_ACK)
    with pytest.raises(LocalError):
        opener.receive(OPEN_ACK)
    refused = started()
    refusal_of(refused, b"")
    with pytest.raises(LocalError):
        refused.receive(INIT_ACK)


def test_connection_to_own_acceptor_is_refused() -> None:
    opener = Opener(router_offer())
    ack = acceptor().receive(opener.start())
    check_refused(opener, ack or b"", CloseReason.CONNECTION_TO_SELF)
