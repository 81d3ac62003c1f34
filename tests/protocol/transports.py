"""Open sessions without a handshake, and messages to send through them."""

from __future__ import annotations

from typing import Any

from zenlake.protocol.delivery import Delivery
from zenlake.protocol.offer import Agreed
from zenlake.protocol.transport import Transport
from zenlake.wire import NetworkMessage, Push, Put, Resolution, WhatAmI, WireExpr, ZenohId

ZID = ZenohId(b"\xaa")
SN_BITS = (8, 16, 32, 64)


def agree(**terms: Any) -> Agreed:
    if "sn_bits" in terms:
        terms["resolution"] = Resolution.of(sn_bits=terms.pop("sn_bits"))
    return Agreed(ZID, WhatAmI.PEER, **terms)


def transport(now: float = 0.0, is_stream: bool = True, **terms: Any) -> Transport:
    return Transport(agree(**terms), now, is_stream)


def put(payload: bytes, key: str = "k") -> Push:
    return Push(WireExpr(0, key), Put(payload))


def units(sender: Transport, now: float = 0.0) -> list[bytes]:
    """All queued units, framed for the link."""
    found = []
    while (unit := sender.next_unit(now)) is not None:
        found.append(unit)
    return found


def delivered(deliveries: list[Delivery]) -> list[tuple[NetworkMessage, bool]]:
    return [(message, each.reliable) for each in deliveries for message in each.messages]


def payloads(deliveries: list[Delivery]) -> list[bytes]:
    """The payloads of publications."""
    found = []
    for message, _ in delivered(deliveries):
        assert isinstance(message, Push)
        assert isinstance(message.body, Put)
        found.append(message.body.payload)
    return found
