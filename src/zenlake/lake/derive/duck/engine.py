"""Engine: a database in memory, that writes to a folder what it has no room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from zenlake.lake.derive.duck.frame import SQL_TYPES, Frame
from zenlake.lake.derive.duck.macros import MACROS
from zenlake.lake.derive.duck.statements import to_duckdb
from zenlake.limits import DERIVE_BYTES_MAX

if TYPE_CHECKING:
    import pyarrow as pa

    from zenlake.lake.schema.table import Table


class Engine:
    """Makes frames; in a step it stands where the Spark session would."""

    def __init__(
        self,
        folder: Path,
        threads: int = 1,
        is_small: bool = False,
        memory_bytes: int = DERIVE_BYTES_MAX,
    ) -> None:
        """As a rule a task has one core. `is_small` if all that steps give fits into memory."""
        self.is_small = is_small
        settings: dict[str, Any] = {
            "threads": str(threads),
            "memory_limit": f"{memory_bytes}B",
            "temp_directory": str(folder / "spill"),
            "preserve_insertion_order": "false",
            "python_enable_replacements": "false",
            # A join remembers what stands on its right, which steps keep small. DuckDB would
            # choose by what it expects of Parquet files, and it expects too little.
            "disabled_optimizers": "join_order,build_side_probe_side",
        }
        self.connection = duckdb.connect(":memory:", config=settings)
        # It is shown on standard output wherever Python runs no file: by `-c`, as workers do.
        self.connection.execute("SET enable_progress_bar = false")
        self._numbers = count(1)
        for macro in MACROS:
            self.connection.execute(macro)

    def beside(self) -> Engine:
        """Another one on the same database, for work at the same time."""
        other = copy(self)
        other.connection = self.connection.cursor()
        return other

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.connection.close()

    def read(self, table: Table, files: Sequence[str]) -> Frame:
        """The Parquet files of a table, in which all declared columns are; computed ones are
        left out."""
        table = table.base
        columns = ", ".join(
            f"CAST({quoted(one.name)} AS {SQL_TYPES[one.type]}) AS {quoted(one.name)}"
            for one in table.columns
        )
        if files:
            listed = ", ".join("'" + literal(file).replace("'", "''") + "'" for file in files)
            return self.query(f"SELECT {columns} FROM read_parquet([{listed}])", {table.name})
        nulls = ", ".join(f"NULL AS {quoted(one.name)}" for one in table.columns)
        return self.query(f"SELECT {columns} FROM (SELECT {nulls}) WHERE false", {table.name})

    def read_rows(self, table: Table, file: str, names: Sequence[str]) -> Frame:
        """Some columns of one file, and `row`: its number in the file, from 0."""
        columns = ", ".join(map(quoted, names))
        place = "'" + literal(file).replace("'", "''") + "'"
        text = f"SELECT {columns}, file_row_number AS row"
        rows = f"read_parquet({place}, file_row_number = true)"
        return self.query(f"{text} FROM {rows}", {table.name})

    def sql(self, text: str, args: None = None, **frames: Frame) -> Frame:
        """As `SparkSession.sql`: `{name}` in it stands for the frame of that name."""
        sources = frozenset[str]().union(*(frame.sources for frame in frames.values()))
        # With the same names each time: to translate a statement takes longer than to plan it.
        found = self.translated(text.format(**{name: stand_in(name) for name in frames}))
        # What stands in it several times is planned as often. It would be remembered as a whole,
        # which is for small captures.
        shared = []
        for name, frame in frames.items():
            if self.is_small and frame.is_query and found.count(stand_in(name)) > 1:
                shared.append(f"{stand_in(name)} AS {frame.name}")
            else:
                found = found.replace(stand_in(name), frame.name)
        if shared:
            found = f"WITH {', '.join(shared)} FROM ({found})"
        return self.query(found, sources)

    def translated(self, text: str) -> str:
        return to_duckdb(text)

    def query(self, text: str, sources: Iterable[str]) -> Frame:
        return Frame(self, f"({text})", frozenset(sources))

    def keep(self, frame: Frame) -> Frame:
        """What it gives now, for those who read it several times."""
        if not frame.is_query:
            return frame
        name = quoted(self.new_name())
        self.connection.execute(f"CREATE TABLE {name} AS FROM {frame.name}")
        return Frame(self, name, frame.sources)

    def take(self, batches: pa.RecordBatchReader, sources: Iterable[str]) -> Frame:
        """A table of what comes."""
        name, coming = quoted(self.new_name()), self.new_name()
        self.connection.register(coming, batches)
        self.connection.execute(f"CREATE TABLE {name} AS FROM {quoted(coming)}")
        self.connection.unregister(coming)
        return Frame(self, name, frozenset(sources))

    def new_name(self) -> str:
        return f"step_{next(self._numbers)}"

    def define(self, name: str, function: Any, types: list[str], result: str) -> None:
        """A function of Arrow columns, whose answer may be null where they are not."""
        how = {"type": PythonUDFType.ARROW, "null_handling": FunctionNullHandling.SPECIAL}
        create: Any = self.connection.create_function
        create(name, function, types, result, **how)


def stand_in(name: str) -> str:
    """For a frame, in a statement that is not for certain frames."""
    return f"frame_of_{name}_"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(path: str) -> str:
    """A path that is not taken for a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)
