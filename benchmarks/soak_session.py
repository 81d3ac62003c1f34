"""Measures whether the memory of a session grows under load.

    python benchmarks/soak_session.py [--secs 60] [--only 8B get-64 ...]

The cases of `bench_session.py`, one after the other, each for `--secs`, with zenlake's nodes and a
router of eclipse-zenoh. Memory in use is read every half second from both processes. The memory
after a tenth of the time is compared with that at the end.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time

from bench_session import CASES, OURS, THEIRS, Case, Node, router
from processes import free_endpoint, resident_bytes

EVERY_SECS = 0.5
MIB = 1 << 20


def soak(case: Case, seconds: float) -> list[list[int]]:
    """Memory in bytes, every half second, of the acting and the answering node."""
    endpoint = free_endpoint()
    with Node(THEIRS, router, endpoint, case) as middle:
        middle.act()
        nodes = [Node(OURS, role, endpoint, case) for role in case.roles]
        with nodes[0] as active, nodes[1] as passive:
            active.act(0.2)
            acting = threading.Thread(target=active.act, args=(seconds,))
            acting.start()
            sizes: list[list[int]] = [[], []]
            while acting.is_alive():
                for node, found in zip((active, passive), sizes, strict=True):
                    found.append(resident_bytes(node.pid))
                time.sleep(EVERY_SECS)
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory of sessions under load.")
    parser.add_argument("--secs", type=float, default=60.0, help="for every case")
    names = [case.name for case in CASES]
    parser.add_argument("--only", nargs="+", metavar="CASE", choices=names, default=names)
    arguments = parser.parse_args()
    print(f"{'':24}{'early, MiB':>12}{'late, MiB':>12}{'most, MiB':>12}", flush=True)
    for case in CASES:
        if case.name not in arguments.only:
            continue
        for role, sizes in zip(case.roles, soak(case, arguments.secs), strict=True):
            tenth = max(1, len(sizes) // 10)
            early = statistics.median(sizes[tenth : 2 * tenth] or sizes)
            late = statistics.median(sizes[-tenth:])
            figures = "".join(f"{size / MIB:>12.1f}" for size in (early, late, max(sizes)))
            print(f"{case.name + ', ' + role.__name__:<24}{figures}", flush=True)


if __name__ == "__main__":
    main()
