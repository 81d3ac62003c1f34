"""Publications: puts and deletes as calls, as deliveries and as messages, in one form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.trace.sidecar import Reading, Row, Sidecar, digest, digest_in, field, is_captured
from zenlake.trace import MessageSeen

PUSHES = ("PUSH/PUT", "PUSH/DEL")
_KINDS = {"put": "PUSH/PUT", "delete": "PUSH/DEL"}


class Publication(NamedTuple):
    """All attributes that a call can set; `payload` is None in shared memory."""

    kind: str
    key: str | None
    payload: str | None
    encoding: str | None
    attachment: str | None
    timestamp: str | None
    source: tuple[Any, ...]
    priority: int
    congestion: str
    express: bool
    reliability: str | None


def called(row: Row) -> Publication:
    """The publication that an application made."""
    in_shared_memory = row.get("payload_in_shared_memory", False)
    return Publication(
        _KINDS[row["op"]],
        row["key"],
        None if in_shared_memory else digest_in(row.get("payload")),
        row.get("encoding"),
        digest_in(row["attachment"]),
        row["timestamp"],
        source_in(row),
        row["priority"],
        row["congestion_control"],
        row["express"],
        row["reliability"],
    )


def delivered(row: Row) -> Publication:
    """The publication that a subscriber received: no reliability, and no encoding of a delete."""
    return Publication(
        _KINDS[row["kind"]],
        row["key"],
        digest_in(row["payload"]) if row["kind"] == "put" else None,
        row["encoding"] if row["kind"] == "put" else None,
        digest_in(row["attachment"]),
        row["timestamp"],
        source_in(row),
        row["priority"],
        row["congestion_control"],
        row["express"],
        None,
    )


def seen(event: MessageSeen) -> Publication:
    """The publication in a message."""
    return Publication(
        event.kind,
        event.key,
        digest(field(event, "payload")),
        field(event, "encoding"),
        digest(field(event, "attachment")),
        field(event, "timestamp"),
        tuple(field(event, name) for name in ("source_zid", "source_eid", "source_sn")),
        field(event, "priority"),
        field(event, "congestion"),
        field(event, "express"),
        field(event, "reliability"),
    )


def source_in(row: Row) -> tuple[Any, ...]:
    source = row["source_info"]
    return (None, None, None) if source is None else (source["zid"], source["eid"], source["sn"])


def calls_of(sidecar: Sidecar, node: str) -> Counter[Publication]:
    return Counter(called(row) for row in sidecar.of("put", "delete") if row["node"] == node)


def sent_by(reading: Reading, zid: str) -> list[MessageSeen]:
    return [event for event in reading.of(*PUSHES) if event.sender_zid == zid]


def counted(events: Iterable[MessageSeen]) -> Counter[Publication]:
    return Counter(seen(event) for event in events)


def deliveries_of(sidecar: Sidecar) -> dict[tuple[str, str], list[Row]]:
    """Samples by node and subscriber, if they came over a captured link."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in sidecar.received:
        if is_captured(row, sidecar.capture):
            found.setdefault((row["node"], row["subscriber"]), []).append(row)
    return found
