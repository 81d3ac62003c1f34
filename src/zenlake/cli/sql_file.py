"""zenlake sql -o FILE: writes rows as CSV, JSON or Parquet; the file appears when complete."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from zenlake.cli.sql_rows import csv_lines, json_lines
from zenlake.errors import LocalError
from zenlake.output_file import OutputFile, write_errors

if TYPE_CHECKING:
    from zenlake.lake.publish import Snapshot
    from zenlake.lake.sql.functions import Result

CSV: Final = "csv"
JSON: Final = "json"
PARQUET: Final = "parquet"
_FORMS: Final = {
    ".csv": CSV,
    ".json": JSON,
    ".jsonl": JSON,
    ".ndjson": JSON,
    ".parquet": PARQUET,
}


class AnswerFile:
    """An output file; constructed before any input is read, to report a wrong name at once."""

    def __init__(self, args: argparse.Namespace) -> None:
        suffix = PurePath(args.output).suffix.lower()
        self._form = CSV if args.csv else JSON if args.json else _FORMS.get(suffix)
        if self._form is None:
            known = ", ".join(_FORMS)
            raise LocalError(f"{args.output}: unknown format: expected {known}, or --csv, --json")
        if self._form == PARQUET and args.master is not None:
            raise LocalError(f"{args.output}: Parquet is written by DuckDB, without --master")
        self._seconds_max: float | None = args.timeout or None
        self._bytes_max: int = args.memory << 20
        self.file = OutputFile(args.output)

    def write(
        self,
        snapshot: Snapshot,
        query: str,
        answer: Callable[[str], AbstractContextManager[Result]],
    ) -> int:
        """Write the file; returns the number of rows. `answer` runs the query, not for Parquet."""
        with self.file as file:
            if self._form == PARQUET:
                from zenlake.lake.sql import on_duckdb

                with write_errors(file.path):
                    return on_duckdb.write_parquet(
                        snapshot, query, file.partial, self._seconds_max, self._bytes_max
                    )
            rows = 0 if self._form == JSON else -1  # the first line of CSV has the names
            with answer(query) as result:
                lines = json_lines(result) if self._form == JSON else csv_lines(result)
                for line in lines:
                    file.write(line.encode("utf-8", "surrogateescape") + b"\n")
                    rows += 1
            return rows
