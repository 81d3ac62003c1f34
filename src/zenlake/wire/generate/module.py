"""Emits one module of `_generated`: classes, decoders and the dispatch by message id."""

from __future__ import annotations

import re
from types import ModuleType

from zenlake.wire.definitions import LAYOUTS, layouts_of
from zenlake.wire.generate.code import Code
from zenlake.wire.generate.decoder import emit_decoder
from zenlake.wire.generate.encoder import emit_encoder
from zenlake.wire.generate.names import snake, typed
from zenlake.wire.layout import Layout

HEADER = '''"""{title}

GENERATED from zenlake/wire/definitions/{name}.py by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final
'''

BASES = {
    "structure": "Structure",
    "scouting": "ScoutingMessage",
    "transport": "TransportMessage",
    "network": "NetworkMessage",
    "data": "DataMessage",
    "declare": "Declaration",
}


def module_source(module: ModuleType, homes: dict[str, str]) -> str:
    """The text of the generated module; `homes` maps names to their modules."""
    name = module.__name__.rpartition(".")[2]
    layouts = layouts_of(module)
    body = Code()
    for layout in layouts:
        _emit_class(body, layout)
        emit_decoder(body, layout, LAYOUTS)
    if layouts[0].header and name in ("scouting", "transport", "network"):
        _emit_dispatch(body, name, layouts)
    text = str(body)
    own = {layout.class_name for layout in layouts} | _functions_of(layouts)
    head = HEADER.format(title=(module.__doc__ or "").strip().splitlines()[0], name=name)
    return head + _imports(text, own, homes) + "\n" + text


def generated_names(module: ModuleType) -> tuple[str, ...]:
    """The names that other modules may import from a generated one."""
    name = module.__name__.rpartition(".")[2]
    layouts = layouts_of(module)
    dispatch = {f"decode_{name}"} if name in ("scouting", "transport", "network") else set()
    classes = {layout.class_name for layout in layouts}
    return tuple(sorted(classes | _functions_of(layouts) | dispatch))


def _functions_of(layouts: list[Layout]) -> set[str]:
    return {f"decode_{snake(layout.class_name)}" for layout in layouts}


def _emit_class(out: Code, layout: Layout) -> None:
    names = [row.attribute for row in layout.attributes]
    listed = ", ".join(repr(name) for name in names) + ","
    out.line()
    out.line()
    out.line("@mypyc_attr(acyclic=True)")
    with out.block(f"class {layout.class_name}({BASES[layout.layer]}):"):
        out.line(f'"""{layout.doc}"""')
        out.line()
        out.line(f"__slots__ = ({listed})")
        out.line(f'NAME: ClassVar[str] = "{layout.name}"')
        out.line(f"FIELDS: ClassVar[tuple[str, ...]] = ({listed})")
        out.line()
        parameters = ", ".join(typed(row) for row in layout.attributes)
        with out.block(f"def __init__(self, {parameters}) -> None:"):
            for name in names:
                out.line(f"self.{name} = {name}")
        out.line()
        with out.block(f"def copy(self) -> {layout.class_name}:"):
            out.line('"""A copy with all fields, which may be changed before it is sent."""')
            values = ", ".join(f"self.{name}" for name in names)
            out.line(f"return {layout.class_name}({values})")
        out.line()
        emit_encoder(out, layout)
    out.line()
    out.line()


def _emit_dispatch(out: Code, name: str, layouts: list[Layout]) -> None:
    """`decode_<layer>`: one message, chosen by its id."""
    base = BASES[name]
    out.line()
    out.line()
    with out.block(f"def decode_{name}(buf: bytes, pos: i64) -> tuple[{base}, i64]:"):
        out.line(f'"""One {name} message of any kind, and where the next begins."""')
        with out.block("if pos >= len(buf):"):
            out.line(f'raise WireError("{name}", "header", pos, "there are no bytes")')
        out.line("id = buf[pos] & 0x1F")
        for layout in _most_frequent_first(layouts):
            with out.block(f"if id == {layout.id:#04x}:"):
                out.line(f"return decode_{snake(layout.class_name)}(buf, pos)")
        out.line(f'raise WireError("{name}", "header", pos, f"{{id:#04x}} is no {name} message")')


def _most_frequent_first(layouts: list[Layout]) -> list[Layout]:
    order = ("Push", "Frame", "Request", "Response", "ResponseFinal", "Declare", "Fragment")
    return sorted(
        layouts,
        key=lambda layout: (
            order.index(layout.class_name) if layout.class_name in order else len(order)
        ),
    )


def _imports(text: str, own: set[str], homes: dict[str, str]) -> str:
    """Import lines for just the names the text uses."""
    used = set(re.findall(r"\b[A-Za-z]\w*", text)) - own
    by_module: dict[str, list[str]] = {}
    for name in sorted(used & homes.keys(), key=_isort_key):
        by_module.setdefault(homes[name], []).append(name)
    lines = []
    for module in sorted(by_module):
        lines.append(f"from {module} import (")
        lines += [f"    {name}," for name in by_module[module]]
        lines.append(")")
    lines += ["", "if TYPE_CHECKING:", "    from mypy_extensions import i64"]
    return "\n" + "\n".join(lines) + "\n"


def _isort_key(name: str) -> tuple[int, str]:
    """Constants, classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
