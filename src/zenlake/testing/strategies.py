"""Hypothesis strategies for messages, derived from their layouts.

`message("Push")` generates every PUSH that is the same after encoding and decoding; a new message
or extension in the definitions needs no change here. Only leaves are written by hand.

    @given(messages("network"))
    def test_something(message): ...
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from zenlake.limits import EXTENSIONS_PER_MESSAGE_MAX
from zenlake.testing.leaves import extensions, leaf, numbers, oam_bodies, slices, zids
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import (
    BitsRow,
    BodyRow,
    ByteRow,
    ChainRow,
    Condition,
    Enc,
    ExtRow,
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
from zenlake.wire.message import Extension, Message
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.walk.functions import runtime_name

LIST_MAX = 4
"""The maximum of items in a generated list; longer lists only cost time."""

_NO = st.just(False)
_YES_OR_NO = st.booleans()
_MARKED_BODIES = st.sampled_from(("none", "plain", "sliced", "only the mark"))


@cache
def message(class_name: str) -> SearchStrategy[Message]:
    """Messages of one class, or structures."""
    return _messages_of(LAYOUTS[class_name])


@cache
def messages(layer: str) -> SearchStrategy[Message]:
    """Messages of one layer: scouting, transport, network, data or declare."""
    names = [layout.class_name for layout in LAYOUTS.values() if layout.layer == layer]
    return st.one_of([message(name) for name in names])


@st.composite
def _messages_of(draw: DrawFn, layout: Layout) -> Message:
    return _Builder(draw, layout).build()


class _Builder:
    """Draws the rows of one layout in order; later ones may depend on earlier ones."""

    def __init__(self, draw: DrawFn, layout: Layout) -> None:
        self.draw = draw
        self.layout = layout
        self.values: dict[str, Any] = {}
        self.flags: dict[str, bool] = {}
        self.absent_bytes: set[str] = set()

    def build(self, **given: Any) -> Message:
        """A message; attributes in `given` are not drawn."""
        self.values = dict(given)
        for row in self.layout.rows:
            if row.attribute not in self.values:
                self._draw_row(row)
        message: Message = runtime_name(self.layout.class_name)(**self.values)
        return message

    def _draw_row(self, row: Row) -> None:
        there = self._is_there(condition_of(row))
        if isinstance(row, ByteRow):
            if not there:
                self.absent_bytes.add(row.attribute)
        elif isinstance(row, ExtRow):
            self._draw_extension(row)
        else:
            self.values[row.attribute] = self.draw(self._row(row)) if there else None

    def _is_there(self, condition: Condition | None) -> bool:
        """Rows under the same flag are present or absent together."""
        if condition is None:
            return True
        byte, _ = self.layout.bits_by_name[condition.bits]
        if byte in self.absent_bytes:
            return False
        stored = self.layout.stored_bits.get(condition.bits)
        if stored is not None:
            value = self.values[stored.attribute]
            number = runtime_name(stored.type.to)(value) if stored.type.to else value
            return bool(number) != condition.unless
        if condition.bits not in self.flags:
            self.flags[condition.bits] = self.draw(_YES_OR_NO)
        return self.flags[condition.bits] != condition.unless

    def _row(self, row: Row) -> SearchStrategy[Any]:
        match row:
            case BitsRow():
                absent = self.layout.bits_by_name[row.bits][0] in self.absent_bytes
                return _NO if absent else leaf(row.type)
            case FieldRow() if row.sliced_if and self.values[row.sliced_if]:
                return slices()
            case FieldRow():
                return leaf(row.type, nonzero=row.nonzero)
            case ZidRow():
                return zids()
            case KeyRow():
                return _keys(row)
            case ListRow():
                return self._list(row)
            case ChainRow():
                return _unknown_extensions(self.layout)
            case BodyRow():
                return _bodies(row)
            case MessagesRow():
                return _network_messages()
            case OamBodyRow():
                return oam_bodies()
        raise TypeError(f"there is no strategy for {type(row).__name__}")

    def _list(self, row: ListRow) -> SearchStrategy[Any]:
        if isinstance(row.count, str):
            return _lists(row, len(self.values[row.count]))
        return _lists(row, row.count if isinstance(row.count, int) else None)

    # --- extensions ---------------------------------------------------------------------------

    def _draw_extension(self, ext: ExtRow) -> None:
        if ext.marks:
            self._draw_marked(ext)
        elif ext.enc is Enc.UNIT:
            self.values[ext.attribute] = self.draw(_YES_OR_NO)
        elif self.draw(_YES_OR_NO):
            self.values[ext.attribute] = self.draw(_contents(ext))
        else:
            self.values[ext.attribute] = None

    def _draw_marked(self, mark: ExtRow) -> None:
        """The mark of a body in shared memory, and the body: slices, and the size of the data."""
        marked = next(row for row in self.layout.extensions if row.attribute == mark.marks)
        assert isinstance(marked.content, str)
        match self.draw(_MARKED_BODIES):
            case "none":
                size, body = None, None
            case "plain":
                size, body = None, self.draw(message(marked.content))
            case "sliced":
                builder = _Builder(self.draw, LAYOUTS[marked.content])
                size = self.draw(numbers(0xFFFF_FFFF))
                body = builder.build(payload=self.draw(slices()))
            case _:
                size, body = 0, None
        self.values[mark.attribute], self.values[marked.attribute] = size, body


# --- strategies of rows: made once, because making one costs more than drawing from it ---------


@cache
def _keys(row: KeyRow) -> SearchStrategy[WireExpr]:
    return st.builds(
        WireExpr,
        numbers(0xFFFF),
        st.just("") | leaf(row.suffix),
        _YES_OR_NO if row.sender_if else _NO,
    )


@cache
def _bodies(row: BodyRow) -> SearchStrategy[Message]:
    return st.one_of([message(choice) for choice in row.choices])


@cache
def _network_messages() -> SearchStrategy[list[Message]]:
    return st.lists(messages("network"), max_size=LIST_MAX)


@cache
def _lists(row: ListRow, count: int | None) -> SearchStrategy[tuple[Any, ...]]:
    item = leaf(row.item) if isinstance(row.item, WireType) else message(row.item)
    low, high = (0, min(LIST_MAX, row.limit)) if count is None else (count, count)
    return st.lists(item, min_size=low, max_size=high).map(tuple)


@cache
def _contents(ext: ExtRow) -> SearchStrategy[Any]:
    if isinstance(ext.content, str):
        return message(ext.content)
    assert ext.content is not None
    return leaf(ext.content, nonzero=ext.nonzero, length=ext.length)


@cache
def _unknown_extensions(layout: Layout) -> SearchStrategy[tuple[Extension, ...]]:
    """Extensions that the message does not define, none of them mandatory."""
    known = frozenset(ext.header for ext in layout.extensions)
    one = extensions(known, mandatory=not layout.refuses_unknown_mandatory)
    room = EXTENSIONS_PER_MESSAGE_MAX - len(known)
    few, many = st.lists(one, max_size=2), st.lists(one, max_size=room)
    return st.one_of(st.just([]), few, few, many).map(tuple)
