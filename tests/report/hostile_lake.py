"""A lake in which every text that a peer chooses is a payload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.payloads import PAYLOADS
from tests.report.small_lake import (
    ARM,
    ASKER,
    CAPTURE,
    ROUTER,
    Rows,
    at,
    capture,
    life,
    make,
    message,
    node,
    row,
)
from zenlake.lake.publish import Store


def hostile(directory: Path) -> Store:
    return make(directory, _rows())


def _rows() -> Rows:
    rows: dict[str, list[dict[str, Any]]] = {
        "captures": [capture()],
        "nodes": [node(ROUTER, "router"), node(ASKER, "client"), node(ARM, "client")],
        **{name: [] for name in ("messages", "queries", "replies", "declarations")},
        **{name: [] for name in ("sessions", "losses", "violations")},
    }
    for number, text in enumerate(PAYLOADS):
        _add(rows, number, text)
    rows["nodes"] += [node(f"e{number:03}", text) for number, text in enumerate(PAYLOADS[:20])]
    return rows


def _add(rows: Rows, number: int, text: str) -> None:
    ms, packet, seq = 20 * number, number + 1, (number + 1) << 24
    ends = {"requester_zid": ASKER, "responder_zid": ROUTER}
    raw = text.encode()
    rows["messages"].append(message(ms, packet, "PUSH/PUT", text, detail=text, error=text))
    query = {"key": text, "parameters": text, "payload": raw, "encoding": text, "attachment": raw}
    verdict = ("error", "timeout", "answered")[number % 3]
    outcome = {"verdict": verdict, "reason": text, "final_ms": 1.0 + number, "errors": 1}
    shape = {"target": text, "consolidation": text, "link": text}
    rows["queries"].append(row(ms, packet, **ends, **query, **outcome, **shape))
    reply = {"kind": "ERR", "key": text, "payload": raw, "encoding": text, "attachment": raw}
    why = {"delivered": False, "dropped_because": text}
    rows["replies"].append(row(ms + 1, packet, **ends, **reply, **why, query_seq=seq))
    entity = ("token", "subscriber", "queryable")[number % 3]
    rows["declarations"].append(life(ms, ms + 500, text, entity=entity, entity_id=number))
    rows["losses"].append(row(ms, packet, kind="sn_gap", cause=text, link=text, count=1))
    broken = {"rule": text, "severity": "error", "message": text, "page": text, "link": text}
    rows["violations"].append(row(ms, packet, sender_zid=ARM, **broken))
    session = {"outcome": "refused", "close_reason": text, "opener_zid": ARM}
    place = {"capture": CAPTURE, "time_ns": at(ms), "session": text, "acceptor_zid": ROUTER}
    rows["sessions"].append({**place, **session})
