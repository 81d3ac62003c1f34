"""Lease and keep-alive (wire reference §5.7; limits: H06, H08)."""

from __future__ import annotations

import pytest

from tests.protocol.transports import put, transport, units
from zenlake.limits import LEASE_SECONDS_MAX
from zenlake.protocol.errors import TransportError
from zenlake.protocol.heartbeat import KEEP_ALIVE_SECONDS_MIN, LEASE_SECONDS_MIN

KEEP_ALIVE = bytes.fromhex("01 00 04")


def test_keep_alive_when_nothing_was_sent() -> None:
    sender = transport(now=100.0)
    assert sender.next_deadline() == 102.5
    sender.handle_timeout(102.4)
    assert units(sender, 102.4) == []
    sender.handle_timeout(102.5)
    assert units(sender, 102.5) == [KEEP_ALIVE]
    assert sender.next_deadline() == 105.0


def test_every_batch_restarts_the_timer() -> None:
    sender = transport()
    sender.push(bytes(put(b"x")), 5, True, False)
    assert sender.next_unit(2.0) is not None
    assert sender.next_deadline() == 4.5
    sender.handle_timeout(2.5)
    assert units(sender, 2.5) == []


def test_queued_batch_replaces_a_keep_alive() -> None:
    """While the link is stuck, keep-alives do not accumulate, and the deadline moves on."""
    sender = transport(peer_lease_ms=100_000)
    sender.push(bytes(put(b"x")), 5, True, False)
    for now in (2.5, 5.0, 7.5):
        assert sender.next_deadline() == now
        sender.handle_timeout(now)
    assert len(units(sender, 8.0)) == 1


def test_n21_silence_for_the_lease_ends_the_link() -> None:
    receiver = transport(peer_lease_ms=3000)
    assert receiver.receive(KEEP_ALIVE, 1.0) == []
    receiver.handle_timeout(3.9)
    with pytest.raises(TransportError, match="lease expired"):
        receiver.handle_timeout(4.0)


@pytest.mark.parametrize("batch", [b"\x00\x00", KEEP_ALIVE, bytes.fromhex("02 00 25 00")])
def test_any_batch_renews_the_lease(batch: bytes) -> None:
    receiver = transport()
    receiver.receive(batch, 9.0)
    receiver.handle_timeout(18.9)


def test_incomplete_batch_does_not_renew_the_lease() -> None:
    receiver = transport()
    receiver.receive(b"\x05", 9.0)
    with pytest.raises(TransportError):
        receiver.handle_timeout(10.0)


@pytest.mark.parametrize("peer_lease_ms", [0, 1, 10_000, 2**64 - 1])
@pytest.mark.parametrize("own_lease_ms", [0, 1, 10_000, 2**64 - 1])
def test_no_lease_keeps_us_busy(own_lease_ms: int, peer_lease_ms: int) -> None:
    """Ten seconds with a living peer: each timeout moves the deadline on, none overflows."""
    both = transport(own_lease_ms=own_lease_ms, peer_lease_ms=peer_lease_ms)
    now, wakes = 0.0, 0
    while now < 10.0:
        both.receive(KEEP_ALIVE, now)
        deadline = both.next_deadline()
        assert now < deadline <= now + LEASE_SECONDS_MAX
        # A batch arrives just before the lease ends, keep-alives are sent just in time.
        now = min(deadline, now + 0.99 * LEASE_SECONDS_MIN)
        both.handle_timeout(now)
        units(both, now)
        wakes += 1
    assert wakes <= 10 / KEEP_ALIVE_SECONDS_MIN + 10 / LEASE_SECONDS_MIN


@pytest.mark.parametrize(
    ("lease_ms", "seconds"),
    [(0, LEASE_SECONDS_MIN), (1, LEASE_SECONDS_MIN), (2**64 - 1, LEASE_SECONDS_MAX)],
)
def test_extreme_leases_are_bounded(lease_ms: int, seconds: float) -> None:
    receiver = transport(peer_lease_ms=lease_ms)
    receiver.handle_timeout(seconds * 0.99)
    with pytest.raises(TransportError):
        receiver.handle_timeout(seconds)


def test_clock_that_stands_still_causes_no_loop() -> None:
    sender = transport(own_lease_ms=1)
    sender.handle_timeout(1.0)
    assert sender.next_deadline() > 1.0
