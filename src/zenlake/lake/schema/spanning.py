"""Tables between the splits of a capture, for the step that spans all splits.

A split makes all tables of its own sessions. These tables have the queries whose cause needs every
session of the capture, and hashes that prove that nothing else does: requests that ask the same,
and equal publications, belong together, and if two splits have no hash in common, no group crosses
them.
"""

from __future__ import annotations

from typing import Final

from zenlake.lake.schema.columns import CAPTURE
from zenlake.lake.schema.published import TABLES
from zenlake.lake.schema.table import BIGINT, BIGINT_MAX, BOOLEAN, STRING, Column, Table

HASH_MAX: Final = BIGINT_MAX
"""DuckDB's hashes are unsigned; those above it do not fit into a BIGINT."""
_HASH: Final = (Column("hash", BIGINT, "of one group of rows that are compared with each other"),)

_ALL: Final = (
    Table(
        "unexplained_queries",
        "one empty query, without its cause and the beginning of its reason",
        TABLES["queries"].base.columns,
    ),
    Table(
        "empty_hops",
        "one REQUEST of a trace in which one ended without reply",
        (
            CAPTURE,
            Column("session", STRING, "id of the session"),
            Column("seq", BIGINT, "order in the capture"),
            Column("trace_id", BIGINT, "the same for all hops; negative where it is not known"),
            Column("time_ns", BIGINT, "time of the packet"),
            Column("final_ns", BIGINT, "time of the RESPONSE_FINAL"),
            Column("requester_zid", STRING, "node that sent it"),
            Column("responder_zid", STRING, "node that received it"),
            Column("key", STRING, "whole key expression"),
            Column("target", STRING, "effective"),
            Column("is_empty", BOOLEAN, "whether this one ended without reply"),
            Column("lost_ns", BIGINT, "when its session ended, if that ended it"),
        ),
    ),
    Table(
        "question_groups",
        "requests that ask the same; and of these, those that share a node",
        (
            *_HASH,
            Column("is_open", BOOLEAN, "whether it crosses splits wherever another split has it"),
        ),
    ),
    Table("content_groups", "publications that are equal, or have the same mark", _HASH),
    Table("sample_sessions", "sessions that have samples", _HASH),
)

SPANNING: Final[dict[str, Table]] = {table.name: table for table in _ALL}
