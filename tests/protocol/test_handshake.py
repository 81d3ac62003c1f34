"""Both sides of the handshake against each other, and against anything."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.handshakes import acceptor, client_offer, converse, router_offer
from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.errors import HandshakeError
from zenlake.protocol.offer import Agreed
from zenlake.protocol.opening import Opener
from zenlake.testing.strategies import message
from zenlake.wire import Message, QoSLink, Resolution

USERS = {"usr1": "pwd1"}
SAME = (
    "batch_size",
    "compression",
    "low_latency",
    "patch",
    "qos",
    "qos_link",
    "queue_bytes",
    "resolution",
    "sn_mask",
    "user",
)


def check_same(ours: Agreed, theirs: Agreed) -> None:
    for name in SAME:
        assert getattr(ours, name) == getattr(theirs, name), name
    assert (ours.own_sn, ours.peer_sn) == (theirs.peer_sn, theirs.own_sn)
    assert (ours.own_lease_ms, ours.peer_lease_ms) == (theirs.peer_lease_ms, theirs.own_lease_ms)
    assert ours.is_opener
    assert not theirs.is_opener


options = st.fixed_dictionaries(
    {
        "resolution": st.integers(0, 15).map(Resolution),
        "batch_size": st.integers(16, 65_535),
        "lease_ms": st.integers(1, 2**40),
        "compression": st.booleans(),
        "patch": st.integers(0, 1),
    }
)
lanes = st.sampled_from(
    [
        {"qos": False, "low_latency": True},
        {"qos": False},
        {"qos": True},
        {"qos_link": QoSLink.of((0, 7), True)},
    ]
)


@given(options, options, lanes, lanes)
def test_both_sides_agree(
    ours: dict[str, object],
    theirs: dict[str, object],
    our_lanes: dict[str, object],
    their_lanes: dict[str, object],
) -> None:
    check_same(
        *converse(
            Opener(client_offer(**ours, **our_lanes)),
            acceptor(router_offer(**theirs, **their_lanes)),
        )
    )


@pytest.mark.parametrize("has_users", [False, True])
def test_every_message_cut_at_any_byte_is_refused(has_users: bool) -> None:
    """Each of the four messages, at its step, truncated (limits: H15)."""
    user: dict[str, object] = {"user": "usr1", "password": "pwd1"} if has_users else {}
    router: dict[str, object] = {"users": USERS} if has_users else {}
    cuts = 0
    for place in range(4):
        for size in itertools.count():
            machine, batch = up_to(place, user, router)
            if size == len(batch):
                break
            with pytest.raises(HandshakeError) as caught:
                machine.receive(batch[:size])
            # Truncated after a valid message that lacks a required part, or inside one.
            assert caught.value.farewell in (b"\x03\x02", b"\x03\x00")
            assert machine.agreed is None
            cuts += 1
    assert cuts > 75


def up_to(
    place: int, user: dict[str, object], router: dict[str, object]
) -> tuple[Opener | Acceptor, bytes]:
    """The side that receives the message of that step, and the message."""
    opener, machine = Opener(client_offer(**user)), acceptor(router_offer(**router))
    batch = opener.start()
    for turn in range(place):
        answer = (machine, opener)[turn % 2].receive(batch)
        assert answer is not None
        batch = answer
    return (machine, opener)[place % 2], batch


def feed(machine: Opener | Acceptor, batch: bytes) -> bool:
    """Whether the handshake continues."""
    try:
        machine.receive(batch)
    except HandshakeError:
        return False
    return machine.agreed is None


def check_survives(batches: list[bytes], is_opener: bool) -> None:
    machine: Opener | Acceptor
    if is_opener:
        machine = Opener(client_offer(user="usr1", password="pwd1"))
        machine.start()
    else:
        machine = acceptor(router_offer(users=USERS))
    for batch in batches:
        if not feed(machine, batch):
            return


@given(st.lists(st.binary(max_size=80), max_size=3), st.booleans())
def test_noise_is_a_handshake_error(batches: list[bytes], is_opener: bool) -> None:
    check_survives(batches, is_opener)


any_message = st.sampled_from(("Init", "Open", "Close", "Join", "Frame", "KeepAlive")).flatmap(
    message
)


@given(st.lists(any_message, max_size=3), st.booleans())
def test_any_message_is_a_handshake_error_or_accepted(
    messages: list[Message], is_opener: bool
) -> None:
    check_survives([bytes(it) for it in messages], is_opener)


@given(st.integers(0, 3), st.data())
def test_flipped_bits_are_a_handshake_error_or_accepted(place: int, data: st.DataObject) -> None:
    machine, batch = up_to(place, {"user": "usr1", "password": "pwd1"}, {"users": USERS})
    bit = data.draw(st.integers(0, 8 * len(batch) - 1))
    changed = bytearray(batch)
    changed[bit // 8] ^= 1 << bit % 8
    feed(machine, bytes(changed))


@pytest.mark.parametrize("order", list(itertools.product(range(4), repeat=2)))
def test_messages_in_a_wrong_order_are_refused(order: tuple[int, int]) -> None:
    """Any two messages of a valid handshake, sent to an acceptor (limits: H04)."""
    heard = [up_to(place, {}, {})[1] for place in range(4)]
    machine = acceptor()
    is_good = False
    for turn, kind in enumerate(order):
        if kind == (0, 2)[turn]:
            machine.receive(heard[kind])
            is_good = turn == 1
            continue
        with pytest.raises(HandshakeError) as caught:
            machine.receive(heard[kind])
        assert caught.value.farewell == b"\x03\x02"
        break
    assert (machine.agreed is not None) == is_good
