"""The pipeline: captures into tables, on Spark, visible in one step.

`sql` and `report` of captures use its tasks without Spark, and do not load the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zenlake.lake.pipeline.pipeline import Outcome, run

__all__ = ["Outcome", "run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from zenlake.lake.pipeline import pipeline

    return getattr(pipeline, name)
