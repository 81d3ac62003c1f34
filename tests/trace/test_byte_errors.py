"""Wrong bytes (P02): only CaptureError is raised, and reading takes bounded time.

`fuzz/byte_errors.py` measures the same with twenty seeds and prints the times.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chance import IS_FULL
from tests.paths import CAPTURES
from tests.trace.byte_errors import damaged_file, damaged_payloads, plain_content, time_of
from zenlake import trace
from zenlake.errors import CaptureError
from zenlake.trace import MessageSeen

SEEDS = 20 if IS_FULL else 2
FAST_NAMES = (
    "encrypted_links.pcapng.gz",
    "ipv6_router.pcapng",
    "lowlatency.pcapng.gz",
    "old_release_1_0_4.pcapng.gz",
    "pico_clients.pcapng",
    "pico_peers.pcapng",
    "pubsub_router.pcapng",
    "queries.pcapng.gz",
)
ALL_NAMES = tuple(sorted(path.name for path in CAPTURES.glob("*.pcap*")))
NAMES = ALL_NAMES if IS_FULL else FAST_NAMES
RATES = (0.001, 0.005, 0.02)
RATIO_MAX = 2
SLACK_S = 0.1
"""Allowance for the clocks of busy machines."""
MEMORY_BYTES_MAX = 500 << 20


def best_time_of(path: Path) -> float:
    """The best of three times, without garbage collection: other tests leave many objects."""
    gc.disable()
    try:
        return min(time_of(path) for _ in range(3))
    finally:
        gc.enable()


@pytest.mark.parametrize("damage", [damaged_file, damaged_payloads])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", NAMES)
def test_wrong_bytes_cost_little_time(
    tmp_path: Path, name: str, rate: float, damage: Callable[[bytes, float, int], bytes]
) -> None:
    content = plain_content(CAPTURES / name)
    path = tmp_path / "damaged"
    path.write_bytes(content)
    clean = best_time_of(path)
    for seed in range(SEEDS):
        path.write_bytes(damage(content, rate, seed))
        assert best_time_of(path) <= RATIO_MAX * clean + SLACK_S, f"seed {seed}"


@pytest.mark.parametrize("name", ["pubsub_router.pcapng", "pico_clients.pcapng"])
def test_events_of_damaged_captures_can_be_printed(tmp_path: Path, name: str) -> None:
    content = plain_content(CAPTURES / name)
    path = tmp_path / "damaged"
    for seed in range(SEEDS):
        path.write_bytes(damaged_file(content, 0.01, seed))
        read = trace.open(str(path))
        try:
            events = list(read)
        except CaptureError:
            continue
        for event in events:
            assert repr(event)
            if isinstance(event, MessageSeen):
                assert bytes(event.message)
        assert all(repr(session) for session in read.sessions)
        assert sum(read.undecoded.values()) <= len(content)


def test_wrong_bytes_cost_little_memory(tmp_path: Path) -> None:
    content = plain_content(CAPTURES / "queries.pcapng.gz")
    path = tmp_path / "damaged"
    path.write_bytes(damaged_file(content, 0.02, 1))
    tracemalloc.start()
    try:
        time_of(path)
        assert tracemalloc.get_traced_memory()[1] < MEMORY_BYTES_MAX
    finally:
        tracemalloc.stop()
