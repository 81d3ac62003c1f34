"""Time of `spark.read.format("zenoh")`, compared with the pipeline on the same capture.

    python benchmarks/bench_source.py [--messages 1000000] [--master 'local[2]']

`written` writes all rows to Spark's `noop` sink, so that all are transferred to Java;
`counted` counts rows of two columns; `one kind` and `one key` are filtered while reading. The
pipeline writes the table of messages into a lake. The session is warm: each case ran once before.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bench_pipeline import build

from zenlake._compiled import is_compiled
from zenlake.lake.pipeline import run
from zenlake.lake.spark import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader


def measure(title: str, rows: int, work: Callable[[], object]) -> None:
    begun = time.perf_counter()
    work()
    seconds = time.perf_counter() - begun
    print(f"{title:28} {seconds:6.1f} s  {rows / seconds:9,.0f} messages/s", flush=True)


def write_to_noop(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--capture", type=Path)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="zenlake-bench-"))
    path = arguments.capture or folder / "messages.pcapng"
    build(path, arguments.messages)
    spark = session(arguments.master)

    def reader() -> DataFrameReader:
        return spark.read.format("zenoh")

    begun = time.perf_counter()
    first = reader().load(str(path))
    loaded = time.perf_counter()
    rows = first.count()
    print("compiled" if is_compiled() else "plain", arguments.master, f"{rows:,} messages")
    counted = time.perf_counter()
    print(f"the first load takes {loaded - begun:.1f} s, its count {counted - loaded:.1f} s")
    two = reader().schema("key string, time_ns bigint")
    measure("written", rows, lambda: write_to_noop(reader().load(str(path))))
    measure("counted", rows, lambda: two.load(str(path)).count())
    chosen = reader().option("kind", "REQUEST")
    measure("one kind", rows, lambda: write_to_noop(chosen.load(str(path))))
    keyed = reader().option("key", "*/demo/**")
    measure("one key", rows, lambda: write_to_noop(keyed.load(str(path))))
    for table in ("samples", "declarations", "queries"):
        asked = reader().option("table", table)
        measure(f"written: {table}", rows, lambda asked=asked: write_to_noop(asked.load(str(path))))
    for attempt in range(2):
        lake = folder / f"lake-{attempt}"
        title = ("pipeline, cold", "pipeline: messages")[attempt]
        measure(title, rows, lambda lake=lake: run([str(path)], lake, spark, only=["messages"]))
    spark.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
