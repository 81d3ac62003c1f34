"""What the tables of a lake are: names, types and meaning of every column, declared once."""

from __future__ import annotations

from zenlake.lake.schema.published import TABLES
from zenlake.lake.schema.staged import STAGED
from zenlake.lake.schema.table import VERSION, Column, Table

__all__ = ["STAGED", "TABLES", "VERSION", "Column", "Table"]
