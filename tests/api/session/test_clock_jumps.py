"""A wall clock that jumps, and stamps from many threads (limits: T06, T07)."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import pytest

import zenlake
from tests.api.linked import connected, listening, publisher_of
from tests.chance import scaled
from tests.sessions import config_of
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("host")

HOUR_NS = 3600 * 10**9
JUMPS_NS = (-HOUR_NS, HOUR_NS, 10 * 365 * 24 * HOUR_NS, 10**9, -1_000_000, -HOUR_NS, 0)
LEASE_MS = 1_000
"""A node checks the leases of its links four times in it."""


class WallClock:
    """A wall clock that the test can set."""

    def __init__(self) -> None:
        self.ahead_ns = 0
        self._real = time.time_ns

    def __call__(self) -> int:
        return self._real() + self.ahead_ns


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    clock = WallClock()
    monkeypatch.setattr(time, "time_ns", clock)
    return clock


def test_stamps_go_on_and_no_lease_ends(wall: WallClock) -> None:
    options: Any = {"timestamping__enabled": True, "transport__link__tx__lease": LEASE_MS}
    with listening(**options) as a, connected(a, "peer", **options) as b:
        events = a.info.declare_transport_events_listener()
        got: list[zenlake.Timestamp] = []

        def note(sample: zenlake.Sample) -> None:
            assert sample.timestamp is not None
            got.append(sample.timestamp)

        a.declare_subscriber("k", note)
        publisher = publisher_of(b, "k", congestion_control=zenlake.CongestionControl.BLOCK)
        count = 0
        for jump_ns in JUMPS_NS:
            wall.ahead_ns += jump_ns
            over_at = time.monotonic() + 0.3  # more than a fourth of a lease
            while time.monotonic() < over_at:
                publisher.put(b"")
                count += 1
                time.sleep(0.0005)  # up to 2,000 publications a second
        until(lambda: len(got) >= count)
        assert len(got) == count > 200
        assert all(one < other for one, other in itertools.pairwise(got))
        # The listening node may open the transport later than the connecting one.
        kinds = [event.kind for event in iter(events.try_recv, None)]
        assert kinds in ([], [zenlake.SampleKind.PUT])
        assert len(a.info.transports()) == 1


@pytest.mark.parametrize("drops", [False, True])
def test_stamps_of_a_node_that_is_ahead(drops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Timestamps over 500 ms in the future are replaced, or dropped if so configured."""
    settings = {"enabled": True, "drop_future_timestamp": drops}
    with listening(timestamping=settings) as a:
        ahead = WallClock()
        with monkeypatch.context() as patch:
            patch.setattr(time, "time_ns", ahead)
            b = connected(a, "peer", timestamping__enabled=True)
        with b:
            subscriber = a.declare_subscriber("k")
            publisher = publisher_of(b, "k")
            for ahead_ms in (0, 300, 800, 3_600_000):
                ahead.ahead_ns = ahead_ms * 1_000_000
                publisher.put(str(ahead_ms))
            ahead.ahead_ns = 0
            b.put("k", "end", timestamp=a.new_timestamp())
            seen: list[str] = []
            while not seen or seen[-1] != "end":
                sample = subscriber.recv()
                assert sample.timestamp is not None
                is_own = str(sample.timestamp.get_id()) == str(b.zid())
                seen.append(str(sample.payload))
                assert is_own == (seen[-1] in ("0", "300"))
            expected = ["0", "300", "end"] if drops else ["0", "300", "800", "3600000", "end"]
            assert seen == expected
            assert a.info.stats()["future_timestamps"] == 2


def test_stamps_from_eight_threads() -> None:
    """All different, and each thread's in order."""
    count = scaled(5_000, 125_000)
    with zenlake.open(config_of(timestamping__enabled=True)) as session:
        given: list[list[zenlake.Timestamp]] = [[] for _ in range(8)]

        def stamp(mine: list[zenlake.Timestamp]) -> None:
            for _ in range(count):
                mine.append(session.new_timestamp())

        threads = [threading.Thread(target=stamp, args=(mine,)) for mine in given]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for mine in given:
            assert all(one < other for one, other in itertools.pairwise(mine))
        texts = {str(one) for mine in given for one in mine}
        assert len(texts) == 8 * count
