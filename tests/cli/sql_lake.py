"""A lake whose cells are hard to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.lake.publish import old_lake
from tests.lake.publish.old_lake import OldRows
from zenlake.lake.publish import Store

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
    directory.mkdir(parents=True, exist_ok=True)
    parts = [
        OldRows("old.pcap", "samples", SAMPLES, OLD_ROWS),
        OldRows("new.pcap", "samples", GROWN, NEW_ROWS),
    ]
    return old_lake.make(directory, {"samples": GROWN}, parts, version=1)
