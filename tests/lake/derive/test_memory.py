"""Steps that run out of memory run again: one thread, smaller parts, at last more memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.lake.staging import stage_files, write_captures
from tests.trace.sidecar import PATHS
from zenlake.lake.derive import derive_task
from zenlake.lake.derive.crossing import PROOFS, crossing_tables
from zenlake.lake.derive.derive_task import Attempt, attempts, derive_captures
from zenlake.lake.jobs import Job
from zenlake.lake.schema.spanning import SPANNING

NAME = "queries"
ENOUGH_BYTES = 256 << 20
SCARCE_BYTES = 8 << 20
"""The first attempt fails with so little, the last one, with four times as much, does not."""
TOO_FEW_BYTES = 1 << 20
THREADS = 2
Tables = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Derives all tables of one capture."""
    folder = tmp_path_factory.mktemp("staged")
    captures = write_captures(folder, {NAME: 1 << 62})
    files = stage_files(PATHS[NAME], NAME, folder)
    return {"tasks": [files], "captures_file": captures, "threads": THREADS}


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Attempt]:
    """The attempts that are made."""
    found: list[Attempt] = []
    derived = derive_task._run_builds

    def recorded(job: Job, builds: Any, folder: Path, attempt: Attempt) -> Any:
        found.append(attempt)
        return derived(job, builds, folder, attempt)

    monkeypatch.setattr(derive_task, "_run_builds", recorded)
    return found


def derived(job: Job, folder: Path, memory_bytes: int) -> dict[str, Any]:
    folder.mkdir()
    return derive_captures({**job, "folder": str(folder), "memory_bytes": memory_bytes})


def tables_of(result: dict[str, Any]) -> Tables:
    found: Tables = {}
    for file in result["files"]:
        found.setdefault(file["table"], []).extend(pq.read_table(file["path"]).to_pylist())
    return {name: sorted(rows, key=str) for name, rows in found.items()}


def test_steps_are_repeated_until_the_memory_is_enough(
    job: Job, tried: list[Attempt], tmp_path: Path
) -> None:
    ample = derived(job, tmp_path / "ample", ENOUGH_BYTES)
    assert tried == attempts(THREADS, ENOUGH_BYTES)[:1]
    tried.clear()
    scarce = derived(job, tmp_path / "scarce", SCARCE_BYTES)
    assert 1 < len(tried) <= len(attempts(THREADS, SCARCE_BYTES))
    assert tried == attempts(THREADS, SCARCE_BYTES)[: len(tried)]
    assert tables_of(scarce) == tables_of(ample)
    assert len(tables_of(ample)["queries"]) > 1


def test_error_names_the_memory_and_the_option(
    job: Job, tried: list[Attempt], tmp_path: Path
) -> None:
    result = derived(job, tmp_path / "too_few", TOO_FEW_BYTES)
    assert result == {"failure": "derived tables need more than 4 MiB: use a larger --task-memory"}
    assert len(tried) == len(attempts(THREADS, TOO_FEW_BYTES))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_attempts_need_less_memory_and_then_get_more() -> None:
    first, *others = attempts(8, ENOUGH_BYTES)
    assert first.threads == 8
    assert {attempt.threads for attempt in others} == {1}
    assert [attempt.memory_bytes // ENOUGH_BYTES for attempt in others] == [1, 2, 4]
    sizes = [attempt.events_max for attempt in (first, *others)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]


def test_groups_cross_splits_where_memory_is_too_small_to_compare_them(tmp_path: Path) -> None:
    """Then all splits are derived together, which is always right."""
    splits = [_proofs(tmp_path / str(number), range(number, 100_000, 2)) for number in range(2)]
    assert crossing_tables(splits, tmp_path, ENOUGH_BYTES) == []
    assert len(crossing_tables(splits, tmp_path, TOO_FEW_BYTES // 16)) == 2


def _proofs(folder: Path, hashes: range) -> dict[str, list[str]]:
    """Files that show that the groups of a split are its own."""
    folder.mkdir()
    found = {}
    for name in sorted(PROOFS):
        schema = SPANNING[name].arrow
        columns = [_values(field.type, hashes) for field in schema]
        found[name] = [str(folder / f"{name}.parquet")]
        pq.write_table(pa.table(columns, schema=schema), found[name][0])
    return found


def _values(kind: pa.DataType, hashes: range) -> pa.Array:
    values = [True] * len(hashes) if pa.types.is_boolean(kind) else list(hashes)
    return pa.array(values, kind)
