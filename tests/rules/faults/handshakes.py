"""Faults of handshakes, leases and ends."""

from __future__ import annotations

from typing import Any

from tests.rules.faults.batches import PLAIN, push
from tests.rules.faults.fault import fault
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import SECOND
from tests.rules.session_writer import ACCEPTOR, OPENER
from zenlake.wire import Close, DeclareFinal, Join, KeepAlive
from zenlake.wire.values.qos_link import QoSLink
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

TCP: dict[str, Any] = {"protocol": "tcp"}
FIRST: dict[str, Any] = {"where": "handshake"}
REFUSED: dict[str, Any] = {"where": "handshake", "ends": True, "protocol": "tcp"}


def refused(session: LegalSession, **changes: Any) -> int:
    """Send an INIT_SYN that the other side answers with CLOSE."""
    packet = session.send_handshake(OPENER, session.init(OPENER, **changes))
    session.send_handshake(ACCEPTOR, Close(2))
    return packet


@fault("handshake-order", **REFUSED)
def open_before_init_ack(session: LegalSession) -> int:
    session.send_handshake(OPENER, session.init(OPENER))
    return session.send_handshake(OPENER, session.open_message(OPENER))


@fault("handshake-repeated", protocol="tcp", lowlatency=False)
def init_in_an_open_session(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.init(side)))


@fault("handshake-repeated", protocol="tcp", lowlatency=False)
def open_in_an_open_session(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.open_message(side)))


@fault("data-before-open", **FIRST, **TCP)
def data_before_open_ack(session: LegalSession) -> int:
    session.send_handshake(OPENER, session.init(OPENER))
    session.send_handshake(ACCEPTOR, session.init(ACCEPTOR))
    session.send_handshake(OPENER, session.open_message(OPENER))
    packet = session.send(OPENER, push())
    session.send_handshake(ACCEPTOR, session.open_message(ACCEPTOR))
    session.send_link_states()
    return packet


@fault("handshake-not-alone", **FIRST)
def open_with_a_keep_alive(session: LegalSession) -> int:
    session.send_handshake(OPENER, session.init(OPENER))
    session.send_handshake(ACCEPTOR, session.init(ACCEPTOR))
    packet = session.send_handshake(OPENER, session.open_message(OPENER), KeepAlive())
    session.send_handshake(ACCEPTOR, session.open_message(ACCEPTOR))
    session.send_link_states()
    return packet


@fault("version-other", **REFUSED)
def an_older_version(session: LegalSession) -> int:
    return refused(session, version=8)


@fault("version-accepted", also=("version-other",), **FIRST, **TCP)
def an_older_version_that_is_accepted(session: LegalSession) -> int:
    return session.open(syn={"version": 8})[1]


@fault("resolution-raised", sn_bits=16, **FIRST)
@fault("resolution-raised", sn_bits=64, **FIRST)
def a_larger_resolution_than_offered(session: LegalSession) -> int:
    return session.open(syn={"resolution": Resolution.of(8)})[1]


@fault("batch-size-raised", batch_size=1_024, **FIRST)
def a_larger_batch_than_offered(session: LegalSession) -> int:
    return session.open(syn={"batch_size": 1_000})[1]


@fault("batch-size-tiny", **REFUSED)
def a_batch_size_of_ten_bytes(session: LegalSession) -> int:
    return refused(session, batch_size=10)


@fault("extension-not-offered", qos=True, lowlatency=False, **FIRST)
def qos_that_was_not_offered(session: LegalSession) -> int:
    return session.open(syn={"qos": False})[1]


@fault("extension-not-offered", compression=True, lowlatency=False, **FIRST)
def compression_that_was_not_offered(session: LegalSession) -> int:
    return session.open(syn={"compression": False})[1]


@fault("patch-raised", patch=1, **FIRST)
def a_higher_patch_than_offered(session: LegalSession) -> int:
    return session.open(syn={"patch": None})[1]


@fault("qos-twice", lowlatency=False, **REFUSED)
def qos_and_qos_link(session: LegalSession) -> int:
    return refused(session, qos=True, qos_link=QoSLink.of())


@fault("low-latency-with-qos", **REFUSED)
def low_latency_and_qos(session: LegalSession) -> int:
    return refused(session, qos=True, lowlatency=True)


@fault("cookie-not-echoed", **REFUSED, **PLAIN)
def another_cookie(session: LegalSession) -> int:
    session.send_handshake(OPENER, session.init(OPENER))
    session.send_handshake(ACCEPTOR, session.init(ACCEPTOR))
    packet = session.send_handshake(OPENER, session.open_message(OPENER, cookie=b"forged"))
    session.send_handshake(ACCEPTOR, Close(2))
    return packet


@fault("initial-sn-outside", sn_bits=8, **REFUSED, **PLAIN)
@fault("initial-sn-outside", sn_bits=32, **REFUSED, **PLAIN)
def a_first_number_above_the_resolution(session: LegalSession) -> int:
    session.send_handshake(OPENER, session.init(OPENER))
    session.send_handshake(ACCEPTOR, session.init(ACCEPTOR))
    sn = session.resolution.sn_mask + 1
    packet = session.send_handshake(OPENER, session.open_message(OPENER, initial_sn=sn))
    session.send_handshake(ACCEPTOR, Close(2))
    return packet


@fault("connection-to-self", **REFUSED)
def a_node_that_accepts_itself(session: LegalSession) -> int:
    session.ends[1].zid = session.ends[0].zid
    return session.open()[3]


@fault("clients-only", roles=("client", "client"), **REFUSED)
def a_client_that_accepts_a_client(session: LegalSession) -> int:
    return session.open()[3]


@fault("lease-zero", **FIRST)
def a_lease_of_zero(session: LegalSession) -> int:
    return session.open(open_syn={"lease": 0})[2]


@fault("lease-in-milliseconds", **FIRST)
def a_lease_of_ten_thousand_milliseconds(session: LegalSession) -> int:
    return session.open(open_ack={"lease": 10_000, "seconds": False})[3]


# --- leases and the end -----------------------------------------------------------------------


@fault("lease-exceeded")
def a_silence_longer_than_the_lease(session: LegalSession) -> int:
    side = session.side()
    session.pass_time(12.5, silent=(side,))
    return session.unit(side, bytes(KeepAlive()))


@fault("keep-alive-late")
def a_silence_of_most_of_the_lease(session: LegalSession) -> int:
    side = session.side()
    session.unit(side, bytes(KeepAlive()))
    session.pass_time(9.6, silent=(side,))
    return session.unit(side, bytes(KeepAlive()))


@fault("lease-not-enforced", ends=True)
def a_node_that_does_not_notice_silence(session: LegalSession) -> int:
    side = session.side()
    heard = session.unit(1 - side, bytes(KeepAlive()))
    packets = session.recorder.packets
    last_seen_ns = packets[heard - 1].time_ns
    packet = session.unit(side, bytes(KeepAlive()))
    while packets[packet - 1].time_ns - last_seen_ns <= 21 * SECOND:
        session.recorder.wait(2 * SECOND)
        packet = session.unit(side, bytes(KeepAlive()))
    return packet


@fault("traffic-after-close", ends=True, lowlatency=False, protocol="tcp")
@fault("low-latency-after-close", ends=True, lowlatency=True, protocol="tcp")
def a_publication_after_close(session: LegalSession) -> int:
    side = session.side()
    session.unit(side, bytes(Close(0)))
    return session.send(side, push())


@fault("declared-after-close", ends=True, lowlatency=False, protocol="tcp")
def an_answer_to_an_interest_after_close(session: LegalSession) -> int:
    side = session.side()
    session.unit(side, bytes(Close(0)))
    return session.declare(side, DeclareFinal(), interest_id=7)


@fault("traffic-after-giving-up", ends=True, lowlatency=False, protocol="tcp")
def a_publication_after_giving_up(session: LegalSession) -> int:
    side = session.side()
    session.unit(side, bytes(Close(6)))
    return session.send(side, push())


@fault("close-reason-unknown")
def a_reason_nobody_knows(session: LegalSession) -> int:
    return session.close(reason=42)


@fault("join-outside-group", lowlatency=False)
def a_join_on_a_unicast_link(session: LegalSession) -> int:
    join = Join(WhatAmI.PEER, ZenohId(b"\x31"), 10, 1, 2, seconds=True)
    return session.unit(session.side(), bytes(join))
