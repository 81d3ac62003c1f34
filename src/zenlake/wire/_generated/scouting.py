"""SCOUT and HELLO: discovery of nodes (seed page: packet formats, Scout & Hello; wire reference §3).

GENERATED from zenlake/wire/definitions/scouting.py by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from zenlake._mypyc import (
    mypyc_attr,
)
from zenlake.errors import (
    WireError,
)
from zenlake.limits import (
    EXTENSIONS_PER_MESSAGE_MAX,
)
from zenlake.wire.message import (
    Extension,
    ScoutingMessage,
    read_extension,
    too_many_extensions,
    too_many_to_send,
    write_unknown,
)
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    read_count,
    wire_error,
    write_count,
    write_u8,
)
from zenlake.wire.values.endpoint import (
    read_locator,
    write_locator,
)
from zenlake.wire.values.whatami import (
    WhatAmI,
    WhatAmIMatcher,
    code_of_role,
    mask_of_matcher,
    matcher_of_mask,
    role_of_code,
)
from zenlake.wire.values.zenoh_id import (
    ZenohId,
    read_zid,
)
from zenlake.wire.writer import (
    BytesWriter,
)

if TYPE_CHECKING:
    from mypy_extensions import i64



@mypyc_attr(acyclic=True)
class Scout(ScoutingMessage):
    """A search for nodes of the given roles."""

    __slots__ = ('what', 'version', 'zid', 'extensions',)
    NAME: ClassVar[str] = "SCOUT"
    FIELDS: ClassVar[tuple[str, ...]] = ('what', 'version', 'zid', 'extensions',)

    def __init__(self, what: WhatAmIMatcher, version: int = 9, zid: ZenohId | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.what = what
        self.version = version
        self.zid = zid
        self.extensions = extensions

    def copy(self) -> Scout:
        """A copy with all fields, which may be changed before it is sent."""
        return Scout(self.what, self.version, self.zid, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        zid = self.zid
        left = len(self.extensions)
        header = 0x01
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        write_u8(out, self.version)
        packed = 0
        if zid is not None:
            packed |= len(zid.raw) - 1 << 4
        if zid is not None:
            packed |= 0x08
        packed |= mask_of_matcher(self.what)
        out.append(packed)
        if zid is not None:
            out.write(zid.raw)
        if left:
            if left:
                write_unknown(out, self.extensions)


_SCOUT_ROWS: Final = ('header', 'version', 'packed', 'what', 'zid', 'extensions',)


def decode_scout(buf: bytes, pos: i64) -> tuple[Scout, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        version = buf[pos]
        pos += 1
        row = 2
        at = pos
        packed: i64 = buf[pos]
        pos += 1
        row = 3
        what = matcher_of_mask(packed & 0x7)
        zid: ZenohId | None = None
        if packed & 0x08:
            row = 4
            at = pos
            zid, pos = read_zid(buf, pos, end, (packed >> 4) + 1)
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 5
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_extension(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 5
                    at = pos
                    raise too_many_extensions()
        return Scout(what, version, zid, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("SCOUT", _SCOUT_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Hello(ScoutingMessage):
    """The presence of a node: its id, role and locators."""

    __slots__ = ('whatami', 'zid', 'version', 'locators', 'extensions',)
    NAME: ClassVar[str] = "HELLO"
    FIELDS: ClassVar[tuple[str, ...]] = ('whatami', 'zid', 'version', 'locators', 'extensions',)

    def __init__(self, whatami: WhatAmI, zid: ZenohId, version: int = 9, locators: tuple[str, ...] | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.whatami = whatami
        self.zid = zid
        self.version = version
        self.locators = locators
        self.extensions = extensions

    def copy(self) -> Hello:
        """A copy with all fields, which may be changed before it is sent."""
        return Hello(self.whatami, self.zid, self.version, self.locators, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        zid = self.zid
        locators = self.locators
        left = len(self.extensions)
        header = 0x02
        if locators is not None:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        write_u8(out, self.version)
        packed = 0
        packed |= len(zid.raw) - 1 << 4
        packed |= code_of_role(self.whatami)
        out.append(packed)
        out.write(zid.raw)
        if locators is not None:
            write_count(out, len(locators), 64, "locators")
            for locators_item in locators:
                write_locator(out, locators_item)
        if left:
            if left:
                write_unknown(out, self.extensions)


_HELLO_ROWS: Final = ('header', 'version', 'packed', 'whatami', 'zid', 'locators', 'extensions',)


def decode_hello(buf: bytes, pos: i64) -> tuple[Hello, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        version = buf[pos]
        pos += 1
        row = 2
        at = pos
        packed: i64 = buf[pos]
        pos += 1
        row = 3
        whatami = role_of_code(packed & 0x3)
        row = 4
        at = pos
        zid, pos = read_zid(buf, pos, end, (packed >> 4) + 1)
        locators: tuple[str, ...] | None = None
        if header & 0x20:
            row = 5
            at = pos
            count, pos = read_count(buf, pos, end, 64)
            locators_list: list[str] = []
            while count > 0:
                count -= 1
                item_locators, pos = read_locator(buf, pos, end)
                locators_list.append(item_locators)
            locators = tuple(locators_list)
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 6
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_extension(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 6
                    at = pos
                    raise too_many_extensions()
        return Hello(whatami, zid, version, locators, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("HELLO", _HELLO_ROWS[row], at, error) from None


def decode_scouting(buf: bytes, pos: i64) -> tuple[ScoutingMessage, i64]:
    """One scouting message of any kind, and where the next begins."""
    if pos >= len(buf):
        raise WireError("scouting", "header", pos, "there are no bytes")
    id = buf[pos] & 0x1F
    if id == 0x01:
        return decode_scout(buf, pos)
    if id == 0x02:
        return decode_hello(buf, pos)
    raise WireError("scouting", "header", pos, f"{id:#04x} is no scouting message")
