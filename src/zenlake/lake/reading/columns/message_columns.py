"""The rows of `messages` and `samples`, column by column."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zenlake import columnar
from zenlake.lake.bulk import Survey
from zenlake.lake.reading.columns.decoded import Decoded, numbers
from zenlake.lake.reading.columns.keys import KeyColumn
from zenlake.lake.reading.columns.places import Places
from zenlake.lake.reading.columns.values import (
    CONGESTION_OF_QOS,
    CONGESTIONS,
    EXPRESS_OF_QOS,
    PRIORITY_OF_QOS,
    coded,
    constant,
    encodings,
    numbers_of,
    qos_of,
    stretches,
    texts_of,
    timestamps,
    zid_text,
)
from zenlake.trace.rows.detail import KINDS_WITH_DETAIL, detail_of
from zenlake.wire._generated.network import decode_network
from zenlake.wire._generated.transport import decode_transport

Rows = NDArray[np.int64]

_RELIABILITIES: Final = ("best_effort", "reliable")
_HANDSHAKES: Final = ("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "CLOSE")
_TRANSPORT: Final = ("FRAME", "FRAGMENT", "KEEP_ALIVE", *_HANDSHAKES)
_KINDS: Final = columnar.kinds()
_REMEMBERED_BYTES_MAX: Final = 256


def place_columns(rows: Decoded, places: Places, chosen: Rows) -> dict[str, pa.Array]:
    """The common columns of some rows."""
    return places.of(rows.pair[chosen]) | {
        "packet": numbers_of(rows.packet[chosen]),
        "time_ns": numbers_of(rows.time_ns[chosen]),
        "seq": numbers_of(rows.seq[chosen]),
    }


def sender_columns(rows: Decoded, places: Places, chosen: Rows) -> dict[str, pa.Array]:
    owner = rows.owner[chosen]
    return {"sender_zid": places.zids(owner), "receiver_zid": places.zids(owner ^ 1)}


def message_table(rows: Decoded, keys: KeyColumn, places: Places) -> pa.Table:
    chosen = np.arange(len(rows))
    sn, has_sn = rows.channel("sn")
    found = place_columns(rows, places, chosen) | sender_columns(rows, places, chosen)
    found |= {
        "kind": coded(rows.kind[chosen], _KINDS),
        "reliability": reliability(rows, chosen),
        "priority": _priority(rows, chosen),
        "sn": numbers(sn[chosen], has_sn[chosen]),
        "key": coded(keys.codes[chosen], keys.texts),
        "request_id": rows.numbers("request_id", chosen),
        "interest_id": rows.numbers("interest_id", chosen),
        "entity_id": rows.numbers("entity_id", chosen),
        "size": numbers_of(rows.columns["length"][chosen]),
        "detail": _details(rows),
        "error": pa.nulls(len(chosen), pa.string()),
    }
    return table_of("messages", found)


def table_of(name: str, found: dict[str, pa.Array]) -> pa.Table:
    from zenlake.lake.reading.row_tables import WRITTEN

    table = WRITTEN[name]
    return pa.table({column: found[column] for column in table.names}).replace_schema_metadata(
        table.arrow.metadata
    )


def reliability(rows: Decoded, chosen: Rows) -> pa.Array:
    reliable, present = rows.channel("reliable")
    return coded(np.where(present, reliable, -1)[chosen], _RELIABILITIES)


def _priority(rows: Decoded, chosen: Rows) -> pa.Array:
    """Of a network message its own, of FRAME and FRAGMENT the channel's."""
    carrier, sent = rows.channel("priority")
    is_transport = rows.is_kind(*_TRANSPORT)[chosen]
    own = PRIORITY_OF_QOS[qos_of(rows, chosen)]
    of_channel = np.where(sent, carrier, 5)[chosen]
    is_null = rows.is_kind("KEEP_ALIVE", *_HANDSHAKES)[chosen]
    return numbers(np.where(is_transport, of_channel, own), ~is_null)


def _details(rows: Decoded) -> pa.Array:
    """Most have none; the few that have one are read again, each different one once."""
    columns = rows.columns
    has_kind = rows.is_kind(*KINDS_WITH_DETAIL)
    node_id = rows.present("node_id")
    stamps = columns["stamps_offset"] != 0
    whole = has_kind | stamps | (columns["unknown_extensions"] != 0)
    if rows.fragments:
        whole[list(rows.fragments)] = True
    codes = np.full(len(rows), -1, np.int32)
    texts: dict[str, int] = {}
    for number in np.unique(columns["node_id"][node_id & ~whole]).tolist():
        code = texts.setdefault(f'{{"node_id": {number}}}', len(texts))
        codes[node_id & ~whole & (columns["node_id"] == number)] = code
    _read_again(rows, np.flatnonzero(whole), codes, texts)
    return coded(codes, list(texts))


def _read_again(
    rows: Decoded, chosen: Rows, codes: NDArray[np.int32], texts: dict[str, int]
) -> None:
    """The details of some rows, by the scalar decoder; equal messages have equal ones."""
    columns = rows.columns
    content = columns.data.data
    starts, lengths = columns["offset"][chosen].tolist(), columns["length"][chosen].tolist()
    kinds = [_KINDS[kind] for kind in rows.kind[chosen].tolist()]
    seen: dict[bytes, int] = {}
    for row, kind, start, length in zip(chosen.tolist(), kinds, starts, lengths, strict=True):
        # Of a FRAGMENT, header, number and extensions: the rest tells nothing.
        message = bytes(content[start : start + (16 if kind == "FRAGMENT" else length)])
        fragments = rows.fragments.get(row, 0)
        code = None if fragments else seen.get(message)
        if code is None:
            decode = decode_transport if kind in _TRANSPORT else decode_network
            text = detail_of(kind, decode(message, 0)[0], fragments)
            code = -1 if text is None else texts.setdefault(text, len(texts))
            if not fragments and len(message) < _REMEMBERED_BYTES_MAX:
                seen[message] = code
        codes[row] = code


def sample_table(rows: Decoded, keys: KeyColumn, places: Places) -> pa.Table | None:
    chosen = np.flatnonzero(rows.is_kind("PUSH/PUT", "PUSH/DEL"))
    if not len(chosen):
        return None
    columns = rows.columns
    is_put = rows.is_kind("PUSH/PUT")[chosen]
    payload = stretches(rows, "payload", chosen, ~is_put | (columns["shm"][chosen] != 0))
    stamp, stamp_ns = timestamps(rows, "timestamp", chosen)
    if rows.columns.has_any("network_timestamp"):
        other, other_ns = timestamps(rows, "network_timestamp", chosen)
        stamp, stamp_ns = stamp.fill_null(other), stamp_ns.fill_null(other_ns)
    qos = qos_of(rows, chosen)
    found = place_columns(rows, places, chosen) | sender_columns(rows, places, chosen)
    found |= {
        "kind": coded(np.where(is_put, 0, 1), ("PUT", "DEL")),
        "key": coded(keys.codes[chosen], keys.texts),
        "payload": payload,
        "payload_size": pa.compute.binary_length(payload).cast(pa.int64()),
        "encoding": encodings(rows, chosen, is_put),
        "timestamp": stamp,
        "timestamp_ns": stamp_ns,
        "priority": numbers_of(PRIORITY_OF_QOS[qos]),
        "congestion": coded(CONGESTION_OF_QOS[qos], CONGESTIONS),
        "express": pa.array(EXPRESS_OF_QOS[qos]),
        "reliability": reliability(rows, chosen),
        "attachment": stretches(rows, "attachment", chosen),
        "source_zid": texts_of(rows, "source_zid", chosen, zid_text),
        "source_eid": rows.numbers("source_eid", chosen),
        "source_sn": rows.numbers("source_sn", chosen),
        "ignored": pa.nulls(len(chosen), pa.string()),
    }
    return table_of("samples", found)


def batch_table(rows: Decoded, places: Places, survey: Survey) -> pa.Table:
    units = rows.units
    chosen = np.flatnonzero(rows.forms == columnar.BATCH)
    pair, direction = units.pair[chosen], units.direction[chosen]
    different, which = np.unique(pair, return_inverse=True)
    addresses: dict[str, int] = {}
    by_direction = np.array(
        [
            [addresses.setdefault(end, len(addresses)) for end in survey.ends(one)]
            for one in different.tolist()
        ],
        np.int32,
    ).reshape(-1, 2)
    count = len(chosen)
    found = places.of(pair) | {
        "packet": numbers_of(units.packet[chosen]),
        "time_ns": numbers_of(units.time_ns[chosen]),
        "sender": coded(by_direction[which, direction], list(addresses)),
        "receiver": coded(by_direction[which, 1 - direction], list(addresses)),
        "protocol": constant("tcp", count),
        "seq": numbers_of(rows.unit_seq[chosen]),
        "state": constant("ok", count),
        "bytes": numbers_of(np.diff(units.bounds)[chosen]),
        "cause": pa.nulls(count, pa.string()),
    }
    return table_of("batches", found)
