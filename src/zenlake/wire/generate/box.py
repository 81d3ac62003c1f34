"""Draws a layout as the pages draw it: a box of one byte's width, a row for each field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import (
    Bits,
    BodyRow,
    ByteRow,
    ChainRow,
    Condition,
    FieldRow,
    KeyRow,
    Layout,
    ListRow,
    MessagesRow,
    OamBodyRow,
    Row,
    WireType,
    ZidRow,
    condition_of,
)

_RULER = " 7 6 5 4 3 2 1 0"
_BITS_LINE = "+-+-+-+-+-+-+-+-+"
_HEADER_LINE = "+-+-+-+---------+"
_LINE = "+---------------+"
_WIDTH = 15


class Cell(NamedTuple):
    """One row of a box. `edge` is the page's sign: `|` fixed, `%` variable integer, `~` any."""

    edge: str
    text: str
    note: str


def draw(layout: Layout) -> list[str]:
    """The box, line by line."""
    lines = [_RULER, _BITS_LINE]
    for cell in cells(layout):
        note = f"   {cell.note}" if cell.note else ""
        lines.append(f"{cell.edge}{cell.text.center(_WIDTH)}{cell.edge}{note}")
        lines.append(_HEADER_LINE if layout.header and len(lines) == 3 else _LINE)
    return lines


def cells(layout: Layout) -> Iterator[Cell]:
    if layout.header:
        yield Cell("|", _bits_text(layout.header, layout.label), f"ID = 0x{layout.id:02X}")
    for row in layout.rows:
        yield from _cells_of(layout, row)


def _cells_of(layout: Layout, row: Row) -> Iterator[Cell]:
    when = condition_text(layout, condition_of(row))
    match row:
        case ByteRow():
            yield Cell("%" if row.vle else "|", _bits_text(row.bits), when)
        case FieldRow():
            yield from _field_cells(row, when)
        case ZidRow():
            yield Cell("~", "ZID", _join(when, "(1 + zid_len) bytes"))
        case KeyRow():
            suffix = _and(when, f"if {row.suffix_if}==1")
            yield Cell("%", "key_scope:z16", when)
            yield Cell("~", "key_suffix", _join(suffix, row.suffix.name))
        case ListRow():
            yield from _list_cells(row, when)
        case ChainRow():
            names = ", ".join(ext.attribute for ext in layout.extensions)
            yield Cell("~", f"[{row.cell}]", "if Z==1" + (f" ({names})" if names else ""))
        case BodyRow():
            yield Cell("~", row.cell, " or ".join(_named(choice) for choice in row.choices))
        case MessagesRow() | OamBodyRow():
            yield Cell("~", row.cell, "")


def _field_cells(row: FieldRow, when: str) -> Iterator[Cell]:
    text = row.cell or f"{row.attribute}:{row.type.name}"
    if row.type.name == "u16":
        yield Cell("|", f"{text}_lo", _join(when, "u16, little-endian"))
        yield Cell("|", f"{text}_hi", "")
        return
    edge = "|" if row.type.name == "u8" else "%" if row.type.is_vle else "~"
    shown = row.attribute if row.type.name == "u8" and not row.cell else text
    yield Cell(edge, shown, _join(when, row.type.name if row.type.name not in text else ""))


def _list_cells(row: ListRow, when: str) -> Iterator[Cell]:
    item = row.item if isinstance(row.item, str) else row.item.name
    if isinstance(row.count, WireType):
        yield Cell("%", f"{row.cell or row.attribute}_count", when)
        times = f"{row.cell or row.attribute}_count"
    else:
        times = str(row.count)
    yield Cell("~", f"[{row.attribute}]", _join(when, f"{times} x {item}"))


def _named(class_name: str) -> str:
    layout = LAYOUTS[class_name]
    return f"{layout.name} (0x{layout.id:02X})"


def _bits_text(groups: tuple[Bits, ...], label: str = "") -> str:
    """Groups between `|`, each as wide as its bits are drawn."""
    parts = []
    for bits in groups:
        text = label if bits.name == "id" else bits.name
        parts.append(text.center(2 * bits.width - 1))
    return "|".join(parts)


def condition_text(layout: Layout, condition: Condition | None) -> str:
    if condition is None:
        return ""
    _, bits = layout.bits_by_name[condition.bits]
    if bits.width > 1:
        return f"if {condition.bits}!=0"
    return f"if {condition.bits}=={0 if condition.unless else 1}"


def _and(first: str, second: str) -> str:
    return f"{first} && {second.removeprefix('if ')}" if first else second


def _join(when: str, note: str) -> str:
    return f"{when}: {note}" if when and note else when or note
