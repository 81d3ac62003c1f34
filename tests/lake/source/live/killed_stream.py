"""A query as a program of its own, to be killed: python killed_stream.py RECORDING FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from zenlake.lake.spark import QUICK_START, session


def main() -> None:
    recording, folder = sys.argv[1], Path(sys.argv[2])
    spark = session("local[2]", app="zenlake killed stream", **QUICK_START)
    reader = spark.readStream.format("zenoh").option("maxBytesPerTrigger", "20k")
    writer = reader.option("table", "messages").load(recording).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(processingTime="0 seconds").start(str(folder / "output"))
    print("started", flush=True)
    query.awaitTermination()


if __name__ == "__main__":
    main()
