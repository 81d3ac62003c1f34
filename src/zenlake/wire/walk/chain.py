"""Reads the extension chain of a message: known ones by their rows, others unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zenlake.limits import EXTENSIONS_PER_MESSAGE_MAX
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import ChainRow, Enc, ExtRow, Layout, WireType, default_of
from zenlake.wire.message import (
    Extension,
    late_marker,
    read_extension,
    read_unknown,
    too_many_extensions,
)
from zenlake.wire.primitives import Z32_MAX, Malformed, overrun, read_small
from zenlake.wire.values.encoding import read_encoding
from zenlake.wire.values.slices import read_slices
from zenlake.wire.walk.functions import runtime_name
from zenlake.wire.walk.span import BitSpan, Span

if TYPE_CHECKING:
    from zenlake.wire.walk.reader import LayoutReader

_DEFAULTS = {"None": None, "False": False}


class ChainReader:
    """Sets the values of the message being read from its extensions."""

    def __init__(self, rows: LayoutReader) -> None:
        self.rows = rows
        self.buf = rows.buf
        self.end = rows.end
        self.values = rows.values
        self.layout = rows.layout

    def read(self, row: ChainRow, pos: int) -> int:
        for ext in self.layout.extensions:
            self.values[ext.attribute] = _DEFAULTS[default_of(ext) or "None"]
        unknown: list[Extension] = []
        self.values[row.attribute] = ()
        more = self.rows.bytes["header"] >= 0x80
        count = 0
        while more:
            self.rows.begin(row.attribute, pos)
            if count == EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_extensions()
            header = self.buf[pos]
            known = [ext for ext in self.layout.extensions if ext.header == header & 0x7F]
            name = known[0].attribute if known else "unknown"
            span = self.rows.span.add(name, pos, "extension", kind="extension")
            _label_header(span, header, pos, self.layout)
            if known:
                pos = self._read_known(known[0], pos + 1, span)
            else:
                extension, pos = self._read_unknown(header, pos + 1, span)
                unknown.append(extension)
            self.values[row.attribute] = tuple(unknown)
            more = header >= 0x80
            count += 1
        return pos

    def _read_unknown(self, header: int, pos: int, span: Span) -> tuple[Extension, int]:
        read = read_unknown if self.layout.refuses_unknown_mandatory else read_extension
        extension, stop = read(self.buf, pos, self.end, header)
        span.value, span.stop = extension.body, stop
        span.meaning = "unknown, kept unchanged"
        return extension, stop

    def _read_known(self, ext: ExtRow, pos: int, span: Span) -> int:
        if ext.enc is not Enc.UNIT:
            self.rows.row_name = ext.attribute
        if ext.marks and self.values[ext.marks] is not None:
            raise late_marker()
        value: Any
        if ext.enc is Enc.UNIT:
            value = 0 if ext.marks else True
        elif ext.enc is Enc.Z64:
            value, pos = self._read_number(ext, pos)
        elif ext.sliced_if and self.values[ext.sliced_if] is not None:
            value, pos = self._read_sliced_body(ext, pos)
        else:
            value, pos = self._read_zbuf(ext, pos, span)
        self.rows.finish(ext, span, value, pos)
        return pos

    def _read_number(self, ext: ExtRow, pos: int) -> tuple[Any, int]:
        assert isinstance(ext.content, WireType)
        type = self.rows.dialect_type(ext.content, ext.pages)
        value, pos = self.rows.read_leaf(type, pos, self.end)
        if ext.nonzero and value == 0:
            raise Malformed("0 is not allowed here")
        return value, pos

    def _read_zbuf(self, ext: ExtRow, pos: int, span: Span) -> tuple[Any, int]:
        """Reads within the length of a ZBuf; surplus bytes are ignored (wire reference §2.1)."""
        length = span.add("length", pos, "z32")
        size, pos = read_small(self.buf, pos, self.end, Z32_MAX)
        length.value, length.stop = size, pos
        if size > self.end - pos:
            raise overrun(size, self.end - pos)
        if ext.length is not None and not ext.length[0] <= size <= ext.length[1]:
            raise Malformed(f"{size} bytes, {ext.length[0]} to {ext.length[1]} are possible")
        stop = pos + size
        if isinstance(ext.content, str):
            layout = LAYOUTS[ext.content]
            value, after = self.rows.reader.read_layout(layout, pos, stop, span)
        else:
            assert ext.content is not None
            value, after = self.rows.read_leaf(ext.content, pos, stop)
        if after < stop:
            surplus = span.add("surplus", after, "bytes")
            surplus.value, surplus.stop = self.buf[after:stop], stop
            surplus.meaning = "ignored"
        return value, stop

    def _read_sliced_body(self, ext: ExtRow, pos: int) -> tuple[Any, int]:
        """Reads a body in shared memory: the length is of the data there (wire reference §10.3)."""
        self.values[ext.sliced_if], pos = read_small(self.buf, pos, self.end, Z32_MAX)
        encoding, pos = read_encoding(self.buf, pos, self.end)
        slices, pos = read_slices(self.buf, pos, self.end)
        assert isinstance(ext.content, str)
        return runtime_name(ext.content)(encoding, slices), pos


def _label_header(span: Span, header: int, pos: int, layout: Layout) -> None:
    child = span.add("header", pos, "u8")
    child.value, child.stop = header, pos + 1
    enc = header >> 5 & 3
    names = ("Unit: no body", "Z64: one number", "ZBuf: length and bytes", "reserved")
    mandatory = header >> 4 & 1
    child.bits = [
        BitSpan("Z", 0x80, header >> 7, "another follows" if header >> 7 else "the last one"),
        BitSpan("ENC", 0x60, enc, names[enc]),
        BitSpan("M", 0x10, mandatory, "mandatory" if mandatory else "optional"),
        BitSpan("ID", 0x0F, header & 0x0F, f"of {layout.name}"),
    ]
    span.stop = pos + 1
