"""Sidecars: what the applications of a bundled capture did, and what the trace finds in it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from tests.paths import CAPTURES
from zenlake import trace
from zenlake.trace import MessageSeen, Session, TraceEvent
from zenlake.trace.fields import FIELDS
from zenlake.trace.timelines.declarations import DeclarationLifetime, declarations
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.exchanges import exchanges
from zenlake.trace.timelines.interests import InterestLifetime, interests

Row = dict[str, Any]

PATHS: Final = {path.name.partition(".")[0]: path for path in sorted(CAPTURES.glob("*.pcap*"))}
"""All bundled captures by their names without ending."""

CLOCK_SECONDS: Final = 0.05
"""How far the times of calls may differ from those of their packets."""


class Sidecar:
    """One `NAME.json`: its rows, and the names of its nodes."""

    def __init__(self, content: Row) -> None:
        self.capture: Row = content["capture"]
        self.nodes: list[Row] = content["nodes"]
        self.events: list[Row] = content["events"]
        self.received: list[Row] = content["received"]
        self.queries_received: list[Row] = content["queries_received"]
        self.liveliness_received: list[Row] = content["liveliness_received"]
        self.connections: list[Row] = content.get("connections", [])
        self.wire_counts: Counter[str] | None = None
        if "wire_counts" in content:
            self.wire_counts = Counter(content["wire_counts"])
        self.zids: dict[str, str] = {row["node"]: row["zid"] for row in self.nodes}
        self.roles: dict[str, str] = {row["zid"]: row["mode"] for row in self.nodes}
        self._settings = {
            (row["node"], row["handle"]): row
            for row in self.events
            if row["op"] in ("declare_publisher", "declare_querier")
        }

    def of(self, *ops: str) -> list[Row]:
        """Calls whose messages must be in the capture."""
        return [row for row in self.events if row["op"] in ops and is_captured(row, self.capture)]

    def setting(self, call: Row, name: str) -> Any:
        """The setting of a call, or of the publisher or querier that made it."""
        if name in call:
            return call[name]
        return self._settings.get((call["node"], call.get("via", "")), {}).get(name)


class Reading:
    """The result of the trace for a capture."""

    def __init__(self, path: Path) -> None:
        found = trace.open(str(path))
        self.events: list[TraceEvent] = list(found)
        self.undecoded: dict[str, int] = found.undecoded
        self.sessions: list[Session] = found.sessions
        self.messages = [event for event in self.events if isinstance(event, MessageSeen)]
        self.counts = Counter(event.kind for event in self.messages)

    def of(self, *kinds: str) -> Iterator[MessageSeen]:
        """Messages that a receiver accepts."""
        return (event for event in self.messages if event.kind in kinds and not event.ignored)

    def exchanges(self) -> list[Exchange]:
        return list(exchanges(self.events))

    def declarations(self) -> list[DeclarationLifetime]:
        return list(declarations(self.events))

    def interests(self) -> list[InterestLifetime]:
        return list(interests(self.events))


@cache
def sidecar_of(name: str) -> Sidecar:
    path = CAPTURES / f"{name}.json"
    text = (
        path.read_bytes()
        if path.exists()
        else gzip.decompress(path.with_suffix(".json.gz").read_bytes())
    )
    return Sidecar(json.loads(text))


@cache
def reading_of(name: str) -> Reading:
    return Reading(PATHS[name])


WITH_COUNTS: Final = [name for name in PATHS if sidecar_of(name).wire_counts is not None]
"""Captures whose sidecars count the messages on the wire."""
OWN: Final = [name for name in PATHS if sidecar_of(name).wire_counts is None]


def is_captured(row: Row, capture: Row) -> bool:
    """Whether a call or delivery is on a captured link and within the time of the capture."""
    if row.get("expect_on_wire") is False or row.get("on_wire") in ("before", "after"):
        return False
    return "nodes" not in capture or row["node"] in capture["nodes"]


def field(event: MessageSeen, name: str) -> Any:
    """The value of a field, as `decode` and the tables have it."""
    return FIELDS[name].value_of(event)


def digest(data: bytes | None) -> str | None:
    """The notation of bytes in sidecars."""
    return None if data is None else sha256(data).hexdigest()


def digest_in(row: Row | None) -> str | None:
    """The notation of a byte string in a row of a sidecar."""
    return None if row is None else row["sha256"]


def seconds(event: MessageSeen) -> float:
    return event.time_ns / 1e9
