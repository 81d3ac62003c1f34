"""Both readers on captures of real traffic: regular pairs are equal, others are not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.fast_reader.captures import PATHS, plain, surveyed
from tests.lake.fast_reader.comparison import ExactReading, compare
from tests.paths import CAPTURES
from zenlake.lake.fast_reader import Survey, survey

ORDINARY = (
    *("alias_remapped", "cooked_v1", "cooked_v2", "encrypted_links", "fragments", "ipv6_router"),
    *("liveliness", "lowlatency", "metadata", "mixed_versions", "multicast", "old_release_1_0_4"),
    *("pico_1_0_4", "pico_clients", "pubsub_router", "qos_matrix", "queries", "reconnect"),
    *("ros2", "routers_ring", "udp_unicast"),
)
"""Captures in which every message over TCP is on a regular pair."""
IRREGULAR = (
    *("compressed_midstream", "impaired", "lowlatency_midstream", "midstream", "pico_peers"),
    "snaplen",
)
"""Captures without a regular pair."""


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_readers_agree_on_real_captures(path: Path, tmp_path: Path) -> None:
    name = plain(path, tmp_path)
    messages = compare(name, surveyed(name))
    stem = path.name.partition(".")[0]
    if stem in ORDINARY:
        assert messages == ExactReading(name).tcp_messages > 0
    elif path.parent == CAPTURES:
        assert (messages == 0) == (stem in IRREGULAR)


def test_small_chunks_have_the_same_result(tmp_path: Path) -> None:
    """Batches, chains of fragments and pairs span several chunks."""
    for stem in ("fragments", "routers_ring"):
        name = plain(CAPTURES / f"{stem}.pcapng.gz", tmp_path)
        whole, small = surveyed(name), surveyed(name, chunk_bytes=1_000)
        assert whole.reason.tolist() == small.reason.tolist()
        assert compare(name, small, chunk_bytes=1_000) == compare(name, small)


def test_compressed_files_are_refused() -> None:
    assert not isinstance(survey(str(CAPTURES / "queries.pcapng.gz")), Survey)
