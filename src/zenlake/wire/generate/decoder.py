"""Emits `decode_<message>`: straight-line code that reads a layout's rows in order.

Every decoder keeps two locals, `row` and `at`: the row being read and its offset. They cost next to
nothing, and every error names its field and offset. A message ends where its buffer ends, so a
single byte is read without a check (Python raises IndexError); a structure is inside an extension,
so each of its bytes is checked against `end`.
"""

from __future__ import annotations

from zenlake.wire.generate.code import Code
from zenlake.wire.generate.leaf_decoder import LeafDecoder, declarations
from zenlake.wire.generate.names import (
    bits_expression,
    bits_value,
    converted,
    labels,
    snake,
    test_of,
)
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


def emit_decoder(out: Code, layout: Layout, layouts: dict[str, Layout]) -> None:
    """The whole function for one message or structure.

    A message that carries network messages has a second one, `decode_<message>_head`, which stops
    before them: the caller decodes them.
    """
    name = snake(layout.class_name)
    rows = f"_{name.upper()}_ROWS"
    out.line(f"{rows}: Final = ({', '.join(repr(label) for label in labels(layout))},)")
    _emit_function(out, layout, layouts, f"decode_{name}", rows, False)
    if any(isinstance(row, MessagesRow) for row in layout.rows):
        _emit_function(out, layout, layouts, f"decode_{name}_head", rows, True)


def _emit_function(
    out: Code,
    layout: Layout,
    layouts: dict[str, Layout],
    name: str,
    rows: str,
    is_head: bool,
) -> None:
    out.line()
    out.line()
    bounds = "" if layout.header else ", end: i64"
    with out.block(f"def {name}(buf: bytes, pos: i64{bounds}) -> tuple[{layout.class_name}, i64]:"):
        body = Code()
        with body.block("try:"):
            _Decoder(body, layout, layouts, is_head).emit()
        with body.block("except FIELD_ERRORS as error:"):
            body.line(f'raise wire_error("{layout.name}", {rows}[row], at, error) from None')
        if layout.header:
            out.line("end: i64 = len(buf)")
        out.line("row: i64 = 0")
        out.line("at: i64 = pos")
        for declaration in declarations(body.lines):
            out.line(declaration)
        for line in body.lines:
            out.line(line)


class _Decoder:
    """The body of one decoder."""

    def __init__(
        self, out: Code, layout: Layout, layouts: dict[str, Layout], is_head: bool
    ) -> None:
        self.is_head = is_head
        self.out = out
        self.layout = layout
        self.layouts = layouts
        self.inline = bool(layout.header)
        self.leaves = LeafDecoder(out, self.inline)

    def emit(self) -> None:
        out = self.out
        if self.layout.header:
            out.line("header: i64 = buf[pos]")
            out.line("pos += 1")
        for row in self.layout.rows:
            self._emit_row(row)
        arguments = ", ".join(row.attribute for row in self.layout.attributes)
        out.line(f"return {self.layout.class_name}({arguments}), pos")

    def _begin(self, label: str) -> None:
        self._name(label)
        self.out.line("at = pos")

    def _name(self, label: str) -> None:
        """Set the row being read, but not the offset at which it began."""
        self.out.line(f"row = {labels(self.layout).index(label)}")

    def _emit_row(self, row: Row) -> None:
        match row:
            case ByteRow():
                self._emit_byte(row)
            case BitsRow():
                self._emit_bits(row)
            case FieldRow() | ZidRow() | KeyRow() | ListRow():
                self._emit_conditional(row)
            case ChainRow():
                self._emit_chain()
            case BodyRow():
                self._emit_body(row)
            case MessagesRow():
                self._emit_messages(row)
            case OamBodyRow():
                self._emit_oam_body(row)

    # --- bytes cut into bits ------------------------------------------------------------------

    def _emit_byte(self, row: ByteRow) -> None:
        out, name = self.out, row.attribute
        condition = test_of(self.layout, row.condition)
        if condition is not None:
            out.line(f"{name}: i64 = 0")
        with out.block_if(condition):
            self._begin(row.attribute)
            if row.vle:
                out.line("word, pos = read_z64(buf, pos, end)")
                out.line(f"{name}: i64 = word & 0xFF")
                return
            if not self.inline:
                with out.block("if pos >= end:"):
                    out.line("raise IndexError")
            out.line(f"{name} = buf[pos]" if condition else f"{name}: i64 = buf[pos]")
            out.line("pos += 1")

    def _emit_bits(self, row: BitsRow) -> None:
        out = self.out
        if row.type.of:
            if self.layout.bits_by_name[row.bits][0] != "header":
                self._name(row.attribute)
            value = converted(row.type, bits_value(self.layout, row.bits))
        else:
            value = f"{bits_expression(self.layout, row.bits)} != 0"
        out.line(f"{row.attribute} = {value}")

    # --- fields -------------------------------------------------------------------------------

    def _emit_conditional(self, row: FieldRow | ZidRow | KeyRow | ListRow) -> None:
        condition = test_of(self.layout, condition_of(row))
        if condition is not None:
            self.out.line(f"{row.attribute}: {row.annotation} = None")
        with self.out.block_if(condition):
            self._begin("key_scope" if isinstance(row, KeyRow) else row.attribute)
            match row:
                case FieldRow():
                    self._emit_field(row)
                case ZidRow():
                    self.out.line(
                        f"{row.attribute}, pos = "
                        f"read_zid(buf, pos, end, ({bits_value(self.layout, 'zid_len')}) + 1)"
                    )
                case KeyRow():
                    self._emit_key(row)
                case ListRow():
                    self._emit_list(row)

    def _emit_field(self, row: FieldRow) -> None:
        if row.type.name == "z64" and row.condition is None:
            self.out.line(f"{row.attribute}: int")
        if row.sliced_if:
            with self.out.block(f"if {row.sliced_if}:"):
                self.out.line(f"{row.attribute}, pos = read_slices(buf, pos, end)")
            with self.out.block("else:"):
                self.leaves.emit(row.type, row.attribute)
        else:
            self.leaves.emit(row.type, row.attribute)
        if row.nonzero:
            self.leaves.emit_nonzero(row.attribute)

    def _emit_key(self, row: KeyRow) -> None:
        out = self.out
        if self.inline:
            out.line("scope = buf[pos]")
            out.line("pos += 1")
            with out.block("if scope >= 0x80:"):
                out.line("scope, pos = read_tail(buf, pos, end, scope, Z16_MAX)")
        else:
            out.line("scope, pos = read_small(buf, pos, end, Z16_MAX)")
        out.line('suffix = ""')
        with out.block(f"if {bits_expression(self.layout, row.suffix_if)}:"):
            self._begin("key_suffix")
            self.leaves.emit(row.suffix, "suffix")
        sender = "False"
        if row.sender_if:
            sender = f"{bits_expression(self.layout, row.sender_if)} != 0"
        out.line(f"{row.attribute} = WireExpr(scope, suffix, {sender})")

    # --- lists --------------------------------------------------------------------------------

    def _emit_list(self, row: ListRow) -> None:
        out, items = self.out, f"{row.attribute}_list"
        item = row.item if isinstance(row.item, str) else row.item.python
        if isinstance(row.count, WireType):
            out.line(f"count, pos = read_count(buf, pos, end, {row.limit})")
        elif isinstance(row.count, int):
            out.line(f"count = {row.count}")
        else:
            out.line(f"count = len({row.count})")
        out.line(f"{items}: list[{item}] = []")
        with out.block("while count > 0:"):
            out.line("count -= 1")
            if isinstance(row.item, str):
                out.line(f"item_{row.attribute}, pos = decode_{snake(row.item)}(buf, pos, end)")
            else:
                out.line(f"item_{row.attribute}, pos = {row.item.read}(buf, pos, end)")
            out.line(f"{items}.append(item_{row.attribute})")
        out.line(f"{row.attribute} = tuple({items})")

    # --- extensions ---------------------------------------------------------------------------

    def _emit_chain(self) -> None:
        out = self.out
        for ext in self.layout.extensions:
            default = "False" if ext.annotation == "bool" else "None"
            out.line(f"{ext.attribute}: {ext.annotation} = {default}")
        out.line("extensions: tuple[Extension, ...] = ()")
        with out.block("if header >= 0x80:"):
            out.line("count_exts = 0")
            with out.block("while True:"):
                assert self.layout.chain is not None
                self._begin(self.layout.chain.attribute)
                out.line("ext: i64 = buf[pos]")
                out.line("pos += 1")
                self._emit_known_extensions()
                with out.block("if ext < 0x80:"):
                    out.line("break")
                out.line("count_exts += 1")
                with out.block("if count_exts == EXTENSIONS_PER_MESSAGE_MAX:"):
                    self._begin(self.layout.chain.attribute)
                    out.line("raise too_many_extensions()")

    def _emit_known_extensions(self) -> None:
        out = self.out
        read = "read_unknown" if self.layout.refuses_unknown_mandatory else "read_extension"
        if not self.layout.extensions:
            out.line(f"unknown, pos = {read}(buf, pos, end, ext)")
            out.line("extensions += (unknown,)")
            return
        out.line("kind = ext & 0x7F")
        word = "if"
        for ext in self.layout.extensions:
            with out.block(f"{word} kind == {ext.header:#04x}:"):
                self._emit_extension(ext)
            word = "elif"
        with out.block("else:"):
            out.line(f"unknown, pos = {read}(buf, pos, end, ext)")
            out.line("extensions += (unknown,)")

    def _emit_extension(self, ext: ExtRow) -> None:
        out = self.out
        if ext.marks:
            with out.block(f"if {ext.marks} is not None:"):
                out.line("raise late_marker()")
            out.line(f"{ext.attribute} = 0")
            return
        if ext.enc is Enc.UNIT:
            out.line(f"{ext.attribute} = True")
            return
        self._name(ext.attribute)
        if ext.enc is Enc.Z64:
            assert isinstance(ext.content, WireType)
            self.leaves.emit(ext.content, ext.attribute)
            if ext.nonzero:
                self.leaves.emit_nonzero(ext.attribute)
            return
        if ext.sliced_if:
            with out.block(f"if {ext.sliced_if} is not None:"):
                self._emit_sliced_body(ext)
            with out.block("else:"):
                self._emit_zbuf(ext)
        else:
            self._emit_zbuf(ext)

    def _emit_zbuf(self, ext: ExtRow) -> None:
        """Emit the reading of a ZBuf; its surplus bytes are ignored (wire reference §2.1)."""
        out = self.out
        self.leaves.emit_size("z32")
        if ext.length is not None:
            low, high = ext.length
            with out.block(f"if not {low} <= size <= {high}:"):
                out.line(f'raise Malformed(f"{{size}} bytes, {low} to {high} are possible")')
        if isinstance(ext.content, str):
            out.line(f"{ext.attribute}, _ = decode_{snake(ext.content)}(buf, pos, stop)")
        else:
            assert ext.content is not None
            if ext.content.python == "bytes":
                out.line(f"{ext.attribute} = buf[pos:stop]")
            else:
                out.line(f"{ext.attribute}, _ = {ext.content.read}(buf, pos, stop)")
        out.line("pos = stop")

    def _emit_sliced_body(self, ext: ExtRow) -> None:
        """Emit the reading of a QueryBody in shared memory: the length is that of its data."""
        out = self.out
        out.line(f"{ext.sliced_if}, pos = read_z32(buf, pos, end)")
        out.line("body_encoding, pos = read_encoding(buf, pos, end)")
        out.line("body_slices, pos = read_slices(buf, pos, end)")
        out.line(f"{ext.attribute} = QueryBody(body_encoding, body_slices)")

    # --- what messages carry ------------------------------------------------------------------

    def _emit_body(self, row: BodyRow) -> None:
        out = self.out
        self._begin(row.attribute)
        out.line("id_of_body = buf[pos] & 0x1F")
        out.line(f"{row.attribute}: {row.annotation}")
        word = "if"
        for choice in row.choices:
            with out.block(f"{word} id_of_body == {self.layouts[choice].id:#04x}:"):
                out.line(f"{row.attribute}, pos = decode_{snake(choice)}(buf, pos)")
            word = "elif"
        with out.block("else:"):
            names = " or ".join(self.layouts[choice].name for choice in row.choices)
            out.line(f'raise wrong_body(id_of_body, "{names}")')

    def _emit_messages(self, row: MessagesRow) -> None:
        """Emit the reading of network messages up to other bytes (wire reference §6.4)."""
        out = self.out
        self._begin(row.attribute)
        out.line(f"{row.attribute}: {row.annotation} = []")
        if self.is_head:
            return
        with out.block("try:"):
            out.line(f"pos = decode_messages(buf, pos, {row.attribute})")
        with out.block("except WireError as error:"):
            arguments = ", ".join(row.attribute for row in self.layout.attributes)
            out.line("# A receiver delivers the complete messages before the error.")
            out.line(f"error.partial = {self.layout.class_name}({arguments})")
            out.line("raise")

    def _emit_oam_body(self, row: OamBodyRow) -> None:
        out = self.out
        self._begin(row.attribute)
        out.line(f"{row.attribute}: {row.annotation} = None")
        out.line("encoding_bits = header & 0x60")
        with out.block("if encoding_bits == 0x20:"):
            out.line(f"{row.attribute}, pos = read_z64(buf, pos, end)")
        with out.block("elif encoding_bits == 0x40:"):
            out.line(f"{row.attribute}, pos = read_bytes_z32(buf, pos, end)")
        with out.block("elif encoding_bits == 0x60:"):
            out.line('raise Malformed("the body has the reserved encoding 0b11")')
