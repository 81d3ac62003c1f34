"""Writes messages straight from their layouts, in both dialects; tests compare the encoder."""

from __future__ import annotations

from typing import Any

from zenlake.errors import LocalError
from zenlake.limits import EXTENSIONS_PER_MESSAGE_MAX
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import (
    BitsRow,
    BodyRow,
    ByteRow,
    ChainRow,
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
from zenlake.wire.message import Message, encoding_bits, too_many_to_send, write_body, write_unknown
from zenlake.wire.primitives import write_bytes_z32, write_count, write_z16, write_z32
from zenlake.wire.values.encoding import write_encoding
from zenlake.wire.walk.functions import runtime_name
from zenlake.wire.writer import BytesWriter


class Writer:
    """Writes messages of one dialect."""

    def __init__(self, dialect: str = "deployed") -> None:
        self.dialect = dialect

    def write(self, out: BytesWriter, message: Message) -> None:
        _LayoutWriter(self, LAYOUTS[type(message).__name__], message, out).write()


class _LayoutWriter:
    """Writes the rows of one message."""

    def __init__(self, writer: Writer, layout: Layout, message: Message, out: BytesWriter) -> None:
        self.writer = writer
        self.layout = layout
        self.message = message
        self.out = out

    def write(self) -> None:
        if self.layout.header:
            assert self.layout.id is not None
            flags = sum(self._bits_of(bits.name) << bits.shift for bits in self.layout.header)
            self.out.append(flags | self.layout.id)
        for row in self.layout.rows:
            self._write_row(row)

    def _value(self, row: Row) -> Any:
        return getattr(self.message, row.attribute)

    def _present(self, ext: ExtRow) -> bool:
        value = self._value(ext)
        return value is not None and value is not False

    def _dialect_type(self, deployed: WireType, pages: WireType | None) -> WireType:
        return pages if pages is not None and self.writer.dialect == "pages" else deployed

    # --- bits ---------------------------------------------------------------------------------

    def _bits_of(self, name: str) -> int:
        """The number that the named bits hold in this message."""
        if name in ("X", "id"):
            return 0
        if name == "Z":
            extensions: tuple[object, ...] = getattr(self.message, "extensions", ())
            return int(bool(extensions) or any(map(self._present, self.layout.extensions)))
        if name == "ENC":
            return encoding_bits(self.message.body) >> 5  # type: ignore[attr-defined]  # an OAM
        if name == "zid_len":
            zid = self.message.zid  # type: ignore[attr-defined]  # there is a ZidRow
            return 0 if zid is None else len(zid.raw) - 1
        stored = self.layout.stored_bits.get(name)
        if stored is not None:
            return self._stored_number(stored)
        return int(self._announces(name))

    def _stored_number(self, row: BitsRow) -> int:
        value = self._value(row)
        return int(runtime_name(row.type.to)(value) if row.type.to else bool(value))

    def _announces(self, name: str) -> bool:
        """Whether the rows that a presence flag announces are present."""
        for row in self.layout.rows:
            if isinstance(row, KeyRow) and name in (row.suffix_if, row.sender_if):
                key = self._value(row)
                if key is None:
                    return False
                return bool(key.suffix if name == row.suffix_if else key.sender)
        rows = self.layout.dependents(name)
        condition = condition_of(rows[0])
        assert condition is not None
        absent = {self._value(row) is None for row in rows}
        if len(absent) > 1:
            raise LocalError(
                f"{self.layout.name}: all that {name} announces go together or not at all"
            )
        return absent.pop() == condition.unless

    # --- rows ---------------------------------------------------------------------------------

    def _write_row(self, row: Row) -> None:
        match row:
            case ByteRow():
                self._write_byte(row)
            case BitsRow() | ExtRow():
                pass  # written with their byte, and with the chain
            case ChainRow():
                self._write_chain()
            case _ if condition_of(row) is not None and self._value(row) is None:
                pass
            case FieldRow():
                self._write_field(row)
            case ZidRow():
                self.out.write(self._value(row).raw)
            case KeyRow():
                self._write_key(row)
            case ListRow():
                self._write_list(row)
            case BodyRow():
                self.writer.write(self.out, self._value(row))
            case MessagesRow():
                for message in self._value(row):
                    self.writer.write(self.out, message)
            case OamBodyRow():
                write_body(self.out, self._value(row))

    def _write_byte(self, row: ByteRow) -> None:
        byte = sum(self._bits_of(bits.name) << bits.shift for bits in row.bits)
        if row.condition is None or self._bits_of(row.condition.bits):
            self.out.append(byte)
        elif byte:
            raise LocalError(f"{self.layout.name}: {row.attribute} are not sent in this mode")

    def _write_leaf(self, out: BytesWriter, type: WireType, value: Any) -> None:
        runtime_name(type.write)(out, runtime_name(type.to)(value) if type.to else value)

    def _write_field(self, row: FieldRow) -> None:
        value = self._value(row)
        if row.nonzero and value == 0:
            raise LocalError(f"{self.layout.name}: {row.attribute} cannot be 0")
        if row.sliced_if and getattr(self.message, row.sliced_if):
            self.out.write(value)
        else:
            self._write_leaf(self.out, self._dialect_type(row.type, row.pages), value)

    def _write_key(self, row: KeyRow) -> None:
        key = self._value(row)
        if not row.sender_if and key.sender and key.scope:
            raise LocalError(f"{self.layout.name}: {row.attribute} is not the sender's")
        write_z16(self.out, key.scope)
        if key.suffix:
            self._write_leaf(self.out, self._dialect_type(row.suffix, row.pages), key.suffix)

    def _write_list(self, row: ListRow) -> None:
        items = self._value(row)
        if row.pages_header is not None and self.writer.dialect == "pages":
            self.out.append(row.pages_header)
        elif isinstance(row.count, WireType):
            write_count(self.out, len(items), row.limit, row.attribute)
        else:
            wanted = row.count if isinstance(row.count, int) else len(self._named(row.count))
            if len(items) != wanted:
                raise LocalError(f"{self.layout.name}: {len(items)} {row.attribute}, not {wanted}")
        for item in items:
            if isinstance(row.item, str):
                self.writer.write(self.out, item)
            else:
                self._write_leaf(self.out, row.item, item)

    def _named(self, attribute: str) -> Any:
        return getattr(self.message, attribute)

    # --- extensions ---------------------------------------------------------------------------

    def _write_chain(self) -> None:
        unknown = self._named("extensions")
        present = [ext for ext in self.layout.extensions if self._present(ext)]
        left = len(present) + len(unknown)
        if left > EXTENSIONS_PER_MESSAGE_MAX:
            raise too_many_to_send(left)
        for ext in present:
            left -= 1
            self.out.append(ext.header | (0x80 if left else 0))
            self._write_extension(ext)
        write_unknown(self.out, unknown)

    def _write_extension(self, ext: ExtRow) -> None:
        value = self._value(ext)
        if ext.nonzero and value == 0:
            raise LocalError(f"{self.layout.name}: {ext.attribute} cannot be 0")
        if ext.enc is Enc.Z64:
            assert isinstance(ext.content, WireType)
            self._write_leaf(self.out, self._dialect_type(ext.content, ext.pages), value)
        elif ext.enc is Enc.ZBUF:
            if ext.sliced_if and self._named(ext.sliced_if) is not None:
                write_z32(self.out, self._named(ext.sliced_if))
                write_encoding(self.out, value.encoding)
                self.out.write(value.payload)
            else:
                self._write_zbuf(ext, value)

    def _write_zbuf(self, ext: ExtRow, value: Any) -> None:
        inner = BytesWriter()
        if isinstance(ext.content, str):
            self.writer.write(inner, value)
        else:
            assert ext.content is not None
            self._write_leaf(inner, ext.content, value)
        if ext.length is not None and not ext.length[0] <= len(inner) <= ext.length[1]:
            raise LocalError(f"{self.layout.name}: {ext.attribute} has another length")
        write_bytes_z32(self.out, inner.getvalue())
