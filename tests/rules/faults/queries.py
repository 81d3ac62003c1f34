"""Faults of queries, of what samples carry, and of link states."""

from __future__ import annotations

from typing import Any

from tests.rules.faults.fault import fault, send_bytes
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import SECOND
from tests.rules.session_writer import CONTROL
from zenlake.wire import Err, LinkState, LinkStateList, Oam, Push, Put, Reply, Response, SourceInfo
from zenlake.wire.message import Extension
from zenlake.wire.values.choices import ConsolidationMode
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import QOS_BYTES
from zenlake.wire.values.timestamp import Timestamp, ntp64_of_ns
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

ROUTERS = ("router", "router")
KEY = WireExpr(0, "a/b")


def asked(session: LegalSession, **changes: Any) -> tuple[int, int]:
    """Send a request on `a/b`; returns the requesting side and the request id."""
    side = session.side()
    request = session.request_message(side, "a/b", **changes)
    session.send(side, request)
    return side, request.request_id


def ended(session: LegalSession, side: int, number: int, packet: int) -> int:
    session.final(1 - side, number)
    return packet


@fault("request-id-reused")
def a_request_of_a_number_in_use(session: LegalSession) -> int:
    side, number = asked(session)
    packet = session.send(side, session.request_message(side, "c", request_id=number))
    return ended(session, side, number, packet)


@fault("request-id-outside", request_id_bits=8)
def a_request_beyond_the_resolution(session: LegalSession) -> int:
    side = session.side()
    packet = session.send(side, session.request_message(side, "c", request_id=300))
    return ended(session, side, 300, packet)


@fault("request-without-timeout")
def a_request_without_a_timeout(session: LegalSession) -> int:
    side = session.side()
    request = session.request_message(side, "c", timeout_ms=None)
    return ended(session, side, request.request_id, session.send(side, request))


@fault("response-without-request")
def a_reply_to_no_request(session: LegalSession) -> int:
    side = session.side()
    return session.send(side, session.reply(9_999, "a/b"))


@fault("response-without-request")
def a_final_of_no_request(session: LegalSession) -> int:
    return session.final(session.side(), 9_999)


@fault("response-after-final")
def a_reply_after_the_final(session: LegalSession) -> int:
    side, number, key = session.query()
    return session.send(1 - side, session.reply(number, key))


@fault("response-after-final")
def an_error_of_a_queryable_after_the_final(session: LegalSession) -> int:
    side, number, key = session.query()
    return session.send(1 - side, session.reply(number, key, body=Err(b"Timeout")))


@fault("timeout-after-final", also=("response-key-empty",))
def a_timeout_after_the_final(session: LegalSession) -> int:
    side, number, _ = session.query()
    error = Response(number, WireExpr(0), Err(b"Timeout"), QOS_BYTES[0x0D])
    return session.send(1 - side, error)


@fault("timeout-after-final", also=("response-key-empty",))
def a_reply_after_a_timeout_and_the_final(session: LegalSession) -> int:
    side, number = asked(session)
    session.send(1 - side, Response(number, WireExpr(0), Err(b"Timeout"), QOS_BYTES[0x0D]))
    session.final(1 - side, number)
    return session.send(1 - side, session.reply(number, "a/b"))


@fault("response-final-repeated")
def a_second_final(session: LegalSession) -> int:
    side, number, _ = session.query()
    return session.final(1 - side, number)


@fault("response-final-missing", ends=True)
def a_request_without_a_final(session: LegalSession) -> int:
    side = session.side()
    packet = session.send(side, session.request_message(side, "a/b", timeout_ms=1_000))
    session.pass_time(6)
    return packet


@fault("reply-key-outside")
def a_reply_on_another_key(session: LegalSession) -> int:
    side, number = asked(session)
    packet = session.send(1 - side, session.reply(number, "zz/outside"))
    return ended(session, side, number, packet)


@fault("budget-exceeded")
def more_replies_than_the_budget(session: LegalSession) -> int:
    side, number = asked(session, budget=2)
    packets = [session.send(1 - side, session.reply(number, "a/b")) for _ in range(3)]
    return ended(session, side, number, packets[2])


@fault("response-qos")
def a_reply_of_another_priority(session: LegalSession) -> int:
    side, number = asked(session)
    reply = session.reply(number, "a/b", qos=QOS_BYTES[0x09])
    return ended(session, side, number, session.send(1 - side, reply))


@fault("reply-consolidation")
def a_reply_with_a_consolidation(session: LegalSession) -> int:
    side, number = asked(session)
    body = Reply(Put(b"v"), ConsolidationMode.LATEST)
    packet = session.send(1 - side, session.reply(number, "a/b", body=body))
    return ended(session, side, number, packet)


# --- what samples carry -----------------------------------------------------------------------


def put(session: LegalSession, side: int | None = None, **values: Any) -> int:
    side = session.side() if side is None else side
    return session.send(side, Push(KEY, Put(b"v", **values)))


@fault("encoding-unknown")
def an_encoding_nobody_knows(session: LegalSession) -> int:
    return put(session, encoding=Encoding(900))


@fault("schema-not-text")
def a_schema_that_is_no_text(session: LegalSession) -> int:
    return put(session, encoding=Encoding(4, b"\xff\xfe"))


@fault("timestamp-ahead")
def a_timestamp_of_the_future(session: LegalSession) -> int:
    time = ntp64_of_ns(session.recorder.now_ns + 5 * SECOND)
    return put(session, timestamp=Timestamp(time, ZenohId(b"\x55\x55")))


@fault("source-sn-backwards", protocol="tcp")
def a_source_that_counts_backwards(session: LegalSession) -> int:
    side = session.side()
    put(session, side, source_info=SourceInfo(session.ends[side].zid, 99, 10))
    return put(session, side, source_info=SourceInfo(session.ends[side].zid, 99, 4))


@fault("shm-not-agreed")
def a_payload_in_shared_memory(session: LegalSession) -> int:
    data = b"\x7d\x00\x01a\x81\x12\x01\x01\x07\x88\x27\xa1\xb8\x01\x00\x00"
    return send_bytes(session, session.side(), data)


@fault("node-id-not-router", roles=("client", "router"))
@fault("node-id-not-router", roles=("peer", "peer"))
def a_node_id_of_a_client(session: LegalSession) -> int:
    return session.send(session.side(), Push(KEY, Put(b"v"), node_id=3))


@fault("node-id-unknown", roles=ROUTERS)
def a_node_id_without_link_state(session: LegalSession) -> int:
    return session.send(session.side(), Push(KEY, Put(b"v"), node_id=500))


@fault("extension-unknown")
def an_optional_extension_nobody_knows(session: LegalSession) -> int:
    extension = session.random.choice((Extension(0x0E), Extension(0x2E, 7), Extension(0x4E, b"x")))
    return session.send(session.side(), Push(KEY, Put(b"v"), extensions=(extension,)))


# --- link states ------------------------------------------------------------------------------


def states(session: LegalSession, side: int, *those: LinkState) -> int:
    return session.send(side, Oam(1, qos=CONTROL, body=bytes(LinkStateList(those))))


@fault("oam-unknown")
def management_nobody_knows(session: LegalSession) -> int:
    return session.send(session.side(), Oam(7, qos=CONTROL, body=b"x"))


@fault("link-state-undecodable", roles=ROUTERS)
def a_link_state_that_ends_too_early(session: LegalSession) -> int:
    return session.send(session.side(), Oam(1, qos=CONTROL, body=b"\x05\x01"))


@fault("link-state-client", roles=("client", "router"))
def a_link_state_for_a_client(session: LegalSession) -> int:
    return states(session, session.side())


@fault("link-state-unnamed", roles=ROUTERS)
def a_link_state_of_a_node_without_a_name(session: LegalSession) -> int:
    return states(session, session.side(), LinkState(77, 1, ()))


@fault("link-state-renamed", roles=ROUTERS, ends=True)
def a_node_that_gets_another_name(session: LegalSession) -> int:
    side = session.side()
    session.link_state(side)
    return states(session, side, LinkState(1, 900, (), zid=ZenohId(b"\x66\x66")))


@fault("link-state-old", roles=ROUTERS)
def a_link_state_older_than_the_last(session: LegalSession) -> int:
    side = session.side()
    session.link_state(side)
    return states(session, side, LinkState(0, 0, (1,), zid=session.ends[side].zid))
