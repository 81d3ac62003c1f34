"""Rates, latencies and processor time of sessions of zenlake and of eclipse-zenoh.

    python benchmarks/bench_session.py [--rounds 5] [--secs 0.8] [--only 8B ping ...]

Both run the same code alternately, with another order every round, so that a busy machine slows
both: compare the ratios. Every node is a separate process, started for every measurement: two
clients that communicate through a router of eclipse-zenoh over TCP on loopback.

- `8B`, `1KiB`, `64KiB`: a publisher puts as fast as congestion control (BLOCK) allows, and a
  callback counts samples; in `8B` it also reads key and payload. The rate is that of samples
  received.
- `ping`: round trips of 8 bytes, express, one at a time.
- `get-1`, `get-64`: 1 or 64 queries are open at a time, each answered by one reply of 8 bytes.

Processor time is that of all threads of a process, per million samples, round trips or replies.
Nodes of eclipse-zenoh transfer large payloads in shared memory by default; `64KiB-tcp` sets
`transport/shared_memory/enabled` to false on every node, so that both send the same bytes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import statistics
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection
from typing import Any

from processes import free_endpoint

OURS, THEIRS = "zenlake", "zenoh"
KEY, BACK = "bench/session/there", "bench/session/back"
WARM_UP_SECS = 0.2
WAIT_SECS = 20.0
"""The time for a node to answer, beyond the duration of the measurement."""
STALLED_SECS = 5.0
"""A subscriber that gets no sample for so long counts the missing ones as lost."""
CHUNK = 16
"""Samples between two looks at the clock."""

now = time.perf_counter  # one clock for all processes

Report = dict[str, float]
Act = Callable[[float], Report]
"""Runs for so many seconds, if any, and returns its figures."""
Role = Callable[[Any, Any, "Case"], Act]
"""Declares on the session of a module; returns when the counterpart is there."""


@dataclass(frozen=True)
class Case:
    name: str
    roles: tuple[Role, Role]
    """The process that acts, and the process that answers."""
    size: int = 8
    reads: bool = False
    outstanding: int = 1
    shared_memory: bool = True


# Code for the processes of the nodes. `zenoh` is either module: they have the same API.


def matched_publisher(zenoh: Any, session: Any, key: str, express: bool = False) -> Any:
    block = zenoh.CongestionControl.BLOCK
    made = session.declare_publisher(key, congestion_control=block, express=express)
    while not made.matching_status.matching:
        time.sleep(0.01)
    return made


def round_trips(start: Callable[[], Any], finish: Callable[[Any], None], outstanding: int) -> Act:
    def act(seconds: float) -> Report:
        waiting: deque[tuple[float, Any]] = deque()
        times = []
        begun = now()
        while (more := now() < begun + seconds) or waiting:
            while more and len(waiting) < outstanding:
                waiting.append((now(), start()))
            since, started = waiting.popleft()
            finish(started)
            times.append(now() - since)
        rate = len(times) / (now() - begun)
        p50, p99 = statistics.quantiles(times, n=100)[49::49] if len(times) > 1 else (0, 0)
        return {"count": len(times), "rate": rate, "p50": p50, "p99": p99}

    return act


def router(zenoh: Any, session: Any, case: Case) -> Act:
    return lambda seconds: {}


def repeated_puts(put: Callable[[Any], object], payload: Any, in_a_row: int) -> Act:
    sent = 0

    def act(seconds: float) -> Report:
        nonlocal sent
        begun = now()
        while now() < begun + seconds:
            for _ in range(in_a_row):
                put(payload)
            sent += in_a_row
        return {"count": sent, "begun": begun}

    return act


def publisher(zenoh: Any, session: Any, case: Case) -> Act:
    return repeated_puts(matched_publisher(zenoh, session, KEY).put, bytes(case.size), CHUNK)


def subscriber(zenoh: Any, session: Any, case: Case) -> Act:
    reads = case.reads
    count = timed = 0
    at = 0.0

    def on_sample(sample: Any) -> None:
        nonlocal count, timed, at
        if reads:
            str(sample.key_expr)
            sample.payload.to_bytes()
        count += 1
        if not count % CHUNK:
            timed, at = count, now()

    session.declare_subscriber(KEY, on_sample)
    return lambda seconds: {"count": count, "timed": timed, "at": at}


def ping(zenoh: Any, session: Any, case: Case) -> Act:
    receive = session.declare_subscriber(BACK).recv
    put = matched_publisher(zenoh, session, KEY, express=True).put
    payload = bytes(case.size)
    return round_trips(lambda: put(payload), lambda _: receive(), case.outstanding)


def pong(zenoh: Any, session: Any, case: Case) -> Act:
    put = matched_publisher(zenoh, session, BACK, express=True).put
    session.declare_subscriber(KEY, lambda sample: put(sample.payload))
    return lambda seconds: {}


def querier(zenoh: Any, session: Any, case: Case) -> Act:
    def finish(replies: Any) -> None:
        if [reply.ok is not None for reply in replies] != [True]:
            raise RuntimeError("a query without its one reply")

    while not list(session.get(KEY)):
        time.sleep(0.01)
    return round_trips(lambda: session.get(KEY), finish, case.outstanding)


def queryable(zenoh: Any, session: Any, case: Case) -> Act:
    payload = bytes(case.size)

    def on_query(query: Any) -> None:
        with query:
            query.reply(KEY, payload)

    session.declare_queryable(KEY, on_query)
    return lambda seconds: {}


def run_node(connection: Connection, module: str, role: Role, endpoint: str, case: Case) -> None:
    zenoh = importlib.import_module(module)
    config = zenoh.Config()
    config.insert_json5("mode", '"router"' if role is router else '"client"')
    direction = "listen" if role is router else "connect"
    config.insert_json5(f"{direction}/endpoints", json.dumps([endpoint]))
    config.insert_json5("scouting/multicast/enabled", "false")
    if not case.shared_memory:
        config.insert_json5("transport/shared_memory/enabled", "false")
    with zenoh.open(config) as session:
        act = role(zenoh, session, case)
        while (seconds := connection.recv()) is not None:
            connection.send({**act(seconds), "cpu": time.process_time()})


# Code for the process that measures.

PUBSUB = (publisher, subscriber)
CASES = (
    Case("8B", PUBSUB, reads=True),
    Case("1KiB", PUBSUB, 1 << 10),
    Case("64KiB", PUBSUB, 64 << 10),
    Case("64KiB-tcp", PUBSUB, 64 << 10, shared_memory=False),
    Case("ping", (ping, pong)),
    Case("get-1", (querier, queryable)),
    Case("get-64", (querier, queryable), outstanding=64),
)


class Node:
    """A process with one session; leaving the context ends it."""

    def __init__(self, module: str, role: Role, endpoint: str, case: Case) -> None:
        self._start(run_node, module, role, endpoint, case)

    def _start(self, run: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far_end = context.Pipe()
        self._process = context.Process(target=run, args=(far_end, *arguments), daemon=True)
        self._process.start()
        far_end.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def act(self, seconds: float = 0) -> Report:
        """Runs the node for `seconds`, once it has found its counterpart; returns its report."""
        self._connection.send(seconds)
        if not self._connection.poll(seconds + WAIT_SECS):
            raise TimeoutError("a node does not answer")
        report: Report = self._connection.recv()
        return report

    def report_when_received(self, expected: float) -> Report:
        """The report of a subscriber that has received all samples, or receives no more."""
        report, since = self.act(), now()
        while report.get("count", expected) < expected and now() < since + STALLED_SECS:
            time.sleep(0.02)
            before, report = report, self.act()
            if report["count"] > before["count"]:
                since = now()
        return report

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *raised: object) -> None:
        if raised[0] is None:
            self._connection.send(None)
            self._process.join(WAIT_SECS)
        self._process.kill()
        self._process.join()


def measure(module: str, case: Case, endpoint: str, seconds: float) -> Report:
    nodes = [Node(module, role, endpoint, case) for role in case.roles]
    with nodes[0] as active, nodes[1] as passive:
        ready = passive.report_when_received(active.act(WARM_UP_SECS)["count"])
        early = active.act()["cpu"], ready["cpu"]
        result = active.act(seconds)
        done = passive.report_when_received(result["count"])
        late = active.act()["cpu"], done["cpu"]
    if case.roles == PUBSUB:
        count = done["count"] - ready["count"]
        rate = (done["timed"] - ready["count"]) / (done["at"] - result["begun"])
        report = {"received, 1/s": rate, "lost": result["count"] - done["count"]}
    else:
        count = result["count"]
        report = {"done, 1/s": result["rate"]}
        report |= {f"{name}, us": result[name] * 1e6 for name in ("p50", "p99")}
    for role, before, after in zip(case.roles, early, late, strict=True):
        report[f"{role.__name__}, CPU s/million"] = (after - before) / count * 1e6
    return report


def measure_both(case: Case, seconds: float, order: list[str]) -> dict[str, Report]:
    endpoint = free_endpoint()
    with Node(THEIRS, router, endpoint, case) as node:
        node.act()
        return {module: measure(module, case, endpoint, seconds) for module in order}


def row(figure: str, ours: float, theirs: float) -> str:
    digits = 0 if max(ours, theirs) >= 1000 else 2
    ratio = f"{ours / theirs:8.2f}x" if theirs else ""
    return f"{figure:<28}{ours:>14,.{digits}f}{theirs:>14,.{digits}f}{ratio}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of sessions, beside eclipse-zenoh's.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=float, default=0.8, help="for every measurement")
    names = [case.name for case in CASES]
    parser.add_argument("--only", nargs="+", metavar="CASE", choices=names, default=names)
    arguments = parser.parse_args()
    from zenlake._compiled import is_compiled

    kind = "compiled" if is_compiled() else "plain"
    print(f"zenlake {kind}, eclipse-zenoh {version('eclipse-zenoh')}")
    print(f"{'':28}{'zenlake':>14}{'eclipse-zenoh':>14}    ratio", flush=True)
    cases = [case for case in CASES if case.name in arguments.only]
    results: dict[Case, list[dict[str, Report]]] = {case: [] for case in cases}
    for number in range(arguments.rounds):
        for case in cases:
            order = [THEIRS, OURS] if number % 2 else [OURS, THEIRS]
            reports = measure_both(case, arguments.secs, order)
            results[case].append(reports)
            rates = (next(iter(reports[module].values())) for module in (OURS, THEIRS))
            print(row(f"round {number + 1}, {case.name}, 1/s", *rates), flush=True)
    print("medians")
    for case, rounds in results.items():
        print(case.name)
        for figure in rounds[0][OURS]:
            values = [[reports[module][figure] for reports in rounds] for module in (OURS, THEIRS)]
            if figure != "lost":
                print(row(f"  {figure}", *map(statistics.median, values)))
            elif any(map(any, values)):
                print(row("  lost at most", *map(max, values)))


if __name__ == "__main__":
    main()
