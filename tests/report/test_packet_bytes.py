"""Bytes behind a row, found again in the capture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.paths import CAPTURES
from zenlake.report.packet_bytes import Place, explained
from zenlake.trace.trace import Trace

QUERIES = str(CAPTURES / "queries.pcapng.gz")


def places(capture: str) -> list[Place]:
    return [Place(capture, batch.link.name, batch.packet) for batch in Trace([capture]).batches()]


def test_every_batch_of_a_capture_is_explained() -> None:
    wanted = list(dict.fromkeys(places(QUERIES)))[:40]
    found = explained(wanted)
    assert list(found) == wanted
    for shown in found.values():
        assert shown["lines"][0].startswith(f"{shown['size']} bytes, read as")
        assert not any(": it claims" in line for line in shown["lines"])
    assert any("INIT" in line for line in found[wanted[0]]["lines"])


def test_a_long_batch_is_cut() -> None:
    fragments = str(CAPTURES / "fragments.pcapng.gz")
    shown = explained(list(dict.fromkeys(places(fragments)))[:200]).values()
    cut = [one for one in shown if one.get("isCut")]
    assert cut
    assert max(len(one["lines"]) for one in cut) <= 120


def test_missing_bytes_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Place(str(tmp_path / "gone.pcap"), "l", 1)
    broken = tmp_path / "broken.pcap"
    broken.write_bytes(b"no capture")
    nowhere = Place(QUERIES, "no such link", 3)
    found = explained([gone, nowhere, Place(str(broken), "l", 1), Place("a\0b", None, None)])
    assert [shown["missing"] for shown in found.values()] == [
        "the capture is no longer where it was read",
        "no batch of this link ends in this packet",
        "no batch of this link ends in this packet",
        "the capture is no longer where it was read",
    ]
    monkeypatch.setattr("zenlake.report.packet_bytes.EXPLAINED_FILE_BYTES_MAX", 100)
    assert "too long" in explained([nowhere])[nowhere]["missing"]
