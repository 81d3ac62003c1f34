"""Conform: SQL over frames, and the declared columns of a table from what it gives.

Steps are written as SQL: a statement is read whole, and costs one call, where each column
expression of the other interface costs several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from zenlake.lake.schema import Table


def query(text: str, **frames: DataFrame) -> DataFrame:
    """A statement in which `{name}` stands for the frame of that name."""
    session = next(iter(frames.values())).sparkSession
    return session.sql(text, None, **frames)


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """Selects, casts and orders; comments travel as metadata."""
    return frame.to(table.spark)
