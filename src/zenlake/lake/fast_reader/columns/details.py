"""The `detail` of many messages: most have none, and equal messages are decoded once."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zenlake import columnar
from zenlake.columnar.intern import intern_stretches
from zenlake.lake.fast_reader.columns.decoded import CODES, TRANSPORT, Decoded, Rows
from zenlake.lake.fast_reader.columns.values import coded
from zenlake.trace.rows.detail import KINDS_WITH_DETAIL, detail_of
from zenlake.wire import decode_network, decode_transport

_KINDS: Final = columnar.kinds()
_HEAD_OF_FRAGMENT: Final = 16
"""Header, sequence number and extensions: the payload adds nothing to the detail."""


def details(rows: Decoded) -> pa.Array:
    columns = rows.columns
    codes = np.full(len(rows), -1, np.int32)
    texts: dict[str, int] = {}
    is_read = rows.is_kind(*KINDS_WITH_DETAIL) | (columns["stamps_offset"] != 0)
    is_read |= columns["unknown_extensions"] != 0
    has_only_id = rows.present("node_id") & ~is_read
    if rows.fragments:
        whole = np.array(list(rows.fragments))
        is_read[whole] = has_only_id[whole] = False
        codes[whole] = _codes(rows, whole, texts)
    ids = columns["node_id"]
    for number in np.unique(ids[has_only_id]).tolist():
        code = texts.setdefault(f'{{"node_id": {number}}}', len(texts))
        codes[has_only_id & (ids == number)] = code
    chosen = np.flatnonzero(is_read)
    if len(chosen):
        # Equal messages have equal details.
        lengths = _lengths(rows, chosen)
        present = np.ones(len(chosen), np.bool_)
        offsets = columns["offset"][chosen]
        found = intern_stretches(columns.data, offsets, lengths, present=present)
        codes[chosen] = _codes(rows, chosen[found.rows], texts)[found.ids]
    return coded(codes, list(texts))


def _lengths(rows: Decoded, chosen: Rows) -> NDArray[np.uint32]:
    found: NDArray[np.uint32] = rows.columns["length"][chosen]
    is_fragment = rows.kind[chosen] == CODES["FRAGMENT"]
    found[is_fragment] = np.minimum(found[is_fragment], _HEAD_OF_FRAGMENT)
    return found


def _codes(rows: Decoded, chosen: Rows, texts: dict[str, int]) -> NDArray[np.int32]:
    """Codes of the details of some rows, which the scalar decoder reads."""
    columns = rows.columns
    content = columns.data.data
    starts, lengths = columns["offset"][chosen].tolist(), _lengths(rows, chosen).tolist()
    kinds = rows.kind[chosen].tolist()
    found = []
    for row, code, start, length in zip(chosen.tolist(), kinds, starts, lengths, strict=True):
        kind = _KINDS[code]
        decode = decode_transport if kind in TRANSPORT else decode_network
        message = decode(bytes(content[start : start + length]), 0)[0]
        text = detail_of(kind, message, rows.fragments.get(row, 0))
        found.append(-1 if text is None else texts.setdefault(text, len(texts)))
    return np.array(found, np.int32)
