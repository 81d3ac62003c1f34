"""Files of PcapngWriter, read by our reader and by another one."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import dpkt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.capture.built_files import interface, option, packet_block, read, section
from tests.paths import CAPTURES
from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcapng import Comments
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.errors import LocalError
from zenlake.limits import PACKET_BYTES_MAX


def fields(packet: Packet) -> tuple[int, int, bytes, int]:
    return packet.time_ns, packet.link_type, packet.data, packet.original_bytes


def written(given: list[Packet]) -> bytes:
    file = io.BytesIO()
    writer = PcapngWriter(file)
    for packet in given:
        writer.write(packet)
    return file.getvalue()


PACKETS = st.builds(
    lambda time, link, data, more: Packet(0, time, link, data, len(data) + more),
    st.integers(0, 2**63 - 1),
    st.sampled_from((0, 1, 101, 113, 276)),
    st.binary(max_size=100),
    st.integers(0, 2000),
)


@given(st.lists(PACKETS, max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_packets_come_back_as_they_were(tmp_path: Path, given: list[Packet]) -> None:
    outcome = read(tmp_path, written(given))
    assert [fields(packet) for packet in outcome.packets] == [fields(packet) for packet in given]
    assert [packet.number for packet in outcome.packets] == list(range(1, len(given) + 1))
    assert not outcome.skipped


@pytest.mark.parametrize("name", ["pubsub_router.pcapng", "qos_matrix.pcap"])
def test_another_reader_has_the_same_packets_of_a_real_capture(name: str) -> None:
    ours = list(packets([str(CAPTURES / name)], Skipped()))
    reader = dpkt.pcapng.Reader(io.BytesIO(written(ours)))
    assert reader.datalink() == 1
    theirs = list(reader)
    assert [data for _, data in theirs] == [packet.data for packet in ours]
    assert [t for t, _ in theirs] == pytest.approx([p.time_ns / 1e9 for p in ours], abs=1e-6)


def test_bytes_are_those_of_the_format() -> None:
    file = io.BytesIO()
    writer = PcapngWriter(file)
    writer.write(Packet(1, 5_000_000_007, 113, b"abcde", 60), "why")
    nanoseconds = option(9, b"\x09") + option(0, b"")
    note = option(1, b"why") + option(0, b"")
    assert file.getvalue() == (
        section()
        + interface(113, nanoseconds, snap=PACKET_BYTES_MAX)
        + packet_block(b"abcde", 5_000_000_007, options=note, original=60)
    )


def test_other_readers_find_packets_of_several_link_types_and_comments() -> None:
    file = io.BytesIO()
    writer = PcapngWriter(file)
    bodies = [bytes([n]) * n for n in range(1, 30)]
    for n, body in enumerate(bodies):
        writer.write(Packet(n, n, (1, 113, 101)[n % 3], body, len(body)), "c" * n)
    file.seek(0)
    assert [data for _, data in dpkt.pcapng.Reader(file)] == bodies


def test_comments_come_back(tmp_path: Path) -> None:
    texts = ["", "einer", "zwölf", "x" * 65_535, "line\nbreak"]
    path = tmp_path / "commented.pcapng"
    with path.open("wb") as file:
        writer = PcapngWriter(file)
        for text in texts:
            writer.write(Packet(0, 1, 1, b"data", 4), text)
    comments, skipped = Comments(), Skipped()
    assert len(list(packets([str(path)], skipped, comments))) == len(texts)
    assert comments.texts == [(n, text) for n, text in enumerate(texts, 1) if text]
    assert not skipped


def test_file_without_packets_is_an_empty_capture(tmp_path: Path) -> None:
    outcome = read(tmp_path, written([]))
    assert outcome.packets == []
    assert not outcome.skipped


@pytest.mark.parametrize(
    ("packet", "comment", "cause"),
    [
        (Packet(1, -1, 1, b"", 0), "", "time -1 ns"),
        (Packet(1, 1 << 64, 1, b"", 0), "", "time 18446744073709551616 ns"),
        (Packet(1, 0, 65_536, b"", 0), "", "link type 65536"),
        (Packet(1, 0, 1, b"", 1 << 32), "", "original length 4294967296"),
        (Packet(1, 0, 1, bytes(PACKET_BYTES_MAX + 1), 0), "", "packet of 262145 bytes"),
        (Packet(1, 0, 1, b"", 0), "ä" * 32_768, "comment of 65536 bytes"),
    ],
    ids=["before 1970", "after 64 bits", "link type", "original", "length", "comment"],
)
def test_value_outside_the_format_is_refused_and_nothing_written(
    packet: Packet, comment: str, cause: str
) -> None:
    file = io.BytesIO()
    writer = PcapngWriter(file)
    with pytest.raises(LocalError, match=cause):
        writer.write(packet, comment)
    assert file.getvalue() == section()
    writer.write(Packet(1, 0, 1, b"x", 1))
    assert struct.unpack("<I", file.getvalue()[-4:]) == (36,)
