"""A codec for PUSH with PUT, written by hand: the baseline for the generated codec.

Everything is inlined into one function, with the same checks, results and exact errors as the
generated code; extensions other than QoS are left out.
"""

from __future__ import annotations

from zenlake.errors import WireError
from zenlake.wire import Encoding, Push, Put, Timestamp, WireExpr, ZenohId
from zenlake.wire.primitives import to_utf8
from zenlake.wire.values.encoding import _PREDEFINED as ENCODINGS
from zenlake.wire.values.qos import QOS_BYTES
from zenlake.wire.writer import BytesWriter


def read_vle(buf: bytes, pos: int, first: int, limit: int) -> tuple[int, int]:
    value, shift = first & 0x7F, 7
    while True:
        byte = buf[pos]
        pos += 1
        if shift == 56:
            value |= byte << 56
            break
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    if value > limit:
        raise WireError("?", "?", pos, "too large")
    return value, pos


def decode(buf: bytes, pos: int) -> tuple[Push, int]:
    end = len(buf)
    field, at = "header", pos
    try:
        header = buf[pos]
        pos += 1
        if header & 0x1F != 0x1D:
            raise WireError("PUSH", field, at, "no PUSH")
        field, at = "key_scope", pos
        scope = buf[pos]
        pos += 1
        if scope >= 0x80:
            scope, pos = read_vle(buf, pos, scope, 0xFFFF)
        suffix = ""
        if header & 0x20:
            field, at = "key_suffix", pos
            size = buf[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_vle(buf, pos, size, 0xFFFF)
            stop = pos + size
            if stop > end:
                raise WireError("PUSH", field, at, "cut")
            suffix = buf[pos:stop].decode()
            pos = stop
        key = WireExpr(scope, suffix, header & 0x40 != 0)
        qos = None
        count = 0
        more = header >= 0x80
        while more:
            field, at = "extensions", pos
            ext = buf[pos]
            pos += 1
            if ext & 0x7F != 0x21:
                raise WireError("PUSH", field, at, "left out here")
            value = buf[pos]
            pos += 1
            if value >= 0x80:
                value, pos = read_vle(buf, pos, value, 0xFF)
            qos = QOS_BYTES[value & 0x3F]
            count += 1
            more = ext >= 0x80
            if more and count == 32:
                raise WireError("PUSH", field, at, "too many")
        field, at = "body", pos
        header = buf[pos]
        pos += 1
        if header & 0x1F != 0x01 or header >= 0x80:
            raise WireError("PUSH", field, at, "left out here")
        timestamp = None
        if header & 0x20:
            field, at = "timestamp", pos
            time = buf[pos]
            pos += 1
            if time >= 0x80:
                time, pos = read_vle(buf, pos, time, 0xFFFF_FFFF_FFFF_FFFF)
            size = buf[pos]
            pos += 1
            stop = pos + size
            if not 1 <= size <= 16 or stop > end:
                raise WireError("PUT", field, at, "bad id")
            raw = buf[pos:stop]
            if raw[-1] == 0:
                raw = raw.rstrip(b"\x00")
            pos = stop
            timestamp = Timestamp(time, ZenohId(raw))
        encoding = None
        if header & 0x40:
            field, at = "encoding", pos
            word = buf[pos]
            pos += 1
            if word >= 0x80:
                word, pos = read_vle(buf, pos, word, 0x1FFFF)
            if word & 1:
                size = buf[pos]
                pos += 1
                if size >= 0x80:
                    size, pos = read_vle(buf, pos, size, 0xFF)
                stop = pos + size
                if stop > end:
                    raise WireError("PUT", field, at, "cut")
                encoding = Encoding(word >> 1, buf[pos:stop])
                pos = stop
            elif word >> 1 < len(ENCODINGS):
                encoding = ENCODINGS[word >> 1]
            else:
                encoding = Encoding(word >> 1)
        field, at = "payload", pos
        size = buf[pos]
        pos += 1
        if size >= 0x80:
            size, pos = read_vle(buf, pos, size, 0xFFFF_FFFF)
        stop = pos + size
        if stop > end:
            raise WireError("PUT", field, at, "cut")
        put = Put(buf[pos:stop], timestamp, encoding, None, False, None, ())
        return Push(key, put, qos, None, None, None, ()), stop
    except (IndexError, UnicodeDecodeError):
        raise WireError("PUSH", field, at, "the bytes end or are no text") from None


def write_vle(out: BytesWriter, value: int) -> None:
    for _ in range(8):
        if value < 0x80:
            out.append(value)
            return
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def encode(push: Push) -> bytes:
    out = BytesWriter()
    key, put, qos = push.key, push.body, push.qos
    assert isinstance(put, Put)
    suffix, scope = key.suffix, key.scope
    header = 0x1D
    if suffix:
        header |= 0x20
    if key.sender:
        header |= 0x40
    if qos is not None:
        header |= 0x80
    if push.timestamp is not None or push.node_id is not None or push.stamps is not None:
        raise NotImplementedError
    if push.extensions:
        raise NotImplementedError
    out.append(header)
    if scope < 0x80:
        out.append(scope)
    else:
        write_vle(out, scope)
    if suffix:
        raw = to_utf8(suffix)
        size = len(raw)
        if size < 0x80:
            out.append(size)
        else:
            write_vle(out, size)
        out.write(raw)
    if qos is not None:
        out.append(0x21)
        out.append(qos.byte)
    timestamp, encoding, payload = put.timestamp, put.encoding, put.payload
    if put.source_info is not None or put.attachment is not None or put.shm or put.extensions:
        raise NotImplementedError
    header = 0x01
    if timestamp is not None:
        header |= 0x20
    if encoding is not None:
        header |= 0x40
    out.append(header)
    if timestamp is not None:
        write_vle(out, timestamp.time)
        raw = timestamp.id.raw
        out.append(len(raw))
        out.write(raw)
    if encoding is not None:
        schema = encoding.schema
        word = encoding.id << 1 | (schema is not None)
        if word < 0x80:
            out.append(word)
        else:
            write_vle(out, word)
        if schema is not None:
            out.append(len(schema))
            out.write(schema)
    size = len(payload)
    if size < 0x80:
        out.append(size)
    else:
        write_vle(out, size)
    out.write(payload)
    return out.getvalue()
