"""Every format of capture files: both readers return the same packets, numbers and times."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.capture.built_files import (
    block,
    interface,
    option,
    packet_block,
    packet_blocks,
    padded,
    payloads,
    pcap_header,
    pcap_record,
    pcap_records,
    section,
)
from tests.lake.fast_reader.captures import surveyed
from tests.lake.fast_reader.comparison import packet_fields
from tests.lake.fast_reader.mutations import load
from zenlake.lake.fast_reader import Survey, read, survey
from zenlake.lake.fast_reader.scan.pcapng_scan import SPECIAL_BLOCKS_MAX

BODIES = payloads(30)


def agree(path: Path, content: bytes) -> int:
    """Asserts that both readers agree on packets that are not TCP; returns their number."""
    path.write_bytes(content)
    found = surveyed(path)
    chunks = read(str(path), found, np.zeros(0, np.bool_), with_other=True)
    forwarded = [packet_fields(packet) for chunk in chunks for packet in chunk.packets]
    assert forwarded == [packet_fields(packet) for packet in load(path)]
    return len(forwarded)


def refused(path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    return not isinstance(survey(str(path)), Survey)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_readers_agree_on_pcap(order: str, magic: int, tmp_path: Path) -> None:
    content = pcap_header(order, magic) + b"".join(pcap_records(BODIES, order))
    assert agree(tmp_path / "a.pcap", content) == len(BODIES)


@pytest.mark.parametrize("order", ["<", ">"])
def test_readers_agree_on_pcapng(order: str, tmp_path: Path) -> None:
    content = section(order) + interface(order=order) + b"".join(packet_blocks(BODIES, order))
    other = ">" if order == "<" else "<"
    unknown = block(0x1234, b"12345678", order)
    statistics = block(5, bytes(12), order)
    simple = block(3, struct.pack(order + "I", 9) + padded(b"ninebytes"), order)
    old = block(2, struct.pack(order + "HHIIII", 0, 7, 1, 2, 4, 4) + b"four", order)
    first = content + unknown + simple + statistics + old
    second = section(other) + interface(order=other) + b"".join(packet_blocks(BODIES, other))
    assert agree(tmp_path / "a.pcapng", first + second) == 2 * len(BODIES) + 2


@pytest.mark.parametrize("code", [0, 3, 6, 9, 12, 18, 0x80, 0x8A, 0x94, 0xA1])
@pytest.mark.parametrize("seconds", [None, 0, -5, 1_000_000])
def test_readers_agree_on_clocks(code: int, seconds: int | None, tmp_path: Path) -> None:
    options = option(9, bytes([code]))
    if seconds is not None:
        options += option(14, struct.pack("<q", seconds))
    comment = option(1, b"a comment") + option(0, b"")
    blocks = [packet_block(b"body", units, 0, comment) for units in (0, 1, 12_345_678, 1_700_000)]
    assert agree(tmp_path / "a.pcapng", section() + interface(1, options) + b"".join(blocks)) == 4


@pytest.mark.parametrize("code", [0x7F, 0xC0, 0xFF])
def test_clock_of_too_high_resolution_is_refused(code: int, tmp_path: Path) -> None:
    content = section() + interface(1, option(9, bytes([code]))) + packet_block(b"body", 5)
    assert refused(tmp_path / "a.pcapng", content)


def test_readers_agree_on_the_snap_length_of_simple_packets(tmp_path: Path) -> None:
    simple = block(3, struct.pack("<I", 100) + b"12345678")
    content = section() + interface(snap=6, options=b"") + simple
    # Bytes after the snap length are read as options, which are too long here.
    assert refused(tmp_path / "a.pcapng", content) or agree(tmp_path / "a.pcapng", content)
    assert agree(tmp_path / "a.pcapng", section() + interface(snap=8) + simple) == 1


def test_readers_agree_on_a_cut_last_record(tmp_path: Path) -> None:
    pcap = pcap_header() + b"".join(pcap_records(BODIES))
    pcapng = section() + interface() + b"".join(packet_blocks(BODIES))
    for content in (pcap, pcapng):
        path = tmp_path / "cut"
        assert agree(path, content[:-1]) == len(BODIES) - 1
        assert surveyed(path).cut_bytes > 0


def test_file_with_bytes_after_a_cut_record_is_refused(tmp_path: Path) -> None:
    """The exact reader searches these bytes for records, so the fast reader refuses the file."""
    pcap = pcap_header() + pcap_record(b"first", 0)
    long = struct.pack("<IIII", 1_700_000_001, 0, 50_000, 50_000)
    assert refused(tmp_path / "a.pcap", pcap + long + pcap_record(b"a", 1) + pcap_record(b"b", 2))
    pcapng = section() + interface() + packet_block(b"first", 0)
    assert refused(
        tmp_path / "a.pcapng", pcapng + struct.pack("<II", 6, 50_000) + packet_block(b"a", 1)
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\r\r\n",
        section()[:11],
        pcap_header()[:20],
        pcap_header() + pcap_record(b"first", 0) + pcap_header(),
        pcap_header() + pcap_record(b"first", 0, original=2),
        pcap_header() + pcap_record(b"first", 0) + pcap_record(b"later", 1 << 24),
        section() + interface() + packet_block(b"other interface", 1, index=1),
        section() + interface() + packet_block(b"bad option", 1, options=b"\1\0\xff\0"),
        section() + interface() + packet_block(b"late", 1 << 63),
        section() + interface() + packet_block(b"body", 1)[:-4] + b"\0\0\0\0" + interface(),
    ],
)
def test_file_is_refused(content: bytes, tmp_path: Path) -> None:
    assert refused(tmp_path / "a.cap", content)


def test_file_with_too_many_special_blocks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SPECIAL_BLOCKS_MAX > 1_000
    monkeypatch.setattr("zenlake.lake.fast_reader.scan.pcapng_scan.SPECIAL_BLOCKS_MAX", 5)
    assert agree(tmp_path / "a.pcapng", (section() + interface()) * 2 + packet_block(b"a", 1)) == 1
    assert refused(tmp_path / "a.pcapng", (section() + interface()) * 3)
