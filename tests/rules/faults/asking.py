"""Faults of queries, of what samples carry, and of link states."""

from __future__ import annotations

from typing import Any

from tests.rules.chat import CONTROL, Chat
from tests.rules.faults.fault import fault, send_bytes
from tests.rules.wires import SECOND
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


def asked(chat: Chat, **changes: Any) -> tuple[int, int]:
    """A request on `a/b`: the asking side, and the number."""
    side = chat.side()
    request = chat.request_message(side, "a/b", **changes)
    chat.send(side, request)
    return side, request.request_id


def ended(chat: Chat, side: int, number: int, packet: int) -> int:
    chat.final(1 - side, number)
    return packet


@fault("request-id-reused")
def a_request_of_a_number_in_use(chat: Chat) -> int:
    side, number = asked(chat)
    packet = chat.send(side, chat.request_message(side, "c", request_id=number))
    return ended(chat, side, number, packet)


@fault("request-id-outside", request_id_bits=8)
def a_request_beyond_the_resolution(chat: Chat) -> int:
    side = chat.side()
    packet = chat.send(side, chat.request_message(side, "c", request_id=300))
    return ended(chat, side, 300, packet)


@fault("request-without-timeout")
def a_request_without_a_timeout(chat: Chat) -> int:
    side = chat.side()
    request = chat.request_message(side, "c", timeout_ms=None)
    return ended(chat, side, request.request_id, chat.send(side, request))


@fault("response-without-request")
def a_reply_to_no_request(chat: Chat) -> int:
    side = chat.side()
    return chat.send(side, chat.reply(side, 9_999, "a/b"))


@fault("response-without-request")
def a_final_of_no_request(chat: Chat) -> int:
    return chat.final(chat.side(), 9_999)


@fault("response-after-final")
def a_reply_after_the_final(chat: Chat) -> int:
    side, number, key = chat.query()
    return chat.send(1 - side, chat.reply(1 - side, number, key))


@fault("response-after-final")
def an_error_of_a_queryable_after_the_final(chat: Chat) -> int:
    side, number, key = chat.query()
    return chat.send(1 - side, chat.reply(1 - side, number, key, body=Err(b"Timeout")))


@fault("timeout-after-final", also=("response-key-empty",))
def a_timeout_after_the_final(chat: Chat) -> int:
    side, number, _ = chat.query()
    error = Response(number, WireExpr(0), Err(b"Timeout"), QOS_BYTES[0x0D])
    return chat.send(1 - side, error)


@fault("timeout-after-final", also=("response-key-empty",))
def a_reply_after_a_timeout_and_the_final(chat: Chat) -> int:
    side, number = asked(chat)
    chat.send(1 - side, Response(number, WireExpr(0), Err(b"Timeout"), QOS_BYTES[0x0D]))
    chat.final(1 - side, number)
    return chat.send(1 - side, chat.reply(1 - side, number, "a/b"))


@fault("response-final-repeated")
def a_second_final(chat: Chat) -> int:
    side, number, _ = chat.query()
    return chat.final(1 - side, number)


@fault("response-final-missing", ends=True)
def a_request_without_a_final(chat: Chat) -> int:
    side = chat.side()
    packet = chat.send(side, chat.request_message(side, "a/b", timeout_ms=1_000))
    chat.live(6)
    return packet


@fault("reply-key-outside")
def a_reply_on_another_key(chat: Chat) -> int:
    side, number = asked(chat)
    packet = chat.send(1 - side, chat.reply(1 - side, number, "zz/outside"))
    return ended(chat, side, number, packet)


@fault("budget-exceeded")
def more_replies_than_the_budget(chat: Chat) -> int:
    side, number = asked(chat, budget=2)
    packets = [chat.send(1 - side, chat.reply(1 - side, number, "a/b")) for _ in range(3)]
    return ended(chat, side, number, packets[2])


@fault("response-qos")
def a_reply_of_another_priority(chat: Chat) -> int:
    side, number = asked(chat)
    reply = chat.reply(1 - side, number, "a/b", qos=QOS_BYTES[0x09])
    return ended(chat, side, number, chat.send(1 - side, reply))


@fault("reply-consolidation")
def a_reply_with_a_consolidation(chat: Chat) -> int:
    side, number = asked(chat)
    body = Reply(Put(b"v"), ConsolidationMode.LATEST)
    packet = chat.send(1 - side, chat.reply(1 - side, number, "a/b", body=body))
    return ended(chat, side, number, packet)


# --- what samples carry -----------------------------------------------------------------------


def put(chat: Chat, side: int | None = None, **values: Any) -> int:
    side = chat.side() if side is None else side
    return chat.send(side, Push(KEY, Put(b"v", **values)))


@fault("encoding-unknown")
def an_encoding_nobody_knows(chat: Chat) -> int:
    return put(chat, encoding=Encoding(900))


@fault("schema-not-text")
def a_schema_that_is_no_text(chat: Chat) -> int:
    return put(chat, encoding=Encoding(4, b"\xff\xfe"))


@fault("timestamp-ahead")
def a_timestamp_of_the_future(chat: Chat) -> int:
    time = ntp64_of_ns(chat.recorder.now_ns + 5 * SECOND)
    return put(chat, timestamp=Timestamp(time, ZenohId(b"\x55\x55")))


@fault("source-sn-backwards", protocol="tcp")
def a_source_that_counts_backwards(chat: Chat) -> int:
    side = chat.side()
    put(chat, side, source_info=SourceInfo(chat.ends[side].zid, 99, 10))
    return put(chat, side, source_info=SourceInfo(chat.ends[side].zid, 99, 4))


@fault("shm-not-agreed")
def a_payload_in_shared_memory(chat: Chat) -> int:
    data = b"\x7d\x00\x01a\x81\x12\x01\x01\x07\x88\x27\xa1\xb8\x01\x00\x00"
    return send_bytes(chat, chat.side(), data)


@fault("node-id-not-router", roles=("client", "router"))
@fault("node-id-not-router", roles=("peer", "peer"))
def a_node_id_of_a_client(chat: Chat) -> int:
    return chat.send(chat.side(), Push(KEY, Put(b"v"), node_id=3))


@fault("node-id-unknown", roles=ROUTERS)
def a_node_id_without_link_state(chat: Chat) -> int:
    return chat.send(chat.side(), Push(KEY, Put(b"v"), node_id=500))


@fault("extension-unknown")
def an_optional_extension_nobody_knows(chat: Chat) -> int:
    extension = chat.random.choice((Extension(0x0E), Extension(0x2E, 7), Extension(0x4E, b"x")))
    return chat.send(chat.side(), Push(KEY, Put(b"v"), extensions=(extension,)))


# --- link states ------------------------------------------------------------------------------


def states(chat: Chat, side: int, *those: LinkState) -> int:
    return chat.send(side, Oam(1, qos=CONTROL, body=bytes(LinkStateList(those))))


@fault("oam-unknown")
def management_nobody_knows(chat: Chat) -> int:
    return chat.send(chat.side(), Oam(7, qos=CONTROL, body=b"x"))


@fault("link-state-undecodable", roles=ROUTERS)
def a_link_state_that_ends_too_early(chat: Chat) -> int:
    return chat.send(chat.side(), Oam(1, qos=CONTROL, body=b"\x05\x01"))


@fault("link-state-client", roles=("client", "router"))
def a_link_state_for_a_client(chat: Chat) -> int:
    return states(chat, chat.side())


@fault("link-state-unnamed", roles=ROUTERS)
def a_link_state_of_a_node_without_a_name(chat: Chat) -> int:
    return states(chat, chat.side(), LinkState(77, 1, ()))


@fault("link-state-renamed", roles=ROUTERS, ends=True)
def a_node_that_gets_another_name(chat: Chat) -> int:
    side = chat.side()
    chat.link_state(side)
    return states(chat, side, LinkState(1, 900, (), zid=ZenohId(b"\x66\x66")))


@fault("link-state-old", roles=ROUTERS)
def a_link_state_older_than_the_last(chat: Chat) -> int:
    side = chat.side()
    chat.link_state(side)
    return states(chat, side, LinkState(0, 0, (1,), zid=chat.ends[side].zid))
