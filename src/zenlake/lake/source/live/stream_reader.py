"""The stream reader: the class that Spark's interface requires."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from zenlake.one_line_errors import one_line_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from zenlake.errors import ZenlakeError
    from zenlake.lake.source.live.capture_rows import CaptureRows
    from zenlake.lake.source.live.network_recorder import NetworkRecorder
    from zenlake.lake.source.live.options import StreamOptions
    from zenlake.lake.source.live.planner import Limits, Planner
    from zenlake.lake.source.live.settled_captures import SettledCaptures
    from zenlake.lake.source.live.settled_planner import SettledPlanner


class LiveReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans micro-batches; Spark pickles it for their tasks."""

    def __init__(self, options: StreamOptions, schema: StructType) -> None:
        from zenlake.lake.source.columns import Columns

        self._options = options
        self._columns = Columns(options.table, schema)
        self._planner: Planner | None = None
        self._settled: SettledPlanner | SettledCaptures | None = None
        self._captures: CaptureRows | None = None
        self._recorder: NetworkRecorder | None = None
        self._mark: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """The state for tasks, without the planner, which the planning process keeps."""
        return {"_options": self._options, "_columns": self._columns}

    def initialOffset(self) -> dict[str, Any]:
        from zenlake.lake.source.live.offsets import Offset
        from zenlake.lake.source.live.options import LATEST

        with one_line_errors():
            planner, start = self._planning(), self._options.start
            if self._options.start_ns is not None:
                return planner.at_time(self._options.start_ns).to_json()
            if isinstance(start, Offset):
                return planner.complete(planner.check(start)).to_json()
            return (planner.latest() if start == LATEST else planner.earliest()).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        # Spark passes one limit; `latestOffset` adds the other one.
        if self._options.bytes_max is not None:
            return ReadMaxBytes(self._options.bytes_max)
        if self._options.files_max is not None:
            return ReadMaxFiles(self._options.files_max)
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        from zenlake.lake.source.live.offsets import parse_offset

        with one_line_errors():
            begin = parse_offset(start, "the offset in the checkpoint")
            found = self._planning().advance(begin, self._limits(limit), self._mark)
            if found == begin.plain():
                return start
            if self._is_settled:
                found = self._open_requests().after(begin, found)
            return found.to_json()

    def reportLatestOffset(self) -> dict[str, Any] | None:
        with one_line_errors():
            return self._planning().latest().to_json()

    def prepareForTriggerAvailableNow(self) -> None:
        with one_line_errors():
            self._mark = self._planning().latest()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        from zenlake.lake.source.live.offsets import parse_offset

        with one_line_errors():
            where = "the offset in the checkpoint"
            begin, stop = parse_offset(start, where), parse_offset(end, where)
            if self._is_settled:
                batch = self._open_requests().plan(begin, stop)
                return [] if batch is None else [InputPartition(batch)]
            count_min = self._options.partitions_min
            pieces = self._planning().pieces(begin, stop, count_min)
            if not self._planning().is_recording:
                parts = self._capture_rows().partitions(pieces, count_min)
                return [InputPartition(part) for part in parts]
            return [InputPartition(piece) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from zenlake.lake.source.columns import record_batches
        from zenlake.lake.source.conditions import chosen
        from zenlake.lake.source.live.tasks import read_rows

        with one_line_errors():
            for rows in read_rows(partition.value, self._options):
                found = self._columns.select(chosen(rows, self._options.rows))
                yield from record_batches(found)

    @property
    def _is_settled(self) -> bool:
        from zenlake.lake.source.live.options import SETTLED_TABLES

        return self._options.table.name in SETTLED_TABLES

    def _open_requests(self) -> SettledPlanner | SettledCaptures:
        from zenlake.lake.source.live.settled_captures import SettledCaptures
        from zenlake.lake.source.live.settled_planner import SettledPlanner

        if self._settled is None:
            planner = self._planning()
            kind = SettledPlanner if planner.is_recording else SettledCaptures
            self._settled = kind(planner, self._options.path)
        return self._settled

    def _capture_rows(self) -> CaptureRows:
        from zenlake.lake.source.live.capture_rows import CaptureRows

        if self._captures is None:
            self._captures = CaptureRows(self._options.path, self._options.table)
        return self._captures

    def stop(self) -> None:
        if self._recorder is not None:
            self._recorder.stop()
            self._recorder = None

    def _planning(self) -> Planner:
        from zenlake.lake.source.live.planner import Planner, open_folder

        if self._recorder is not None:
            self._recorder.check()
        if self._planner is None:
            if self._options.network is not None:
                from zenlake.lake.source.live.network_recorder import NetworkRecorder

                self._recorder = NetworkRecorder(self._options.network, self._options.path)
            folder = open_folder(self._options.path)
            self._planner = Planner(folder, self._options.fails_on_loss)
        return self._planner

    def _limits(self, limit: ReadLimit) -> Limits:
        from zenlake.lake.source.live.planner import Limits

        if isinstance(limit, ReadAllAvailable):
            return Limits()
        return Limits(self._options.bytes_max, self._options.files_max)


class RefusingStreamReader(DataSourceStreamReader):
    """Fails at the first call: Spark 4.3 hides errors of the constructor."""

    def __init__(self, error: ZenlakeError) -> None:
        self._error = error

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        with one_line_errors():
            raise self._error

    initialOffset = latestOffset = partitions = read = _refuse
