"""Offers, entropy and dialogues for tests of the handshake."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.errors import HandshakeError
from zenlake.protocol.offer import Agreed, Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import CloseReason, Init, WhatAmI, ZenohId, decode

CLIENT = ZenohId.parse("1020304050")
ROUTER = ZenohId.parse("aa")


def bits(text: str) -> bytes:
    return bytes.fromhex(text)


def entropy(seed: int = 1) -> Callable[[int], bytes]:
    return random.Random(seed).randbytes


def client_offer(**options: Any) -> Offer:
    return Offer(CLIENT, WhatAmI.CLIENT, **options)


def router_offer(**options: Any) -> Offer:
    return Offer(ROUTER, WhatAmI.ROUTER, **options)


def admit_all(zid: ZenohId) -> CloseReason | None:
    return None


def acceptor(offer: Offer | None = None, seed: int = 1) -> Acceptor:
    return Acceptor(offer or router_offer(), entropy(seed), admit_all)


def converse(opener: Opener, acceptor: Acceptor) -> tuple[Agreed, Agreed]:
    """Exchange all four messages; returns the agreed terms of each side."""
    init_ack = acceptor.receive(opener.start())
    assert init_ack is not None
    open_syn = opener.receive(init_ack)
    assert open_syn is not None
    open_ack = acceptor.receive(open_syn)
    assert open_ack is not None
    assert opener.receive(open_ack) is None
    assert opener.agreed is not None
    assert acceptor.agreed is not None
    return opener.agreed, acceptor.agreed


def ack_of(machine: Acceptor, batch: bytes) -> Init:
    """The InitAck that answers an InitSyn."""
    answer = machine.receive(batch)
    assert answer is not None
    ack = decode(answer, "transport")
    assert isinstance(ack, Init)
    assert ack.cookie is not None
    return ack


def refusal_of(machine: Opener | Acceptor, batch: bytes) -> HandshakeError:
    """The error with which a batch ends the handshake."""
    with pytest.raises(HandshakeError) as caught:
        machine.receive(batch)
    assert machine.agreed is None
    return caught.value


def check_refused(machine: Opener | Acceptor, batch: bytes, reason: CloseReason) -> None:
    """Check that a batch is refused, with a CLOSE that has the reason."""
    error = refusal_of(machine, batch)
    assert (error.reason, error.farewell) == (reason, bytes([3, reason]))
