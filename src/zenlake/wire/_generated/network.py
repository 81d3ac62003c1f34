"""Network messages: publications, queries, declarations.

GENERATED from zenlake/wire/definitions/network.py by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from zenlake._mypyc import (
    mypyc_attr,
)
from zenlake.errors import (
    LocalError,
    WireError,
)
from zenlake.limits import (
    EXTENSIONS_PER_MESSAGE_MAX,
)
from zenlake.wire._generated.data import (
    Del,
    Err,
    Put,
    Query,
    Reply,
    decode_del,
    decode_err,
    decode_put,
    decode_query,
    decode_reply,
)
from zenlake.wire._generated.declare import (
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    decode_declare_final,
    decode_declare_key_expr,
    decode_declare_queryable,
    decode_declare_subscriber,
    decode_declare_token,
    decode_undeclare_key_expr,
    decode_undeclare_queryable,
    decode_undeclare_subscriber,
    decode_undeclare_token,
)
from zenlake.wire._generated.structures import (
    ResponderId,
    TimestampStack,
    decode_responder_id,
    decode_timestamp_stack,
)
from zenlake.wire.message import (
    Extension,
    NetworkMessage,
    encoding_bits,
    read_unknown,
    too_many_extensions,
    too_many_to_send,
    write_body,
    write_unknown,
)
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    Z16_MAX,
    Z32_MAX,
    Z8_MAX,
    Malformed,
    overrun,
    read_bytes_z32,
    read_tail,
    read_tail_z64,
    read_z64,
    to_utf8,
    wire_error,
    write_bytes_z32,
    write_z16,
    write_z32,
    write_z64,
    write_z8,
    wrong_body,
)
from zenlake.wire.values.choices import (
    InterestMode,
    QueryTarget,
    mode_of_number,
    target_of_number,
)
from zenlake.wire.values.qos import (
    QOS_BYTES,
    QoS,
)
from zenlake.wire.values.timestamp import (
    Timestamp,
    read_timestamp,
    write_timestamp,
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
class Interest(NetworkMessage):
    """A request for declarations: present ones (current), later ones (future), or both."""

    __slots__ = ('mode', 'id', 'keyexprs', 'subscribers', 'queryables', 'tokens', 'aggregate', 'key', 'qos', 'timestamp', 'node_id', 'extensions',)
    NAME: ClassVar[str] = "INTEREST"
    FIELDS: ClassVar[tuple[str, ...]] = ('mode', 'id', 'keyexprs', 'subscribers', 'queryables', 'tokens', 'aggregate', 'key', 'qos', 'timestamp', 'node_id', 'extensions',)

    def __init__(self, mode: InterestMode, id: int, keyexprs: bool = False, subscribers: bool = False, queryables: bool = False, tokens: bool = False, aggregate: bool = False, key: WireExpr | None = None, qos: QoS | None = None, timestamp: Timestamp | None = None, node_id: int | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.mode = mode
        self.id = id
        self.keyexprs = keyexprs
        self.subscribers = subscribers
        self.queryables = queryables
        self.tokens = tokens
        self.aggregate = aggregate
        self.key = key
        self.qos = qos
        self.timestamp = timestamp
        self.node_id = node_id
        self.extensions = extensions

    def copy(self) -> Interest:
        """A copy with all fields, which may be changed before it is sent."""
        return Interest(self.mode, self.id, self.keyexprs, self.subscribers, self.queryables, self.tokens, self.aggregate, self.key, self.qos, self.timestamp, self.node_id, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        qos = self.qos
        timestamp = self.timestamp
        node_id = self.node_id
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if timestamp is not None:
            left += 1
        if node_id is not None:
            left += 1
        header = 0x19
        header |= int(self.mode) << 5
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
        options = 0
        if self.aggregate:
            options |= 0x80
        if key is not None and key.sender:
            options |= 0x40
        if key is not None and key.suffix:
            options |= 0x20
        if key is not None:
            options |= 0x10
        if self.tokens:
            options |= 0x08
        if self.queryables:
            options |= 0x04
        if self.subscribers:
            options |= 0x02
        if self.keyexprs:
            options |= 0x01
        if header & 0x60:
            out.append(options)
        elif options:
            raise LocalError("INTEREST: options are not sent in this mode")
        if key is not None:
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
            if qos is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = qos.byte
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if timestamp is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                inner = BytesWriter()
                write_timestamp(inner, timestamp)
                write_bytes_z32(out, inner.getvalue())
            if node_id is not None:
                left -= 1
                out.append(0xb3 if left else 0x33)
                if node_id >> 7 == 0:
                    out.append(node_id)
                else:
                    write_z16(out, node_id)
            if left:
                write_unknown(out, self.extensions)


_INTEREST_ROWS: Final = ('header', 'mode', 'id', 'options', 'keyexprs', 'subscribers', 'queryables', 'tokens', 'aggregate', 'key_scope', 'key_suffix', 'extensions', 'qos', 'timestamp', 'node_id',)


def decode_interest(buf: bytes, pos: i64) -> tuple[Interest, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        mode = mode_of_number(header >> 5 & 0x3)
        row = 2
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            id = small
        else:
            id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        options: i64 = 0
        if header & 0x60:
            row = 3
            at = pos
            options = buf[pos]
            pos += 1
        keyexprs = options & 0x01 != 0
        subscribers = options & 0x02 != 0
        queryables = options & 0x04 != 0
        tokens = options & 0x08 != 0
        aggregate = options & 0x80 != 0
        key: WireExpr | None = None
        if options & 0x10:
            row = 9
            at = pos
            scope = buf[pos]
            pos += 1
            if scope >= 0x80:
                scope, pos = read_tail(buf, pos, end, scope, Z16_MAX)
            suffix = ""
            if options & 0x20:
                row = 10
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
            key = WireExpr(scope, suffix, options & 0x40 != 0)
        qos: QoS | None = None
        timestamp: Timestamp | None = None
        node_id: int | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 11
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x21:
                    row = 12
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = QOS_BYTES[number & 0x3F]
                elif kind == 0x42:
                    row = 13
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    timestamp, _ = read_timestamp(buf, pos, stop)
                    pos = stop
                elif kind == 0x33:
                    row = 14
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        node_id = small
                    else:
                        node_id, pos = read_tail(buf, pos, end, small, Z16_MAX)
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 11
                    at = pos
                    raise too_many_extensions()
        return Interest(mode, id, keyexprs, subscribers, queryables, tokens, aggregate, key, qos, timestamp, node_id, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("INTEREST", _INTEREST_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class ResponseFinal(NetworkMessage):
    """No more replies to this request."""

    __slots__ = ('request_id', 'qos', 'timestamp', 'extensions',)
    NAME: ClassVar[str] = "RESPONSE_FINAL"
    FIELDS: ClassVar[tuple[str, ...]] = ('request_id', 'qos', 'timestamp', 'extensions',)

    def __init__(self, request_id: int, qos: QoS | None = None, timestamp: Timestamp | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.request_id = request_id
        self.qos = qos
        self.timestamp = timestamp
        self.extensions = extensions

    def copy(self) -> ResponseFinal:
        """A copy with all fields, which may be changed before it is sent."""
        return ResponseFinal(self.request_id, self.qos, self.timestamp, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        qos = self.qos
        timestamp = self.timestamp
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if timestamp is not None:
            left += 1
        header = 0x1a
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.request_id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if left:
            if qos is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = qos.byte
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if timestamp is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                inner = BytesWriter()
                write_timestamp(inner, timestamp)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)


_RESPONSE_FINAL_ROWS: Final = ('header', 'request_id', 'extensions', 'qos', 'timestamp',)


def decode_response_final(buf: bytes, pos: i64) -> tuple[ResponseFinal, i64]:
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
            request_id = small
        else:
            request_id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        qos: QoS | None = None
        timestamp: Timestamp | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x21:
                    row = 3
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = QOS_BYTES[number & 0x3F]
                elif kind == 0x42:
                    row = 4
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    timestamp, _ = read_timestamp(buf, pos, stop)
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
        return ResponseFinal(request_id, qos, timestamp, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("RESPONSE_FINAL", _RESPONSE_FINAL_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Response(NetworkMessage):
    """One reply to a request, or an error."""

    __slots__ = ('request_id', 'key', 'body', 'qos', 'timestamp', 'responder', 'stamps', 'extensions',)
    NAME: ClassVar[str] = "RESPONSE"
    FIELDS: ClassVar[tuple[str, ...]] = ('request_id', 'key', 'body', 'qos', 'timestamp', 'responder', 'stamps', 'extensions',)

    def __init__(self, request_id: int, key: WireExpr, body: Reply | Err, qos: QoS | None = None, timestamp: Timestamp | None = None, responder: ResponderId | None = None, stamps: TimestampStack | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.request_id = request_id
        self.key = key
        self.body = body
        self.qos = qos
        self.timestamp = timestamp
        self.responder = responder
        self.stamps = stamps
        self.extensions = extensions

    def copy(self) -> Response:
        """A copy with all fields, which may be changed before it is sent."""
        return Response(self.request_id, self.key, self.body, self.qos, self.timestamp, self.responder, self.stamps, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        qos = self.qos
        timestamp = self.timestamp
        responder = self.responder
        stamps = self.stamps
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if timestamp is not None:
            left += 1
        if responder is not None:
            left += 1
        if stamps is not None:
            left += 1
        header = 0x1b
        if key.sender:
            header |= 0x40
        if key.suffix:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.request_id
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
            if qos is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = qos.byte
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if timestamp is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                inner = BytesWriter()
                write_timestamp(inner, timestamp)
                write_bytes_z32(out, inner.getvalue())
            if responder is not None:
                left -= 1
                out.append(0xc3 if left else 0x43)
                inner = BytesWriter()
                responder.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if stamps is not None:
                left -= 1
                out.append(0xc7 if left else 0x47)
                inner = BytesWriter()
                stamps.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)
        self.body.encode(out)


_RESPONSE_ROWS: Final = ('header', 'request_id', 'key_scope', 'key_suffix', 'extensions', 'qos', 'timestamp', 'responder', 'stamps', 'body',)


def decode_response(buf: bytes, pos: i64) -> tuple[Response, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    id_of_body: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            request_id = small
        else:
            request_id, pos = read_tail(buf, pos, end, small, Z32_MAX)
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
        qos: QoS | None = None
        timestamp: Timestamp | None = None
        responder: ResponderId | None = None
        stamps: TimestampStack | None = None
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
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = QOS_BYTES[number & 0x3F]
                elif kind == 0x42:
                    row = 6
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    timestamp, _ = read_timestamp(buf, pos, stop)
                    pos = stop
                elif kind == 0x43:
                    row = 7
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    responder, _ = decode_responder_id(buf, pos, stop)
                    pos = stop
                elif kind == 0x47:
                    row = 8
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    stamps, _ = decode_timestamp_stack(buf, pos, stop)
                    pos = stop
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
        row = 9
        at = pos
        id_of_body = buf[pos] & 0x1F
        body: Reply | Err
        if id_of_body == 0x04:
            body, pos = decode_reply(buf, pos)
        elif id_of_body == 0x05:
            body, pos = decode_err(buf, pos)
        else:
            raise wrong_body(id_of_body, "REPLY or ERR")
        return Response(request_id, key, body, qos, timestamp, responder, stamps, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("RESPONSE", _RESPONSE_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Request(NetworkMessage):
    """A query to all queryables whose key intersects."""

    __slots__ = ('request_id', 'key', 'body', 'qos', 'timestamp', 'target', 'budget', 'timeout_ms', 'node_id', 'stamps', 'extensions',)
    NAME: ClassVar[str] = "REQUEST"
    FIELDS: ClassVar[tuple[str, ...]] = ('request_id', 'key', 'body', 'qos', 'timestamp', 'target', 'budget', 'timeout_ms', 'node_id', 'stamps', 'extensions',)

    def __init__(self, request_id: int, key: WireExpr, body: Query, qos: QoS | None = None, timestamp: Timestamp | None = None, target: QueryTarget | None = None, budget: int | None = None, timeout_ms: int | None = None, node_id: int | None = None, stamps: TimestampStack | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.request_id = request_id
        self.key = key
        self.body = body
        self.qos = qos
        self.timestamp = timestamp
        self.target = target
        self.budget = budget
        self.timeout_ms = timeout_ms
        self.node_id = node_id
        self.stamps = stamps
        self.extensions = extensions

    def copy(self) -> Request:
        """A copy with all fields, which may be changed before it is sent."""
        return Request(self.request_id, self.key, self.body, self.qos, self.timestamp, self.target, self.budget, self.timeout_ms, self.node_id, self.stamps, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        qos = self.qos
        timestamp = self.timestamp
        target = self.target
        budget = self.budget
        timeout_ms = self.timeout_ms
        node_id = self.node_id
        stamps = self.stamps
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if timestamp is not None:
            left += 1
        if target is not None:
            left += 1
        if budget is not None:
            left += 1
        if timeout_ms is not None:
            left += 1
        if node_id is not None:
            left += 1
        if stamps is not None:
            left += 1
        header = 0x1c
        if key.sender:
            header |= 0x40
        if key.suffix:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.request_id
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
            if qos is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = qos.byte
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if timestamp is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                inner = BytesWriter()
                write_timestamp(inner, timestamp)
                write_bytes_z32(out, inner.getvalue())
            if target is not None:
                left -= 1
                out.append(0xb4 if left else 0x34)
                number = int(target)
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z64(out, number)
            if budget is not None:
                left -= 1
                out.append(0xa5 if left else 0x25)
                if budget == 0:
                    raise LocalError("REQUEST: budget cannot be 0")
                if budget >> 7 == 0:
                    out.append(budget)
                else:
                    write_z32(out, budget)
            if timeout_ms is not None:
                left -= 1
                out.append(0xa6 if left else 0x26)
                if timeout_ms >> 7 == 0:
                    out.append(timeout_ms)
                else:
                    write_z64(out, timeout_ms)
            if node_id is not None:
                left -= 1
                out.append(0xb3 if left else 0x33)
                if node_id >> 7 == 0:
                    out.append(node_id)
                else:
                    write_z16(out, node_id)
            if stamps is not None:
                left -= 1
                out.append(0xc7 if left else 0x47)
                inner = BytesWriter()
                stamps.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)
        self.body.encode(out)


_REQUEST_ROWS: Final = ('header', 'request_id', 'key_scope', 'key_suffix', 'extensions', 'qos', 'timestamp', 'target', 'budget', 'timeout_ms', 'node_id', 'stamps', 'body',)


def decode_request(buf: bytes, pos: i64) -> tuple[Request, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    id_of_body: i64
    wide: int
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            request_id = small
        else:
            request_id, pos = read_tail(buf, pos, end, small, Z32_MAX)
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
        qos: QoS | None = None
        timestamp: Timestamp | None = None
        target: QueryTarget | None = None
        budget: int | None = None
        timeout_ms: int | None = None
        node_id: int | None = None
        stamps: TimestampStack | None = None
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
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = QOS_BYTES[number & 0x3F]
                elif kind == 0x42:
                    row = 6
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    timestamp, _ = read_timestamp(buf, pos, stop)
                    pos = stop
                elif kind == 0x34:
                    row = 7
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        wide = small
                    else:
                        wide, pos = read_tail_z64(buf, pos, end, small)
                    target = target_of_number(wide)
                elif kind == 0x25:
                    row = 8
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        budget = small
                    else:
                        budget, pos = read_tail(buf, pos, end, small, Z32_MAX)
                    if budget == 0:
                        raise Malformed("0 is not allowed here")
                elif kind == 0x26:
                    row = 9
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        timeout_ms = small
                    else:
                        timeout_ms, pos = read_tail_z64(buf, pos, end, small)
                elif kind == 0x33:
                    row = 10
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        node_id = small
                    else:
                        node_id, pos = read_tail(buf, pos, end, small, Z16_MAX)
                elif kind == 0x47:
                    row = 11
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    stamps, _ = decode_timestamp_stack(buf, pos, stop)
                    pos = stop
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
        row = 12
        at = pos
        id_of_body = buf[pos] & 0x1F
        body: Query
        if id_of_body == 0x03:
            body, pos = decode_query(buf, pos)
        else:
            raise wrong_body(id_of_body, "QUERY")
        return Request(request_id, key, body, qos, timestamp, target, budget, timeout_ms, node_id, stamps, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("REQUEST", _REQUEST_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Push(NetworkMessage):
    """Publish a value, or a deletion, to a key expression."""

    __slots__ = ('key', 'body', 'qos', 'timestamp', 'node_id', 'stamps', 'extensions',)
    NAME: ClassVar[str] = "PUSH"
    FIELDS: ClassVar[tuple[str, ...]] = ('key', 'body', 'qos', 'timestamp', 'node_id', 'stamps', 'extensions',)

    def __init__(self, key: WireExpr, body: Put | Del, qos: QoS | None = None, timestamp: Timestamp | None = None, node_id: int | None = None, stamps: TimestampStack | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.key = key
        self.body = body
        self.qos = qos
        self.timestamp = timestamp
        self.node_id = node_id
        self.stamps = stamps
        self.extensions = extensions

    def copy(self) -> Push:
        """A copy with all fields, which may be changed before it is sent."""
        return Push(self.key, self.body, self.qos, self.timestamp, self.node_id, self.stamps, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        qos = self.qos
        timestamp = self.timestamp
        node_id = self.node_id
        stamps = self.stamps
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if timestamp is not None:
            left += 1
        if node_id is not None:
            left += 1
        if stamps is not None:
            left += 1
        header = 0x1d
        if key.sender:
            header |= 0x40
        if key.suffix:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
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
            if qos is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = qos.byte
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if timestamp is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                inner = BytesWriter()
                write_timestamp(inner, timestamp)
                write_bytes_z32(out, inner.getvalue())
            if node_id is not None:
                left -= 1
                out.append(0xb3 if left else 0x33)
                if node_id >> 7 == 0:
                    out.append(node_id)
                else:
                    write_z16(out, node_id)
            if stamps is not None:
                left -= 1
                out.append(0xc7 if left else 0x47)
                inner = BytesWriter()
                stamps.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)
        self.body.encode(out)


_PUSH_ROWS: Final = ('header', 'key_scope', 'key_suffix', 'extensions', 'qos', 'timestamp', 'node_id', 'stamps', 'body',)


def decode_push(buf: bytes, pos: i64) -> tuple[Push, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    scope: i64
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    id_of_body: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        row = 1
        at = pos
        scope = buf[pos]
        pos += 1
        if scope >= 0x80:
            scope, pos = read_tail(buf, pos, end, scope, Z16_MAX)
        suffix = ""
        if header & 0x20:
            row = 2
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
        qos: QoS | None = None
        timestamp: Timestamp | None = None
        node_id: int | None = None
        stamps: TimestampStack | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 3
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x21:
                    row = 4
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = QOS_BYTES[number & 0x3F]
                elif kind == 0x42:
                    row = 5
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    timestamp, _ = read_timestamp(buf, pos, stop)
                    pos = stop
                elif kind == 0x33:
                    row = 6
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        node_id = small
                    else:
                        node_id, pos = read_tail(buf, pos, end, small, Z16_MAX)
                elif kind == 0x47:
                    row = 7
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    stamps, _ = decode_timestamp_stack(buf, pos, stop)
                    pos = stop
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 3
                    at = pos
                    raise too_many_extensions()
        row = 8
        at = pos
        id_of_body = buf[pos] & 0x1F
        body: Put | Del
        if id_of_body == 0x01:
            body, pos = decode_put(buf, pos)
        elif id_of_body == 0x02:
            body, pos = decode_del(buf, pos)
        else:
            raise wrong_body(id_of_body, "PUT or DEL")
        return Push(key, body, qos, timestamp, node_id, stamps, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("PUSH", _PUSH_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Declare(NetworkMessage):
    """Declare or undeclare one thing; with I, as the answer to an interest."""

    __slots__ = ('body', 'interest_id', 'qos', 'timestamp', 'node_id', 'extensions',)
    NAME: ClassVar[str] = "DECLARE"
    FIELDS: ClassVar[tuple[str, ...]] = ('body', 'interest_id', 'qos', 'timestamp', 'node_id', 'extensions',)

    def __init__(self, body: DeclareKeyExpr | UndeclareKeyExpr | DeclareSubscriber | UndeclareSubscriber | DeclareQueryable | UndeclareQueryable | DeclareToken | UndeclareToken | DeclareFinal, interest_id: int | None = None, qos: QoS | None = None, timestamp: Timestamp | None = None, node_id: int | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.body = body
        self.interest_id = interest_id
        self.qos = qos
        self.timestamp = timestamp
        self.node_id = node_id
        self.extensions = extensions

    def copy(self) -> Declare:
        """A copy with all fields, which may be changed before it is sent."""
        return Declare(self.body, self.interest_id, self.qos, self.timestamp, self.node_id, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        interest_id = self.interest_id
        qos = self.qos
        timestamp = self.timestamp
        node_id = self.node_id
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if timestamp is not None:
            left += 1
        if node_id is not None:
            left += 1
        header = 0x1e
        if interest_id is not None:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if interest_id is not None:
            if interest_id >> 7 == 0:
                out.append(interest_id)
            else:
                write_z32(out, interest_id)
        if left:
            if qos is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = qos.byte
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if timestamp is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                inner = BytesWriter()
                write_timestamp(inner, timestamp)
                write_bytes_z32(out, inner.getvalue())
            if node_id is not None:
                left -= 1
                out.append(0xb3 if left else 0x33)
                if node_id >> 7 == 0:
                    out.append(node_id)
                else:
                    write_z16(out, node_id)
            if left:
                write_unknown(out, self.extensions)
        self.body.encode(out)


_DECLARE_ROWS: Final = ('header', 'interest_id', 'extensions', 'qos', 'timestamp', 'node_id', 'body',)


def decode_declare(buf: bytes, pos: i64) -> tuple[Declare, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    id_of_body: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        interest_id: int | None = None
        if header & 0x20:
            row = 1
            at = pos
            small = buf[pos]
            pos += 1
            if small < 0x80:
                interest_id = small
            else:
                interest_id, pos = read_tail(buf, pos, end, small, Z32_MAX)
        qos: QoS | None = None
        timestamp: Timestamp | None = None
        node_id: int | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x21:
                    row = 3
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = QOS_BYTES[number & 0x3F]
                elif kind == 0x42:
                    row = 4
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    timestamp, _ = read_timestamp(buf, pos, stop)
                    pos = stop
                elif kind == 0x33:
                    row = 5
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        node_id = small
                    else:
                        node_id, pos = read_tail(buf, pos, end, small, Z16_MAX)
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
        row = 6
        at = pos
        id_of_body = buf[pos] & 0x1F
        body: DeclareKeyExpr | UndeclareKeyExpr | DeclareSubscriber | UndeclareSubscriber | DeclareQueryable | UndeclareQueryable | DeclareToken | UndeclareToken | DeclareFinal
        if id_of_body == 0x00:
            body, pos = decode_declare_key_expr(buf, pos)
        elif id_of_body == 0x01:
            body, pos = decode_undeclare_key_expr(buf, pos)
        elif id_of_body == 0x02:
            body, pos = decode_declare_subscriber(buf, pos)
        elif id_of_body == 0x03:
            body, pos = decode_undeclare_subscriber(buf, pos)
        elif id_of_body == 0x04:
            body, pos = decode_declare_queryable(buf, pos)
        elif id_of_body == 0x05:
            body, pos = decode_undeclare_queryable(buf, pos)
        elif id_of_body == 0x06:
            body, pos = decode_declare_token(buf, pos)
        elif id_of_body == 0x07:
            body, pos = decode_undeclare_token(buf, pos)
        elif id_of_body == 0x1a:
            body, pos = decode_declare_final(buf, pos)
        else:
            raise wrong_body(id_of_body, "D_KEYEXPR or U_KEYEXPR or D_SUBSCRIBER or U_SUBSCRIBER or D_QUERYABLE or U_QUERYABLE or D_TOKEN or U_TOKEN or D_FINAL")
        return Declare(body, interest_id, qos, timestamp, node_id, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("DECLARE", _DECLARE_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Oam(NetworkMessage):
    """Management of the network; id 1 carries link state."""

    __slots__ = ('id', 'qos', 'timestamp', 'body', 'extensions',)
    NAME: ClassVar[str] = "OAM"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'qos', 'timestamp', 'body', 'extensions',)

    def __init__(self, id: int, qos: QoS | None = None, timestamp: Timestamp | None = None, body: int | bytes | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.qos = qos
        self.timestamp = timestamp
        self.body = body
        self.extensions = extensions

    def copy(self) -> Oam:
        """A copy with all fields, which may be changed before it is sent."""
        return Oam(self.id, self.qos, self.timestamp, self.body, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        qos = self.qos
        timestamp = self.timestamp
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if timestamp is not None:
            left += 1
        header = 0x1f
        header |= encoding_bits(self.body)
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.id
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z16(out, number)
        if left:
            if qos is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = qos.byte
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if timestamp is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                inner = BytesWriter()
                write_timestamp(inner, timestamp)
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)
        write_body(out, self.body)


_OAM_ROWS: Final = ('header', 'id', 'extensions', 'qos', 'timestamp', 'body',)


def decode_oam(buf: bytes, pos: i64) -> tuple[Oam, i64]:
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
            id, pos = read_tail(buf, pos, end, small, Z16_MAX)
        qos: QoS | None = None
        timestamp: Timestamp | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x21:
                    row = 3
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = QOS_BYTES[number & 0x3F]
                elif kind == 0x42:
                    row = 4
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    timestamp, _ = read_timestamp(buf, pos, stop)
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
        row = 5
        at = pos
        body: int | bytes | None = None
        encoding_bits = header & 0x60
        if encoding_bits == 0x20:
            body, pos = read_z64(buf, pos, end)
        elif encoding_bits == 0x40:
            body, pos = read_bytes_z32(buf, pos, end)
        elif encoding_bits == 0x60:
            raise Malformed("the body has the reserved encoding 0b11")
        return Oam(id, qos, timestamp, body, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("OAM", _OAM_ROWS[row], at, error) from None


def decode_network(buf: bytes, pos: i64) -> tuple[NetworkMessage, i64]:
    """One network message of any kind, and where the next begins."""
    if pos >= len(buf):
        raise WireError("network", "header", pos, "there are no bytes")
    id = buf[pos] & 0x1F
    if id == 0x1d:
        return decode_push(buf, pos)
    if id == 0x1c:
        return decode_request(buf, pos)
    if id == 0x1b:
        return decode_response(buf, pos)
    if id == 0x1a:
        return decode_response_final(buf, pos)
    if id == 0x1e:
        return decode_declare(buf, pos)
    if id == 0x19:
        return decode_interest(buf, pos)
    if id == 0x1f:
        return decode_oam(buf, pos)
    raise WireError("network", "header", pos, f"{id:#04x} is no network message")
