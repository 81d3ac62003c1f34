"""A router that records and one that does not, side by side: what a recording costs.

    python benchmarks/bench_tap.py [--rounds 5] [--secs 2.0] [--size 8] [--folder DIR]

Both are `zenlake router`; the clients are sockets that send the same full batches repeatedly and
count the bytes that arrive (bench_router.py). Every round measures both, in another order. The
share of packets in the recording and the bytes that it received per second are printed as well.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_router import RawCase, RawNode
from bench_session import WARM_UP_SECS, Report
from processes import cpu_seconds

from zenlake._compiled import is_compiled
from zenlake.capture.recordings import segments
from zenlake.recording.segment_scan import scan_segment


class Router:
    """The command, with or without a recording."""

    def __init__(self, folder: Path | None) -> None:
        command = [sys.executable, "-m", "zenlake", "router", "-l", "tcp/127.0.0.1:0"]
        command.append("--no-multicast-scouting")
        if folder is not None:
            command += ["--record", str(folder)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = re.search(r"reachable at (\S+)", line)
            if found:
                self.endpoint = found[1]
                return
        raise RuntimeError("the router did not start")

    def cpu_s(self) -> float:
        return cpu_seconds(self._process.pid)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate()


def measure(case: RawCase, seconds: float, folder: Path | None) -> Report:
    router = Router(folder)
    passive = RawNode("subscribers", router.endpoint, case)
    passive.act()
    active = RawNode("publishers", router.endpoint, case)
    with active, passive:
        sent = active.act(WARM_UP_SECS)["count"]
        before = passive.report_when_received(sent)
        cpu = router.cpu_s()
        result = active.act(seconds)
        after = passive.report_when_received(result["count"])
        cpu = router.cpu_s() - cpu
    router.stop()
    received = after["count"] - before["count"]
    lasted = after["at"] - result["begun"]
    report = {"rate": received / lasted, "cpu": cpu / received * 1e6}
    if folder is not None:
        found = segments(str(folder))
        scan = scan_segment(found[-1].path)
        assert scan is not None
        size = sum(os.stat(one.path).st_size for one in found)
        report["written"] = scan.packets
        report["dropped"] = scan.dropped
        report["bytes"] = size / (lasted + WARM_UP_SECS)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=float, default=2.0)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--folder", help="where to record; a temporary folder by default")
    arguments = parser.parse_args()
    case = RawCase(f"raw-{arguments.size}", arguments.size)
    kind = "compiled" if is_compiled() else "plain"
    print(f"{kind}; payloads of {arguments.size} B, full batches, one publisher, one subscriber")
    rounds: list[tuple[Report, Report]] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        for number in range(arguments.rounds):
            folder = Path(temporary, "recording")
            if number % 2:
                without = measure(case, arguments.secs, None)
                tapped = measure(case, arguments.secs, folder)
            else:
                tapped = measure(case, arguments.secs, folder)
                without = measure(case, arguments.secs, None)
            shutil.rmtree(folder)
            rounds.append((without, tapped))
            share = tapped["written"] / (tapped["written"] + tapped["dropped"])
            print(
                f"round {number + 1}: {without['rate']:,.0f} messages/s without,"
                f" {tapped['rate']:,.0f} with a recording ({tapped['rate'] / without['rate']:.3f});"
                f" {share:.1%} of {tapped['written'] + tapped['dropped']:,} packets recorded,"
                f" {tapped['bytes'] / 1e6:,.0f} MB/s;"
                f" router CPU {without['cpu']:.2f} and {tapped['cpu']:.2f} us/message",
                flush=True,
            )
    ratio = statistics.median(tapped["rate"] / without["rate"] for without, tapped in rounds)
    print(f"median ratio {ratio:.3f}: the recording costs {1 - ratio:.1%} of the throughput")


if __name__ == "__main__":
    main()
