"""Faults of batches, channels and fragments."""

from __future__ import annotations

from typing import Any

from tests.rules.chat import Chat
from tests.rules.faults.fault import fault, send_bytes
from tests.rules.wires import SECOND
from zenlake.wire import Declare, DeclareKeyExpr, KeepAlive, Push, Put, TransportOam
from zenlake.wire.values.qos import PRIORITIES, QOS_BYTES
from zenlake.wire.values.wire_expr import WireExpr

PLAIN: dict[str, Any] = {"lowlatency": False, "compression": False}
FRAMED: dict[str, Any] = {"lowlatency": False}
STREAM: dict[str, Any] = {"protocol": "tcp", "lowlatency": False}
PUSH = bytes(Push(WireExpr(0, "a"), Put(b"v")))


def push(key: str = "a/b", payload: bytes = b"v", qos: int | None = None) -> Push:
    return Push(WireExpr(0, key), Put(payload), qos=None if qos is None else QOS_BYTES[qos])


@fault("batch-too-large", batch_size=1_024, **PLAIN)
def a_batch_beyond_the_size_agreed(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.frame(side, [push(payload=bytes(1_100))])))


@fault("batch-too-large", batch_size=1_024, lowlatency=True, protocol="tcp")
def a_low_latency_unit_beyond_the_size_agreed(chat: Chat) -> int:
    return chat.unit(chat.side(), bytes(push(payload=bytes(1_100))))


@fault("batch-empty", protocol="tcp")
def a_batch_without_a_message(chat: Chat) -> int:
    return chat.raw(chat.side(), b"")


@fault("batch-undecodable", protocol="tcp", ends=True)
def a_message_that_ends_too_early(chat: Chat) -> int:
    return send_bytes(chat, chat.side(), b"\x7d\x00\x30ab")


@fault("low-latency-kind", protocol="tcp", lowlatency=True, ends=True)
def a_frame_on_a_low_latency_link(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.frame(side, [push()])))


@fault("low-latency-batched", lowlatency=True)
def two_messages_in_a_low_latency_unit(chat: Chat) -> int:
    return chat.unit(chat.side(), 2 * PUSH)


def _mandatory(chat: Chat, side: int) -> int:
    return send_bytes(chat, side, b"\xfd\x00\x01a\x1e\x01\x01v")


@fault("mandatory-extension-unknown", protocol="tcp", ends=True)
def a_mandatory_extension_nobody_knows(chat: Chat) -> int:
    return _mandatory(chat, chat.side())


@fault(
    "mandatory-extension-accepted",
    protocol="tcp",
    also=("mandatory-extension-unknown",),
    ends=True,
)
def a_receiver_that_goes_on_after_it(chat: Chat) -> int:
    side = chat.side()
    _mandatory(chat, side)
    chat.recorder.wait(3 * SECOND // 2)
    return chat.unit(1 - side, bytes(KeepAlive()))


@fault("reserved-bits")
def reserved_bits_of_a_header(chat: Chat) -> int:
    return chat.unit(chat.side(), chat.random.choice((b"\x24", b"\x44", b"\x64")))


@fault("reserved-bits", **FRAMED)
def reserved_bits_of_a_frame(chat: Chat) -> int:
    side = chat.side()
    data = bytearray(bytes(chat.frame(side, [push()])))
    data[0] |= 0x40
    return chat.unit(side, bytes(data))


@fault("reserved-bits")
def reserved_bits_of_a_qos(chat: Chat) -> int:
    return send_bytes(chat, chat.side(), b"\xfd\x00\x01a\x21\x4d\x01\x01v")


@fault("integer-not-minimal")
def a_length_in_two_bytes(chat: Chat) -> int:
    return send_bytes(chat, chat.side(), b"\x7d\x00\x01a\x01\x83\x00abc")


@fault("integer-not-minimal", **FRAMED, sn_bits=16)
def a_sequence_number_in_five_bytes(chat: Chat) -> int:
    side = chat.side()
    sn = chat.next_sn(side, 5, True)
    number = bytes((sn & 0x7F | 0x80, sn >> 7 & 0x7F | 0x80, 0x80, 0x80, 0x00))
    return chat.unit(side, b"\x25" + number + PUSH)


@fault("extension-repeated")
def qos_twice_in_a_message(chat: Chat) -> int:
    return send_bytes(chat, chat.side(), b"\xfd\x00\x01a\xa1\x0d\x21\x0d\x01\x01v")


@fault("suffix-empty")
def a_suffix_that_is_empty(chat: Chat) -> int:
    side = chat.side()
    while not chat.ends[side].aliases:
        chat.alias(side)
    number = next(iter(chat.ends[side].aliases))
    return send_bytes(chat, side, bytes((0x7D, number, 0)) + b"\x01\x01v")


@fault("zid-zeros")
def an_id_with_a_zero_at_its_end(chat: Chat) -> int:
    data = b"\x7d\x00\x01a\x81\x41\x05\x10\x05\x00\x07\x01\x01v"
    return send_bytes(chat, chat.side(), data)


@fault("compression-header", lowlatency=False, compression=True)
def a_compression_header_of_two(chat: Chat) -> int:
    side = chat.side()
    return chat.raw(side, b"\x02" + bytes(chat.frame(side, [push()])))


@fault("fragment-small", batch_size=9_000, **PLAIN)
def fragments_of_a_few_bytes(chat: Chat) -> int:
    side = chat.side()
    first = chat.patch > 0
    packet = chat.unit(side, bytes(chat.fragment(side, PUSH[:3], more=True, first=first)))
    chat.unit(side, bytes(chat.fragment(side, PUSH[3:])))
    return packet


# --- channels ---------------------------------------------------------------------------------


@fault("sn-outside", sn_bits=8, **FRAMED)
@fault("sn-outside", sn_bits=16, **FRAMED)
def a_number_above_the_resolution(chat: Chat) -> int:
    side = chat.side()
    sn = chat.resolution.sn_mask + 1 + chat.random.randrange(9)
    return chat.unit(side, bytes(chat.frame(side, [push()], sn=sn)))


@fault("sn-backwards", **STREAM)
def a_frame_sent_twice(chat: Chat) -> int:
    side = chat.side()
    frame = bytes(chat.frame(side, [push()]))
    chat.unit(side, frame)
    return chat.unit(side, frame)


@fault("sn-gap", sn_bits=32, **STREAM)
@fault("sn-gap", sn_bits=64, **STREAM)
def numbers_left_out(chat: Chat) -> int:
    side = chat.side()
    chat.next_sn(side, 5, True, 500)
    return chat.send(side, push())


@fault("sn-skipped-after-fragments", **FRAMED)
def a_number_left_out_after_fragments(chat: Chat) -> int:
    side = chat.side()
    chat.fragments(side, bytes(push(payload=bytes(min(2 * chat.batch_size, 70_000)))))
    chat.next_sn(side, 5, True)
    return chat.send(side, push())


@fault("frame-empty", **FRAMED)
def a_frame_without_a_message(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.frame(side, [])))


@fault("priority-not-agreed", qos=False, **FRAMED)
def a_priority_without_qos(chat: Chat) -> int:
    side = chat.side()
    sn = chat.ends[side].initial_sn
    return chat.unit(side, bytes(chat.frame(side, [push()], sn=sn, qos=PRIORITIES[2])))


@fault("priority-differs", qos=True, **FRAMED)
def a_message_in_the_channel_of_another_priority(chat: Chat) -> int:
    side = chat.side()
    sn = chat.next_sn(side, 5, True)
    return chat.unit(side, bytes(chat.frame(side, [push(qos=0x09)], sn=sn, qos=None)))


@fault("best-effort-control", **FRAMED)
def a_declaration_on_the_best_effort_channel(chat: Chat) -> int:
    body = DeclareKeyExpr(60_000, WireExpr(0, "best/effort"))
    return chat.send(chat.side(), Declare(body, qos=QOS_BYTES[0x08]), reliable=False)


@fault("control-qos")
def a_declaration_without_qos(chat: Chat) -> int:
    return chat.send(chat.side(), Declare(DeclareKeyExpr(60_000, WireExpr(0, "no/qos"))))


@fault("priority-control-data")
def a_publication_of_priority_0(chat: Chat) -> int:
    return chat.send(chat.side(), push(qos=0x00))


@fault("block-first-and-block")
def block_and_block_first(chat: Chat) -> int:
    return chat.send(chat.side(), push(qos=0x2D))


@fault("default-sent")
def the_default_qos_in_a_message(chat: Chat) -> int:
    return chat.send(chat.side(), push(qos=0x05))


@fault("default-sent", **FRAMED)
def the_default_priority_in_a_frame(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.frame(side, [push()], qos=PRIORITIES[5])))


@fault("transport-oam", **FRAMED)
def management_of_the_link(chat: Chat) -> int:
    return chat.unit(chat.side(), bytes(TransportOam(5, body=b"x")))


# --- fragments --------------------------------------------------------------------------------


def _begin(chat: Chat, side: int) -> int:
    """The first fragment of a message, which fills its batch."""
    payload = bytes(push(payload=bytes(min(2 * chat.batch_size, 100_000))))
    part = payload[: chat.batch_size - 24]
    return chat.unit(side, bytes(chat.fragment(side, part, more=True, first=chat.patch > 0)))


@fault("fragment-without-first", patch=1, **STREAM)
def a_last_fragment_alone(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.fragment(side, PUSH)))


@fault("fragments-interrupted", **STREAM)
def a_frame_between_fragments(chat: Chat) -> int:
    side = chat.side()
    _begin(chat, side)
    return chat.send(side, push())


@fault("fragments-interrupted", patch=1, **STREAM)
def a_first_fragment_between_fragments(chat: Chat) -> int:
    side = chat.side()
    _begin(chat, side)
    return chat.unit(side, bytes(chat.fragment(side, PUSH, first=True)))


@fault("fragments-abandoned", also=("batch-empty",), **STREAM)
def an_empty_batch_instead_of_drop(chat: Chat) -> int:
    side = chat.side()
    _begin(chat, side)
    chat.raw(side, b"")
    return chat.send(side, push())


@fault("fragment-out-of-order", sn_bits=32, also=("sn-gap",), **STREAM)
def a_fragment_left_out(chat: Chat) -> int:
    side = chat.side()
    _begin(chat, side)
    chat.next_sn(side, 5, True, 500)
    return chat.unit(side, bytes(chat.fragment(side, PUSH)))


@fault("fragments-without-end", **STREAM)
def fragments_that_stop_long_before_close(chat: Chat) -> int:
    side = chat.side()
    packet = _begin(chat, side)
    chat.live(9)
    chat.close(side)
    return packet


@fault("fragments-cut-by-close", **STREAM)
def a_close_between_fragments(chat: Chat) -> int:
    side = chat.side()
    packet = _begin(chat, side)
    chat.close(side)
    return packet


@fault("fragments-undecodable", **FRAMED)
def fragments_that_are_no_message(chat: Chat) -> int:
    side = chat.side()
    part = chat.fragment(side, b"\x7d\x00\x30ab", first=chat.patch > 0)
    return chat.unit(side, bytes(part))


@fault("fragments-undecodable", **FRAMED)
def fragments_that_are_more_than_a_message(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.fragment(side, PUSH + b"more", first=chat.patch > 0)))


@fault("fragment-empty", **FRAMED)
def a_fragment_of_nothing(chat: Chat) -> int:
    side = chat.side()
    size = chat.batch_size - 40
    data = bytes(push(payload=bytes(size)))
    chat.unit(side, bytes(chat.fragment(side, data, more=True, first=chat.patch > 0)))
    return chat.unit(side, bytes(chat.fragment(side, b"")))


@fault("fragment-marked-without-patch", patch=0, **FRAMED)
def a_first_fragment_that_says_so(chat: Chat) -> int:
    side = chat.side()
    return chat.unit(side, bytes(chat.fragment(side, PUSH, first=True)))
