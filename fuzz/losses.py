"""Captures with packets missing, cut or begun late: `python fuzz/losses.py CAPTURE...`.

A trace may not report anything that the complete capture does not have, and must find batches
again soon after each gap. Prints how many batches were lost beyond those with missing bytes.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.capture.capture_file import load
from tests.trace.damage import DAMAGES, Read, read
from tests.trace.truth import Truth

BATCHES_ASKED = 10


def main() -> int:
    parser = argparse.ArgumentParser(description="Losses in captures, and what traces report.")
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    lost: dict[str, list[int]] = {kind: [] for kind in DAMAGES}
    runs = invented = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.captures:
            whole, truth = load(path), Truth(Read(path))
            sizes = {packet.number: len(packet.data) for packet in whole}
            for kind, damage in DAMAGES.items():
                for seed in range(arguments.seeds):
                    damaged = damage(random.Random(seed), whole)
                    if not damaged:
                        continue
                    runs += 1
                    found = read(Path(folder), damaged)
                    wrong = truth.invented(found)
                    invented += bool(wrong)
                    if wrong:
                        print(f"{path.name}, {kind}, seed {seed}: {wrong[0]}")
                    kept = {one.number for one in damaged if len(one.data) == sizes[one.number]}
                    lost[kind] += truth.lost_after(found, kept)
    for kind, counts in lost.items():
        far = sum(count > BATCHES_ASKED for count in counts)
        mean = sum(counts) / max(len(counts), 1)
        most = max(counts, default=0)
        said = f"lost {mean:.2f} on average, {most} at most, {far} more than {BATCHES_ASKED}"
        print(f"{kind:<14} {len(counts):>6} holes, {said}")
    print(f"{runs} runs, {invented} reported something that is not there")
    return 1 if invented else 0


if __name__ == "__main__":
    sys.exit(main())
