"""Columns as an Arrow record batch: numbers and payloads are not copied.

Numbers are the memory that kernels wrote, byte ranges are views into the buffer, keys are
dictionary-encoded. A field that a message does not have is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from zenlake.columnar.fields import Field, fields
from zenlake.columnar.intern import intern_keys
from zenlake.columnar.kinds import kinds
from zenlake.columnar.views import views_of
from zenlake.errors import LocalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.columnar.columns import Columns

_TYPES: Final = {
    "small": pa.uint8(),
    "word": pa.uint32(),
    "long": pa.uint64(),
    "bool": pa.bool_(),
    "span": pa.binary_view(),
    "text": pa.string_view(),
}
_OF_EVERY_ROW: Final = {
    "unit": "word",
    "offset": "word",
    "length": "word",
    "unknown_extensions": "small",
}
_KEY: Final = pa.struct(
    [
        pa.field("scope", pa.uint32(), nullable=False),
        pa.field("sender", pa.bool_(), nullable=False),
        pa.field("suffix", pa.string_view(), nullable=False),
    ]
)


def to_arrow(columns: Columns, names: Iterable[str] | None = None) -> pa.RecordBatch:
    """The rows with the named fields, or with all.

    The batch keeps the buffer and the columns alive. A timestamp is two columns (`timestamp_time`,
    `timestamp_id`), an encoding too (`encoding_id`, `encoding_schema`).
    """
    chosen = fields().values() if names is None else [fields()[name] for name in names]
    found: dict[str, pa.Array] = {"kind": _kinds(columns)}
    for name, shape in _OF_EVERY_ROW.items():
        found[name] = _numbers(_TYPES[shape], columns[name], None)
    for field in chosen:
        found |= _arrays(columns, field)
    return pa.RecordBatch.from_pydict(found)


def units_of(array: pa.Array) -> tuple[pa.Buffer, NDArray[np.int64]]:
    """Buffer and bounds of a binary column, one unit a row, for `decode`; nothing is copied."""
    if array.type not in (pa.binary(), pa.large_binary()) or array.null_count:
        raise LocalError(f"expected units as binary without nulls, not as {array.type}")
    _, offsets, data = array.buffers()
    width = np.int32 if array.type == pa.binary() else np.int64
    bounds = np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1]
    return data if data is not None else pa.py_buffer(b""), bounds.astype(np.int64)


def _kinds(columns: Columns) -> pa.Array:
    codes = pa.array(columns["kind"].view(np.int8))
    return pa.DictionaryArray.from_arrays(codes, pa.array(kinds()))


def _arrays(columns: Columns, field: Field) -> dict[str, pa.Array]:
    """The columns of a field; a field that no row has costs no time."""
    if not columns.has_any(field.name):
        return {name: pa.nulls(len(columns), type) for name, type in _columns_of(field)}
    present = columns.present(field.name)
    if field.shape == "key":
        return {field.name: _keys(columns)}
    found = {}
    for name, type in _columns_of(field):
        if type not in (_TYPES["span"], _TYPES["text"]):
            found[name] = _numbers(type, columns[name], present)
        elif columns[f"{name}_offset"].any():
            found[name] = _stretches(columns, name, type)
        else:
            found[name] = pa.nulls(len(columns), type)
    return found


def _columns_of(field: Field) -> Iterator[tuple[str, pa.DataType]]:
    """Names and types in Arrow."""
    if field.shape == "key":
        yield field.name, pa.dictionary(pa.int32(), _KEY)
        return
    for width, name in field.columns:
        if name.endswith("_offset"):
            is_text = field.shape == "text"
            yield name.removesuffix("_offset"), _TYPES["text" if is_text else "span"]
        elif name.endswith("_complete") or field.shape == "bool":
            yield name, pa.bool_()
        elif not name.endswith("_length"):
            yield name, _TYPES[width]


def _numbers(
    type: pa.DataType, column: NDArray[Any], present: NDArray[np.bool_] | None
) -> pa.Array:
    data = np.packbits(column, bitorder="little") if type == pa.bool_() else column
    return pa.Array.from_buffers(type, len(column), [_validity(present), pa.py_buffer(data)])


def _stretches(columns: Columns, name: str, type: pa.DataType) -> pa.Array:
    """Views into the buffer, null if a row does not have the field."""
    offsets = columns[f"{name}_offset"]
    views = views_of(columns, offsets, columns[f"{name}_length"])
    buffers = [_validity(offsets != 0), pa.py_buffer(views), pa.py_buffer(columns.data)]
    return pa.Array.from_buffers(type, len(columns), buffers)


def _validity(present: NDArray[np.bool_] | None) -> pa.Buffer | None:
    if present is None or present.all():
        return None
    return pa.py_buffer(np.packbits(present, bitorder="little"))


def _keys(columns: Columns) -> pa.Array:
    """Indices into the list of distinct keys, which are in the order of appearance."""
    keys = intern_keys(columns)
    offsets = columns["key_suffix_offset"][keys.rows]
    views = views_of(columns, offsets, columns["key_suffix_length"][keys.rows])
    buffers = [None, pa.py_buffer(views), pa.py_buffer(columns.data)]
    suffixes = pa.Array.from_buffers(pa.string_view(), len(offsets), buffers)
    scopes = pa.array(columns["key_scope"][keys.rows])
    senders = pa.array(columns["key_sender"][keys.rows].astype(np.bool_))
    different = pa.StructArray.from_arrays([scopes, senders, suffixes], fields=list(_KEY))
    ids = _numbers(pa.int32(), keys.ids, columns.present("key"))
    return pa.DictionaryArray.from_arrays(ids, different)
