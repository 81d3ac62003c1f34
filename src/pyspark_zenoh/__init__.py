"""Registers `format("zenoh")`: Spark 4 looks for formats in packages named `pyspark_*`."""

from __future__ import annotations

from zenlake.lake.source.data_source import ZenohSource as DefaultSource

__all__ = ["DefaultSource"]
