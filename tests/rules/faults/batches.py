"""Faults of batches, channels and fragments."""

from __future__ import annotations

from typing import Any

from tests.rules.faults.fault import fault, send_bytes
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import SECOND
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
def a_batch_beyond_the_size_agreed(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.frame(side, [push(payload=bytes(1_100))])))


@fault("batch-too-large", batch_size=1_024, lowlatency=True, protocol="tcp")
def a_low_latency_unit_beyond_the_size_agreed(session: LegalSession) -> int:
    return session.unit(session.side(), bytes(push(payload=bytes(1_100))))


@fault("batch-empty", protocol="tcp")
def a_batch_without_a_message(session: LegalSession) -> int:
    return session.raw(session.side(), b"")


@fault("batch-undecodable", protocol="tcp", ends=True)
def a_message_that_ends_too_early(session: LegalSession) -> int:
    return send_bytes(session, session.side(), b"\x7d\x00\x30ab")


@fault("low-latency-kind", protocol="tcp", lowlatency=True, ends=True)
def a_frame_on_a_low_latency_link(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.frame(side, [push()])))


@fault("low-latency-batched", lowlatency=True)
def two_messages_in_a_low_latency_unit(session: LegalSession) -> int:
    return session.unit(session.side(), 2 * PUSH)


def _mandatory(session: LegalSession, side: int) -> int:
    return send_bytes(session, side, b"\xfd\x00\x01a\x1e\x01\x01v")


@fault("mandatory-extension-unknown", protocol="tcp", ends=True)
def a_mandatory_extension_nobody_knows(session: LegalSession) -> int:
    return _mandatory(session, session.side())


@fault(
    "mandatory-extension-accepted", protocol="tcp", also=("mandatory-extension-unknown",), ends=True
)
def a_receiver_that_goes_on_after_it(session: LegalSession) -> int:
    side = session.side()
    _mandatory(session, side)
    session.recorder.wait(3 * SECOND // 2)
    return session.unit(1 - side, bytes(KeepAlive()))


@fault("reserved-bits")
def reserved_bits_of_a_header(session: LegalSession) -> int:
    return session.unit(session.side(), session.random.choice((b"\x24", b"\x44", b"\x64")))


@fault("reserved-bits", **FRAMED)
def reserved_bits_of_a_frame(session: LegalSession) -> int:
    side = session.side()
    data = bytearray(bytes(session.frame(side, [push()])))
    data[0] |= 0x40
    return session.unit(side, bytes(data))


@fault("reserved-bits")
def reserved_bits_of_a_qos(session: LegalSession) -> int:
    return send_bytes(session, session.side(), b"\xfd\x00\x01a\x21\x4d\x01\x01v")


@fault("integer-not-minimal")
def a_length_in_two_bytes(session: LegalSession) -> int:
    return send_bytes(session, session.side(), b"\x7d\x00\x01a\x01\x83\x00abc")


@fault("integer-not-minimal", **FRAMED, sn_bits=16)
def a_sequence_number_in_five_bytes(session: LegalSession) -> int:
    side = session.side()
    sn = session.next_sn(side, 5, True)
    number = bytes((sn & 0x7F | 0x80, sn >> 7 & 0x7F | 0x80, 0x80, 0x80, 0x00))
    return session.unit(side, b"\x25" + number + PUSH)


@fault("extension-repeated")
def qos_twice_in_a_message(session: LegalSession) -> int:
    return send_bytes(session, session.side(), b"\xfd\x00\x01a\xa1\x0d\x21\x0d\x01\x01v")


@fault("suffix-empty")
def a_suffix_that_is_empty(session: LegalSession) -> int:
    side = session.side()
    while not session.ends[side].aliases:
        session.alias(side)
    number = next(iter(session.ends[side].aliases))
    return send_bytes(session, side, bytes((0x7D, number, 0)) + b"\x01\x01v")


@fault("zid-zeros")
def an_id_with_a_zero_at_its_end(session: LegalSession) -> int:
    data = b"\x7d\x00\x01a\x81\x41\x05\x10\x05\x00\x07\x01\x01v"
    return send_bytes(session, session.side(), data)


@fault("compression-header", lowlatency=False, compression=True)
def a_compression_header_of_two(session: LegalSession) -> int:
    side = session.side()
    return session.raw(side, b"\x02" + bytes(session.frame(side, [push()])))


@fault("fragment-small", batch_size=9_000, **PLAIN)
def fragments_of_a_few_bytes(session: LegalSession) -> int:
    side = session.side()
    first = session.patch > 0
    packet = session.unit(side, bytes(session.fragment(side, PUSH[:3], more=True, first=first)))
    session.unit(side, bytes(session.fragment(side, PUSH[3:])))
    return packet


# --- channels ---------------------------------------------------------------------------------


@fault("sn-outside", sn_bits=8, **FRAMED)
@fault("sn-outside", sn_bits=16, **FRAMED)
def a_number_above_the_resolution(session: LegalSession) -> int:
    side = session.side()
    sn = session.resolution.sn_mask + 1 + session.random.randrange(9)
    return session.unit(side, bytes(session.frame(side, [push()], sn=sn)))


@fault("sn-backwards", **STREAM)
def a_frame_sent_twice(session: LegalSession) -> int:
    side = session.side()
    frame = bytes(session.frame(side, [push()]))
    session.unit(side, frame)
    return session.unit(side, frame)


@fault("sn-gap", sn_bits=32, **STREAM)
@fault("sn-gap", sn_bits=64, **STREAM)
def numbers_left_out(session: LegalSession) -> int:
    side = session.side()
    session.next_sn(side, 5, True, 500)
    return session.send(side, push())


@fault("sn-skipped-after-fragments", **FRAMED)
def a_number_left_out_after_fragments(session: LegalSession) -> int:
    side = session.side()
    session.fragments(side, bytes(push(payload=bytes(min(2 * session.batch_size, 70_000)))))
    session.next_sn(side, 5, True)
    return session.send(side, push())


@fault("frame-empty", **FRAMED)
def a_frame_without_a_message(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.frame(side, [])))


@fault("priority-not-agreed", qos=False, **FRAMED)
def a_priority_without_qos(session: LegalSession) -> int:
    side = session.side()
    sn = session.ends[side].initial_sn
    return session.unit(side, bytes(session.frame(side, [push()], sn=sn, qos=PRIORITIES[2])))


@fault("priority-differs", qos=True, **FRAMED)
def a_message_in_the_channel_of_another_priority(session: LegalSession) -> int:
    side = session.side()
    sn = session.next_sn(side, 5, True)
    return session.unit(side, bytes(session.frame(side, [push(qos=0x09)], sn=sn, qos=None)))


@fault("best-effort-control", **FRAMED)
def a_declaration_on_the_best_effort_channel(session: LegalSession) -> int:
    body = DeclareKeyExpr(60_000, WireExpr(0, "best/effort"))
    return session.send(session.side(), Declare(body, qos=QOS_BYTES[0x08]), reliable=False)


@fault("control-qos")
def a_declaration_without_qos(session: LegalSession) -> int:
    return session.send(session.side(), Declare(DeclareKeyExpr(60_000, WireExpr(0, "no/qos"))))


@fault("priority-control-data")
def a_publication_of_priority_0(session: LegalSession) -> int:
    return session.send(session.side(), push(qos=0x00))


@fault("block-first-and-block")
def block_and_block_first(session: LegalSession) -> int:
    return session.send(session.side(), push(qos=0x2D))


@fault("default-sent")
def the_default_qos_in_a_message(session: LegalSession) -> int:
    return session.send(session.side(), push(qos=0x05))


@fault("default-sent", **FRAMED)
def the_default_priority_in_a_frame(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.frame(side, [push()], qos=PRIORITIES[5])))


@fault("transport-oam", **FRAMED)
def management_of_the_link(session: LegalSession) -> int:
    return session.unit(session.side(), bytes(TransportOam(5, body=b"x")))


# --- fragments --------------------------------------------------------------------------------


def _begin(session: LegalSession, side: int) -> int:
    """The first fragment of a message, which fills its batch."""
    payload = bytes(push(payload=bytes(min(2 * session.batch_size, 100_000))))
    part = payload[: session.batch_size - 24]
    return session.unit(
        side, bytes(session.fragment(side, part, more=True, first=session.patch > 0))
    )


@fault("fragment-without-first", patch=1, **STREAM)
def a_last_fragment_alone(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.fragment(side, PUSH)))


@fault("fragments-interrupted", **STREAM)
def a_frame_between_fragments(session: LegalSession) -> int:
    side = session.side()
    _begin(session, side)
    return session.send(side, push())


@fault("fragments-interrupted", patch=1, **STREAM)
def a_first_fragment_between_fragments(session: LegalSession) -> int:
    side = session.side()
    _begin(session, side)
    return session.unit(side, bytes(session.fragment(side, PUSH, first=True)))


@fault("fragments-abandoned", also=("batch-empty",), **STREAM)
def an_empty_batch_instead_of_drop(session: LegalSession) -> int:
    side = session.side()
    _begin(session, side)
    session.raw(side, b"")
    return session.send(side, push())


@fault("fragment-out-of-order", sn_bits=32, also=("sn-gap",), **STREAM)
def a_fragment_left_out(session: LegalSession) -> int:
    side = session.side()
    _begin(session, side)
    session.next_sn(side, 5, True, 500)
    return session.unit(side, bytes(session.fragment(side, PUSH)))


@fault("fragments-without-end", **STREAM)
def fragments_that_stop_long_before_close(session: LegalSession) -> int:
    side = session.side()
    packet = _begin(session, side)
    session.pass_time(9)
    session.close(side)
    return packet


@fault("fragments-cut-by-close", **STREAM)
def a_close_between_fragments(session: LegalSession) -> int:
    side = session.side()
    packet = _begin(session, side)
    session.close(side)
    return packet


@fault("fragments-undecodable", **FRAMED)
def fragments_that_are_no_message(session: LegalSession) -> int:
    side = session.side()
    part = session.fragment(side, b"\x7d\x00\x30ab", first=session.patch > 0)
    return session.unit(side, bytes(part))


@fault("fragments-undecodable", **FRAMED)
def fragments_that_are_more_than_a_message(session: LegalSession) -> int:
    side = session.side()
    return session.unit(
        side, bytes(session.fragment(side, PUSH + b"more", first=session.patch > 0))
    )


@fault("fragment-empty", **FRAMED)
def a_fragment_of_nothing(session: LegalSession) -> int:
    side = session.side()
    size = session.batch_size - 40
    data = bytes(push(payload=bytes(size)))
    session.unit(side, bytes(session.fragment(side, data, more=True, first=session.patch > 0)))
    return session.unit(side, bytes(session.fragment(side, b"")))


@fault("fragment-marked-without-patch", patch=0, **FRAMED)
def a_first_fragment_that_says_so(session: LegalSession) -> int:
    side = session.side()
    return session.unit(side, bytes(session.fragment(side, PUSH, first=True)))
