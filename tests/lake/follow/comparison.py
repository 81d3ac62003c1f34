"""Compares a lake that followed a recording with one reading of the same packets.

They are read without Spark, which takes a third of the time of a pipeline;
`tests/lake/contents/test_direct.py` compares the two for all bundled captures.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import duckdb

from tests.capture.capture_file import write_capture
from tests.lake import comparison
from tests.lake.comparison import Tables
from zenlake.capture.packet import Packet
from zenlake.lake import direct
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION

_OF_THE_FILE: Final = (*comparison.READ, "sha256", "bytes", "address")
"""Columns of `captures` that depend on the file, and not on its packets."""
_COUNTED: Final = f"""
SELECT * REPLACE (
    (SELECT count(*) FROM {{messages}} AS rows WHERE rows.capture = captures.capture) AS messages,
    (SELECT count(*) FROM {{sessions}} AS rows WHERE rows.capture = captures.capture) AS sessions,
    (SELECT count(*) FROM {{samples}} AS rows WHERE rows.capture = captures.capture) AS samples,
    (SELECT count(*) FROM {{queries}} AS rows WHERE rows.capture = captures.capture
        AND (trace_id = seq) IS NOT FALSE) AS queries,
    (SELECT count(*) FROM {{queries}} AS rows WHERE rows.capture = captures.capture) AS hops,
    {SCHEMA_VERSION} AS schema_version)
FROM {{captures}} AS captures
"""
"""Columns of `captures` that only a lake fills."""


def batch_tables(folder: Path, packets: Sequence[Packet], *captures: str) -> Tables:
    """The tables of these packets, read from one file, and of other captures."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    capture = write_capture(folder / "capture.pcapng", packets)
    files: dict[str, list[Path]] = {}
    with direct.read([str(capture), *captures]) as made:
        snapshot = made.snapshot()
        for table in TABLES:
            place = folder / table
            place.mkdir()
            files[table] = [Path(shutil.copy(file, place)) for file in snapshot.files(table)]
    counted = folder / "counted.parquet"
    sources = {table: f"read_parquet({[str(file) for file in files[table]]})" for table in TABLES}
    duckdb.execute(f"COPY ({_COUNTED.format(**sources)}) TO '{counted}' (FORMAT parquet)")
    return Tables({**files, "captures": [counted]})


def differences(one: Path, other: Path | Tables) -> dict[str, tuple[int, int]]:
    """The same packets in a recording and in a file have the same rows."""
    return comparison.differences(one, other, _OF_THE_FILE, with_names=False)


rows = comparison.counts
