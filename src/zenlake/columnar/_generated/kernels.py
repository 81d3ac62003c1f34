"""Kernels of every message, and the walk over units.

GENERATED from zenlake/wire/definitions by `make generate`. Do not edit.
Hand-written parts: 2baa7b9aa6ec765c
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.columnar.causes import (
    END,
    EXTENSION_SIZE,
    LATE_MARKER,
    NO_BYTES,
    NO_SUCH_MESSAGE,
    RESERVED,
    TOO_MANY_EXTENSIONS,
    WRONG_BODY,
    ZERO,
)
from zenlake.columnar.forms import (
    BATCH,
    FULL,
    NETWORK,
    SCOUTING,
)
from zenlake.columnar.jit import (
    entry,
    kernel,
)
from zenlake.columnar.leaves import (
    check_text,
    read_count,
    read_encoding,
    read_length,
    read_small,
    read_timestamp,
    read_u16,
    read_u8,
    read_z64,
    read_zid,
    skip_chain,
    skip_extension,
    skip_slices,
    skip_unknown,
)
from zenlake.columnar.locators import (
    skip_locator,
)
from zenlake.columnar.memory import (
    get_long,
    get_small,
    get_word,
    load,
    put_long,
    put_small,
    put_word,
)
from zenlake.columnar.values import (
    bound_of_number,
    consolidation_of_number,
    matcher_of_mask,
    mode_of_number,
    priority_of_byte,
    qos_of_byte,
    queryable_info_of_number,
    resolution_of_byte,
    role_of_code,
    target_of_number,
)
from zenlake.limits import (
    EXTENSIONS_PER_MESSAGE_MAX,
)

if TYPE_CHECKING:
    from zenlake.columnar.memory import Buffer, Numbers, Table

KIND: Final = 0
UNKNOWN_EXTENSIONS: Final = 1
SHM: Final = 2
KEY_SENDER: Final = 3
QOS: Final = 4
RELIABLE: Final = 5
PRIORITY: Final = 6
CONSOLIDATION: Final = 7
INFO_COMPLETE: Final = 8
MODE: Final = 9
KEYEXPRS: Final = 10
SUBSCRIBERS: Final = 11
QUERYABLES: Final = 12
TOKENS: Final = 13
AGGREGATE: Final = 14
TARGET: Final = 15
VERSION: Final = 16
WHAT: Final = 17
WHATAMI: Final = 18
RESOLUTION: Final = 19
HAS_QOS: Final = 20
LOWLATENCY: Final = 21
COMPRESSION: Final = 22
PATCH: Final = 23
SECONDS: Final = 24
MULTILINK_ACK: Final = 25
REMOTE_BOUND: Final = 26
CLOSE_SESSION: Final = 27
CLOSE_REASON: Final = 28
FRAGMENT_MORE: Final = 29
FRAGMENT_FIRST: Final = 30
FRAGMENT_DROP: Final = 31
UNIT: Final = 32
OFFSET: Final = 36
LENGTH: Final = 40
TIMESTAMP_ID_OFFSET: Final = 44
TIMESTAMP_ID_LENGTH: Final = 48
ENCODING_ID: Final = 52
ENCODING_SCHEMA_OFFSET: Final = 56
ENCODING_SCHEMA_LENGTH: Final = 60
ATTACHMENT_OFFSET: Final = 64
ATTACHMENT_LENGTH: Final = 68
PAYLOAD_OFFSET: Final = 72
PAYLOAD_LENGTH: Final = 76
KEY_SCOPE: Final = 80
KEY_SUFFIX_OFFSET: Final = 84
KEY_SUFFIX_LENGTH: Final = 88
NETWORK_TIMESTAMP_ID_OFFSET: Final = 92
NETWORK_TIMESTAMP_ID_LENGTH: Final = 96
NODE_ID: Final = 100
STAMPS_OFFSET: Final = 104
STAMPS_LENGTH: Final = 108
SN: Final = 112
SOURCE_ZID_OFFSET: Final = 116
SOURCE_ZID_LENGTH: Final = 120
SOURCE_EID: Final = 124
SOURCE_SN: Final = 128
RESPONDER_ZID_OFFSET: Final = 132
RESPONDER_ZID_LENGTH: Final = 136
RESPONDER_EID: Final = 140
PARAMETERS_OFFSET: Final = 144
PARAMETERS_LENGTH: Final = 148
BODY_SHM: Final = 152
ENTITY_ID: Final = 156
INFO_DISTANCE: Final = 160
INTEREST_ID: Final = 164
REQUEST_ID: Final = 168
BUDGET: Final = 172
OAM_ID: Final = 176
OAM_BODY_OFFSET: Final = 180
OAM_BODY_LENGTH: Final = 184
ZID_OFFSET: Final = 188
ZID_LENGTH: Final = 192
LOCATORS_OFFSET: Final = 196
LOCATORS_LENGTH: Final = 200
BATCH_SIZE: Final = 204
COOKIE_OFFSET: Final = 208
COOKIE_LENGTH: Final = 212
SHM_OFFER_OFFSET: Final = 216
SHM_OFFER_LENGTH: Final = 220
AUTH_OFFSET: Final = 224
AUTH_LENGTH: Final = 228
MULTILINK_OFFSET: Final = 232
MULTILINK_LENGTH: Final = 236
REGION_OFFSET: Final = 240
REGION_LENGTH: Final = 244
INITIAL_SN: Final = 248
NEXT_SN_RE: Final = 252
NEXT_SN_BE: Final = 256
LANES_OFFSET: Final = 260
LANES_LENGTH: Final = 264
PRESENT: Final = 268
TIMESTAMP_TIME: Final = 276
NETWORK_TIMESTAMP_TIME: Final = 284
TIMEOUT_MS: Final = 292
OAM_NUMBER: Final = 300
QOS_LINK: Final = 308
LEASE: Final = 316
SHM_ANSWER: Final = 324

_HAS_TIMESTAMP: Final = 0x1
_HAS_ENCODING: Final = 0x2
_HAS_SHM: Final = 0x4
_HAS_KEY: Final = 0x8
_HAS_QOS: Final = 0x10
_HAS_NETWORK_TIMESTAMP: Final = 0x20
_HAS_NODE_ID: Final = 0x40
_HAS_RELIABLE: Final = 0x80
_HAS_SN: Final = 0x100
_HAS_PRIORITY: Final = 0x200
_HAS_SOURCE_EID: Final = 0x400
_HAS_SOURCE_SN: Final = 0x800
_HAS_RESPONDER_EID: Final = 0x1000
_HAS_CONSOLIDATION: Final = 0x2000
_HAS_BODY_SHM: Final = 0x4000
_HAS_ENTITY_ID: Final = 0x8000
_HAS_INFO: Final = 0x10000
_HAS_MODE: Final = 0x20000
_HAS_INTEREST_ID: Final = 0x40000
_HAS_KEYEXPRS: Final = 0x80000
_HAS_SUBSCRIBERS: Final = 0x100000
_HAS_QUERYABLES: Final = 0x200000
_HAS_TOKENS: Final = 0x400000
_HAS_AGGREGATE: Final = 0x800000
_HAS_REQUEST_ID: Final = 0x1000000
_HAS_TARGET: Final = 0x2000000
_HAS_BUDGET: Final = 0x4000000
_HAS_TIMEOUT_MS: Final = 0x8000000
_HAS_OAM_ID: Final = 0x10000000
_HAS_OAM_NUMBER: Final = 0x20000000
_HAS_VERSION: Final = 0x40000000
_HAS_WHAT: Final = 0x80000000
_HAS_WHATAMI: Final = 0x100000000
_HAS_RESOLUTION: Final = 0x200000000
_HAS_BATCH_SIZE: Final = 0x400000000
_HAS_HAS_QOS: Final = 0x800000000
_HAS_QOS_LINK: Final = 0x1000000000
_HAS_LOWLATENCY: Final = 0x2000000000
_HAS_COMPRESSION: Final = 0x4000000000
_HAS_PATCH: Final = 0x8000000000
_HAS_SECONDS: Final = 0x10000000000
_HAS_LEASE: Final = 0x20000000000
_HAS_INITIAL_SN: Final = 0x40000000000
_HAS_SHM_ANSWER: Final = 0x80000000000
_HAS_MULTILINK_ACK: Final = 0x100000000000
_HAS_REMOTE_BOUND: Final = 0x200000000000
_HAS_CLOSE_SESSION: Final = 0x400000000000
_HAS_CLOSE_REASON: Final = 0x800000000000
_HAS_FRAGMENT_MORE: Final = 0x1000000000000
_HAS_FRAGMENT_FIRST: Final = 0x2000000000000
_HAS_FRAGMENT_DROP: Final = 0x4000000000000
_HAS_NEXT_SN_RE: Final = 0x8000000000000
_HAS_NEXT_SN_BE: Final = 0x10000000000000

_WORDS_BEGIN: Final = 32
_LONGS_BEGIN: Final = 268
ROW_BYTES: Final = 332
_INHERITED: Final = 0x380
_CLOSE_ID: Final = 0x03
_KEEP_ALIVE_ID: Final = 0x04
_FRAME_ID: Final = 0x05

PLACES: Final = (
    ("scouting", "header"),
    ("transport", "header"),
    ("network", "header"),
    ("low-latency unit", "header"),
    ("SourceInfo", "header"),
    ("SourceInfo", "packed"),
    ("SourceInfo", "zid"),
    ("SourceInfo", "eid"),
    ("SourceInfo", "sn"),
    ("ResponderId", "header"),
    ("ResponderId", "packed"),
    ("ResponderId", "zid"),
    ("ResponderId", "eid"),
    ("UndeclaredKey", "header"),
    ("UndeclaredKey", "packed"),
    ("UndeclaredKey", "key_scope"),
    ("UndeclaredKey", "key_suffix"),
    ("QueryBody", "header"),
    ("QueryBody", "encoding"),
    ("QueryBody", "payload"),
    ("StampRecord", "header"),
    ("StampRecord", "flags"),
    ("StampRecord", "time"),
    ("TimestampStack", "header"),
    ("TimestampStack", "points"),
    ("TimestampStack", "records"),
    ("LaneSn", "header"),
    ("LaneSn", "reliable"),
    ("LaneSn", "best_effort"),
    ("JoinQoS", "header"),
    ("JoinQoS", "lanes"),
    ("PUT", "header"),
    ("PUT", "timestamp"),
    ("PUT", "encoding"),
    ("PUT", "extensions"),
    ("PUT", "source_info"),
    ("PUT", "shm"),
    ("PUT", "attachment"),
    ("PUT", "payload"),
    ("DEL", "header"),
    ("DEL", "timestamp"),
    ("DEL", "extensions"),
    ("DEL", "source_info"),
    ("DEL", "attachment"),
    ("QUERY", "header"),
    ("QUERY", "consolidation"),
    ("QUERY", "parameters"),
    ("QUERY", "extensions"),
    ("QUERY", "source_info"),
    ("QUERY", "body_shm"),
    ("QUERY", "body"),
    ("QUERY", "attachment"),
    ("REPLY", "header"),
    ("REPLY", "consolidation"),
    ("REPLY", "extensions"),
    ("REPLY", "body"),
    ("ERR", "header"),
    ("ERR", "encoding"),
    ("ERR", "extensions"),
    ("ERR", "source_info"),
    ("ERR", "shm"),
    ("ERR", "payload"),
    ("D_KEYEXPR", "header"),
    ("D_KEYEXPR", "expr_id"),
    ("D_KEYEXPR", "key_scope"),
    ("D_KEYEXPR", "key_suffix"),
    ("D_KEYEXPR", "extensions"),
    ("U_KEYEXPR", "header"),
    ("U_KEYEXPR", "expr_id"),
    ("U_KEYEXPR", "extensions"),
    ("D_SUBSCRIBER", "header"),
    ("D_SUBSCRIBER", "id"),
    ("D_SUBSCRIBER", "key_scope"),
    ("D_SUBSCRIBER", "key_suffix"),
    ("D_SUBSCRIBER", "extensions"),
    ("U_SUBSCRIBER", "header"),
    ("U_SUBSCRIBER", "id"),
    ("U_SUBSCRIBER", "extensions"),
    ("U_SUBSCRIBER", "key"),
    ("D_QUERYABLE", "header"),
    ("D_QUERYABLE", "id"),
    ("D_QUERYABLE", "key_scope"),
    ("D_QUERYABLE", "key_suffix"),
    ("D_QUERYABLE", "extensions"),
    ("D_QUERYABLE", "info"),
    ("U_QUERYABLE", "header"),
    ("U_QUERYABLE", "id"),
    ("U_QUERYABLE", "extensions"),
    ("U_QUERYABLE", "key"),
    ("D_TOKEN", "header"),
    ("D_TOKEN", "id"),
    ("D_TOKEN", "key_scope"),
    ("D_TOKEN", "key_suffix"),
    ("D_TOKEN", "extensions"),
    ("U_TOKEN", "header"),
    ("U_TOKEN", "id"),
    ("U_TOKEN", "extensions"),
    ("U_TOKEN", "key"),
    ("D_FINAL", "header"),
    ("D_FINAL", "extensions"),
    ("INTEREST", "header"),
    ("INTEREST", "mode"),
    ("INTEREST", "id"),
    ("INTEREST", "options"),
    ("INTEREST", "keyexprs"),
    ("INTEREST", "subscribers"),
    ("INTEREST", "queryables"),
    ("INTEREST", "tokens"),
    ("INTEREST", "aggregate"),
    ("INTEREST", "key_scope"),
    ("INTEREST", "key_suffix"),
    ("INTEREST", "extensions"),
    ("INTEREST", "qos"),
    ("INTEREST", "timestamp"),
    ("INTEREST", "node_id"),
    ("RESPONSE_FINAL", "header"),
    ("RESPONSE_FINAL", "request_id"),
    ("RESPONSE_FINAL", "extensions"),
    ("RESPONSE_FINAL", "qos"),
    ("RESPONSE_FINAL", "timestamp"),
    ("RESPONSE", "header"),
    ("RESPONSE", "request_id"),
    ("RESPONSE", "key_scope"),
    ("RESPONSE", "key_suffix"),
    ("RESPONSE", "extensions"),
    ("RESPONSE", "qos"),
    ("RESPONSE", "timestamp"),
    ("RESPONSE", "responder"),
    ("RESPONSE", "stamps"),
    ("RESPONSE", "body"),
    ("REQUEST", "header"),
    ("REQUEST", "request_id"),
    ("REQUEST", "key_scope"),
    ("REQUEST", "key_suffix"),
    ("REQUEST", "extensions"),
    ("REQUEST", "qos"),
    ("REQUEST", "timestamp"),
    ("REQUEST", "target"),
    ("REQUEST", "budget"),
    ("REQUEST", "timeout_ms"),
    ("REQUEST", "node_id"),
    ("REQUEST", "stamps"),
    ("REQUEST", "body"),
    ("PUSH", "header"),
    ("PUSH", "key_scope"),
    ("PUSH", "key_suffix"),
    ("PUSH", "extensions"),
    ("PUSH", "qos"),
    ("PUSH", "timestamp"),
    ("PUSH", "node_id"),
    ("PUSH", "stamps"),
    ("PUSH", "body"),
    ("DECLARE", "header"),
    ("DECLARE", "interest_id"),
    ("DECLARE", "extensions"),
    ("DECLARE", "qos"),
    ("DECLARE", "timestamp"),
    ("DECLARE", "node_id"),
    ("DECLARE", "body"),
    ("OAM", "header"),
    ("OAM", "id"),
    ("OAM", "extensions"),
    ("OAM", "qos"),
    ("OAM", "timestamp"),
    ("OAM", "body"),
    ("SCOUT", "header"),
    ("SCOUT", "version"),
    ("SCOUT", "packed"),
    ("SCOUT", "what"),
    ("SCOUT", "zid"),
    ("SCOUT", "extensions"),
    ("HELLO", "header"),
    ("HELLO", "version"),
    ("HELLO", "packed"),
    ("HELLO", "whatami"),
    ("HELLO", "zid"),
    ("HELLO", "locators"),
    ("HELLO", "extensions"),
    ("TRANSPORT_OAM", "header"),
    ("TRANSPORT_OAM", "id"),
    ("TRANSPORT_OAM", "extensions"),
    ("TRANSPORT_OAM", "qos"),
    ("TRANSPORT_OAM", "body"),
    ("INIT", "header"),
    ("INIT", "version"),
    ("INIT", "packed"),
    ("INIT", "whatami"),
    ("INIT", "zid"),
    ("INIT", "resolution"),
    ("INIT", "batch_size"),
    ("INIT", "cookie"),
    ("INIT", "extensions"),
    ("INIT", "qos"),
    ("INIT", "qos_link"),
    ("INIT", "shm"),
    ("INIT", "auth"),
    ("INIT", "multilink"),
    ("INIT", "lowlatency"),
    ("INIT", "compression"),
    ("INIT", "patch"),
    ("INIT", "region"),
    ("OPEN", "header"),
    ("OPEN", "seconds"),
    ("OPEN", "lease"),
    ("OPEN", "initial_sn"),
    ("OPEN", "cookie"),
    ("OPEN", "extensions"),
    ("OPEN", "qos"),
    ("OPEN", "shm"),
    ("OPEN", "shm_bytes"),
    ("OPEN", "auth"),
    ("OPEN", "multilink_ack"),
    ("OPEN", "multilink"),
    ("OPEN", "lowlatency"),
    ("OPEN", "compression"),
    ("OPEN", "remote_bound"),
    ("CLOSE", "header"),
    ("CLOSE", "session"),
    ("CLOSE", "reason"),
    ("CLOSE", "extensions"),
    ("KEEP_ALIVE", "header"),
    ("KEEP_ALIVE", "extensions"),
    ("FRAME", "header"),
    ("FRAME", "reliable"),
    ("FRAME", "sn"),
    ("FRAME", "extensions"),
    ("FRAME", "qos"),
    ("FRAME", "messages"),
    ("FRAGMENT", "header"),
    ("FRAGMENT", "reliable"),
    ("FRAGMENT", "more"),
    ("FRAGMENT", "sn"),
    ("FRAGMENT", "extensions"),
    ("FRAGMENT", "qos"),
    ("FRAGMENT", "first"),
    ("FRAGMENT", "drop"),
    ("FRAGMENT", "payload"),
    ("JOIN", "header"),
    ("JOIN", "seconds"),
    ("JOIN", "version"),
    ("JOIN", "packed"),
    ("JOIN", "whatami"),
    ("JOIN", "zid"),
    ("JOIN", "resolution"),
    ("JOIN", "batch_size"),
    ("JOIN", "lease"),
    ("JOIN", "next_sn_re"),
    ("JOIN", "next_sn_be"),
    ("JOIN", "extensions"),
    ("JOIN", "qos"),
    ("JOIN", "shm"),
    ("JOIN", "patch"),
)


@kernel
def count_unknown(out: Table, room: int, n: int) -> None:
    """Count an extension that its message does not define."""
    put_small(
        out, room, UNKNOWN_EXTENSIONS, n, get_small(out, room, UNKNOWN_EXTENSIONS, n) + 1
    )


@kernel
def _source_info(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    at = pos
    packed, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 320)  # SourceInfo.packed
    at = pos
    size, stop = read_zid(buf, pos, end, (packed >> 4) + 1)
    if stop < 0:
        return stop - (at << 20 | 384)  # SourceInfo.zid
    put_word(out, room, SOURCE_ZID_OFFSET, n, pos)
    put_word(out, room, SOURCE_ZID_LENGTH, n, size)
    pos = stop
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 448)  # SourceInfo.eid
    put_word(out, room, SOURCE_EID, n, value)
    has |= _HAS_SOURCE_EID
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 512)  # SourceInfo.sn
    put_word(out, room, SOURCE_SN, n, value)
    has |= _HAS_SOURCE_SN
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _responder_id(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    at = pos
    packed, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 640)  # ResponderId.packed
    at = pos
    size, stop = read_zid(buf, pos, end, (packed >> 4) + 1)
    if stop < 0:
        return stop - (at << 20 | 704)  # ResponderId.zid
    put_word(out, room, RESPONDER_ZID_OFFSET, n, pos)
    put_word(out, room, RESPONDER_ZID_LENGTH, n, size)
    pos = stop
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 768)  # ResponderId.eid
    put_word(out, room, RESPONDER_EID, n, value)
    has |= _HAS_RESPONDER_EID
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _undeclared_key(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    at = pos
    packed, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 896)  # UndeclaredKey.packed
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 960)  # UndeclaredKey.key_scope
    suffix = 0
    suffix_size = 0
    if packed & 0x01:
        at = pos
        suffix_size = end - pos
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 1024)  # UndeclaredKey.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 1 if packed & 0x02 else 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _query_body(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    at = pos
    value, start, size, pos = read_encoding(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 1152)  # QueryBody.encoding
    put_word(out, room, ENCODING_ID, n, value)
    put_word(out, room, ENCODING_SCHEMA_OFFSET, n, start)
    put_word(out, room, ENCODING_SCHEMA_LENGTH, n, size)
    has |= _HAS_ENCODING
    at = pos
    put_word(out, room, PAYLOAD_OFFSET, n, pos)
    put_word(out, room, PAYLOAD_LENGTH, n, end - pos)
    pos = end
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _stamp_record(buf: Buffer, pos: int, end: int) -> int:
    at = pos
    at = pos
    value, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 1344)  # StampRecord.flags
    at = pos
    size, pos = read_length(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 1408)  # StampRecord.time
    pos += size
    return pos


@kernel
def _timestamp_stack(buf: Buffer, pos: int, end: int) -> int:
    at = pos
    at = pos
    value, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 1536)  # TimestampStack.points
    if value == 0:
        return ZERO - (at << 20 | 1536)  # TimestampStack.points
    at = pos
    count, pos = read_count(buf, pos, end, 255)
    if pos < 0:
        return pos - (at << 20 | 1600)  # TimestampStack.records
    while count > 0:
        count -= 1
        pos = _stamp_record(buf, pos, end)
        if pos < 0:
            return pos
    return pos


@kernel
def _lane_sn(buf: Buffer, pos: int, end: int) -> int:
    at = pos
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 1728)  # LaneSn.reliable
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 1792)  # LaneSn.best_effort
    return pos


@kernel
def _join_qos(buf: Buffer, pos: int, end: int) -> int:
    at = pos
    at = pos
    count = 8
    while count > 0:
        count -= 1
        pos = _lane_sn(buf, pos, end)
        if pos < 0:
            return pos
    return pos


@kernel
def _put(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header & 0x20:
        at = pos
        value, start, size, pos = read_timestamp(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 2048)  # PUT.timestamp
        put_long(out, room, TIMESTAMP_TIME, n, value)
        put_word(out, room, TIMESTAMP_ID_OFFSET, n, start)
        put_word(out, room, TIMESTAMP_ID_LENGTH, n, size)
        has |= _HAS_TIMESTAMP
    if header & 0x40:
        at = pos
        value, start, size, pos = read_encoding(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 2112)  # PUT.encoding
        put_word(out, room, ENCODING_ID, n, value)
        put_word(out, room, ENCODING_SCHEMA_OFFSET, n, start)
        put_word(out, room, ENCODING_SCHEMA_LENGTH, n, size)
        has |= _HAS_ENCODING
    shm = False
    has |= _HAS_SHM
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 2176)  # PUT.extensions
            if ext & 0x7f == 0x41:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 2240)  # PUT.source_info
                stop = pos + size
                inner = _source_info(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            elif ext & 0x7f == 0x12:
                put_small(out, room, SHM, n, 1)
                has |= _HAS_SHM
                shm = True
            elif ext & 0x7f == 0x43:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 2368)  # PUT.attachment
                stop = pos + size
                put_word(out, room, ATTACHMENT_OFFSET, n, pos)
                put_word(out, room, ATTACHMENT_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 2176)  # PUT.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 2176)  # PUT.extensions
    at = pos
    if shm:
        start = pos
        pos = skip_slices(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 2432)  # PUT.payload
        put_word(out, room, PAYLOAD_OFFSET, n, start)
        put_word(out, room, PAYLOAD_LENGTH, n, pos - start)
    else:
        size, pos = read_length(buf, pos, end, 0xffffffff)
        if pos < 0:
            return pos - (at << 20 | 2432)  # PUT.payload
        put_word(out, room, PAYLOAD_OFFSET, n, pos)
        put_word(out, room, PAYLOAD_LENGTH, n, size)
        pos += size
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _del(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header & 0x20:
        at = pos
        value, start, size, pos = read_timestamp(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 2560)  # DEL.timestamp
        put_long(out, room, TIMESTAMP_TIME, n, value)
        put_word(out, room, TIMESTAMP_ID_OFFSET, n, start)
        put_word(out, room, TIMESTAMP_ID_LENGTH, n, size)
        has |= _HAS_TIMESTAMP
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 2624)  # DEL.extensions
            if ext & 0x7f == 0x41:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 2688)  # DEL.source_info
                stop = pos + size
                inner = _source_info(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 2752)  # DEL.attachment
                stop = pos + size
                put_word(out, room, ATTACHMENT_OFFSET, n, pos)
                put_word(out, room, ATTACHMENT_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 2624)  # DEL.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 2624)  # DEL.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _query(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header & 0x20:
        at = pos
        value, pos = read_z64(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 2880)  # QUERY.consolidation
        value = consolidation_of_number(value)
        if value < 0:
            return value - (at << 20 | 2880)  # QUERY.consolidation
        put_small(out, room, CONSOLIDATION, n, value)
        has |= _HAS_CONSOLIDATION
    if header & 0x40:
        at = pos
        size, pos = read_length(buf, pos, end, 0xffffffff)
        if pos < 0:
            return pos - (at << 20 | 2944)  # QUERY.parameters
        inner = check_text(buf, pos, pos + size)
        if inner < 0:
            return inner - (at << 20 | 2944)  # QUERY.parameters
        put_word(out, room, PARAMETERS_OFFSET, n, pos)
        put_word(out, room, PARAMETERS_LENGTH, n, size)
        pos += size
    body_shm = False
    body = False
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 3008)  # QUERY.extensions
            if ext & 0x7f == 0x41:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 3072)  # QUERY.source_info
                stop = pos + size
                inner = _source_info(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            elif ext & 0x7f == 0x04:
                if body:
                    return LATE_MARKER - (at << 20 | 3008)  # QUERY.extensions
                put_word(out, room, BODY_SHM, n, 0)
                has |= _HAS_BODY_SHM
                body_shm = True
            elif ext & 0x7f == 0x43:
                if body_shm:
                    value, pos = read_small(buf, pos, end, 0xffffffff)
                    if pos < 0:
                        return pos - (at << 20 | 3200)  # QUERY.body
                    put_word(out, room, BODY_SHM, n, value)
                    has |= _HAS_BODY_SHM
                    value, start, size, pos = read_encoding(buf, pos, end)
                    if pos < 0:
                        return pos - (at << 20 | 3200)  # QUERY.body
                    put_word(out, room, ENCODING_ID, n, value)
                    put_word(out, room, ENCODING_SCHEMA_OFFSET, n, start)
                    put_word(out, room, ENCODING_SCHEMA_LENGTH, n, size)
                    has |= _HAS_ENCODING
                    start = pos
                    pos = skip_slices(buf, pos, end)
                    if pos < 0:
                        return pos - (at << 20 | 3200)  # QUERY.body
                    put_word(out, room, PAYLOAD_OFFSET, n, start)
                    put_word(out, room, PAYLOAD_LENGTH, n, pos - start)
                else:
                    size, pos = read_length(buf, pos, end, 0xffffffff)
                    if pos < 0:
                        return pos - (at << 20 | 3200)  # QUERY.body
                    stop = pos + size
                    inner = _query_body(buf, pos, stop, out, room, n)
                    if inner < 0:
                        return inner
                    pos = stop
                body = True
            elif ext & 0x7f == 0x45:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 3264)  # QUERY.attachment
                stop = pos + size
                put_word(out, room, ATTACHMENT_OFFSET, n, pos)
                put_word(out, room, ATTACHMENT_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 3008)  # QUERY.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 3008)  # QUERY.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _reply(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header & 0x20:
        at = pos
        value, pos = read_z64(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 3392)  # REPLY.consolidation
        value = consolidation_of_number(value)
        if value < 0:
            return value - (at << 20 | 3392)  # REPLY.consolidation
        put_small(out, room, CONSOLIDATION, n, value)
        has |= _HAS_CONSOLIDATION
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 3456)  # REPLY.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 3456)  # REPLY.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 3456)  # REPLY.extensions
    at = pos
    if pos >= end:
        return END - (at << 20 | 3520)  # REPLY.body
    body = load(buf, pos) & 0x1f
    if body == 0x01:
        pos = _put(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 15)  # RESPONSE/REPLY/PUT
    elif body == 0x02:
        pos = _del(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 16)  # RESPONSE/REPLY/DEL
    else:
        return WRONG_BODY - (at << 20 | 3520)  # REPLY.body
    if pos < 0:
        return pos
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _err(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header & 0x40:
        at = pos
        value, start, size, pos = read_encoding(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 3648)  # ERR.encoding
        put_word(out, room, ENCODING_ID, n, value)
        put_word(out, room, ENCODING_SCHEMA_OFFSET, n, start)
        put_word(out, room, ENCODING_SCHEMA_LENGTH, n, size)
        has |= _HAS_ENCODING
    has |= _HAS_SHM
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 3712)  # ERR.extensions
            if ext & 0x7f == 0x41:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 3776)  # ERR.source_info
                stop = pos + size
                inner = _source_info(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            elif ext & 0x7f == 0x12:
                put_small(out, room, SHM, n, 1)
                has |= _HAS_SHM
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 3712)  # ERR.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 3712)  # ERR.extensions
    at = pos
    size, pos = read_length(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 3904)  # ERR.payload
    put_word(out, room, PAYLOAD_OFFSET, n, pos)
    put_word(out, room, PAYLOAD_LENGTH, n, size)
    pos += size
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _declare_key_expr(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 4032)  # D_KEYEXPR.expr_id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 4096)  # D_KEYEXPR.key_scope
    suffix = 0
    suffix_size = 0
    if header & 0x20:
        at = pos
        suffix_size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 4160)  # D_KEYEXPR.key_suffix
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 4160)  # D_KEYEXPR.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 4224)  # D_KEYEXPR.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 4224)  # D_KEYEXPR.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 4224)  # D_KEYEXPR.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _undeclare_key_expr(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 4352)  # U_KEYEXPR.expr_id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 4416)  # U_KEYEXPR.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 4416)  # U_KEYEXPR.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 4416)  # U_KEYEXPR.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _declare_subscriber(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 4544)  # D_SUBSCRIBER.id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 4608)  # D_SUBSCRIBER.key_scope
    suffix = 0
    suffix_size = 0
    if header & 0x20:
        at = pos
        suffix_size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 4672)  # D_SUBSCRIBER.key_suffix
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 4672)  # D_SUBSCRIBER.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 1 if header & 0x40 else 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 4736)  # D_SUBSCRIBER.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 4736)  # D_SUBSCRIBER.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 4736)  # D_SUBSCRIBER.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _undeclare_subscriber(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 4864)  # U_SUBSCRIBER.id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 4928)  # U_SUBSCRIBER.extensions
            if ext & 0x7f == 0x5f:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 4992)  # U_SUBSCRIBER.key
                stop = pos + size
                inner = _undeclared_key(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 4928)  # U_SUBSCRIBER.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 4928)  # U_SUBSCRIBER.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _declare_queryable(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 5120)  # D_QUERYABLE.id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 5184)  # D_QUERYABLE.key_scope
    suffix = 0
    suffix_size = 0
    if header & 0x20:
        at = pos
        suffix_size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 5248)  # D_QUERYABLE.key_suffix
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 5248)  # D_QUERYABLE.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 1 if header & 0x40 else 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 5312)  # D_QUERYABLE.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_z64(buf, pos, end)
                if pos < 0:
                    return pos - (at << 20 | 5376)  # D_QUERYABLE.info
                value = queryable_info_of_number(value)
                if value < 0:
                    return value - (at << 20 | 5376)  # D_QUERYABLE.info
                put_small(out, room, INFO_COMPLETE, n, value & 1)
                put_word(out, room, INFO_DISTANCE, n, value >> 8)
                has |= _HAS_INFO
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 5312)  # D_QUERYABLE.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 5312)  # D_QUERYABLE.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _undeclare_queryable(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 5504)  # U_QUERYABLE.id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 5568)  # U_QUERYABLE.extensions
            if ext & 0x7f == 0x5f:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 5632)  # U_QUERYABLE.key
                stop = pos + size
                inner = _undeclared_key(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 5568)  # U_QUERYABLE.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 5568)  # U_QUERYABLE.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _declare_token(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 5760)  # D_TOKEN.id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 5824)  # D_TOKEN.key_scope
    suffix = 0
    suffix_size = 0
    if header & 0x20:
        at = pos
        suffix_size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 5888)  # D_TOKEN.key_suffix
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 5888)  # D_TOKEN.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 1 if header & 0x40 else 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 5952)  # D_TOKEN.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 5952)  # D_TOKEN.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 5952)  # D_TOKEN.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _undeclare_token(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 6080)  # U_TOKEN.id
    put_word(out, room, ENTITY_ID, n, value)
    has |= _HAS_ENTITY_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 6144)  # U_TOKEN.extensions
            if ext & 0x7f == 0x5f:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 6208)  # U_TOKEN.key
                stop = pos + size
                inner = _undeclared_key(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 6144)  # U_TOKEN.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 6144)  # U_TOKEN.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _declare_final(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 6336)  # D_FINAL.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 6336)  # D_FINAL.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 6336)  # D_FINAL.extensions
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _interest(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    value = mode_of_number(header >> 5 & 0x3)
    if value < 0:
        return value - (at << 20 | 6464)  # INTEREST.mode
    put_small(out, room, MODE, n, value)
    has |= _HAS_MODE
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 6528)  # INTEREST.id
    put_word(out, room, INTEREST_ID, n, value)
    has |= _HAS_INTEREST_ID
    options = 0
    if header & 0x60:
        at = pos
        options, pos = read_u8(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 6592)  # INTEREST.options
    put_small(out, room, KEYEXPRS, n, 1 if options & 0x01 else 0)
    has |= _HAS_KEYEXPRS
    put_small(out, room, SUBSCRIBERS, n, 1 if options & 0x02 else 0)
    has |= _HAS_SUBSCRIBERS
    put_small(out, room, QUERYABLES, n, 1 if options & 0x04 else 0)
    has |= _HAS_QUERYABLES
    put_small(out, room, TOKENS, n, 1 if options & 0x08 else 0)
    has |= _HAS_TOKENS
    put_small(out, room, AGGREGATE, n, 1 if options & 0x80 else 0)
    has |= _HAS_AGGREGATE
    if options & 0x10:
        at = pos
        scope, pos = read_small(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 6976)  # INTEREST.key_scope
        suffix = 0
        suffix_size = 0
        if options & 0x20:
            at = pos
            suffix_size, pos = read_length(buf, pos, end, 0xffff)
            if pos < 0:
                return pos - (at << 20 | 7040)  # INTEREST.key_suffix
            suffix = pos
            pos = check_text(buf, pos, pos + suffix_size)
            if pos < 0:
                return pos - (at << 20 | 7040)  # INTEREST.key_suffix
        put_word(out, room, KEY_SCOPE, n, scope)
        put_small(out, room, KEY_SENDER, n, 1 if options & 0x40 else 0)
        put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
        put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
        has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 7104)  # INTEREST.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 7168)  # INTEREST.qos
                value = qos_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 7168)  # INTEREST.qos
                put_small(out, room, QOS, n, value)
                has |= _HAS_QOS
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 7232)  # INTEREST.timestamp
                stop = pos + size
                value, start, size, pos = read_timestamp(buf, pos, stop)
                if pos < 0:
                    return pos - (at << 20 | 7232)  # INTEREST.timestamp
                put_long(out, room, NETWORK_TIMESTAMP_TIME, n, value)
                put_word(out, room, NETWORK_TIMESTAMP_ID_OFFSET, n, start)
                put_word(out, room, NETWORK_TIMESTAMP_ID_LENGTH, n, size)
                has |= _HAS_NETWORK_TIMESTAMP
                pos = stop
            elif ext & 0x7f == 0x33:
                value, pos = read_small(buf, pos, end, 0xffff)
                if pos < 0:
                    return pos - (at << 20 | 7296)  # INTEREST.node_id
                put_word(out, room, NODE_ID, n, value)
                has |= _HAS_NODE_ID
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 7104)  # INTEREST.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 7104)  # INTEREST.extensions
    put_small(out, room, KIND, n, 13)  # INTEREST
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _response_final(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 7424)  # RESPONSE_FINAL.request_id
    put_word(out, room, REQUEST_ID, n, value)
    has |= _HAS_REQUEST_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 7488)  # RESPONSE_FINAL.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 7552)  # RESPONSE_FINAL.qos
                value = qos_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 7552)  # RESPONSE_FINAL.qos
                put_small(out, room, QOS, n, value)
                has |= _HAS_QOS
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 7616)  # RESPONSE_FINAL.timestamp
                stop = pos + size
                value, start, size, pos = read_timestamp(buf, pos, stop)
                if pos < 0:
                    return pos - (at << 20 | 7616)  # RESPONSE_FINAL.timestamp
                put_long(out, room, NETWORK_TIMESTAMP_TIME, n, value)
                put_word(out, room, NETWORK_TIMESTAMP_ID_OFFSET, n, start)
                put_word(out, room, NETWORK_TIMESTAMP_ID_LENGTH, n, size)
                has |= _HAS_NETWORK_TIMESTAMP
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 7488)  # RESPONSE_FINAL.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 7488)  # RESPONSE_FINAL.extensions
    put_small(out, room, KIND, n, 14)  # RESPONSE_FINAL
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _response(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 7744)  # RESPONSE.request_id
    put_word(out, room, REQUEST_ID, n, value)
    has |= _HAS_REQUEST_ID
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 7808)  # RESPONSE.key_scope
    suffix = 0
    suffix_size = 0
    if header & 0x20:
        at = pos
        suffix_size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 7872)  # RESPONSE.key_suffix
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 7872)  # RESPONSE.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 1 if header & 0x40 else 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 7936)  # RESPONSE.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 8000)  # RESPONSE.qos
                value = qos_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 8000)  # RESPONSE.qos
                put_small(out, room, QOS, n, value)
                has |= _HAS_QOS
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 8064)  # RESPONSE.timestamp
                stop = pos + size
                value, start, size, pos = read_timestamp(buf, pos, stop)
                if pos < 0:
                    return pos - (at << 20 | 8064)  # RESPONSE.timestamp
                put_long(out, room, NETWORK_TIMESTAMP_TIME, n, value)
                put_word(out, room, NETWORK_TIMESTAMP_ID_OFFSET, n, start)
                put_word(out, room, NETWORK_TIMESTAMP_ID_LENGTH, n, size)
                has |= _HAS_NETWORK_TIMESTAMP
                pos = stop
            elif ext & 0x7f == 0x43:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 8128)  # RESPONSE.responder
                stop = pos + size
                inner = _responder_id(buf, pos, stop, out, room, n)
                if inner < 0:
                    return inner
                pos = stop
            elif ext & 0x7f == 0x47:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 8192)  # RESPONSE.stamps
                stop = pos + size
                inner = _timestamp_stack(buf, pos, stop)
                if inner < 0:
                    return inner
                put_word(out, room, STAMPS_OFFSET, n, pos)
                put_word(out, room, STAMPS_LENGTH, n, size)
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 7936)  # RESPONSE.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 7936)  # RESPONSE.extensions
    at = pos
    if pos >= end:
        return END - (at << 20 | 8256)  # RESPONSE.body
    body = load(buf, pos) & 0x1f
    if body == 0x04:
        pos = _reply(buf, pos, end, out, room, n)
    elif body == 0x05:
        pos = _err(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 17)  # RESPONSE/ERR
    else:
        return WRONG_BODY - (at << 20 | 8256)  # RESPONSE.body
    if pos < 0:
        return pos
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _request(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 8384)  # REQUEST.request_id
    put_word(out, room, REQUEST_ID, n, value)
    has |= _HAS_REQUEST_ID
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 8448)  # REQUEST.key_scope
    suffix = 0
    suffix_size = 0
    if header & 0x20:
        at = pos
        suffix_size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 8512)  # REQUEST.key_suffix
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 8512)  # REQUEST.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 1 if header & 0x40 else 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 8576)  # REQUEST.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 8640)  # REQUEST.qos
                value = qos_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 8640)  # REQUEST.qos
                put_small(out, room, QOS, n, value)
                has |= _HAS_QOS
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 8704)  # REQUEST.timestamp
                stop = pos + size
                value, start, size, pos = read_timestamp(buf, pos, stop)
                if pos < 0:
                    return pos - (at << 20 | 8704)  # REQUEST.timestamp
                put_long(out, room, NETWORK_TIMESTAMP_TIME, n, value)
                put_word(out, room, NETWORK_TIMESTAMP_ID_OFFSET, n, start)
                put_word(out, room, NETWORK_TIMESTAMP_ID_LENGTH, n, size)
                has |= _HAS_NETWORK_TIMESTAMP
                pos = stop
            elif ext & 0x7f == 0x34:
                value, pos = read_z64(buf, pos, end)
                if pos < 0:
                    return pos - (at << 20 | 8768)  # REQUEST.target
                value = target_of_number(value)
                if value < 0:
                    return value - (at << 20 | 8768)  # REQUEST.target
                put_small(out, room, TARGET, n, value)
                has |= _HAS_TARGET
            elif ext & 0x7f == 0x25:
                value, pos = read_small(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 8832)  # REQUEST.budget
                if value == 0:
                    return ZERO - (at << 20 | 8832)  # REQUEST.budget
                put_word(out, room, BUDGET, n, value)
                has |= _HAS_BUDGET
            elif ext & 0x7f == 0x26:
                value, pos = read_z64(buf, pos, end)
                if pos < 0:
                    return pos - (at << 20 | 8896)  # REQUEST.timeout_ms
                put_long(out, room, TIMEOUT_MS, n, value)
                has |= _HAS_TIMEOUT_MS
            elif ext & 0x7f == 0x33:
                value, pos = read_small(buf, pos, end, 0xffff)
                if pos < 0:
                    return pos - (at << 20 | 8960)  # REQUEST.node_id
                put_word(out, room, NODE_ID, n, value)
                has |= _HAS_NODE_ID
            elif ext & 0x7f == 0x47:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 9024)  # REQUEST.stamps
                stop = pos + size
                inner = _timestamp_stack(buf, pos, stop)
                if inner < 0:
                    return inner
                put_word(out, room, STAMPS_OFFSET, n, pos)
                put_word(out, room, STAMPS_LENGTH, n, size)
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 8576)  # REQUEST.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 8576)  # REQUEST.extensions
    at = pos
    if pos >= end:
        return END - (at << 20 | 9088)  # REQUEST.body
    body = load(buf, pos) & 0x1f
    if body == 0x03:
        pos = _query(buf, pos, end, out, room, n)
    else:
        return WRONG_BODY - (at << 20 | 9088)  # REQUEST.body
    if pos < 0:
        return pos
    put_small(out, room, KIND, n, 18)  # REQUEST
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _push(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    scope, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 9216)  # PUSH.key_scope
    suffix = 0
    suffix_size = 0
    if header & 0x20:
        at = pos
        suffix_size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 9280)  # PUSH.key_suffix
        suffix = pos
        pos = check_text(buf, pos, pos + suffix_size)
        if pos < 0:
            return pos - (at << 20 | 9280)  # PUSH.key_suffix
    put_word(out, room, KEY_SCOPE, n, scope)
    put_small(out, room, KEY_SENDER, n, 1 if header & 0x40 else 0)
    put_word(out, room, KEY_SUFFIX_OFFSET, n, suffix)
    put_word(out, room, KEY_SUFFIX_LENGTH, n, suffix_size)
    has |= _HAS_KEY
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 9344)  # PUSH.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 9408)  # PUSH.qos
                value = qos_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 9408)  # PUSH.qos
                put_small(out, room, QOS, n, value)
                has |= _HAS_QOS
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 9472)  # PUSH.timestamp
                stop = pos + size
                value, start, size, pos = read_timestamp(buf, pos, stop)
                if pos < 0:
                    return pos - (at << 20 | 9472)  # PUSH.timestamp
                put_long(out, room, NETWORK_TIMESTAMP_TIME, n, value)
                put_word(out, room, NETWORK_TIMESTAMP_ID_OFFSET, n, start)
                put_word(out, room, NETWORK_TIMESTAMP_ID_LENGTH, n, size)
                has |= _HAS_NETWORK_TIMESTAMP
                pos = stop
            elif ext & 0x7f == 0x33:
                value, pos = read_small(buf, pos, end, 0xffff)
                if pos < 0:
                    return pos - (at << 20 | 9536)  # PUSH.node_id
                put_word(out, room, NODE_ID, n, value)
                has |= _HAS_NODE_ID
            elif ext & 0x7f == 0x47:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 9600)  # PUSH.stamps
                stop = pos + size
                inner = _timestamp_stack(buf, pos, stop)
                if inner < 0:
                    return inner
                put_word(out, room, STAMPS_OFFSET, n, pos)
                put_word(out, room, STAMPS_LENGTH, n, size)
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 9344)  # PUSH.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 9344)  # PUSH.extensions
    at = pos
    if pos >= end:
        return END - (at << 20 | 9664)  # PUSH.body
    body = load(buf, pos) & 0x1f
    if body == 0x01:
        pos = _put(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 19)  # PUSH/PUT
    elif body == 0x02:
        pos = _del(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 20)  # PUSH/DEL
    else:
        return WRONG_BODY - (at << 20 | 9664)  # PUSH.body
    if pos < 0:
        return pos
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _declare(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header & 0x20:
        at = pos
        value, pos = read_small(buf, pos, end, 0xffffffff)
        if pos < 0:
            return pos - (at << 20 | 9792)  # DECLARE.interest_id
        put_word(out, room, INTEREST_ID, n, value)
        has |= _HAS_INTEREST_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 9856)  # DECLARE.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 9920)  # DECLARE.qos
                value = qos_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 9920)  # DECLARE.qos
                put_small(out, room, QOS, n, value)
                has |= _HAS_QOS
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 9984)  # DECLARE.timestamp
                stop = pos + size
                value, start, size, pos = read_timestamp(buf, pos, stop)
                if pos < 0:
                    return pos - (at << 20 | 9984)  # DECLARE.timestamp
                put_long(out, room, NETWORK_TIMESTAMP_TIME, n, value)
                put_word(out, room, NETWORK_TIMESTAMP_ID_OFFSET, n, start)
                put_word(out, room, NETWORK_TIMESTAMP_ID_LENGTH, n, size)
                has |= _HAS_NETWORK_TIMESTAMP
                pos = stop
            elif ext & 0x7f == 0x33:
                value, pos = read_small(buf, pos, end, 0xffff)
                if pos < 0:
                    return pos - (at << 20 | 10048)  # DECLARE.node_id
                put_word(out, room, NODE_ID, n, value)
                has |= _HAS_NODE_ID
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 9856)  # DECLARE.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 9856)  # DECLARE.extensions
    at = pos
    if pos >= end:
        return END - (at << 20 | 10112)  # DECLARE.body
    body = load(buf, pos) & 0x1f
    if body == 0x00:
        pos = _declare_key_expr(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 21)  # DECLARE/D_KEYEXPR
    elif body == 0x01:
        pos = _undeclare_key_expr(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 22)  # DECLARE/U_KEYEXPR
    elif body == 0x02:
        pos = _declare_subscriber(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 23)  # DECLARE/D_SUBSCRIBER
    elif body == 0x03:
        pos = _undeclare_subscriber(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 24)  # DECLARE/U_SUBSCRIBER
    elif body == 0x04:
        pos = _declare_queryable(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 25)  # DECLARE/D_QUERYABLE
    elif body == 0x05:
        pos = _undeclare_queryable(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 26)  # DECLARE/U_QUERYABLE
    elif body == 0x06:
        pos = _declare_token(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 27)  # DECLARE/D_TOKEN
    elif body == 0x07:
        pos = _undeclare_token(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 28)  # DECLARE/U_TOKEN
    elif body == 0x1a:
        pos = _declare_final(buf, pos, end, out, room, n)
        put_small(out, room, KIND, n, 29)  # DECLARE/D_FINAL
    else:
        return WRONG_BODY - (at << 20 | 10112)  # DECLARE.body
    if pos < 0:
        return pos
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _oam(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 10240)  # OAM.id
    put_word(out, room, OAM_ID, n, value)
    has |= _HAS_OAM_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 10304)  # OAM.extensions
            if ext & 0x7f == 0x21:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 10368)  # OAM.qos
                value = qos_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 10368)  # OAM.qos
                put_small(out, room, QOS, n, value)
                has |= _HAS_QOS
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 10432)  # OAM.timestamp
                stop = pos + size
                value, start, size, pos = read_timestamp(buf, pos, stop)
                if pos < 0:
                    return pos - (at << 20 | 10432)  # OAM.timestamp
                put_long(out, room, NETWORK_TIMESTAMP_TIME, n, value)
                put_word(out, room, NETWORK_TIMESTAMP_ID_OFFSET, n, start)
                put_word(out, room, NETWORK_TIMESTAMP_ID_LENGTH, n, size)
                has |= _HAS_NETWORK_TIMESTAMP
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 10304)  # OAM.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 10304)  # OAM.extensions
    at = pos
    if header & 0x60 == 0x20:
        value, pos = read_z64(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 10496)  # OAM.body
        put_long(out, room, OAM_NUMBER, n, value)
        has |= _HAS_OAM_NUMBER
    elif header & 0x60 == 0x40:
        size, pos = read_length(buf, pos, end, 0xffffffff)
        if pos < 0:
            return pos - (at << 20 | 10496)  # OAM.body
        put_word(out, room, OAM_BODY_OFFSET, n, pos)
        put_word(out, room, OAM_BODY_LENGTH, n, size)
        pos += size
    elif header & 0x60 == 0x60:
        return RESERVED - (at << 20 | 10496)  # OAM.body
    if get_word(out, room, OAM_ID, n) == 1:
        put_small(out, room, KIND, n, 30)  # OAM/LINKSTATE
    else:
        put_small(out, room, KIND, n, 31)  # OAM
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _scout(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 10624)  # SCOUT.version
    put_small(out, room, VERSION, n, value)
    has |= _HAS_VERSION
    at = pos
    packed, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 10688)  # SCOUT.packed
    value = matcher_of_mask(packed & 0x7)
    if value < 0:
        return value - (at << 20 | 10752)  # SCOUT.what
    put_small(out, room, WHAT, n, value)
    has |= _HAS_WHAT
    if packed & 0x08:
        at = pos
        size, stop = read_zid(buf, pos, end, (packed >> 4) + 1)
        if stop < 0:
            return stop - (at << 20 | 10816)  # SCOUT.zid
        put_word(out, room, ZID_OFFSET, n, pos)
        put_word(out, room, ZID_LENGTH, n, size)
        pos = stop
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 10880)  # SCOUT.extensions
            if True:
                pos = skip_extension(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 10880)  # SCOUT.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 10880)  # SCOUT.extensions
    put_small(out, room, KIND, n, 1)  # SCOUT
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _hello(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 11008)  # HELLO.version
    put_small(out, room, VERSION, n, value)
    has |= _HAS_VERSION
    at = pos
    packed, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 11072)  # HELLO.packed
    value = role_of_code(packed & 0x3)
    if value < 0:
        return value - (at << 20 | 11136)  # HELLO.whatami
    put_small(out, room, WHATAMI, n, value)
    has |= _HAS_WHATAMI
    at = pos
    size, stop = read_zid(buf, pos, end, (packed >> 4) + 1)
    if stop < 0:
        return stop - (at << 20 | 11200)  # HELLO.zid
    put_word(out, room, ZID_OFFSET, n, pos)
    put_word(out, room, ZID_LENGTH, n, size)
    pos = stop
    if header & 0x20:
        at = pos
        count, pos = read_count(buf, pos, end, 64)
        if pos < 0:
            return pos - (at << 20 | 11264)  # HELLO.locators
        while count > 0:
            count -= 1
            pos = skip_locator(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 11264)  # HELLO.locators
        put_word(out, room, LOCATORS_OFFSET, n, at)
        put_word(out, room, LOCATORS_LENGTH, n, pos - at)
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 11328)  # HELLO.extensions
            if True:
                pos = skip_extension(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 11328)  # HELLO.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 11328)  # HELLO.extensions
    put_small(out, room, KIND, n, 2)  # HELLO
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _transport_oam(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_small(buf, pos, end, 0xffff)
    if pos < 0:
        return pos - (at << 20 | 11456)  # TRANSPORT_OAM.id
    put_word(out, room, OAM_ID, n, value)
    has |= _HAS_OAM_ID
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 11520)  # TRANSPORT_OAM.extensions
            if ext & 0x7f == 0x31:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 11584)  # TRANSPORT_OAM.qos
                value = priority_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 11584)  # TRANSPORT_OAM.qos
                put_small(out, room, PRIORITY, n, value)
                has |= _HAS_PRIORITY
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 11520)  # TRANSPORT_OAM.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 11520)  # TRANSPORT_OAM.extensions
    at = pos
    if header & 0x60 == 0x20:
        value, pos = read_z64(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 11648)  # TRANSPORT_OAM.body
        put_long(out, room, OAM_NUMBER, n, value)
        has |= _HAS_OAM_NUMBER
    elif header & 0x60 == 0x40:
        size, pos = read_length(buf, pos, end, 0xffffffff)
        if pos < 0:
            return pos - (at << 20 | 11648)  # TRANSPORT_OAM.body
        put_word(out, room, OAM_BODY_OFFSET, n, pos)
        put_word(out, room, OAM_BODY_LENGTH, n, size)
        pos += size
    elif header & 0x60 == 0x60:
        return RESERVED - (at << 20 | 11648)  # TRANSPORT_OAM.body
    put_small(out, room, KIND, n, 3)  # TRANSPORT_OAM
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _init(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    at = pos
    value, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 11776)  # INIT.version
    put_small(out, room, VERSION, n, value)
    has |= _HAS_VERSION
    at = pos
    packed, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 11840)  # INIT.packed
    value = role_of_code(packed & 0x3)
    if value < 0:
        return value - (at << 20 | 11904)  # INIT.whatami
    put_small(out, room, WHATAMI, n, value)
    has |= _HAS_WHATAMI
    at = pos
    size, stop = read_zid(buf, pos, end, (packed >> 4) + 1)
    if stop < 0:
        return stop - (at << 20 | 11968)  # INIT.zid
    put_word(out, room, ZID_OFFSET, n, pos)
    put_word(out, room, ZID_LENGTH, n, size)
    pos = stop
    if header & 0x40:
        at = pos
        value, pos = read_u8(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 12032)  # INIT.resolution
        value = resolution_of_byte(value)
        if value < 0:
            return value - (at << 20 | 12032)  # INIT.resolution
        put_small(out, room, RESOLUTION, n, value)
        has |= _HAS_RESOLUTION
    if header & 0x40:
        at = pos
        value, pos = read_u16(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 12096)  # INIT.batch_size
        put_word(out, room, BATCH_SIZE, n, value)
        has |= _HAS_BATCH_SIZE
    if header & 0x20:
        at = pos
        size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 12160)  # INIT.cookie
        put_word(out, room, COOKIE_OFFSET, n, pos)
        put_word(out, room, COOKIE_LENGTH, n, size)
        pos += size
    has |= _HAS_HAS_QOS
    has |= _HAS_LOWLATENCY
    has |= _HAS_COMPRESSION
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 12224)  # INIT.extensions
            if ext & 0x7f == 0x01:
                put_small(out, room, HAS_QOS, n, 1)
                has |= _HAS_HAS_QOS
            elif ext & 0x7f == 0x21:
                value, pos = read_z64(buf, pos, end)
                if pos < 0:
                    return pos - (at << 20 | 12352)  # INIT.qos_link
                put_long(out, room, QOS_LINK, n, value)
                has |= _HAS_QOS_LINK
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 12416)  # INIT.shm
                stop = pos + size
                put_word(out, room, SHM_OFFER_OFFSET, n, pos)
                put_word(out, room, SHM_OFFER_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            elif ext & 0x7f == 0x43:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 12480)  # INIT.auth
                stop = pos + size
                inner = skip_chain(buf, pos, stop)
                if inner < 0:
                    return inner - (at << 20 | 12480)  # INIT.auth
                put_word(out, room, AUTH_OFFSET, n, pos)
                put_word(out, room, AUTH_LENGTH, n, inner - pos)
                pos = inner
                pos = stop
            elif ext & 0x7f == 0x44:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 12544)  # INIT.multilink
                stop = pos + size
                put_word(out, room, MULTILINK_OFFSET, n, pos)
                put_word(out, room, MULTILINK_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            elif ext & 0x7f == 0x05:
                put_small(out, room, LOWLATENCY, n, 1)
                has |= _HAS_LOWLATENCY
            elif ext & 0x7f == 0x06:
                put_small(out, room, COMPRESSION, n, 1)
                has |= _HAS_COMPRESSION
            elif ext & 0x7f == 0x27:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 12736)  # INIT.patch
                put_small(out, room, PATCH, n, value)
                has |= _HAS_PATCH
            elif ext & 0x7f == 0x48:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 12800)  # INIT.region
                stop = pos + size
                if size < 1 or size > 32:
                    return EXTENSION_SIZE - (at << 20 | 12800)  # INIT.region
                inner = check_text(buf, pos, stop)
                if inner < 0:
                    return inner - (at << 20 | 12800)  # INIT.region
                put_word(out, room, REGION_OFFSET, n, pos)
                put_word(out, room, REGION_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 12224)  # INIT.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 12224)  # INIT.extensions
    if header & 0x20:
        put_small(out, room, KIND, n, 4)  # INIT_ACK
    else:
        put_small(out, room, KIND, n, 5)  # INIT_SYN
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _open(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    put_small(out, room, SECONDS, n, 1 if header & 0x40 else 0)
    has |= _HAS_SECONDS
    at = pos
    value, pos = read_z64(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 12992)  # OPEN.lease
    put_long(out, room, LEASE, n, value)
    has |= _HAS_LEASE
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 13056)  # OPEN.initial_sn
    put_word(out, room, INITIAL_SN, n, value)
    has |= _HAS_INITIAL_SN
    if header & 0x20 == 0:
        at = pos
        size, pos = read_length(buf, pos, end, 0xffff)
        if pos < 0:
            return pos - (at << 20 | 13120)  # OPEN.cookie
        put_word(out, room, COOKIE_OFFSET, n, pos)
        put_word(out, room, COOKIE_LENGTH, n, size)
        pos += size
    has |= _HAS_HAS_QOS
    has |= _HAS_MULTILINK_ACK
    has |= _HAS_LOWLATENCY
    has |= _HAS_COMPRESSION
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 13184)  # OPEN.extensions
            if ext & 0x7f == 0x01:
                put_small(out, room, HAS_QOS, n, 1)
                has |= _HAS_HAS_QOS
            elif ext & 0x7f == 0x22:
                value, pos = read_z64(buf, pos, end)
                if pos < 0:
                    return pos - (at << 20 | 13312)  # OPEN.shm
                put_long(out, room, SHM_ANSWER, n, value)
                has |= _HAS_SHM_ANSWER
            elif ext & 0x7f == 0x42:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 13376)  # OPEN.shm_bytes
                stop = pos + size
                put_word(out, room, SHM_OFFER_OFFSET, n, pos)
                put_word(out, room, SHM_OFFER_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            elif ext & 0x7f == 0x43:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 13440)  # OPEN.auth
                stop = pos + size
                inner = skip_chain(buf, pos, stop)
                if inner < 0:
                    return inner - (at << 20 | 13440)  # OPEN.auth
                put_word(out, room, AUTH_OFFSET, n, pos)
                put_word(out, room, AUTH_LENGTH, n, inner - pos)
                pos = inner
                pos = stop
            elif ext & 0x7f == 0x04:
                put_small(out, room, MULTILINK_ACK, n, 1)
                has |= _HAS_MULTILINK_ACK
            elif ext & 0x7f == 0x44:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 13568)  # OPEN.multilink
                stop = pos + size
                put_word(out, room, MULTILINK_OFFSET, n, pos)
                put_word(out, room, MULTILINK_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            elif ext & 0x7f == 0x05:
                put_small(out, room, LOWLATENCY, n, 1)
                has |= _HAS_LOWLATENCY
            elif ext & 0x7f == 0x06:
                put_small(out, room, COMPRESSION, n, 1)
                has |= _HAS_COMPRESSION
            elif ext & 0x7f == 0x27:
                value, pos = read_z64(buf, pos, end)
                if pos < 0:
                    return pos - (at << 20 | 13760)  # OPEN.remote_bound
                value = bound_of_number(value)
                if value < 0:
                    return value - (at << 20 | 13760)  # OPEN.remote_bound
                put_small(out, room, REMOTE_BOUND, n, value)
                has |= _HAS_REMOTE_BOUND
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 13184)  # OPEN.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 13184)  # OPEN.extensions
    if header & 0x20:
        put_small(out, room, KIND, n, 6)  # OPEN_ACK
    else:
        put_small(out, room, KIND, n, 7)  # OPEN_SYN
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _close(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    put_small(out, room, CLOSE_SESSION, n, 1 if header & 0x20 else 0)
    has |= _HAS_CLOSE_SESSION
    at = pos
    value, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 13952)  # CLOSE.reason
    put_small(out, room, CLOSE_REASON, n, value)
    has |= _HAS_CLOSE_REASON
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 14016)  # CLOSE.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 14016)  # CLOSE.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 14016)  # CLOSE.extensions
    put_small(out, room, KIND, n, 8)  # CLOSE
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _keep_alive(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 14144)  # KEEP_ALIVE.extensions
            if True:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 14144)  # KEEP_ALIVE.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 14144)  # KEEP_ALIVE.extensions
    put_small(out, room, KIND, n, 9)  # KEEP_ALIVE
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _frame(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    put_small(out, room, RELIABLE, n, 1 if header & 0x20 else 0)
    has |= _HAS_RELIABLE
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 14336)  # FRAME.sn
    put_word(out, room, SN, n, value)
    has |= _HAS_SN
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 14400)  # FRAME.extensions
            if ext & 0x7f == 0x31:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 14464)  # FRAME.qos
                value = priority_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 14464)  # FRAME.qos
                put_small(out, room, PRIORITY, n, value)
                has |= _HAS_PRIORITY
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 14400)  # FRAME.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 14400)  # FRAME.extensions
    put_small(out, room, KIND, n, 10)  # FRAME
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _fragment(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    put_small(out, room, RELIABLE, n, 1 if header & 0x20 else 0)
    has |= _HAS_RELIABLE
    put_small(out, room, FRAGMENT_MORE, n, 1 if header & 0x40 else 0)
    has |= _HAS_FRAGMENT_MORE
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 14784)  # FRAGMENT.sn
    put_word(out, room, SN, n, value)
    has |= _HAS_SN
    has |= _HAS_FRAGMENT_FIRST
    has |= _HAS_FRAGMENT_DROP
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 14848)  # FRAGMENT.extensions
            if ext & 0x7f == 0x31:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 14912)  # FRAGMENT.qos
                value = priority_of_byte(value)
                if value < 0:
                    return value - (at << 20 | 14912)  # FRAGMENT.qos
                put_small(out, room, PRIORITY, n, value)
                has |= _HAS_PRIORITY
            elif ext & 0x7f == 0x02:
                put_small(out, room, FRAGMENT_FIRST, n, 1)
                has |= _HAS_FRAGMENT_FIRST
            elif ext & 0x7f == 0x03:
                put_small(out, room, FRAGMENT_DROP, n, 1)
                has |= _HAS_FRAGMENT_DROP
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 14848)  # FRAGMENT.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 14848)  # FRAGMENT.extensions
    at = pos
    put_word(out, room, PAYLOAD_OFFSET, n, pos)
    put_word(out, room, PAYLOAD_LENGTH, n, end - pos)
    pos = end
    put_small(out, room, KIND, n, 11)  # FRAGMENT
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _join(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    at = pos
    has = 0
    header = load(buf, pos)
    pos += 1
    put_small(out, room, SECONDS, n, 1 if header & 0x20 else 0)
    has |= _HAS_SECONDS
    at = pos
    value, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 15296)  # JOIN.version
    put_small(out, room, VERSION, n, value)
    has |= _HAS_VERSION
    at = pos
    packed, pos = read_u8(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 15360)  # JOIN.packed
    value = role_of_code(packed & 0x3)
    if value < 0:
        return value - (at << 20 | 15424)  # JOIN.whatami
    put_small(out, room, WHATAMI, n, value)
    has |= _HAS_WHATAMI
    at = pos
    size, stop = read_zid(buf, pos, end, (packed >> 4) + 1)
    if stop < 0:
        return stop - (at << 20 | 15488)  # JOIN.zid
    put_word(out, room, ZID_OFFSET, n, pos)
    put_word(out, room, ZID_LENGTH, n, size)
    pos = stop
    if header & 0x40:
        at = pos
        value, pos = read_u8(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 15552)  # JOIN.resolution
        value = resolution_of_byte(value)
        if value < 0:
            return value - (at << 20 | 15552)  # JOIN.resolution
        put_small(out, room, RESOLUTION, n, value)
        has |= _HAS_RESOLUTION
    if header & 0x40:
        at = pos
        value, pos = read_u16(buf, pos, end)
        if pos < 0:
            return pos - (at << 20 | 15616)  # JOIN.batch_size
        put_word(out, room, BATCH_SIZE, n, value)
        has |= _HAS_BATCH_SIZE
    at = pos
    value, pos = read_z64(buf, pos, end)
    if pos < 0:
        return pos - (at << 20 | 15680)  # JOIN.lease
    put_long(out, room, LEASE, n, value)
    has |= _HAS_LEASE
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 15744)  # JOIN.next_sn_re
    put_word(out, room, NEXT_SN_RE, n, value)
    has |= _HAS_NEXT_SN_RE
    at = pos
    value, pos = read_small(buf, pos, end, 0xffffffff)
    if pos < 0:
        return pos - (at << 20 | 15808)  # JOIN.next_sn_be
    put_word(out, room, NEXT_SN_BE, n, value)
    has |= _HAS_NEXT_SN_BE
    if header >= 0x80:
        count_exts = 0
        while True:
            at = pos
            ext, pos = read_u8(buf, pos, end)
            if pos < 0:
                return pos - (at << 20 | 15872)  # JOIN.extensions
            if ext & 0x7f == 0x51:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 15936)  # JOIN.qos
                stop = pos + size
                inner = _join_qos(buf, pos, stop)
                if inner < 0:
                    return inner
                put_word(out, room, LANES_OFFSET, n, pos)
                put_word(out, room, LANES_LENGTH, n, size)
                pos = stop
            elif ext & 0x7f == 0x52:
                size, pos = read_length(buf, pos, end, 0xffffffff)
                if pos < 0:
                    return pos - (at << 20 | 16000)  # JOIN.shm
                stop = pos + size
                put_word(out, room, SHM_OFFER_OFFSET, n, pos)
                put_word(out, room, SHM_OFFER_LENGTH, n, stop - pos)
                pos = stop
                pos = stop
            elif ext & 0x7f == 0x27:
                value, pos = read_small(buf, pos, end, 0xff)
                if pos < 0:
                    return pos - (at << 20 | 16064)  # JOIN.patch
                put_small(out, room, PATCH, n, value)
                has |= _HAS_PATCH
            else:
                pos = skip_unknown(buf, pos, end, ext)
                if pos < 0:
                    return pos - (at << 20 | 15872)  # JOIN.extensions
                count_unknown(out, room, n)
            if ext < 0x80:
                break
            count_exts += 1
            if count_exts == EXTENSIONS_PER_MESSAGE_MAX:
                at = pos
                return TOO_MANY_EXTENSIONS - (at << 20 | 15872)  # JOIN.extensions
    put_small(out, room, KIND, n, 12)  # JOIN
    put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | has)
    return pos


@kernel
def _scouting(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    id = load(buf, pos) & 0x1f
    if id == 0x01:
        return _scout(buf, pos, end, out, room, n)
    if id == 0x02:
        return _hello(buf, pos, end, out, room, n)
    return NO_SUCH_MESSAGE - (pos << 20 | 0)


@kernel
def _transport(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    id = load(buf, pos) & 0x1f
    if id == 0x05:
        return _frame(buf, pos, end, out, room, n)
    if id == 0x00:
        return _transport_oam(buf, pos, end, out, room, n)
    if id == 0x01:
        return _init(buf, pos, end, out, room, n)
    if id == 0x02:
        return _open(buf, pos, end, out, room, n)
    if id == 0x03:
        return _close(buf, pos, end, out, room, n)
    if id == 0x04:
        return _keep_alive(buf, pos, end, out, room, n)
    if id == 0x06:
        return _fragment(buf, pos, end, out, room, n)
    if id == 0x07:
        return _join(buf, pos, end, out, room, n)
    return NO_SUCH_MESSAGE - (pos << 20 | 64)


@kernel
def _network(buf: Buffer, pos: int, end: int, out: Table, room: int, n: int) -> int:
    id = load(buf, pos) & 0x1f
    if id == 0x1d:
        return _push(buf, pos, end, out, room, n)
    if id == 0x19:
        return _interest(buf, pos, end, out, room, n)
    if id == 0x1a:
        return _response_final(buf, pos, end, out, room, n)
    if id == 0x1b:
        return _response(buf, pos, end, out, room, n)
    if id == 0x1c:
        return _request(buf, pos, end, out, room, n)
    if id == 0x1e:
        return _declare(buf, pos, end, out, room, n)
    if id == 0x1f:
        return _oam(buf, pos, end, out, room, n)
    return NO_SUCH_MESSAGE - (pos << 20 | 128)


@kernel
def _finish_row(out: Table, room: int, n: int, unit: int, start: int, stop: int) -> None:
    put_word(out, room, UNIT, n, unit)
    put_word(out, room, OFFSET, n, start)
    put_word(out, room, LENGTH, n, stop - start)


@kernel
def _clear_rows(out: Table, room: int, first: int, stop: int) -> None:
    """Zero rows that are discarded: later rows are written to the same memory."""
    for n in range(first, stop):
        for column in range(_WORDS_BEGIN):
            put_small(out, room, column, n, 0)
        for column in range(_WORDS_BEGIN, _LONGS_BEGIN, 4):
            put_word(out, room, column, n, 0)
        for column in range(_LONGS_BEGIN, ROW_BYTES, 8):
            put_long(out, room, column, n, 0)


@kernel
def _frame_messages(
    buf: Buffer, pos: int, end: int, out: Table, room: int, n: int, unit: int
) -> tuple[int, int, int]:
    """Network messages until something else begins; the FRAME is the row before `n`.

    Each message gets the sequence number, reliability and priority of the FRAME. Returns the
    number of rows, the end of the last complete message, and a failure, FULL or 0.
    """
    frame = n - 1
    sn = get_word(out, room, SN, frame)
    reliable = get_small(out, room, RELIABLE, frame)
    priority = get_small(out, room, PRIORITY, frame)
    inherited = get_long(out, room, PRESENT, frame) & _INHERITED
    while pos < end and load(buf, pos) & 0x1F >= 0x19:
        if n == room:
            return n, pos, FULL
        stop = _network(buf, pos, end, out, room, n)
        if stop < 0:
            return n, pos, stop
        _finish_row(out, room, n, unit, pos, stop)
        put_word(out, room, SN, n, sn)
        put_small(out, room, RELIABLE, n, reliable)
        put_small(out, room, PRIORITY, n, priority)
        put_long(out, room, PRESENT, n, get_long(out, room, PRESENT, n) | inherited)
        n += 1
        pos = stop
    return n, pos, 0


@kernel
def _walk(
    buf: Buffer, pos: int, end: int, form: int, out: Table, room: int, n: int, unit: int
) -> tuple[int, int]:
    """Decode one unit; returns the number of rows, and a failure, FULL or 0."""
    if pos >= end and (form == NETWORK or form == SCOUTING):
        return n, NO_BYTES - (pos << 20 | 128) if form == NETWORK else NO_BYTES - (pos << 20 | 0)
    while pos < end:
        if n == room:
            return n, FULL
        id = load(buf, pos) & 0x1F
        if form == BATCH:
            stop = _transport(buf, pos, end, out, room, n)
        elif form == SCOUTING:
            stop = _scouting(buf, pos, end, out, room, n)
        elif form == NETWORK or id >= 0x19:
            stop = _network(buf, pos, end, out, room, n)
        elif id == _CLOSE_ID or id == _KEEP_ALIVE_ID:
            stop = _transport(buf, pos, end, out, room, n)
        else:
            stop = NO_SUCH_MESSAGE - (pos << 20 | 192)
        if stop < 0:
            return n, stop
        _finish_row(out, room, n, unit, pos, stop)
        n += 1
        if form == SCOUTING or form == NETWORK:
            break
        if id == _FRAME_ID:
            frame, start = n - 1, pos
            n, stop, status = _frame_messages(buf, stop, end, out, room, n, unit)
            put_word(out, room, LENGTH, frame, stop - start)
            if status != 0:
                return n, status
        pos = stop
    return n, 0


@entry
def decode_units(
    buf: Buffer,
    bounds: Numbers,
    forms: Numbers,
    unit: int,
    out: Table,
    room: int,
    n: int,
    failures: Numbers,
) -> tuple[int, int]:
    """Decode units from `unit` on, until all are read or the table is full.

    Returns the next unit and the number of rows. `failures` gets 0 or a failure for each unit.
    """
    while unit < len(forms):
        first = n
        n, status = _walk(buf, bounds[unit], bounds[unit + 1], forms[unit], out, room, n, unit)
        if status == FULL:
            _clear_rows(out, room, first, n)
            return unit, first
        if status < 0 and n < room:
            _clear_rows(out, room, n, n + 1)
        failures[unit] = status
        unit += 1
    return unit, n
