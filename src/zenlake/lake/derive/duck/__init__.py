"""Duck: runs the steps of `lake/derive/steps` on DuckDB, within one task.

The files of one task need no cluster. Without shuffles, and without rows that cross into Java, the
steps are several times faster. The statements are written in Spark's dialect and translated to
DuckDB's.
"""

from __future__ import annotations

from zenlake.lake.derive.duck.build import BUILDS, Build, build_tables
from zenlake.lake.derive.duck.engine import Engine
from zenlake.lake.derive.duck.frame import Frame

__all__ = ["BUILDS", "Build", "Engine", "Frame", "build_tables"]
