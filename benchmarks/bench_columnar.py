"""Speed of decoding batches: Numba kernels, and the scalar decoder plain and compiled.

    python benchmarks/bench_columnar.py [--compiled FOLDER]

The batches: FRAMEs of ten PUSH with PUT, small payloads, five keys; one in ten without a timestamp
and encoding, one in twenty a DEL. One core. All alternate in separate processes, and the best of
several rounds counts, so that a busy machine slows all of them: compare the ratios. The zenlake
compiled by mypyc is the one installed here, or in FOLDER; without one its line is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BATCHES = 20_000
"""Batches for the kernels; the scalar decoder reads a fiftieth of them."""
ROUNDS = 7
ARROW_FIELDS = (
    *("key", "payload", "encoding", "timestamp", "qos"),
    *("sn", "reliable", "priority", "attachment"),
)
"""What the table of samples is made of."""


def batches() -> list[bytes]:
    """Different batches, which are repeated."""
    from zenlake.wire import Del, Encoding, Frame, Push, Put, QoS, Timestamp, WireExpr, ZenohId

    made = []
    for number in range(50):
        messages = []
        for index in range(number * 10, number * 10 + 10):
            time_ = Timestamp(0x6A00_0000_0000_0000 + index, ZenohId(b"\x10\x20\x30\x40\x50"))
            plain = index % 10 == 0
            put = Put(b"x" * (10 + index % 15), None if plain else time_)
            put.encoding = None if plain else Encoding(5)
            key = WireExpr(0, f"demo/robot/{index % 5}")
            body = Del(time_) if index % 20 == 7 else put
            messages.append(Push(key, body, qos=QoS(0x0D)))
        made.append(bytes(Frame(number, messages)))
    return made


def best_seconds(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def measure_scalar() -> dict[str, Any]:
    from zenlake._compiled import is_compiled
    from zenlake.wire.batch import decode_batch

    units = batches() * (BATCHES // 2_500)
    rows = len(units) * 11

    def read() -> None:
        for unit in units:
            decode_batch(unit)

    return {"compiled": is_compiled(), "rate": rows / best_seconds(read)}


def measure_columnar() -> dict[str, Any]:
    import numpy as np

    from zenlake.columnar import decode, to_arrow
    from zenlake.columnar.jit import IS_COMPILED

    units = batches() * (BATCHES // 50)
    buffer = b"".join(units)
    bounds = np.cumsum([0, *(len(unit) for unit in units)])
    begun = time.perf_counter()
    columns = decode(units[0], [0, len(units[0])])
    to_arrow(columns, ARROW_FIELDS)
    first = time.perf_counter() - begun
    rows = len(decode(buffer, bounds))
    return {
        "numba": IS_COMPILED,
        "first": first,
        "bytes": len(buffer) / rows,
        "decode": rows / best_seconds(lambda: decode(buffer, bounds)),
        "arrow": rows / best_seconds(lambda: to_arrow(decode(buffer, bounds), ARROW_FIELDS)),
    }


def in_process(what: str, path: Path | str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, __file__, "--measure", what]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(result.stdout or "{}")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of columnar decode.")
    parser.add_argument("--compiled", metavar="FOLDER", default="")
    parser.add_argument("--measure", choices=("scalar", "columnar"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure = measure_scalar if arguments.measure == "scalar" else measure_columnar
        print(json.dumps(measure()))
        return
    plain, compiled, columnar = [], [], []
    for _ in range(3):
        plain.append(in_process("scalar", ROOT / "src"))
        compiled.append(in_process("scalar", arguments.compiled))
        columnar.append(in_process("columnar", ROOT / "src"))
    if not all(run.get("numba") for run in columnar):
        sys.exit("columnar needs Numba and pyarrow: pip install 'zenlake[lake]'")
    base = max(run["rate"] for run in plain)
    report("scalar, plain Python", base, base)
    if all(run.get("compiled") for run in compiled):
        report("scalar, compiled", max(run["rate"] for run in compiled), base)
    report("columns", max(run["decode"] for run in columnar), base)
    report("columns and Arrow", max(run["arrow"] for run in columnar), base)
    first, later = columnar[0]["first"], min(run["first"] for run in columnar)
    print(f"first call {first:.1f} s, from the cache {later:.2f} s")
    print(f"{columnar[0]['bytes']:.0f} bytes a row")


def report(what: str, rate: float, base: float) -> None:
    print(f"{what:<22} {rate:>12,.0f} messages/s {rate / base:>7.1f}x")


if __name__ == "__main__":
    main()
