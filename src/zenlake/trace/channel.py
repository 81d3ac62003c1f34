"""Channel: one direction, priority and reliability of a session, as a receiver sees it.

Sequence numbers decide what is taken (wire reference §6.5); fragments are put together (§7).
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
"""Beyond this, numbers whose resolution is not known are no gap but a turn."""


class Reassembly:
    """The fragments that wait for more, in all channels; the oldest must make room."""

    __slots__ = ("held_bytes", "waiting")

    def __init__(self) -> None:
        self.held_bytes = 0
        self.waiting: OrderedDict[Channel, None] = OrderedDict()


class Channel:
    """What a receiver remembers of a channel: the last number, and an unfinished message."""

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

    def __init__(self, reassembly: Reassembly, last_sn: int = UNKNOWN) -> None:
        self._reassembly = reassembly
        self.last_sn = last_sn
        self.pieces: list[bytes] = []
        self.packets: list[int] = []
        self.held_bytes = 0
        self.dropped_bytes = 0
        """Of messages that stay incomplete, since this was last set to 0."""
        self._next_sn = UNKNOWN
        self._after_message = False
        self._at_boundary = last_sn != UNKNOWN
        """Whether the last thing taken was whole, so that what follows begins a message."""

    def accept(self, sn: int, mask: int, newest_sn: int = UNKNOWN) -> int:
        """How many numbers were left out before this one; STALE or OUTSIDE if it is not taken.

        `newest_sn` is the last of any channel: zenoh-pico counts both of its channels with one
        counter.
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
        # Deployed nodes leave one number out after a message in fragments (§7).
        if gap == 1 or (gap == 2 and after_message) or sn == newest_sn + 1:
            return 0
        # What is missing may have begun a message.
        self._at_boundary = False
        return gap - 1 if mask or 1 < gap <= _GUESSED_GAP_MAX else 0

    def add(self, fragment: Fragment, packet: int, patch: int | None, mask: int) -> str | None:
        """Put a fragment to the others; why not, if it is ignored.

        `patch` is None where nobody knows it. Without one, a message may begin without the mark
        of its first fragment, but only where another one has ended.
        """
        sn = fragment.sn
        if fragment.first:
            self._discard()
        elif not self.pieces and (patch or not self._at_boundary):
            self._at_boundary = not fragment.more
            return "its first fragment is not here"
        if fragment.drop:
            self._discard()
            return "its sender gave the message up"
        if self.pieces and sn != self._next_sn and not self._has_turned(sn, mask):
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

    def _has_turned(self, sn: int, mask: int) -> bool:
        """Whether numbers of unknown resolution began again."""
        return not mask and sn == 0 and self._next_sn - 1 in SN_MASKS

    def pop_message(self) -> bytes:
        """The message that the last fragment completed."""
        data = b"".join(self.pieces)
        self._release()
        return data

    def interrupt(self) -> None:
        """A FRAME ends what fragments began."""
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
