"""An explanation as text: a line for each field, its bits below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zenlake.wire.explain import Explanation
from zenlake.wire.message import Message
from zenlake.wire.walk import BitSpan, Span
from zenlake.wire.walk.meaning import value_text

Paint = Callable[[str, str], str]

BYTES_PER_LINE = 8
BYTES_SHOWN_MAX = 64
_HEX_WIDTH = BYTES_PER_LINE * 3


def plain(text: str, style: str) -> str:
    """No colour."""
    return text


def lines(found: Explanation, paint: Paint = plain) -> Iterator[str]:
    """The whole explanation; `paint(text, style)` may colour a part of it."""
    form = found.form.replace("-", " ")
    yield paint(f"{len(found.data)} bytes, read as {form}", "dim")
    for span in found.root.children:
        yield from _span_lines(found.data, span, 0, paint)
    if found.error is not None:
        yield from _error_lines(found, paint)
    if found.content is not None:
        yield ""
        yield paint("decompressed:", "dim")
        yield from lines(found.content, paint)


def _span_lines(data: bytes, span: Span, depth: int, paint: Paint) -> Iterator[str]:
    if span.kind == "message":
        whole = isinstance(span.value, Message)
        size = f"{span.stop - span.start} bytes" if whole else "broken off"
        yield ""
        title = f"{'  ' * depth}{paint(span.name, 'bold')}"
        yield f"{title}  {paint(f'{size}. {span.meaning}', 'dim')}"
    elif span.kind == "structure" and span.name.endswith("]"):
        yield f"{'':{_HEX_WIDTH + 9}}{'  ' * depth}{paint(span.name, 'name')}"
    if span.kind in ("field", "extension"):
        yield from _field_lines(data, span, depth, paint)
    for child in span.children:
        if span.kind != "extension" or child.kind != "field" or child.name == "surplus":
            yield from _span_lines(data, child, depth + (span.kind != "holder"), paint)


def _field_lines(data: bytes, span: Span, depth: int, paint: Paint) -> Iterator[str]:
    """The bytes of a field, or of an extension up to the structure inside it."""
    inner = [child.start for child in span.children if child.kind != "field"]
    yield from _row(data[span.start : min([span.stop, *inner])], span, depth, paint)
    header = [child for child in span.children if span.kind == "extension" and child.bits]
    for byte in (span, *header):
        for bits in _merge_reserved(byte.bits):
            yield _bits_line(bits, depth, paint)


def _merge_reserved(bits: list[BitSpan]) -> Iterator[BitSpan]:
    """Reserved bits side by side as one."""
    last: BitSpan | None = None
    for group in bits:
        if last is not None and last.name == group.name == "X":
            last = BitSpan("X", last.mask | group.mask, last.value << 1 | group.value, "reserved")
            continue
        if last is not None:
            yield last
        last = group
    if last is not None:
        yield last


def _row(raw: bytes, span: Span, depth: int, paint: Paint) -> Iterator[str]:
    name = f"{'  ' * depth}{span.name}"
    label = f"{paint(name.ljust(24), 'name')} {paint(span.type.ljust(10), 'dim')}"
    value = "" if span.bits or isinstance(span.value, Message) else value_text(span.value)
    meaning = paint(f"  {span.meaning}", "dim") if span.meaning else ""
    shown = raw[:BYTES_SHOWN_MAX]
    pieces = [shown[i : i + BYTES_PER_LINE].hex(" ") for i in range(0, len(shown), BYTES_PER_LINE)]
    first = pieces[0] if pieces else ""
    yield f"{span.start:6}  {first.ljust(_HEX_WIDTH)} {label} {value}{meaning}".rstrip()
    for number, piece in enumerate(pieces[1:], 1):
        yield f"{span.start + number * BYTES_PER_LINE:6}  {piece}"
    if len(raw) > BYTES_SHOWN_MAX:
        yield f"        {paint(f'... {len(raw) - BYTES_SHOWN_MAX} more bytes', 'dim')}"


def _bits_line(bits: BitSpan, depth: int, paint: Paint) -> str:
    drawn = "".join(
        (str(bits.value >> _place(bits.mask, bit) & 1) if bits.mask >> bit & 1 else ".")
        for bit in range(7, -1, -1)
    )
    name = f"{'  ' * depth}  {bits.name}"
    grey = paint(f"{bits.meaning}", "dim" if bits.name == "X" else "plain")
    return f"{'':8}{drawn[:4]} {drawn[4:]}{'':{_HEX_WIDTH - 9}} {name.ljust(24)} {'':10} {grey}"


def _place(mask: int, bit: int) -> int:
    """The position within the value of a bit of the byte."""
    return bit - ((mask & -mask).bit_length() - 1)


def _error_lines(found: Explanation, paint: Paint) -> Iterator[str]:
    error = found.error
    assert error is not None
    rest = found.data[error.offset :]
    shown = rest[:BYTES_PER_LINE].hex(" ") + (" ..." if len(rest) > BYTES_PER_LINE else "")
    yield ""
    place = f"{error.message}.{error.field}"
    yield paint(f"{error.offset:6}  {shown.ljust(_HEX_WIDTH)} {place}: {error.cause}", "error")
