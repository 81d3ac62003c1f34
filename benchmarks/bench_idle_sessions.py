"""Memory, threads and processor time of a router with thousands of idle sessions.

    python benchmarks/bench_idle_sessions.py [--sessions 10000] [--secs 10]

Sockets of this process open sessions with a router in another one and then send nothing but
KEEP_ALIVE, four for each lease of 10 s as deployed nodes do. Both processes need as many open files
as there are sessions (`ulimit -n`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

from bench_router import RawSession
from processes import cpu_seconds, resident_bytes

from zenlake.wire.framing import frame_batch

KEEP_ALIVE = frame_batch(b"\x04")
KEEP_ALIVE_S = 2.5
IN_A_ROW = 40
"""KEEP_ALIVEs that are sent before the clock is looked at."""
ROUTER = """
import json, sys, zenlake
config = zenlake.Config()
for path, value in json.loads(sys.argv[1]).items():
    config.insert_json5(path, json.dumps(value))
with zenlake.open(config) as session:
    print("ready", flush=True)
    sys.stdin.read()
"""


class Router:
    """A process with a router; measures its memory, threads and processor time."""

    def __init__(self, port: int, sessions: int) -> None:
        settings = {
            "mode": "router",
            "listen/endpoints": [f"tcp/127.0.0.1:{port}"],
            "scouting/multicast/enabled": False,
            "transport/unicast/max_sessions": 2 * sessions,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", ROUTER, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def resident_bytes(self) -> int:
        return resident_bytes(self._process.pid)

    def cpu_s(self) -> float:
        return cpu_seconds(self._process.pid)

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self._process.pid}/task"))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def stay_alive(sessions: list[RawSession], seconds: float) -> int:
    """Sends KEEP_ALIVEs, spread over time; returns their number."""
    sent = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        for session in sessions:
            session.socket.sendall(KEEP_ALIVE)
            sent += 1
            if sent % IN_A_ROW == 0:
                due = began + KEEP_ALIVE_S * (sent % len(sessions)) / len(sessions)
                time.sleep(max(0.0, due - time.monotonic()))
        time.sleep(max(0.0, began + KEEP_ALIVE_S - time.monotonic()))
    return sent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--secs", type=float, default=10.0)
    parser.add_argument("--port", type=int, default=17_447)
    arguments = parser.parse_args()
    router = Router(arguments.port, arguments.sessions)
    try:
        before, cpu_s, began = router.resident_bytes(), router.cpu_s(), time.monotonic()
        endpoint = f"tcp/127.0.0.1:{arguments.port}"
        sessions = [RawSession(endpoint) for _ in range(arguments.sessions)]
        took_s = time.monotonic() - began
        opening_us = (router.cpu_s() - cpu_s) / len(sessions) * 1e6
        print(
            f"{len(sessions):,} sessions opened in {took_s:.1f} s, {opening_us:,.0f} us of CPU each"
        )
        stay_alive(sessions, KEEP_ALIVE_S)  # until the readers have handed over idle links
        cpu_s, began = router.cpu_s(), time.monotonic()
        sent = stay_alive(sessions, arguments.secs)
        took_s = time.monotonic() - began
        share = (router.cpu_s() - cpu_s) / took_s
        each = (router.resident_bytes() - before) / len(sessions)
        print(
            f"idle: {each / 1000:.1f} kB a session, {share:.2f} of a core with {sent / took_s:,.0f}"
            f" keep-alives a second, {router.threads()} threads"
        )
    finally:
        router.end()


if __name__ == "__main__":
    main()
