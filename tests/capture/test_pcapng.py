"""pcapng: sections, interfaces and their clocks, options, and the memory that reading needs."""

from __future__ import annotations

import struct
import tracemalloc
from fractions import Fraction
from pathlib import Path

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.built_files import (
    Outcome,
    block,
    interface,
    option,
    packet_block,
    packet_blocks,
    padded,
    payloads,
    read,
    section,
    time_ns,
)
from tests.paths import CAPTURES
from zenlake.capture import pcapng
from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.pcapng import Comments, Interface
from zenlake.errors import CaptureError
from zenlake.limits import (
    CAPTURE_BLOCK_BYTES_MAX,
    CAPTURE_COMMENT_BYTES_MAX,
    CAPTURE_INTERFACES_MAX,
    PACKET_BYTES_MAX,
)


def read_comments(path: Path) -> tuple[list[tuple[int, str]], Skipped]:
    skipped, comments = Skipped(), Comments()
    for _ in packets([str(path)], skipped, comments):
        pass
    return comments.texts, skipped


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders(tmp_path: Path, order: str) -> None:
    bodies = payloads(50)
    blocks = packet_blocks(bodies, order)
    outcome = read(tmp_path, section(order) + interface(113, order=order) + b"".join(blocks))
    assert outcome.data == bodies
    assert outcome.times == [time_ns(n) for n in range(50)]
    assert {packet.link_type for packet in outcome.packets} == {113}
    assert not outcome.skipped
    with (tmp_path / "built").open("rb") as file:
        theirs = list(dpkt.pcapng.Reader(file))
    assert [data for _, data in theirs] == bodies
    assert [t for t, _ in theirs] == pytest.approx([t / 1e9 for t in outcome.times])


def test_real_capture_reads_as_another_reader_has_it() -> None:
    path = CAPTURES / "pubsub_router.pcapng"
    outcome = Outcome(path)
    with path.open("rb") as file:
        theirs = list(dpkt.pcapng.Reader(file))
    assert len(theirs) == 245
    assert [data for _, data in theirs] == outcome.data
    assert [t for t, _ in theirs] == pytest.approx([t / 1e9 for t in outcome.times], abs=1e-6)
    assert not outcome.skipped


def test_sections_of_either_order_have_interfaces_of_their_own(tmp_path: Path) -> None:
    nano, ten = option(9, b"\x09"), option(9, b"\x8a", ">")
    offset = option(14, struct.pack(">q", -5), ">")
    content = b"".join(
        (
            section(),
            interface(1, nano),
            interface(101),
            packet_block(b"a", 7, 0),
            packet_block(b"b", 7, 1),
            section(">"),
            interface(276, ten + offset + option(0, b""), ">"),
            packet_block(b"c", 10 * 1024 + 1, 0, order=">"),
            packet_block(b"d", 1, 1, order=">"),
            section(),
            packet_block(b"e", 1),
        )
    )
    outcome = read(tmp_path, content)
    assert outcome.data == [b"a", b"b", b"c"]
    assert outcome.times == [7, 7_000, 5_000_000_000 + 976_562]
    assert [packet.link_type for packet in outcome.packets] == [1, 101, 276]
    assert [packet.interface for packet in outcome.packets] == [0, 1, 0]
    assert outcome.skipped.counts == {pcapng.UNKNOWN_INTERFACE: 2}


@given(st.integers(0, 255), st.integers(0, 2**64 - 1))
def test_every_resolution_is_exact(code: int, units: int) -> None:
    clock = Interface(1, 0)
    clock.set_resolution(code)
    base = Fraction(2 if code & 0x80 else 10)
    exact = units * 1_000_000_000 / base ** (code & 0x7F)
    assert units * clock.multiplier // clock.divisor == exact.__floor__()


def test_packet_with_a_time_beyond_64_bits_is_counted_and_skipped(tmp_path: Path) -> None:
    content = section() + interface(1, option(9, b"\0")) + packet_block(b"x", 2**63)
    outcome = read(tmp_path, content + packet_block(b"y", 3))
    assert outcome.data == [b"y"]
    assert outcome.times == [3_000_000_000]
    assert outcome.skipped.counts == {pcapng.IMPOSSIBLE_TIME: 1}


@pytest.mark.parametrize("order", ["<", ">"])
def test_old_and_simple_packet_blocks(tmp_path: Path, order: str) -> None:
    old = struct.pack(order + "HHIIII", 0, 9, 0, 5, 3, 60) + padded(b"old")
    simple = struct.pack(order + "I", 1500) + b"12345678"
    whole = struct.pack(order + "I", 3) + padded(b"abc")
    content = section(order) + interface(1, order=order, snap=6)
    content += block(2, old, order) + block(3, simple, order) + block(3, whole, order)
    outcome = read(tmp_path, content)
    assert outcome.data == [b"old", b"123456", b"abc"]
    assert outcome.times == [5_000, 0, 0]
    assert [packet.original_bytes for packet in outcome.packets] == [60, 1500, 3]
    assert not outcome.skipped


def test_blocks_without_packets_are_skipped(tmp_path: Path) -> None:
    good = packet_blocks(payloads(2))
    others = [block(type, bytes(40)) for type in (4, 5, 9, 10, 0x0BAD, 0x40000BAD)]
    outcome = read(tmp_path, b"".join((section(), interface(), good[0], *others, good[1])))
    assert outcome.data == payloads(2)
    assert not outcome.skipped
    unknown = block(0x777, bytes(40))
    outcome = read(tmp_path, b"".join((section(), interface(), good[0], unknown, good[1])))
    assert outcome.data == payloads(2)
    assert outcome.skipped.bytes == {pcapng.UNKNOWN_BLOCK: len(unknown)}


def test_comments_are_kept_with_the_number_of_their_packet(tmp_path: Path) -> None:
    comments = option(1, "première".encode()) + option(2, bytes(4)) + option(1, b"second\xff")
    content = section(options=option(1, b"of the section") + option(0, b""))
    content += interface(1, option(1, b"of the interface"))
    content += packet_block(b"a", 1) + packet_block(b"b", 2, options=comments + option(0, b""))
    path = tmp_path / "commented"
    path.write_bytes(content)
    texts, skipped = read_comments(path)
    assert texts == [
        (0, "of the section"),
        (0, "of the interface"),
        (2, "première"),
        (2, "second\ufffd"),
    ]
    assert not skipped


def test_options_that_overrun_their_block_cost_no_packet(tmp_path: Path) -> None:
    overrun = struct.pack("<HH", 1, 5000) + b"abcd"
    content = section() + interface() + packet_block(b"a", 1, options=overrun)
    outcome = read(tmp_path, content + packet_block(b"b", 2))
    assert outcome.data == [b"a", b"b"]
    assert outcome.skipped.counts == {pcapng.OPTIONS_OVERRUN: 1}


def test_packet_longer_than_its_block_or_the_limit_is_counted(tmp_path: Path) -> None:
    claims = struct.pack("<IIIII", 0, 0, 1, 50, 50) + bytes(8)
    longest = packet_block(b"m" * PACKET_BYTES_MAX, 2)
    longer = packet_block(b"n" * (PACKET_BYTES_MAX + 1), 3)
    content = section() + interface() + block(6, claims) + longest + longer
    outcome = read(tmp_path, content + packet_block(b"b", 4))
    assert [len(data) for data in outcome.data] == [PACKET_BYTES_MAX, 1]
    assert outcome.skipped.counts == {pcapng.TOO_LONG: 2}


def test_longest_block_is_skipped_and_a_longer_one_is_damage(tmp_path: Path) -> None:
    good = packet_blocks(payloads(2))
    longest = block(10, bytes(CAPTURE_BLOCK_BYTES_MAX - 12))
    outcome = read(tmp_path, section() + interface() + good[0] + longest + good[1])
    assert outcome.data == payloads(2)
    assert not outcome.skipped
    longer = block(10, bytes(CAPTURE_BLOCK_BYTES_MAX - 8))
    outcome = read(tmp_path, section() + interface() + good[0] + longer + good[1])
    assert outcome.data == payloads(2)[:1]
    assert outcome.skipped.bytes == {pcapng.DAMAGED: len(longer) + len(good[1])}


def test_section_header_without_byte_order_is_no_capture(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="no byte order"):
        read(tmp_path, b"\n\r\r\n" + bytes(24))
    with pytest.raises(CaptureError, match="no byte order"):
        read(tmp_path, section()[:11])


def peak_bytes(path: Path) -> tuple[int, int, Skipped]:
    """Packets read, and the most memory it took."""
    skipped = Skipped()
    tracemalloc.start()
    try:
        count = sum(1 for _ in packets([str(path)], skipped, Comments()))
        return count, tracemalloc.get_traced_memory()[1], skipped
    finally:
        tracemalloc.stop()


def test_thousands_of_secrets_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "secrets"
    secrets = block(10, struct.pack("<II", 0x544C534B, 16_000) + bytes(16_000))
    with path.open("wb") as file:
        file.write(section() + interface())
        for _ in range(50):
            file.write(secrets * 100 + packet_block(b"x", 1))
    assert path.stat().st_size > 80_000_000
    count, peak, skipped = peak_bytes(path)
    assert count == 50
    assert peak < 4_000_000
    assert not skipped


def test_ten_thousand_interfaces_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "interfaces"
    last = CAPTURE_INTERFACES_MAX - 1
    tail = packet_block(b"known", 1, last) + packet_block(b"unknown", 1, last + 1)
    path.write_bytes(section() + interface() * 10_000 + tail)
    count, peak, skipped = peak_bytes(path)
    assert count == 1
    assert peak < 6_000_000
    assert skipped.counts == {
        pcapng.TOO_MANY_INTERFACES: 10_000 - CAPTURE_INTERFACES_MAX,
        pcapng.UNKNOWN_INTERFACE: 1,
    }


def test_megabytes_of_comments_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "comments"
    megabyte = option(1, b"c" * 60_000) * 17
    path.write_bytes(section() + interface() + packet_block(b"x", 1, options=megabyte) * 10)
    count, peak, skipped = peak_bytes(path)
    assert count == 10
    assert peak < 8_000_000
    kept = CAPTURE_COMMENT_BYTES_MAX // 60_064
    assert skipped.counts == {pcapng.COMMENTS_LEFT_OUT: 170 - kept}
    texts, _ = read_comments(path)
    assert len(texts) == kept


def test_empty_comments_are_bounded_too(tmp_path: Path) -> None:
    path = tmp_path / "comments"
    path.write_bytes(
        section() + interface() + packet_block(b"x", 1, options=option(1, b"") * 50_000)
    )
    texts, skipped = read_comments(path)
    assert len(texts) == CAPTURE_COMMENT_BYTES_MAX // 64
    assert skipped.counts == {pcapng.COMMENTS_LEFT_OUT: 50_000 - len(texts)}
