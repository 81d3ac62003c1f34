"""FragmentRedactor: redacts messages that are sent in fragments.

The first fragment shows whether a message changes. If not, its fragments are recorded unchanged.
Otherwise each becomes a FRAME with the same sequence number, and the last one has the changed
message, if it is kept.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from zenlake.errors import WireError
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.recording.message_keys import (
    PUSH,
    REQUEST,
    RESPONSE,
    is_link_state,
    key_at_start,
    with_key_at_start,
)
from zenlake.recording.redacted_messages import MessageRedactor
from zenlake.recording.redaction_rules import EXCLUDED, FREE, PARTLY
from zenlake.trace.channel import channel_key
from zenlake.wire import Fragment, Frame, NetworkMessage, WireExpr, decode_network
from zenlake.wire.message import TransportMessage
from zenlake.wire.primitives import read_z32
from zenlake.wire.sequence import next_sn, sn_distance
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION

_NONE: Final = -1
# What happens to a message in fragments.
_KEPT: Final = 0
_COLLECTED: Final = 1
_REMOVED: Final = 2
_TOO_LONG: Final = 3
_FRAME_HEAD_BYTES_MAX: Final = 16


@dataclass(slots=True)
class _Pieces:
    """The fragments of one message.

    If it is kept, `rest` is what is not recorded yet, because its whole key made it longer. If it
    is collected, `rest` is the message so far.
    """

    fate: int = _COLLECTED
    next_sn: int = 0
    rest: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _Channel:
    """One priority and reliability of one direction."""

    pieces: _Pieces | None = None
    at_boundary: bool = True
    """Whether the next fragment begins a message, where beginnings are not marked."""
    replaced_sn: int = _NONE
    """The last sequence number of a message whose fragments became frames, until the next one.

    Deployed nodes skip a number after fragments; readers would report that gap after frames."""


class FragmentRedactor:
    """The channels of one link. `mask` and `is_marked` are terms of the session."""

    def __init__(self, messages: MessageRedactor) -> None:
        self._messages = messages
        self._counts = messages.counts
        self._channels: tuple[dict[int, _Channel], dict[int, _Channel]] = ({}, {})
        self.mask: int = DEFAULT_RESOLUTION.sn_mask
        self.is_marked = False
        """Whether the first fragment of a message is marked."""

    def lost(self, direction: int) -> None:
        for channel in self._channels[direction].values():
            self._end_message(channel)
            channel.at_boundary = False
            channel.replaced_sn = _NONE

    def _channel(self, direction: int, message: Frame | Fragment) -> _Channel:
        number = channel_key(message)
        channels = self._channels[direction]
        channel = channels.get(number)
        if channel is None:
            channel = channels[number] = _Channel()
        return channel

    def fill_skipped(
        self, direction: int, message: Frame | Fragment, kept: list[TransportMessage]
    ) -> bool:
        """Add a frame with the number that a sender skips after a message in fragments."""
        channel = self._channel(direction, message)
        replaced_sn, channel.replaced_sn = channel.replaced_sn, _NONE
        if replaced_sn == _NONE or sn_distance(replaced_sn, message.sn, self.mask) != 2:
            return False
        kept.append(_empty_frame(message, next_sn(replaced_sn, self.mask)))
        return True

    def fragment(self, direction: int, fragment: Fragment) -> TransportMessage:
        """What is recorded instead of a fragment."""
        channel = self._channel(direction, fragment)
        pieces = channel.pieces
        if fragment.first or (pieces is not None and pieces.next_sn != fragment.sn):
            self._end_message(channel)
            pieces = None
        is_first = fragment.first or (channel.at_boundary and not self.is_marked)
        channel.at_boundary = not fragment.more
        if fragment.drop or (pieces is None and not is_first):
            # Readers ignore this fragment, as the receiver does.
            self._end_message(channel)
            return _without_payload(fragment)
        if pieces is None:
            pieces = channel.pieces = _Pieces()
            self._begin_message(direction, pieces, fragment.payload)
        else:
            self._add_piece(pieces, fragment.payload)
        pieces.next_sn = next_sn(fragment.sn, self.mask)
        if pieces.fate == _KEPT:
            return self._kept_fragment(channel, pieces, fragment)
        if fragment.more:
            return _empty_frame(fragment, fragment.sn)
        channel.replaced_sn = fragment.sn
        frame = _empty_frame(fragment, fragment.sn)
        message = self._whole(direction, pieces)
        if message is not None:
            frame.messages.append(message)
        self._end_message(channel)
        return frame

    def _begin_message(self, direction: int, pieces: _Pieces, payload: bytes) -> None:
        """Decide from the first fragment what is recorded of the message."""
        key = key_at_start(payload)
        if key is not None:
            pieces.fate = self._fate(direction, payload, key)
        elif is_link_state(payload):
            pieces.fate = _KEPT
        if pieces.fate == _KEPT and key is not None and key.scope:
            missing = self._messages.missing_prefix(direction, key)
            if missing is not None:
                payload = with_key_at_start(payload, missing.text + key.suffix)
        self._add_piece(pieces, payload)

    def _fate(self, direction: int, payload: bytes, key: WireExpr) -> int:
        """What happens to a message whose first fragment is `payload`."""
        kind = payload[0] & 0x1F
        asked = FREE
        if kind != PUSH:
            request_id, _ = read_z32(payload, 1, len(payload))
            asked = self._messages.asked(
                direction if kind == REQUEST else 1 - direction, request_id
            )
        if kind == RESPONSE and asked == EXCLUDED:
            return _REMOVED
        if kind == RESPONSE and not key.scope and not key.suffix:
            return _KEPT if asked == FREE else _COLLECTED
        verdict = self._messages.verdict(direction, key)
        if kind == PUSH and verdict >= PARTLY:
            return _REMOVED
        if kind == REQUEST and asked != FREE:
            return _COLLECTED  # the number is used again: its first use must be forgotten
        return _KEPT if verdict == FREE else _COLLECTED

    def _add_piece(self, pieces: _Pieces, payload: bytes) -> None:
        if pieces.fate == _KEPT:
            pieces.rest += payload
        elif pieces.fate == _COLLECTED:
            if self._messages.hold(len(payload)):
                pieces.rest += payload
            else:
                self._messages.release(len(pieces.rest))
                pieces.rest = bytearray()
                pieces.fate = _TOO_LONG

    def _kept_fragment(
        self, channel: _Channel, pieces: _Pieces, fragment: Fragment
    ) -> TransportMessage:
        """A fragment as long as the received one; the last fragment has all the rest."""
        size = len(fragment.payload) if fragment.more else len(pieces.rest)
        payload = bytes(pieces.rest[:size])
        del pieces.rest[:size]
        if not fragment.more:
            channel.pieces = None
        if payload == fragment.payload:
            return fragment
        changed = _without_payload(fragment)
        changed.payload = payload
        return changed

    def _whole(self, direction: int, pieces: _Pieces) -> NetworkMessage | None:
        """The redacted message of all fragments; None if it is removed."""
        if pieces.fate == _REMOVED:
            self._counts.removed += 1
            return None
        message: NetworkMessage | None = None
        if pieces.fate == _COLLECTED:
            with suppress(WireError):
                message, _ = decode_network(bytes(pieces.rest), 0)
        if message is None:
            self._counts.undecodable += 1
            return None
        redacted = self._messages.redact(direction, message)
        if redacted is None:
            return None
        redacted = self._messages.with_known_key(direction, redacted)
        if len(bytes(redacted)) > BATCH_BYTES_MAX - _FRAME_HEAD_BYTES_MAX:
            self._counts.undecodable += 1
            return None
        return redacted

    def _end_message(self, channel: _Channel) -> None:
        pieces, channel.pieces = channel.pieces, None
        if pieces is not None and pieces.fate == _COLLECTED:
            self._messages.release(len(pieces.rest))


def _empty_frame(message: Frame | Fragment, sn: int) -> Frame:
    return Frame(sn, [], reliable=message.reliable, qos=message.qos)


def _without_payload(fragment: Fragment) -> Fragment:
    changed = fragment.copy()
    changed.payload = b""
    return changed
