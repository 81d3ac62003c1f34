"""Declarations: what DECLARE carries, one at a time (seed page: Declarations).

GENERATED from zenlake/wire/definitions/declare.py by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from zenlake._mypyc import (
    mypyc_attr,
)
from zenlake.errors import (
    LocalError,
)
from zenlake.limits import (
    EXTENSIONS_PER_MESSAGE_MAX,
)
from zenlake.wire._generated.structures import (
    UndeclaredKey,
    decode_undeclared_key,
)
from zenlake.wire.message import (
    Declaration,
    Extension,
    read_unknown,
    too_many_extensions,
    too_many_to_send,
    write_unknown,
)
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    Z16_MAX,
    Z32_MAX,
    overrun,
    read_tail,
    read_tail_z64,
    to_utf8,
    wire_error,
    write_bytes_z32,
    write_z16,
    write_z32,
    write_z64,
)
from zenlake.wire.values.queryable_info import (
    QueryableInfo,
    number_of_queryable_info,
    queryable_info_of_number,
)
from zenlake.wire.values.wire_expr import (
    WireExpr,
)
from zenlake.wire.writer import (
    BytesWriter,
)

if TYPE_CHECKING:
    from mypy_extensions import i64



@mypyc_attr(acyclic=True)
class DeclareKeyExpr(Declaration):
    """Assign a number to a key expression."""

    __slots__ = ('expr_id', 'key', 'extensions',)
    NAME: ClassVar[str] = "D_KEYEXPR"
    FIELDS: ClassVar[tuple[str, ...]] = ('expr_id', 'key', 'extensions',)

    def __init__(self, expr_id: int, key: WireExpr, extensions: tuple[Extension, ...] = ()) -> None:
        self.expr_id = expr_id
        self.key = key
        self.extensions = extensions

    def copy(self) -> DeclareKeyExpr:
        """A copy with all fields, which may be changed before it is sent."""
        return DeclareKeyExpr(self.expr_id, self.key, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        left = len(self.extensions)
        header = 0x00
        if key.suffix:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.expr_id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z16(out, number)
        if key.sender and key.scope:
            raise LocalError("D_KEYEXPR: key cannot be in the sender's numbering")
        scope = key.scope
        if scope >> 7 == 0:
            out.append(scope)
        else:
            write_z16(out, scope)
        if key.suffix:
            raw = to_utf8(key.suffix)
            size = len(raw)
            if size < 0x80:
                out.append(size)
            else:
                write_z16(out, size)
            out.write(raw)
        if left:
            if left:
                write_unknown(out, self.extensions)


_DECLARE_KEY_EXPR_ROWS: Final = ('header', 'expr_id', 'key_scope', 'key_suffix', 'extensions',)


def decode_declare_key_expr(buf: bytes, pos: i64) -> tuple[DeclareKeyExpr, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            expr_id = small
        else:
            expr_id, pos = read_tail(buf, pos, end, small, Z16_MAX)
        row = 2
        at = pos
        scope = buf[pos]
        pos += 1
        if scope >= 0x80:
            scope, pos = read_tail(buf, pos, end, scope, Z16_MAX)
        suffix = ""
        if header & 0x20:
            row = 3
            at = pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z16_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            suffix = buf[pos:stop].decode()
            pos = stop
        key = WireExpr(scope, suffix, False)
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 4
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_unknown(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 4
                    at = pos
                    raise too_many_extensions()
        return DeclareKeyExpr(expr_id, key, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("D_KEYEXPR", _DECLARE_KEY_EXPR_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class UndeclareKeyExpr(Declaration):
    """Release the number of a key expression."""

    __slots__ = ('expr_id', 'extensions',)
    NAME: ClassVar[str] = "U_KEYEXPR"
    FIELDS: ClassVar[tuple[str, ...]] = ('expr_id', 'extensions',)

    def __init__(self, expr_id: int, extensions: tuple[Extension, ...] = ()) -> None:
        self.expr_id = expr_id
        self.extensions = extensions

    def copy(self) -> UndeclareKeyExpr:
        """A copy with all fields, which may be changed before it is sent."""
        return UndeclareKeyExpr(self.expr_id, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        left = len(self.extensions)
        header = 0x01
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.expr_id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z16(out, number)
        if left:
            if left:
                write_unknown(out, self.extensions)


_UNDECLARE_KEY_EXPR_ROWS: Final = ('header', 'expr_id', 'extensions',)


def decode_undeclare_key_expr(buf: bytes, pos: i64) -> tuple[UndeclareKeyExpr, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    small: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            expr_id = small
        else:
            expr_id, pos = read_tail(buf, pos, end, small, Z16_MAX)
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_unknown(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 2
                    at = pos
                    raise too_many_extensions()
        return UndeclareKeyExpr(expr_id, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("U_KEYEXPR", _UNDECLARE_KEY_EXPR_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class DeclareSubscriber(Declaration):
    """Announce a subscriber to a key expression."""

    __slots__ = ('id', 'key', 'extensions',)
    NAME: ClassVar[str] = "D_SUBSCRIBER"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'key', 'extensions',)

    def __init__(self, id: int, key: WireExpr, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.key = key
        self.extensions = extensions

    def copy(self) -> DeclareSubscriber:
        """A copy with all fields, which may be changed before it is sent."""
        return DeclareSubscriber(self.id, self.key, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        left = len(self.extensions)
        header = 0x02
        if key.sender:
            header |= 0x40
        if key.suffix:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        scope = key.scope
        if scope >> 7 == 0:
            out.append(scope)
        else:
            write_z16(out, scope)
        if key.suffix:
            raw = to_utf8(key.suffix)
            size = len(raw)
            if size < 0x80:
                out.append(size)
            else:
                write_z16(out, size)
            out.write(raw)
        if left:
            if left:
                write_unknown(out, self.extensions)


_DECLARE_SUBSCRIBER_ROWS: Final = ('header', 'id', 'key_scope', 'key_suffix', 'extensions',)


def decode_declare_subscriber(buf: bytes, pos: i64) -> tuple[DeclareSubscriber, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            id = small
        else:
            id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        row = 2
        at = pos
        scope = buf[pos]
        pos += 1
        if scope >= 0x80:
            scope, pos = read_tail(buf, pos, end, scope, Z16_MAX)
        suffix = ""
        if header & 0x20:
            row = 3
            at = pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z16_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            suffix = buf[pos:stop].decode()
            pos = stop
        key = WireExpr(scope, suffix, header & 0x40 != 0)
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 4
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_unknown(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 4
                    at = pos
                    raise too_many_extensions()
        return DeclareSubscriber(id, key, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("D_SUBSCRIBER", _DECLARE_SUBSCRIBER_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class UndeclareSubscriber(Declaration):
    """Withdraw a subscriber."""

    __slots__ = ('id', 'key', 'extensions',)
    NAME: ClassVar[str] = "U_SUBSCRIBER"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'key', 'extensions',)

    def __init__(self, id: int, key: UndeclaredKey | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.key = key
        self.extensions = extensions

    def copy(self) -> UndeclareSubscriber:
        """A copy with all fields, which may be changed before it is sent."""
        return UndeclareSubscriber(self.id, self.key, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        left = len(self.extensions)
        if key is not None:
            left += 1
        header = 0x03
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if left:
            if key is not None:
                left -= 1
                out.append(0xdf if left else 0x5f)
                inner = BytesWriter()
                key.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)


_UNDECLARE_SUBSCRIBER_ROWS: Final = ('header', 'id', 'extensions', 'key',)


def decode_undeclare_subscriber(buf: bytes, pos: i64) -> tuple[UndeclareSubscriber, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            id = small
        else:
            id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        key: UndeclaredKey | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x5f:
                    row = 3
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    key, _ = decode_undeclared_key(buf, pos, stop)
                    pos = stop
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 2
                    at = pos
                    raise too_many_extensions()
        return UndeclareSubscriber(id, key, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("U_SUBSCRIBER", _UNDECLARE_SUBSCRIBER_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class DeclareQueryable(Declaration):
    """Announce a queryable on a key expression."""

    __slots__ = ('id', 'key', 'info', 'extensions',)
    NAME: ClassVar[str] = "D_QUERYABLE"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'key', 'info', 'extensions',)

    def __init__(self, id: int, key: WireExpr, info: QueryableInfo | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.key = key
        self.info = info
        self.extensions = extensions

    def copy(self) -> DeclareQueryable:
        """A copy with all fields, which may be changed before it is sent."""
        return DeclareQueryable(self.id, self.key, self.info, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        info = self.info
        left = len(self.extensions)
        if info is not None:
            left += 1
        header = 0x04
        if key.sender:
            header |= 0x40
        if key.suffix:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        scope = key.scope
        if scope >> 7 == 0:
            out.append(scope)
        else:
            write_z16(out, scope)
        if key.suffix:
            raw = to_utf8(key.suffix)
            size = len(raw)
            if size < 0x80:
                out.append(size)
            else:
                write_z16(out, size)
            out.write(raw)
        if left:
            if info is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = number_of_queryable_info(info)
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z64(out, number)
            if left:
                write_unknown(out, self.extensions)


_DECLARE_QUERYABLE_ROWS: Final = ('header', 'id', 'key_scope', 'key_suffix', 'extensions', 'info',)


def decode_declare_queryable(buf: bytes, pos: i64) -> tuple[DeclareQueryable, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    wide: int
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            id = small
        else:
            id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        row = 2
        at = pos
        scope = buf[pos]
        pos += 1
        if scope >= 0x80:
            scope, pos = read_tail(buf, pos, end, scope, Z16_MAX)
        suffix = ""
        if header & 0x20:
            row = 3
            at = pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z16_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            suffix = buf[pos:stop].decode()
            pos = stop
        key = WireExpr(scope, suffix, header & 0x40 != 0)
        info: QueryableInfo | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 4
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x21:
                    row = 5
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        wide = small
                    else:
                        wide, pos = read_tail_z64(buf, pos, end, small)
                    info = queryable_info_of_number(wide)
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 4
                    at = pos
                    raise too_many_extensions()
        return DeclareQueryable(id, key, info, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("D_QUERYABLE", _DECLARE_QUERYABLE_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class UndeclareQueryable(Declaration):
    """Withdraw a queryable."""

    __slots__ = ('id', 'key', 'extensions',)
    NAME: ClassVar[str] = "U_QUERYABLE"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'key', 'extensions',)

    def __init__(self, id: int, key: UndeclaredKey | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.key = key
        self.extensions = extensions

    def copy(self) -> UndeclareQueryable:
        """A copy with all fields, which may be changed before it is sent."""
        return UndeclareQueryable(self.id, self.key, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        left = len(self.extensions)
        if key is not None:
            left += 1
        header = 0x05
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if left:
            if key is not None:
                left -= 1
                out.append(0xdf if left else 0x5f)
                inner = BytesWriter()
                key.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)


_UNDECLARE_QUERYABLE_ROWS: Final = ('header', 'id', 'extensions', 'key',)


def decode_undeclare_queryable(buf: bytes, pos: i64) -> tuple[UndeclareQueryable, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            id = small
        else:
            id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        key: UndeclaredKey | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x5f:
                    row = 3
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    key, _ = decode_undeclared_key(buf, pos, stop)
                    pos = stop
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 2
                    at = pos
                    raise too_many_extensions()
        return UndeclareQueryable(id, key, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("U_QUERYABLE", _UNDECLARE_QUERYABLE_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class DeclareToken(Declaration):
    """Announce a liveliness token."""

    __slots__ = ('id', 'key', 'extensions',)
    NAME: ClassVar[str] = "D_TOKEN"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'key', 'extensions',)

    def __init__(self, id: int, key: WireExpr, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.key = key
        self.extensions = extensions

    def copy(self) -> DeclareToken:
        """A copy with all fields, which may be changed before it is sent."""
        return DeclareToken(self.id, self.key, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        left = len(self.extensions)
        header = 0x06
        if key.sender:
            header |= 0x40
        if key.suffix:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        scope = key.scope
        if scope >> 7 == 0:
            out.append(scope)
        else:
            write_z16(out, scope)
        if key.suffix:
            raw = to_utf8(key.suffix)
            size = len(raw)
            if size < 0x80:
                out.append(size)
            else:
                write_z16(out, size)
            out.write(raw)
        if left:
            if left:
                write_unknown(out, self.extensions)


_DECLARE_TOKEN_ROWS: Final = ('header', 'id', 'key_scope', 'key_suffix', 'extensions',)


def decode_declare_token(buf: bytes, pos: i64) -> tuple[DeclareToken, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            id = small
        else:
            id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        row = 2
        at = pos
        scope = buf[pos]
        pos += 1
        if scope >= 0x80:
            scope, pos = read_tail(buf, pos, end, scope, Z16_MAX)
        suffix = ""
        if header & 0x20:
            row = 3
            at = pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z16_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            suffix = buf[pos:stop].decode()
            pos = stop
        key = WireExpr(scope, suffix, header & 0x40 != 0)
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 4
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_unknown(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 4
                    at = pos
                    raise too_many_extensions()
        return DeclareToken(id, key, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("D_TOKEN", _DECLARE_TOKEN_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class UndeclareToken(Declaration):
    """Withdraw a liveliness token."""

    __slots__ = ('id', 'key', 'extensions',)
    NAME: ClassVar[str] = "U_TOKEN"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'key', 'extensions',)

    def __init__(self, id: int, key: UndeclaredKey | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.key = key
        self.extensions = extensions

    def copy(self) -> UndeclareToken:
        """A copy with all fields, which may be changed before it is sent."""
        return UndeclareToken(self.id, self.key, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        left = len(self.extensions)
        if key is not None:
            left += 1
        header = 0x07
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if left:
            if key is not None:
                left -= 1
                out.append(0xdf if left else 0x5f)
                inner = BytesWriter()
                key.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)


_UNDECLARE_TOKEN_ROWS: Final = ('header', 'id', 'extensions', 'key',)


def decode_undeclare_token(buf: bytes, pos: i64) -> tuple[UndeclareToken, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            id = small
        else:
            id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        key: UndeclaredKey | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x5f:
                    row = 3
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    key, _ = decode_undeclared_key(buf, pos, stop)
                    pos = stop
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 2
                    at = pos
                    raise too_many_extensions()
        return UndeclareToken(id, key, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("U_TOKEN", _UNDECLARE_TOKEN_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class DeclareFinal(Declaration):
    """End of the current declarations for the interest that the enclosing DECLARE names."""

    __slots__ = ('extensions',)
    NAME: ClassVar[str] = "D_FINAL"
    FIELDS: ClassVar[tuple[str, ...]] = ('extensions',)

    def __init__(self, extensions: tuple[Extension, ...] = ()) -> None:
        self.extensions = extensions

    def copy(self) -> DeclareFinal:
        """A copy with all fields, which may be changed before it is sent."""
        return DeclareFinal(self.extensions)

    def encode(self, out: BytesWriter) -> None:
        left = len(self.extensions)
        header = 0x1a
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if left:
            if left:
                write_unknown(out, self.extensions)


_DECLARE_FINAL_ROWS: Final = ('header', 'extensions',)


def decode_declare_final(buf: bytes, pos: i64) -> tuple[DeclareFinal, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 1
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_unknown(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 1
                    at = pos
                    raise too_many_extensions()
        return DeclareFinal(extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("D_FINAL", _DECLARE_FINAL_ROWS[row], at, error) from None
