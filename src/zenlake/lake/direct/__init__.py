"""Direct: the tables of captures without a lake and without Spark, in a temporary folder.

    with direct.read(["robot.pcapng"]) as tables:
        with on_duckdb.query(tables.snapshot(), "SELECT count(*) FROM queries") as result:
            ...

The steps are those of the pipeline: survey, read, derive. They run in the calling process, or in
worker processes if the captures are large.
"""

from __future__ import annotations

from zenlake.lake.direct.capture_tables import CaptureTables, read
from zenlake.lake.direct.checking import check
from zenlake.lake.direct.needed import tables_in
from zenlake.lake.direct.start_up import keep_pandas_out

__all__ = ["CaptureTables", "check", "keep_pandas_out", "read", "tables_in"]
