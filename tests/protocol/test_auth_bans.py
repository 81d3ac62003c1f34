"""Addresses that guess passwords are banned (limits: H14)."""

from __future__ import annotations

from tests.protocol.handshakes import acceptor, client_offer, refusal_of, router_offer
from zenlake.limits import (
    AUTHENTICATION_BAN_SECONDS_MAX,
    AUTHENTICATION_FAILURES_MAX,
    AUTHENTICATION_SOURCES_MAX,
)
from zenlake.protocol.auth_bans import AuthBans
from zenlake.protocol.errors import AuthenticationError
from zenlake.protocol.opening import Opener


def guess(password: str) -> Exception:
    opener = Opener(client_offer(user="usr1", password=password))
    machine = acceptor(router_offer(users={"usr1": "right"}))
    answer = opener.receive(machine.receive(opener.start()) or b"")
    return refusal_of(machine, answer or b"")


def test_address_is_banned_after_some_failures() -> None:
    bans = AuthBans()
    heard = 0
    for number in range(1000):
        now = number * 0.01
        if bans.is_banned("10.0.0.1", now):
            continue
        heard += 1
        if isinstance(guess(f"wrong{number}"), AuthenticationError):
            bans.note_failure("10.0.0.1", now)
    assert heard == AUTHENTICATION_FAILURES_MAX
    assert bans.refused == 1000 - heard
    assert not bans.is_banned("10.0.0.2", 10.0)


def test_a_ban_ends() -> None:
    bans = AuthBans()
    for _ in range(AUTHENTICATION_FAILURES_MAX):
        bans.note_failure("a", 5.0)
    assert bans.is_banned("a", 5.0 + AUTHENTICATION_BAN_SECONDS_MAX - 0.1)
    assert not bans.is_banned("a", 5.0 + AUTHENTICATION_BAN_SECONDS_MAX)


def test_few_failures_within_the_time_are_forgiven() -> None:
    bans = AuthBans()
    for number in range(100):
        now = number * AUTHENTICATION_BAN_SECONDS_MAX / 5
        assert not bans.is_banned("a", now)
        bans.note_failure("a", now)


def test_number_of_stored_addresses_is_limited() -> None:
    bans = AuthBans()
    for number in range(AUTHENTICATION_SOURCES_MAX + 100):
        bans.note_failure(f"source {number}", 1.0)
    assert len(bans._failures) == AUTHENTICATION_SOURCES_MAX
