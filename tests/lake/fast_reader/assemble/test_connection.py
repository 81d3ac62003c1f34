"""TCP beyond bytes in order: handled as the exact reader does, or the pair is irregular."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.lake.fast_reader.captures import surveyed
from tests.lake.fast_reader.comparison import compare
from tests.lake.fast_reader.mutations import load, store
from tests.lake.fast_reader.segments import TCP_AT, Segment
from tests.paths import CAPTURES
from zenlake.capture.packet import Packet
from zenlake.capture.transport import ACK, FIN, RST, SYN
from zenlake.lake.fast_reader import Survey, survey
from zenlake.lake.fast_reader.assemble import reasons


@pytest.fixture
def whole() -> list[Packet]:
    found = load(CAPTURES / "alias_remapped.pcapng")
    assert all(Segment(one).packet.link_type == 1 for one in found)
    return found


def compared(folder: Path, packets: list[Packet]) -> Survey:
    """Surveys the packets; asserts that both readers agree, whatever the survey decides."""
    path = folder / "built.pcapng"
    store(path, packets)
    found = surveyed(path)
    compare(str(path), found)
    return found


def test_unchanged_capture_is_regular(whole: list[Packet], tmp_path: Path) -> None:
    assert compared(tmp_path, whole).regular.all()


def test_connection_with_every_packet_twice_is_regular(whole: list[Packet], tmp_path: Path) -> None:
    twice = [copy for packet in whole for copy in (packet, packet)]
    assert compared(tmp_path, twice).regular.all()


def test_keep_alive_probes_are_regular(whole: list[Packet], tmp_path: Path) -> None:
    """A probe has the byte before the next one, or no byte."""
    packets: list[Packet] = []
    ended = [index for index, one in enumerate(whole) if Segment(one).flags & FIN]
    for index, packet in enumerate(whole):
        one = Segment(packet)
        is_plain = one.is_tcp and one.flags & (SYN | FIN | RST) == 0 and not one.payload
        if is_plain and index < ended[0]:
            packets.append(one.changed(seq=one.seq - 1, payload=b""))
            packets.append(one.changed(seq=one.seq - 1, payload=b"\0"))
        packets.append(packet)
    found = compared(tmp_path, packets)
    assert len(packets) > len(whole)
    assert found.regular.all()


def test_segment_that_repeats_bytes_before_new_ones_is_regular(
    whole: list[Packet], tmp_path: Path
) -> None:
    before: dict[bytes, bytes] = {}
    packets: list[Packet] = []
    for packet in whole:
        one = Segment(packet)
        ends = packet.data[26:38]
        if one.is_tcp and one.payload and ends in before:
            again = before[ends][-3:]
            packet = one.changed(seq=one.seq - len(again), payload=again + one.payload)
        if one.is_tcp and one.payload:
            before[ends] = one.payload
        packets.append(packet)
    assert compared(tmp_path, packets).regular.all()


def test_segments_of_one_byte_are_regular(whole: list[Packet], tmp_path: Path) -> None:
    """Batches in parts; the first batch is whole, because it is how Zenoh is recognised."""
    seen: set[bytes] = set()
    packets: list[Packet] = []
    for packet in whole:
        one = Segment(packet)
        ends = packet.data[26:38]
        if one.is_tcp and len(one.payload) > 1 and ends in seen:
            for at in range(len(one.payload)):
                part = one.payload[at : at + 1]
                is_last = at == len(one.payload) - 1
                flags = one.flags if is_last else one.flags & ~FIN
                packets.append(one.changed(one.seq + at, flags, part))
            continue
        if one.payload:
            seen.add(ends)
        packets.append(packet)
    assert compared(tmp_path, packets).regular.all()


def test_second_connection_between_the_same_ends_makes_the_pair_irregular(
    whole: list[Packet], tmp_path: Path
) -> None:
    first = next(Segment(packet) for packet in whole if Segment(packet).flags == SYN)
    found = compared(tmp_path, [*whole, first.changed(seq=first.seq + 5_000_000)])
    assert found.reason.tolist().count(reasons.SECOND_START) == 1


def test_pair_without_a_syn_is_irregular(whole: list[Packet], tmp_path: Path) -> None:
    found = compared(tmp_path, [one for one in whole if not Segment(one).flags & SYN])
    assert set(found.reason.tolist()) == {reasons.NO_START}


def test_bytes_after_the_end_make_the_pair_irregular(whole: list[Packet], tmp_path: Path) -> None:
    last = [Segment(one) for one in whole if Segment(one).payload and Segment(one).is_tcp][-1]
    found = compared(tmp_path, [*whole, last.packet])
    assert found.reason.tolist().count(reasons.AFTER_END) == 1


def test_connection_that_ends_with_reset_is_regular(whole: list[Packet], tmp_path: Path) -> None:
    packets = [
        one.changed(flags=RST | ACK) if one.flags & FIN else one.packet
        for one in map(Segment, whole)
    ]
    found = compared(tmp_path, packets)
    assert found.regular.all()
    assert {found.cause_word(pair) for pair in range(len(found))} == {"rst"}


def test_connection_without_fin_is_regular(whole: list[Packet], tmp_path: Path) -> None:
    packets = [one for one in whole if not Segment(one).flags & FIN]
    found = compared(tmp_path, packets)
    acked = [one for one in found.reason.tolist() if one]
    assert set(acked) <= {reasons.ACKED_BEYOND}


def test_missing_packet_makes_the_pair_irregular(whole: list[Packet], tmp_path: Path) -> None:
    lost = [one for one in whole if Segment(one).is_tcp and Segment(one).payload][20]
    found = compared(tmp_path, [one for one in whole if one is not lost])
    # The other side acknowledges the lost bytes before more bytes arrive.
    assert found.reason.tolist().count(reasons.ACKED_BEYOND) == 1


def test_connection_of_a_port_with_itself_is_irregular(whole: list[Packet], tmp_path: Path) -> None:
    data = bytearray(whole[0].data)
    data[30:34] = data[26:30]
    data[36:38] = data[34:36]
    own = Packet(1, 1, 1, bytes(data), len(data))
    assert compared(tmp_path, [own, *whole]).reason[0] == reasons.OWN_PORT


def test_capture_with_ip_fragments_is_refused(whole: list[Packet], tmp_path: Path) -> None:
    data = bytearray(whole[10].data)
    data[20] = 0x20
    path = tmp_path / "built.pcapng"
    store(path, [*whole, Packet(1, 1, 1, bytes(data), len(data))])
    assert not isinstance(survey(str(path)), Survey)


def test_syn_with_ack_of_missing_bytes_makes_the_pair_irregular(
    whole: list[Packet], tmp_path: Path
) -> None:
    """A SYN with ACK acknowledges bytes as any ACK does."""
    at = next(n for n, one in enumerate(whole) if Segment(one).flags == SYN | ACK)
    data = bytearray(whole[at].data)
    struct.pack_into("!I", data, TCP_AT + 8, struct.unpack_from("!I", data, TCP_AT + 8)[0] + 9)
    one = whole[at]
    changed = Packet(one.number, one.time_ns, one.link_type, bytes(data), len(data))
    found = compared(tmp_path, [*whole[:at], changed, *whole[at + 1 :]])
    assert found.reason.tolist().count(reasons.ACKED_BEYOND) == 1


def test_ack_before_its_syn_makes_the_pair_irregular(whole: list[Packet], tmp_path: Path) -> None:
    at = next(n for n, one in enumerate(whole) if Segment(one).flags == SYN | ACK)
    found = compared(tmp_path, [*whole[:at], whole[at + 1], whole[at], *whole[at + 2 :]])
    assert found.reason.tolist().count(reasons.ACKED_BEYOND) == 1
