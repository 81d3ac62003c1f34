"""Spelling of many messages: each has as many bytes as its fields need, and no reserved bit.

The bytes that a message needs are counted from its columns: one that has more of them spells
something in another way, and one that has as many has every integer in its shortest form.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zenlake.lake.reading.columns.decoded import CODES, Decoded

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

_QOS_HEADERS: Final = (0x21, 0xA1)
_PRIORITY_HEADERS: Final = (0x31, 0xB1)
_PUTS: Final = ("PUSH/PUT", "RESPONSE/REPLY/PUT")
_DELS: Final = ("PUSH/DEL", "RESPONSE/REPLY/DEL")
_REPLIES: Final = ("RESPONSE/REPLY/PUT", "RESPONSE/REPLY/DEL")
_RESPONSES: Final = (*_REPLIES, "RESPONSE/ERR")
FREQUENT: Final = ("PUSH/PUT", "PUSH/DEL", "REQUEST", *_RESPONSES, "RESPONSE_FINAL")


def oddly_spelled(rows: Decoded) -> Flags:
    """Rows of frequent kinds that may not be what our encoder would write."""
    odd = np.zeros(len(rows), np.bool_)
    for group in (("PUSH/PUT", "PUSH/DEL"), ("REQUEST",), _RESPONSES, ("RESPONSE_FINAL",)):
        chosen = np.flatnonzero(rows.is_kind(*group))
        if len(chosen):
            odd[chosen] = _Spelled(rows, chosen).is_odd(group[0])
    for kind in ("FRAME", "FRAGMENT", "KEEP_ALIVE"):
        chosen = np.flatnonzero(rows.is_kind(kind))
        if len(chosen):
            odd[chosen] = _Spelled(rows, chosen).is_odd_carrier(kind)
    return odd


class _Spelled:
    """Some rows, and how many bytes parts of them need."""

    def __init__(self, rows: Decoded, chosen: NDArray[np.int64]) -> None:
        self._rows = rows
        self._chosen = chosen
        self._data = rows.columns.data
        self._kind = rows.kind[chosen]
        self._offset = self.column("offset")
        self._length = self.column("length")

    def column(self, name: str) -> Counts:
        return self._rows.columns[name][self._chosen].astype(np.int64)

    def has(self, name: str) -> Counts:
        return self._rows.present(name)[self._chosen].astype(np.int64)

    def byte(self, place: Counts) -> Counts:
        return self._data[np.minimum(place, len(self._data) - 1)].astype(np.int64)

    def of_kind(self, *kinds: str) -> Counts:
        """1 where it is one of these, else 0."""
        found: Counts = np.isin(self._kind, [CODES[kind] for kind in kinds]).astype(np.int64)
        return found

    # --- how many bytes ----------------------------------------------------------------------

    def number(self, name: str) -> Counts:
        return vle_bytes(self._rows.columns[name][self._chosen])

    def stretch(self, name: str) -> Counts:
        """A length and as many bytes; of an empty one the length alone."""
        size = self.column(f"{name}_length")
        return vle_bytes(size) + size

    def key(self) -> Counts:
        size = self.column("key_suffix_length")
        return self.number("key_scope") + (size > 0) * (vle_bytes(size) + size)

    def timestamp(self) -> Counts:
        size = self.column("timestamp_id_length")
        return self.has("timestamp") * (self.number("timestamp_time") + vle_bytes(size) + size)

    def encoding(self) -> Counts:
        has_schema = self.column("encoding_schema_offset") > 0
        size = self.column("encoding_schema_length")
        word = self.column("encoding_id") << 1 | has_schema
        return self.has("encoding") * (vle_bytes(word) + has_schema * (vle_bytes(size) + size))

    def source(self) -> Counts:
        size = self.column("source_zid_length")
        body = 1 + size + self.number("source_eid") + self.number("source_sn")
        return np.where(size > 0, 1 + vle_bytes(body) + body, 0)

    def attachment(self) -> Counts:
        found: Counts = (self.column("attachment_offset") > 0) * (1 + self.stretch("attachment"))
        return found

    def data(self) -> Counts:
        """PUT, DEL or ERR."""
        has_payload = self.of_kind(*_PUTS, "RESPONSE/ERR")
        fields = self.timestamp() + self.encoding() + self.source() + self.attachment()
        return 1 + fields + has_payload * self.stretch("payload")

    def query(self) -> Counts:
        has_parameters = self.column("parameters_offset") > 0
        body = self.encoding() + self.column("payload_length")
        has_body = self.has("encoding") > 0
        return (
            1
            + self.has("consolidation")
            + has_parameters * self.stretch("parameters")
            + self.source()
            + has_body * (1 + vle_bytes(body) + body)
            + self.attachment()
        )

    def extensions(self) -> Counts:
        """Of PUSH, REQUEST, RESPONSE and RESPONSE_FINAL."""
        size = self.column("responder_zid_length")
        responder = 1 + size + self.number("responder_eid")
        return (
            self.has("qos") * 2
            + self.has("node_id") * (1 + self.number("node_id"))
            + self.has("target") * 2
            + self.has("timeout_ms") * (1 + self.number("timeout_ms"))
            + (size > 0) * (1 + vle_bytes(responder) + responder)
        )

    # --- odd or not --------------------------------------------------------------------------

    def is_odd(self, kind: str) -> Flags:
        head = 1 + (0 if kind.startswith("PUSH") else self.number("request_id"))
        head = head + (0 if kind == "RESPONSE_FINAL" else self.key())
        body: Any = 0
        if kind == "REQUEST":
            body = self.query()
        elif kind != "RESPONSE_FINAL":
            body = self.data()
        reply = self.of_kind(*_REPLIES) * (1 + self.has("consolidation"))
        odd: Flags = self._length != head + self.extensions() + reply + body
        odd |= self._has_rare()
        odd |= self._odd_qos(self._offset + head, _QOS_HEADERS, "qos", 0xC0)
        odd |= self._odd_bits(kind, self._offset + self._length - body - reply, reply)
        if kind != "RESPONSE_FINAL":
            header = self.byte(self._offset)
            odd |= (header & 0x20 != 0) & (self.column("key_suffix_length") == 0)
        return odd

    def _has_rare(self) -> Flags:
        """What is so seldom that it is not counted."""
        rare: Flags = self.column("unknown_extensions") > 0
        for name in ("network_timestamp", "budget", "body_shm"):
            rare |= self.has(name) > 0
        rare |= (self.column("stamps_offset") > 0) | (self.column("shm") > 0)
        return rare

    def _odd_qos(self, place: Counts, headers: tuple[int, int], name: str, bits: int) -> Flags:
        """It comes first, and its byte is as short as can be, without reserved bits."""
        header, value = self.byte(place), self.byte(place + 1)
        is_there = (header == headers[0]) | (header == headers[1])
        odd: Flags = (self.has(name) > 0) & (~is_there | (value & bits != 0) | (value > 0x7F))
        return odd

    def _odd_bits(self, kind: str, body: Counts, reply: Counts) -> Flags:
        """Reserved bits of headers, and zeros at the end of ids."""
        header = self.byte(self._offset)
        odd: Flags = header & 0x60 != 0
        if kind == "RESPONSE_FINAL":
            return odd
        odd = np.zeros(len(self._chosen), np.bool_)
        inner = self.byte(body + reply)
        odd |= (self.of_kind(*_DELS) > 0) & (inner & 0x40 != 0)
        odd |= (self.of_kind("RESPONSE/ERR") > 0) & (inner & 0x20 != 0)
        odd |= (reply > 0) & (self.byte(body) & 0x40 != 0)
        for name in ("source_zid", "responder_zid", "timestamp_id"):
            start, size = self.column(f"{name}_offset"), self.column(f"{name}_length")
            odd |= (size > 1) & (self.byte(start + size - 1) == 0)
            if name != "timestamp_id":
                odd |= (size > 0) & (self.byte(start - 1) != size - 1 << 4)
        return odd

    def is_odd_carrier(self, kind: str) -> Flags:
        header = self.byte(self._offset)
        odd: Flags = header != 0x04
        if kind == "KEEP_ALIVE":
            return odd
        odd = self.column("unknown_extensions") > 0
        head = 1 + self.number("sn")
        odd |= self._odd_qos(self._offset + head, _PRIORITY_HEADERS, "priority", 0xF8)
        head = head + self.has("priority") * 2
        if kind == "FRAGMENT":
            marks = self.column("fragment_first") + self.column("fragment_drop")
            odd |= self._length != head + marks + self.column("payload_length")
            return odd
        odd |= (header & 0x40 != 0) | (self._first_inside() != self._offset + head)
        return odd

    def _first_inside(self) -> Counts:
        """Where the first message of each FRAME begins; an empty one is odd anyway."""
        offsets = self._rows.columns["offset"].astype(np.int64)
        following = np.minimum(self._chosen + 1, len(offsets) - 1)
        return offsets[following]


def vle_bytes(values: NDArray[Any]) -> Counts:
    """How many bytes variable-length integers need (wire reference §1.2)."""
    wide = values.astype(np.uint64)
    found = np.ones(len(wide), np.int64)
    largest = int(wide.max(initial=0))
    for bits in range(7, min(largest.bit_length(), 56) + 1, 7):
        found += wide >= np.uint64(1 << bits)
    return found
