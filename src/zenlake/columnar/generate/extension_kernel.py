"""Emits the loop over a chain of extensions: it reads those of the layout and skips others."""

from __future__ import annotations

from zenlake.columnar.fields import Field, field_of, has_columns
from zenlake.columnar.generate.leaf_kernel import LeafKernel
from zenlake.columnar.generate.names import kernel_name
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.generate.code import Code
from zenlake.wire.layout import ChainRow, Enc, ExtRow, FieldRow, Layout, WireType


class ExtensionKernel:
    def __init__(self, out: Code, layout: Layout, leaves: LeafKernel) -> None:
        self.out = out
        self.layout = layout
        self.leaves = leaves

    def emit(self, row: ChainRow) -> None:
        out, skip = self.out, "skip_unknown"
        if not self.layout.refuses_unknown_mandatory:
            skip = "skip_extension"
        for name in self._remembered():
            out.line(f"{name} = False")
        for ext in self.layout.extensions:
            if ext.enc is Enc.UNIT and not ext.marks:
                # An absent flag is False, so the field is always present.
                self.leaves.mark(field_of(self.layout, ext))
        with out.block("if header >= 0x80:"):
            out.line("count_exts = 0")
            with out.block("while True:"):
                out.line("at = pos")
                out.line("ext, pos = read_u8(buf, pos, end)")
                self.leaves.check(row.attribute)
                word = "if"
                for ext in self.layout.extensions:
                    with out.block(f"{word} ext & 0x7f == {ext.header:#04x}:"):
                        self._emit_extension(ext, row)
                    word = "elif"
                with out.block("else:" if self.layout.extensions else "if True:"):
                    out.line(f"pos = {skip}(buf, pos, end, ext)")
                    self.leaves.check(row.attribute)
                    out.line("count_unknown(out, room, n)")
                with out.block("if ext < 0x80:"):
                    out.line("break")
                out.line("count_exts += 1")
                with out.block("if count_exts == EXTENSIONS_PER_MESSAGE_MAX:"):
                    out.line("at = pos")
                    self.leaves.fail(row.attribute, "TOO_MANY_EXTENSIONS")

    def _remembered(self) -> list[str]:
        """Extensions whose presence decides how another row is read."""
        tested = [getattr(row, "sliced_if", "") for row in self.layout.rows]
        tested += [ext.marks for ext in self.layout.extensions]
        return [ext.attribute for ext in self.layout.extensions if ext.attribute in tested]

    def _emit_extension(self, ext: ExtRow, chain: ChainRow) -> None:
        out, field = self.out, field_of(self.layout, ext)
        if ext.marks:
            with out.block(f"if {ext.marks}:"):
                self.leaves.fail(chain.attribute, "LATE_MARKER")
            self.leaves.store(field, "0")
        elif ext.enc is Enc.UNIT:
            self.leaves.store(field, "1")
        elif ext.enc is Enc.Z64:
            assert isinstance(ext.content, WireType)
            self.leaves.emit(ext.content, field, ext.attribute, nonzero=ext.nonzero)
        elif ext.sliced_if:
            with out.block(f"if {ext.sliced_if}:"):
                self._emit_sliced_extension(ext)
            with out.block("else:"):
                self._emit_zbuf(ext, field)
        else:
            self._emit_zbuf(ext, field)
        if ext.attribute in self._remembered():
            out.line(f"{ext.attribute} = True")

    def _emit_zbuf(self, ext: ExtRow, field: Field | None) -> None:
        """Read within its own length; surplus bytes are ignored."""
        out = self.out
        out.line("size, pos = read_length(buf, pos, end, 0xffffffff)")
        self.leaves.check(ext.attribute)
        out.line("stop = pos + size")
        if ext.length is not None:
            low, high = ext.length
            with out.block(f"if size < {low} or size > {high}:"):
                self.leaves.fail(ext.attribute, "EXTENSION_SIZE")
        if isinstance(ext.content, str):
            inner = LAYOUTS[ext.content]
            columns = ", out, room, n" if has_columns(inner) else ""
            out.line(f"inner = {kernel_name(inner)}(buf, pos, stop{columns})")
            with out.block("if inner < 0:"):
                out.line("return inner")
            self.leaves.store(field, "pos", "size")
        else:
            assert ext.content is not None
            self.leaves.emit(ext.content, field, ext.attribute, end="stop")
        out.line("pos = stop")

    def _emit_sliced_extension(self, ext: ExtRow) -> None:
        """The length is that of the data in shared memory; the rows follow without one."""
        assert isinstance(ext.content, str)
        mark = next(row for row in self.layout.extensions if row.attribute == ext.sliced_if)
        self.out.line("value, pos = read_small(buf, pos, end, 0xffffffff)")
        self.leaves.check(ext.attribute)
        self.leaves.store(field_of(self.layout, mark), "value")
        inner = LAYOUTS[ext.content]
        for row in inner.rows:
            assert isinstance(row, FieldRow)
            field = field_of(inner, row)
            if row.type.python == "bytes":
                self.leaves.emit_slices(field, ext.attribute)
            else:
                self.leaves.emit(row.type, field, ext.attribute)
