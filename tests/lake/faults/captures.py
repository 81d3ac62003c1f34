"""Captures for these tests: small bundled ones, and larger ones made of them."""

from __future__ import annotations

from pathlib import Path

from tests.paths import CAPTURES
from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.testing.envelopes import PcapngEnvelope
from zenlake.testing.replicate import Replicas

A = str(CAPTURES / "queries.pcapng.gz")
B = str(CAPTURES / "routers_ring.pcapng.gz")


def replicated(path: Path, copies: int, *names: str) -> str:
    """Writes this many copies of each of these captures, mixed, into one file."""
    originals = [list(packets([str(CAPTURES / name)], Skipped())) for name in names]
    replicas = Replicas(originals)
    with path.open("wb") as file:
        file.writelines(replicas.records(copies, PcapngEnvelope(replicas.originals)))
    return str(path)
