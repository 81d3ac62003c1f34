"""Transport messages: opening, keeping and closing sessions, and frames of network messages.

GENERATED from zenlake/wire/definitions/transport.py by `make generate`. Do not edit.
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
from zenlake.wire._generated.structures import (
    JoinQoS,
    decode_join_qos,
)
from zenlake.wire.message import (
    Extension,
    NetworkMessage,
    TransportMessage,
    encoding_bits,
    read_chain,
    read_unknown,
    too_many_extensions,
    too_many_to_send,
    write_body,
    write_chain,
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
    read_rest,
    read_rest_text,
    read_tail,
    read_tail_z64,
    read_u16,
    read_z64,
    wire_error,
    write_bytes_z32,
    write_rest,
    write_rest_text,
    write_u16,
    write_u8,
    write_z16,
    write_z32,
    write_z64,
    write_z8,
)
from zenlake.wire.runs import (
    decode_messages,
)
from zenlake.wire.values.choices import (
    Bound,
    bound_of_number,
)
from zenlake.wire.values.qos import (
    Priority,
    priority_of_byte,
)
from zenlake.wire.values.qos_link import (
    QoSLink,
    number_of_qos_link,
    qos_link_of_number,
)
from zenlake.wire.values.resolution import (
    Resolution,
    byte_of_resolution,
    resolution_of_byte,
)
from zenlake.wire.values.whatami import (
    WhatAmI,
    code_of_role,
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
class TransportOam(TransportMessage):
    """Management of the link; deployed nodes do not send it."""

    __slots__ = ('id', 'qos', 'body', 'extensions',)
    NAME: ClassVar[str] = "TRANSPORT_OAM"
    FIELDS: ClassVar[tuple[str, ...]] = ('id', 'qos', 'body', 'extensions',)

    def __init__(self, id: int, qos: Priority | None = None, body: int | bytes | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.id = id
        self.qos = qos
        self.body = body
        self.extensions = extensions

    def copy(self) -> TransportOam:
        """A copy with all fields, which may be changed before it is sent."""
        return TransportOam(self.id, self.qos, self.body, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        qos = self.qos
        left = len(self.extensions)
        if qos is not None:
            left += 1
        header = 0x00
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
                out.append(0xb1 if left else 0x31)
                number = int(qos)
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if left:
                write_unknown(out, self.extensions)
        write_body(out, self.body)


_TRANSPORT_OAM_ROWS: Final = ('header', 'id', 'extensions', 'qos', 'body',)


def decode_transport_oam(buf: bytes, pos: i64) -> tuple[TransportOam, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
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
        qos: Priority | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 2
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x31:
                    row = 3
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = priority_of_byte(number)
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
        row = 4
        at = pos
        body: int | bytes | None = None
        encoding_bits = header & 0x60
        if encoding_bits == 0x20:
            body, pos = read_z64(buf, pos, end)
        elif encoding_bits == 0x40:
            body, pos = read_bytes_z32(buf, pos, end)
        elif encoding_bits == 0x60:
            raise Malformed("the body has the reserved encoding 0b11")
        return TransportOam(id, qos, body, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("TRANSPORT_OAM", _TRANSPORT_OAM_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Init(TransportMessage):
    """The offer (InitSyn) and the answer (InitAck, with a cookie) of a session's terms."""

    __slots__ = ('whatami', 'zid', 'version', 'resolution', 'batch_size', 'cookie', 'qos', 'qos_link', 'shm', 'auth', 'multilink', 'lowlatency', 'compression', 'patch', 'region', 'extensions',)
    NAME: ClassVar[str] = "INIT"
    FIELDS: ClassVar[tuple[str, ...]] = ('whatami', 'zid', 'version', 'resolution', 'batch_size', 'cookie', 'qos', 'qos_link', 'shm', 'auth', 'multilink', 'lowlatency', 'compression', 'patch', 'region', 'extensions',)

    def __init__(self, whatami: WhatAmI, zid: ZenohId, version: int = 9, resolution: Resolution | None = None, batch_size: int | None = None, cookie: bytes | None = None, qos: bool = False, qos_link: QoSLink | None = None, shm: bytes | None = None, auth: tuple[Extension, ...] | None = None, multilink: bytes | None = None, lowlatency: bool = False, compression: bool = False, patch: int | None = None, region: str | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.whatami = whatami
        self.zid = zid
        self.version = version
        self.resolution = resolution
        self.batch_size = batch_size
        self.cookie = cookie
        self.qos = qos
        self.qos_link = qos_link
        self.shm = shm
        self.auth = auth
        self.multilink = multilink
        self.lowlatency = lowlatency
        self.compression = compression
        self.patch = patch
        self.region = region
        self.extensions = extensions

    def copy(self) -> Init:
        """A copy with all fields, which may be changed before it is sent."""
        return Init(self.whatami, self.zid, self.version, self.resolution, self.batch_size, self.cookie, self.qos, self.qos_link, self.shm, self.auth, self.multilink, self.lowlatency, self.compression, self.patch, self.region, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        zid = self.zid
        resolution = self.resolution
        batch_size = self.batch_size
        cookie = self.cookie
        qos_link = self.qos_link
        shm = self.shm
        auth = self.auth
        multilink = self.multilink
        patch = self.patch
        region = self.region
        left = len(self.extensions)
        if self.qos:
            left += 1
        if qos_link is not None:
            left += 1
        if shm is not None:
            left += 1
        if auth is not None:
            left += 1
        if multilink is not None:
            left += 1
        if self.lowlatency:
            left += 1
        if self.compression:
            left += 1
        if patch is not None:
            left += 1
        if region is not None:
            left += 1
        header = 0x01
        if (resolution is None) != (batch_size is None):
            raise LocalError("INIT: resolution and batch_size go together or not at all")
        if resolution is not None:
            header |= 0x40
        if cookie is not None:
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
        if resolution is not None:
            write_u8(out, byte_of_resolution(resolution))
        if batch_size is not None:
            write_u16(out, batch_size)
        if cookie is not None:
            size = len(cookie)
            if size < 0x80:
                out.append(size)
            else:
                write_z16(out, size)
            out.write(cookie)
        if left:
            if self.qos:
                left -= 1
                out.append(0x81 if left else 0x01)
            if qos_link is not None:
                left -= 1
                out.append(0xa1 if left else 0x21)
                number = number_of_qos_link(qos_link)
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z64(out, number)
            if shm is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                write_bytes_z32(out, shm)
            if auth is not None:
                left -= 1
                out.append(0xc3 if left else 0x43)
                inner = BytesWriter()
                write_chain(inner, auth)
                write_bytes_z32(out, inner.getvalue())
            if multilink is not None:
                left -= 1
                out.append(0xc4 if left else 0x44)
                write_bytes_z32(out, multilink)
            if self.lowlatency:
                left -= 1
                out.append(0x85 if left else 0x05)
            if self.compression:
                left -= 1
                out.append(0x86 if left else 0x06)
            if patch is not None:
                left -= 1
                out.append(0xa7 if left else 0x27)
                if patch >> 7 == 0:
                    out.append(patch)
                else:
                    write_z8(out, patch)
            if region is not None:
                left -= 1
                out.append(0xc8 if left else 0x48)
                inner = BytesWriter()
                write_rest_text(inner, region)
                if not 1 <= len(inner) <= 32:
                    raise LocalError("INIT: region has 1 to 32 bytes")
                write_bytes_z32(out, inner.getvalue())
            if left:
                write_unknown(out, self.extensions)


_INIT_ROWS: Final = ('header', 'version', 'packed', 'whatami', 'zid', 'resolution', 'batch_size', 'cookie', 'extensions', 'qos', 'qos_link', 'shm', 'auth', 'multilink', 'lowlatency', 'compression', 'patch', 'region',)


def decode_init(buf: bytes, pos: i64) -> tuple[Init, i64]:
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
        resolution: Resolution | None = None
        if header & 0x40:
            row = 5
            at = pos
            resolution = resolution_of_byte(buf[pos])
            pos += 1
        batch_size: int | None = None
        if header & 0x40:
            row = 6
            at = pos
            batch_size, pos = read_u16(buf, pos, end)
        cookie: bytes | None = None
        if header & 0x20:
            row = 7
            at = pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z16_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            cookie = buf[pos:stop]
            pos = stop
        qos: bool = False
        qos_link: QoSLink | None = None
        shm: bytes | None = None
        auth: tuple[Extension, ...] | None = None
        multilink: bytes | None = None
        lowlatency: bool = False
        compression: bool = False
        patch: int | None = None
        region: str | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 8
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x01:
                    qos = True
                elif kind == 0x21:
                    row = 10
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        wide = small
                    else:
                        wide, pos = read_tail_z64(buf, pos, end, small)
                    qos_link = qos_link_of_number(wide)
                elif kind == 0x42:
                    row = 11
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    shm = buf[pos:stop]
                    pos = stop
                elif kind == 0x43:
                    row = 12
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    auth, _ = read_chain(buf, pos, stop)
                    pos = stop
                elif kind == 0x44:
                    row = 13
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    multilink = buf[pos:stop]
                    pos = stop
                elif kind == 0x05:
                    lowlatency = True
                elif kind == 0x06:
                    compression = True
                elif kind == 0x27:
                    row = 16
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        patch = small
                    else:
                        patch, pos = read_tail(buf, pos, end, small, Z8_MAX)
                elif kind == 0x48:
                    row = 17
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    if not 1 <= size <= 32:
                        raise Malformed(f"{size} bytes, 1 to 32 are possible")
                    region, _ = read_rest_text(buf, pos, stop)
                    pos = stop
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 8
                    at = pos
                    raise too_many_extensions()
        return Init(whatami, zid, version, resolution, batch_size, cookie, qos, qos_link, shm, auth, multilink, lowlatency, compression, patch, region, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("INIT", _INIT_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Open(TransportMessage):
    """The cookie is returned (OpenSyn), and the session is open (OpenAck)."""

    __slots__ = ('lease', 'initial_sn', 'seconds', 'cookie', 'qos', 'shm', 'shm_bytes', 'auth', 'multilink_ack', 'multilink', 'lowlatency', 'compression', 'remote_bound', 'extensions',)
    NAME: ClassVar[str] = "OPEN"
    FIELDS: ClassVar[tuple[str, ...]] = ('lease', 'initial_sn', 'seconds', 'cookie', 'qos', 'shm', 'shm_bytes', 'auth', 'multilink_ack', 'multilink', 'lowlatency', 'compression', 'remote_bound', 'extensions',)

    def __init__(self, lease: int, initial_sn: int, seconds: bool = False, cookie: bytes | None = None, qos: bool = False, shm: int | None = None, shm_bytes: bytes | None = None, auth: tuple[Extension, ...] | None = None, multilink_ack: bool = False, multilink: bytes | None = None, lowlatency: bool = False, compression: bool = False, remote_bound: Bound | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.lease = lease
        self.initial_sn = initial_sn
        self.seconds = seconds
        self.cookie = cookie
        self.qos = qos
        self.shm = shm
        self.shm_bytes = shm_bytes
        self.auth = auth
        self.multilink_ack = multilink_ack
        self.multilink = multilink
        self.lowlatency = lowlatency
        self.compression = compression
        self.remote_bound = remote_bound
        self.extensions = extensions

    def copy(self) -> Open:
        """A copy with all fields, which may be changed before it is sent."""
        return Open(self.lease, self.initial_sn, self.seconds, self.cookie, self.qos, self.shm, self.shm_bytes, self.auth, self.multilink_ack, self.multilink, self.lowlatency, self.compression, self.remote_bound, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        cookie = self.cookie
        shm = self.shm
        shm_bytes = self.shm_bytes
        auth = self.auth
        multilink = self.multilink
        remote_bound = self.remote_bound
        left = len(self.extensions)
        if self.qos:
            left += 1
        if shm is not None:
            left += 1
        if shm_bytes is not None:
            left += 1
        if auth is not None:
            left += 1
        if self.multilink_ack:
            left += 1
        if multilink is not None:
            left += 1
        if self.lowlatency:
            left += 1
        if self.compression:
            left += 1
        if remote_bound is not None:
            left += 1
        header = 0x02
        if self.seconds:
            header |= 0x40
        if cookie is None:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.lease
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z64(out, number)
        number = self.initial_sn
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if cookie is not None:
            size = len(cookie)
            if size < 0x80:
                out.append(size)
            else:
                write_z16(out, size)
            out.write(cookie)
        if left:
            if self.qos:
                left -= 1
                out.append(0x81 if left else 0x01)
            if shm is not None:
                left -= 1
                out.append(0xa2 if left else 0x22)
                if shm >> 7 == 0:
                    out.append(shm)
                else:
                    write_z64(out, shm)
            if shm_bytes is not None:
                left -= 1
                out.append(0xc2 if left else 0x42)
                write_bytes_z32(out, shm_bytes)
            if auth is not None:
                left -= 1
                out.append(0xc3 if left else 0x43)
                inner = BytesWriter()
                write_chain(inner, auth)
                write_bytes_z32(out, inner.getvalue())
            if self.multilink_ack:
                left -= 1
                out.append(0x84 if left else 0x04)
            if multilink is not None:
                left -= 1
                out.append(0xc4 if left else 0x44)
                write_bytes_z32(out, multilink)
            if self.lowlatency:
                left -= 1
                out.append(0x85 if left else 0x05)
            if self.compression:
                left -= 1
                out.append(0x86 if left else 0x06)
            if remote_bound is not None:
                left -= 1
                out.append(0xa7 if left else 0x27)
                number = int(remote_bound)
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z64(out, number)
            if left:
                write_unknown(out, self.extensions)


_OPEN_ROWS: Final = ('header', 'seconds', 'lease', 'initial_sn', 'cookie', 'extensions', 'qos', 'shm', 'shm_bytes', 'auth', 'multilink_ack', 'multilink', 'lowlatency', 'compression', 'remote_bound',)


def decode_open(buf: bytes, pos: i64) -> tuple[Open, i64]:
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
        seconds = header & 0x40 != 0
        row = 2
        at = pos
        lease: int
        small = buf[pos]
        pos += 1
        if small < 0x80:
            lease = small
        else:
            lease, pos = read_tail_z64(buf, pos, end, small)
        row = 3
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            initial_sn = small
        else:
            initial_sn, pos = read_tail(buf, pos, end, small, Z32_MAX)
        cookie: bytes | None = None
        if header & 0x20 == 0:
            row = 4
            at = pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_tail(buf, pos, end, size, Z16_MAX)
            stop = pos + size
            if stop > end:
                raise overrun(size, end - pos)
            cookie = buf[pos:stop]
            pos = stop
        qos: bool = False
        shm: int | None = None
        shm_bytes: bytes | None = None
        auth: tuple[Extension, ...] | None = None
        multilink_ack: bool = False
        multilink: bytes | None = None
        lowlatency: bool = False
        compression: bool = False
        remote_bound: Bound | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 5
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x01:
                    qos = True
                elif kind == 0x22:
                    row = 7
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        shm = small
                    else:
                        shm, pos = read_tail_z64(buf, pos, end, small)
                elif kind == 0x42:
                    row = 8
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    shm_bytes = buf[pos:stop]
                    pos = stop
                elif kind == 0x43:
                    row = 9
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    auth, _ = read_chain(buf, pos, stop)
                    pos = stop
                elif kind == 0x04:
                    multilink_ack = True
                elif kind == 0x44:
                    row = 11
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    multilink = buf[pos:stop]
                    pos = stop
                elif kind == 0x05:
                    lowlatency = True
                elif kind == 0x06:
                    compression = True
                elif kind == 0x27:
                    row = 14
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        wide = small
                    else:
                        wide, pos = read_tail_z64(buf, pos, end, small)
                    remote_bound = bound_of_number(wide)
                else:
                    unknown, pos = read_unknown(buf, pos, end, ext)
                    extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 5
                    at = pos
                    raise too_many_extensions()
        return Open(lease, initial_sn, seconds, cookie, qos, shm, shm_bytes, auth, multilink_ack, multilink, lowlatency, compression, remote_bound, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("OPEN", _OPEN_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Close(TransportMessage):
    """The end of this link, or of the session (S)."""

    __slots__ = ('reason', 'session', 'extensions',)
    NAME: ClassVar[str] = "CLOSE"
    FIELDS: ClassVar[tuple[str, ...]] = ('reason', 'session', 'extensions',)

    def __init__(self, reason: int, session: bool = False, extensions: tuple[Extension, ...] = ()) -> None:
        self.reason = reason
        self.session = session
        self.extensions = extensions

    def copy(self) -> Close:
        """A copy with all fields, which may be changed before it is sent."""
        return Close(self.reason, self.session, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        left = len(self.extensions)
        header = 0x03
        if self.session:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        write_u8(out, self.reason)
        if left:
            if left:
                write_unknown(out, self.extensions)


_CLOSE_ROWS: Final = ('header', 'session', 'reason', 'extensions',)


def decode_close(buf: bytes, pos: i64) -> tuple[Close, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        session = header & 0x20 != 0
        row = 2
        at = pos
        reason = buf[pos]
        pos += 1
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 3
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                unknown, pos = read_unknown(buf, pos, end, ext)
                extensions += (unknown,)
                if ext < 0x80:
                    break
                count_exts += 1
                if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                    row = 3
                    at = pos
                    raise too_many_extensions()
        return Close(reason, session, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("CLOSE", _CLOSE_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class KeepAlive(TransportMessage):
    """Sent on an otherwise silent link, so that the lease does not expire."""

    __slots__ = ('extensions',)
    NAME: ClassVar[str] = "KEEP_ALIVE"
    FIELDS: ClassVar[tuple[str, ...]] = ('extensions',)

    def __init__(self, extensions: tuple[Extension, ...] = ()) -> None:
        self.extensions = extensions

    def copy(self) -> KeepAlive:
        """A copy with all fields, which may be changed before it is sent."""
        return KeepAlive(self.extensions)

    def encode(self, out: BytesWriter) -> None:
        left = len(self.extensions)
        header = 0x04
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        if left:
            if left:
                write_unknown(out, self.extensions)


_KEEP_ALIVE_ROWS: Final = ('header', 'extensions',)


def decode_keep_alive(buf: bytes, pos: i64) -> tuple[KeepAlive, i64]:
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
        return KeepAlive(extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("KEEP_ALIVE", _KEEP_ALIVE_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Frame(TransportMessage):
    """Whole network messages of one channel, under one sequence number."""

    __slots__ = ('sn', 'messages', 'reliable', 'qos', 'extensions',)
    NAME: ClassVar[str] = "FRAME"
    FIELDS: ClassVar[tuple[str, ...]] = ('sn', 'messages', 'reliable', 'qos', 'extensions',)

    def __init__(self, sn: int, messages: list[NetworkMessage], reliable: bool = True, qos: Priority | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.sn = sn
        self.messages = messages
        self.reliable = reliable
        self.qos = qos
        self.extensions = extensions

    def copy(self) -> Frame:
        """A copy with all fields, which may be changed before it is sent."""
        return Frame(self.sn, self.messages, self.reliable, self.qos, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        qos = self.qos
        left = len(self.extensions)
        if qos is not None:
            left += 1
        header = 0x05
        if self.reliable:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.sn
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if left:
            if qos is not None:
                left -= 1
                out.append(0xb1 if left else 0x31)
                number = int(qos)
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if left:
                write_unknown(out, self.extensions)
        for message in self.messages:
            message.encode(out)


_FRAME_ROWS: Final = ('header', 'reliable', 'sn', 'extensions', 'qos', 'messages',)


def decode_frame(buf: bytes, pos: i64) -> tuple[Frame, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    small: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        reliable = header & 0x20 != 0
        row = 2
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            sn = small
        else:
            sn, pos = read_tail(buf, pos, end, small, Z32_MAX)
        qos: Priority | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 3
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x31:
                    row = 4
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = priority_of_byte(number)
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
        row = 5
        at = pos
        messages: list[NetworkMessage] = []
        try:
            pos = decode_messages(buf, pos, messages)
        except WireError as error:
            # A receiver delivers the complete messages before the error.
            error.partial = Frame(sn, messages, reliable, qos, extensions)
            raise
        return Frame(sn, messages, reliable, qos, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("FRAME", _FRAME_ROWS[row], at, error) from None


def decode_frame_head(buf: bytes, pos: i64) -> tuple[Frame, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    small: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        reliable = header & 0x20 != 0
        row = 2
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            sn = small
        else:
            sn, pos = read_tail(buf, pos, end, small, Z32_MAX)
        qos: Priority | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 3
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x31:
                    row = 4
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = priority_of_byte(number)
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
        row = 5
        at = pos
        messages: list[NetworkMessage] = []
        return Frame(sn, messages, reliable, qos, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("FRAME", _FRAME_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Fragment(TransportMessage):
    """A piece of one network message; M is set if more follow."""

    __slots__ = ('sn', 'payload', 'reliable', 'more', 'qos', 'first', 'drop', 'extensions',)
    NAME: ClassVar[str] = "FRAGMENT"
    FIELDS: ClassVar[tuple[str, ...]] = ('sn', 'payload', 'reliable', 'more', 'qos', 'first', 'drop', 'extensions',)

    def __init__(self, sn: int, payload: bytes, reliable: bool = True, more: bool = False, qos: Priority | None = None, first: bool = False, drop: bool = False, extensions: tuple[Extension, ...] = ()) -> None:
        self.sn = sn
        self.payload = payload
        self.reliable = reliable
        self.more = more
        self.qos = qos
        self.first = first
        self.drop = drop
        self.extensions = extensions

    def copy(self) -> Fragment:
        """A copy with all fields, which may be changed before it is sent."""
        return Fragment(self.sn, self.payload, self.reliable, self.more, self.qos, self.first, self.drop, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        qos = self.qos
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if self.first:
            left += 1
        if self.drop:
            left += 1
        header = 0x06
        if self.more:
            header |= 0x40
        if self.reliable:
            header |= 0x20
        if left:
            header |= 0x80
            if left > EXTENSIONS_PER_MESSAGE_MAX:
                raise too_many_to_send(left)
        out.append(header)
        number = self.sn
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if left:
            if qos is not None:
                left -= 1
                out.append(0xb1 if left else 0x31)
                number = int(qos)
                if number >> 7 == 0:
                    out.append(number)
                else:
                    write_z8(out, number)
            if self.first:
                left -= 1
                out.append(0x82 if left else 0x02)
            if self.drop:
                left -= 1
                out.append(0x83 if left else 0x03)
            if left:
                write_unknown(out, self.extensions)
        write_rest(out, self.payload)


_FRAGMENT_ROWS: Final = ('header', 'reliable', 'more', 'sn', 'extensions', 'qos', 'first', 'drop', 'payload',)


def decode_fragment(buf: bytes, pos: i64) -> tuple[Fragment, i64]:
    end: i64 = len(buf)
    row: i64 = 0
    at: i64 = pos
    small: i64
    kind: i64
    count_exts: i64
    try:
        header: i64 = buf[pos]
        pos += 1
        reliable = header & 0x20 != 0
        more = header & 0x40 != 0
        row = 3
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            sn = small
        else:
            sn, pos = read_tail(buf, pos, end, small, Z32_MAX)
        qos: Priority | None = None
        first: bool = False
        drop: bool = False
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 4
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x31:
                    row = 5
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        number = small
                    else:
                        number, pos = read_tail(buf, pos, end, small, Z8_MAX)
                    qos = priority_of_byte(number)
                elif kind == 0x02:
                    first = True
                elif kind == 0x03:
                    drop = True
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
        row = 8
        at = pos
        payload, pos = read_rest(buf, pos, end)
        return Fragment(sn, payload, reliable, more, qos, first, drop, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("FRAGMENT", _FRAGMENT_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class Join(TransportMessage):
    """A node's terms on a multicast group, sent periodically."""

    __slots__ = ('whatami', 'zid', 'lease', 'next_sn_re', 'next_sn_be', 'seconds', 'version', 'resolution', 'batch_size', 'qos', 'shm', 'patch', 'extensions',)
    NAME: ClassVar[str] = "JOIN"
    FIELDS: ClassVar[tuple[str, ...]] = ('whatami', 'zid', 'lease', 'next_sn_re', 'next_sn_be', 'seconds', 'version', 'resolution', 'batch_size', 'qos', 'shm', 'patch', 'extensions',)

    def __init__(self, whatami: WhatAmI, zid: ZenohId, lease: int, next_sn_re: int, next_sn_be: int, seconds: bool = False, version: int = 9, resolution: Resolution | None = None, batch_size: int | None = None, qos: JoinQoS | None = None, shm: bytes | None = None, patch: int | None = None, extensions: tuple[Extension, ...] = ()) -> None:
        self.whatami = whatami
        self.zid = zid
        self.lease = lease
        self.next_sn_re = next_sn_re
        self.next_sn_be = next_sn_be
        self.seconds = seconds
        self.version = version
        self.resolution = resolution
        self.batch_size = batch_size
        self.qos = qos
        self.shm = shm
        self.patch = patch
        self.extensions = extensions

    def copy(self) -> Join:
        """A copy with all fields, which may be changed before it is sent."""
        return Join(self.whatami, self.zid, self.lease, self.next_sn_re, self.next_sn_be, self.seconds, self.version, self.resolution, self.batch_size, self.qos, self.shm, self.patch, self.extensions)

    def encode(self, out: BytesWriter) -> None:
        zid = self.zid
        resolution = self.resolution
        batch_size = self.batch_size
        qos = self.qos
        shm = self.shm
        patch = self.patch
        left = len(self.extensions)
        if qos is not None:
            left += 1
        if shm is not None:
            left += 1
        if patch is not None:
            left += 1
        header = 0x07
        if (resolution is None) != (batch_size is None):
            raise LocalError("JOIN: resolution and batch_size go together or not at all")
        if resolution is not None:
            header |= 0x40
        if self.seconds:
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
        if resolution is not None:
            write_u8(out, byte_of_resolution(resolution))
        if batch_size is not None:
            write_u16(out, batch_size)
        number = self.lease
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z64(out, number)
        number = self.next_sn_re
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        number = self.next_sn_be
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        if left:
            if qos is not None:
                left -= 1
                out.append(0xd1 if left else 0x51)
                inner = BytesWriter()
                qos.encode(inner)
                write_bytes_z32(out, inner.getvalue())
            if shm is not None:
                left -= 1
                out.append(0xd2 if left else 0x52)
                write_bytes_z32(out, shm)
            if patch is not None:
                left -= 1
                out.append(0xa7 if left else 0x27)
                if patch >> 7 == 0:
                    out.append(patch)
                else:
                    write_z8(out, patch)
            if left:
                write_unknown(out, self.extensions)


_JOIN_ROWS: Final = ('header', 'seconds', 'version', 'packed', 'whatami', 'zid', 'resolution', 'batch_size', 'lease', 'next_sn_re', 'next_sn_be', 'extensions', 'qos', 'shm', 'patch',)


def decode_join(buf: bytes, pos: i64) -> tuple[Join, i64]:
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
        seconds = header & 0x20 != 0
        row = 2
        at = pos
        version = buf[pos]
        pos += 1
        row = 3
        at = pos
        packed: i64 = buf[pos]
        pos += 1
        row = 4
        whatami = role_of_code(packed & 0x3)
        row = 5
        at = pos
        zid, pos = read_zid(buf, pos, end, (packed >> 4) + 1)
        resolution: Resolution | None = None
        if header & 0x40:
            row = 6
            at = pos
            resolution = resolution_of_byte(buf[pos])
            pos += 1
        batch_size: int | None = None
        if header & 0x40:
            row = 7
            at = pos
            batch_size, pos = read_u16(buf, pos, end)
        row = 8
        at = pos
        lease: int
        small = buf[pos]
        pos += 1
        if small < 0x80:
            lease = small
        else:
            lease, pos = read_tail_z64(buf, pos, end, small)
        row = 9
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            next_sn_re = small
        else:
            next_sn_re, pos = read_tail(buf, pos, end, small, Z32_MAX)
        row = 10
        at = pos
        small = buf[pos]
        pos += 1
        if small < 0x80:
            next_sn_be = small
        else:
            next_sn_be, pos = read_tail(buf, pos, end, small, Z32_MAX)
        qos: JoinQoS | None = None
        shm: bytes | None = None
        patch: int | None = None
        extensions: tuple[Extension, ...] = ()
        if header >= 0x80:
            count_exts = 0
            while True:
                row = 11
                at = pos
                ext: i64 = buf[pos]
                pos += 1
                kind = ext & 0x7F
                if kind == 0x51:
                    row = 12
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    qos, _ = decode_join_qos(buf, pos, stop)
                    pos = stop
                elif kind == 0x52:
                    row = 13
                    size = buf[pos]
                    pos += 1
                    if size >= 0x80:
                        size, pos = read_tail(buf, pos, end, size, Z32_MAX)
                    stop = pos + size
                    if stop > end:
                        raise overrun(size, end - pos)
                    shm = buf[pos:stop]
                    pos = stop
                elif kind == 0x27:
                    row = 14
                    small = buf[pos]
                    pos += 1
                    if small < 0x80:
                        patch = small
                    else:
                        patch, pos = read_tail(buf, pos, end, small, Z8_MAX)
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
        return Join(whatami, zid, lease, next_sn_re, next_sn_be, seconds, version, resolution, batch_size, qos, shm, patch, extensions), pos
    except FIELD_ERRORS as error:
        raise wire_error("JOIN", _JOIN_ROWS[row], at, error) from None


def decode_transport(buf: bytes, pos: i64) -> tuple[TransportMessage, i64]:
    """One transport message of any kind, and where the next begins."""
    if pos >= len(buf):
        raise WireError("transport", "header", pos, "there are no bytes")
    id = buf[pos] & 0x1F
    if id == 0x05:
        return decode_frame(buf, pos)
    if id == 0x06:
        return decode_fragment(buf, pos)
    if id == 0x00:
        return decode_transport_oam(buf, pos)
    if id == 0x01:
        return decode_init(buf, pos)
    if id == 0x02:
        return decode_open(buf, pos)
    if id == 0x03:
        return decode_close(buf, pos)
    if id == 0x04:
        return decode_keep_alive(buf, pos)
    if id == 0x07:
        return decode_join(buf, pos)
    raise WireError("transport", "header", pos, f"{id:#04x} is no transport message")
