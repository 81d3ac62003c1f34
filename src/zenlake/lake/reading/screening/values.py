"""Values of many messages: what rules about a single message may remark on."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from zenlake import columnar
from zenlake.lake.reading.columns.decoded import Decoded
from zenlake.lake.reading.columns.keys import KeyColumn
from zenlake.lake.reading.screening.terms import Terms
from zenlake.rules.keys import cause_of
from zenlake.wire.values.encoding import CUSTOM_ID, ENCODING_NAMES

Flags = NDArray[np.bool_]

_DATA: Final = 5
_NS_PER_S: Final = 1_000_000_000
_AHEAD_NS: Final = 500_000_000
_PUSHES: Final = ("PUSH/PUT", "PUSH/DEL")
_REPLIES: Final = ("RESPONSE/REPLY/PUT", "RESPONSE/REPLY/DEL")
RESPONSES: Final = (*_REPLIES, "RESPONSE/ERR")


def doubtful_values(rows: Decoded, keys: KeyColumn, terms: Terms) -> Flags:
    doubt = _carriers(rows, terms) | _qos(rows, terms) | _keys(rows, keys)
    return doubt | _queries(rows, terms) | _samples(rows, terms)


def doubtful_units(rows: Decoded, terms: Terms) -> Flags:
    """Of units: their size, and how many messages they hold."""
    units = rows.units
    size = np.diff(units.bounds)
    is_low = units.form == columnar.LOW_LATENCY
    counts = np.bincount(rows.unit, minlength=len(units))
    agreed = terms.batch_size[units.pair]
    doubt = rows.is_batch & (size + np.where(is_low, 0, 2) > agreed)
    doubt |= is_low & (counts > 1)
    fragments = np.flatnonzero(rows.is_kind("FRAGMENT") & (rows.columns["fragment_more"] != 0))
    places = rows.unit[fragments]
    small = 2 * (size[places] + 2) <= agreed[places]
    doubt[places[small]] = True
    found: Flags = doubt
    return found


def _carriers(rows: Decoded, terms: Terms) -> Flags:
    columns, present = rows.columns, rows.present("priority")
    is_carrier = rows.is_kind("FRAME", "FRAGMENT")
    priority = columns["priority"]
    doubt: Flags = is_carrier & present & ((priority == _DATA) | ~terms.qos[rows.pair])
    fragments = rows.is_kind("FRAGMENT")
    is_marked = (columns["fragment_first"] != 0) | (columns["fragment_drop"] != 0)
    doubt |= fragments & is_marked & (terms.patch[rows.pair] == 0)
    doubt |= fragments & (columns["payload_length"] == 0)
    empty = np.flatnonzero(rows.is_kind("FRAME"))
    following = np.minimum(empty + 1, len(rows) - 1)
    holds = (rows.unit[following] == rows.unit[empty]) & (following > empty)
    holds &= ~rows.is_kind("FRAME", "FRAGMENT", "KEEP_ALIVE", "CLOSE")[following]
    doubt[empty[~holds]] = True
    return doubt


def _qos(rows: Decoded, terms: Terms) -> Flags:
    """Priorities, congestion control, and channels."""
    asks = rows.is_kind("REQUEST", *RESPONSES, "RESPONSE_FINAL")
    pushes = rows.is_kind(*_PUSHES)
    present = rows.present("qos")
    byte = np.where(present, rows.columns["qos"], _DATA)
    priority, has_priority = rows.channel("priority")
    reliable, has_reliable = rows.channel("reliable")
    channel = np.where(has_priority, priority & 7, _DATA)
    # What low latency carries is in no channel.
    differs = has_reliable & terms.qos[rows.pair] & (byte & 7 != channel)
    doubt = (asks | pushes) & (differs | (present & (byte == _DATA)))
    doubt |= (asks | pushes) & (byte & 0x28 == 0x28)
    doubt |= pushes & (byte & 7 == 0)
    doubt |= asks & has_reliable & (reliable == 0)
    found: Flags = doubt
    return found


def _keys(rows: Decoded, keys: KeyColumn) -> Flags:
    codes = keys.codes
    texts = keys.texts
    is_bad = np.array([bool(text) and cause_of(text) is not None for text in texts] + [False])
    is_empty = np.array([not text for text in texts] + [False])
    is_wide = np.array(["*" in text for text in texts] + [False])
    pushes = rows.is_kind(*_PUSHES)
    frequent = pushes | rows.is_kind("REQUEST", *RESPONSES)
    unknown = (codes < 0) & frequent
    doubt = unknown | (frequent & is_bad[codes]) | (pushes & is_wide[codes])
    # Responses without a key are told by `Screen` itself.
    found: Flags = doubt | ((pushes | rows.is_kind("REQUEST")) & is_empty[codes])
    return found


def _queries(rows: Decoded, terms: Terms) -> Flags:
    columns = rows.columns
    requests = rows.is_kind("REQUEST")
    doubt = requests & ~rows.present("timeout_ms")
    doubt |= requests & rows.present("budget")
    doubt |= requests & rows.present("target") & (columns["target"] == 0)
    doubt |= requests & rows.present("consolidation") & (columns["consolidation"] == 0)
    bits = np.minimum(terms.request_bits[rows.pair], 63)
    doubt |= requests & (columns["request_id"].astype(np.int64) >> bits != 0)
    doubt |= rows.is_kind(*_REPLIES) & rows.present("consolidation")
    found: Flags = doubt
    return found


def _samples(rows: Decoded, terms: Terms) -> Flags:
    columns = rows.columns
    pushes = rows.is_kind(*_PUSHES)
    frequent = pushes | rows.is_kind("REQUEST", *RESPONSES)
    doubt = frequent & ((columns["unknown_extensions"] != 0) | (columns["shm"] != 0))
    id, has_encoding = columns["encoding_id"], rows.present("encoding")
    has_schema = columns["encoding_schema_offset"] != 0
    doubt |= frequent & has_encoding & (id >= len(ENCODING_NAMES)) & (id != CUSTOM_ID)
    puts = rows.is_kind("PUSH/PUT")
    doubt |= puts & has_encoding & (id == 0) & ~has_schema
    for row in np.flatnonzero(frequent & has_schema).tolist():
        schema = columns.bytes_of("encoding_schema", row) or b""
        doubt[row] |= not schema.isascii()
    nodes = pushes | rows.is_kind("REQUEST")
    doubt |= nodes & rows.present("node_id") & (columns["node_id"] == 0)
    doubt |= nodes & (columns["node_id"] != 0) & ~terms.are_routers[rows.pair]
    if columns.has_any("timestamp"):
        time = columns["timestamp_time"]
        seconds = (time >> np.uint64(32)).astype(np.int64)
        fraction = (time & np.uint64(0xFFFF_FFFF)).astype(np.int64)
        ns = seconds * _NS_PER_S + (fraction * _NS_PER_S >> 32)
        late = seconds >= 1 << 33
        ahead = late | (ns - rows.time_ns >= _AHEAD_NS)
        doubt |= pushes & rows.present("timestamp") & ahead
    found: Flags = doubt
    return found
