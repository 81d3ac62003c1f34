"""SQL for DuckDB that reads records from the tables of a lake.

`{here}` selects the capture, `{asked}` the keys and queries that are asked for.
"""

from __future__ import annotations

from typing import Final

CAPTURES: Final = """
SELECT capture, packets, coalesce(first_ns, 0), coalesce(last_ns, 0), undecoded, error
FROM captures ORDER BY first_ns, capture
"""
SESSIONS: Final = """
SELECT session, opener_zid, acceptor_zid, time_ns, closed_ns, outcome, close_reason, protocol,
    close.sender_zid, close.packet, opened_ns IS NOT NULL OR outcome <> 'refused',
    opener_role, acceptor_role, members,
    outcome, step, version, coalesce(auth, ''), ended_by, ender, end_packet, close_reason,
    opener_lease_ms, acceptor_lease_ms, opener_silent_ms, acceptor_silent_ms,
    coalesce(cause = 'capture_incomplete', false)
FROM sessions
LEFT JOIN (SELECT session, any_value(protocol) AS protocol FROM batches
    WHERE {here} AND session IS NOT NULL GROUP BY session) USING (session)
LEFT JOIN (SELECT session, min_by({{'sender_zid': sender_zid, 'packet': packet}}, seq) AS close
    FROM messages WHERE {here} AND kind = 'CLOSE' GROUP BY session) USING (session)
WHERE {here}
"""
LAST_SENT: Final = """
SELECT session, sender_zid, max_by(time_ns, seq), max_by(packet, seq)
FROM messages WHERE {here} AND session IS NOT NULL AND sender_zid IS NOT NULL
GROUP BY session, sender_zid
"""
ROLES: Final = "SELECT zid, role FROM nodes WHERE {here}"
QUERIES: Final = """
SELECT q.session, q.seq, q.time_ns, q.packet, q.requester_zid, q.responder_zid, q.request_id,
    q.key, coalesce(q.parameters, ''), q.target, q.consolidation, q.timeout_ms, q.trace_id,
    q.time_ns + CAST(round(q.final_ms * 1e6) AS BIGINT) AS final_ns, f.packet, f.seq,
    q.next_seq IS NOT NULL
FROM (SELECT *, lead(seq) OVER (PARTITION BY session, requester_zid, request_id ORDER BY seq)
        AS next_seq FROM queries WHERE {here}) AS q
LEFT JOIN (SELECT session, request_id, time_ns, min(packet) AS packet, min(seq) AS seq
    FROM messages WHERE {here} AND kind = 'RESPONSE_FINAL' AND error IS NULL GROUP BY ALL) AS f
    ON f.session = q.session AND f.request_id = q.request_id
    AND f.time_ns = q.time_ns + CAST(round(q.final_ms * 1e6) AS BIGINT)
WHERE {asked}
ORDER BY verdict = 'answered' AND errors = 0 AND delivered = replies, q.seq
LIMIT {limit}
"""
REPLIES: Final = """
SELECT session, query_seq, time_ns, packet, kind, key, replier_zid, timestamp, after_final,
    CASE WHEN kind = 'ERR' THEN payload END
FROM replies
WHERE {here} AND query_seq IS NOT NULL
ORDER BY seq
"""
DECLARATIONS: Final = """
SELECT d.session, d.seq, d.entity, d.key, d.sender_zid, d.receiver_zid, d.entity_id,
    d.declared_ns, d.packet, d.undeclared_ns, u.packet, d.ended_by, d.complete, d.interest_id,
    d.node_id,
    coalesce(d.is_answer, d.entity = 'token' AND d.entity_id = 0 AND d.interest_id <> 0, false)
FROM declarations AS d
LEFT JOIN (SELECT session, time_ns, lower(kind[11:]) AS entity, min(packet) AS packet
    FROM messages WHERE {here} AND kind LIKE 'DECLARE/U_%' AND error IS NULL GROUP BY ALL) AS u
    ON d.session = u.session AND d.undeclared_ns = u.time_ns AND d.entity = u.entity
    AND d.ended_by = 'undeclare'
WHERE d.{here} AND d.entity <> 'keyexpr'
ORDER BY d.seq, d.session
"""
INTERESTS: Final = """
SELECT session, seq, time_ns, packet, sender_zid, receiver_zid, interest_id, mode,
    coalesce(options, ''), key,
    final_ns, closed_ns
FROM interests WHERE {here} ORDER BY seq, session
"""
LOSSES: Final = """
SELECT session, time_ns, packet, kind, sender_zid, receiver_zid, priority, reliability, count,
    bytes
FROM losses WHERE {here} ORDER BY time_ns, packet, kind
"""
FLOWS: Final = """
SELECT session, sender_zid, key, any_value(receiver_zid), min_by(congestion, seq),
    min_by(reliability, seq), min_by(priority, seq), count(*), count(ignored), min(seq),
    min_by(time_ns, seq), min_by(packet, seq), max_by(time_ns, seq), max_by(packet, seq)
FROM samples WHERE {here} AND key IS NOT NULL AND session IS NOT NULL
GROUP BY session, sender_zid, key ORDER BY min(seq) LIMIT {limit}
"""
SAMPLES: Final = """
SELECT session, sender_zid, key, time_ns, packet,
    CASE WHEN kind = 'DEL' THEN '' ELSE md5(payload)[:12] END
FROM (
    SELECT *, row_number() OVER (PARTITION BY session, sender_zid, key ORDER BY seq) AS number
    FROM samples WHERE {here} AND {asked} AND ignored IS NULL
)
WHERE number <= {per_key} ORDER BY seq LIMIT {limit}
"""
MEMBERS: Final = """
SELECT session, link, time_ns, packet, kind, CASE WHEN kind IN ('JOIN', 'CLOSE') THEN detail END,
    before_ns, before_packet
FROM (
    SELECT *, lag(time_ns) OVER link_order AS before_ns, lag(packet) OVER link_order
            AS before_packet, lead(seq) OVER link_order AS next_seq
    FROM messages
    WHERE {here} AND session IN (SELECT session FROM sessions WHERE {here} AND members IS NOT NULL)
    WINDOW link_order AS (PARTITION BY session, link ORDER BY seq)
)
WHERE kind IN ('JOIN', 'CLOSE') OR next_seq IS NULL OR time_ns - before_ns > {silence}
ORDER BY seq LIMIT {limit}
"""
