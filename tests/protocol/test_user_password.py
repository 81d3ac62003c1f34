"""Authentication by user and password (limits: H14)."""

from __future__ import annotations

import pytest

from tests.chance import IS_FULL, seeded
from tests.protocol.handshakes import (
    CLIENT,
    acceptor,
    ack_of,
    check_refused,
    client_offer,
    converse,
    refusal_of,
    router_offer,
)
from zenlake.protocol.errors import AuthenticationError
from zenlake.protocol.opening import Opener
from zenlake.protocol.user_password import challenge, nonce_of, proof, prove, response
from zenlake.wire import CloseReason, Extension, Init, Open, WhatAmI, decode

USERS = {"usr1": "pwd1", "usr2": "pwd2", "": "nameless"}
GUESSES = 10_000 if IS_FULL else 1_000
NONCE = 0xF77C_E8FC_FA26_E5E1


def test_proof_equals_that_of_a_real_node() -> None:
    wanted = "acf94c939bc9bcaa4416468d5c879f45c9581dda3b620dd4160c237a970f8cc9"
    assert proof(NONCE, "pwd1").hex() == wanted


def test_the_bytes_of_a_real_node() -> None:
    assert nonce_of(challenge(NONCE)) == NONCE
    (entry,) = response("usr1", "pwd1", NONCE)
    assert entry.header == 0x42
    assert isinstance(entry.body, bytes)
    assert entry.body[:6] == b"\x04usr1\x20"
    assert len(entry.body) == 38


@pytest.mark.parametrize("user", USERS)
def test_both_sides_agree_on_the_user(user: str) -> None:
    ours, theirs = converse(
        Opener(client_offer(user=user, password=USERS[user])), acceptor(router_offer(users=USERS))
    )
    assert (ours.user, theirs.user) == (user, user)


@pytest.mark.parametrize(
    ("user", "password"),
    [("usr1", "pwd2"), ("usr1", ""), ("nobody", "pwd1"), ("nobody", ""), ("", "")],
)
def test_wrong_user_or_password_is_refused(user: str, password: str) -> None:
    opener = Opener(client_offer(user=user, password=password))
    machine = acceptor(router_offer(users=USERS))
    open_syn = opener.receive(machine.receive(opener.start()) or b"")
    error = refusal_of(machine, open_syn or b"")
    assert isinstance(error, AuthenticationError)
    assert error.farewell == b"\x03\x00"
    # The peer does not learn whether the user exists.
    assert error.cause == "unknown user or wrong password"


def test_an_unknown_user_is_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr("hmac.compare_digest", compare)
    with pytest.raises(AuthenticationError):
        prove(response("nobody", "", NONCE), NONCE, USERS)
    ((expected, given),) = compared
    assert expected == given, "the comparison alone would have let it in"


def test_ten_thousand_guesses() -> None:
    generator = seeded()
    accepted = 0
    for _ in range(GUESSES):
        out = b"\x04usr1\x20" + generator.randbytes(32)
        try:
            prove((Extension(0x42, out),), generator.getrandbits(64), USERS)
            accepted += 1
        except AuthenticationError:
            pass
    assert accepted == 0


def test_replayed_answer_is_refused() -> None:
    """The answer to one challenge, sent again on another link."""
    opener = Opener(client_offer(user="usr1", password="pwd1"))
    offer = router_offer(users=USERS)
    heard = opener.receive(acceptor(offer, seed=1).receive(opener.start()) or b"")
    said = decode(heard or b"", "transport")
    assert isinstance(said, Open)
    machine = acceptor(offer, seed=2)
    ack = ack_of(machine, Opener(client_offer(user="x", password="y")).start())
    said.cookie = ack.cookie
    check_refused(machine, bytes(said), CloseReason.GENERIC)


@pytest.mark.parametrize(
    "auth",
    [
        None,
        (Extension(0x02),),
        (Extension(0x22, 5),),
        (Extension(0x41, b"a public key"),),
        (Extension(0x42, b""),),
        (Extension(0x42, b"\x04usr"),),
        (Extension(0x42, b"\x04usr1"),),
        (Extension(0x42, b"\x04usr1\x20short"),),
        (Extension(0x42, b"\x02\xff\xff\x00"),),
        (Extension(0x42, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"),),
    ],
    ids=str,
)
def test_invalid_proof_is_refused(auth: tuple[Extension, ...] | None) -> None:
    with pytest.raises(AuthenticationError):
        prove(auth, NONCE, USERS)


@pytest.mark.parametrize("auth", [None, (Extension(0x22, 1),), (Extension(0x41, b"key"),)], ids=str)
def test_acceptor_with_users_demands_authentication(auth: tuple[Extension, ...] | None) -> None:
    init_syn = bytes(Init(WhatAmI.CLIENT, CLIENT, auth=auth))
    check_refused(acceptor(router_offer(users=USERS)), init_syn, CloseReason.GENERIC)


def test_acceptor_with_empty_users_demands_authentication() -> None:
    check_refused(
        acceptor(router_offer(users={})), bytes(Init(WhatAmI.CLIENT, CLIENT)), CloseReason.GENERIC
    )


def test_open_without_a_proof_is_refused() -> None:
    machine = acceptor(router_offer(users=USERS))
    ack = ack_of(machine, Opener(client_offer(user="usr1", password="pwd1")).start())
    check_refused(machine, bytes(Open(10, 0, cookie=ack.cookie)), CloseReason.GENERIC)


def test_opener_with_a_user_requires_a_challenge() -> None:
    opener = Opener(client_offer(user="usr1", password="pwd1"))
    init_ack = acceptor().receive(opener.start())
    check_refused(opener, init_ack or b"", CloseReason.GENERIC)


def test_opener_with_a_user_requires_a_confirmation() -> None:
    opener = Opener(client_offer(user="usr1", password="pwd1"))
    machine = acceptor(router_offer(users=USERS))
    opener.receive(machine.receive(opener.start()) or b"")
    check_refused(opener, bytes(Open(10, 0)), CloseReason.GENERIC)


def test_unexpected_auth_is_ignored() -> None:
    """An opener without a user ignores it, and an acceptor without users does not answer it."""
    opener = Opener(client_offer())
    machine = acceptor()
    init_ack = ack_of(machine, opener.start())
    assert init_ack.auth is None
    init_ack.auth = challenge(5)
    open_syn = opener.receive(bytes(init_ack))
    assert machine.receive(open_syn or b"") is not None
    assert machine.agreed is not None
    assert machine.agreed.user is None
