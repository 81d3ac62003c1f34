"""An independent reader, dpkt, reads segments: the same packets, and the bytes of links in them."""

from __future__ import annotations

from pathlib import Path

import dpkt
import pytest

from tests.capture.recorded import linked_packets, parts_of, write_tracked_recording
from tests.paths import CAPTURES
from zenlake import trace
from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.trace.link import LinkBatch


@pytest.mark.parametrize("name", ["queries.pcapng.gz", "ipv6_router.pcapng", "fragments.pcapng.gz"])
def test_dpkt_reads_the_same_packets_and_bytes(tmp_path: Path, name: str) -> None:
    sent = linked_packets(CAPTURES / name)
    recording = write_tracked_recording(tmp_path / "recording", parts_of(sent, 3))
    streams: dict[tuple[bytes, int, bytes, int], bytes] = {}
    for number in (1, 2, 3):
        segment = recording / f"0000000{number}.pcapng"
        with segment.open("rb") as file:
            found = [(round(at * 1e6), data) for at, data in dpkt.pcapng.Reader(file)]
        expected = list(packets([str(segment)], Skipped()))
        assert [data for _, data in found] == [one.data for one in expected]
        for (at_us, _), one in zip(found, expected, strict=True):
            assert abs(at_us - one.time_ns // 1_000) <= 1
        state = sum(one.number <= 0 for one in expected)
        for _, data in found[state:]:
            ip = (dpkt.ip.IP if data[0] >> 4 == 4 else dpkt.ip6.IP6)(data)
            flow = (ip.src, ip.data.sport, ip.dst, ip.data.dport)
            streams[flow] = streams.get(flow, b"") + bytes(ip.data.data)
    assert sorted(streams.values()) == sorted(_streams(CAPTURES / name).values())


def _streams(path: Path) -> dict[tuple[str, int], bytes]:
    """The batches of each direction of each link, with their lengths."""
    found: dict[tuple[str, int], bytes] = {}
    with trace.open(str(path)) as opened:
        for batch in opened.batches():
            assert isinstance(batch, LinkBatch)
            if batch.link.protocol == "tcp" and batch.link.seen_start:
                key = (batch.link.name, batch.direction)
                size = len(batch.data).to_bytes(2, "little")
                found[key] = found.get(key, b"") + size + batch.data
    return found
