"""60 MiB from one of ours through a real router to two of ours (limits: F08)."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.chance import first_seed
from tests.measuring import MIB
from tests.node_process import NodeProcess
from tests.ports import free_endpoint

pytestmark = pytest.mark.real

PAYLOAD_BYTES = 60 * MIB
PATIENCE_S = 60.0
_COMMON = r"""
import hashlib, json, pathlib, random, re, sys, time
import zenlake
config = zenlake.Config()
config.insert_json5("mode", '"client"')
config.insert_json5("connect/endpoints", f'["{sys.argv[1]}"]')
def tell(**facts):
    status = pathlib.Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024
    print(json.dumps({"at": time.monotonic(), "peak": peak, **facts}), flush=True)
"""
_SUBSCRIBER = """
with zenlake.open(config) as session:
    subscriber = session.declare_subscriber("large")
    tell()
    payload = subscriber.recv().payload.to_bytes()
    tell(sha=hashlib.sha256(payload).hexdigest(), size=len(payload))
"""
_PUBLISHER = """
payload = random.Random(int(sys.argv[2])).randbytes(int(sys.argv[3]))
with zenlake.open(config) as session:
    publisher = session.declare_publisher(
        "large", congestion_control=zenlake.CongestionControl.BLOCK
    )
    while not publisher.matching_status.matching:
        time.sleep(0.01)
    time.sleep(0.3)  # for a second subscriber, which matching does not report
    tell()
    publisher.put(payload)
tell()
"""


class Program:
    """A program on zenlake in a process of its own, which prints its facts line by line."""

    def __init__(self, text: str, *arguments: object) -> None:
        command = [sys.executable, "-c", _COMMON + text, *map(str, arguments)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        found = json.loads(self._process.stdout.readline())
        assert isinstance(found, dict)
        return found

    def end(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=PATIENCE_S)


def test_a_payload_of_60_mib_arrives_twice() -> None:
    seed = first_seed()
    payload = random.Random(seed).randbytes(PAYLOAD_BYTES)
    sha = hashlib.sha256(payload).hexdigest()
    del payload
    endpoint = free_endpoint()
    programs: list[Program] = []
    with NodeProcess("router", listen__endpoints=[endpoint]):
        try:
            subscribers = [Program(_SUBSCRIBER, endpoint) for _ in range(2)]
            programs += subscribers
            for one in subscribers:
                one.answer()
            publisher = Program(_PUBLISHER, endpoint, seed, PAYLOAD_BYTES)
            programs.append(publisher)
            began = publisher.answer()["at"]
            arrived = [one.answer() for one in subscribers]
            sent = publisher.answer()
        finally:
            for one in programs:
                one.end()
    took_s = max(one["at"] for one in arrived) - began
    peaks = [one["peak"] / MIB for one in (sent, *arrived)]
    print(f"{took_s:.2f} s; peaks of publisher and subscribers {[round(one) for one in peaks]} MiB")
    assert [(one["size"], one["sha"]) for one in arrived] == [(PAYLOAD_BYTES, sha)] * 2
    assert max(peaks) <= 4 * PAYLOAD_BYTES / MIB
    assert took_s < 10
    assert time.monotonic() > began
