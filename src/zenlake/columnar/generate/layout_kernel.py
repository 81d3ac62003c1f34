"""Emits the kernel of one layout: its rows in order, as the scalar decoder reads them.

`at` is the offset of the row being read, which an error reports. A kernel returns the next
position, or a failure of its own or of a kernel that it called.
"""

from __future__ import annotations

from zenlake.columnar.fields import OAM_NUMBER, Field, field_of, has_columns
from zenlake.columnar.generate.extension_kernel import ExtensionKernel
from zenlake.columnar.generate.leaf_kernel import LeafKernel
from zenlake.columnar.generate.names import kernel_name
from zenlake.columnar.kinds import BY_FLAG, BY_ID, body_row, kinds, kinds_of, path_of
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.generate.code import Code
from zenlake.wire.generate.names import bits_expression, bits_value, test_of
from zenlake.wire.layout import (
    BitsRow,
    BodyRow,
    ByteRow,
    ChainRow,
    FieldRow,
    KeyRow,
    Layout,
    ListRow,
    OamBodyRow,
    Row,
    WireType,
    ZidRow,
    condition_of,
)


class LayoutKernel:
    def __init__(self, out: Code, layout: Layout, places: dict[str, int]) -> None:
        self.out = out
        self.layout = layout
        self.stores = has_columns(layout)
        self.leaves = LeafKernel(out, places, layout.name)

    def emit(self) -> None:
        out, layout = self.out, self.layout
        out.line()
        out.line()
        out.line("@kernel")
        columns = ", out: Table, room: int, n: int" if self.stores else ""
        name = kernel_name(layout)
        with out.block(f"def {name}(buf: Buffer, pos: int, end: int{columns}) -> int:"):
            out.line("at = pos")
            if self.stores:
                out.line("has = 0")
            if layout.header:
                # No check against `end`: the caller has read the header to choose this kernel.
                out.line("header = load(buf, pos)")
                out.line("pos += 1")
            for row in layout.rows:
                self._emit_row(row)
            self._emit_kind()
            if self.stores:
                out.line("put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)")
            out.line("return pos")

    def _emit_row(self, row: Row) -> None:
        field = field_of(self.layout, row) if self.stores else None
        match row:
            case ByteRow():
                self._emit_byte(row)
            case BitsRow():
                self._emit_bits(row, field)
            case FieldRow() | ZidRow() | KeyRow() | ListRow():
                with self.out.block_if(test_of(self.layout, condition_of(row))):
                    self.out.line("at = pos")
                    self._emit_value(row, field)
            case ChainRow():
                ExtensionKernel(self.out, self.layout, self.leaves).emit(row)
            case BodyRow():
                self._emit_body(row)
            case OamBodyRow():
                self._emit_oam_body(row, field)

    # --- values -------------------------------------------------------------------------------

    def _emit_byte(self, row: ByteRow) -> None:
        condition = test_of(self.layout, row.condition)
        if condition is not None:
            self.out.line(f"{row.attribute} = 0")
        with self.out.block_if(condition):
            self.out.line("at = pos")
            self.out.line(f"{row.attribute}, pos = read_u8(buf, pos, end)")
            self.leaves.check(row.attribute)

    def _emit_bits(self, row: BitsRow, field: Field | None) -> None:
        if row.type.of:
            self.leaves.convert(row.type, bits_value(self.layout, row.bits), row.attribute)
            self.leaves.store(field, "value")
        else:
            self.leaves.store(field, f"1 if {bits_expression(self.layout, row.bits)} else 0")

    def _emit_value(self, row: Row, field: Field | None) -> None:
        out = self.out
        match row:
            case FieldRow() if row.sliced_if:
                with out.block(f"if {row.sliced_if}:"):
                    self.leaves.emit_slices(field, row.attribute)
                with out.block("else:"):
                    self.leaves.emit(row.type, field, row.attribute)
            case FieldRow():
                self.leaves.emit(row.type, field, row.attribute, nonzero=row.nonzero)
            case ZidRow():
                size = f"({bits_value(self.layout, 'zid_len')}) + 1"
                out.line(f"size, stop = read_zid(buf, pos, end, {size})")
                self.leaves.check(row.attribute, "stop")
                self.leaves.store(field, "pos", "size")
                out.line("pos = stop")
            case KeyRow():
                self._emit_key(row, field)
            case ListRow():
                self._emit_list(row, field)

    def _emit_key(self, row: KeyRow, field: Field | None) -> None:
        out = self.out
        out.line("scope, pos = read_small(buf, pos, end, 0xffff)")
        self.leaves.check("key_scope")
        out.line("suffix = 0")
        out.line("suffix_size = 0")
        with out.block(f"if {bits_expression(self.layout, row.suffix_if)}:"):
            out.line("at = pos")
            if row.suffix.is_sized:
                out.line("suffix_size, pos = read_length(buf, pos, end, 0xffff)")
                self.leaves.check("key_suffix")
            else:
                out.line("suffix_size = end - pos")
            out.line("suffix = pos")
            out.line("pos = check_text(buf, pos, pos + suffix_size)")
            self.leaves.check("key_suffix")
        sender = "0"
        if row.sender_if:
            sender = f"1 if {bits_expression(self.layout, row.sender_if)} else 0"
        self.leaves.store(field, "scope", sender, "suffix", "suffix_size")

    def _emit_list(self, row: ListRow, field: Field | None) -> None:
        out = self.out
        if isinstance(row.count, WireType):
            out.line(f"count, pos = read_count(buf, pos, end, {row.limit})")
            self.leaves.check(row.attribute)
        else:
            out.line(f"count = {row.count}")
        with out.block("while count > 0:"):
            out.line("count -= 1")
            if isinstance(row.item, str):
                out.line(f"pos = {kernel_name(LAYOUTS[row.item])}(buf, pos, end)")
                with out.block("if pos < 0:"):
                    out.line("return pos")
            else:
                out.line(f"pos = {row.item.read.replace('read', 'skip')}(buf, pos, end)")
                self.leaves.check(row.attribute)
        self.leaves.store(field, "at", "pos - at")

    # --- what messages carry ------------------------------------------------------------------

    def _emit_body(self, row: BodyRow) -> None:
        out = self.out
        out.line("at = pos")
        with out.block("if pos >= end:"):
            self.leaves.fail(row.attribute, "END")
        out.line("body = load(buf, pos) & 0x1f")
        word = "if"
        for choice in (LAYOUTS[name] for name in row.choices):
            with out.block(f"{word} body == {choice.id:#04x}:"):
                out.line(f"pos = {kernel_name(choice)}(buf, pos, end, out, room, n)")
                if body_row(self.layout) is row and body_row(choice) is None:
                    self._store_kind(f"{path_of(self.layout)}/{choice.name}")
            word = "elif"
        with out.block("else:"):
            self.leaves.fail(row.attribute, "WRONG_BODY")
        with out.block("if pos < 0:"):
            out.line("return pos")

    def _emit_oam_body(self, row: OamBodyRow, field: Field | None) -> None:
        out = self.out
        out.line("at = pos")
        with out.block("if header & 0x60 == 0x20:"):
            out.line("value, pos = read_z64(buf, pos, end)")
            self.leaves.check(row.attribute)
            self.leaves.store(OAM_NUMBER, "value")
        with out.block("elif header & 0x60 == 0x40:"):
            out.line("size, pos = read_length(buf, pos, end, 0xffffffff)")
            self.leaves.check(row.attribute)
            self.leaves.store(field, "pos", "size")
            out.line("pos += size")
        with out.block("elif header & 0x60 == 0x60:"):
            self.leaves.fail(row.attribute, "RESERVED")

    def _emit_kind(self) -> None:
        layout, name = self.layout, self.layout.class_name
        if layout.layer not in ("scouting", "transport", "network") or body_row(layout):
            return
        if name not in BY_FLAG and name not in BY_ID:
            self._store_kind(*kinds_of(layout))
            return
        if name in BY_FLAG:
            test = bits_expression(layout, BY_FLAG[name][0])
        else:
            test = f"get_word(out, room, OAM_ID, n) == {BY_ID[name][0]}"
        first, second = kinds_of(layout)
        with self.out.block(f"if {test}:"):
            self._store_kind(first)
        with self.out.block("else:"):
            self._store_kind(second)

    def _store_kind(self, kind: str) -> None:
        self.out.line(f"put_small(out, room, KIND, n, {kinds().index(kind)})  # {kind}")
