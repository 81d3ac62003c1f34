"""Schema: names, types and meaning of every column of every table, declared once.

columns     columns that several published tables have
published   tables that users read
staged      tables between reading and deriving
spanning    tables between the splits of a capture
written     WRITTEN: the tables that reading a capture gives
"""

from __future__ import annotations

from zenlake.lake.schema.published import TABLES
from zenlake.lake.schema.staged import STAGED
from zenlake.lake.schema.table import VERSION, Table

__all__ = ["STAGED", "TABLES", "VERSION", "Table"]
