"""Data sub-messages: what PUSH, REQUEST and RESPONSE carry.

GENERATED from zenlake/wire/definitions/data.py by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from zenlake._mypyc import (
    mypyc_attr,
)
from zenlake.limits import (
    EXTENSIONS_PER_MESSAGE_MAX,
)
from zenlake.wire._generated.structures import (
    QueryBody,
    SourceInfo,
    decode_query_body,
    decode_source_info,
)
from zenlake.wire.message import (
    DataMessage,
    Extension,
    late_marker,
    read_unknown,
    too_many_extensions,
    too_many_to_send,
    write_unknown,
)
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    Z32_MAX,
    overrun,
    read_tail,
    read_tail_z64,
    read_z32,
    to_utf8,
    wire_error,
    write_bytes_z32,
    write_z32,
    write_z64,
    wrong_body,
)
from zenlake.wire.values.choices import (
    ConsolidationMode,
    consolidation_of_number,
)
from zenlake.wire.values.encoding import (
    Encoding,
    read_encoding,
    write_encoding,
)
from zenlake.wire.values.slices import (
    read_slices,
)
from zenlake.wire.values.timestamp import (
    Timestamp,
    read_timestamp,
    write_timestamp,
)
from zenlake.wire.writer import (
    BytesWriter,
)

if TYPE_CHECKING:
    from mypy_extensions import i64



@mypyc_attr(acyclic=True)
class Put(DataMessage):
    """A value."""

    __slots__ = ('payload', 'timestamp', 'encoding', 'source_info', 'shm', 'attachment', 'extensions',)
    NAME: ClassVar[str] = "PUT"
    FIELDS: ClassVar[tuple[str, ...]] = ('payload', 'timestamp', 'encoding', 'source_info', 'shm', 'attachment', 'extensions',)

    def __init__(self, payload: bytes, timestamp: Timestamp | None = None, encoding: Encoding | None = None, source_info: SourceInfo | None = None, shm: bool = False, attachment: bytes | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.payload = payload
        self.timestamp = timestamp
        self.encoding = encoding
        self.source_info = source_info
        self.shm = shm
        self.attachment = attachment
        self.extensions = extensions

    def copy(self) -> Put:
        """A copy with all fields, which may be changed before it is sent."""
        return Put(self.payload, self.timestamp, self.encoding, self.source_info, self.shm, self.attachment, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        timestamp = self.timestamp
        encoding = self.encoding
        source_info = self.source_info
        attachment = self.attachment
        left = len(self.extensions)
        if source_info is not None:
            left += 1
        if self.shm:
            left += 1
        if attachment is not None:
            left += 1
        header = 0x01
        if encoding is not None:
            header |= 0x40
        if timestamp is not None:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if timestamp is not None:
            write_timestamp(out, timestamp)
        if encoding is not None:
            write_encoding(out, encoding)
        if left:
            if source_info is not None:
                left -= 1
                out.append(0xc1 if left else 0x41)
                inner = BytesWriter()
                source_info.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if self.shm:
                left -= 1
                out.append(0x92 if left else 0x12)
            if attachment is not None:
                left -= 1
                out.append(0xc3 if left else 0x43)
                write_bytes_z32(out, attachment)
            if left:
                write_unknown(out, self.extensions)
        if self.shm:
            out.write(self.payload)
        else:
            size = len(self.payload)
            if size < 0x80:
                out.append(size)
            else:
                write_z32(out, size)
            out.write(self.payload)


_PUT_ROWS: Final = ('header', 'timestamp', 'encoding', 'extensions', 'source_info', 'shm', 'attachment', 'payload',)


def decode_put(buf: bytes, pos: i64) -> tuple[Put, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        timestamp: Timestamp | None = None
        if header & 0x20:
            row = 1
            at = pos
            timestamp, pos = read_timestamp(buf, pos, end)
        encoding: Encoding | None = None
        if header & 0x40:
            row = 2
            at = pos
            encoding, pos = read_encoding(buf, pos, end)
        source_info: SourceInfo | None = None
        shm: bool = False
        attachment: bytes | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 3
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x41:
                    row = 4
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    source_info, _ = decode_source_info(buf, pos, stop)
                    pos = stop
                elif kind == 0x12:
                    shm = True
                elif kind == 0x43:
                    row = 6
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    attachment = buf[pos:stop]
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
        row = 7
        at = pos
        if shm:
            payload, pos = read_slices(buf, pos, end)
        else:
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z32_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            payload = buf[pos:stop]
            pos = stop
        return Put(payload, timestamp, encoding, source_info, shm, attachment, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("PUT", _PUT_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Del(DataMessage):
    """A deletion: the key has no value any more."""

    __slots__ = ('timestamp', 'source_info', 'attachment', 'extensions',)
    NAME: ClassVar[str] = "DEL"
    FIELDS: ClassVar[tuple[str, ...]] = ('timestamp', 'source_info', 'attachment', 'extensions',)

    def __init__(self, timestamp: Timestamp | None = None, source_info: SourceInfo | None = None, attachment: bytes | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.timestamp = timestamp
        self.source_info = source_info
        self.attachment = attachment
        self.extensions = extensions

    def copy(self) -> Del:
        """A copy with all fields, which may be changed before it is sent."""
        return Del(self.timestamp, self.source_info, self.attachment, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        timestamp = self.timestamp
        source_info = self.source_info
        attachment = self.attachment
        left = len(self.extensions)
        if source_info is not None:
            left += 1
        if attachment is not None:
            left += 1
        header = 0x02
        if timestamp is not None:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if timestamp is not None:
            write_timestamp(out, timestamp)
        if left:
            if source_info is not None:
                left -= 1
                out.append(0xc1 if left else 0x41)
                inner = BytesWriter()
                source_info.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if attachment is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                write_bytes_z32(out, attachment)
            if left:
                write_unknown(out, self.extensions)


_DEL_ROWS: Final = ('header', 'timestamp', 'extensions', 'source_info', 'attachment',)


def decode_del(buf: bytes, pos: i64) -> tuple[Del, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        timestamp: Timestamp | None = None
        if header & 0x20:
            row = 1
            at = pos
            timestamp, pos = read_timestamp(buf, pos, end)
        source_info: SourceInfo | None = None
        attachment: bytes | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x41:
                    row = 3
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    source_info, _ = decode_source_info(buf, pos, stop)
                    pos = stop
                elif kind == 0x42:
                    row = 4
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    attachment = buf[pos:stop]
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
        return Del(timestamp, source_info, attachment, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("DEL", _DEL_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Query(DataMessage):
    """The parameters of a query, and how its replies are consolidated."""

    __slots__ = ('consolidation', 'parameters', 'source_info', 'body_shm', 'body', 'attachment', 'extensions',)
    NAME: ClassVar[str] = "QUERY"
    FIELDS: ClassVar[tuple[str, ...]] = ('consolidation', 'parameters', 'source_info', 'body_shm', 'body', 'attachment', 'extensions',)

    def __init__(self, consolidation: ConsolidationMode | None = None, parameters: str | None = None, source_info: SourceInfo | None = None, body_shm: int | None = None, body: QueryBody | None = None, attachment: bytes | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.consolidation = consolidation
        self.parameters = parameters
        self.source_info = source_info
        self.body_shm = body_shm
        self.body = body
        self.attachment = attachment
        self.extensions = extensions

    def copy(self) -> Query:
        """A copy with all fields, which may be changed before it is sent."""
        return Query(self.consolidation, self.parameters, self.source_info, self.body_shm, self.body, self.attachment, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        consolidation = self.consolidation
        parameters = self.parameters
        source_info = self.source_info
        body_shm = self.body_shm
        body = self.body
        attachment = self.attachment
        left = len(self.extensions)
        if source_info is not None:
            left += 1
        if body_shm is not None:
            left += 1
        if body is not None:
            left += 1
        if attachment is not None:
            left += 1
        header = 0x03
        if parameters is not None:
            header |= 0x40
        if consolidation is not None:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if consolidation is not None:
            number = int(consolidation)
            if number >> 7 == 0:
                out.append(number)
            else:
                write_z64(out, number)
        if parameters is not None:
            raw = to_utf8(parameters)
            size = len(raw)
            if size < 0x80:
                out.append(size)
            else:
                write_z32(out, size)
            out.write(raw)
        if left:
            if source_info is not None:
                left -= 1
                out.append(0xc1 if left else 0x41)
                inner = BytesWriter()
                source_info.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if body_shm is not None:
                left -= 1
                out.append(0x84 if left else 0x04)
            if body is not None:
                left -= 1
                out.append(0xc3 if left else 0x43)
                if body_shm is not None:
                    write_z32(out, body_shm)
                    body.encode(out)
                else:
                    inner = BytesWriter()
                    body.encode(inner)
                    write_bytes_z32(out, inner.getvalue())
            if attachment is not None:
                left -= 1
                out.append(0xc5 if left else 0x45)
                write_bytes_z32(out, attachment)
            if left:
                write_unknown(out, self.extensions)


_QUERY_ROWS: Final = ('header', 'consolidation', 'parameters', 'extensions', 'source_info', 'body_shm', 'body', 'attachment',)


def decode_query(buf: bytes, pos: i64) -> tuple[Query, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    small: i64
    kind: i64
    count_exts: i64
    wide: int
    try:
        header: i64 = buf[pos]
        pos += 1
        consolidation: ConsolidationMode | None = None
        if header & 0x20:
            row = 1
            at = pos
            small = buf[pos]
            pos += 1
            if small < 0x80:
                wide = small
            else:
                wide, pos = read_tail_z64(buf, pos, end, small)
            consolidation = consolidation_of_number(wide)
        parameters: str | None = None
        if header & 0x40:
            row = 2
            at = pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z32_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            parameters = buf[pos:stop].decode()
            pos = stop
        source_info: SourceInfo | None = None
        body_shm: int | None = None
        body: QueryBody | None = None
        attachment: bytes | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 3
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x41:
                    row = 4
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    source_info, _ = decode_source_info(buf, pos, stop)
                    pos = stop
                elif kind == 0x04:
                    if body is not None:
                        raise late_marker()
                    body_shm = 0
                elif kind == 0x43:
                    row = 6
                    if body_shm is not None:
                        body_shm, pos = read_z32(buf, pos, end)
                        body_encoding, pos = read_encoding(buf, pos, end)
                        body_slices, pos = read_slices(buf, pos, end)
                        body = QueryBody(body_encoding, body_slices)
                    else:
                        size = buf[pos]
                        pos += 1
                        if size >= 0x80:
                            size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                        stop = pos + size
                        if stop > end:
                            raise overrun(size, end - pos)
                        body, _ = decode_query_body(buf, pos, stop)
                        pos = stop
                elif kind == 0x45:
                    row = 7
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    attachment = buf[pos:stop]
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
        return Query(consolidation, parameters, source_info, body_shm, body, attachment, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("QUERY", _QUERY_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Reply(DataMessage):
    """One value that answers a query."""

    __slots__ = ('body', 'consolidation', 'extensions',)
    NAME: ClassVar[str] = "REPLY"
    FIELDS: ClassVar[tuple[str, ...]] = ('body', 'consolidation', 'extensions',)

    def __init__(self, body: Put | Del, consolidation: ConsolidationMode | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.body = body
        self.consolidation = consolidation
        self.extensions = extensions

    def copy(self) -> Reply:
        """A copy with all fields, which may be changed before it is sent."""
        return Reply(self.body, self.consolidation, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        consolidation = self.consolidation
        left = len(self.extensions)
        header = 0x04
        if consolidation is not None:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if consolidation is not None:
            number = int(consolidation)
            if number >> 7 == 0:
                out.append(number)
            else:
                write_z64(out, number)
        if left:
            if left:
                write_unknown(out, self.extensions)
        self.body.encode(out)


_REPLY_ROWS: Final = ('header', 'consolidation', 'extensions', 'body',)


def decode_reply(buf: bytes, pos: i64) -> tuple[Reply, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    small: i64
    count_exts: i64
    id_of_body: i64
    wide: int
    try:
        header: i64 = buf[pos]
        pos += 1
        consolidation: ConsolidationMode | None = None
        if header & 0x20:
            row = 1
            at = pos
            small = buf[pos]
            pos += 1
            if small < 0x80:
                wide = small
            else:
                wide, pos = read_tail_z64(buf, pos, end, small)
            consolidation = consolidation_of_number(wide)
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
        row = 3
        at = pos
        id_of_body = buf[pos] & 0x1F
        body: Put | Del
        if id_of_body == 0x01:
            body, pos = decode_put(buf, pos)
        elif id_of_body == 0x02:
            body, pos = decode_del(buf, pos)
        else:
            raise wrong_body(id_of_body, "PUT or DEL")
        return Reply(body, consolidation, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("REPLY", _REPLY_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Err(DataMessage):
    """An error instead of a reply."""

    __slots__ = ('payload', 'encoding', 'source_info', 'shm', 'extensions',)
    NAME: ClassVar[str] = "ERR"
    FIELDS: ClassVar[tuple[str, ...]] = ('payload', 'encoding', 'source_info', 'shm', 'extensions',)

    def __init__(self, payload: bytes, encoding: Encoding | None = None, source_info: SourceInfo | None = None, shm: bool = False, extensions: tuple[Extension, ...] = ()) -> None:
        self.payload = payload
        self.encoding = encoding
        self.source_info = source_info
        self.shm = shm
        self.extensions = extensions

    def copy(self) -> Err:
        """A copy with all fields, which may be changed before it is sent."""
        return Err(self.payload, self.encoding, self.source_info, self.shm, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        encoding = self.encoding
        source_info = self.source_info
        left = len(self.extensions)
        if source_info is not None:
            left += 1
        if self.shm:
            left += 1
        header = 0x05
        if encoding is not None:
            header |= 0x40
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if encoding is not None:
            write_encoding(out, encoding)
        if left:
            if source_info is not None:
                left -= 1
                out.append(0xc1 if left else 0x41)
                inner = BytesWriter()
                source_info.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if self.shm:
                left -= 1
                out.append(0x92 if left else 0x12)
            if left:
                write_unknown(out, self.extensions)
        size = len(self.payload)
        if size < 0x80:
            out.append(size)
        else:
            write_z32(out, size)
        out.write(self.payload)


_ERR_ROWS: Final = ('header', 'encoding', 'extensions', 'source_info', 'shm', 'payload',)


def decode_err(buf: bytes, pos: i64) -> tuple[Err, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    size: i64
    stop: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        encoding: Encoding | None = None
        if header & 0x40:
            row = 1
            at = pos
            encoding, pos = read_encoding(buf, pos, end)
        source_info: SourceInfo | None = None
        shm: bool = False
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x41:
                    row = 3
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    source_info, _ = decode_source_info(buf, pos, stop)
                    pos = stop
                elif kind == 0x12:
                    shm = True
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
        size = buf[pos]
        pos += 1
        if size >= 0x80:
            size, pos = read_tail(buf, pos, end, size, Z32_MAX)
        stop = pos + size
        if stop > end:
            raise overrun(size, end - pos)
        payload = buf[pos:stop]
        pos = stop
        return Err(payload, encoding, source_info, shm, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("ERR", _ERR_ROWS[row], at, error) from None
