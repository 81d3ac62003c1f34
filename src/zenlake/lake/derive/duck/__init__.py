"""The steps of `lake/derive/steps` within one task: the same SQL, on DuckDB.

What one machine reads needs no cluster to be put together, and is put together several times
as fast without shuffles and rows that cross into Java. The statements stay as they are, in the
words of Spark; they are translated as they are run.
"""

from __future__ import annotations

from zenlake.lake.derive.duck.build import BUILDS, Build, build_tables
from zenlake.lake.derive.duck.engine import Engine
from zenlake.lake.derive.duck.frame import Frame

__all__ = ["BUILDS", "Build", "Engine", "Frame", "build_tables"]
