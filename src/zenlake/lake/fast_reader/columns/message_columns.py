"""The rows of `messages` and `samples`, column by column."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from zenlake import columnar
from zenlake.lake.fast_reader import Survey
from zenlake.lake.fast_reader.columns.decoded import (
    ALL,
    HANDSHAKES,
    TRANSPORT,
    Decoded,
    Rows,
    numbers,
)
from zenlake.lake.fast_reader.columns.details import details
from zenlake.lake.fast_reader.columns.keys import KeyColumn
from zenlake.lake.fast_reader.columns.places import Places
from zenlake.lake.fast_reader.columns.values import (
    PRIORITY_OF_QOS,
    coded,
    constant,
    encodings,
    numbers_of,
    qos_columns,
    qos_of,
    stretches,
    texts_of,
    timestamps,
    zid_text,
)
from zenlake.lake.schema.filled import check_filled
from zenlake.lake.schema.written import WRITTEN
from zenlake.wire.defaults import DEFAULT_PRIORITY

_RELIABILITIES: Final = ("best_effort", "reliable")
_KINDS: Final = columnar.kinds()


def place_columns(rows: Decoded, places: Places, chosen: Rows | slice) -> dict[str, pa.Array]:
    """The common columns of some rows."""
    return places.columns_of(rows.pair[chosen]) | {
        "packet": numbers_of(rows.packet[chosen]),
        "time_ns": numbers_of(rows.time_ns[chosen]),
        "seq": numbers_of(rows.seq[chosen]),
    }


def sender_columns(rows: Decoded, places: Places, chosen: Rows | slice) -> dict[str, pa.Array]:
    owner = rows.owner[chosen]
    return {"sender_zid": places.zids(owner), "receiver_zid": places.zids(owner ^ 1)}


def message_table(rows: Decoded, keys: KeyColumn, places: Places) -> pa.Table:
    chosen = ALL
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
        "detail": details(rows),
        "error": pa.nulls(len(rows), pa.string()),
    }
    return table_of("messages", found)


def table_of(name: str, found: dict[str, pa.Array]) -> pa.Table:
    table = WRITTEN[name].base
    check_filled(table, found, "fast")
    return pa.table({column: found[column] for column in table.names}).replace_schema_metadata(
        table.arrow.metadata
    )


def reliability(rows: Decoded, chosen: Rows | slice) -> pa.Array:
    """Low latency has no channels, and is reliable (wire reference §9)."""
    reliable, present = rows.channel("reliable")
    absent = np.where(rows.is_kind(*TRANSPORT), -1, 1)
    return coded(np.where(present, reliable, absent)[chosen], _RELIABILITIES)


def _priority(rows: Decoded, chosen: Rows | slice) -> pa.Array:
    """The message's own priority; for FRAME and FRAGMENT that of their channel."""
    carrier, sent = rows.channel("priority")
    is_transport = rows.is_kind(*TRANSPORT)[chosen]
    own = PRIORITY_OF_QOS[qos_of(rows, chosen)]
    of_channel = np.where(sent, carrier, DEFAULT_PRIORITY)[chosen]
    is_null = rows.is_kind("KEEP_ALIVE", *HANDSHAKES)[chosen]
    return numbers(np.where(is_transport, of_channel, own), ~is_null)


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
    found = place_columns(rows, places, chosen) | sender_columns(rows, places, chosen)
    key = coded(keys.codes[chosen], keys.texts)
    found |= qos_columns(rows, chosen) | {
        "kind": coded(np.where(is_put, 0, 1), ("PUT", "DEL")),
        "key": key,
        "payload": payload,
        "payload_size": pa.compute.binary_length(payload).cast(pa.int64()),
        "encoding": encodings(rows, chosen, is_put),
        "timestamp": stamp,
        "timestamp_ns": stamp_ns,
        "reliability": reliability(rows, chosen),
        "attachment": stretches(rows, "attachment", chosen),
        "source_zid": texts_of(rows, "source_zid", chosen, zid_text),
        "source_eid": rows.numbers("source_eid", chosen),
        "source_sn": rows.numbers("source_sn", chosen),
        "ignored": pa.nulls(len(chosen), pa.string()),
        # Right for a publication that crosses one link; a later step corrects the others.
        "trace_id": pa.compute.if_else(key.is_valid(), found["seq"], None),
    }
    return table_of("samples", found)


def batch_table(rows: Decoded, places: Places, survey: Survey) -> pa.Table:
    units = rows.units
    chosen = np.flatnonzero(rows.is_batch)
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
    found = places.columns_of(pair) | {
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
