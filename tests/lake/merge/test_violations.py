"""Violations of regular connections: both readers find the same.

`test_both_readers` compares those of real captures, with all other tables.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chance import IS_FULL, first_seed
from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.merge.both_readers import Row, read_by_both_readers, read_by_exact_reader
from tests.rules.captures import broken, clean, findings, seeds
from tests.trace.sidecar import PATHS
from zenlake.lake.exact_reader.violations import TABLE
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.merge import split
from zenlake.rules import RULES


def rows_of(path: Path, chunk_bytes: int, splits: int = 1) -> list[Row]:
    found = read_by_both_readers(str(path), surveyed(path), splits, chunk_bytes)[TABLE]
    return sorted(found, key=_order)


def expected(path: Path) -> list[Row]:
    return sorted(read_by_exact_reader(str(path))[TABLE], key=_order)


def _order(row: Row) -> tuple[int, str, str]:
    return row["packet"], row["rule"], row["message"]


def test_both_readers_find_the_same_fault(tmp_path: Path) -> None:
    for seed, rule in seeds(1_000 if IS_FULL else 70, first_seed()):
        made = broken(tmp_path / "broken.pcapng", seed, rule)
        chunk_bytes = 2_048 if seed % 2 else 16 << 20
        assert rows_of(made.path, chunk_bytes) == expected(made.path), (seed, rule)


@pytest.mark.parametrize(
    "rule", ["integer-not-minimal", "suffix-empty", "zid-zeros", "extension-repeated"]
)
def test_sizes_are_those_on_the_wire(rule: str, tmp_path: Path) -> None:
    """Also for messages that zenlake would encode in fewer bytes."""
    for seed in range(first_seed(), first_seed() + 8):
        path = str(broken(tmp_path / "broken.pcapng", seed, rule).path)
        scalar = read_by_exact_reader(path)["messages"]
        assert scalar == read_by_both_readers(path, surveyed(path))["messages"], seed


def test_rows_are_the_findings_of_the_checker(tmp_path: Path) -> None:
    made = broken(tmp_path / "broken.pcapng", 7, "response-after-final")
    [finding] = findings(made.path)
    [row] = rows_of(made.path, 16 << 20)
    assert row == {
        "capture": str(made.path),
        "session": finding.session,
        "link": finding.place.link.name,
        "packet": made.packet,
        "time_ns": finding.place.time_ns,
        "rule": "response-after-final",
        "severity": "error",
        "sender_zid": finding.sender_zid,
        "message": finding.message,
        "page": RULES["response-after-final"].page,
        "times": 1,
    }


def test_capture_without_violations_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise screening would save nothing."""

    def read_again(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(split, "_read_again", read_again)
    for name in ("pubsub_router", "queries", "liveliness", "routers_ring", "lowlatency"):
        path = plain(PATHS[name], tmp_path)
        survey = surveyed(path)
        assert survey.regular.any()
        read_by_both_readers(path, survey)
    for seed in range(20):
        assert not rows_of(clean(tmp_path / "clean.pcapng", seed), 16 << 20)


def test_pairs_with_possible_violations_go_to_the_exact_reader(tmp_path: Path) -> None:
    survey = surveyed(plain(PATHS["pubsub_router"], tmp_path))
    regular = survey.regular
    again = survey.doubting(regular)
    assert not again.regular.any()
    assert reasons.WORDS[reasons.DOUBTED] == "rules may have been broken"
    assert survey.regular.tolist() == regular.tolist()
