"""A query as a program of its own, to be killed: python killed_stream.py RECORDING FOLDER SETTINGS.

The settings of Spark are JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from zenlake.lake.spark import QUICK_START, session


def main() -> None:
    recording, folder = sys.argv[1], Path(sys.argv[2])
    settings = {**QUICK_START, **json.loads(sys.argv[3])}
    spark = session("local[2]", app="zenlake killed stream", **settings)
    reader = spark.readStream.format("zenoh").option("maxBytesPerTrigger", "20k")
    writer = reader.option("table", "messages").load(recording).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(processingTime="0 seconds").start(str(folder / "output"))
    print("started", flush=True)
    query.awaitTermination()


if __name__ == "__main__":
    main()
