"""How old traffic is when `zenlake sql` sees it: router, recorder and follower on this machine.

    python benchmarks/bench_follow.py [--secs 40] [--rate 20000]

`zenlake up` runs; a publisher of eclipse-zenoh sends half of `rate` samples a second, each with its
time as payload, and a subscriber gets them: the router receives and sends `rate` messages a second,
and each is a row. After a warm-up, a version of the lake is looked at every half second: the
age of a sample is the time between sending it and the first look that finds it in `samples`.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from zenlake._compiled import is_compiled

WARM_UP_S = 10.0
LOOK_S = 0.5

PUBLISHER = """
import sys, time, zenoh
config = zenoh.Config()
config.insert_json5("mode", '"client"')
config.insert_json5("connect/endpoints", '["' + sys.argv[1] + '"]')
rate, until = int(sys.argv[2]), time.time() + float(sys.argv[3])
with zenoh.open(config) as session, zenoh.open(config) as other:
    # Without a subscriber the publisher sends nothing.
    subscriber = other.declare_subscriber("bench/follow", lambda sample: None)
    time.sleep(1)
    publisher = session.declare_publisher("bench/follow")
    number, began = 0, time.time()
    while time.time() < until:
        for _ in range(rate // 100):
            publisher.put(str(time.time_ns()))
        number += rate // 100
        time.sleep(max(0.0, began + number / rate - time.time()))
    print(number)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--secs", type=float, default=40.0)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--every", default="3")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        _run(args, Path(name))


def _run(args: argparse.Namespace, folder: Path) -> None:
    lake = folder / "live.lake"
    endpoint = "tcp/127.0.0.1:17447"
    command = ["up", "--lake", str(lake), "--record", str(folder / "live.recording")]
    options = ["-l", endpoint, "--no-multicast-scouting", "--port", "0", "--every", args.every]
    up = subprocess.Popen(
        [sys.executable, "-m", "zenlake", *command, *options, "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert up.stdout is not None
        time.sleep(WARM_UP_S)
        publisher = subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, endpoint, str(args.rate // 2), str(args.secs)],
            stdout=subprocess.PIPE,
            text=True,
        )
        ages = _ages(lake, publisher)
        sent = int(publisher.communicate()[0] or 0)
    finally:
        up.send_signal(signal.SIGINT)
        up.wait()
    ages.sort()
    found = {
        "compiled": is_compiled(),
        "rate": args.rate,
        "sent": sent,
        "versions": len(ages),
        "p50_s": round(ages[len(ages) // 2], 2),
        "p95_s": round(ages[int(len(ages) * 0.95)], 2),
        "max_s": round(ages[-1], 2),
        "rows_after_the_end": _newest(lake)[1],
    }
    print(json.dumps(found))


def _ages(lake: Path, publisher: subprocess.Popen[str]) -> list[float]:
    """Just before a version is replaced, its newest sample is oldest: the worst case each time."""
    ages: list[float] = []
    last = -1
    while publisher.poll() is None:
        newest, _ = _newest(lake)
        if newest < 0:
            time.sleep(LOOK_S)
            continue
        age = time.time() - newest / 1e9
        if newest != last:
            last = newest
            ages.append(age)
        else:
            ages[-1] = max(ages[-1], age)
        time.sleep(LOOK_S)
    return ages


def _newest(lake: Path) -> tuple[int, int]:
    """The time at which the newest sample in the lake was sent, and the number of samples."""
    import duckdb

    from zenlake.lake.errors import LakeError
    from zenlake.lake.publish import Store

    try:
        files = [str(file) for file in Store(lake).files("samples")]
    except LakeError:
        return -1, 0
    row = duckdb.execute(
        "SELECT max(CAST(CAST(payload AS VARCHAR) AS BIGINT)), count(*) "
        f"FROM read_parquet({files}) WHERE key = 'bench/follow'"
    ).fetchone()
    return (-1, 0) if row is None or row[0] is None else (int(row[0]), int(row[1]))


if __name__ == "__main__":
    main()
