"""Copies of the bundled captures can be decoded like them, and differ from each other."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from struct import unpack

import dpkt
import pytest

from tests.testing.copied_streams import (
    COPIES,
    PATHS,
    by_host,
    captures,
    host_of,
    kinds,
    payloads,
    read,
    segments_of,
    streams_of,
    times,
)
from zenlake.capture.packet import Packet
from zenlake.capture.transport import Segment
from zenlake.errors import LocalError
from zenlake.testing.names import Names
from zenlake.testing.replicate import Replicas, replicate


@captures
def test_copies_have_all_packets_in_the_order_of_time(path: Path) -> None:
    original = read(path)
    copied = list(replicate(original, COPIES))
    assert len(copied) == COPIES * len(original)
    assert [packet.number for packet in copied] == list(range(1, len(copied) + 1))
    assert all(a.time_ns <= b.time_ns for a, b in itertools.pairwise(copied))
    lengths = Counter(len(packet.data) for packet in original)
    assert Counter(len(packet.data) for packet in copied) == Counter(
        {size: count * COPIES for size, count in lengths.items()}
    )


@captures
def test_a_copy_keeps_the_order_and_the_times_between_packets(path: Path) -> None:
    original = segments_of(read(path))
    copies: dict[str, list[Segment]] = {}
    for segment in segments_of(replicate(read(path), COPIES)):
        copies.setdefault(host_of(segment.ends.source), []).append(segment)
    assert len(copies) == COPIES
    for number, copy in enumerate(copies.values()):
        assert [segment.seq for segment in copy] == [segment.seq for segment in original]
        shifts = {ours.time_ns - old.time_ns for ours, old in zip(copy, original, strict=True)}
        assert shifts == {number * 1_000_000_000}


@captures
def test_copies_run_at_the_same_time(path: Path) -> None:
    hosts = [host_of(segment.ends.source) for segment in segments_of(replicate(read(path), COPIES))]
    turns = [host for host, _ in itertools.groupby(hosts)]
    assert len(turns) > 2 * COPIES


@captures
def test_every_stream_of_every_copy_has_the_messages_of_the_original(path: Path) -> None:
    original = read(path)
    (expected,) = map(kinds, by_host(streams_of(original)).values())
    copies = by_host(streams_of(replicate(original, COPIES)))
    assert len(copies) == COPIES
    assert [kinds(streams) for streams in copies.values()] == [expected] * COPIES


@captures
def test_no_two_copies_share_a_flow_an_id_or_a_key(path: Path) -> None:
    original = read(path)
    flows = {flow for flow, _ in streams_of(original)}
    copied = list(replicate(original, COPIES))
    assert len({flow for flow, _ in streams_of(copied)}) == COPIES * len(flows)
    assert not Names(original).cut_names
    old, new = Names(original), Names(copied)
    assert len(new.zids) == COPIES * len(old.zids)
    assert len(new.chunks) == COPIES * len(old.chunks)
    assert old.zids.isdisjoint(new.zids)
    assert old.chunks.keys().isdisjoint(new.chunks)


@captures
def test_payloads_are_kept_and_timestamps_move_with_the_packets(path: Path) -> None:
    original = read(path)
    (old,) = by_host(streams_of(original)).values()
    copies = by_host(streams_of(replicate(original, COPIES)))
    for number, streams in enumerate(copies.values()):
        assert sorted(map(payloads, streams)) == sorted(map(payloads, old))
        shifted = [time + (number << 32) for time in itertools.chain(*map(times, old))]
        assert sorted(itertools.chain(*map(times, streams))) == sorted(shifted)
        assert shifted


@captures
def test_ipv4_checksums_are_correct_and_those_of_tcp_and_udp_are_zero(path: Path) -> None:
    for packet in replicate(read(path), 2):
        ip = packet.data[14:]
        words = sum(unpack("!10H", ip[:20]))
        assert ip[0] == 0x45
        assert words % 0xFFFF == 0
        assert dpkt.ethernet.Ethernet(packet.data).data.data.sum == 0


def test_ipv6_hosts_are_replaced_and_groups_are_kept() -> None:
    host, group = bytes.fromhex("fe80" + "00" * 13 + "01"), bytes.fromhex("ff02" + "00" * 13 + "fb")
    udp = bytes.fromhex("1d16 1d17 000c ffff") + b"text"
    data = b"\x60\0\0\0" + len(udp).to_bytes(2, "big") + b"\x11\x40" + host + group + udp
    first, second = replicate([Packet(1, 10**18, 101, data, len(data))], 2)
    addresses = [packet.data[8:24] for packet in (first, second)]
    assert addresses[0] != addresses[1]
    assert {address[0] for address in addresses} == {0xFD}
    assert first.data[24:40] == second.data[24:40] == group
    assert first.data[40:] == second.data[40:] == udp[:6] + b"\0\0text"


def test_id_divided_between_segments_is_counted() -> None:
    original = read(PATHS[0])
    zid = min(Names(original).zids)
    index = next(i for i, packet in enumerate(original) if zid in packet.data)
    packet = original[index]
    ip = dpkt.ethernet.Ethernet(packet.data).data
    size = packet.data.index(zid) + 5 - (len(packet.data) - len(ip.data.data))
    halves = [(0, ip.data.data[:size]), (size, ip.data.data[size:])]
    for by, half in halves:
        cut = dpkt.ethernet.Ethernet(packet.data)
        cut.data.data.seq += by
        cut.data.data.data = half
        cut.data.len = len(cut.data)
        data = bytes(cut)
        original.insert(index + 1 + bool(by), Packet(0, packet.time_ns, 1, data, len(data)))
    del original[index]
    replicas = Replicas([original])
    assert replicas.cut_names == 1
    assert zid in b"".join(streams_of(replicas.packets(1)).values())


def test_replicating_no_packets_is_an_error() -> None:
    with pytest.raises(LocalError, match="no packets"):
        Replicas([[]])
