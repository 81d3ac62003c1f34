"""Channel: one direction, priority and reliability of a session, as a receiver sees it.

Sequence numbers decide what is accepted (wire reference §6.5); fragments are reassembled (§7).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from zenlake.limits import TRACE_FRAGMENT_BYTES_MAX, TRACE_MESSAGE_BYTES_MAX
from zenlake.wire import Fragment, Frame
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.sequence import SN_MASKS, is_ahead, next_sn, sn_distance

UNKNOWN: Final = -2
"""Sentinel: no sequence number is its successor."""
STALE: Final = -1
OUTSIDE: Final = -2
_GUESSED_GAP_MAX: Final = 64
"""If the resolution is not known, a larger step is not a gap: the numbers wrapped around."""


class IncompleteMessages:
    """The incomplete messages of all channels and their size; the limit drops the oldest."""

    __slots__ = ("held_bytes", "waiting")

    def __init__(self) -> None:
        self.held_bytes = 0
        self.waiting: OrderedDict[Channel, None] = OrderedDict()


class Channel:
    """The state of a receiver: the last sequence number, and the fragments of a message."""

    __slots__ = (
        "_after_message",
        "_at_boundary",
        "_next_sn",
        "_reassembly",
        "dropped_bytes",
        "held_bytes",
        "last_sn",
        "packets",
        "pieces",
    )

    def __init__(self, reassembly: IncompleteMessages, last_sn: int = UNKNOWN) -> None:
        self._reassembly = reassembly
        self.last_sn = last_sn
        self.pieces: list[bytes] = []
        self.packets: list[int] = []
        self.held_bytes = 0
        self.dropped_bytes = 0
        """Bytes of messages that stay incomplete; the walker reports them and resets it to 0."""
        self._next_sn = UNKNOWN
        self._after_message = False
        self._at_boundary = last_sn != UNKNOWN
        """Whether the last message was complete, so that the next fragment begins a message."""

    def accept(self, sn: int, mask: int, newest_sn: int = UNKNOWN) -> int:
        """How many numbers are missing before `sn`; STALE or OUTSIDE if it is not accepted.

        `newest_sn` is the last number of any channel: zenoh-pico has one counter for both of its
        channels.
        """
        last, after_message = self.last_sn, self._after_message
        if mask and sn & ~mask:
            return OUTSIDE
        if last == UNKNOWN:
            self.last_sn = sn
            return 0
        gap: int = sn_distance(last, sn, mask) if mask else sn - last
        if mask and not is_ahead(gap, mask):
            return STALE
        if not mask and sn == 0 and last in SN_MASKS:
            gap = 1
        self._after_message = False
        self.last_sn = sn
        # Deployed nodes skip one number after a fragmented message (§7).
        if gap == 1 or (gap == 2 and after_message) or sn == newest_sn + 1:
            return 0
        # The missing part may have begun a message.
        self._at_boundary = False
        return gap - 1 if mask or 1 < gap <= _GUESSED_GAP_MAX else 0

    def set_number(self, sn: int) -> None:
        """Takes the last number of a channel from the state of a recording.

        The state does not contain whether a fragmented message has just ended, after which deployed
        nodes skip a number.
        """
        self.last_sn = sn
        self._after_message = True

    def add(self, fragment: Fragment, packet: int, patch: int | None, mask: int) -> str | None:
        """Adds a fragment; returns the reason if it is ignored.

        `patch` is None if it is not known. With patch 0 a message may begin without the marker of
        a first fragment, but only where another message ended.
        """
        sn = fragment.sn
        if fragment.first:
            self._discard()
        elif not self.pieces and (patch or not self._at_boundary):
            self._at_boundary = not fragment.more
            return "its first fragment is not here"
        if fragment.drop:
            self._discard()
            return "its sender dropped the message"
        if self.pieces and sn != self._next_sn and not self._has_wrapped(sn, mask):
            self._discard()
            self._at_boundary = not fragment.more
            return "a fragment before it is missing"
        if self.held_bytes + len(fragment.payload) > TRACE_MESSAGE_BYTES_MAX:
            self._discard()
            return f"the message has more than {TRACE_MESSAGE_BYTES_MAX} bytes"
        self._hold(fragment.payload)
        self.packets.append(packet)
        self._next_sn = next_sn(sn, mask) if mask else sn + 1
        self._after_message = self._at_boundary = not fragment.more
        return None

    def _has_wrapped(self, sn: int, mask: int) -> bool:
        """Whether numbers of unknown resolution wrapped around to 0."""
        return not mask and sn == 0 and self._next_sn - 1 in SN_MASKS

    def pop_message(self) -> bytes:
        """The message that the last fragment completed; its fragments are removed."""
        data = b"".join(self.pieces)
        self._release()
        return data

    def interrupt(self) -> None:
        """A FRAME ends an incomplete fragmented message."""
        if self.pieces:
            self._discard()
        self._at_boundary = True

    def _hold(self, payload: bytes) -> None:
        reassembly = self._reassembly
        self.pieces.append(payload)
        self.held_bytes += len(payload)
        reassembly.held_bytes += len(payload)
        reassembly.waiting[self] = None
        while reassembly.held_bytes > TRACE_FRAGMENT_BYTES_MAX:
            next(iter(reassembly.waiting))._discard()

    def _discard(self) -> None:
        self._at_boundary = False
        self.dropped_bytes += self.held_bytes
        self._release()

    def _release(self) -> None:
        if self.pieces:
            self._reassembly.held_bytes -= self.held_bytes
            self._reassembly.waiting.pop(self, None)
            self.pieces = []
            self.packets = []
            self.held_bytes = 0


def channel_key(message: Frame | Fragment) -> int:
    """Priority and reliability in one number."""
    priority = DEFAULT_PRIORITY if message.qos is None else int(message.qos)
    return priority << 1 | message.reliable
