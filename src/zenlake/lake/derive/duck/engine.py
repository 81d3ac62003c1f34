"""Engine: a DuckDB database in memory, which spills to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from zenlake.lake.derive.duck.frame import Frame, cast_columns, null_columns
from zenlake.lake.derive.duck.statements import to_duckdb
from zenlake.limits import DERIVE_BYTES_MAX

if TYPE_CHECKING:
    import pyarrow as pa

    from zenlake.lake.schema.table import Table

_FORMAT_NUMBER: Final = """CREATE MACRO format_number(number, digits) AS CASE digits
    WHEN 0 THEN format('{:,.0f}', CAST(number AS DOUBLE))
    WHEN 1 THEN format('{:,.1f}', CAST(number AS DOUBLE))
    WHEN 2 THEN format('{:,.2f}', CAST(number AS DOUBLE))
    ELSE error('format_number of so many digits')
    END"""
"""A function of Spark that DuckDB lacks; in `format` the number of digits is a part of the text."""


class Engine:
    """Makes frames; steps use it like a Spark session."""

    def __init__(
        self,
        folder: Path,
        threads: int = 1,
        is_small: bool = False,
        memory_bytes: int = DERIVE_BYTES_MAX,
    ) -> None:
        """A task usually has one core. `is_small` if all results of steps fit into memory."""
        self.is_small = is_small
        settings: dict[str, Any] = {
            "threads": str(threads),
            "memory_limit": f"{memory_bytes}B",
            "temp_directory": str(folder / "spill"),
            "preserve_insertion_order": "false",
            "python_enable_replacements": "false",
            # A join keeps its right side in memory, and steps put the smaller table there. DuckDB
            # would choose the side by its estimates for Parquet files, which are too low.
            "disabled_optimizers": "join_order,build_side_probe_side",
        }
        self.connection = duckdb.connect(":memory:", config=settings)
        # DuckDB would draw its progress bar on standard output if Python runs no file (`-c`).
        self.connection.execute("SET enable_progress_bar = false")
        self._numbers = count(1)
        self.connection.execute(_FORMAT_NUMBER)

    def second_connection(self) -> Engine:
        """Another engine on the same database, for another thread."""
        other = copy(self)
        other.connection = self.connection.cursor()
        return other

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_error: object) -> None:
        self.connection.close()

    def read(self, table: Table, files: Sequence[str]) -> Frame:
        """The Parquet files of a table with all declared columns, without computed ones."""
        table = table.base
        columns = cast_columns(table)
        if files:
            listed = ", ".join("'" + literal(file).replace("'", "''") + "'" for file in files)
            return self.query(f"SELECT {columns} FROM read_parquet([{listed}])", {table.name})
        nothing = f"(SELECT {null_columns(table)}) WHERE false"
        return self.query(f"SELECT {columns} FROM {nothing}", {table.name})

    def sql(self, text: str, args: None = None, **frames: Frame) -> Frame:
        """Runs a statement like `SparkSession.sql`: `{name}` stands for the frame of that name."""
        sources = frozenset[str]().union(*(frame.sources for frame in frames.values()))
        # Placeholders make the text the same each time, so that its translation is cached.
        found = self.translated(text.format(**{name: placeholder(name) for name in frames}))
        # A frame that is used several times is planned as often. WITH avoids that, but keeps its
        # rows in memory, so it is used only for small captures.
        shared = []
        for name, frame in frames.items():
            if self.is_small and frame.is_query and found.count(placeholder(name)) > 1:
                shared.append(f"{placeholder(name)} AS {frame.name}")
            else:
                found = found.replace(placeholder(name), frame.name)
        if shared:
            found = f"WITH {', '.join(shared)} FROM ({found})"
        return self.query(found, sources)

    def translated(self, text: str) -> str:
        return to_duckdb(text)

    def query(self, text: str, sources: Iterable[str]) -> Frame:
        return Frame(self, f"({text})", frozenset(sources))

    def keep(self, frame: Frame) -> Frame:
        """Stores the rows of a frame that is read several times."""
        if not frame.is_query:
            return frame
        name = quoted(self.new_name())
        self.connection.execute(f"CREATE TABLE {name} AS FROM {frame.name}")
        return Frame(self, name, frame.sources)

    def load(self, batches: pa.RecordBatchReader, sources: Iterable[str]) -> Frame:
        """A table with the rows of a reader."""
        name, coming = quoted(self.new_name()), self.new_name()
        self.connection.register(coming, batches)
        self.connection.execute(f"CREATE TABLE {name} AS FROM {quoted(coming)}")
        self.connection.unregister(coming)
        return Frame(self, name, frozenset(sources))

    def new_name(self) -> str:
        return f"step_{next(self._numbers)}"

    def define(self, name: str, function: Any, types: list[str], result: str) -> None:
        """Registers a function of Arrow columns, whose result may be null."""
        how = {"type": PythonUDFType.ARROW, "null_handling": FunctionNullHandling.SPECIAL}
        create: Any = self.connection.create_function
        create(name, function, types, result, **how)


def placeholder(name: str) -> str:
    """The name that stands for a frame while a statement is translated."""
    return f"frame_of_{name}_"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(path: str) -> str:
    """A path with escapes, so that it is not read as a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)
