"""Text of common fields: payloads, QoS, times, sizes, keys."""

from __future__ import annotations

from codecs import utf_8_decode
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from zenlake.cli.output import safe
from zenlake.trace.events import MessageSeen
from zenlake.trace.message_attributes import wire_key_of
from zenlake.wire.defaults import DEFAULT_PRIORITY, DEFAULT_QOS_BYTE
from zenlake.wire.values.qos import QoS
from zenlake.wire.values.timestamp import Timestamp

PREVIEW_BYTES: Final = 40
ZID_DIGITS: Final = 4
_HEX_BYTES: Final = 16
# Control characters that text may contain: tab, line feed, carriage return.
_TEXT_CONTROLS: Final = frozenset("\t\n\r")
_SHORT: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def preview(data: bytes, limit: int = PREVIEW_BYTES) -> str:
    """The size and the beginning of a payload: quoted if it is text, else in hexadecimal."""
    size = len(data)
    if size == 0:
        return "0 B"
    head = data[:limit] if size > limit else data
    more = "..." if size > limit else ""
    text = _as_text(head)
    if text is not None:
        return f'{size} B "{text}"{more}'
    return f"{size} B {data[:_HEX_BYTES].hex(' ')}{'...' if size > _HEX_BYTES else ''}"


def _as_text(head: bytes) -> str | None:
    try:
        # A character that the limit cuts off is omitted.
        text = utf_8_decode(head, "strict", False)[0]
    except UnicodeDecodeError:
        return None
    if text.isprintable():
        return text
    if any(c < " " and c not in _TEXT_CONTROLS for c in text) or "\x7f" in text:
        return None
    return safe("".join(_SHORT.get(c, c) for c in text))


def qos_text(qos: QoS | None) -> str:
    """The parts of a QoS that differ from the default; empty if none does."""
    if qos is None or qos.byte == DEFAULT_QOS_BYTE:
        return ""
    return _QOS_TEXTS[qos.byte]


def _qos_text(byte: int) -> str:
    qos = QoS(byte)
    words = [f"priority {int(qos.priority)}"] if byte & 7 != DEFAULT_PRIORITY else []
    if byte & 0x28:
        words.append(str(qos.congestion))
    if qos.express:
        words.append("express")
    return "  " + " ".join(words) if words else ""


_QOS_TEXTS: Final = [_qos_text(byte) for byte in range(0x40)]


def key_text(event: MessageSeen) -> str:
    """The key; with an unknown alias, what was sent and a question mark."""
    key = event.key
    if key is not None:
        return key if key.isprintable() else safe(key)
    wire_key = wire_key_of(event.message)
    return "" if wire_key is None else f"{safe(str(wire_key))} ?"


def stamp_text(stamp: Timestamp) -> str:
    """UTC to the microsecond, and the first digits of the clock's id."""
    microseconds = (stamp.time & 0xFFFF_FFFF) * 1_000_000 >> 32
    second = _second_text(stamp.time >> 32 & 0xFFFF_FFFF)
    return f"{second}.{microseconds:06}Z/{str(stamp.id)[:ZID_DIGITS]}"


@lru_cache(1024)
def _second_text(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def ms_text(ns: int) -> str:
    return f"{ns / 1_000_000:.3f} ms"


def lease_text(ms: int) -> str:
    return f"{ms // 1000} s" if ms % 1000 == 0 else f"{ms} ms"
