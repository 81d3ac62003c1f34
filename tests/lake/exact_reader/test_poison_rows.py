"""R20: publications at the limits are stored, or reported as a loss, and later ones are stored."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs zenlake[sql]")

import zenlake
from tests.ports import free_endpoint
from tests.sessions import config_of
from tests.waiting import until
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.limits import TRACE_MESSAGE_BYTES_MAX

LONG_KEY = "/".join(["poison", *("x" * 99 for _ in range(40))])
"""About 4 KiB."""
LARGE = bytes(TRACE_MESSAGE_BYTES_MAX - 1024)
TOO_LARGE = bytes(TRACE_MESSAGE_BYTES_MAX)
"""With its key the message is longer than a trace puts together."""


def is_larger(folder: str, size: int) -> bool:
    return sum(one.stat().st_size for one in Path(folder).iterdir()) > size


def test_poison_is_stored_and_the_stream_goes_on(tmp_path: Path) -> None:
    endpoint = free_endpoint()
    folder = str(tmp_path / "recording")
    router = config_of("router", listen__endpoints=[endpoint], recording__path=folder)
    came = threading.Event()
    with zenlake.open(router):
        client = config_of("client", connect__endpoints=[endpoint])
        with zenlake.open(client) as publisher, zenlake.open(client) as other:
            other.declare_subscriber("end", lambda sample: came.set())
            wait = zenlake.CongestionControl.BLOCK
            publisher.put(LONG_KEY, b"a key of 4 KiB", congestion_control=wait)
            sent = 0
            for name, value in (("large", LARGE), ("too_large", TOO_LARGE)):
                publisher.put(f"poison/{name}", value, congestion_control=wait)
                sent += len(value)
                # A burst longer than the recorder's queue would be dropped, and counted.
                until(partial(is_larger, folder, sent), 60)
            for name, time in (("year", _ntp64(8_029 * 31_556_952)), ("last", _ntp64(2**32 - 1))):
                stamp = zenlake.Timestamp(time, b"\x01")
                publisher.put(f"poison/{name}", b"", timestamp=stamp, congestion_control=wait)
            while not came.wait(0.05):
                publisher.put("end", b"still here")
    tables = stage(folder, folder)
    rows = tables["samples"].to_pylist()
    found = {row["key"]: row for row in rows if row["key"] != "end"}
    assert found.keys() == {LONG_KEY, "poison/large", "poison/year", "poison/last"}
    assert found[LONG_KEY]["payload"] == b"a key of 4 KiB"
    assert found["poison/large"]["payload_size"] == len(LARGE)
    assert found["poison/large"]["payload"] == LARGE
    assert found["poison/last"]["timestamp_ns"] == (2**32 - 1) * 10**9
    [lost] = tables["losses"].to_pylist()
    assert (lost["kind"], lost["count"]) == ("fragment", 1)
    assert lost["bytes"] > len(TOO_LARGE) * 0.99
    assert any(row["key"] == "end" for row in rows)


def _ntp64(seconds: int) -> zenlake.NTP64:
    return zenlake.NTP64(seconds % 2**32, 0)
