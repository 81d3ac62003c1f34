"""Rows a second onto the disk: `zenlake record`, and a subscriber of eclipse-zenoh with Parquet.

    python benchmarks/bench_record.py [--secs 5] [--sizes 8 1024] [--routers zenoh zenlake]

The same publisher, a socket that sends full batches (congestion control BLOCK), fills the same
router, and one of two recorders subscribes:

- `zenoh`: the program that users of eclipse-zenoh write: a callback appends time, key, payload,
  encoding, kind and timestamp to lists, and every 131,072 rows pyarrow writes them to a Parquet
  file.
- `zenlake`: `zenlake record`, whose recording is then read again and counted.

Both must have all rows that were sent. The rate counts rows from the first one sent until the
publisher has sent its last one and the recorder has all of them. Processor time is that of all
threads of the recorder until it has ended, per row.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from bench_router import BLOCK, RawSession
from processes import cpu_seconds, free_endpoint

from zenlake._compiled import is_compiled
from zenlake.capture.pcapng import PACKET
from zenlake.capture.segment_format import WIRE
from zenlake.wire import Frame, Push, Put, TransportMessage, WireExpr, decode_batch
from zenlake.wire.framing import StreamDeframer
from zenlake.wire.push_run import PushRun

KEY = "bench/record/a"
WAIT_SECS = 60.0
BATCH_BYTES = 49_000
"""The length of the messages in a batch; routers agree on batches of 49,152 bytes."""
HEADERS_BYTES = 40
"""The length of the headers of IPv4 and TCP."""

PARQUET_RECORDER = """
import sys, threading, time
import pyarrow as pa
import pyarrow.parquet as pq
import zenoh
endpoint, key, path, total = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
SCHEMA = pa.schema([
    ("time_ns", pa.int64()), ("key", pa.string()), ("payload", pa.binary()),
    ("encoding", pa.string()), ("kind", pa.string()), ("timestamp", pa.string()),
])
ROWS = 131_072
columns = [[] for _ in SCHEMA]
times, keys, payloads, encodings, kinds, timestamps = columns
writer = pq.ParquetWriter(path, SCHEMA)
done = threading.Event()
count = 0

def flush():
    writer.write_table(pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, SCHEMA)],
                                            schema=SCHEMA))
    for column in columns:
        column.clear()

def on_sample(sample):
    global count
    stamp = sample.timestamp
    times.append(time.time_ns())
    keys.append(str(sample.key_expr))
    payloads.append(sample.payload.to_bytes())
    encodings.append(str(sample.encoding))
    kinds.append("PUT" if sample.kind == zenoh.SampleKind.PUT else "DEL")
    timestamps.append(None if stamp is None else str(stamp))
    count += 1
    if len(times) == ROWS:
        flush()
    if count == total:
        done.set()

config = zenoh.Config()
config.insert_json5("mode", '"client"')
config.insert_json5("connect/endpoints", '["%s"]' % endpoint)
config.insert_json5("scouting/multicast/enabled", "false")
session = zenoh.open(config)
subscriber = session.declare_subscriber(key, on_sample)
print("ready", flush=True)
done.wait(120)
at = time.monotonic()
flush()
writer.close()
print(count, at, flush=True)
session.close()
"""


def start_router(package: str, endpoint: str) -> subprocess.Popen[str]:
    program = (
        f"import {package} as zenoh, sys\n"
        "config = zenoh.Config()\n"
        "config.insert_json5('mode', '\"router\"')\n"
        f"config.insert_json5('listen/endpoints', '[\"{endpoint}\"]')\n"
        "config.insert_json5('scouting/multicast/enabled', 'false')\n"
        "config.insert_json5('timestamping/enabled', 'false')\n"
        "session = zenoh.open(config)\nprint('ready', flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program]
    made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert made.stdout is not None
    assert made.stdout.readline() == "ready\n"
    return made


def encoded(size: int) -> bytes:
    return bytes(Push(WireExpr(0, KEY), Put(bytes(size)), qos=BLOCK))


def rows_per_batch(size: int) -> int:
    return BATCH_BYTES // len(encoded(size))


class Publisher:
    """Sends full batches of equal publications."""

    def __init__(self, endpoint: str, size: int) -> None:
        self._session = RawSession(endpoint)
        self._batch = encoded(size) * rows_per_batch(size)

    def send(self, batches: int) -> float:
        """Returns when the first was sent."""
        began = time.monotonic()
        for _ in range(batches):
            self._session.send(self._batch)
        return began

    def close(self) -> None:
        self._session.socket.close()


def record_parquet(endpoint: str, size: int, batches: int, folder: str) -> tuple[float, float]:
    """Rows a second, and processor seconds a row."""
    publisher = Publisher(endpoint, size)
    rows = batches * rows_per_batch(size)
    command = [sys.executable, "-c", PARQUET_RECORDER, endpoint, KEY]
    command += [os.path.join(folder, "rows.parquet"), str(rows)]
    recorder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert recorder.stdout is not None
    assert recorder.stdout.readline() == "ready\n"
    time.sleep(0.5)  # the router knows the subscriber
    before = cpu_seconds(recorder.pid)
    began = publisher.send(batches)
    count, at = recorder.stdout.readline().split()
    publisher.close()
    _, _, usage = os.wait4(recorder.pid, 0)
    used = usage.ru_utime + usage.ru_stime - before
    if int(count) != rows:
        raise RuntimeError(f"{rows} rows sent, {count} in Parquet")
    return rows / (float(at) - began), used / rows


def record_zenlake(endpoint: str, size: int, batches: int, folder: str) -> tuple[float, float]:
    publisher = Publisher(endpoint, size)
    rows = batches * rows_per_batch(size)
    path = os.path.join(folder, "recording")
    command = [sys.executable, "-m", "zenlake.cli", "record", "-e", endpoint, "-k", KEY]
    command += ["--json", "--progress", "0.1", path]
    recorder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert recorder.stdout is not None
    while json.loads(recorder.stdout.readline())["event"] != "recording":
        pass
    time.sleep(0.5)
    before = cpu_seconds(recorder.pid)
    began = publisher.send(batches)
    until = time.monotonic() + WAIT_SECS
    status = {"messages": 0}
    while status.get("messages", 0) < rows and time.monotonic() < until:
        status = json.loads(recorder.stdout.readline())
    at = time.monotonic()
    recorder.send_signal(signal.SIGINT)
    recorder.stdout.read()
    publisher.close()
    _, _, usage = os.wait4(recorder.pid, 0)
    used = usage.ru_utime + usage.ru_stime - before
    found = count_rows(path)
    if found != rows:
        raise RuntimeError(f"{rows} rows sent, {found} in the recording: {status}")
    return rows / (at - began), used / rows


def count_rows(path: str) -> int:
    """The publications in the segments of a recording of one IPv4 link."""
    deframers: dict[bytes, StreamDeframer] = {}
    count = 0
    for segment in sorted(Path(path).glob("*.pcapng")):
        data = segment.read_bytes()
        at = 0
        while at < len(data):
            kind, length, interface = struct.unpack_from("<III", data, at)
            if kind == PACKET and interface == WIRE:
                size = int.from_bytes(data[at + 20 : at + 24], "little")
                packet = data[at + 28 : at + 28 + size]
                deframer = deframers.setdefault(packet[20:24], StreamDeframer())
                for batch in deframer.receive(packet[HEADERS_BYTES:]):
                    for message in decode_batch(batch, keeps_runs=True).messages:
                        count += publications(message)
            at += length
    return count


def publications(message: TransportMessage) -> int:
    if not isinstance(message, Frame):
        return 0
    return sum(
        one.count if isinstance(one, PushRun) else isinstance(one, Push) for one in message.messages
    )


RECORDERS = {"zenoh": record_parquet, "zenlake": record_zenlake}


def main() -> None:
    parser = argparse.ArgumentParser(description="Recording, beside eclipse-zenoh and Parquet.")
    parser.add_argument("--secs", type=float, default=4.0, help="for every measurement, about")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 1024], help="payload bytes")
    parser.add_argument("--routers", nargs="+", default=["zenoh", "zenlake"])
    parser.add_argument("--recorders", nargs="+", default=list(RECORDERS))
    parser.add_argument("--folder", help="where to write; a temporary folder by default")
    arguments = parser.parse_args()
    kind = "compiled" if is_compiled() else "plain"
    print(f"zenlake {kind}, eclipse-zenoh {version('eclipse-zenoh')}, pyarrow {version('pyarrow')}")
    for package in arguments.routers:
        for size in arguments.sizes:
            measure(package, size, arguments)


def measure(package: str, size: int, arguments: argparse.Namespace) -> None:
    print(f"router {package}, {size} B")
    figures = {}
    for name in arguments.recorders:
        endpoint = free_endpoint()
        router = start_router(package, endpoint)
        folder = tempfile.mkdtemp(prefix="bench-record-", dir=arguments.folder)
        try:
            batches, seconds = 100, 0.0
            while seconds < 0.7 * arguments.secs:
                shutil.rmtree(folder)
                os.mkdir(folder)
                rate, cpu = RECORDERS[name](endpoint, size, batches, folder)
                seconds = batches * rows_per_batch(size) / rate
                batches = int(batches * min(20.0, arguments.secs / seconds))
        finally:
            shutil.rmtree(folder)
            router.communicate()
        figures[name] = rate, cpu
        print(
            f"  {name:8} {rate:12,.0f} rows/s {rate * size / 1e6:8,.1f} MB/s of payload"
            f" {cpu * 1e6:8.3f} us CPU a row",
            flush=True,
        )
    if len(figures) == 2:
        theirs, ours = figures["zenoh"], figures["zenlake"]
        faster, cheaper = ours[0] / theirs[0], theirs[1] / ours[1]
        print(f"  ratio    {faster:.1f}x the rows/s, 1/{cheaper:.1f} of the CPU a row")


if __name__ == "__main__":
    main()
