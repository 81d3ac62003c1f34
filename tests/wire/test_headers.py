"""The ids and flags that code compares without decoding a message are those of the definitions."""

from __future__ import annotations

import pytest

from zenlake.wire import (
    CongestionControl,
    Fragment,
    Frame,
    Init,
    Open,
    Priority,
    Push,
    Put,
    QoS,
    Resolution,
    WhatAmI,
    WireExpr,
    ZenohId,
    headers,
)
from zenlake.wire.definitions import LAYOUTS

BY_NAME = {layout.name: layout.id for layout in LAYOUTS.values()}
NAMES = [name for name in vars(headers) if name.endswith("_ID")]
ZID = ZenohId(b"\x01")


@pytest.mark.parametrize("name", NAMES)
def test_id_is_that_of_the_definition(name: str) -> None:
    assert vars(headers)[name] == BY_NAME[name.removesuffix("_ID")]


def test_network_messages_have_greater_ids_than_transport_messages() -> None:
    by_layer = {
        layer: {one.id for one in LAYOUTS.values() if one.layer == layer}
        for layer in ("network", "transport")
    }
    assert min(filter(None, by_layer["network"])) == headers.NETWORK_ID_MIN
    assert max(filter(None, by_layer["transport"])) < headers.NETWORK_ID_MIN


def test_flags_of_a_frame_and_a_fragment() -> None:
    frame = bytes(Frame(sn=0, reliable=True, qos=Priority.REAL_TIME, messages=[]))
    assert frame[0] == headers.FRAME_ID | headers.IS_RELIABLE | headers.HAS_EXTENSIONS
    assert frame[2] == headers.PRIORITY_EXTENSION
    fragment = bytes(Fragment(sn=0, reliable=False, more=True, first=True, drop=True, payload=b""))
    assert fragment[0] == headers.FRAGMENT_ID | headers.MORE_FRAGMENTS | headers.HAS_EXTENSIONS
    first = headers.FIRST_EXTENSION | headers.HAS_EXTENSIONS
    assert fragment[2:] == bytes([first, headers.DROP_EXTENSION])


def test_flags_of_a_handshake() -> None:
    init = Init(whatami=WhatAmI.CLIENT, zid=ZID, resolution=Resolution(), batch_size=1, cookie=b"")
    assert bytes(init)[0] == headers.INIT_ID | headers.HAS_SIZES | headers.IS_ANSWER
    assert bytes(Open(lease=1, initial_sn=0))[0] == headers.OPEN_ID | headers.IS_ANSWER


def test_flags_of_a_key_and_the_qos_extension() -> None:
    qos = QoS.of(Priority.REAL_TIME, CongestionControl.BLOCK, express=True)
    push = bytes(Push(key=WireExpr(0, "a", sender=True), qos=qos, body=Put(payload=b"")))
    flags = headers.HAS_SUFFIX | headers.IS_SENDERS_KEY | headers.HAS_EXTENSIONS
    assert push[0] == headers.PUSH_ID | flags
    assert push[4] == headers.QOS_EXTENSION
    assert push[5] & headers.PRIORITY_BITS == Priority.REAL_TIME
    assert push[5] & ~headers.PRIORITY_BITS == headers.QOS_BLOCK | headers.QOS_EXPRESS
    first = QoS.of(Priority.CONTROL, CongestionControl.BLOCK_FIRST)
    assert first.byte == headers.QOS_BLOCK_FIRST
