from __future__ import annotations

from zenlake.protocol.errors import TransportError, ended_by_peer, refusal, unproven
from zenlake.wire import Close, CloseReason


def test_refusal_has_a_close_with_the_reason() -> None:
    error = refusal(CloseReason.MAX_LINKS, "one too many")
    assert (error.reason, error.cause, error.farewell) == (4, "one too many", b"\x03\x04")
    assert str(error) == "one too many (max_links)"


def test_unauthenticated_peer_gets_no_reason() -> None:
    assert unproven("why").farewell == b"\x03\x00"


def test_close_of_the_peer_is_echoed_by_acceptors() -> None:
    assert ended_by_peer(Close(200), is_echoed=True).farewell == b"\x03\xc8"
    assert ended_by_peer(Close(200), is_echoed=True).reason is CloseReason.GENERIC
    assert ended_by_peer(Close(7), is_echoed=False).farewell is None


def test_open_session_ends_without_close() -> None:
    error = TransportError("lease expired")
    assert (error.cause, error.deliveries) == ("lease expired", [])
