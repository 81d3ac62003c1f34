"""Layout: a message definition as plain data.

A definition (`definitions/*.py`) is a class body in the order of the page's box; `define.py`
turns it into a `Layout`, a tuple of rows in wire order. The code generator, `explain`, the
printed reference and the test strategies use layouts only.

A row is present if some named bits of an earlier byte are set, or if they are not. There are no
other conditions, because users of layouts must compile, draw and invert them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property


class Enc(IntEnum):
    """How an extension's body is encoded (bits 6 and 5 of its header)."""

    UNIT = 0
    Z64 = 1
    ZBUF = 2


@dataclass(frozen=True)
class WireType:
    """A leaf: a type with one reader and one writer in `primitives` or `values`.

    `of` and `to`, if set, convert between the number on the wire and the value that a message
    holds; `inline_of` and `inline_to` are expressions that generated code uses instead of a call.
    """

    name: str
    """The notation of the pages: `z16`, `<u8;z32>`."""
    python: str
    read: str
    write: str
    of: str = ""
    to: str = ""
    limit: int | None = None
    """The greatest number of an unsigned integer; None for other types."""
    inline_of: str = ""
    inline_to: str = ""

    @property
    def is_vle(self) -> bool:
        return self.name in ("z8", "z16", "z32", "z64")

    @property
    def is_sized(self) -> bool:
        """Whether it is a length and that many bytes, which may be text."""
        return self.read.startswith(("read_bytes_", "read_text_"))

    @property
    def length_name(self) -> str:
        """The integer type of the length, for a sized type."""
        return self.name.partition(";")[2].rstrip(">")


@dataclass(frozen=True)
class Bits:
    """A named group of bits within one byte; `X` is reserved."""

    name: str
    shift: int
    width: int

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class Condition:
    """The row is present if (with `unless`: only if not) one of the named bits is set."""

    bits: str
    unless: bool = False


@dataclass(frozen=True)
class Row:
    """Base of all rows. `attribute` is the name on the message, or of the byte itself."""

    attribute: str
    annotation: str


@dataclass(frozen=True)
class ByteRow(Row):
    """A byte cut into named bits, such as `zid_len:4|X|X|WAI:2`."""

    bits: tuple[Bits, ...]
    condition: Condition | None
    vle: bool = False
    """The byte is the low byte of a variable-length integer (LinkState's options)."""


@dataclass(frozen=True)
class BitsRow(Row):
    """An attribute stored in named bits of the header or of a ByteRow."""

    bits: str
    type: WireType
    default: str | None


@dataclass(frozen=True)
class FieldRow(Row):
    """A leaf value."""

    type: WireType
    condition: Condition | None
    cell: str
    default: str | None
    nonzero: bool = False
    sliced_if: str = ""
    """If this attribute is set, the bytes are slices in shared memory (wire reference §10.3)."""
    pages: WireType | None = None
    """The type in the pages' dialect, if it differs."""


@dataclass(frozen=True)
class ZidRow(Row):
    """A ZenohId whose length is in the bits `zid_len` of an earlier byte."""

    condition: Condition | None


@dataclass(frozen=True)
class KeyRow(Row):
    """A WireExpr: the scope, then the suffix."""

    suffix_if: str
    sender_if: str
    condition: Condition | None
    suffix: WireType
    pages: WireType | None = None


@dataclass(frozen=True)
class ListRow(Row):
    """Items one after another, after their count unless that is known."""

    item: WireType | str
    """A leaf, or the class name of a structure."""
    count: WireType | int | str
    """The type of the count, a fixed count, or the list attribute of the same length."""
    limit: int
    condition: Condition | None
    cell: str
    pages_header: int | None = None
    """Whether the pages' dialect has a header byte instead of the count."""


@dataclass(frozen=True)
class ChainRow(Row):
    """The place of the extension chain; the attribute keeps the unknown extensions."""

    cell: str


@dataclass(frozen=True)
class ExtRow(Row):
    """One known extension of the chain, identified by (encoding, mandatory, id)."""

    id: int
    enc: Enc
    mandatory: bool
    content: WireType | str | None
    """None for UNIT; a leaf; or the class name of a structure."""
    nonzero: bool = False
    length: tuple[int, int] | None = None
    sliced_if: str = ""
    marks: str = ""
    """The extension whose ZBuf length becomes a size in shared memory, for UNIT."""
    pages: WireType | None = None

    @property
    def header(self) -> int:
        """The header byte without Z: the identity of the extension."""
        return self.enc << 5 | self.mandatory << 4 | self.id


@dataclass(frozen=True)
class BodyRow(Row):
    """Exactly one sub-message, chosen by its own header."""

    choices: tuple[str, ...]
    cell: str


@dataclass(frozen=True)
class MessagesRow(Row):
    """The network messages of a FRAME: as many as follow."""

    cell: str


@dataclass(frozen=True)
class OamBodyRow(Row):
    """Nothing, a z64 or bytes, selected by ENC of the header."""

    cell: str


@dataclass(frozen=True)
class Layout:
    """One message, structure or extension body."""

    name: str
    """The page's word: PUSH, D_KEYEXPR. Structures have their class name."""
    class_name: str
    layer: str
    """scouting, transport, network, data, declare, or structure."""
    id: int | None
    label: str
    """The text in the header cell of the page's box."""
    header: tuple[Bits, ...]
    rows: tuple[Row, ...]
    doc: str
    refuses_unknown_mandatory: bool = True

    @cached_property
    def chain(self) -> ChainRow | None:
        return next((row for row in self.rows if isinstance(row, ChainRow)), None)

    @cached_property
    def extensions(self) -> tuple[ExtRow, ...]:
        return tuple(row for row in self.rows if isinstance(row, ExtRow))

    @cached_property
    def attributes(self) -> tuple[Row, ...]:
        """The rows that are attributes, in the order of the constructor's parameters.

        Required ones are first, then those that may be absent; unknown extensions are last.
        """
        rows = [row for row in self.rows if not isinstance(row, ByteRow)]
        return tuple(
            sorted(rows, key=lambda row: (isinstance(row, ChainRow), default_of(row) is not None))
        )

    @cached_property
    def bytes_with_bits(self) -> dict[str, tuple[Bits, ...]]:
        """Every byte that is cut into bits: the header first."""
        bytes = {"header": self.header} if self.header else {}
        return bytes | {row.attribute: row.bits for row in self.rows if isinstance(row, ByteRow)}

    @cached_property
    def bits_by_name(self) -> dict[str, tuple[str, Bits]]:
        """The byte that contains each name of bits, and their place in it."""
        return {
            bits.name: (byte, bits)
            for byte, groups in self.bytes_with_bits.items()
            for bits in groups
        }

    @cached_property
    def stored_bits(self) -> dict[str, BitsRow]:
        """Bits that are attributes of the message; others only announce rows."""
        return {row.bits: row for row in self.rows if isinstance(row, BitsRow)}

    def dependents(self, bits: str) -> list[Row]:
        """Rows whose presence the named bits announce."""
        return [row for row in self.rows if (c := condition_of(row)) and c.bits == bits]


def condition_of(row: Row) -> Condition | None:
    return getattr(row, "condition", None)


def default_of(row: Row) -> str | None:
    """The source text of an attribute's default; None if it is required."""
    match row:
        case FieldRow() if row.default is not None:
            return row.default
        case BitsRow():
            return row.default
        case ExtRow():
            return "False" if row.enc is Enc.UNIT and not row.marks else "None"
        case ChainRow():
            return "()"
        case OamBodyRow():
            return "None"
    if condition_of(row) is None:
        return None
    # The default of a list is None: an empty list is not an absent one.
    return "None"
