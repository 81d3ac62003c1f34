"""Byte errors over captures (P02): `python fuzz/byte_errors.py CAPTURE...`.

Every capture is read with wrong bytes at several rates and with many seeds, both in the whole
file and in payloads of TCP and UDP only. The table shows for each capture the time of the slowest
run relative to the clean capture. No exception but CaptureError may be raised.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from math import inf
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.trace.byte_errors import RATES, damaged_file, damaged_payloads, plain_content, time_of

FINDINGS = Path(__file__).parent / "findings"
RATIO_MAX = 2.0
MEMORY_MIB_MAX = 500


def measure(path: Path, folder: Path, seeds: int) -> tuple[float, float, str]:
    """Seconds for the clean capture, the worst ratio, and the errors that caused it."""
    content = plain_content(path)
    target = folder / "damaged"
    target.write_bytes(content)
    clean = min(time_of(target) for _ in range(5))
    worst, how = 0.0, ""
    for rate in RATES:
        for seed in range(seeds):
            for name, damage in (("file", damaged_file), ("payloads", damaged_payloads)):
                target.write_bytes(damage(content, rate, seed))
                try:
                    ratio = time_of(target) / clean
                except Exception as error:
                    kept = path.name.partition(".")[0] + f"-{name}-{rate}-{seed}.pcap"
                    (FINDINGS / kept).write_bytes(target.read_bytes())
                    print(f"{error!r}: {FINDINGS / kept}")
                    worst, how = inf, repr(error)
                    continue
                if ratio > worst:
                    # Measure again: other processes may have used the processor.
                    ratio = min(ratio, time_of(target) / clean)
                if ratio > worst:
                    worst, how = ratio, f"{name}, {rate:.1%}, seed {seed}"
    return clean, worst, how


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    FINDINGS.mkdir(exist_ok=True)
    runs, slowest = 0, 0.0
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        for path in args.captures:
            clean, worst, how = measure(path, Path(folder), args.seeds)
            runs += 2 * args.seeds * len(RATES)
            slowest = max(slowest, worst)
            print(
                f"{path.name:32} clean {clean * 1e3:8.1f} ms, worst {worst:6.2f} x ({how})",
                flush=True,
            )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{len(args.captures)} captures x {args.seeds} seeds x {len(RATES)} rates x 2: {runs} runs,"
        f" slowest {slowest:.2f} x clean time, peak {memory} MiB"
    )
    return 0 if slowest < RATIO_MAX and memory < MEMORY_MIB_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
