"""Fields and columns, derived from the layouts of the messages.

Every leaf of every message is a field. Leaves with the same meaning have the same name: the
`payload` of a PUT, an ERR and a FRAGMENT is one field. A field has one column or a few (a key has
its scope, its suffix, and whose numbering it is). Lists, and structures with a list, are not
divided: the field is a byte range, which the scalar decoder can read.

An absent field is 0 in every column, so that fresh memory needs no filling and a field that no
message has costs nothing. If 0 is also a value, a bit of the column `present` distinguishes the
two; a byte range never begins at offset 0, where the first header is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import (
    BitsRow,
    Enc,
    ExtRow,
    FieldRow,
    KeyRow,
    Layout,
    ListRow,
    OamBodyRow,
    Row,
    WireType,
    ZidRow,
)

WIDTHS: Final = {"small": 1, "word": 4, "long": 8}

SHAPES: Final = {
    "bool": (("small", ""),),
    "small": (("small", ""),),
    "word": (("word", ""),),
    "long": (("long", ""),),
    "span": (("word", "_offset"), ("word", "_length")),
    "text": (("word", "_offset"), ("word", "_length")),
    "key": (
        ("word", "_scope"),
        ("small", "_sender"),
        ("word", "_suffix_offset"),
        ("word", "_suffix_length"),
    ),
    "timestamp": (("long", "_time"), ("word", "_id_offset"), ("word", "_id_length")),
    "encoding": (("word", "_id"), ("word", "_schema_offset"), ("word", "_schema_length")),
    "info": (("small", "_complete"), ("word", "_distance")),
}
"""The columns of a field: the width and the suffix of the name of each."""

STRETCHES: Final = ("span", "text")

_OF_EVERY_ROW: Final = (
    ("small", "kind"),
    ("small", "unknown_extensions"),
    ("word", "unit"),
    ("word", "offset"),
    ("word", "length"),
    ("long", "present"),
)

_NAMES: Final = {
    ("network", "timestamp"): "network_timestamp",
    ("declare", "id"): "entity_id",
    ("declare", "expr_id"): "entity_id",
    ("Interest", "id"): "interest_id",
    ("Oam", "id"): "oam_id",
    ("Oam", "body"): "oam_body",
    ("TransportOam", "id"): "oam_id",
    ("TransportOam", "body"): "oam_body",
    ("TransportOam", "qos"): "priority",
    ("Frame", "qos"): "priority",
    ("Fragment", "qos"): "priority",
    ("Fragment", "more"): "fragment_more",
    ("Fragment", "first"): "fragment_first",
    ("Fragment", "drop"): "fragment_drop",
    ("Init", "qos"): "has_qos",
    ("Open", "qos"): "has_qos",
    ("Join", "qos"): "lanes",
    ("Init", "shm"): "shm_offer",
    ("Join", "shm"): "shm_offer",
    ("Open", "shm"): "shm_answer",
    ("Open", "shm_bytes"): "shm_offer",
    ("Close", "session"): "close_session",
    ("Close", "reason"): "close_reason",
}
"""Names of fields that differ from the attribute: by class or layer, and attribute."""

_OFTEN: Final = ("Push", "Put", "Frame")
"""The columns of these fields are adjacent, because memory is zeroed in large pages."""

_PREFIXES: Final = {"SourceInfo": "source_", "ResponderId": "responder_"}


class Field(NamedTuple):
    name: str
    shape: str

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Width and name of each column."""
        return tuple((width, self.name + ending) for width, ending in SHAPES[self.shape])


OAM_NUMBER: Final = Field("oam_number", "long")
"""The field for the body of an OAM that is a number."""


def field_of(layout: Layout, row: Row) -> Field | None:
    """The field of a row; None for rows that are not stored or that consist of fields."""
    by_class, by_layer = (layout.class_name, row.attribute), (layout.layer, row.attribute)
    plain = _PREFIXES.get(layout.class_name, "") + row.attribute
    name = _NAMES.get(by_class) or _NAMES.get(by_layer) or plain
    match row:
        case BitsRow() | FieldRow():
            return Field(name, _shape_of(row.type))
        case ZidRow() | ListRow() | OamBodyRow():
            return Field(name, "span")
        case KeyRow():
            return Field(name, "key")
        case ExtRow():
            return _field_of_extension(name, row)
    return None


def _field_of_extension(name: str, row: ExtRow) -> Field | None:
    if row.marks:
        return Field(name, "word")
    if row.enc is Enc.UNIT:
        return Field(name, "bool")
    if isinstance(row.content, str):
        return Field(name, "span") if is_kept_whole(LAYOUTS[row.content]) else None
    assert row.content is not None
    return Field(name, _shape_of(row.content))


def is_kept_whole(layout: Layout) -> bool:
    """Whether a structure has a list, and therefore no columns of its own."""
    return any(isinstance(row, ListRow) for row in layout.rows)


def _shape_of(type: WireType) -> str:
    if type.python in ("Timestamp", "Encoding", "bool"):
        return type.python.lower()
    if type.python == "QueryableInfo":
        return "info"
    if type.python == "str":
        return "text"
    if type.limit is None:
        return "span"
    # Enumerations are small, even if their encoding is wide.
    if type.limit <= 0xFF or (type.of and type.python != "QoSLink"):
        return "small"
    return "word" if type.limit <= 0xFFFF_FFFF else "long"


def reachable() -> list[Layout]:
    """The messages, and the structures inside them."""
    names = {layout.class_name for layout in LAYOUTS.values() if layout.header}
    pending = list(names)
    while pending:
        inner = structures_in(LAYOUTS[pending.pop()]) - names
        names |= inner
        pending += inner
    return [layout for layout in LAYOUTS.values() if layout.class_name in names]


def structures_in(layout: Layout) -> set[str]:
    held = (getattr(row, word, None) for row in layout.rows for word in ("content", "item"))
    return {name for name in held if isinstance(name, str)}


def has_columns(layout: Layout) -> bool:
    """Whether a layout is stored in columns; lists, their items and owners are only checked."""
    items = {row.item for one in LAYOUTS.values() for row in one.rows if isinstance(row, ListRow)}
    return bool(layout.header) or not (is_kept_whole(layout) or layout.class_name in items)


@cache
def fields() -> dict[str, Field]:
    """Every field by its name, those of frequent messages first."""
    found: dict[str, Field] = {}
    for field in _all_fields():
        if found.setdefault(field.name, field) != field:
            raise ValueError(f"{field.name} is {field.shape} and {found[field.name].shape}")
    return found


def _all_fields() -> Iterator[Field]:
    often_first = sorted(reachable(), key=lambda layout: layout.class_name not in _OFTEN)
    for layout in filter(has_columns, often_first):
        for row in layout.rows:
            field = field_of(layout, row)
            if field is not None:
                yield field
            if isinstance(row, OamBodyRow):
                yield OAM_NUMBER


class Column(NamedTuple):
    """The offset of a column in a table of one row, and the bytes of each of its cells."""

    begin: int
    width: int


@cache
def columns() -> dict[str, Column]:
    """Every column by its name: narrow ones first, so that all are aligned."""
    named = [*_OF_EVERY_ROW, *(column for one in fields().values() for column in one.columns)]
    found: dict[str, Column] = {}
    begin = 0
    for width in (1, 4, 8):
        # Tables have a multiple of eight rows, so that words may begin at any byte of one.
        for name in (name for kind, name in named if WIDTHS[kind] == width):
            found[name] = Column(begin, width)
            begin += width
    return found


def row_bytes() -> int:
    """The bytes of a table of one row."""
    last = list(columns().values())[-1]
    return last.begin + last.width


@cache
def presence_bits() -> dict[str, int]:
    """The bit in `present` of each field that has one: all except byte ranges."""
    names = [field.name for field in fields().values() if field.shape not in STRETCHES]
    if len(names) > 63:
        raise ValueError("more fields than a word has bits")
    return {name: 1 << bit for bit, name in enumerate(names)}
