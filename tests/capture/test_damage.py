"""Damaged files (P01): nothing but CaptureError escapes, and good packets are still counted.

The damage is known, so what must be read is known too: in most cases every packet but the
damaged one. Some 2,200 files in all.
"""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.capture.built_files import (
    Outcome,
    interface,
    packet_blocks,
    payloads,
    pcap_header,
    pcap_records,
    read,
    section,
    time_ns,
)
from tests.paths import CAPTURES
from zenlake.capture import pcap, pcapng
from zenlake.errors import CaptureError

COUNT = 6
BODIES = payloads(COUNT)
SEEDS = 20
ORDERS = ("<", ">")
OTHER = {"<": ">", ">": "<"}


def pcap_parts(order: str) -> tuple[bytes, list[bytes]]:
    return pcap_header(order), pcap_records(BODIES, order)


def pcapng_parts(order: str) -> tuple[bytes, list[bytes]]:
    return section(order) + interface(order=order), packet_blocks(BODIES, order)


Parts = Callable[[str], tuple[bytes, list[bytes]]]
formats = pytest.mark.parametrize("parts", [pcap_parts, pcapng_parts], ids=["pcap", "pcapng"])
orders = pytest.mark.parametrize("order", ORDERS, ids=["little", "big"])


def without(index: int) -> list[bytes]:
    return BODIES[:index] + BODIES[index + 1 :]


def with_word(record: bytes, place: int, value: int, order: str) -> bytes:
    return record[:place] + struct.pack(order + "I", value) + record[place + 4 :]


BAD_LENGTHS: dict[str, Callable[[int], int]] = {
    "zero": lambda length: 0,
    "all ones": lambda length: 0xFFFFFFFF,
    "sign bit": lambda length: 0x80000000,
    "odd": lambda length: length | 1,
    "two more": lambda length: length + 2,
    "four more": lambda length: length + 4,
    "four less": lambda length: length - 4,
    "eight": lambda length: 8,
    "swapped": lambda length: int.from_bytes(length.to_bytes(4, "little"), "big"),
    "many": lambda length: length + 4_000,
}


@orders
@pytest.mark.parametrize("bad", BAD_LENGTHS)
@pytest.mark.parametrize("side", ["leading", "trailing"])
def test_bad_block_length_costs_one_packet(tmp_path: Path, order: str, bad: str, side: str) -> None:
    head, blocks = pcapng_parts(order)
    for index in range(COUNT):
        block = blocks[index]
        length = BAD_LENGTHS[bad](len(block))
        damaged = with_word(block, 4 if side == "leading" else len(block) - 4, length, order)
        content = head + b"".join((*blocks[:index], damaged, *blocks[index + 1 :]))
        outcome = read(tmp_path, content)
        assert outcome.data == without(index)
        assert outcome.skipped_bytes() == len(block)
        assert set(outcome.skipped.counts) <= {pcapng.DAMAGED, pcapng.CUT}


@orders
@pytest.mark.parametrize("bad", BAD_LENGTHS)
def test_bad_record_length_costs_one_packet(tmp_path: Path, order: str, bad: str) -> None:
    head, records = pcap_parts(order)
    for index in range(COUNT):
        length = BAD_LENGTHS[bad](len(BODIES[index])) & 0xFFFFFFFF
        if length == len(BODIES[index]):
            continue
        damaged = with_word(records[index], 8, length, order)
        content = head + b"".join((*records[:index], damaged, *records[index + 1 :]))
        outcome = read(tmp_path, content)
        assert outcome.data[:index] == BODIES[:index]
        assert outcome.skipped
        # A length that is too small is not known by itself: that packet comes cut short.
        rest = outcome.data[index:]
        if length < len(BODIES[index]):
            assert rest[0] == BODIES[index][:length]
            rest = rest[1:]
        assert rest == BODIES[index + 1 :]


@formats
@orders
def test_truncated_at_every_byte(tmp_path: Path, parts: Parts, order: str) -> None:
    head, records = parts(order)
    content = head + b"".join(records)
    ends = [len(head) + len(b"".join(records[:n])) for n in range(COUNT + 1)]
    first = len(section()) if parts is pcapng_parts else len(head)
    for length in range(len(content) + 1):
        path = tmp_path / "cut"
        path.write_bytes(content[:length])
        if length < (12 if parts is pcapng_parts else 24):
            with pytest.raises(CaptureError):
                Outcome(path)
            continue
        outcome = Outcome(path)
        whole = max((n for n, end in enumerate(ends) if end <= length), default=0)
        assert outcome.data == BODIES[:whole]
        assert outcome.times == [time_ns(n) for n in range(whole)]
        edges = [0, first, *ends]
        lost = length - max(edge for edge in edges if edge <= length)
        assert outcome.skipped_bytes() == lost
        assert set(outcome.skipped.counts) <= {pcap.CUT, pcapng.CUT}


@formats
@orders
def test_other_byte_order_mid_file_is_counted(tmp_path: Path, parts: Parts, order: str) -> None:
    head, records = parts(order)
    swapped = parts(OTHER[order])[1]
    for index in range(1, COUNT):
        rest = b"".join(swapped[index:])
        outcome = read(tmp_path, head + b"".join(records[:index]) + rest)
        assert outcome.data == BODIES[:index]
        assert outcome.skipped_bytes() == len(rest)
        back = b"".join(swapped[index : index + 1])
        tail = b"".join(records[index + 1 :])
        outcome = read(tmp_path, head + b"".join(records[:index]) + back + tail)
        assert outcome.data == without(index)
        assert outcome.skipped_bytes() == len(back)


@formats
@orders
def test_noise_between_records_costs_no_packet(tmp_path: Path, parts: Parts, order: str) -> None:
    head, records = parts(order)
    for seed in range(SEEDS):
        chance = random.Random(seed)
        index = chance.randrange(1, COUNT)
        noise = chance.randbytes(chance.randrange(1, 3_000))
        content = head + b"".join((*records[:index], noise, *records[index:]))
        outcome = read(tmp_path, content)
        assert outcome.data == BODIES
        assert outcome.skipped_bytes() == len(noise)


@formats
@orders
def test_missing_bytes_cost_only_the_packets_they_belong_to(
    tmp_path: Path, parts: Parts, order: str
) -> None:
    head, records = parts(order)
    for seed in range(SEEDS):
        chance = random.Random(seed)
        index = chance.randrange(COUNT - 3)
        record = records[index]
        kept = chance.randrange(16, len(record) - 1)
        content = head + b"".join((*records[:index], record[:kept], *records[index + 1 :]))
        outcome = read(tmp_path, content)
        after = index + 1
        missing = len(record) - kept
        if parts is pcap_parts:
            # Without marks between records, the packet is filled up with bytes of the next ones;
            # it is unknown whether that takes exactly one of them.
            while missing > 0 and after < COUNT:
                missing -= len(records[after])
                after += 1
        assert outcome.data[:index] == BODIES[:index]
        assert outcome.data[len(outcome.data) - (COUNT - after) :] == BODIES[after:]
        assert len(outcome.data) <= COUNT
        assert bool(outcome.skipped) == (missing != 0)


def test_bad_magic_raises_an_error_of_one_line(tmp_path: Path) -> None:
    for content in (b"".join((h, *r)) for h, r in map(pcap_parts, ORDERS)):
        for seed in range(SEEDS):
            damaged = random.Random(seed).randbytes(4) + content[4:]
            with pytest.raises(CaptureError, match="neither pcap nor pcapng") as caught:
                read(tmp_path, damaged)
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["qos_matrix.pcap", "pubsub_router.pcapng"])
@pytest.mark.parametrize("rate", [0.0005, 0.005, 0.02, 0.2])
def test_byte_errors_all_over_a_real_capture(tmp_path: Path, name: str, rate: float) -> None:
    clean = (CAPTURES / name).read_bytes()
    good = {packet.data for packet in Outcome(CAPTURES / name).packets}
    for seed in range(SEEDS):
        chance = random.Random(seed)
        damaged = bytearray(clean)
        # The header of the file stays: without it there is no capture.
        for place in chance.sample(range(80, len(clean)), int(len(clean) * rate)):
            damaged[place] = chance.randrange(256)
        start = time.thread_time()
        outcome = read(tmp_path, bytes(damaged))
        assert time.thread_time() - start < 2
        assert outcome.skipped_bytes() + sum(map(len, outcome.data)) <= len(clean)
        if rate == 0.0005:
            assert sum(data in good for data in outcome.data) > 0.8 * len(good)


@pytest.mark.parametrize("name", ["qos_matrix.pcap", "pubsub_router.pcapng"])
def test_only_capture_error_escapes_whatever_the_first_bytes_are(tmp_path: Path, name: str) -> None:
    clean = (CAPTURES / name).read_bytes()[:6_000]
    causes = set()
    for seed in range(5 * SEEDS):
        chance = random.Random(seed)
        damaged = bytearray(clean)
        for _ in range(chance.randrange(1, 12)):
            damaged[chance.randrange(4, 160)] = chance.choice((0, 1, 4, 127, 128, 255, 6, 10))
        try:
            outcome = read(tmp_path, bytes(damaged))
        except CaptureError as error:
            causes.add(error.cause)
        else:
            assert outcome.skipped_bytes() + sum(map(len, outcome.data)) <= len(clean)
            assert outcome.packets or outcome.skipped
    assert causes <= {"the section header has no byte order"}
