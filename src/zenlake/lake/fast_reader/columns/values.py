"""Columns as Arrow arrays; texts, of which few are different, as dictionary arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zenlake.columnar.intern import intern_stretches
from zenlake.columnar.stretch_copies import copied_stretches
from zenlake.lake.fast_reader.columns.decoded import Decoded, Rows
from zenlake.wire.defaults import DEFAULT_QOS_BYTE
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import QOS_BYTES, CongestionControl

_NS_PER_S: Final = 1_000_000_000
_DEFAULT_ENCODING: Final = "zenoh/bytes"
_CONGESTIONS: Final = [str(one) for one in CongestionControl]
PRIORITY_OF_QOS: Final = np.array([int(one.priority) for one in QOS_BYTES], np.int64)
_CONGESTION_OF_QOS: Final = np.array([int(one.congestion) for one in QOS_BYTES], np.int32)
_EXPRESS_OF_QOS: Final = np.array([one.express for one in QOS_BYTES], np.bool_)


def coded(codes: NDArray[Any], texts: Sequence[str | None]) -> pa.Array:
    """A dictionary array: texts by code, null where the code is negative."""
    indices = codes.astype(np.int32, copy=False)
    dictionary = pa.array(texts, pa.string())
    if dictionary.null_count:
        # Nulls must be in the indices, not in the dictionary.
        is_text = np.array([text is not None for text in texts], np.bool_)
        indices = np.where(is_text[indices] & (indices >= 0), indices, -1).astype(np.int32)
        dictionary = dictionary.fill_null("")
    is_null = indices < 0
    if is_null.any():
        validity = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
        indices = np.where(is_null, 0, indices).astype(np.int32)
    else:
        validity = None
    if not len(dictionary):
        dictionary = pa.array([""], pa.string())
    array = pa.Array.from_buffers(pa.int32(), len(indices), [validity, pa.py_buffer(indices)])
    return pa.DictionaryArray.from_arrays(array, dictionary, safe=False)


def constant(text: str, count: int) -> pa.Array:
    return coded(np.zeros(count, np.int32), [text])


def numbers_of(values: NDArray[Any]) -> pa.Array:
    return pa.array(np.ascontiguousarray(values, np.int64))


def qos_of(rows: Decoded, chosen: Rows | slice) -> NDArray[np.int64]:
    """The QoS byte, or the default where none was sent."""
    sent = rows.columns["qos"][chosen].astype(np.int64)
    return np.where(rows.present("qos")[chosen], sent, DEFAULT_QOS_BYTE)


def qos_columns(rows: Decoded, chosen: Rows) -> dict[str, pa.Array]:
    qos = qos_of(rows, chosen)
    return {
        "priority": numbers_of(PRIORITY_OF_QOS[qos]),
        "congestion": coded(_CONGESTION_OF_QOS[qos], _CONGESTIONS),
        "express": pa.array(_EXPRESS_OF_QOS[qos]),
    }


def stretches(
    rows: Decoded, name: str, chosen: Rows, hidden: NDArray[Any] | None = None
) -> pa.Array:
    """Bytes as binary, null where absent or hidden."""
    columns = rows.columns
    offsets, lengths = columns[f"{name}_offset"][chosen], columns[f"{name}_length"][chosen]
    present = offsets != 0
    if hidden is not None:
        present &= ~hidden
    return copied_stretches(columns.data, offsets, lengths, present)


def texts_of(rows: Decoded, name: str, chosen: Rows, read: Callable[[bytes], str]) -> pa.Array:
    """Byte columns as text; `read` is called once for equal values."""
    columns = rows.columns
    offsets, lengths = columns[f"{name}_offset"][chosen], columns[f"{name}_length"][chosen]
    found = intern_stretches(columns.data, offsets, lengths)
    content = columns.data.data
    texts = [
        read(bytes(content[int(offsets[row]) : int(offsets[row]) + int(lengths[row])]))
        for row in found.rows.tolist()
    ]
    return coded(found.ids, texts)


def zid_text(raw: bytes) -> str:
    """As `ZenohId` prints it: the number, little-endian on the wire, without leading zeros."""
    return raw[::-1].hex().lstrip("0")


def encodings(rows: Decoded, chosen: Rows, default: NDArray[np.bool_]) -> pa.Array:
    """Effective encodings: the protocol's default where `default` holds and none was sent."""
    columns = rows.columns
    offsets = columns["encoding_schema_offset"][chosen]
    lengths = columns["encoding_schema_length"][chosen]
    ids = columns["encoding_id"][chosen]
    present = rows.present("encoding")[chosen]
    found = intern_stretches(columns.data, offsets, lengths, ids, present)
    texts = [_DEFAULT_ENCODING]
    for row in found.rows.tolist():
        start = int(offsets[row])
        schema = columns.data[start : start + int(lengths[row])].tobytes() if start else None
        texts.append(str(Encoding(int(ids[row]), schema)))
    numbers = {text: code for code, text in reversed(list(enumerate(texts)))}
    renamed = np.array([numbers[text] for text in texts], np.int32)
    codes = np.where(present, renamed[found.ids + 1], np.where(default, 0, -1))
    return coded(codes, texts)


def timestamps(rows: Decoded, name: str, chosen: Rows) -> tuple[pa.Array, pa.Array]:
    """`<ntp64>/<id>`, and nanoseconds since 1970 rounded up as deployed nodes do."""
    places = np.flatnonzero(rows.present(name)[chosen])
    count, stamped = len(chosen), chosen[places]
    if not len(places):
        return pa.nulls(count, pa.string()), pa.nulls(count, pa.int64())
    times = rows.columns[f"{name}_time"][stamped]
    ids = texts_of(rows, f"{name}_id", stamped, zid_text).cast(pa.string())
    text = pc.binary_join_element_wise(pa.array(times).cast(pa.string()), ids, "/")
    seconds, fraction = times >> np.uint64(32), times & np.uint64(0xFFFF_FFFF)
    rounded = (fraction * np.uint64(_NS_PER_S) + np.uint64(0xFFFF_FFFF)) >> np.uint64(32)
    ns = pa.array((seconds * np.uint64(_NS_PER_S) + rounded).astype(np.int64))
    return placed(text, places, count), placed(ns, places, count)


def placed(values: pa.Array, places: NDArray[np.int64], count: int) -> pa.Array:
    """Values at their places among `count`; null elsewhere."""
    if len(places) == count:
        return values
    indices = np.full(count, -1, np.int32)
    indices[places] = np.arange(len(places), dtype=np.int32)
    return values.take(pa.array(indices, mask=indices < 0))
