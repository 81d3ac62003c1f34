"""A lake whose cells are hard to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.lake.store.small_lake import write
from zenlake.lake.store import CaptureFiles, Store

SAMPLES = pa.schema(
    {
        "seq": pa.int64(),
        "key": pa.string(),
        "payload": pa.binary(),
        "express": pa.bool_(),
        "latency_ms": pa.float64(),
    }
)
GROWN = SAMPLES.append(pa.field("encoding", pa.string()))
OLD_ROWS: list[dict[str, Any]] = [
    {"seq": 1, "key": "robot/1/pose", "payload": b"hello", "express": True, "latency_ms": 0.5},
    {"seq": 2, "key": "robot/2/pose", "payload": b"\x00\xff\x1b[31m", "express": False},
    {"seq": 3, "key": None, "payload": b""},
]
NEW_ROWS: list[dict[str, Any]] = [
    {"seq": 4, "key": "lamp/\x1b]0;x\x07", "payload": "Zürich".encode(), "encoding": "text/plain"},
    {"seq": 5, "key": "robot/1/@meta", "payload": b"x" * 500, "latency_ms": 2.25},
]


def make(directory: Path) -> Store:
    """Two captures; the files of the older one lack a column."""
    store = Store(directory)
    with store.begin() as run:
        empty = {"samples": write(run.staging / "empty", GROWN, [])}
        old = write(run.staging / "old", SAMPLES, OLD_ROWS)
        new = write(run.staging / "new", GROWN, NEW_ROWS)
        captures = {
            "old.pcap": CaptureFiles("1", 1, {"samples": [old]}, {"samples": len(OLD_ROWS)}),
            "new.pcap": CaptureFiles("2", 1, {"samples": [new]}, {"samples": len(NEW_ROWS)}),
        }
        run.publish(captures, empty_files=empty)
    return store
