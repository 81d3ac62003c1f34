"""Throughput as in the usual example programs: a prebuilt payload, and a callback that counts.

    python benchmarks/bench_thr.py [--rounds 5] [--secs 1.5] [--sizes 8 1024] [--busy 0 2]

A publisher (congestion control BLOCK) puts the same `ZBytes` in a loop, a router of eclipse-zenoh
forwards it, and a callable counts samples and reads the clock once per window. Publisher and
subscriber are each of either package, which shows the share of each; the four pairs alternate, in
another order every round. `--busy N` also runs N processes that only use processor time.

The rate is that of samples received. Processor time is that of all threads of a process, per
message; unlike the rate it hardly depends on other load of the machine.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from bench_session import (
    KEY,
    OURS,
    THEIRS,
    Act,
    Case,
    Node,
    Report,
    matched_publisher,
    now,
    repeated_puts,
    router,
)
from processes import free_endpoint

WINDOW = 1_000
"""Samples between two looks at the clock."""
WARM_UP_SECS = 0.3
PAIRS = ((OURS, OURS), (OURS, THEIRS), (THEIRS, OURS), (THEIRS, THEIRS))
"""Publisher and subscriber."""


# Code for the processes of the nodes.


def publisher(zenoh: Any, session: Any, case: Case) -> Act:
    payload = zenoh.ZBytes(bytes(index % 10 for index in range(case.size)))
    return repeated_puts(matched_publisher(zenoh, session, KEY).put, payload, 100)


def subscriber(zenoh: Any, session: Any, case: Case) -> Act:
    count = in_window = 0
    ends: list[float] = []

    def on_sample(sample: Any) -> None:
        nonlocal count, in_window
        in_window += 1
        if in_window == WINDOW:
            count += in_window
            in_window = 0
            ends.append(now())

    def act(seconds: float) -> Report:
        rate = (len(ends) - 1) * WINDOW / (ends[-1] - ends[0]) if len(ends) > 1 else 0.0
        if seconds:  # samples received before do not count
            ends.clear()
        return {"count": count + in_window, "rate": rate}

    session.declare_subscriber(KEY, on_sample)
    return act


def use_a_core() -> None:
    while True:
        pass


# Code for the process that measures.


def measure(pair: tuple[str, str], case: Case, seconds: float) -> Report:
    endpoint = free_endpoint()
    with Node(THEIRS, router, endpoint, case) as forwarder:
        forwarder.act()
        nodes = (
            Node(pair[0], publisher, endpoint, case),
            Node(pair[1], subscriber, endpoint, case),
        )
        with nodes[0] as sending, nodes[1] as receiving:
            receiving.report_when_received(sending.act(WARM_UP_SECS)["count"])
            before = sending.act(), receiving.act(1)
            receiving.report_when_received(sending.act(seconds)["count"])
            after = sending.act(), receiving.act()
    sent = after[0]["count"] - before[0]["count"]
    received = after[1]["count"] - before[1]["count"]
    if sent != received:
        raise RuntimeError(f"{pair}: {sent:.0f} messages sent, {received:.0f} received")
    return {
        "rate, 1/s": after[1]["rate"],
        "publisher, CPU us": (after[0]["cpu"] - before[0]["cpu"]) / sent * 1e6,
        "subscriber, CPU us": (after[1]["cpu"] - before[1]["cpu"]) / received * 1e6,
    }


@contextmanager
def busy(count: int) -> Iterator[None]:
    spinning = [multiprocessing.Process(target=use_a_core, daemon=True) for _ in range(count)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.join()


def print_table(title: str, rounds: list[dict[tuple[str, str], Report]]) -> None:
    print(title)
    for figure in rounds[0][PAIRS[0]]:
        of_pair = {pair: statistics.median(one[pair][figure] for one in rounds) for pair in PAIRS}
        theirs = of_pair[THEIRS, THEIRS]
        digits = 0 if theirs >= 1000 else 3
        cells = [f"{value:>12,.{digits}f} {value / theirs:5.2f}x" for value in of_pair.values()]
        print(f"  {figure:<20}" + "".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Throughput programs, beside eclipse-zenoh's.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=float, default=1.5, help="for every measurement")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 1024], help="payload bytes")
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 2], help="other processes")
    arguments = parser.parse_args()
    from zenlake._compiled import is_compiled

    kind = "compiled" if is_compiled() else "plain"
    print(f"zenlake {kind}, eclipse-zenoh {version('eclipse-zenoh')}")
    print("medians, and their ratio to eclipse-zenoh with itself; publisher > subscriber")
    print(" " * 22 + "".join(f"{f'{sender} > {receiver}':>19}" for sender, receiver in PAIRS))
    for size in arguments.sizes:
        for others in arguments.busy:
            rounds: list[dict[tuple[str, str], Report]] = []
            with busy(others):
                for number in range(arguments.rounds):
                    order = PAIRS[number % 4 :] + PAIRS[: number % 4]
                    case = Case("thr", (publisher, subscriber), size)
                    rounds.append({pair: measure(pair, case, arguments.secs) for pair in order})
            print_table(f"{size} B, {others} other busy processes", rounds)


if __name__ == "__main__":
    main()
