"""Emits the reading of one leaf: an integer, a byte string, a text, a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zenlake.wire.generate.code import Code
from zenlake.wire.generate.names import converted
from zenlake.wire.layout import WireType

# Locals whose types the compiler must not infer: a value of at most 32 bits is a machine
# integer, a value that may have 64 is not.
_DECLARED = {
    **dict.fromkeys(("scope", "size", "stop", "small", "kind", "count_exts", "id_of_body"), "i64"),
    "wide": "int",
}


def declarations(lines: list[str]) -> Iterator[str]:
    """Declarations of the locals that a decoder's body assigns to."""
    for name, type in _DECLARED.items():
        if any(re.match(rf"\s*{name}(, pos)? = ", line) for line in lines):
            yield f"{name}: {type}"


class LeafDecoder:
    """Emits the reading of leaves; with `inline`, common short forms are read without a call."""

    def __init__(self, out: Code, inline: bool) -> None:
        self.out = out
        self.inline = inline

    def emit(self, type: WireType, target: str) -> None:
        """Reads one leaf into `target`."""
        out = self.out
        if self.inline and type.name == "u8":
            out.line(f"{target} = {converted(type, 'buf[pos]')}")
            out.line("pos += 1")
        elif self.inline and type.is_sized:
            self._emit_sized(type, target)
        else:
            number = _temporary(type) if type.of else target
            if self.inline and type.is_vle:
                self._emit_vle(type, number)
            else:
                out.line(f"{number}, pos = {type.read}(buf, pos, end)")
            if type.of:
                out.line(f"{target} = {converted(type, number)}")

    def _emit_vle(self, type: WireType, target: str) -> None:
        out = self.out
        out.line("small = buf[pos]")
        out.line("pos += 1")
        with out.block("if small < 0x80:"):
            out.line(f"{target} = small")
        with out.block("else:"):
            if type.name == "z64":
                out.line(f"{target}, pos = read_tail_z64(buf, pos, end, small)")
            else:
                limit = f"{type.name.upper()}_MAX"
                out.line(f"{target}, pos = read_tail(buf, pos, end, small, {limit})")

    def _emit_sized(self, type: WireType, target: str) -> None:
        """A length and that many bytes, or as much text."""
        self.emit_size(type.length_name)
        text = ".decode()" if type.python == "str" else ""
        self.out.line(f"{target} = buf[pos:stop]{text}")
        self.out.line("pos = stop")

    def emit_size(self, width: str) -> None:
        """Read a length and set `stop` to the end of the bytes it counts."""
        out = self.out
        out.line("size = buf[pos]")
        out.line("pos += 1")
        with out.block("if size >= 0x80:"):
            out.line(f"size, pos = read_tail(buf, pos, end, size, {width.upper()}_MAX)")
        out.line("stop = pos + size")
        with out.block("if stop > end:"):
            out.line("raise overrun(size, end - pos)")

    def emit_nonzero(self, variable: str) -> None:
        with self.out.block(f"if {variable} == 0:"):
            self.out.line('raise Malformed("0 is not allowed here")')


def _temporary(type: WireType) -> str:
    """The local that keeps a number until it is converted."""
    return "wide" if type.name == "z64" else "number"
