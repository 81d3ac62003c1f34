"""The functions and base classes with which messages are defined.

    class Push(NetworkMessage, id=0x1D, header="Z|M|N"):
        key:  WireExpr   = wire_expr(suffix_if="N", sender_if="M")
        ...

Left of `=` is the attribute with its Python type, right of it its encoding; the order of the rows
is the order of the bytes. `header` is the top row of the page's box without the id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from zenlake.wire.layout import (
    Bits,
    BitsRow,
    BodyRow,
    ByteRow,
    ChainRow,
    Condition,
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
)

# --- leaves ---------------------------------------------------------------------------------


def _leaf(name: str, python: str, function: str, limit: int | None = None) -> WireType:
    return WireType(name, python, f"read_{function}", f"write_{function}", limit=limit)


def _mapped(base: WireType, python: str, of: str, to: str) -> WireType:
    return replace(base, python=python, of=of, to=to)


U8 = _leaf("u8", "int", "u8", 0xFF)
U16 = _leaf("u16", "int", "u16", 0xFFFF)
Z8 = _leaf("z8", "int", "z8", 0xFF)
Z16 = _leaf("z16", "int", "z16", 0xFFFF)
Z32 = _leaf("z32", "int", "z32", 0xFFFF_FFFF)
Z64 = _leaf("z64", "int", "z64", 0xFFFF_FFFF_FFFF_FFFF)
BYTES_Z16 = _leaf("<u8;z16>", "bytes", "bytes_z16")
BYTES_Z32 = _leaf("<u8;z32>", "bytes", "bytes_z32")
TEXT_Z16 = _leaf("<utf8;z16>", "str", "text_z16")
TEXT_Z32 = _leaf("<utf8;z32>", "str", "text_z32")
REST = _leaf("bytes", "bytes", "rest")
REST_TEXT = _leaf("utf8", "str", "rest_text")
BOOL = WireType("bit", "bool", "", "")
TIMESTAMP = _leaf("timestamp", "Timestamp", "timestamp")
ENCODING = _leaf("encoding", "Encoding", "encoding")
LOCATOR = _leaf("<utf8;z8>", "str", "locator")
ZID_PREFIXED = _leaf("<u8;z8>", "ZenohId", "prefixed_zid")
CHAIN = _leaf("extensions", "tuple[Extension, ...]", "chain")

RESOLUTION = _mapped(U8, "Resolution", "resolution_of_byte", "byte_of_resolution")
ROLE_MASK = _mapped(U8, "WhatAmI", "role_of_mask", "int")
ROLE_CODE = WireType("bits", "WhatAmI", "", "", "role_of_code", "code_of_role", 2)
ROLES = WireType("bits", "WhatAmIMatcher", "", "", "matcher_of_mask", "mask_of_matcher", 7)
MODE = WireType("bits", "InterestMode", "", "", "mode_of_number", "int", 3)
QOS = replace(
    _mapped(Z8, "QoS", "qos_of_byte", "byte_of_qos"),
    inline_of="QOS_BYTES[{} & 0x3F]",
    inline_to="{}.byte",
)
PRIORITY = _mapped(Z8, "Priority", "priority_of_byte", "int")
CONSOLIDATION = _mapped(Z64, "ConsolidationMode", "consolidation_of_number", "int")
TARGET = _mapped(Z64, "QueryTarget", "target_of_number", "int")
BOUND = _mapped(Z64, "Bound", "bound_of_number", "int")
QOS_LINK = _mapped(Z64, "QoSLink", "qos_link_of_number", "number_of_qos_link")
QUERYABLE_INFO = _mapped(
    Z64, "QueryableInfo", "queryable_info_of_number", "number_of_queryable_info"
)
QUERYABLE_INFO_PAGES = _mapped(
    Z64, "QueryableInfo", "queryable_info_of_pages_number", "pages_number_of_queryable_info"
)

UNIT = Enc.UNIT

# --- rows -----------------------------------------------------------------------------------


@dataclass
class _Draft:
    """A row without the name and annotation of the attribute it is assigned to."""

    row: type[Row]
    facts: dict[str, Any] = field(default_factory=dict)


def _condition(if_flag: str, unless_flag: str) -> Condition | None:
    if if_flag or unless_flag:
        return Condition(if_flag or unless_flag, unless=bool(unless_flag))
    return None


def _source(default: int | None) -> str | None:
    """The source text of a default; None if the attribute is required."""
    return None if default is None else repr(default)


def byte(spec: str, *, if_flag: str = "", vle: bool = False) -> Any:
    """A byte cut into named bits, most significant first."""
    facts = {"bits": parse_bits(spec), "condition": _condition(if_flag, ""), "vle": vle}
    return _Draft(ByteRow, facts)


def bits(name: str, type: WireType = BOOL, *, default: bool | None = None) -> Any:
    """An attribute kept in named bits of the header or of a `byte` row above."""
    return _Draft(BitsRow, {"bits": name, "type": type, "default": _source(default)})


def wire(
    type: WireType,
    *,
    if_flag: str = "",
    unless_flag: str = "",
    cell: str = "",
    default: int | None = None,
    nonzero: bool = False,
    sliced_if: str = "",
    pages: WireType | None = None,
) -> Any:
    """A leaf value, present unless it has a condition that is false."""
    condition = _condition(if_flag, unless_flag)
    source = _source(default) if condition is None else "None"
    facts = {"type": type, "condition": condition, "cell": cell, "default": source}
    return _Draft(FieldRow, {**facts, "nonzero": nonzero, "sliced_if": sliced_if, "pages": pages})


def zid(*, if_flag: str = "") -> Any:
    """A ZenohId of `1 + zid_len` bytes."""
    return _Draft(ZidRow, {"condition": _condition(if_flag, "")})


def wire_expr(
    *,
    suffix_if: str,
    sender_if: str = "",
    if_flag: str = "",
    suffix: WireType = TEXT_Z16,
    pages: WireType | None = None,
) -> Any:
    """A key expression: `key_scope`, and `key_suffix` if the flag is set."""
    return _Draft(
        KeyRow,
        {
            "suffix_if": suffix_if,
            "sender_if": sender_if,
            "condition": _condition(if_flag, ""),
            "suffix": suffix,
            "pages": pages,
        },
    )


def many(
    item: WireType | str,
    *,
    count: WireType | int | str = Z64,
    limit: int,
    if_flag: str = "",
    cell: str = "",
    pages_header: int | None = None,
) -> Any:
    """A list: its count first, unless `count` is a number or the name of another list."""
    return _Draft(
        ListRow,
        {
            "item": item,
            "count": count,
            "limit": limit,
            "condition": _condition(if_flag, ""),
            "cell": cell,
            "pages_header": pages_header,
        },
    )


def chain(cell: str) -> Any:
    """The place of the extension chain; the rows below it are the known extensions."""
    return _Draft(ChainRow, {"cell": cell})


def ext(
    id: int,
    content: WireType | str | Enc,
    *,
    mandatory: bool = False,
    nonzero: bool = False,
    length: tuple[int, int] | None = None,
    sliced_if: str = "",
    marks: str = "",
    pages: WireType | None = None,
) -> Any:
    """One extension: UNIT, a number (encoded as a Z64), or anything else (in a ZBuf)."""
    if isinstance(content, Enc):
        enc = content
    elif isinstance(content, WireType) and content.is_vle:
        enc = Enc.Z64
    else:
        enc = Enc.ZBUF
    return _Draft(
        ExtRow,
        {
            "id": id,
            "enc": enc,
            "mandatory": mandatory,
            "content": None if isinstance(content, Enc) else content,
            "nonzero": nonzero,
            "length": length,
            "sliced_if": sliced_if,
            "marks": marks,
            "pages": pages,
        },
    )


def submessage(cell: str) -> Any:
    """One sub-message, of one of the classes that the annotation names."""
    return _Draft(BodyRow, {"choices": (), "cell": cell})


def network_messages(cell: str) -> Any:
    return _Draft(MessagesRow, {"cell": cell})


def oam_body(cell: str) -> Any:
    return _Draft(OamBodyRow, {"cell": cell})


# --- classes --------------------------------------------------------------------------------


def parse_bits(spec: str) -> tuple[Bits, ...]:
    """`zid_len:4|X|X|WAI:2` from the most significant bit down."""
    groups, shift = [], 8
    for part in spec.split("|"):
        name, _, width = part.partition(":")
        shift -= int(width or 1)
        groups.append(Bits(name, shift, int(width or 1)))
    if shift:
        raise ValueError(f"{spec}: {8 - shift} bits, a byte has 8")
    return tuple(groups)


class Definition:
    """Base of all definitions: reads the class body into `LAYOUT`."""

    LAYOUT: ClassVar[Layout]
    LAYER: ClassVar[str] = "structure"
    REFUSES_UNKNOWN_MANDATORY: ClassVar[bool] = True

    def __init_subclass__(
        cls, id: int | None = None, header: str = "", name: str = "", label: str = ""
    ) -> None:
        if "LAYER" in vars(cls):
            return
        rows = [_finish(cls, key, value) for key, value in vars(cls).items() if _is_row(value)]
        name = name or _page_word(cls.__name__) if id is not None else cls.__name__
        cls.LAYOUT = Layout(
            name=name,
            class_name=cls.__name__,
            layer=cls.LAYER,
            id=id,
            label=label or name,
            header=parse_bits(f"{header}|id:5") if header else (),
            rows=tuple(rows),
            doc=cls.__doc__ or "",
            refuses_unknown_mandatory=cls.REFUSES_UNKNOWN_MANDATORY,
        )


def _is_row(value: object) -> bool:
    return isinstance(value, _Draft)


def _page_word(class_name: str) -> str:
    """KeepAlive to KEEP_ALIVE."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).upper()


def _finish(cls: type, attribute: str, draft: _Draft) -> Row:
    annotation = str(cls.__annotations__.get(attribute, ""))
    facts = dict(draft.facts)
    if draft.row is BodyRow:
        facts["choices"] = tuple(annotation.split(" | "))
    return draft.row(attribute=attribute, annotation=annotation, **facts)


class Structure(Definition):
    """A part of messages that has no header of its own."""

    LAYER = "structure"


class ScoutingMessage(Definition):
    """SCOUT or HELLO: ignores unknown extensions, even mandatory ones (wire reference §2.1)."""

    LAYER = "scouting"
    REFUSES_UNKNOWN_MANDATORY = False


class TransportMessage(Definition):
    LAYER = "transport"


class NetworkMessage(Definition):
    LAYER = "network"


class DataMessage(Definition):
    LAYER = "data"


class Declaration(Definition):
    LAYER = "declare"
