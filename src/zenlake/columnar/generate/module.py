"""Emits `_generated/kernels.py`: columns, places, a kernel for each layout, the walk."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from zenlake.columnar import causes, leaves, values
from zenlake.columnar.failures import failed
from zenlake.columnar.fields import WIDTHS, columns, presence_bits, reachable, row_bytes
from zenlake.columnar.generate.layout_kernel import LayoutKernel
from zenlake.columnar.generate.leaf_kernel import constants
from zenlake.columnar.generate.names import kernel_name
from zenlake.columnar.generate.walk_source import COUNT_UNKNOWN, WALK
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.generate.code import Code
from zenlake.wire.generate.names import labels
from zenlake.wire.layout import Layout

PACKAGE = Path(__file__).parents[1]
LAYERS = ("scouting", "transport", "network")
PARTS = (
    "causes",
    "forms",
    "jit",
    "leaves",
    "locators",
    "memory",
    "compiled_memory",
    "utf8",
    "values",
)
"""Hand-written files whose functions are part of the compiled entry."""

HEAD = '''"""Kernels of every message, and the walk over units.

GENERATED from zenlake/wire/definitions by `make generate`. Do not edit.
Hand-written parts: {digest}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

{imports}

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer, Numbers, Table

'''


def module_source() -> str:
    places = {name: index for index, name in enumerate(place_names())}
    body = Code()
    constants(body)
    body.line()
    _emit_places(body, places)
    body.line(COUNT_UNKNOWN)
    for layout in reachable():
        rows = {label: places[layout.name, label] for label in labels(layout)}
        LayoutKernel(body, layout, rows).emit()
    for layer in LAYERS:
        _emit_dispatch(body, layer, places[layer, "header"])
    headers = {
        f"@{name}@": failed("pos", places[place, "header"], cause)
        for name, place, cause in (
            ("NO_NETWORK", "network", "NO_BYTES"),
            ("NO_SCOUTING", "scouting", "NO_BYTES"),
            ("NO_LOW_LATENCY", "low-latency unit", "NO_SUCH_MESSAGE"),
        )
    }
    text = str(body) + re.sub(r"@[A-Z_]+@", lambda found: headers[found[0]], WALK)
    return HEAD.format(digest=_digest(), imports=_imports(text)) + text


def place_names() -> Iterator[tuple[str, str]]:
    """The names of message and row in errors."""
    for layer in LAYERS:
        yield layer, "header"
    yield "low-latency unit", "header"
    for layout in reachable():
        yield from ((layout.name, label) for label in labels(layout))


def _emit_places(out: Code, places: dict[tuple[str, str], int]) -> None:
    inherited = [presence_bits()[name] for name in ("sn", "reliable", "priority")]
    out.line(f"_WORDS_BEGIN: Final = {_first_of(4)}")
    out.line(f"_LONGS_BEGIN: Final = {_first_of(8)}")
    out.line(f"ROW_BYTES: Final = {row_bytes()}")
    out.line(f"_INHERITED: Final = {sum(inherited):#x}")
    for name in ("Close", "KeepAlive", "Frame"):
        layout = LAYOUTS[name]
        out.line(f"_{layout.name}_ID: Final = {layout.id:#04x}")
    out.line()
    out.line("PLACES: Final = (")
    for message, label in places:
        out.line(f'    ("{message}", "{label}"),')
    out.line(")")


def _first_of(width: int) -> int:
    return min(column.begin for column in columns().values() if column.width == width)


def _emit_dispatch(out: Code, layer: str, place: int) -> None:
    """`_<layer>`: one message, chosen by its id."""
    layouts = [layout for layout in LAYOUTS.values() if layout.layer == layer]
    out.line()
    out.line()
    out.line("@kernel")
    with out.block(
        f"def _{layer}(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:"
    ):
        out.line("id = load(buf, pos) & 0x1f")
        for layout in sorted(layouts, key=_most_frequent_first):
            with out.block(f"if id == {layout.id:#04x}:"):
                out.line(f"return {kernel_name(layout)}(buf, pos, end, out, room, n)")
        out.line(f"return {failed('pos', place, 'NO_SUCH_MESSAGE')}")


def _most_frequent_first(layout: Layout) -> bool:
    return layout.class_name not in ("Push", "Frame")


def _digest() -> str:
    texts = "".join((PACKAGE / f"{name}.py").read_text("utf-8") for name in PARTS)
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


def _imports(text: str) -> str:
    """Import lines for just the names the text uses."""
    used = set(re.findall(r"\b[A-Za-z]\w*", text))
    modules = {
        "zenlake.columnar.causes": [name for name in vars(causes) if name.isupper()],
        "zenlake.columnar.forms": ["BATCH", "FULL", "LOW_LATENCY", "NETWORK", "SCOUTING"],
        "zenlake.columnar.jit": ["entry", "kernel"],
        "zenlake.columnar.leaves": _functions_of(leaves.__name__, vars(leaves)),
        "zenlake.columnar.locators": ["skip_locator"],
        "zenlake.columnar.memory": [
            *("load", *(f"{verb}_{width}" for verb in ("get", "put") for width in WIDTHS))
        ],
        "zenlake.columnar.values": _functions_of(values.__name__, vars(values)),
        "zenlake.limits": ["EXTENSIONS_PER_MESSAGE_MAX"],
    }
    lines = []
    for module, names in modules.items():
        lines.append(f"from {module} import (")
        lines += [f"    {name}," for name in sorted(used.intersection(names))]
        lines.append(")")
    return "\n".join(lines)


def _functions_of(module: str, names: dict[str, object]) -> list[str]:
    return [name for name, value in names.items() if getattr(value, "__module__", "") == module]
