"""Throughput and latency of `spark.readStream.format("zenoh")` over a recording.

    python benchmarks/bench_stream.py [--messages 6000000] [--master 'local[2]']

The recording has one publisher: batches of 8-byte PUTs under one alias, as its link carried them,
in segments of 64 MiB. `noop` counts the rows on their way to Java, `parquet` writes them; both
with the trigger AvailableNow, from a new checkpoint, in a warm session. Latency is the time from a
batch of a hundred messages in the file to the end of its micro-batch into nothing, at the fastest
trigger; `--messages 0` measures it alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zenlake import trace
from zenlake._compiled import is_compiled
from zenlake.capture.segment_format import FIRST, PLAIN, WIRE, packet_block, statistics_block
from zenlake.lake.spark import session
from zenlake.recording.link_packets import LinkPackets
from zenlake.recording.packet_headers import End
from zenlake.recording.segment_file import head_blocks
from zenlake.recording.state_tracker import StateTracker
from zenlake.wire import Frame, Push, Put
from zenlake.wire.values.wire_expr import WireExpr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAPTURE = Path(__file__).parents[1] / "tests" / "data" / "captures" / "pubsub_router.pcapng"
SEGMENT_BYTES = 64 << 20
MESSAGES_A_BATCH = 100
RECORDING_ID = "0123456789abcdef0123456789abcdef"


class Publisher:
    """The packets of a link: a handshake of a real one, then batches of publications."""

    def __init__(self) -> None:
        ends = (End(bytes((127, 0, 0, 1)), 40_000), End(bytes((127, 0, 0, 1)), 7447))
        self._link = LinkPackets(ends, True, [1_000, 1_000])
        self._handshake = list(_handshake())
        self._sn = self._handshake.pop(0)
        put = Push(WireExpr(1, "", True), Put(bytes(8)))
        self._body = b"".join(bytes(put) for _ in range(MESSAGES_A_BATCH))

    def opening(self) -> Iterator[tuple[bytes, int]]:
        for data in self._link.opening():
            yield data, 0
        for direction, unit in self._handshake:
            yield from ((data, FIRST) for data in self._data(direction, unit))

    def batch(self) -> Iterator[tuple[bytes, int]]:
        unit = bytes(Frame(self._sn, [])) + self._body
        self._sn = (self._sn + 1) & 0x0FFF_FFFF
        return ((data, FIRST | PLAIN) for data in self._data(0, unit))

    def _data(self, direction: int, unit: bytes) -> list[bytes]:
        return self._link.data(direction, len(unit).to_bytes(2, "little") + unit)


def _handshake() -> Iterator[Any]:
    """The next sequence number, then the first batches of a publisher that declared alias 1."""
    units: dict[str, list[tuple[int, bytes]]] = {}
    with trace.open(str(CAPTURE)) as opened:
        for batch in opened.batches():
            found = units.setdefault(batch.link.name, [])
            frame = batch.messages[0]
            if batch.direction == 0 and isinstance(frame, Frame):
                first = frame.messages[0]
                if isinstance(first, Push) and first.key.scope == 1:
                    yield frame.sn
                    yield from found
                    return
            found.append((batch.direction, batch.data))


class Recorder:
    """Writes segments as the recorder of a node does, without its thread."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "recording.json").write_text(json.dumps({"format": 1, "id": RECORDING_ID}))
        self._folder = folder
        self._tracker = StateTracker()
        self._segment = self._number = self._size = 0
        self._rotate()

    def _rotate(self) -> None:
        if self._segment:
            self._file.write(statistics_block(time.time_ns(), 0))
            self.close()
        self._segment += 1
        self._path = self._folder / f"{self._segment:08}.pcapng.part"
        self._file = self._path.open("wb")
        state = self._tracker.packets()
        self._file.write(head_blocks(RECORDING_ID, self._segment, self._number, state, 0))
        self._size = 0

    def write(self, packets: Iterator[tuple[bytes, int]]) -> None:
        for data, flags in packets:
            time_ns = time.time_ns()
            self._tracker.feed_packet(time_ns, data, flags)
            self._number += 1
            block = packet_block(WIRE, time_ns, data, flags, self._number)
            self._file.write(block)
            self._size += len(block)
        if self._size > SEGMENT_BYTES:
            self._rotate()

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()
        self._path.rename(str(self._path).removesuffix(".part"))


def run(spark: SparkSession, recording: Path, folder: Path, sink: str, table: str) -> float:
    """The seconds of one query over all that is recorded."""
    frame = spark.readStream.format("zenoh").option("table", table).load(str(recording))
    writer = frame.writeStream.format(sink).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    begun = time.perf_counter()
    query = writer.start(str(folder / "output")) if sink == "parquet" else writer.start()
    query.awaitTermination()
    seconds = time.perf_counter() - begun
    shutil.rmtree(folder)
    return seconds


def latencies(spark: SparkSession, folder: Path, count: int) -> tuple[list[float], list[int]]:
    """Milliseconds from a batch in the file until its micro-batch has ended; of each trigger."""
    publisher, recorder = Publisher(), Recorder(folder / "live")
    recorder.write(publisher.opening())
    recorder.flush()
    frame = spark.readStream.format("zenoh").option("table", "samples").load(str(folder / "live"))
    query = frame.writeStream.format("noop").trigger(processingTime="0 seconds").start()
    query.processAllAvailable()
    found = []
    for _ in range(count):
        written = time.perf_counter()
        recorder.write(publisher.batch())
        recorder.flush()
        query.processAllAvailable()
        found.append(1e3 * (time.perf_counter() - written))
    triggers = [
        int(one["durationMs"]["triggerExecution"])
        for one in query.recentProgress
        if one["numInputRows"]
    ]
    query.stop()
    return found, triggers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=6_000_000)
    parser.add_argument("--master", default="local[2]")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="zenlake-bench-"))
    spark = session(arguments.master)
    if arguments.messages:
        measure_throughput(spark, folder, arguments)
    found, triggers = latencies(spark, folder, 40)
    found, triggers = sorted(found[5:]), sorted(triggers[5:])
    print(
        f"from the file to the sink: median {statistics.median(found):.0f} ms, fastest "
        f"{found[0]:.0f} ms; triggers: median {statistics.median(triggers):.0f} ms, fastest "
        f"{triggers[0]} ms"
    )
    spark.stop()
    shutil.rmtree(folder)


def measure_throughput(spark: SparkSession, folder: Path, arguments: argparse.Namespace) -> None:
    publisher, recorder = Publisher(), Recorder(folder / "recording")
    recorder.write(publisher.opening())
    for _ in range(arguments.messages // MESSAGES_A_BATCH):
        recorder.write(publisher.batch())
    recorder.close()
    recording = folder / "recording"
    size = sum(path.stat().st_size for path in recording.iterdir())
    print(
        "compiled" if is_compiled() else "plain",
        f"{arguments.master} {arguments.messages:,} publications, {size >> 20} MiB",
        flush=True,
    )
    run(spark, recording, folder / "warm", "noop", "samples")
    for table in ("samples", "messages"):
        for sink in ("noop", "parquet"):
            seconds = run(spark, recording, folder / "run", sink, table)
            rate = arguments.messages / seconds
            print(f"{table:9} {sink:8} {seconds:6.1f} s {rate:10,.0f} publications/s", flush=True)


if __name__ == "__main__":
    main()
