"""Emits the `encode` method: flags computed from the rows that are present, then the rows."""

from __future__ import annotations

from zenlake.wire.generate.code import Code
from zenlake.wire.generate.names import unconverted
from zenlake.wire.layout import (
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


def emit_encoder(out: Code, layout: Layout) -> None:
    with out.block("def encode(self, out: BytesWriter) -> None:"):
        _Encoder(out, layout).emit()


class _Encoder:
    """The body of one encoder."""

    def __init__(self, out: Code, layout: Layout) -> None:
        self.out = out
        self.layout = layout

    def emit(self) -> None:
        out, layout = self.out, self.layout
        for row in layout.rows:
            if self._is_tested(row):
                out.line(f"{row.attribute} = self.{row.attribute}")
        if layout.header:
            if layout.chain is not None:
                self._emit_extension_count()
            self._emit_bits_byte("header", f"{layout.id:#04x}")
            if layout.chain is not None:
                with out.block("if left:"):
                    out.line("header |= 0x80")
                    with out.block("if left > EXTENSIONS_PER_MESSAGE_MAX:"):
                        out.line("raise too_many_to_send(left)")
            out.line("out.append(header)")
        for row in layout.rows:
            self._emit_row(row)

    def _is_tested(self, row: Row) -> bool:
        """Whether the attribute is used more than once, so that it is read into a local first."""
        if isinstance(row, ExtRow):
            return _has_value(row)
        if isinstance(row, ByteRow):
            return False
        return isinstance(row, KeyRow | ZidRow) or condition_of(row) is not None

    def _presence(self, ext: ExtRow) -> str:
        """The condition under which an extension is sent."""
        return f"{ext.attribute} is not None" if _has_value(ext) else f"self.{ext.attribute}"

    # --- bits ---------------------------------------------------------------------------------

    def _emit_bits_byte(self, byte: str, start: str) -> None:
        """Assemble a byte from stored bits and from the presence of rows."""
        out, layout = self.out, self.layout
        groups = layout.bytes_with_bits[byte]
        stored = layout.stored_bits
        out.line(f"{byte} = {start}")
        for bits in groups:
            if bits.name in ("X", "id", "Z"):
                continue
            if bits.name == "ENC":
                out.line("header |= encoding_bits(self.body)")
            elif bits.name == "zid_len":
                self._emit_zid_length(byte, bits.shift)
            elif bits.name in stored:
                row = stored[bits.name]
                if row.type.to:
                    value = unconverted(row.type, f"self.{row.attribute}")
                    out.line(f"{byte} |= {value}" + (f" << {bits.shift}" if bits.shift else ""))
                else:
                    with out.block(f"if self.{row.attribute}:"):
                        out.line(f"{byte} |= {bits.mask:#04x}")
            else:
                self._emit_derived(byte, bits.name, bits.mask)

    def _emit_zid_length(self, byte: str, shift: int) -> None:
        row = next(row for row in self.layout.rows if isinstance(row, ZidRow))
        with self.out.block_if("zid is not None" if row.condition else None):
            self.out.line(f"{byte} |= len(zid.raw) - 1 << {shift}")

    def _emit_derived(self, byte: str, name: str, mask: int) -> None:
        """A presence flag: set if the rows it announces are present."""
        out = self.out
        for row in self.layout.rows:
            if isinstance(row, KeyRow) and name in (row.suffix_if, row.sender_if):
                there = f"{row.attribute} is not None and " if row.condition else ""
                what = "suffix" if name == row.suffix_if else "sender"
                with out.block(f"if {there}{row.attribute}.{what}:"):
                    out.line(f"{byte} |= {mask:#04x}")
                return
        rows = self.layout.dependents(name)
        condition = condition_of(rows[0])
        assert condition is not None, f"{self.layout.class_name}: nothing sets {name}"
        for other in rows[1:]:
            with out.block(f"if ({rows[0].attribute} is None) != ({other.attribute} is None):"):
                out.line(
                    "raise LocalError("
                    f'"{self.layout.name}: {rows[0].attribute} and {other.attribute} '
                    'go together or not at all")'
                )
        test = "is None" if condition.unless else "is not None"
        with out.block(f"if {rows[0].attribute} {test}:"):
            out.line(f"{byte} |= {mask:#04x}")

    # --- rows ---------------------------------------------------------------------------------

    def _emit_row(self, row: Row) -> None:
        out = self.out
        match row:
            case ByteRow():
                self._emit_byte(row)
            case FieldRow() | ZidRow() | KeyRow() | ListRow():
                there = f"{row.attribute} is not None" if condition_of(row) else None
                with out.block_if(there):
                    self._emit_present(row)
            case ChainRow():
                self._emit_chain()
            case BodyRow():
                out.line(f"self.{row.attribute}.encode(out)")
            case MessagesRow():
                with out.block(f"for message in self.{row.attribute}:"):
                    out.line("message.encode(out)")
            case OamBodyRow():
                out.line("write_body(out, self.body)")

    def _emit_byte(self, row: ByteRow) -> None:
        out, name = self.out, row.attribute
        self._emit_bits_byte(name, "0")
        if row.condition is None:
            out.line(f"out.append({name})")
            return
        _, bits = self.layout.bits_by_name[row.condition.bits]
        with out.block(f"if header & {bits.mask:#04x}:"):
            out.line(f"out.append({name})")
        with out.block(f"elif {name}:"):
            out.line(f'raise LocalError("{self.layout.name}: {name} are not sent in this mode")')

    def _emit_present(self, row: Row) -> None:
        out = self.out
        match row:
            case FieldRow():
                self._emit_field(row)
            case ZidRow():
                out.line("out.write(zid.raw)")
            case KeyRow():
                self._emit_key(row)
            case ListRow():
                self._emit_list(row)

    def _emit_field(self, row: FieldRow) -> None:
        out = self.out
        value = row.attribute if row.condition else f"self.{row.attribute}"
        if row.nonzero:
            self._emit_nonzero(row, value)
        if row.sliced_if:
            with out.block(f"if self.{row.sliced_if}:"):
                out.line(f"out.write({value})")
            with out.block("else:"):
                self._emit_leaf(row.type, value)
        else:
            self._emit_leaf(row.type, value)

    def _emit_nonzero(self, row: Row, value: str) -> None:
        with self.out.block(f"if {value} == 0:"):
            self.out.line(f'raise LocalError("{self.layout.name}: {row.attribute} cannot be 0")')

    def _emit_leaf(self, type: WireType, value: str) -> None:
        """Write one leaf; a number below 0x80 is written without a call."""
        out = self.out
        value = unconverted(type, value)
        if type.is_sized:
            self._emit_sized(type, value)
            return
        if not type.is_vle:
            out.line(f"{type.write}(out, {value})")
            return
        if not value.isidentifier():
            out.line(f"number = {value}")
            value = "number"
        with out.block(f"if {value} >> 7 == 0:"):
            out.line(f"out.append({value})")
        with out.block("else:"):
            out.line(f"{type.write}(out, {value})")

    def _emit_sized(self, type: WireType, value: str) -> None:
        """A length, without a call if it is one byte, and the bytes."""
        out = self.out
        raw = value
        if type.python == "str":
            out.line(f"raw = to_utf8({value})")
            raw = "raw"
        out.line(f"size = len({raw})")
        with out.block("if size < 0x80:"):
            out.line("out.append(size)")
        with out.block("else:"):
            out.line(f"write_{type.length_name}(out, size)")
        out.line(f"out.write({raw})")

    def _emit_key(self, row: KeyRow) -> None:
        out, key = self.out, row.attribute
        if not row.sender_if:
            with out.block(f"if {key}.sender and {key}.scope:"):
                out.line(
                    "raise LocalError("
                    f'"{self.layout.name}: {key} cannot be in the sender\'s numbering")'
                )
        out.line(f"scope = {key}.scope")
        with out.block("if scope >> 7 == 0:"):
            out.line("out.append(scope)")
        with out.block("else:"):
            out.line("write_z16(out, scope)")
        with out.block(f"if {key}.suffix:"):
            self._emit_leaf(row.suffix, f"{key}.suffix")

    def _emit_list(self, row: ListRow) -> None:
        out = self.out
        value = row.attribute if row.condition else f"self.{row.attribute}"
        if isinstance(row.count, WireType):
            out.line(f'write_count(out, len({value}), {row.limit}, "{row.attribute}")')
        else:
            wanted = row.count if isinstance(row.count, int) else f"len(self.{row.count})"
            with out.block(f"if len({value}) != {wanted}:"):
                out.line(
                    "raise LocalError("
                    f'f"{self.layout.name}: {{len({value})}} {row.attribute}, '
                    f'{{{wanted}}} are wanted")'
                )
        item = f"{row.attribute}_item"
        with out.block(f"for {item} in {value}:"):
            if isinstance(row.item, str):
                out.line(f"{item}.encode(out)")
            else:
                out.line(f"{row.item.write}(out, {unconverted(row.item, item)})")

    # --- extensions ---------------------------------------------------------------------------

    def _emit_extension_count(self) -> None:
        """`left` counts the extensions still to come: all but the last carry Z."""
        out = self.out
        out.line("left = len(self.extensions)")
        for ext in self.layout.extensions:
            with out.block(f"if {self._presence(ext)}:"):
                out.line("left += 1")

    def _emit_chain(self) -> None:
        out = self.out
        with out.block("if left:"):
            for ext in self.layout.extensions:
                with out.block(f"if {self._presence(ext)}:"):
                    out.line("left -= 1")
                    header = f"{ext.header | 0x80:#04x} if left else {ext.header:#04x}"
                    out.line(f"out.append({header})")
                    self._emit_extension_body(ext)
            with out.block("if left:"):
                out.line("write_unknown(out, self.extensions)")

    def _emit_extension_body(self, ext: ExtRow) -> None:
        out = self.out
        if ext.enc is Enc.UNIT:
            return
        if ext.nonzero:
            self._emit_nonzero(ext, ext.attribute)
        if ext.enc is Enc.Z64:
            assert isinstance(ext.content, WireType)
            self._emit_leaf(ext.content, ext.attribute)
        elif ext.sliced_if:
            with out.block(f"if {ext.sliced_if} is not None:"):
                out.line(f"write_z32(out, {ext.sliced_if})")
                out.line(f"{ext.attribute}.encode(out)")
            with out.block("else:"):
                self._emit_zbuf(ext)
        else:
            self._emit_zbuf(ext)

    def _emit_zbuf(self, ext: ExtRow) -> None:
        out, name = self.out, ext.attribute
        if isinstance(ext.content, WireType) and ext.content.python == "bytes":
            out.line(f"write_bytes_z32(out, {name})")
            return
        out.line("inner = BytesWriter()")
        if isinstance(ext.content, str):
            out.line(f"{name}.encode(inner)")
        else:
            assert ext.content is not None
            out.line(f"{ext.content.write}(inner, {name})")
        if ext.length is not None:
            low, high = ext.length
            with out.block(f"if not {low} <= len(inner) <= {high}:"):
                out.line(
                    f'raise LocalError("{self.layout.name}: {name} has {low} to {high} bytes")'
                )
        out.line("write_bytes_z32(out, inner.getvalue())")


def _has_value(ext: ExtRow) -> bool:
    """Whether an extension is a value or None, and not a flag."""
    return ext.enc is not Enc.UNIT or bool(ext.marks)
