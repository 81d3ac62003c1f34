"""The acceptor: bytes in, bytes out (wire reference §5.2, §12.7; limits H04, H05)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.protocol.handshakes import (
    CLIENT,
    ROUTER,
    acceptor,
    ack_of,
    bits,
    check_refused,
    client_offer,
    entropy,
    refusal_of,
    router_offer,
)
from zenlake.errors import LocalError
from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.offer import BATCH_BYTES_MIN, Agreed
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
    decode,
)

GENERIC, INVALID = CloseReason.GENERIC, CloseReason.INVALID
INIT_SYN = bits("c1 09 42 50 40 30 20 10 0a c8 ff 81 27 01")


def opened(machine: Acceptor, batch: bytes, **fields: Any) -> Agreed:
    ack = ack_of(machine, batch)
    machine.receive(bytes(Open(10, 0, seconds=True, cookie=ack.cookie, **fields)))
    assert machine.agreed is not None
    return machine.agreed


def test_a_recorded_offer() -> None:
    """Vectors 30 to 33, but for the cookie."""
    machine = acceptor(router_offer(batch_size=49152))
    answer = machine.receive(INIT_SYN)
    assert answer is not None
    assert answer.startswith(bits("e1 09 00 aa 0a 00 c0"))
    assert answer.endswith(bits("81 27 01"))
    ack = decode(answer, "transport")
    assert isinstance(ack, Init)
    said = machine.receive(bytes(Open(10, 267_564_560, seconds=True, cookie=ack.cookie)))
    assert said == bits("62 0a 9f fc b5 4c")
    agreed = machine.agreed
    assert agreed is not None
    assert (agreed.zid, agreed.role, agreed.is_opener) == (CLIENT, WhatAmI.CLIENT, False)
    assert (agreed.batch_size, agreed.qos, agreed.patch) == (49152, True, 1)
    assert (agreed.own_sn, agreed.peer_sn) == (160_267_807, 267_564_560)


EVERYTHING = bits(
    "c1 09 32 11 22 33 44 09 00 04 81 c2 01 2a c3 01 02 c4 02 00 00 85 86 a7 01 48 01 78"
)


def test_unsupported_extensions_are_not_answered() -> None:
    """Vector 47: shared memory, auth, multilink and region are ignored."""
    ack = ack_of(acceptor(router_offer(compression=True)), EVERYTHING)
    assert (ack.resolution, ack.batch_size) == (Resolution(9), 1024)
    assert (ack.qos, ack.lowlatency, ack.compression, ack.patch) == (True, False, True, 1)
    assert (ack.shm, ack.auth, ack.multilink, ack.region) == (None, None, None, None)
    agreed = opened(
        acceptor(),
        EVERYTHING,
        shm_bytes=b"\x01",
        multilink=b"proof",
        remote_bound=Bound.SOUTH,
        auth=(Extension(0x42, b""),),
    )
    assert (agreed.user, agreed.low_latency) == (None, False)


def test_low_latency_for_both_excludes_qos() -> None:
    agreed = opened(acceptor(router_offer(qos=False, low_latency=True)), EVERYTHING)
    assert (agreed.low_latency, agreed.qos) == (True, False)


OPTIONS = {"qos": "qos", "low_latency": "lowlatency", "compression": "compression"}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(("own", "peers"), list(itertools.product((False, True), repeat=2)))
def test_options_are_on_iff_both_offer_them(option: str, own: bool, peers: bool) -> None:
    offer = {"qos": False, option: own}
    offered: dict[str, Any] = {OPTIONS[option]: peers}
    syn = bytes(Init(WhatAmI.PEER, CLIENT, **offered))
    ack = ack_of(acceptor(router_offer(**offer)), syn)
    assert getattr(ack, OPTIONS[option]) == (own and peers)
    assert getattr(opened(acceptor(router_offer(**offer)), syn), option) == (own and peers)


@pytest.mark.parametrize(("own", "peers"), list(itertools.product((0, 1, 2), repeat=2)))
def test_patch_is_the_smaller_one(own: int, peers: int) -> None:
    syn = bytes(Init(WhatAmI.PEER, CLIENT, patch=peers))
    ack = ack_of(acceptor(router_offer(patch=own)), syn)
    assert ack.patch == (min(own, peers) or None)


@pytest.mark.parametrize("own", range(16))
@pytest.mark.parametrize("peers", [*range(16), 0xFA])
def test_resolution_is_the_smaller_one_of_each(own: int, peers: int) -> None:
    syn = bytearray(bytes(Init(WhatAmI.PEER, CLIENT, resolution=Resolution(), batch_size=65_000)))
    syn[8] = peers
    agreed = opened(acceptor(router_offer(resolution=Resolution(own))), bytes(syn))
    sn = min(own & 3, peers & 3)
    assert agreed.resolution.byte == (min(own >> 2, peers >> 2 & 3) << 2 | sn)
    assert agreed.sn_mask == (0x7F, 0x3FFF, 0x0FFF_FFFF, 0xFFFF_FFFF)[sn]
    assert agreed.own_sn <= agreed.sn_mask


@pytest.mark.parametrize("size", [BATCH_BYTES_MIN, 1024, 65_534, 65_535])
def test_batch_size_is_the_smaller_one(size: int) -> None:
    syn = bytes(Init(WhatAmI.PEER, CLIENT, resolution=Resolution(), batch_size=size))
    assert opened(acceptor(), syn).batch_size == size
    ack = ack_of(acceptor(router_offer(batch_size=2000)), syn)
    assert ack.batch_size == min(size, 2000)


@pytest.mark.parametrize("size", [0, 1, BATCH_BYTES_MIN - 1])
def test_batch_size_without_room_for_a_fragment_is_refused(size: int) -> None:
    syn = bytes(Init(WhatAmI.PEER, CLIENT, resolution=Resolution(), batch_size=size))
    check_refused(acceptor(), syn, INVALID)


def test_default_sizes_are_left_out() -> None:
    ack = ack_of(acceptor(), bits("81 09 02 bb 81 27 01"))
    assert (ack.resolution, ack.batch_size) == (None, None)


@pytest.mark.parametrize("raw", ["05", "ff" * 16, "05 00", "05 00 00", "00" * 15 + "01"])
def test_ids_of_any_length_are_accepted(raw: str) -> None:
    """Zero bytes at the high end are accepted and dropped."""
    data = bits(raw)
    syn = bytes([0x01, 9, len(data) - 1 << 4 | 2]) + data
    assert opened(acceptor(), syn).zid == ZenohId(data.rstrip(b"\0"))


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("8e b0 20", QoSLink.of((1, 3), True)), ("b6 70", QoSLink.of((6, 7), False))],
)
def test_qos_link_of_the_opener_is_adopted(value: str, wanted: QoSLink) -> None:
    """Vectors 39 and 40."""
    syn = bits(f"c1 09 01 bb 0a c8 ff a1 {value} 27 01")
    assert ack_of(acceptor(), syn).qos_link == wanted
    assert opened(acceptor(), syn).qos_link == wanted
    assert ack_of(acceptor(router_offer(qos=False)), syn).qos_link is None


def test_qos_link_that_does_not_fit_is_refused() -> None:
    syn = bits("c1 09 01 bb 0a c8 ff a1 8e b0 20 27 01")
    offer = router_offer(qos_link=QoSLink.of((2, 3)))
    check_refused(acceptor(offer), syn, GENERIC)


NEGATIVE = [
    ("N1", "c1 08 02 05 0a ff ff 01", INVALID),
    ("N1 newer", "c1 0a 02 05 0a ff ff 01", INVALID),
    ("N2", "c1 09 02 05 0a ff ff 9c 01", INVALID),
    ("N4", "c1 09 02 05 0a ff ff 11", INVALID),
    ("N5", "c1 09 02 05 0a ff ff 6c", INVALID),
    ("N6", "c1 09 02 05 0a ff ff 81 21 01", GENERIC),
    ("N7", "c1 09 03 05 0a ff ff 01", INVALID),
    ("N8", "c1 09 02 00 0a ff ff 01", INVALID),
    ("N9", "04", INVALID),
    ("nothing", "", INVALID),
    ("OpenSyn", "42 0a 00 00", INVALID),
    ("OpenAck", "62 0a 00", INVALID),
    ("InitAck", "21 09 02 05 00", INVALID),
    ("FRAME", "25 00", INVALID),
    ("FRAGMENT", "26 00 00", INVALID),
    ("JOIN", "a7 09 01 aa 0a 99 b0 b0 67 d5 e6 bf 09 27 01", INVALID),
    ("OAM", "00 01", INVALID),
    ("PUSH", "7d 00 03 6b 2f 61 01 02 76 31", INVALID),
    ("HTTP", b"GET / HTTP/1.1\r\n\r\n".hex(), INVALID),
]


@pytest.mark.parametrize(("name", "batch", "reason"), NEGATIVE)
def test_first_batches_that_are_refused(name: str, batch: str, reason: CloseReason) -> None:
    check_refused(acceptor(), bits(batch), reason)


def test_an_unknown_optional_extension_is_ignored() -> None:
    """N3."""
    assert opened(acceptor(), bits("c1 09 02 05 0a ff ff 8c 01")).qos


THIRD = [
    ("double INIT", INIT_SYN.hex()),
    ("OpenAck", "62 0a 00"),
    ("N10 no cookie", "42 0a 00 00"),
    ("N10 another cookie", "42 0a 00 04 01 02 03 04"),
    ("FRAME", "25 00"),
    ("KEEP_ALIVE", "04"),
    ("JOIN", "a7 09 01 aa 0a 99 b0 b0 67 d5 e6 bf 09 27 01"),
    ("nothing", ""),
    ("noise", "ff ff ff"),
]


@pytest.mark.parametrize(("name", "batch"), THIRD)
def test_third_batches_that_are_refused(name: str, batch: str) -> None:
    machine = acceptor()
    machine.receive(INIT_SYN)
    check_refused(machine, bits(batch), INVALID)


def test_a_first_number_outside_the_resolution_is_refused() -> None:
    machine = acceptor()
    ack = ack_of(machine, INIT_SYN)
    check_refused(machine, bytes(Open(10, 1 << 28, cookie=ack.cookie)), INVALID)


@pytest.mark.parametrize("code", [0, 2, 7, 99])
def test_a_close_is_echoed(code: int) -> None:
    for is_third in (False, True):
        machine = acceptor()
        if is_third:
            machine.receive(INIT_SYN)
        error = refusal_of(machine, bytes([3, code]))
        assert error.farewell == bytes([3, code])
        assert error.reason == (code if code < 8 else GENERIC)


def test_own_id_is_refused_at_open() -> None:
    machine = acceptor()
    ack = ack_of(machine, Opener(router_offer()).start())
    batch = bytes(Open(10, 0, cookie=ack.cookie))
    check_refused(machine, batch, CloseReason.CONNECTION_TO_SELF)


@pytest.mark.parametrize("reason", [CloseReason.MAX_LINKS, CloseReason.INVALID])
def test_node_that_is_not_admitted_is_refused(reason: CloseReason) -> None:
    asked: list[ZenohId] = []

    def admit(zid: ZenohId) -> CloseReason | None:
        asked.append(zid)
        return reason

    machine = Acceptor(router_offer(), entropy(), admit)
    ack = ack_of(machine, INIT_SYN)
    assert asked == [], "only at OPEN"
    check_refused(machine, bytes(Open(10, 0, cookie=ack.cookie)), reason)
    assert asked == [CLIENT]


def test_unauthenticated_node_is_not_passed_to_admit() -> None:
    def admit(zid: ZenohId) -> CloseReason | None:
        raise AssertionError(zid)

    machine = Acceptor(router_offer(users={"a": "b"}), entropy(), admit)
    ack = ack_of(machine, Opener(client_offer(user="a", password="c")).start())
    check_refused(machine, bytes(Open(10, 0, cookie=ack.cookie)), GENERIC)


def test_misuse_is_a_local_error() -> None:
    machine = acceptor()
    opened(machine, INIT_SYN)
    with pytest.raises(LocalError):
        machine.receive(INIT_SYN)


def test_only_the_first_message_of_a_batch_is_read() -> None:
    assert opened(acceptor(), INIT_SYN + b"\x03\x00\xff").zid == CLIENT


def test_two_links_have_different_cookies() -> None:
    one, other = (ack_of(acceptor(seed=seed), INIT_SYN).cookie for seed in (1, 2))
    assert one != other


def test_answer_of_a_router_has_its_role() -> None:
    ack = ack_of(acceptor(), INIT_SYN)
    assert (ack.zid, ack.whatami) == (ROUTER, WhatAmI.ROUTER)
