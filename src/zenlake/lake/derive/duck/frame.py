"""Frame: what a step gives, by the few methods of a Spark DataFrame that steps use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from zenlake.lake.derive.duck.engine import Engine
    from zenlake.lake.schema.table import Table

ROWS_AT_ONCE: Final = 16_384
MapBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_ARROW: Final = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
}
SQL_TYPES: Final = {
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "STRING": "VARCHAR",
    "BINARY": "BLOB",
}
"""Of the types that columns of tables have."""


class Frame:
    """A query, or a table of an engine. Nothing is run until its rows are asked for."""

    def __init__(self, engine: Engine, name: str, sources: frozenset[str], order: str = "") -> None:
        self.sparkSession = engine
        self.name = name
        """What stands after FROM: the name of a table, or a query in brackets.

        A view would be looked through by DuckDB when it is made, and again by each that is made
        of it, which takes longer than a small capture to put together.
        """
        self.sources = sources
        """Names of the tables that were read for it, also through other steps."""
        self._order = order

    @property
    def is_query(self) -> bool:
        """Whether it is run each time that its rows are asked for."""
        return self.name.startswith("(")

    @property
    def columns(self) -> list[str]:
        rows = self.sparkSession.connection.execute(f"DESCRIBE FROM {self.name}").fetchall()
        return [row[0] for row in rows]

    def select(self, *names: str) -> Frame:
        chosen = ", ".join(f'"{name}"' for name in names)
        return self._query(f"SELECT {chosen} FROM {self.name}")

    def where(self, condition: str) -> Frame:
        return self.sparkSession.sql(f"SELECT * FROM {{rows}} WHERE {condition}", rows=self)

    def filtered(self, condition: str) -> Frame:
        """As `where`, in DuckDB's words."""
        return self._query(f"FROM {self.name} WHERE {condition}")

    def union(self, other: Frame) -> Frame:
        """The rows of both, which have the same columns."""
        text = f"FROM {self.name} UNION ALL FROM {other.name}"
        return self.sparkSession.query(text, self.sources | other.sources)

    def repartition(self, *names: str) -> Frame:
        """All is in one place already."""
        return self

    def sortWithinPartitions(self, *names: str) -> Frame:
        """For `batches` and `mapInArrow`; a query in another would not keep its order."""
        order = ", ".join(f'"{name}" NULLS FIRST' for name in names)
        return Frame(self.sparkSession, self.name, self.sources, f" ORDER BY {order}")

    def mapInArrow(self, function: MapBatches, schema: str) -> Frame:
        """Runs at once; `schema` is a list of columns in Spark's words."""
        fields = [(part.split()[0], _ARROW[part.split()[1].upper()]) for part in schema.split(",")]
        found = function(self.batches())
        wanted = pa.schema(fields)
        reader = pa.RecordBatchReader.from_batches(wanted, (one.cast(wanted) for one in found))
        return self.sparkSession.take(reader, self.sources)

    def with_flags(self, name: str, function: Callable[..., pa.Array], *columns: str) -> Frame:
        """Another column of truths, that a function of texts gives."""
        called = self.sparkSession.new_name()
        self.sparkSession.define(called, function, ["VARCHAR"] * len(columns), "BOOLEAN")
        given = ", ".join(f'"{column}"' for column in columns)
        return self._query(f'SELECT *, {called}({given}) AS "{name}" FROM {self.name}')

    def conform(self, table: Table) -> Frame:
        """The declared columns in their order and types, as `DataFrame.to` gives them.

        What is missing is null. A schema of Spark would do as well, but its classes take longer
        to load than a small capture to read.
        """
        table = table.base
        chosen = ", ".join(
            f'CAST("{one.name}" AS {SQL_TYPES[one.type]}) AS "{one.name}"' for one in table.columns
        )
        nulls = ", ".join(f'NULL AS "{one.name}"' for one in table.columns)
        lacking = f"SELECT {nulls} WHERE false"
        return self._query(f"SELECT {chosen} FROM (FROM {self.name} UNION ALL BY NAME {lacking})")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Its rows, a bounded number at a time."""
        engine = self.sparkSession
        # DuckDB plans what is read as Arrow twice, the first time for its columns. That of a table
        # costs nothing. It is made before the rows are asked for: that may be within a query.
        kept = engine.keep(self) if engine.is_small else self
        return kept._in_order(self._order)

    def _in_order(self, order: str) -> Iterator[pa.RecordBatch]:
        # A cursor of its own: what becomes of the rows may be a step of the same engine.
        with self.sparkSession.connection.cursor() as cursor:
            found: Any = cursor.sql(f"FROM {self.name}{order}")
            yield from found.to_arrow_reader(ROWS_AT_ONCE)

    def _query(self, text: str) -> Frame:
        return self.sparkSession.query(text, self.sources)
