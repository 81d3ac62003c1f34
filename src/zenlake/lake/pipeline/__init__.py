"""Pipeline: reads captures into a new version of a lake, with tasks on Spark.

It runs the tasks of `plan`, `merge` and `derive` for the given captures, and publishes their files
in one step. Names are imported on first use, because Spark takes time to load.
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
