"""Throughput of the pipeline, and how time and memory grow with the capture.

    python benchmarks/bench_pipeline.py [--messages 1000000,3000000,10000000] [--master 'local[2]']

Captures are copies of real ones, with other keys, ids and times (make_capture.py). `messages`
builds only that table, `all` every table; both in a warm Spark session, until the lake is
published. `one by one` decodes message by message in mapInArrow and writes the same table of
messages on Spark, from the smallest capture. Memory is the peak of each process, with mapped files.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from bench_decode import CAPTURES, NAMES
from make_capture import make

from zenlake._compiled import is_compiled
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.lake.pipeline import run
from zenlake.lake.schema import TABLES
from zenlake.lake.spark import session

# Left out: the ids of its routers have two digits, so that all copies would be the same nodes.
LEFT_OUT = "routers_ring.pcapng.gz"
MESSAGES_A_COPY = 6_077
KIB_A_MIB = 1024


def build(path: Path, messages: int) -> None:
    inputs = [str(CAPTURES / name) for name in NAMES if name != LEFT_OUT]
    copies = -(-messages // MESSAGES_A_COPY)
    if not path.exists():
        wanted = {"inputs": inputs, "output": str(path), "bytes": None, "copies": copies}
        print(make(argparse.Namespace(**wanted, seed=0)).split("\n")[0], flush=True)


class Memory:
    """The peak of resident memory, with mapped files, by kind of process."""

    def __init__(self) -> None:
        self.highest: dict[str, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            for status in Path("/proc").glob("[0-9]*/status"):
                self._look(status)

    def _look(self, status: Path) -> None:
        try:
            words = status.with_name("cmdline").read_bytes().replace(b"\0", b" ").decode()
            text = status.read_text()
        except OSError:
            return  # the process has ended
        name = "java" if "java" in words[:80] else "python worker" if "daemon" in words else ""
        size = next((line for line in text.split("\n") if line.startswith("VmHWM")), "")
        if name and size:
            self.highest[name] = max(self.highest.get(name, 0), int(size.split()[1]))

    def end(self) -> str:
        self._over.set()
        self._thread.join()
        return ", ".join(f"{name} {size // KIB_A_MIB} MiB" for name, size in self.highest.items())


def measure(title: str, work: Callable[[], int]) -> float:
    memory = Memory()
    begun = time.perf_counter()
    messages = work()
    seconds = time.perf_counter() - begun
    rate = messages / seconds
    print(
        f"{title:<22}{messages:>12,} messages {seconds:>7.1f} s {rate:>10,.0f}/s   {memory.end()}",
        flush=True,
    )
    return rate


def one_by_one(spark: Any, capture: str, folder: Path) -> int:
    """The code that a Spark user would write with a library that decodes message by message."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path in batch.column(0).to_pylist():
                yield from stage(path, path)["messages"].to_batches()

    paths = spark.createDataFrame([(capture,)], "path STRING")
    messages = paths.mapInArrow(read, TABLES["messages"].base.spark)
    messages.write.parquet(str(folder))
    count: int = spark.read.parquet(str(folder)).count()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", default="1000000,3000000,10000000")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--keep", help="a folder for the captures, which are used again")
    arguments = parser.parse_args()
    sizes = [int(word) for word in arguments.messages.split(",")]
    print("compiled" if is_compiled() else "plain Python", arguments.master, flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        kept = Path(arguments.keep or scratch)
        captures = {size: kept / f"{size}.pcapng" for size in sizes}
        for size, capture in captures.items():
            build(capture, size)
        spark = session(arguments.master)
        first = str(captures[sizes[0]])
        lake = Path(scratch) / "lake"

        def go(size: int, only: tuple[str, ...] | None) -> int:
            shutil.rmtree(lake, ignore_errors=True)
            outcome = run([str(captures[size])], lake, spark, only=only)
            steps = ", ".join(f"{name} {took:.1f}" for name, took in outcome.seconds.items())
            print(f"    {steps}", flush=True)
            return outcome.messages

        go(sizes[0], None)  # kernels compile once, Java warms up
        fast = 0.0
        for size in sizes:
            fast = measure("messages", lambda size=size: go(size, ("messages",)))
            measure("all", lambda size=size: go(size, None))
        slow = measure("one by one", lambda: one_by_one(spark, first, Path(scratch) / "slow"))
        print(f"messages against one by one: {fast / slow:.1f} x")


if __name__ == "__main__":
    main()
