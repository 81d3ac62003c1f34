"""Copies as files: the same bytes as those of a writer."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.testing.copied_streams import COPIES, PATHS, by_host, captures, read, streams_of
from zenlake.capture.packet import Packet
from zenlake.capture.pcapng_writer import PcapngWriter
from zenlake.errors import LocalError
from zenlake.testing.envelopes import PcapEnvelope, PcapngEnvelope
from zenlake.testing.replicate import Replicas


def written_one_by_one(copied: Iterable[Packet]) -> bytes:
    file = io.BytesIO()
    writer = PcapngWriter(file)
    for packet in copied:
        writer.write(packet)
    return file.getvalue()


@captures
def test_same_seed_produces_the_same_bytes(path: Path) -> None:
    original = read(path)

    def written(seed: int) -> bytes:
        replicas = Replicas([original], seed)
        return b"".join(replicas.records(COPIES, PcapngEnvelope(replicas.originals)))

    assert written(7) == written(7)
    assert written(7) != written(8)


def test_file_of_records_equals_that_of_the_writer() -> None:
    replicas = Replicas([read(path) for path in PATHS])
    records = replicas.records(COPIES, PcapngEnvelope(replicas.originals))
    assert b"".join(records) == written_one_by_one(replicas.packets(COPIES))


def test_a_classic_file_has_the_same_packets(tmp_path: Path) -> None:
    replicas = Replicas([read(path) for path in PATHS])
    path = tmp_path / "copies.pcap"
    path.write_bytes(b"".join(replicas.records(COPIES, PcapEnvelope(replicas.originals))))
    expected = [(packet.time_ns, packet.data) for packet in replicas.packets(COPIES)]
    assert [(packet.time_ns, packet.data) for packet in read(path)] == expected


def test_two_link_types_need_two_interfaces_of_pcapng(tmp_path: Path) -> None:
    ethernet = read(PATHS[0])
    raw = [
        Packet(packet.number, packet.time_ns, 101, packet.data[14:], packet.original_bytes - 14)
        for packet in read(PATHS[1])
    ]
    replicas = Replicas([ethernet, raw])
    with pytest.raises(LocalError, match="2 link types"):
        PcapEnvelope(replicas.originals)
    copied = list(replicas.packets(2))
    assert Counter(packet.link_type for packet in copied) == {
        1: 2 * len(ethernet),
        101: 2 * len(raw),
    }
    assert len(by_host(streams_of(copied))) == 4
    path = tmp_path / "copies.pcapng"
    path.write_bytes(b"".join(replicas.records(2, PcapngEnvelope(replicas.originals))))
    expected = [(packet.time_ns, packet.link_type, packet.data) for packet in copied]
    assert [(packet.time_ns, packet.link_type, packet.data) for packet in read(path)] == expected
