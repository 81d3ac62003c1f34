"""A stream without Spark: the calls that Spark makes, in its order."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit
from pyspark.sql.types import StructType

from zenlake.lake.schema import TABLES
from zenlake.lake.source.data_source import ZenohSource


class Stream:
    """Batches of one query; each is read as soon as it is planned."""

    def __init__(self, path: Path | None, table: str = "messages", **options: str) -> None:
        place = {} if path is None else {"path": str(path)}
        source = ZenohSource({**place, "table": table, **options})
        schema = StructType.fromJson(source.schema().jsonValue())
        self.reader: Any = pickle.loads(pickle.dumps(source)).streamReader(schema)
        self.arrow = TABLES[table].arrow
        self.offset: dict[str, Any] | None = None
        self.partitions = 0

    def start(self) -> dict[str, Any]:
        return through_json(self.reader.initialOffset())

    def next(self, start: dict[str, Any], limit: ReadLimit | None = None) -> dict[str, Any]:
        """The end of the batch that begins there."""
        chosen = limit or self.reader.getDefaultReadLimit()
        return through_json(self.reader.latestOffset(start, chosen))

    def batch(self, limit: ReadLimit | None = None) -> pa.Table:
        """The next micro-batch; no rows if nothing is new."""
        if self.offset is None:
            self.offset = self.start()
        end = self.next(self.offset, limit)
        rows = self.rows(self.offset, end)
        self.offset = end
        return rows

    def rows(self, start: dict[str, Any], end: dict[str, Any]) -> pa.Table:
        if start == end:
            return self.arrow.empty_table()
        tasks = pickle.loads(pickle.dumps(self.reader.partitions(start, end)))
        self.partitions = len(tasks)
        reader = pickle.loads(pickle.dumps(self.reader))
        return pa.Table.from_batches(
            [batch for task in tasks for batch in reader.read(task)], self.arrow
        )

    def all(self, limit: ReadLimit | None = None) -> pa.Table:
        """All batches until nothing is new."""
        found = []
        while True:
            before = self.offset
            found.append(self.batch(limit))
            if self.offset == before:
                return pa.concat_tables(found)


ALL = ReadAllAvailable()


def through_json(offset: dict[str, Any]) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(json.dumps(offset))
    return decoded


def rows(found: pa.Table, without: tuple[str, ...] = ("capture",)) -> list[str]:
    dropped = [name for name in without if name in found.column_names]
    return sorted(map(str, found.drop_columns(dropped).to_pylist()))
