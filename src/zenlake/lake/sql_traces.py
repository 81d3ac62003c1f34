"""`samples.trace_id`: of the table `latencies`, joined for queries that ask for it.

It is known only when all samples of a capture are, long after their rows with all payloads were
written. So it is not stored with them: to write them again would cost more than to look it up.
"""

from __future__ import annotations

import re
from typing import Final

from zenlake.lake.schema.table import BIGINT, Column

LATENCIES: Final = "latencies"
TRACE_ID: Final = Column(
    "trace_id", BIGINT, "the same on every hop of one publication; null if not known"
)
# A star that is not that of count(*), or the name, or the question which columns there are.
_WANTS: Final = re.compile(
    r"\bsamples\b.*\btrace_id\b|\btrace_id\b.*\bsamples\b|^\s*desc(?:ribe)?\s"
    r"|(?<![(\s])\s*\*.*\bsamples\b|\bselect\s*\*.*\bsamples\b",
    re.IGNORECASE | re.DOTALL,
)


def wants_traces(sql: str) -> bool:
    return _WANTS.search(sql) is not None


def traced(samples: str, has_older_rows: bool) -> str:
    """The rows of `samples`, each with its trace; what is on one hop only is its own.

    Rows that were read before there were latencies are not known to be that.
    """
    own = "NULL" if has_older_rows else "s.seq"
    return f"""
        SELECT s.*, CASE WHEN l.seq IS NOT NULL THEN l.trace_id
            WHEN s.ignored IS NULL AND s.key IS NOT NULL THEN {own} END AS trace_id
        FROM {samples} AS s LEFT JOIN {LATENCIES} AS l
            ON l.seq = s.seq AND l.session = s.session AND l.capture = s.capture"""
