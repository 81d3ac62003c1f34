"""Where Spark 4 looks for `format("zenoh")`: in packages whose names begin with `pyspark_`."""

from __future__ import annotations

from zenlake.lake.source.data_source import ZenohSource as DefaultSource

__all__ = ["DefaultSource"]
