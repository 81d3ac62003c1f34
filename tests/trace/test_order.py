"""The messages of both directions of a connection are in the order of the capture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chance import IS_FULL, first_seed
from tests.rules import damage as ways
from tests.rules.captures import clean
from tests.rules.damage import damaged
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import Recorder
from tests.trace.event_reader import EventReader
from zenlake import trace
from zenlake.limits import TCP_HOLE_SEGMENTS_MAX, TRACE_WAITING_BATCHES_MAX
from zenlake.trace.link import LinkBatch
from zenlake.wire import KeepAlive


@pytest.mark.parametrize("way", [ways.few_are_missing, ways.many_are_missing, ways.it_begins_late])
def test_batches_of_a_link_are_in_order(way: ways.Way, tmp_path: Path) -> None:
    """Except incomplete batches, which are reported when it is known that no bytes follow."""
    start = first_seed()
    for seed in range(start, start + (500 if IS_FULL else 40)):
        path = clean(tmp_path / "clean.pcapng", seed, 60)
        newest: dict[str, int] = {}
        found = trace.open(str(damaged(path, tmp_path / "damaged.pcapng", way, seed)))
        for item, _ in found.steps():
            if isinstance(item, LinkBatch) and item.state == "ok":
                name = item.link.name
                assert item.packet >= newest.get(name, 0), (seed, item)
                newest[name] = item.packet


def test_waiting_batches_are_limited() -> None:
    """One direction has a hole, and no unit can be found behind it."""
    recorder = Recorder(1)
    session = LegalSession(recorder, protocol="tcp", lowlatency=False, compression=False)
    session.open()
    keep_alive = bytes(KeepAlive())
    lost = session.unit(1, keep_alive)
    session.unit(1, keep_alive)
    first = len(recorder.packets)
    for _ in range(TCP_HOLE_SEGMENTS_MAX + TRACE_WAITING_BATCHES_MAX + 10):
        session.unit(0, keep_alive)
    reader = EventReader()
    counts = []
    for packet in recorder.packets:
        if packet.number != lost:
            reader.packet(packet)
        counts.append(len(reader.messages))
    # First all messages before the hole, then none for a while, then each at once.
    assert counts[first] == counts[first + TRACE_WAITING_BATCHES_MAX // 2]
    assert counts[-1] - counts[-2] == 1
    assert counts[-1] - counts[first] > TRACE_WAITING_BATCHES_MAX
