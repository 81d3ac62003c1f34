"""The rows that `derive_captures` makes of samples: `latencies`, and the samples themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from tests.lake.staging import write_captures
from zenlake.lake.derive.derive_task import derive_captures
from zenlake.lake.jobs import Job

Row = dict[str, Any]
_GROUPS = 3
"""Row groups of a file."""


def latencies(samples: pa.Table, folder: Path, files: int = 1, **more: Any) -> list[Row]:
    """In the order of capture and `seq`."""
    result, _ = derived(samples, folder, files, **more)
    written = [one["path"] for one in result["files"] if one["table"] == "latencies"]
    rows = [row for path in written for row in pq.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: (row["capture"], row["seq"]))


def traced_samples(samples: pa.Table, folder: Path, **more: Any) -> list[Row] | None:
    """The samples with their final `trace_id`; None if the file is kept."""
    result, [path] = derived(samples, folder, **more)
    copy = result["copies"].get(path)
    if copy is None:
        return None
    rows: list[Row] = pq.read_table(copy).select(samples.column_names).to_pylist()
    return rows


def derived(
    samples: pa.Table, folder: Path, files: int = 1, **more: Any
) -> tuple[dict[str, Any], list[str]]:
    """The result of the task, and the files with samples that it read."""
    captures = write_captures(folder, {})
    place = folder / uuid4().hex
    place.mkdir()
    paths = [str(place / f"samples-{number}.parquet") for number in range(files)]
    step = -(-len(samples) // files)
    for number, path in enumerate(paths):
        part = samples.slice(number * step, step)
        pq.write_table(part, path, row_group_size=max(1, len(part) // _GROUPS))
    job: Job = {"tasks": [{"samples": [path]} for path in paths], "captures_file": captures}
    job |= {"folder": str(place), "tables": ["latencies", "samples"], **more}
    result = derive_captures(job)
    assert "failure" not in result, result
    return result, paths
