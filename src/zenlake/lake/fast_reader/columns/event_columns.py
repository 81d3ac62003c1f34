"""The rows of exchanges, declarations and interests, column by column."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zenlake.lake.fast_reader.columns.decoded import CODES, Decoded, Rows, numbers
from zenlake.lake.fast_reader.columns.keys import KeyColumn
from zenlake.lake.fast_reader.columns.message_columns import place_columns, sender_columns, table_of
from zenlake.lake.fast_reader.columns.places import Places
from zenlake.lake.fast_reader.columns.values import (
    coded,
    encodings,
    numbers_of,
    placed,
    qos_columns,
    stretches,
    texts_of,
    timestamps,
    zid_text,
)
from zenlake.wire.values.choices import ConsolidationMode, InterestMode, QueryTarget

_EXCHANGES: Final = {
    "REQUEST": "REQUEST",
    "RESPONSE/REPLY/PUT": "PUT",
    "RESPONSE/REPLY/DEL": "DEL",
    "RESPONSE/ERR": "ERR",
    "RESPONSE_FINAL": "FINAL",
}
_TARGETS: Final = [str(one) for one in QueryTarget]
_CONSOLIDATIONS: Final = [str(one) for one in ConsolidationMode]
_MODES: Final = [str(one) for one in InterestMode]
_TIME_DIGITS: Final = 16
"""Hexadecimal digits of the time of a timestamp."""
_ENTITIES: Final = ("keyexpr", "subscriber", "queryable", "token")
_OPTIONS: Final = (
    ("K", "keyexprs"),
    ("S", "subscribers"),
    ("Q", "queryables"),
    ("T", "tokens"),
    ("R", "key"),
    ("A", "aggregate"),
)


def exchange_table(rows: Decoded, keys: KeyColumn, places: Places) -> pa.Table | None:
    chosen = np.flatnonzero(rows.is_kind(*_EXCHANGES))
    if not len(chosen):
        return None
    columns = rows.columns
    kind = rows.kind[chosen]
    is_request = kind == CODES["REQUEST"]
    has_data = (kind == CODES["RESPONSE/REPLY/PUT"]) | (kind == CODES["RESPONSE/ERR"])
    in_memory = (columns["shm"][chosen] != 0) | rows.present("body_shm")[chosen]
    # The requester sends a REQUEST, the responder everything else.
    asker = rows.owner[chosen] ^ (~is_request).astype(np.int64)
    side = rows.direction[chosen] ^ (~is_request).astype(np.int64)
    stamp, _ = timestamps(rows, "timestamp", chosen)
    words = np.zeros(256, np.int32)
    words[[CODES[one] for one in _EXCHANGES]] = np.arange(len(_EXCHANGES))
    found = place_columns(rows, places, chosen) | qos_columns(rows, chosen)
    found |= {
        "side": numbers_of(side),
        "kind": coded(words[kind], [*_EXCHANGES.values()]),
        "requester_zid": places.zids(asker),
        "responder_zid": places.zids(asker ^ 1),
        "request_id": rows.numbers("request_id", chosen),
        "key": coded(keys.codes[chosen], keys.texts),
        "parameters": _parameters(rows, chosen, is_request),
        "target": _word(rows, "target", chosen, is_request, _TARGETS),
        "consolidation": _consolidation(rows, chosen, is_request),
        "timeout_ms": rows.numbers("timeout_ms", chosen).cast(pa.float64(), safe=False),
        "budget": rows.numbers("budget", chosen),
        "payload": stretches(rows, "payload", chosen, in_memory),
        "encoding": encodings(rows, chosen, has_data),
        "attachment": stretches(rows, "attachment", chosen),
        "source": _sources(rows, chosen, is_request),
        "replier_zid": texts_of(rows, "responder_zid", chosen, zid_text),
        "replier_eid": rows.numbers("responder_eid", chosen),
        "timestamp": stamp,
        "timestamp_order": _orders(rows, chosen),
    }
    return table_of("exchange_events", found)


def _parameters(rows: Decoded, chosen: Rows, is_request: NDArray[np.bool_]) -> pa.Array:
    """A query without parameters has empty ones."""
    found = texts_of(rows, "parameters", chosen, bytes.decode).cast(pa.string())
    return pc.if_else(pa.array(is_request), found.fill_null(""), pa.scalar(None, pa.string()))


def _word(
    rows: Decoded, name: str, chosen: Rows, is_request: NDArray[np.bool_], words: list[str]
) -> pa.Array:
    """The effective value: 0 where none was sent."""
    return coded(np.where(is_request, rows.columns[name][chosen].astype(np.int32), -1), words)


def _consolidation(rows: Decoded, chosen: Rows, is_request: NDArray[np.bool_]) -> pa.Array:
    """Deployed nodes read unknown modes as AUTO (wire reference §11, 24)."""
    sent = rows.columns["consolidation"][chosen].astype(np.int32)
    return coded(np.where(is_request, np.where(sent < 4, sent, 0), -1), _CONSOLIDATIONS)


def _sources(rows: Decoded, chosen: Rows, is_request: NDArray[np.bool_]) -> pa.Array:
    present = rows.present("source_eid")[chosen] & is_request
    if not present.any():
        return pa.nulls(len(chosen), pa.string())
    zids = texts_of(rows, "source_zid", chosen, zid_text).cast(pa.string())
    parts = [rows.numbers(name, chosen).cast(pa.string()) for name in ("source_eid", "source_sn")]
    joined = pc.binary_join_element_wise(zids, *parts, "/")
    return pc.if_else(pa.array(present), joined, pa.scalar(None, pa.string()))


def _orders(rows: Decoded, chosen: Rows) -> pa.Array:
    """As `message_rows.timestamp_order`, for rows with a timestamp."""
    found = np.flatnonzero(rows.present("timestamp")[chosen])
    if not len(found):
        return pa.nulls(len(chosen), pa.string())
    digits = rows.columns["timestamp_time"][chosen[found]].astype(">u8").tobytes().hex().encode()
    ends = pa.py_buffer(np.arange(0, len(digits) + 1, _TIME_DIGITS, dtype=np.int32))
    times = pa.StringArray.from_buffers(len(found), ends, pa.py_buffer(digits))
    ids = texts_of(rows, "timestamp_id", chosen[found], padded_zid).cast(pa.string())
    return placed(pc.binary_join_element_wise(times, ids, ""), found, len(chosen))


def padded_zid(raw: bytes) -> str:
    return f"{zid_text(raw):0>32}"


def declare_table(rows: Decoded, keys: KeyColumn, places: Places) -> pa.Table | None:
    words = {
        CODES[f"DECLARE/{letter}_{name.upper()}"]: (number, letter == "U")
        for letter in "DU"
        for number, name in enumerate(_ENTITIES)
    }
    chosen = np.flatnonzero(np.isin(rows.kind, np.array([*words], np.uint8)))
    if not len(chosen):
        return None
    entity, is_end = np.zeros(256, np.int32), np.zeros(256, np.bool_)
    for code, (number, ends) in words.items():
        entity[code], is_end[code] = number, ends
    kind = rows.kind[chosen]
    id = rows.columns["entity_id"][chosen].astype(np.int64)
    is_queryable = kind == CODES["DECLARE/D_QUERYABLE"]
    codes = keys.codes[chosen]
    has_text = np.array([text != "" for text in keys.texts] or [False], np.bool_)
    is_known = (codes >= 0) & has_text[codes]
    by_key = _by_key(rows, keys, chosen, is_known)
    side = rows.direction[chosen]
    found = place_columns(rows, places, chosen) | sender_columns(rows, places, chosen)
    found |= {
        "owner": coded(side, ("0", "1")),
        "is_end": pa.array(is_end[kind]),
        "is_answer": pa.array(keys.answers[chosen]),
        "entity": coded(entity[kind], _ENTITIES),
        "entity_id": numbers_of(id),
        "key": coded(np.where(is_known, codes, -1), keys.texts),
        "identity": pc.if_else(pa.array(id != 0), numbers_of(id).cast(pa.string()), by_key),
        "key_identity": by_key,
        "complete": _flag(rows.columns["info_complete"][chosen] != 0, is_queryable),
        "distance": numbers(rows.columns["info_distance"][chosen], is_queryable),
        "interest_id": rows.numbers("interest_id", chosen),
        "node_id": rows.numbers("node_id", chosen),
    }
    return table_of("declare_events", found)


def _by_key(rows: Decoded, keys: KeyColumn, chosen: Rows, is_known: NDArray[np.bool_]) -> pa.Array:
    """The id of its router and the key; the key as sent where its alias is not known."""
    nodes, codes = rows.columns["node_id"][chosen].astype(np.int64), keys.codes[chosen]
    # Nodes and keys repeat; other rows are few and get negative names, each its own.
    name = np.where(is_known, nodes << 32 | codes, -1 - np.arange(len(chosen)))
    _, firsts, which = np.unique(name, return_index=True, return_inverse=True)
    columns = (chosen, nodes, codes, is_known)
    found = [
        f"{node}|{keys.texts[code] if known else _written_key(rows, row)}"
        for row, node, code, known in zip(*(one[firsts].tolist() for one in columns), strict=True)
    ]
    return pa.array(found, pa.string()).take(pa.array(which))


def _written_key(rows: Decoded, row: int) -> str:
    from zenlake.wire.values.wire_expr import WireExpr

    if not rows.present("key")[row]:
        return ""
    suffix = rows.columns.bytes_of("key_suffix", row) or b""
    scope, sender = int(rows.columns["key_scope"][row]), bool(rows.columns["key_sender"][row])
    return str(WireExpr(scope, suffix.decode(), sender))


def _flag(values: NDArray[np.bool_], present: NDArray[np.bool_]) -> pa.Array:
    return pc.if_else(pa.array(present), pa.array(values), pa.scalar(None, pa.bool_()))


def interest_table(rows: Decoded, keys: KeyColumn, places: Places) -> pa.Table | None:
    is_interest = rows.is_kind("INTEREST")
    is_final = rows.is_kind("DECLARE/D_FINAL") & rows.present("interest_id")
    chosen = np.flatnonzero(is_interest | is_final)
    if not len(chosen):
        return None
    asks = is_interest[chosen]
    mode = rows.columns["mode"][chosen]
    opens = asks & (mode != int(InterestMode.FINAL))
    asker = rows.owner[chosen] ^ (~asks).astype(np.int64)
    side = rows.direction[chosen] ^ (~asks).astype(np.int64)
    found = place_columns(rows, places, chosen) | {
        "side": numbers_of(side),
        "event": coded(np.where(opens, 0, np.where(asks, 2, 1)), ("open", "final", "close")),
        "sender_zid": places.zids(asker),
        "receiver_zid": places.zids(asker ^ 1),
        "interest_id": rows.numbers("interest_id", chosen),
        "mode": coded(np.where(opens, mode.astype(np.int32), -1), _MODES),
        "options": pa.array(_options(rows, chosen, opens), pa.string()),
        "key": coded(np.where(opens, keys.codes[chosen], -1), keys.texts),
    }
    return table_of("interest_events", found)


def _options(rows: Decoded, chosen: Rows, opens: NDArray[np.bool_]) -> list[str | None]:
    flags: list[tuple[str, Any]] = [
        (letter, (rows.present(name) if name == "key" else rows.columns[name] != 0)[chosen])
        for letter, name in _OPTIONS
    ]
    return [
        "".join(letter for letter, flag in flags if flag[n]) if is_open else None
        for n, is_open in enumerate(opens.tolist())
    ]
