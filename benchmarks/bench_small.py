"""Time of `zenlake pipeline` for small inputs, from the start of the process to its end.

    python benchmarks/bench_small.py [--rounds 3]

One capture of 355 kB; the captures of the tests; 500 captures of 15 kB, which are copies of one
with other keys, ids and times. The first run of a machine also makes the class-data archive of
Java and compiles the kernels, so that it is not measured.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_decode import CAPTURES
from make_capture import make

from zenlake._compiled import is_compiled

ONE = "queries.pcapng.gz"
COPIED = "cooked_v2.pcapng"
COPIES = 500


def copies(folder: Path) -> Path:
    """A folder with many small captures."""
    folder.mkdir()
    for seed in range(COPIES):
        wanted = {"inputs": [str(CAPTURES / COPIED)], "bytes": None, "copies": 1, "seed": seed}
        make(argparse.Namespace(**wanted, output=str(folder / f"{seed:03}.pcapng")))
    return folder


def seconds_of(captures: Path, lake: Path) -> float:
    command = [
        sys.executable,
        "-m",
        "zenlake",
        "pipeline",
        str(captures),
        "--lake",
        str(lake),
        "-q",
    ]
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print("compiled" if is_compiled() else "plain Python", sys.version.split()[0], flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        one = folder / "one.pcapng"
        one.write_bytes(gzip.decompress((CAPTURES / ONE).read_bytes()))
        cases = {
            f"one capture of {one.stat().st_size // 1000} kB": one,
            "the captures of the tests": CAPTURES,
            f"{COPIES} captures of 15 kB": copies(folder / "copies"),
        }
        seconds_of(one, folder / "first.lake")
        for number, (title, captures) in enumerate(cases.items()):
            took = [seconds_of(captures, folder / f"{number}-{n}.lake") for n in range(rounds)]
            runs = ", ".join(f"{one:.2f}" for one in took)
            print(f"{title:<28} median {statistics.median(took):6.2f} s   ({runs})", flush=True)


if __name__ == "__main__":
    main()
