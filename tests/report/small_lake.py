"""Lakes made of rows by hand: whatever a capture could have held, without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.lake.publish import old_lake
from tests.lake.publish.old_lake import OldRows
from tests.lake.publish.small_lake import written
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION

Rows = dict[str, list[dict[str, Any]]]

CAPTURE = "robot.pcapng"
START_NS = 1_700_000_000_000_000_000
MS_NS = 1_000_000
ROUTER, ASKER, ARM, CAMERA = "70e1", "a5ce", "a12b", "ca3e"


def at(ms: float) -> int:
    return START_NS + int(ms * MS_NS)


def make(directory: Path, rows: Rows, schema_version: int = VERSION) -> Store:
    """A lake with these rows, in all declared tables; `schema_version` is that of its captures."""
    store = Store(directory)
    with store.begin() as run:
        listed = {name: found for name, found in rows.items() if name != "captures" and found}
        files = written(Path(run.staging.path), listed)
        captures = [
            {"sha256": "0", "address": one["capture"], "schema_version": schema_version, **one}
            for one in rows["captures"]
        ]
        run.publish(captures, files)
    return store


def make_partly(directory: Path, without: str) -> Store:
    """A lake of an older release, which did not have all tables."""
    directory.mkdir()
    schemas = {name: table.arrow for name, table in TABLES.items() if name != without}
    part = OldRows(CAPTURE, "captures", schemas["captures"], robot()["captures"])
    return old_lake.make(directory, schemas, [part])


def row(ms: float, packet: int, **values: Any) -> dict[str, Any]:
    """A row with the columns that most tables have; `seq` is made from the packet."""
    return {
        "capture": CAPTURE,
        "session": "s1",
        "link": "l1",
        "packet": packet,
        "time_ns": at(ms),
        "seq": packet << 24,
        **values,
    }


def capture(name: str = CAPTURE, begin: float = 0, end: float = 10_000) -> dict[str, Any]:
    facts = {"packets": 9, "bytes": 900, "first_ns": at(begin), "last_ns": at(end)}
    return {"capture": name, **facts}


def node(zid: str, role: str | None) -> dict[str, Any]:
    times = {"first_ns": at(0), "last_ns": at(9_000)}
    return {"capture": CAPTURE, "zid": zid, "role": role, **times}


def message(ms: float, packet: int, kind: str, key: str | None, **values: Any) -> dict[str, Any]:
    usual = {"size": 100, "sender_zid": ARM, "receiver_zid": ROUTER}
    return row(ms, packet, kind=kind, key=key, **{**usual, **values})


def life(begin: float | None, end: float | None, key: str, **values: Any) -> dict[str, Any]:
    facts = {
        "entity": "token",
        "entity_id": 1,
        "key": key,
        "sender_zid": ARM,
        "receiver_zid": ROUTER,
        "declared_ns": None if begin is None else at(begin),
        "undeclared_ns": None if end is None else at(end),
        "ended_by": None if end is None else "undeclare",
        "told": 1,
    }
    return row(begin or end or 0, int(begin or end or 0) + 1, **{**facts, **values})


def robot() -> Rows:
    """An arm and a camera behind a router; a query that times out at its second hop."""
    trace = 21 << 24
    asked = {"key": "arm/pose", "parameters": "now", "timeout_ms": 500.0, "trace_id": trace}
    hop = {"replies": 0, "errors": 1, "final_ms": 502.0, "verdict": "timeout"}
    late = {"kind": "ERR", "payload": b"Timeout", "encoding": "zenoh/bytes", "trace_id": trace}
    return {
        "captures": [capture()],
        "nodes": [node(ROUTER, "router"), node(ASKER, "client"), node(ARM, "client")],
        "messages": [
            *(message(100 * n, n + 1, "PUSH/PUT", f"arm/joint/{n % 4}") for n in range(40)),
            message(150, 50, "FRAME", None, size=5000),
            message(160, 51, "KEEP_ALIVE", None, size=1),
            message(170, 52, "PUSH/PUT", "camera/image", size=9000, sender_zid=CAMERA),
            message(2000, 21, "REQUEST", "arm/pose", sender_zid=ASKER),
        ],
        "queries": [
            row(2000, 21, requester_zid=ASKER, responder_zid=ROUTER, **asked, **hop)
            | {"reason": "node 70e1 says that node a12b did not answer"},
            row(2001, 22, requester_zid=ROUTER, responder_zid=ARM, **asked, **hop, link="l2"),
            row(3000, 30, requester_zid=ASKER, responder_zid=ROUTER, key="arm/joint/*")
            | {"replies": 2, "errors": 0, "first_reply_ms": 1.5, "final_ms": 2.0}
            | {"verdict": "answered", "reason": "2 replies"},
        ],
        "replies": [
            row(2502, 25, requester_zid=ASKER, responder_zid=ROUTER, query_seq=trace, **late)
            | {"delivered": True},
            row(3001, 31, requester_zid=ASKER, responder_zid=ROUTER, query_seq=30 << 24)
            | {"kind": "PUT", "key": "arm/joint/1", "payload": b"\xff\x00", "delivered": False}
            | {"dropped_because": "latest: the reply in packet 32 replaced it"},
        ],
        "sessions": [
            {
                "capture": CAPTURE,
                "session": "s1",
                "link": "l1",
                "time_ns": at(0),
                "opener_zid": ARM,
                "acceptor_zid": ROUTER,
                "outcome": "lost",
                "opened_ns": at(1),
                "closed_ns": at(9_000),
            }
        ],
        "losses": [
            row(4000, 40, kind="sn_gap", sender_zid=ARM, receiver_zid=ROUTER, priority=5)
            | {"reliability": "reliable", "count": 3, "cause": "sequence numbers are missing"}
        ],
        "violations": [
            row(5000, 41, rule="sn-backwards", severity="error", sender_zid=ARM)
            | {"message": "it ran backwards", "page": "transport, FRAME"}
        ],
    }
