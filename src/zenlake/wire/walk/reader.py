"""Reads messages straight from their layouts, row by row, and labels every byte on the way.

It is slower than the generated decoders and independent of them: `explain` and the pages' dialect
use it. Tests and fuzzers check that both return the same for every input.
"""

from __future__ import annotations

from typing import Any

from zenlake.errors import WireError
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.headers import ID_BITS, NETWORK_ID_MIN
from zenlake.wire.kinds import LINK_STATE_OAM_ID
from zenlake.wire.layout import (
    Bits,
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
from zenlake.wire.message import Message
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    Malformed,
    read_bytes_z32,
    read_count,
    read_z16,
    read_z64,
    wire_error,
    wrong_body,
)
from zenlake.wire.values.slices import read_slices
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import read_zid
from zenlake.wire.walk.chain import ChainReader
from zenlake.wire.walk.functions import runtime_name
from zenlake.wire.walk.meaning import bits_meaning, value_meaning
from zenlake.wire.walk.span import BitSpan, Kind, Span


class Reader:
    """Reads one buffer. `root` holds what was understood, even after an error."""

    def __init__(self, buf: bytes, dialect: str = "deployed") -> None:
        self.buf = buf
        self.dialect = dialect
        self.root = Span("", 0, 0)

    def read_message(self, layer: str, pos: int, parent: Span | None = None) -> tuple[Message, int]:
        """One message of a layer, chosen by its id."""
        if pos >= len(self.buf):
            raise WireError(layer, "header", pos, "there are no bytes")
        id = self.buf[pos] & ID_BITS
        for layout in LAYOUTS.values():
            if layout.layer == layer and layout.id == id:
                return self.read_layout(layout, pos, len(self.buf), parent or self.root)
        raise WireError(layer, "header", pos, f"{id:#04x} is no {layer} message")

    def read_layout(
        self, layout: Layout, pos: int, end: int, parent: Span, name: str = ""
    ) -> tuple[Message, int]:
        """One message or structure; `name` distinguishes several of the same layout."""
        kind: Kind = "message" if layout.header else "structure"
        span = parent.add(name or layout.name, pos, kind=kind)
        span.meaning = layout.doc
        return LayoutReader(self, layout, end, span).read(pos)


class LayoutReader:
    """Reads the rows of one layout."""

    def __init__(self, reader: Reader, layout: Layout, end: int, span: Span) -> None:
        self.reader = reader
        self.buf = reader.buf
        self.layout = layout
        self.end = end
        self.span = span
        self.row_name = "header"
        self.at = span.start
        self.bytes: dict[str, int] = {}
        self.bytes_spans: dict[str, Span] = {}
        self.values: dict[str, Any] = {}

    def read(self, pos: int) -> tuple[Message, int]:
        try:
            if self.layout.header:
                pos = self._read_bits("header", self.layout.header, pos)
            for row in self.layout.rows:
                pos = self._read_row(row, pos)
        except FIELD_ERRORS as error:
            raise wire_error(self.layout.name, self.row_name, self.at, error) from None
        except WireError as error:
            if any(isinstance(row, MessagesRow) for row in self.layout.rows):
                error.partial = self._message()
            raise
        finally:
            self.span.stop = max([pos, *(child.stop for child in self.span.children)])
        return self._message(), pos

    def _message(self) -> Message:
        arguments = [self.values[row.attribute] for row in self.layout.attributes]
        message: Message = runtime_name(self.layout.class_name)(*arguments)
        self.span.value = message
        return message

    def begin(self, name: str, pos: int) -> None:
        self.row_name = name
        self.at = pos

    def _is_there(self, condition: Condition | None) -> bool:
        if condition is None:
            return True
        return (self._bits(condition.bits) != 0) != condition.unless

    def _bits(self, name: str) -> int:
        byte, bits = self.layout.bits_by_name[name]
        return self.bytes.get(byte, 0) >> bits.shift & (1 << bits.width) - 1

    def dialect_type(self, deployed: WireType, pages: WireType | None) -> WireType:
        return pages if pages is not None and self.reader.dialect == "pages" else deployed

    # --- rows ---------------------------------------------------------------------------------

    def _read_row(self, row: Row, pos: int) -> int:
        match row:
            case BitsRow():
                self._read_stored_bits(row)
            case ChainRow():
                pos = ChainReader(self).read(row, pos)
            case ExtRow():
                pass  # read with the chain
            case _ if not self._is_there(condition_of(row)):
                self.values[row.attribute] = None
            case _:
                self.begin("key_scope" if isinstance(row, KeyRow) else row.attribute, pos)
                pos = self._read_present(row, pos)
        return pos

    def _read_present(self, row: Row, pos: int) -> int:
        if isinstance(row, ByteRow):
            return self._read_bits(row.attribute, row.bits, pos, vle=row.vle)
        if isinstance(row, KeyRow):
            return self._read_key(row, pos)
        holds = isinstance(row, BodyRow | MessagesRow | ListRow)
        span = self.span.add(row.attribute, pos, kind="holder" if holds else "field")
        match row:
            case FieldRow():
                value, pos = self._read_field(row, pos, span)
            case ZidRow():
                value, pos = read_zid(self.buf, pos, self.end, self._bits("zid_len") + 1)
            case ListRow():
                value, pos = self._read_list(row, pos, span)
            case BodyRow():
                value, pos = self._read_body(row, pos, span)
            case MessagesRow():
                value, pos = self._read_messages(row, pos, span)
            case OamBodyRow():
                value, pos = self._read_oam_body(pos, span)
            case _:
                raise TypeError(f"{type(row).__name__} cannot be read")
        self.finish(row, span, value, pos)
        return pos

    def finish(self, row: Row, span: Span, value: object, stop: int) -> None:
        self.values[row.attribute] = value
        span.value = value
        span.stop = stop
        span.meaning = value_meaning(self.layout, row, value)

    def _read_bits(self, name: str, groups: tuple[Bits, ...], pos: int, vle: bool = False) -> int:
        span = self.span.add(name, pos, "z64" if vle else "u8")
        if vle:
            word, stop = read_z64(self.buf, pos, self.end)
            byte = word & 0xFF
        else:
            byte, stop = runtime_name("read_u8")(self.buf, pos, self.end)
        self.bytes[name] = byte
        self.bytes_spans[name] = span
        span.value, span.stop = byte, stop
        for bits in groups:
            value = (byte & bits.mask) >> bits.shift
            meaning = bits_meaning(self.layout, bits, value)
            span.bits.append(BitSpan(bits.name, bits.mask, value, meaning))
        return stop

    def _read_stored_bits(self, row: BitsRow) -> None:
        byte, _ = self.layout.bits_by_name[row.bits]
        number = self._bits(row.bits)
        if not row.type.of:
            self.values[row.attribute] = number != 0
            return
        if byte != "header":
            self.row_name = row.attribute
        value = runtime_name(row.type.of)(number)
        self.values[row.attribute] = value
        for bits in self.bytes_spans[byte].bits:
            if bits.name == row.bits:
                bits.meaning = f"{row.attribute}: {value}"

    # --- fields -------------------------------------------------------------------------------

    def read_leaf(self, type: WireType, pos: int, end: int) -> tuple[Any, int]:
        value, pos = runtime_name(type.read)(self.buf, pos, end)
        return (runtime_name(type.of)(value) if type.of else value), pos

    def _read_field(self, row: FieldRow, pos: int, span: Span) -> tuple[Any, int]:
        type = self.dialect_type(row.type, row.pages)
        span.type = type.name
        if row.sliced_if and self.values[row.sliced_if]:
            return read_slices(self.buf, pos, self.end)
        value, pos = self.read_leaf(type, pos, self.end)
        if row.nonzero and value == 0:
            raise Malformed("0 is not allowed here")
        return value, pos

    def _read_key(self, row: KeyRow, pos: int) -> int:
        scope_span = self.span.add("key_scope", pos, "z16")
        scope, pos = read_z16(self.buf, pos, self.end)
        scope_span.value, scope_span.stop = scope, pos
        sender = bool(row.sender_if) and self._bits(row.sender_if) != 0
        whose = "sender" if sender else "receiver"
        scope_span.meaning = f"declared by the {whose}" if scope else "no prefix"
        suffix = ""
        if self._bits(row.suffix_if):
            self.begin("key_suffix", pos)
            type = self.dialect_type(row.suffix, row.pages)
            suffix_span = self.span.add("key_suffix", pos, type.name)
            suffix, pos = self.read_leaf(type, pos, self.end)
            suffix_span.value, suffix_span.stop = suffix, pos
        self.values[row.attribute] = WireExpr(scope, suffix, sender)
        return pos

    def _read_list(self, row: ListRow, pos: int, span: Span) -> tuple[Any, int]:
        if row.pages_header is not None and self.reader.dialect == "pages":
            return self._read_until_end(row, pos, span)
        if isinstance(row.count, WireType):
            count_span = span.add(f"{row.attribute} count", pos, "z64")
            count, pos = read_count(self.buf, pos, self.end, row.limit)
            count_span.value, count_span.stop = count, pos
        else:
            count = row.count if isinstance(row.count, int) else len(self.values[row.count])
        items: list[Any] = []
        while len(items) < count:
            pos = self._read_item(row, pos, span, items)
        return tuple(items), pos

    def _read_item(self, row: ListRow, pos: int, span: Span, items: list[Any]) -> int:
        name = f"{row.attribute}[{len(items)}]"
        if isinstance(row.item, str):
            layout = LAYOUTS[row.item]
            item, pos = self.reader.read_layout(layout, pos, self.end, span, name)
            items.append(item)
            return pos
        child = span.add(name, pos, row.item.name)
        child.value, child.stop = self.read_leaf(row.item, pos, self.end)
        items.append(child.value)
        return child.stop

    def _read_until_end(self, row: ListRow, pos: int, span: Span) -> tuple[Any, int]:
        """Reads a LinkStateList of the pages' dialect: a header byte, then entries to the end."""
        header = span.add("header", pos, "u8")
        header.value, pos = runtime_name("read_u8")(self.buf, pos, self.end)
        header.stop = pos
        items: list[Any] = []
        while pos < self.end:
            if len(items) == row.limit:
                raise Malformed(f"more than {row.limit} items")
            pos = self._read_item(row, pos, span, items)
        return tuple(items), pos

    # --- what messages carry ------------------------------------------------------------------

    def _read_body(self, row: BodyRow, pos: int, span: Span) -> tuple[Any, int]:
        id = self.buf[pos] & ID_BITS
        choices = [LAYOUTS[choice] for choice in row.choices]
        for choice in choices:
            if choice.id == id:
                return self.reader.read_layout(choice, pos, self.end, span)
        raise wrong_body(id, " or ".join(choice.name for choice in choices))

    def _read_messages(self, row: MessagesRow, pos: int, span: Span) -> tuple[Any, int]:
        messages: list[Message] = []
        self.values[row.attribute] = messages
        while pos < self.end and self.buf[pos] & ID_BITS >= NETWORK_ID_MIN:
            message, pos = self.reader.read_message("network", pos, span)
            messages.append(message)
        return messages, pos

    def _read_oam_body(self, pos: int, span: Span) -> tuple[int | bytes | None, int]:
        enc = self._bits("ENC")
        if enc == Enc.UNIT:
            return None, pos
        if enc == Enc.Z64:
            return read_z64(self.buf, pos, self.end)
        if enc != Enc.ZBUF:
            raise Malformed("the body has the reserved encoding 0b11")
        body, stop = read_bytes_z32(self.buf, pos, self.end)
        carrier = "TransportOam" if self.reader.dialect == "pages" else "Oam"
        if self.layout.class_name == carrier and self.values["id"] == LINK_STATE_OAM_ID:
            self._label_link_states(stop - len(body), stop, span)
        return body, stop

    def _label_link_states(self, pos: int, stop: int, span: Span) -> None:
        """Add labels only: a body that is not a link state is still a valid OAM body."""
        try:
            self.reader.read_layout(LAYOUTS["LinkStateList"], pos, stop, span)
        except WireError as error:
            span.children.append(Span("not a link state", pos, stop, meaning=str(error)))
