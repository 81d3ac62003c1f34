"""Evidence: how unlikely it is, in bits, that units at a place of a stream decode by chance.

If a stream begins in the middle or has lost bytes, the start of the next batch is not known. A
place is accepted when chance hardly explains the units from there on: they decode to their last
byte, and their sequence numbers follow known ones. Each kind of agreement counts less than the
bits it fixes, because the bytes of other protocols are not random either.
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import WireError
from zenlake.trace.channel import channel_key
from zenlake.trace.links.units import COMPRESSED, LOW_LATENCY
from zenlake.wire import (
    Close,
    Fragment,
    Frame,
    Init,
    KeepAlive,
    Open,
    decode_network,
    decode_transport,
)
from zenlake.wire.compression import decompress_batch
from zenlake.wire.defaults import DEFAULT_PRIORITY, DEFAULT_SN_MASK
from zenlake.wire.headers import (
    CLOSE_ID,
    DROP_EXTENSION,
    FIRST_EXTENSION,
    FRAGMENT_ID,
    FRAME_ID,
    HAS_EXTENSIONS,
    ID_BITS,
    IS_RELIABLE,
    KEEP_ALIVE_ID,
    PRIORITY_EXTENSION,
)
from zenlake.wire.message import Message
from zenlake.wire.sequence import sn_distance

PACKET_BITS: Final = 8
"""Bits for a unit that begins with a packet, as most do: nodes write one unit at a time."""
CONTRADICTION: Final = -1

_FRAME_BITS: Final = 10
_MESSAGE_BITS: Final = 5
_MESSAGES_COUNTED: Final = 2
_FRAGMENT_BITS: Final = 2
_SMALL_BITS: Final = 6
_INIT_BITS: Final = 24
_OPEN_BITS: Final = 6
_UNIT_BITS: Final = 16
_LZ4_BITS: Final = 6

_NEAR: Final = 64
"""How far the next number of a channel may be ahead: nodes skip some numbers (§7)."""
FAR: Final = 1 << 16
"""How far the next number may be ahead of the last number before a loss."""
_REASON_MAX: Final = 7
_SMALL_MAX: Final = 2
"""The most KEEP_ALIVEs in one unit."""
_LEASE_MIN: Final = 10
_COOKIE_BYTES_MIN: Final = 8


class Demand:
    """The evidence that a place needs: bits, and a number of units."""

    __slots__ = ("bits", "units")

    def __init__(self, bits: int, units: int) -> None:
        self.bits = bits
        self.units = units


ON_KNOWN_LINK: Final = Demand(22, 1)
"""The other direction is Zenoh, and the form of its units is known."""
AFTER_LOSS: Final = Demand(40, 1)
"""The link is known, and so are its sequence numbers."""
UNDECIDED: Final = Demand(60, 3)
"""The beginning is missing. Three units, because a file transfer may contain batches too."""
AGAINST_BEGINNING: Final = Demand(100, 5)
"""The beginning was captured and is not an INIT: only damage would explain that."""
TO_THE_END: Final = Demand(40, 1)
"""The evidence of UNDECIDED for units that end exactly at the end of the stream."""


class Numbers:
    """Sequence numbers of one direction by channel, before the loss and in a chain of units."""

    __slots__ = ("before", "has_content", "has_matched", "mask", "now", "small_bits")

    def __init__(self, before: dict[int, int], mask: int) -> None:
        self.before = before
        """The last numbers before the loss; empty if the size of the loss is not known."""
        self.mask = mask or DEFAULT_SN_MASK
        self.now: dict[int, int] = {}
        self.small_bits = 0
        """The bits of KEEP_ALIVE and CLOSE, which occur in any bytes."""
        self.has_matched = False
        """Whether a number followed one from before the loss."""
        self.has_content = False
        """Whether there was a message other than KEEP_ALIVE and CLOSE."""

    def may_follow(self, key: int, sn: int) -> bool:
        """Whether `sn` can be the next number of a channel."""
        last = self.now.get(key)
        if last is not None:
            return 1 <= sn_distance(last, sn, self.mask) <= _NEAR
        last = self.before.get(key, -1)
        return last < 0 or 1 <= sn_distance(last, sn, self.mask) <= FAR

    def weigh(self, message: Frame | Fragment) -> int:
        """Bits for a number that follows another, 0 for the first of its channel."""
        sn = message.sn
        if sn & ~self.mask:
            raise _contradiction()
        key = channel_key(message)
        width = min(self.mask.bit_length(), max(sn.bit_length(), 1))
        last = self.now.get(key)
        self.now[key] = sn
        if last is not None:
            gap = sn_distance(last, sn, self.mask)
            if not 1 <= gap <= _NEAR:
                raise _contradiction()
            return max(width - 6, 0)
        last = self.before.get(key)
        if last is None or last < 0:
            return 0
        if 1 <= sn_distance(last, sn, self.mask) <= FAR:
            self.has_matched = True
            return max(width - 16, 0)
        raise _contradiction()


def weigh(form: int, data: bytes, is_whole: bool, numbers: Numbers) -> int:
    """The bits of one unit, or CONTRADICTION if the bytes cannot be a unit."""
    if form == LOW_LATENCY:
        return _weigh_low_latency(data, is_whole, numbers)
    bits = 0
    content = data
    try:
        if form == COMPRESSED:
            content = decompress_batch(data)
            bits = _LZ4_BITS if data and data[0] else 0
        return bits + _weigh_messages(content, is_whole, numbers)
    except WireError:
        return CONTRADICTION


def may_begin(head: bytes, numbers: Numbers) -> bool:
    """Whether a unit can begin with these bytes, by its first sequence number."""
    if not head or head[0] & ID_BITS not in (FRAME_ID, FRAGMENT_ID):
        return True
    sn = shift = 0
    at = 1
    while True:
        if at >= len(head) or at > 5:
            return True
        byte = head[at]
        sn |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            break
    priority = DEFAULT_PRIORITY
    if head[0] & HAS_EXTENSIONS:
        while at + 1 < len(head):
            if head[at] & 0x7F == PRIORITY_EXTENSION:
                priority = head[at + 1] & 7
                break
            if head[at] & 0x7F not in (FIRST_EXTENSION, DROP_EXTENSION):
                return True
            at += 1
    return numbers.may_follow(priority << 1 | (head[0] & IS_RELIABLE != 0), sn)


def _weigh_messages(content: bytes, is_whole: bool, numbers: Numbers) -> int:
    """Weighs message by message, so that the first impossible one stops the work."""
    bits = smalls = 0
    at, end = 0, len(content)
    if not end:
        raise _contradiction()
    while at < end:
        try:
            message, at = decode_transport(content, at)
        except WireError as error:
            if is_whole or not isinstance(error.partial, Frame):
                raise
            # The captured part of a unit with a hole may end anywhere.
            message, at = error.partial, end
        if isinstance(message, Frame):
            found = _frame_bits(message, is_whole, numbers) + numbers.weigh(message)
        elif isinstance(message, Fragment):
            follows = numbers.weigh(message)
            found = _FRAGMENT_BITS + follows
            # Any bytes decode as a fragment; only a consecutive sequence number is evidence.
            numbers.has_content |= follows > 0
        elif isinstance(message, (KeepAlive, Close)):
            smalls += 1
            found = _small_bits(message, smalls, at == end)
            numbers.small_bits += found
        else:
            found = _handshake_bits(message, bits == 0 and at == end)
        bits += found
    return bits


def _frame_bits(frame: Frame, is_whole: bool, numbers: Numbers) -> int:
    carried = min(len(frame.messages), _MESSAGES_COUNTED)
    if not carried:
        return 0
    numbers.has_content = True
    return _MESSAGE_BITS * carried + (_FRAME_BITS if is_whole else 0)


def _small_bits(message: KeepAlive | Close, count: int, is_last: bool) -> int:
    if isinstance(message, Close) and (message.reason > _REASON_MAX or not is_last):
        raise _contradiction()
    if count > _SMALL_MAX or message.extensions:
        raise _contradiction()
    return _SMALL_BITS if count == 1 else 0


def _handshake_bits(message: Message, is_alone: bool) -> int:
    """Bits of INIT and OPEN, which must be alone in a unit; else it is a contradiction."""
    if is_alone and isinstance(message, Init) and message.version in (8, 9):
        return _INIT_BITS
    if is_alone and isinstance(message, Open) and message.lease >= _LEASE_MIN:
        cookie = message.cookie
        if cookie is None or len(cookie) >= _COOKIE_BYTES_MIN:
            return _OPEN_BITS
    raise _contradiction()


def _weigh_low_latency(data: bytes, is_whole: bool, numbers: Numbers) -> int:
    """Weighs a low-latency unit, which has one message."""
    try:
        if data[0] & ID_BITS in (CLOSE_ID, KEEP_ALIVE_ID):
            return _SMALL_BITS if len(data) <= 2 else CONTRADICTION
        _, end = decode_network(data, 0)
    except (WireError, IndexError):
        return CONTRADICTION if is_whole else 0
    if end != len(data):
        return CONTRADICTION
    numbers.has_content = True
    return _UNIT_BITS


def _contradiction() -> WireError:
    return WireError("unit", "content", 0, "no unit has it")
