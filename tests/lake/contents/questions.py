"""Rows of `queries` and `replies` in the forms that the tests of traces compare."""

from __future__ import annotations

import json
from typing import Any

from tests.lake.contents.tables import Row, Tables, seconds
from tests.trace.queries import Answer, Asked, asked_by, recorded_answer
from tests.trace.sidecar import CLOCK_SECONDS, Sidecar, digest, digest_in, is_captured, sidecar_of
from tests.trace.test_contents_queries import TIMEOUT, is_own

KINDS = {"PUT": "put", "DEL": "delete", "ERR": "err"}


def asked(row: Row) -> Asked:
    return Asked(
        row["key"],
        row["parameters"] or "",
        row["target"],
        row["consolidation"],
        digest(row["payload"]),
        row["encoding"],
        digest(row["attachment"]),
        row["timeout_ms"],
    )


def answer(row: Row, like: Answer) -> Answer:
    """The answer in a row, with the attributes of `like`; attachment and QoS have no columns."""
    kind = KINDS[row["kind"]]
    return Answer(
        kind,
        row["key"] if kind != "err" else None,
        digest(row["payload"]),
        row["encoding"],
        None,
        row["timestamp"] if like.qos is not None else None,
        (row["replier_zid"], row["replier_eid"]) if like.replier is not None else None,
        like.qos,
    )


def is_same(row: Row, wanted: Answer) -> bool:
    return answer(row, wanted) == wanted._replace(attachment=None)


def unmatched(rows: list[Row], answers: list[Answer]) -> tuple[list[Row], list[Answer]]:
    """The rows and answers that remain after each answer is matched with a row."""
    left, missing = list(rows), []
    for wanted in answers:
        row = next((one for one in left if is_same(one, wanted)), None)
        if row is None:
            missing.append(wanted)
        else:
            left.remove(row)
    return left, missing


def is_root(row: Row) -> bool:
    return bool(row["trace_id"] == row["seq"])


class Questions:
    """The gets of a sidecar, each with the row of its first hop and all hops of its trace."""

    def __init__(self, tables: Tables, name: str) -> None:
        self.sidecar: Sidecar = sidecar_of(name)
        self.rows = tables.of(name, "queries")
        self.replies = tables.of(name, "replies")
        left = [row for row in self.rows if is_root(row)]
        self.gets: list[tuple[Row, Row]] = []
        for get in self.sidecar.of("get"):
            row = self._row(get, left)
            left.remove(row)
            self.gets.append((get, row))
        self.others = left
        """Root queries that no get of a captured node explains."""

    def _row(self, get: Row, rows: list[Row]) -> Row:
        wanted, zid = asked_by(self.sidecar, get), self.sidecar.zids[get["node"]]
        for row in rows:
            if (
                row["requester_zid"] == zid
                and asked(row) == wanted
                and get["started"] - CLOCK_SECONDS < seconds(row["time_ns"])
                and seconds(row["time_ns"]) < get["t"] + CLOCK_SECONDS
            ):
                return row
        raise AssertionError(f"no query for {get}")

    def hops(self, root: Row) -> list[Row]:
        return [row for row in self.rows if row["trace_id"] == root["seq"]]

    def replies_to(self, query: Row) -> list[Row]:
        return [row for row in self.replies if row["query_seq"] == query["seq"]]

    def last_hop(self, received: Row) -> Row:
        """The latest matching request before the queryable was called."""
        zid = self.sidecar.zids[received["node"]]
        rows = [
            row
            for row in self.rows
            if row["responder_zid"] in (zid, None)  # in a group any member may answer
            and row["requester_zid"] != zid
            and is_about(received, asked(row))
            and seconds(row["time_ns"]) < received["t"]
        ]
        assert rows, received
        return rows[-1]

    def received(self) -> list[Row]:
        """Calls of queryables that messages caused; a node queries itself without messages."""
        return [
            row
            for row in self.sidecar.queries_received
            if is_captured(row, self.sidecar.capture) and not is_own(self.sidecar, row)
        ]


def is_about(received: Row, wanted: Asked) -> bool:
    return (
        received["key"] == wanted.key
        and received["parameters"] == wanted.parameters
        and digest_in(received.get("payload")) == wanted.payload
        and digest_in(received.get("attachment")) == wanted.attachment
    )


def delivered_to(get: Row) -> list[Answer]:
    """The answers that an application received, except the timeout error of its own session."""
    return [one for one in map(recorded_answer, get["replies"]) if one != TIMEOUT]


def is_timed_out(get: Row) -> bool:
    return TIMEOUT in map(recorded_answer, get["replies"])


def detail(tables: Tables, name: str, seq: int) -> dict[str, Any]:
    (row,) = (row for row in tables.of(name, "messages") if row["seq"] == seq)
    found: dict[str, Any] = json.loads(row["detail"] or "{}")
    return found
