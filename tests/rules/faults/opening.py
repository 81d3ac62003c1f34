"""Faults of handshakes, leases and ends."""

from __future__ import annotations

from typing import Any

from tests.rules.chat import ACCEPTOR, OPENER, Chat
from tests.rules.faults.fault import fault
from tests.rules.faults.on_the_wire import PLAIN, push
from tests.rules.wires import SECOND
from zenlake.wire import Close, DeclareFinal, Join, KeepAlive
from zenlake.wire.values.qos_link import QoSLink
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

TCP: dict[str, Any] = {"protocol": "tcp"}
FIRST: dict[str, Any] = {"where": "handshake"}
REFUSED: dict[str, Any] = {"where": "handshake", "ends": True, "protocol": "tcp"}


def refused(chat: Chat, **changes: Any) -> int:
    """An INIT_SYN that is answered by CLOSE."""
    packet = chat.greet(OPENER, chat.init(OPENER, **changes))
    chat.greet(ACCEPTOR, Close(2))
    return packet


@fault("handshake-order", **REFUSED)
def open_before_init_ack(chat: Chat) -> int:
    chat.greet(OPENER, chat.init(OPENER))
    return chat.greet(OPENER, chat.open_message(OPENER))


@fault("handshake-repeated", protocol="tcp", lowlatency=False)
def init_in_an_open_session(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.init(side)))


@fault("handshake-repeated", protocol="tcp", lowlatency=False)
def open_in_an_open_session(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.open_message(side)))


@fault("data-before-open", **FIRST, **TCP)
def data_before_open_ack(chat: Chat) -> int:
    chat.greet(OPENER, chat.init(OPENER))
    chat.greet(ACCEPTOR, chat.init(ACCEPTOR))
    chat.greet(OPENER, chat.open_message(OPENER))
    packet = chat.send(OPENER, push())
    chat.greet(ACCEPTOR, chat.open_message(ACCEPTOR))
    chat.introduce()
    return packet


@fault("handshake-not-alone", **FIRST)
def open_with_a_keep_alive(chat: Chat) -> int:
    chat.greet(OPENER, chat.init(OPENER))
    chat.greet(ACCEPTOR, chat.init(ACCEPTOR))
    packet = chat.greet(OPENER, chat.open_message(OPENER), KeepAlive())
    chat.greet(ACCEPTOR, chat.open_message(ACCEPTOR))
    chat.introduce()
    return packet


@fault("version-other", **REFUSED)
def an_older_version(chat: Chat) -> int:
    return refused(chat, version=8)


@fault("version-accepted", also=("version-other",), **FIRST, **TCP)
def an_older_version_that_is_accepted(chat: Chat) -> int:
    return chat.open(syn={"version": 8})[1]


@fault("resolution-raised", sn_bits=16, **FIRST)
@fault("resolution-raised", sn_bits=64, **FIRST)
def a_larger_resolution_than_offered(chat: Chat) -> int:
    return chat.open(syn={"resolution": Resolution.of(8)})[1]


@fault("batch-size-raised", batch_size=1_024, **FIRST)
def a_larger_batch_than_offered(chat: Chat) -> int:
    return chat.open(syn={"batch_size": 1_000})[1]


@fault("batch-size-tiny", **REFUSED)
def a_batch_size_of_ten_bytes(chat: Chat) -> int:
    return refused(chat, batch_size=10)


@fault("extension-not-offered", qos=True, lowlatency=False, **FIRST)
def qos_that_was_not_offered(chat: Chat) -> int:
    return chat.open(syn={"qos": False})[1]


@fault("extension-not-offered", compression=True, lowlatency=False, **FIRST)
def compression_that_was_not_offered(chat: Chat) -> int:
    return chat.open(syn={"compression": False})[1]


@fault("patch-raised", patch=1, **FIRST)
def a_higher_patch_than_offered(chat: Chat) -> int:
    return chat.open(syn={"patch": None})[1]


@fault("qos-twice", lowlatency=False, **REFUSED)
def qos_and_qos_link(chat: Chat) -> int:
    return refused(chat, qos=True, qos_link=QoSLink.of())


@fault("low-latency-with-qos", **REFUSED)
def low_latency_and_qos(chat: Chat) -> int:
    return refused(chat, qos=True, lowlatency=True)


@fault("cookie-not-echoed", **REFUSED, **PLAIN)
def another_cookie(chat: Chat) -> int:
    chat.greet(OPENER, chat.init(OPENER))
    chat.greet(ACCEPTOR, chat.init(ACCEPTOR))
    packet = chat.greet(OPENER, chat.open_message(OPENER, cookie=b"forged"))
    chat.greet(ACCEPTOR, Close(2))
    return packet


@fault("initial-sn-outside", sn_bits=8, **REFUSED, **PLAIN)
@fault("initial-sn-outside", sn_bits=32, **REFUSED, **PLAIN)
def a_first_number_above_the_resolution(chat: Chat) -> int:
    chat.greet(OPENER, chat.init(OPENER))
    chat.greet(ACCEPTOR, chat.init(ACCEPTOR))
    sn = chat.resolution.sn_mask + 1
    packet = chat.greet(OPENER, chat.open_message(OPENER, initial_sn=sn))
    chat.greet(ACCEPTOR, Close(2))
    return packet


@fault("connection-to-self", **REFUSED)
def a_node_that_accepts_itself(chat: Chat) -> int:
    chat.ends[1].zid = chat.ends[0].zid
    return chat.open()[3]


@fault("clients-only", roles=("client", "client"), **REFUSED)
def a_client_that_accepts_a_client(chat: Chat) -> int:
    return chat.open()[3]


@fault("lease-zero", **FIRST)
def a_lease_of_zero(chat: Chat) -> int:
    return chat.open(open_syn={"lease": 0})[2]


@fault("lease-in-milliseconds", **FIRST)
def a_lease_of_ten_thousand_milliseconds(chat: Chat) -> int:
    return chat.open(open_ack={"lease": 10_000, "seconds": False})[3]


# --- leases and the end -----------------------------------------------------------------------


@fault("lease-exceeded")
def a_silence_longer_than_the_lease(chat: Chat) -> int:
    side = chat.side()
    chat.live(12.5, silent=(side,))
    return chat.unit(side, bytes(KeepAlive()))


@fault("keep-alive-late")
def a_silence_of_most_of_the_lease(chat: Chat) -> int:
    side = chat.side()
    chat.unit(side, bytes(KeepAlive()))
    chat.live(9.6, silent=(side,))
    return chat.unit(side, bytes(KeepAlive()))


@fault("lease-not-enforced", ends=True)
def a_node_that_does_not_notice_silence(chat: Chat) -> int:
    side = chat.side()
    heard = chat.unit(1 - side, bytes(KeepAlive()))
    packets = chat.recorder.packets
    last_seen_ns = packets[heard - 1].time_ns
    packet = chat.unit(side, bytes(KeepAlive()))
    while packets[packet - 1].time_ns - last_seen_ns <= 21 * SECOND:
        chat.recorder.wait(2 * SECOND)
        packet = chat.unit(side, bytes(KeepAlive()))
    return packet


@fault("traffic-after-close", ends=True, lowlatency=False, protocol="tcp")
@fault("low-latency-after-close", ends=True, lowlatency=True, protocol="tcp")
def a_publication_after_close(chat: Chat) -> int:
    side = chat.side()
    chat.unit(side, bytes(Close(0)))
    return chat.send(side, push())


@fault("declared-after-close", ends=True, lowlatency=False, protocol="tcp")
def an_answer_to_an_interest_after_close(chat: Chat) -> int:
    side = chat.side()
    chat.unit(side, bytes(Close(0)))
    return chat.declare(side, DeclareFinal(), interest_id=7)


@fault("traffic-after-giving-up", ends=True, lowlatency=False, protocol="tcp")
def a_publication_after_giving_up(chat: Chat) -> int:
    side = chat.side()
    chat.unit(side, bytes(Close(6)))
    return chat.send(side, push())


@fault("close-reason-unknown")
def a_reason_nobody_knows(chat: Chat) -> int:
    return chat.close(reason=42)


@fault("join-outside-group", lowlatency=False)
def a_join_on_a_unicast_link(chat: Chat) -> int:
    join = Join(WhatAmI.PEER, ZenohId(b"\x31"), 10, 1, 2, seconds=True)
    return chat.unit(chat.side(), bytes(join))
