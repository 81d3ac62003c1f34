"""Emits the reading, checking and storing of one leaf."""

from __future__ import annotations

from zenlake.columnar.failures import failed
from zenlake.columnar.fields import Field, columns, presence_bits
from zenlake.wire.generate.code import Code
from zenlake.wire.layout import WireType

_LENGTH_LIMITS = {"z8": 0xFF, "z16": 0xFFFF, "z32": 0xFFFF_FFFF}


class LeafKernel:
    """Emits into one function; `place_of` returns the number of a row's place."""

    def __init__(self, out: Code, places: dict[str, int], name: str) -> None:
        self.out = out
        self.places = places
        self.name = name

    # --- failing and storing ------------------------------------------------------------------

    def fail(self, label: str, cause: str) -> None:
        failure = failed("at", self.places[label], cause)
        self.out.line(f"return {failure}  # {self.name}.{label}")

    def check(self, label: str, variable: str = "pos") -> None:
        """Emit a return of the failure if the variable is a cause."""
        with self.out.block(f"if {variable} < 0:"):
            self.fail(label, variable)

    def store(self, field: Field | None, *values: str) -> None:
        """Store the parts of a field; nothing in structures that have no columns."""
        if field is None:
            return
        for (width, column), value in zip(field.columns, values, strict=True):
            self.out.line(f"put_{width}(out, room, {column.upper()}, n, {value})")
        self.mark(field)

    def mark(self, field: Field | None) -> None:
        if field is not None and field.name in presence_bits():
            self.out.line(f"has |= _HAS_{field.name.upper()}")

    # --- leaves -------------------------------------------------------------------------------

    def emit(
        self,
        type: WireType,
        field: Field | None,
        label: str,
        end: str = "end",
        nonzero: bool = False,
    ) -> None:
        out = self.out
        if type.is_sized:
            self._emit_sized(type, field, label)
        elif type.read in ("read_rest", "read_rest_text"):
            self._check_text(type, label, end)
            self.store(field, "pos", f"{end} - pos")
            out.line(f"pos = {end}")
        elif type.read == "read_chain":
            out.line(f"inner = skip_chain(buf, pos, {end})")
            self.check(label, "inner")
            self.store(field, "pos", "inner - pos")
            out.line("pos = inner")
        elif type.read in ("read_timestamp", "read_encoding"):
            out.line(f"value, start, size, pos = {type.read}(buf, pos, {end})")
            self.check(label)
            self.store(field, "value", "start", "size")
        else:
            self._emit_number(type, field, label, end, nonzero)

    def _emit_sized(self, type: WireType, field: Field | None, label: str) -> None:
        limit = _LENGTH_LIMITS[type.length_name]
        self.out.line(f"size, pos = read_length(buf, pos, end, {limit:#x})")
        self.check(label)
        self._check_text(type, label, "pos + size")
        self.store(field, "pos", "size")
        self.out.line("pos += size")

    def emit_slices(self, field: Field | None, label: str) -> None:
        """A list of slices in place of bytes."""
        self.out.line("start = pos")
        self.out.line("pos = skip_slices(buf, pos, end)")
        self.check(label)
        self.store(field, "start", "pos - start")

    def _check_text(self, type: WireType, label: str, end: str) -> None:
        if type.python == "str":
            self.out.line(f"inner = check_text(buf, pos, {end})")
            self.check(label, "inner")

    def _emit_number(
        self, type: WireType, field: Field | None, label: str, end: str, nonzero: bool
    ) -> None:
        out = self.out
        if type.name in ("z8", "z16", "z32"):
            out.line(f"value, pos = read_small(buf, pos, {end}, {type.limit:#x})")
        else:
            out.line(f"value, pos = {type.read}(buf, pos, {end})")
        self.check(label)
        if nonzero:
            with out.block("if value == 0:"):
                self.fail(label, "ZERO")
        self.convert(type, "value", label)
        self.store(field, *_parts_of_number(field))

    def convert(self, type: WireType, expression: str, label: str) -> None:
        """Convert a number to the value of the column; QoSLink is not converted."""
        if type.of and type.python != "QoSLink":
            self.out.line(f"value = {type.of}({expression})")
            self.check(label, "value")


def _parts_of_number(field: Field | None) -> tuple[str, ...]:
    if field is not None and field.shape == "info":
        return "value & 1", "value >> 8"
    return ("value",)


def constants(out: Code) -> None:
    """Constants for the offsets of columns and for the bits of `present`."""
    for name, column in columns().items():
        out.line(f"{name.upper()}: Final = {column.begin}")
    out.line()
    for name, bit in presence_bits().items():
        out.line(f"_HAS_{name.upper()}: Final = {bit:#x}")
