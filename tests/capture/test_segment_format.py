"""Blocks of segments: readable by the ordinary pcapng reader, and every flipped bit is found."""

from pathlib import Path

import pytest

from zenlake.capture import segment_format as fmt
from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped

PACKET = bytes(range(41))


def blocks() -> list[bytes]:
    return [
        fmt.section_block('{"recording": "r", "segment": 7}', "zenlake 1", 12),
        fmt.interface_block(fmt.WIRE, "wire"),
        fmt.interface_block(fmt.STATE, "state"),
        fmt.packet_block(fmt.STATE, 5, PACKET, 0, 0),
        fmt.packet_block(fmt.WIRE, 1_700_000_000_123_456_789, PACKET, fmt.PLAIN | fmt.FIRST, 13),
        fmt.statistics_block(6, 4),
    ]


def test_each_trailer_has_flags_and_number() -> None:
    found = [fmt.trailer_of(block, 0, len(block)) for block in blocks()]
    assert found == [(fmt.FORMAT_VERSION, 12), (0, 0), (0, 1), (0, 0), (3, 13), (0, 4)]


def test_a_trailer_is_found_inside_of_a_file() -> None:
    file = b"".join(blocks())
    start = sum(map(len, blocks()[:4]))
    assert fmt.trailer_of(file, start, start + len(blocks()[4])) == (3, 13)


@pytest.mark.parametrize("index", range(6))
def test_every_flipped_bit_is_noticed(index: int) -> None:
    block = blocks()[index]
    for place in range(len(block)):
        for bit in range(8):
            changed = bytearray(block)
            changed[place] ^= 1 << bit
            found = fmt.trailer_of(bytes(changed), 0, len(block))
            # The length at the beginning is covered by the checksum, the one at the end compared.
            assert found is None, (place, bit)


def test_a_segment_is_a_capture(tmp_path: Path) -> None:
    file = tmp_path / "segment.pcapng"
    file.write_bytes(b"".join(blocks()))
    skipped = Skipped()
    read = packets([str(file)], skipped)
    found = [(one.interface, one.time_ns, one.data, one.link_type) for one in read]
    assert found == [
        (fmt.STATE, 5, PACKET, 101),
        (fmt.WIRE, 1_700_000_000_123_456_789, PACKET, 101),
    ]
    assert not skipped


def test_a_segment_is_known_by_its_first_block() -> None:
    assert fmt.is_segment(b"".join(blocks()))
    assert not fmt.is_segment(b"".join(blocks()[1:]))
    assert not fmt.is_segment(b"\n\r\r\n")
