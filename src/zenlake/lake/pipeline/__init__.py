"""The pipeline: captures into tables, on Spark, visible in one step."""

from __future__ import annotations

from zenlake.lake.pipeline.pipeline import Outcome, run

__all__ = ["Outcome", "run"]
