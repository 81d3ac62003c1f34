"""The result of the scalar decoder for a unit, as the rows that columns should have.

Values are taken from the attributes of messages; only the names of fields come from `columnar`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from zenlake.columnar.fields import OAM_NUMBER, field_of
from zenlake.columnar.forms import BATCH, LOW_LATENCY, SCOUTING
from zenlake.errors import WireError
from zenlake.wire import (
    Encoding,
    Frame,
    QoS,
    QueryableInfo,
    Resolution,
    Timestamp,
    WireExpr,
    ZenohId,
    decode_network,
    decode_scouting,
)
from zenlake.wire.batch import decode_batch, decode_low_latency
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.kinds import kind_of
from zenlake.wire.layout import BodyRow, ByteRow, ChainRow, ExtRow, MessagesRow, OamBodyRow
from zenlake.wire.message import Message
from zenlake.wire.values.qos_link import QoSLink
from zenlake.wire.values.whatami import WhatAmIMatcher


@dataclass
class Row:
    """One message: its kind, its present fields, and the number of unknown extensions."""

    kind: str
    message: Message
    fields: dict[str, Any] = field(default_factory=dict)
    unknown: int = 0


def scalar_unit(content: bytes, form: int) -> tuple[list[Row], WireError | None]:
    """The rows of one unit, and the error that ended it."""
    messages: list[Message] = []
    error: WireError | None = None
    if form in (BATCH, LOW_LATENCY):
        unit = decode_batch(content) if form == BATCH else decode_low_latency(content)
        messages, error = [*unit.messages], unit.error
    else:
        decode_one = decode_scouting if form == SCOUTING else decode_network
        try:
            messages = [decode_one(content, 0)[0]]
        except WireError as raised:
            error = raised
    return [row for message in messages for row in rows_of(message)], error


def rows_of(message: Message) -> list[Row]:
    """A message, and those inside it that are rows of their own."""
    rows = [_row_of(message)]
    if isinstance(message, Frame):
        carrier = {name: rows[0].fields[name] for name in _CARRIED if name in rows[0].fields}
        for inner in message.messages:
            row = _row_of(inner)
            row.fields |= carrier
            rows.append(row)
    return rows


_CARRIED = ("sn", "reliable", "priority")


def _row_of(message: Message) -> Row:
    row = Row(kind_of(message), message)
    _add_fields(row, message)
    return row


def _add_fields(row: Row, message: Message) -> None:
    layout = LAYOUTS[type(message).__name__]
    for one in layout.rows:
        if isinstance(one, ByteRow | MessagesRow):
            continue
        value = getattr(message, one.attribute)
        found = field_of(layout, one)
        if value is None:
            continue
        if isinstance(one, ChainRow):
            row.unknown += len(value)
        elif isinstance(one, BodyRow) or (isinstance(one, ExtRow) and found is None):
            _add_fields(row, value)
        else:
            assert found is not None
            is_number = isinstance(one, OamBodyRow) and isinstance(value, int)
            name = OAM_NUMBER.name if is_number else found.name
            assert name not in row.fields, f"{name} twice in {message}"
            row.fields[name] = _plain(value)


def _plain(value: Any) -> Any:
    """The value in the form of columns: numbers, bytes, and tuples of these."""
    match value:
        case bool():
            return int(value)
        case IntEnum():
            return int(value)
        case str():
            return value.encode()
        case QoS() | Resolution():
            return value.byte
        case WhatAmIMatcher():
            return value.mask
        case QoSLink():
            return value.value
        case ZenohId():
            return value.raw
        case QueryableInfo():
            return int(value.complete), value.distance
        case Timestamp():
            return value.time, value.id.raw
        case Encoding():
            return value.id, value.schema
        case WireExpr():
            return value.scope, int(value.sender), value.suffix.encode()
    return value
