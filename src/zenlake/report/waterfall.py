"""Waterfall: failed and slow queries one by one, with every hop and reply."""

from __future__ import annotations

from typing import Any, Final

from zenlake.lake.measures import FAILED, FIRST_HOP, OUTCOME
from zenlake.report.bounds import (
    HOPS_MAX,
    KEY_CHARACTERS_MAX,
    PAYLOAD_BYTES_MAX,
    QUERIES_FAILED_MAX,
    QUERIES_SLOW_MAX,
    REPLIES_MAX,
)
from zenlake.report.commands import query_command
from zenlake.report.database import Database
from zenlake.report.names import Names
from zenlake.report.text import cut, preview
from zenlake.report.time_axis import TimeAxis
from zenlake.semantics.verdicts import OUTCOMES

Record = dict[str, Any]
Place = tuple[str, int]

_RANK: Final = " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(OUTCOMES))
_BEGINNINGS: Final = f"""payload[1:{PAYLOAD_BYTES_MAX}] AS payload,
    octet_length(payload) AS payload_size, attachment[1:{PAYLOAD_BYTES_MAX}] AS attachment,
    octet_length(attachment) AS attachment_size"""

# Verdicts alternate, and keys within a verdict, so that frequent ones do not hide others.
_STORIES: Final = f"""
    CREATE TEMP TABLE stories AS
    (SELECT capture, coalesce(trace_id, -seq) AS story, CASE verdict {_RANK} END AS part,
        row_number() OVER (PARTITION BY verdict ORDER BY turn, took_ms DESC, capture, seq) AS place
     FROM (SELECT *, coalesce(final_ms, timeout_ms, 0) AS took_ms, row_number() OVER (
               PARTITION BY verdict, key
               ORDER BY coalesce(final_ms, timeout_ms, 0) DESC, capture, seq) AS turn
           FROM chosen_queries q WHERE {FIRST_HOP} AND {FAILED})
     ORDER BY place, part LIMIT {QUERIES_FAILED_MAX})
    UNION ALL
    (SELECT capture, coalesce(trace_id, -seq), {len(OUTCOMES)}, row_number() OVER (
        ORDER BY coalesce(final_ms, first_reply_ms) DESC, capture, seq) AS place
     FROM chosen_queries q WHERE {FIRST_HOP} AND verdict = 'answered'
     ORDER BY place LIMIT {QUERIES_SLOW_MAX})"""
_HOPS: Final = f"""
    SELECT capture, seq, coalesce(trace_id, -seq) AS story, time_ns, packet, link, request_id,
           requester_zid,
           responder_zid, key, parameters, target, consolidation, timeout_ms, {_BEGINNINGS},
           encoding, replies, errors, first_reply_ms, final_ms, {OUTCOME} AS verdict, reason
    FROM queries q SEMI JOIN stories s
    ON s.capture = q.capture AND s.story = coalesce(q.trace_id, -q.seq)
    ORDER BY capture, story, seq"""
_REPLIES: Final = f"""
    SELECT capture, query_seq, time_ns, packet, kind, key, {_BEGINNINGS}, encoding, after_final,
           delivered, dropped_because, replier_zid
    FROM (SELECT r.*, row_number() OVER (
              PARTITION BY capture, coalesce(trace_id, -query_seq) ORDER BY seq) AS place
          FROM replies r SEMI JOIN stories s
          ON s.capture = r.capture AND s.story = coalesce(r.trace_id, -r.query_seq))
    WHERE place <= {REPLIES_MAX} ORDER BY capture, seq"""


def waterfall(database: Database, names: Names, axis: TimeAxis) -> Record:
    database.run(_STORIES)
    stories = _with_hops(database.records(_HOPS), database.records(_REPLIES), names, axis)
    order = database.rows("SELECT capture, story FROM stories ORDER BY part, place")
    (failed,) = database.one(
        f"SELECT count(*) FROM chosen_queries q WHERE {FIRST_HOP} AND {FAILED}"
    )
    listed = [stories[place] for place in order]
    return {
        "queries": listed,
        "failedInAll": failed,
        "failedListed": sum(one["verdict"] != "answered" for one in listed),
    }


def _with_hops(
    hops: list[Record], replies: list[Record], names: Names, axis: TimeAxis
) -> dict[Place, Record]:
    stories: dict[Place, Record] = {}
    begun: dict[Place, tuple[int, Record]] = {}
    shown: dict[Place, list[Record]] = {}
    for row in hops:
        place = (row["capture"], row["story"])
        if place not in stories:
            stories[place] = {"start_ns": row["time_ns"], **_asked(row, names, axis)}
        story = stories[place]
        if len(story["hops"]) >= HOPS_MAX:
            story["moreHops"] += 1
            continue
        shown.setdefault(place, []).append(row)
        hop = _hop(row, story["start_ns"], names)
        story["hops"].append(hop)
        begun[row["capture"], row["seq"]] = (story["start_ns"], hop)
    for row in replies:
        start_ns, hop = begun.get((row["capture"], row["query_seq"]), (0, {"answers": []}))
        hop["answers"].append(_answer(row, start_ns, names))
    for place, story in stories.items():
        del story["start_ns"]
        story["command"] = query_command(place[0], shown[place])
    return stories


def _asked(row: Record, names: Names, axis: TimeAxis) -> Record:
    return {
        "at": axis.ms(row["time_ns"]),
        "capture": names.capture(row["capture"]),
        "packet": row["packet"],
        "key": names.key(row["key"]),
        "parameters": cut(row["parameters"], KEY_CHARACTERS_MAX),
        "target": row["target"],
        "consolidation": row["consolidation"],
        "timeoutMs": row["timeout_ms"],
        **_carried(row),
        "firstReplyMs": row["first_reply_ms"],
        "finalMs": row["final_ms"],
        "verdict": row["verdict"],
        "reason": cut(row["reason"]),
        "hops": [],
        "moreHops": 0,
    }


def _hop(row: Record, start_ns: int, names: Names) -> Record:
    return {
        "at": round((row["time_ns"] - start_ns) / 1e6, 3),
        "packet": row["packet"],
        "link": cut(row["link"]),
        "from": names.node(row["requester_zid"]),
        "to": names.node(row["responder_zid"]),
        "finalMs": row["final_ms"],
        "verdict": row["verdict"],
        "reason": cut(row["reason"]),
        "answers": [],
        "inAll": (row["replies"] or 0) + (row["errors"] or 0),
    }


def _answer(row: Record, start_ns: int, names: Names) -> Record:
    return {
        "at": round((row["time_ns"] - start_ns) / 1e6, 3),
        "packet": row["packet"],
        "kind": row["kind"],
        "key": names.key(row["key"]),
        **_carried(row),
        "afterFinal": bool(row["after_final"]),
        "delivered": row["delivered"],
        "because": cut(row["dropped_because"]),
        "by": names.node(row["replier_zid"]),
    }


def _carried(row: Record) -> Record:
    return {
        "payload": preview(row["payload"], row["payload_size"]),
        "encoding": cut(row["encoding"]),
        "attachment": preview(row["attachment"], row["attachment_size"]),
    }
