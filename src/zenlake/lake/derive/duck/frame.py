"""Frame: the result of a step on DuckDB, with the methods of a Spark DataFrame that steps use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from zenlake.lake.schema.table import DUCKDB_TYPES, arrow_types

if TYPE_CHECKING:
    from zenlake.lake.derive.duck.engine import Engine
    from zenlake.lake.schema.table import Table

ROWS_AT_ONCE: Final = 16_384
MapBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Frame:
    """A query, or a table of an engine. A query runs when its rows are read."""

    def __init__(self, engine: Engine, name: str, sources: frozenset[str], order: str = "") -> None:
        self.sparkSession = engine
        self.name = name
        """The text after FROM: the name of a table, or a query in brackets.

        It is not a view: DuckDB would plan each view, and again all views it is made of, which
        takes longer than all steps of a small capture.
        """
        self.sources = sources
        """Names of the tables that it reads, also through other steps."""
        self._order = order

    @property
    def is_query(self) -> bool:
        """Whether it runs again each time its rows are read."""
        return self.name.startswith("(")

    @property
    def columns(self) -> list[str]:
        rows = self.sparkSession.connection.execute(f"DESCRIBE FROM {self.name}").fetchall()
        return [row[0] for row in rows]

    def select(self, *names: str) -> Frame:
        chosen = ", ".join(f'"{name}"' for name in names)
        return self._query(f"SELECT {chosen} FROM {self.name}")

    def filtered(self, condition: str) -> Frame:
        """The rows for which a condition in DuckDB's dialect is true."""
        return self._query(f"FROM {self.name} WHERE {condition}")

    def union(self, other: Frame) -> Frame:
        """The rows of both, which have the same columns."""
        text = f"FROM {self.name} UNION ALL FROM {other.name}"
        return self.sparkSession.query(text, self.sources | other.sources)

    def repartition(self, *names: str) -> Frame:
        """Does nothing: all rows are in one place."""
        return self

    def sortWithinPartitions(self, *names: str) -> Frame:
        """Orders `batches` and `mapInArrow`; a subquery would not keep its order."""
        order = ", ".join(f'"{name}" NULLS FIRST' for name in names)
        return Frame(self.sparkSession, self.name, self.sources, f" ORDER BY {order}")

    def mapInArrow(self, function: MapBatches, schema: str) -> Frame:
        """Runs at once; `schema` is a list of columns in Spark's format."""
        columns = [part.split() for part in schema.split(",")]
        fields = [(name, arrow_types()[type.upper()]) for name, type in columns]
        found = function(self.batches())
        wanted = pa.schema(fields)
        reader = pa.RecordBatchReader.from_batches(wanted, (one.cast(wanted) for one in found))
        return self.sparkSession.load(reader, self.sources)

    def with_flags(self, name: str, function: Callable[..., pa.Array], *columns: str) -> Frame:
        """Adds a boolean column, computed by a function of text columns."""
        called = self.sparkSession.new_name()
        self.sparkSession.define(called, function, ["VARCHAR"] * len(columns), "BOOLEAN")
        given = ", ".join(f'"{column}"' for column in columns)
        return self._query(f'SELECT *, {called}({given}) AS "{name}" FROM {self.name}')

    def conform(self, table: Table) -> Frame:
        """The declared columns in their order and types, like `DataFrame.to`.

        Missing columns are null. A schema of Spark is not used, because its classes take longer to
        load than a small capture to read.
        """
        table = table.base
        lacking = f"SELECT {null_columns(table)} WHERE false"
        rows = f"(FROM {self.name} UNION ALL BY NAME {lacking})"
        return self._query(f"SELECT {cast_columns(table)} FROM {rows}")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows of the frame, a bounded number at a time."""
        engine = self.sparkSession
        # DuckDB plans an Arrow reader twice, first for its columns, which is cheap for a table. The
        # table is made here and not in the generator, which may run within another query.
        kept = engine.keep(self) if engine.is_small else self
        return kept._in_order(self._order)

    def _in_order(self, order: str) -> Iterator[pa.RecordBatch]:
        # A cursor of its own, because the consumer of the rows may use the same engine.
        with self.sparkSession.connection.cursor() as cursor:
            found: Any = cursor.sql(f"FROM {self.name}{order}")
            yield from found.to_arrow_reader(ROWS_AT_ONCE)

    def _query(self, text: str) -> Frame:
        return self.sparkSession.query(text, self.sources)


def cast_columns(table: Table) -> str:
    """The declared columns in their order and types, to select."""
    return ", ".join(
        f'CAST("{one.name}" AS {DUCKDB_TYPES[one.type]}) AS "{one.name}"' for one in table.columns
    )


def null_columns(table: Table) -> str:
    return ", ".join(f'NULL AS "{one.name}"' for one in table.columns)
