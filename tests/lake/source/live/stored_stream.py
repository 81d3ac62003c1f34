"""Stores a recording and a checkpoint of this release, for tests of later ones (R15).

    python -m tests.lake.source.live.stored_stream

The checkpoint is that of a query which has read a part of the recording.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tests.lake.source.live.recorded import TestRecorder, recorded_packets
from zenlake.lake.spark import QUICK_START, session

STORED = Path(__file__).parents[3] / "data" / "stream"
TABLE = "messages"


def checkpoint_offset(checkpoint: Path) -> dict[str, Any]:
    """The last offset of the only source."""
    newest = max((checkpoint / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    found: dict[str, Any] = json.loads(newest.read_text().splitlines()[2])
    return found


def main() -> None:
    shutil.rmtree(STORED, ignore_errors=True)
    STORED.mkdir()
    packets = recorded_packets("pubsub_router.pcapng")
    recorder = TestRecorder(STORED / "recording")
    spark = session("local[2]", **QUICK_START)
    with tempfile.TemporaryDirectory() as output:
        for start, stop in ((0, 40), (40, 80)):
            recorder.write(packets[start:stop])
            frame = spark.readStream.format("zenoh").option("table", TABLE)
            writer = frame.load(str(STORED / "recording")).writeStream.format("parquet")
            writer = writer.option("checkpointLocation", str(STORED / "checkpoint"))
            writer.trigger(availableNow=True).start(output).awaitTermination()
            recorder.rotate()
    recorder.write(packets[80:])
    spark.stop()
    for path in STORED.rglob(".*.crc"):
        path.unlink()
    shutil.rmtree(STORED / "checkpoint" / "sources", ignore_errors=True)


if __name__ == "__main__":
    main()
