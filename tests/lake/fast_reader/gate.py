"""Compares both readers on thousands of damaged captures.

python -m tests.lake.fast_reader.gate [--inputs 5000] [--seed 0] [--captures low]

With NUMBA_BOUNDSCHECK=1 (and a separate NUMBA_CACHE_DIR) kernels check every index they use.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.lake.fast_reader.captures import PATHS, plain
from tests.lake.fast_reader.comparison import compare
from tests.lake.fast_reader.mutations import load, mutated_bytes, mutated_packets, store
from zenlake.lake.fast_reader import Refusal, survey

_CAPTURE_BYTES_MAX = 300_000
"""Larger captures are slow and find nothing that smaller ones do not."""


def main() -> None:
    parser = argparse.ArgumentParser(description="compare the fast reader with the exact reader.")
    parser.add_argument("--inputs", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--captures", default="", help="use only captures whose names contain this text"
    )
    asked = parser.parse_args()
    began = time.monotonic()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [Path(plain(path, folder)) for path in PATHS if asked.captures in path.name]
        paths = [path for path in paths if path.stat().st_size <= _CAPTURE_BYTES_MAX]
        for index in range(asked.inputs):
            chance = random.Random(asked.seed << 32 | index)
            counts += _try(folder / "mutated", chance.choice(paths), chance)
    print(f"{asked.inputs:,} captures in {time.monotonic() - began:.0f} s")
    for word, count in counts.most_common():
        print(f"{count:9,} {word}")


def _try(target: Path, path: Path, chance: random.Random) -> Counter[str]:
    if chance.random() < 0.4:
        target.write_bytes(mutated_bytes(path.read_bytes(), chance))
    else:
        store(target, mutated_packets(load(path), chance))
    found = survey(str(target), chunk_bytes=chance.choice((1 << 12, 1 << 22)))
    if isinstance(found, Refusal):
        return Counter({f"refused: {found.cause}": 1})
    compare(str(target), found, chunk_bytes=chance.choice((1 << 12, 1 << 22)))
    return Counter({"read": 1, "pairs": len(found), "regular pairs": int(found.regular.sum())})


if __name__ == "__main__":
    main()
