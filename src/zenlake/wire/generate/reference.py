"""Prints the reference pages from the definitions: boxes, attributes, extension tables."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from zenlake.limits import LIMITS
from zenlake.wire.definitions import MODULES, layouts_of
from zenlake.wire.generate.box import draw
from zenlake.wire.layout import Enc, ExtRow, Layout, WireType, default_of

_NOTE = "<!-- Printed from src/zenlake/wire/definitions by `make generate`. Do not edit. -->"
_TITLES = {
    "structures": "Structures",
    "data": "Data sub-messages",
    "declare": "Declarations",
    "network": "Network messages",
    "scouting": "Scouting messages",
    "transport": "Transport messages",
}
_ENC_WORDS = {Enc.UNIT: "Unit", Enc.Z64: "Z64", Enc.ZBUF: "ZBuf"}


def pages() -> dict[str, str]:
    """Every page by its file name."""
    texts = {f"{_name(module)}.md": _page(module) for module in MODULES}
    texts["limits.md"] = _limits_page()
    return texts


def message_section(layout: Layout) -> Iterator[str]:
    """The section of one message: box, attributes and extensions."""
    id = "" if layout.id is None else f" (0x{layout.id:02X})"
    yield f"## {layout.name}{id}"
    yield ""
    yield layout.doc
    yield ""
    yield "```"
    yield from draw(layout)
    yield "```"
    yield ""
    yield f"`zenlake.wire.{layout.class_name}({_signature(layout)})`"
    yield ""
    if layout.extensions:
        yield from _extension_table(layout)


def _page(module: ModuleType) -> str:
    lines = [f"# {_TITLES[_name(module)]}", "", _NOTE, "", *(module.__doc__ or "").splitlines(), ""]
    lines += [
        "`|` is a byte, `%` a variable-length integer, `~` a stretch of bytes. Where these boxes",
        "differ from the spec pages, [spec-notes](../spec-notes.md) says why.",
        "",
    ]
    for layout in layouts_of(module):
        lines += message_section(layout)
    return "\n".join(lines).rstrip() + "\n"


def _signature(layout: Layout) -> str:
    parts = []
    for row in layout.attributes:
        default = default_of(row)
        parts.append(row.attribute if default is None else f"{row.attribute}={default}")
    return ", ".join(parts)


def _extension_table(layout: Layout) -> Iterator[str]:
    """The extensions in the order in which they are written."""
    yield "| header | id | type | mandatory | extension | holds |"
    yield "|---|---|---|---|---|---|"
    for ext in layout.extensions:
        mandatory = "yes" if ext.mandatory else "no"
        yield (
            f"| `{ext.header:02x}` | 0x{ext.id:X} | {_ENC_WORDS[ext.enc]} | {mandatory} "
            f"| `{ext.attribute}` | {_content(ext)} |"
        )
    yield ""


def _content(ext: ExtRow) -> str:
    if ext.marks:
        return f"a mark: `{ext.marks}` lies in shared memory"
    if ext.content is None:
        return "nothing: a flag"
    if isinstance(ext.content, str):
        return f"[{ext.content}](structures.md#{ext.content.lower()})"
    return _leaf_content(ext.content) + (", not 0" if ext.nonzero else "")


def _leaf_content(type: WireType) -> str:
    if type.python in ("int", "bytes", "str") or type.name not in ("z8", "z64"):
        return type.name
    return f"{type.python} ({type.name})"


def _limits_page() -> str:
    lines = ["# Limits", "", _NOTE.replace("wire/definitions", "limits.py"), ""]
    lines += ["| name | default | configuration key | why |", "|---|---|---|---|"]
    lines += [
        f"| `{limit.name}` | {limit.value:,} | `{limit.key}` | {limit.why} |" for limit in LIMITS
    ]
    return "\n".join(lines) + "\n"


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
