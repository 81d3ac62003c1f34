"""The writers that Spark calls: for a batch write, and for each batch of a stream."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from zenlake.errors import LocalError, ZError
from zenlake.one_line_errors import one_line_errors
from zenlake.sink.options import SinkOptions, read_options
from zenlake.sink.rows import RowColumns
from zenlake.sink.stream_progress import BatchStart, latest_batch_start
from zenlake.sink.timestamps import RowClock

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_log: Final = logging.getLogger("zenlake.sink")
_BATCH_PROPERTY: Final = "streaming.sql.batchId"
_QUERY_PROPERTY: Final = "sql.streaming.queryId"
NO_OVERWRITE: Final = (
    'mode overwrite is refused: published values cannot be replaced; use mode("append")'
)
NO_COMPLETE: Final = "output mode complete is refused: use append or update"


@dataclass(frozen=True)
class SentRows(WriterCommitMessage):
    """The commit message of a task."""

    partition: int
    rows: int
    dropped: int


class BatchWriter(DataSourceArrowWriter):
    """`df.write.format("zenoh")`. Constructed on the driver, then pickled to the tasks."""

    def __init__(self, given: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        if overwrite:
            raise LocalError(NO_OVERWRITE)
        self._options = read_options(given)
        self._columns = RowColumns(schema)
        self._job = uuid.uuid4().hex
        self._start_ns = time.time_ns()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> SentRows:
        partition = _task().partitionId()
        clock = RowClock(self._job, partition, self._start_ns)
        return _send_partition(iterator, self._options, self._columns, clock, partition)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        _log_sent(messages)


class StreamWriter(DataSourceStreamArrowWriter):
    """`df.writeStream.format("zenoh")`. Spark constructs one on the driver for each batch."""

    def __init__(self, given: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        if overwrite:
            raise LocalError(NO_COMPLETE)
        self._options = read_options(given)
        self._columns = RowColumns(schema)
        self._made_ns = time.time_ns()
        self._recorded: BatchStart | None = latest_batch_start(self._options.checkpoint)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> SentRows:
        task = _task()
        partition = task.partitionId()
        query, batch = (
            task.getLocalProperty(_QUERY_PROPERTY),
            task.getLocalProperty(_BATCH_PROPERTY),
        )
        start_ns = self._made_ns
        if self._recorded is not None and str(self._recorded.batch) == batch:
            start_ns = min(self._recorded.time_ns, start_ns)
        clock = RowClock(f"{query}/{batch}", partition, start_ns)
        return _send_partition(iterator, self._options, self._columns, clock, partition)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        _log_sent(messages)


def _task() -> TaskContext:
    found = TaskContext.get()
    assert found is not None
    return found


def _send_partition(
    batches: Iterator[pa.RecordBatch],
    options: SinkOptions,
    columns: RowColumns,
    clock: RowClock,
    partition: int,
) -> SentRows:
    from zenlake.sink.row_sender import RowSender

    with one_line_errors():
        # A partition without rows needs no connection.
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return SentRows(partition, 0, 0)
        try:
            with RowSender(options, columns, clock) as sender:
                sender.send(first)
                for batch in batches:
                    sender.send(batch)
                sender.flush()
                return SentRows(partition, sender.sent, sender.dropped)
        except ZError as error:
            raise ZError(f"partition {partition}: {error}") from None
    raise AssertionError


def _log_sent(messages: list[WriterCommitMessage | None]) -> None:
    sent = [message for message in messages if isinstance(message, SentRows)]
    rows, dropped = sum(task.rows for task in sent), sum(task.dropped for task in sent)
    _log.info("published %d rows of %d partitions, dropped %d", rows, len(sent), dropped)
