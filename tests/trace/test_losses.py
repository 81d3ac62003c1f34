"""No invented messages (P04): all messages of a capture with losses are in the whole one.

Packets are dropped or cut. Every message found must be in the undamaged capture, with the same
sender and bytes; its key must be the same or unknown. Batches must be found again within ten of
them.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

from tests.capture.capture_file import load
from tests.chance import IS_FULL
from tests.paths import CAPTURES
from tests.trace.damage import DAMAGES, Read, read
from tests.trace.truth import RESYNC_UNITS_MAX, Truth
from zenlake.capture.packet import Packet

SEEDS = 100 if IS_FULL else 2
PLACES = 1_000_000 if IS_FULL else 8
"""How many first packets, or missing packets, are tried."""
FAST_NAMES = (
    "compressed_midstream.pcapng.gz",
    "ipv6_router.pcapng",
    "lowlatency.pcapng.gz",
    "lowlatency_midstream.pcapng.gz",
    "pico_clients.pcapng",
    "pico_peers.pcapng",
    "pubsub_router.pcapng",
    "qos_matrix.pcap",
    "queries.pcapng.gz",
)
ALL_NAMES = tuple(sorted(path.name for path in CAPTURES.glob("*.pcap*")))
NAMES = ALL_NAMES if IS_FULL else FAST_NAMES
WITHOUT_RESYNC = ("encrypted_links.pcapng.gz",)
"""A WebSocket is recognised only by its beginning."""
KEYS_MAY_DIFFER = ("alias_remapped.pcapng",)
"""A client declares an alias for a second key, against the rules: the first key is valid."""


@cache
def known(name: str) -> tuple[list[Packet], Truth]:
    path = CAPTURES / name
    return load(path), Truth(Read(path))


def check(name: str, damaged: list[Packet], folder: Path, said: str) -> None:
    whole, truth = known(name)
    if not damaged:
        return
    found = read(folder, damaged)
    wrong = truth.invented(found)
    if name in KEYS_MAY_DIFFER:
        wrong = [line for line in wrong if not line.startswith("key ")]
    assert not wrong, f"{said}: {wrong[:3]}"
    sizes = {packet.number: len(packet.data) for packet in whole}
    kept = {packet.number for packet in damaged if len(packet.data) == sizes[packet.number]}
    lost = truth.lost_after(found, kept)
    if name not in WITHOUT_RESYNC:
        assert max(lost, default=0) <= RESYNC_UNITS_MAX, said


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("name", NAMES)
def test_no_message_is_invented_and_batches_are_found_again(
    tmp_path: Path, name: str, kind: str
) -> None:
    whole, _ = known(name)
    for seed in range(SEEDS):
        damaged = DAMAGES[kind](random.Random(seed), whole)
        check(name, damaged, tmp_path, f"seed {seed}")


@pytest.mark.parametrize("name", NAMES)
def test_a_capture_may_begin_anywhere(tmp_path: Path, name: str) -> None:
    whole, _ = known(name)
    for start in range(1, len(whole), max(1, len(whole) // PLACES)):
        check(name, whole[start:], tmp_path, f"from packet {start + 1}")


@pytest.mark.parametrize("name", NAMES)
def test_any_packet_may_be_missing(tmp_path: Path, name: str) -> None:
    whole, _ = known(name)
    for place in range(0, len(whole), max(1, len(whole) // PLACES)):
        damaged = whole[:place] + whole[place + 1 :]
        check(name, damaged, tmp_path, f"without packet {place + 1}")


def test_undamaged_capture_has_no_invented_or_lost_messages(tmp_path: Path) -> None:
    """Tests the comparison itself."""
    for name in NAMES:
        whole, truth = known(name)
        found = read(tmp_path, whole)
        assert truth.invented(found) == []
        assert truth.lost_after(found, {packet.number for packet in whole}) == []
        assert len(found.messages) == sum(truth.counts.values())
