"""Addresses that may be forged get short answers, and need no state."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.handshakes import entropy, router_offer
from zenlake.limits import ANSWER_RATIO_MAX, HANDSHAKE_SECONDS_MAX, UNVERIFIED_SOURCES_MAX
from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.address_check import AddressCheck
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import Close, Frame, Init, KeepAlive, Open, WhatAmI, ZenohId, decode

HERE = "udp/192.0.2.1:7447"
OWN = ZenohId(b"our own node no1")
LONG = ZenohId(b"a long zenoh id!")

DEPLOYED = {
    "1.0.4": "c109f2a398352b67ffb593a0ab0dc15a21b8370acfff812701",
    "1.0.4 with a user": "c109f2c07c9e054c2747ac1defff68e3c7f13c0acfff81c301022701",
    "1.10.2": "c109f2f82dfef34509012149903bedd310b6170acfff81c205d791a2c6082701",
    "1.10.2 with a user": "c109f2404a2a0f40e8c48070efd7662d3842dd0acfff81c2059aef9f8d0ec301022701",
    "no options at all": "0109f2" + "11" * 16,
    "zenoh-pico, patch alone": "8109f2" + "11" * 16 + "2701",
}


def check_of(**more: Any) -> AddressCheck:
    return AddressCheck(Offer(OWN, WhatAmI.ROUTER, batch_size=65_487, **more), entropy())


@pytest.mark.parametrize("name", DEPLOYED)
def test_deployed_nodes_are_answered_within_the_ratio(name: str) -> None:
    """Checked with InitSyns recorded on UDP."""
    check = check_of(users={"a": "b"} if "user" in name else None)
    init_syn = bytes.fromhex(DEPLOYED[name])
    init_ack = check.answer(init_syn, HERE, 5.0)
    print(f"{name}: {len(init_syn)} bytes are answered with {len(init_ack)}")
    assert ANSWER_RATIO_MAX == 3
    assert 0 < len(init_ack) <= 3 * len(init_syn)
    ack = decode(init_ack, "transport")
    assert isinstance(ack, Init)
    assert ack.cookie is not None
    open_syn = bytes(Open(10, 0, cookie=ack.cookie))
    assert check.redeem(open_syn, HERE, 6.0)


def exchange(check: AddressCheck, source: str, now: float) -> bytes:
    """The OpenSyn of an opener at that address."""
    opener = Opener(client_offer_of(LONG))
    answer = opener.receive(check.answer(opener.start(), source, now))
    assert answer is not None
    return answer


def client_offer_of(zid: ZenohId) -> Offer:
    return Offer(zid, WhatAmI.CLIENT)


def test_handshake_ends_with_the_agreed_terms() -> None:
    check = check_of()
    open_syn = exchange(check, HERE, 5.0)
    assert check.redeem(open_syn, HERE, 6.0)
    offer = Offer(OWN, WhatAmI.ROUTER, batch_size=65_487)
    acceptor = Acceptor(offer, entropy(), lambda zid: None, check.seal, HERE)
    assert acceptor.receive(open_syn, 6.0) is not None
    assert acceptor.agreed is not None
    assert (acceptor.agreed.zid, acceptor.agreed.batch_size) == (LONG, 65_487)


def test_forged_inits_leave_no_state() -> None:
    check = check_of()
    init_syn = Opener(client_offer_of(LONG)).start()
    for number in range(1000):
        assert check.answer(init_syn, f"udp/192.0.2.{number % 250}:{number}", number / 1000)
    assert not check._redeemed
    assert not check._unspent


def test_cookie_is_valid_once_for_its_address_and_a_limited_time() -> None:
    check = check_of()
    open_syn = exchange(check, HERE, 5.0)
    assert not check.redeem(open_syn, "udp/192.0.2.1:7448", 5.0)
    assert not check.redeem(open_syn, "udp/192.0.2.2:7447", 5.0)
    assert not check.redeem(open_syn, HERE, 5.0 + HANDSHAKE_SECONDS_MAX + 0.01)
    assert not check_of_another_run().redeem(open_syn, HERE, 5.0)
    assert check.redeem(open_syn, HERE, 5.0)
    assert not check.redeem(open_syn, HERE, 5.1), "a replay"


def check_of_another_run() -> AddressCheck:
    return AddressCheck(router_offer(), entropy(99))


@pytest.mark.parametrize(
    "datagram",
    [b"\x42", b"\x22", bytes(Open(10, 0)), bytes(KeepAlive()), b"\xff" * 40, b"\x42" * 65_000],
)
def test_anything_else_redeems_nothing(datagram: bytes) -> None:
    assert not check_of().redeem(datagram, HERE, 1.0)


@pytest.mark.parametrize("datagram", [bytes(KeepAlive()), bytes(Frame(3, [])), bytes(Open(10, 0))])
def test_message_without_a_session_is_answered_with_close(datagram: bytes) -> None:
    assert check_of().answer(datagram, HERE, 1.0) == b"\x03\x02"


def test_nobody_is_banned_for_an_init_without_a_user() -> None:
    check = check_of(users={"a": "b"})
    for _ in range(50):
        assert check.answer(Opener(client_offer_of(LONG)).start(), HERE, 1.0) == b"\x03\x00"
    with_user = Opener(Offer(LONG, WhatAmI.CLIENT, user="a", password="b"))
    open_syn = with_user.receive(check.answer(with_user.start(), HERE, 1.0))
    assert check.redeem(open_syn or b"", HERE, 1.0)


def test_two_listeners_do_not_exchange_answers_for_ever() -> None:
    checks = [check_of(), check_of_another_run()]
    for first in (Opener(client_offer_of(LONG)).start(), bytes(KeepAlive()), bytes(Close(2))):
        datagram, said = first, 0
        while datagram:
            datagram = checks[said % 2].answer(datagram, HERE, 1.0)
            said += 1
            assert said < 5


def test_an_id_too_short_for_an_answer_is_answered_later() -> None:
    """InitSyn has 10 bytes and InitAck 46: after two attempts the opener has sent enough."""
    check = check_of()
    init_syn = Opener(Offer(ZenohId(b"\x77"), WhatAmI.CLIENT, batch_size=65_487)).start()
    answers = [check.answer(init_syn, f"udp/192.0.2.1:{port}", 1.0) for port in range(4)]
    print([len(init_syn)], [len(answer) for answer in answers])
    assert [bool(answer) for answer in answers] == [False, True, False, True]
    assert check.withheld == 2


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 16), st.booleans(), st.booleans()),
        max_size=30,
    )
)
def test_no_address_receives_more_than_three_times_what_it_sent(
    sent: list[tuple[str, int, bool, bool]],
) -> None:
    check = check_of(users={"a": "b"})
    received: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for number, (host, size, has_user, is_init) in enumerate(sent):
        user: dict[str, Any] = {"user": "a", "password": "b"} if has_user else {}
        offer = Offer(ZenohId(b"\x11" * size), WhatAmI.CLIENT, **user)
        datagram = Opener(offer).start() if is_init else b"\x04"
        received[host] += len(datagram)
        answered[host] += len(check.answer(datagram, f"udp/{host}:{number}", 1.0))
        assert answered[host] <= 3 * received[host]


def test_stored_addresses_are_limited() -> None:
    check = check_of()
    short = bytes(Init(WhatAmI.CLIENT, ZenohId(b"\x77")))
    for number in range(UNVERIFIED_SOURCES_MAX + 10):
        assert not check.answer(short, f"udp/host{number}:1", 1.0)
    assert len(check._unspent) == UNVERIFIED_SOURCES_MAX
    for number in range(UNVERIFIED_SOURCES_MAX + 10):
        open_syn = exchange(check, f"udp/h:{number}", 2.0)
        assert check.redeem(open_syn, f"udp/h:{number}", 2.0)
    assert len(check._redeemed) == UNVERIFIED_SOURCES_MAX
    assert check.redeem(exchange(check, HERE, 60.0), HERE, 60.0)
    assert len(check._redeemed) == 1, "the others are too old to be redeemed again"
