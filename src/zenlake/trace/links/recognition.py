"""Recognition: the protocol of a connection, by its first bytes.

Neither ports nor two bytes prove a protocol: a batch of 790 bytes begins as a TLS record does.
A connection is Zenoh if it begins with a length and an INIT of exactly that length.
"""

from __future__ import annotations

import re
from typing import Final

from zenlake.trace.links.units import IMPOSSIBLE
from zenlake.trace.links.websocket import BINARY, frame_sizes, opcode, unmask
from zenlake.wire import Init
from zenlake.wire.batch import decode_batch
from zenlake.wire.headers import ID_BITS, INIT_ID

UNDECIDED: Final = "undecided"
ZENOH: Final = "zenoh"
HTTP: Final = "http"
TLS: Final = "tls"
OTHER: Final = "other"
UNKNOWN: Final = "unknown"
"""No known protocol: it may be Zenoh whose beginning is damaged or missing."""

_HTTP: Final = re.compile(rb"(?:GET|PUT|POST|HEAD|DELETE|OPTIONS|PATCH|CONNECT|TRACE) |HTTP/1\.")
_HTTP_WORDS: Final = (
    b"GET ",
    b"PUT ",
    b"POST",
    b"HEAD",
    b"DELE",
    b"OPTI",
    b"PATC",
    b"CONN",
    b"HTTP",
)
_OTHERS: Final = (b"SSH-", b"PRI * HTTP/2", b"\x00\x00\x00\x17ANY", b"*1\r\n", b"AMQP")
INIT_BYTES_MAX: Final = 4096
VERSIONS: Final = range(8, 16)
"""Protocol versions accepted in an INIT: nodes refuse all but 9, but any version is Zenoh."""


def recognise(data: bytes) -> str:
    """The protocol of a connection, from the first bytes of one direction."""
    if len(data) >= 3 and data[2] & ID_BITS == INIT_ID:
        size = data[0] | data[1] << 8
        if 4 <= size <= INIT_BYTES_MAX:
            if len(data) >= 4 and data[3] not in VERSIONS:
                return _other(data)
            if len(data) < 2 + size:
                return UNDECIDED if _other(data) == UNKNOWN else _other(data)
            if is_init(data[2 : 2 + size]):
                return ZENOH
    elif len(data) < 3:
        return UNDECIDED
    return _other(data)


def recognise_websocket(data: bytes) -> str:
    """ZENOH if the first frame of a WebSocket is an INIT; UNDECIDED if it is not complete."""
    header, size = frame_sizes(data, 0)
    if header == IMPOSSIBLE or size > INIT_BYTES_MAX:
        return OTHER
    if header < 0 or header + size > len(data):
        return UNDECIDED
    content = unmask(data[:header], data[header : header + size])
    return ZENOH if opcode(data, 0) == BINARY and is_init(content) else OTHER


def is_init(content: bytes) -> bool:
    """Whether a unit is exactly one INIT."""
    if not content or content[0] & ID_BITS != INIT_ID:
        return False
    batch = decode_batch(content)
    if batch.error is not None or len(batch.messages) != 1:
        return False
    init = batch.messages[0]
    return isinstance(init, Init) and init.version in VERSIONS


def _other(data: bytes) -> str:
    if data[:4] in _HTTP_WORDS and (len(data) < 10 or _HTTP.match(data)):
        return HTTP
    if _is_client_hello(data) or _is_tls_record(data):
        return TLS
    if data.startswith(_OTHERS):
        return OTHER
    return UNKNOWN


def _is_client_hello(data: bytes) -> bool:
    """Whether it is a handshake record whose length agrees with that of the message in it."""
    if len(data) < 11 or data[0] != 0x16 or data[1] != 0x03 or data[2] > 0x04:
        return False
    record = data[3] << 8 | data[4]
    message = int.from_bytes(data[6:9], "big")
    return data[5] in (1, 2) and message + 4 <= record <= 1 << 14 and data[9] == 0x03


def _is_tls_record(data: bytes) -> bool:
    """Whether it is an encrypted record that is followed by another one."""
    if len(data) < 5 or data[0] not in (0x14, 0x15, 0x17) or data[1] != 0x03 or data[2] > 0x04:
        return False
    size = data[3] << 8 | data[4]
    if not 1 <= size <= (1 << 14) + 256:
        return False
    after = data[5 + size : 8 + size]
    if len(after) < 3:
        return len(data) == 5 + size
    return after[0] in (0x14, 0x15, 0x16, 0x17) and after[1] == 0x03 and after[2] <= 0x04
