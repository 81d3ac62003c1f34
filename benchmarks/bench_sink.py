"""Rows a second from Spark through a router into a subscriber: `df.write.format("zenoh")`.

    python benchmarks/bench_sink.py [--rows 1000000] [--master 'local[2]'] [--keys 100]

The router and the subscriber, which counts, are processes of their own. The time is that of
`save()`, with a warm session; a task ends when the router has received its rows.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import time

from zenlake._compiled import is_compiled
from zenlake.lake.spark import session

NODE = """
import json, sys, threading
import zenlake as zenoh
settings, goal = json.loads(sys.argv[1]), int(sys.argv[2])
config = zenoh.Config()
for path, value in settings.items():
    config.insert_json5(path, json.dumps(value))
done, count = threading.Event(), 0
def receive(sample):
    global count
    count += 1
    if count == goal:
        done.set()
with zenoh.open(config) as session:
    if goal:
        session.declare_subscriber("bench/**", zenoh.handlers.Callback(receive, indirect=False))
        list(session.get("bench_ready"))
    print("ready", flush=True)
    if goal:
        print(done.wait(300) and count, flush=True)
    else:
        sys.stdin.read()
"""


def start(goal: int, **settings: object) -> subprocess.Popen[str]:
    given: dict[str, object] = {"scouting/multicast/enabled": False}
    given |= {name.replace("__", "/"): value for name, value in settings.items()}
    command = [sys.executable, "-c", NODE, json.dumps(given), str(goal)]
    made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert made.stdout is not None
    assert made.stdout.readline() == "ready\n"
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--keys", type=int, default=100)
    arguments = parser.parse_args()
    rows = arguments.rows
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"tcp/127.0.0.1:{free.getsockname()[1]}"
    router = start(0, mode="router", listen__endpoints=[endpoint])
    spark = session(arguments.master)
    build = "compiled" if is_compiled() else "plain"
    print(f"{build}, {arguments.master}, {rows:,} rows, {arguments.keys} keys", flush=True)

    def write(count: int, size: int) -> float:
        numbers = spark.range(count)
        key = f"concat('bench/', id % {arguments.keys}) AS key"
        frame = numbers.selectExpr(key, f"repeat('x', {size}) AS value")
        begun = time.perf_counter()
        frame.write.format("zenoh").option("connect", endpoint).mode("append").save()
        return time.perf_counter() - begun

    write(1_000, 8)
    for size in (8, 1024):
        subscriber = start(rows, mode="client", connect__endpoints=[endpoint])
        seconds = write(rows, size)
        assert subscriber.stdout is not None
        received = subscriber.stdout.readline().strip()
        print(f"{size:5} B  {seconds:6.1f} s  {rows / seconds:9,.0f} rows/s  received {received}")
        subscriber.communicate()
    spark.stop()
    router.communicate()


if __name__ == "__main__":
    main()
