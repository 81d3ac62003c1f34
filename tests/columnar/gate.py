"""The full comparison: a million mutated units and every capture, row by row.

python -m tests.columnar.gate [--inputs 1000000] [--seed 0]
"""

from __future__ import annotations

import argparse
import time
from itertools import islice

from tests.columnar.comparison import compare
from tests.columnar.inputs import (
    capture_inputs,
    capture_paths,
    drawn_inputs,
    mutated,
    vector_inputs,
)
from zenlake.columnar.jit import IS_COMPILED

_AT_ONCE = 2_000
_SEED_BYTES_MAX = 2_000
"""Longer units are not mutated: mutations of short ones find the same defects."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Columns against the scalar decoder.")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("compiled by Numba" if IS_COMPILED else "plain Python")
    begun = time.perf_counter()
    seeds = vector_inputs() + drawn_inputs(3_000)
    print(f"drawn and written by hand: {len(seeds):,} units, {compare(seeds):,} rows")
    units = rows = 0
    for path in capture_paths():
        inputs = capture_inputs(path)
        units += len(inputs)
        rows += compare(inputs)
        seeds += [one for one in inputs if len(one[0]) <= _SEED_BYTES_MAX][:200]
    print(f"captures: {units:,} units, {rows:,} rows")
    source = mutated(seeds, arguments.inputs, arguments.seed)
    done = rows = 0
    while inputs := list(islice(source, _AT_ONCE)):
        rows += compare(inputs)
        done += len(inputs)
        if done % 100_000 == 0:
            print(f"mutated: {done:,} units, {rows:,} rows", flush=True)
    print(f"{done:,} mutated units, {rows:,} rows: equal, {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
