"""`format("zenoh")` as a sink in a session of Spark, to a subscriber of eclipse-zenoh."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.paths import CAPTURES
from tests.sink.conftest import Received

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.xdist_group("streams"), pytest.mark.real]

ROWS = 20_000
CAPTURE = str(CAPTURES / "queries.pcapng.gz")


def numbered(spark: SparkSession, count: int, partitions: int = 2) -> DataFrame:
    numbers = spark.range(0, count, 1, partitions)
    return numbers.selectExpr("concat('sink/', id) AS key", "CAST(id AS STRING) AS value")


def test_a_batch_write(spark: SparkSession, router: str, received: Received) -> None:
    frame = numbered(spark, 1_000)
    frame.write.format("zenoh").mode("append").option("Connect", router).save()
    samples = received.wait(1_000)
    values = {str(sample.key_expr): sample.payload.to_string() for sample in samples}
    assert values == {f"sink/{n}": str(n) for n in range(1_000)}
    assert len({str(sample.timestamp.get_id()) for sample in samples}) == 2
    assert len({str(sample.timestamp) for sample in samples}) == 1_000


def test_samples_of_a_capture_are_published_again(
    spark: SparkSession, router: str, received: Received
) -> None:
    samples = spark.read.format("zenoh").option("table", "samples").load(CAPTURE)
    columns = ("payload", "encoding", "attachment", "kind", "timestamp", "priority")
    again = samples.selectExpr("concat('sink/', key) AS key", *columns)
    again.write.format("zenoh").mode("append").option("connect", router).save()
    received.wait(samples.count())


@pytest.mark.parametrize(
    ("mode", "options", "complaint"),
    [
        ("overwrite", {}, "mode overwrite is refused: published values cannot be replaced; use mo"),
        ("append", {"conect": "x"}, "there is no option 'conect' (did you mean connect?); for wri"),
        ("append", {"connect": ""}, "option connect is tcp/HOST:PORT, or several with commas"),
    ],
)
def test_refused_write_is_an_error_in_one_line(
    spark: SparkSession, router: str, mode: str, options: dict[str, str], complaint: str
) -> None:
    from pyspark.errors import AnalysisException

    writer = numbered(spark, 1).write.format("zenoh").mode(mode)
    with pytest.raises(AnalysisException) as raised:
        writer.options(**{"connect": router, **options}).save()
    assert f"Error: {complaint}" in str(raised.value)
    assert "Traceback" not in str(raised.value)


def test_a_row_that_cannot_be_sent_fails_the_batch(spark: SparkSession, router: str) -> None:
    frame = spark.createDataFrame([("sink/a", "1"), ("sink/*", "2")], "key string, value string")
    writer = frame.coalesce(1).write.format("zenoh").mode("append").option("connect", router)
    with pytest.raises(
        Exception, match="partition 0: row 2, key 'sink/\\*': the key has a wil"
    ) as raised:
        writer.save()
    assert "row_sender.py" not in str(raised.value)


def run_stream(frame: DataFrame, router: str, checkpoint: Path) -> None:
    writer = frame.writeStream.format("zenoh").option("connect", router)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query = writer.start()
    query.awaitTermination(120)
    assert query.exception() is None


def test_a_stream_that_failed_repeats_its_timestamps(
    spark: SparkSession, router: str, received: Received, tmp_path: Path
) -> None:
    """First a task fails after it sent rows; later the commit of the batch is lost, too."""
    from pyspark.errors import StreamingQueryException

    source, checkpoint, broken = tmp_path / "source", tmp_path / "checkpoint", tmp_path / "broken"
    numbered(spark, ROWS, 1).write.parquet(str(source))
    broken.touch()

    def fail_midway(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            if broken.exists() and int(batch.column(1)[-1].as_py()) > ROWS // 2:
                time.sleep(1)  # for the rows before it to be sent
                raise ValueError("the first attempt fails")

    schema = "key string, value string"
    frame = spark.readStream.schema(schema).parquet(str(source)).mapInArrow(fail_midway, schema)
    limit = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(limit)
    spark.conf.set(limit, "100")
    try:
        with pytest.raises(StreamingQueryException, match="the first attempt fails"):
            run_stream(frame, router, checkpoint)
        time.sleep(1)  # for the samples of the failed attempt to arrive
        early = len(received.samples)
        assert 0 < early < ROWS
        broken.unlink()
        run_stream(frame, router, checkpoint)
        received.wait(early + ROWS)
        # The state after a crash between the last task and the commit of the batch.
        shutil.rmtree(checkpoint / "commits")
        run_stream(frame, router, checkpoint)
    finally:
        spark.conf.set(limit, str(before))
    samples = received.wait(early + 2 * ROWS)
    sent = Counter((str(sample.key_expr), str(sample.timestamp)) for sample in samples)
    assert len(sent) == ROWS
    assert set(sent.values()) <= {2, 3}
    # What comes later has later timestamps.
    numbered(spark, 1).write.mode("append").parquet(str(source))
    run_stream(frame, router, checkpoint)
    later = received.wait(early + 2 * ROWS + 1)[-1]
    assert later.timestamp > max(sample.timestamp for sample in samples[:-1])


def test_output_mode_complete_is_refused(spark: SparkSession, router: str, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    source = tmp_path / "source"
    numbered(spark, 1).write.parquet(str(source))
    frame = spark.readStream.schema("key string, value string").parquet(str(source))
    counts = frame.groupBy("key").count().selectExpr("key", "CAST(count AS STRING) AS value")
    writer = counts.writeStream.format("zenoh").outputMode("complete").option("connect", router)
    query = (
        writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start()
    )
    with pytest.raises(StreamingQueryException, match="output mode complete is refused"):
        query.awaitTermination(60)
