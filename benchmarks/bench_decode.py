"""Speed and memory of `zenlake decode` on a large capture.

    python benchmarks/bench_decode.py [--bytes 1GB] [--keep FILE]

The capture consists of copies of the bundled ones (`make_capture.py`). Each command runs in its own
process, as for users; counting reads the whole capture, printing a fifth of it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from make_capture import make, size_bytes

from zenlake._compiled import is_compiled

CAPTURES = Path(__file__).parents[1] / "tests" / "data" / "captures"
NAMES = (
    "liveliness.pcapng.gz",
    "lowlatency.pcapng.gz",
    "metadata.pcapng.gz",
    "multicast.pcapng.gz",
    "peers_gossip.pcapng.gz",
    "pubsub_router.pcapng",
    "qos_matrix.pcap",
    "queries.pcapng.gz",
    "routers_ring.pcapng.gz",
    "sessions.pcapng.gz",
)


def build(path: str, size: int) -> None:
    inputs = [str(CAPTURES / name) for name in NAMES]
    print(
        make(argparse.Namespace(inputs=inputs, output=path, bytes=size, copies=None, seed=0)).split(
            "\n"
        )[0]
    )


def run(*arguments: str) -> tuple[str, float, float]:
    """The output of a command, its duration, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    command = [sys.executable, "-m", "zenlake.cli.main", "decode", *arguments]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result.stdout.decode(), seconds, processor


def report(what: str, messages: int, seconds: float, processor: float) -> None:
    print(
        f"{what:<8} {messages:>10,} messages  {seconds:6.1f} s  {messages / seconds:>9,.0f}/s"
        f"  {messages / processor:>9,.0f} a second of the processor"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of zenlake decode on a big capture.")
    parser.add_argument("--bytes", type=size_bytes, default=size_bytes("250MB"))
    parser.add_argument("--keep", metavar="FILE", help="where to leave the capture")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = arguments.keep or os.path.join(folder, "whole.pcapng")
        fifth = os.path.join(folder, "fifth.pcapng")
        build(whole, arguments.bytes)
        build(fifth, arguments.bytes // 5)
        print("compiled" if is_compiled() else "plain Python")
        out, seconds, processor = run("--count", "--json", whole)
        report("count", sum(json.loads(out)["counts"].values()), seconds, processor)
        peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        out, seconds, processor = run(fifth)
        # Lines that begin with two dashes are not messages.
        lines = sum("  -- " not in line[:40] for line in out.splitlines())
        report("print", lines, seconds, processor)
        print(f"memory while counting: {peak_kib / 1024:,.0f} MiB at most")


if __name__ == "__main__":
    main()
