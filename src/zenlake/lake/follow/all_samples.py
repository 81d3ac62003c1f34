"""Compares all samples of a followed capture, at its end, for `trace_id` and latencies.

While a recording grows, these columns are not final: equal values are distinguished by how often
each session carried them in the whole recording, so one more value may change the rows of all
earlier ones. Each version therefore compares recent samples only, and all are compared once at the
end. The step is that of the pipeline; DuckDB spills to disk what does not fit into its memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from zenlake.lake.file_lists import File, row_count
from zenlake.lake.follow.derivation import Derivation
from zenlake.lake.follow.followed_capture import FollowedCapture
from zenlake.lake.pipeline.table_task import THREADS_MAX
from zenlake.lake.pipeline.tasks import is_local, parallelism
from zenlake.lake.publish.appender import Appended, Batch
from zenlake.lake.publish.delta_table import Table
from zenlake.lake.publish.publisher import is_pending

_SAMPLES: Final = "samples"
_LATENCIES: Final = "latencies"


def uncompared_samples(capture: FollowedCapture) -> int:
    """The number of samples, or 0 if they all have been compared with each other."""
    state = capture.state
    count = state.counts.get(_SAMPLES, 0)
    if not state.batch or state.is_compared or row_count(state.samples) == count:
        return 0
    return count


def compare_all(capture: FollowedCapture, derivation: Derivation) -> Appended:
    """Publishes the version in which all samples are compared."""
    before = capture.state
    known = before.pending.get(_SAMPLES, [])
    at_end, recent = known[: before.end_samples], known[before.end_samples :]
    files = [*_final_files(capture), *({"name": name, "is_shared": False} for name in at_end)]
    for one in files:
        one["path"] = str(capture.in_lake(_SAMPLES, one["name"]))
    spark = derivation.spark
    job = derivation.job(
        "all_publications",
        before.row,
        files=files,
        window=derivation.window({}),
        threads=min(THREADS_MAX, parallelism(spark)) if is_local(spark) else 1,
    )
    [result] = derivation.run([job])
    replaced: dict[str, list[File]] = result["replaced"]
    # Rows that the end of the capture adds stay pending.
    end_files = [one for name in at_end for one in replaced.get(name, ())]
    final = [one for name, listed in replaced.items() if name not in at_end for one in listed]
    at_end = [name for name in at_end if name not in replaced]
    state = replace(
        before,
        batch=before.batch + 1,
        samples=[],
        is_compared=True,
        pending=_without({**before.pending, _SAMPLES: at_end}, _LATENCIES),
        digests=_without(before.digests, _LATENCIES, _SAMPLES),
        small={
            **before.small,
            _SAMPLES: [one for one in before.small.get(_SAMPLES, ()) if one[0] not in replaced],
            _LATENCIES: [],
        },
    )
    batch = Batch(
        row=before.row,
        mark=capture.mark(state),
        files={_SAMPLES: final + result["window"], _LATENCIES: result["latencies"]},
        pending={_SAMPLES: end_files},
        removed={_SAMPLES: [*replaced, *recent]},
        cleared=frozenset({_LATENCIES}),
    )
    return capture.append(state, batch)


def _without(by_table: dict[str, Any], *tables: str) -> dict[str, Any]:
    return {table: value for table, value in by_table.items() if table not in tables}


def _final_files(capture: FollowedCapture) -> list[dict[str, Any]]:
    """The files with final samples of the capture; `is_shared` if one may have those of others."""
    table = Table.open(capture.run.lake / _SAMPLES)
    found = []
    for file in () if table is None else table.active_files():
        low, high = file.first_capture, file.last_capture
        may_hold = low is None or high is None or low <= capture.name <= high
        if may_hold and not is_pending(file.name):
            found.append({"name": file.name, "is_shared": not low == high == capture.name})
    return found
