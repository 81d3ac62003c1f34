"""Publications are those that an independent definition in SQL finds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from tests.chance import IS_FULL
from tests.lake.derive.publications.derived import Row, latencies
from tests.lake.derive.publications.random_samples import random_samples
from tests.lake.derive.publications.sql_reference import FOUND, rows_by_sql
from tests.trace.sidecar import PATHS
from zenlake.lake.derive import derive_task
from zenlake.lake.derive.publications import PublicationFiles, files
from zenlake.lake.exact_reader.exact_tables import stage

SEEDS = 400 if IS_FULL else 6
CAPTURES = 60
NAMES = ("pubsub_router", "routers_ring", "qos_matrix", "peers_gossip", "impaired", "multicast")


def compared_columns(rows: list[Row]) -> list[Row]:
    return [{name: row[name] for name in FOUND} for row in rows]


@pytest.fixture(params=["blake2b", "kernel"])
def hashing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few samples are hashed without a kernel."""
    monkeypatch.setattr(files, "KERNEL_ROWS_MIN", 0 if request.param == "kernel" else 1 << 40)


@pytest.mark.usefixtures("hashing")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_samples(seed: int, tmp_path: Path) -> None:
    samples = random_samples(seed, CAPTURES)
    found = latencies(samples, tmp_path)
    assert compared_columns(found) == rows_by_sql(samples, tmp_path)
    known = [row for row in found if row["trace_id"] is not None]
    assert 100 < len(known) < len(found)


@pytest.mark.usefixtures("hashing")
def test_samples_of_real_captures(tmp_path: Path) -> None:
    samples = pa.concat_tables(stage(PATHS[name], name)["samples"] for name in NAMES)
    found = latencies(samples, tmp_path)
    assert compared_columns(found) == rows_by_sql(samples, tmp_path)
    assert len(found) > 500


@pytest.mark.parametrize("rows_max", [1, 40, 300])
def test_samples_in_parts(rows_max: int, tmp_path: Path) -> None:
    """More samples than fit into memory, in several files."""
    samples = random_samples(1, CAPTURES)
    memory_bytes = rows_max * files.ROW_BYTES
    found = latencies(samples, tmp_path, files=4, memory_bytes=memory_bytes)
    assert found == latencies(samples, tmp_path)
    assert not [*tmp_path.rglob("parts-*/*/*")], "files of parts are removed when they are read"


def test_refused_memory_leads_to_smaller_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = random_samples(2, CAPTURES)
    expected = latencies(samples, tmp_path)
    asked: list[int] = []

    class Refused(PublicationFiles):
        def __init__(self, folder: Path, secret: bytes, memory_bytes: int) -> None:
            super().__init__(folder, secret, memory_bytes)
            asked.append(memory_bytes)

        def write(self, paths: Sequence[str], wanted: Collection[str]) -> None:
            if len(asked) < 3:
                raise MemoryError
            super().write(paths, wanted)

    monkeypatch.setattr(derive_task, "PublicationFiles", Refused)
    assert latencies(samples, tmp_path, memory_bytes=1 << 20) == expected
    assert asked == [1 << 20, 1 << 18, 1 << 16]
    asked.clear()
    monkeypatch.setattr(derive_task, "_PARTS_OF_MEMORY", (1, 4))
    with pytest.raises(AssertionError, match="out of memory while publications were compared"):
        latencies(samples, tmp_path)
