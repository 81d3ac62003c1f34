"""Rows depend neither on the master nor on the number of tasks that read a capture (P07)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.cluster.reading import read
from tests.lake.cluster.standalone import Cluster
from tests.lake.comparison import counts, differences

pytestmark = pytest.mark.xdist_group("spark")


def test_expected_lake_has_rows(expected: Path) -> None:
    found = counts(expected)
    assert found["messages"] > 100_000
    assert all(rows for table, rows in found.items() if table != "violations"), found


@pytest.mark.parametrize(("master", "splits"), [("local[2]", 3), ("local[2]", 8)])
def test_local_master_has_the_expected_rows(
    master: str, splits: int, inputs: list[str], expected: Path, tmp_path: Path
) -> None:
    read(master, tmp_path / "lake", inputs, splits)
    assert differences(tmp_path / "lake", expected) == {}


def test_cluster_has_the_expected_rows(
    cluster: Cluster, inputs: list[str], expected: Path, tmp_path: Path
) -> None:
    read(cluster.url, tmp_path / "lake", inputs, splits=4)
    assert differences(tmp_path / "lake", expected) == {}
