"""Reads captures in a store with Spark: `in_spark.py FOLDER TABLE_LOCATION SETTINGS`.

It is a process of its own because workers of Spark have the environment of its start. It prints
one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from zenlake.lake.spark import QUICK_START, session

SELECT = "SELECT DISTINCT capture FROM t ORDER BY capture"


def main() -> int:
    folder, location, settings = sys.argv[1:]
    spark = session("local[2]", **{**QUICK_START, **json.loads(settings)})

    def counted(paths: Any, **options: str) -> int:
        return spark.read.format("zenoh").options(**options).load(paths).count()

    names = [f"{folder}/queries.pcapng.gz", f"{folder}/pubsub_router.pcapng"]
    spark.sql(f"CREATE TABLE t USING zenoh LOCATION '{location}'")
    found = {
        "folder": counted(folder),
        "each": [counted(name) for name in names],
        "list": counted([*names, f"{folder}/*.gz"]),
        "queries": counted(f"{folder}/q*", table="queries"),
        "table": [row["capture"] for row in spark.sql(SELECT).collect()],
        "error": error_of(lambda: counted(f"{folder}/none.pcap")),
        "stream": error_of(lambda: started(spark, folder)),
    }
    print(json.dumps(found))
    return 0


def started(spark: Any, folder: str) -> None:
    frame = spark.readStream.format("zenoh").load(folder)
    place = os.path.join(os.getcwd(), "checkpoint")
    query = frame.writeStream.format("noop").option("checkpointLocation", place).start()
    query.processAllAvailable()


def error_of(work: Any) -> str:
    """The line of the error that is the source's."""
    try:
        work()
    except Exception as error:
        lines = str(error).splitlines()
        return next((line for line in lines if "s3a://" in line), lines[0])
    return ""


if __name__ == "__main__":
    sys.exit(main())
