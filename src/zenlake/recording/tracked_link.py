"""TrackedLink: the state of one link that later batches depend on.

It has the handshake, the last sequence number of each lane, the fragments of unfinished messages,
and the state of network messages (`TrackedMessages`).
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import WireError
from zenlake.limits import RECORDING_STATE_HANDSHAKE_BATCHES_MAX
from zenlake.recording.packet_headers import End
from zenlake.recording.tracked_items import ITEM_BYTES, UNKNOWN, Budget
from zenlake.recording.tracked_lane import Lane
from zenlake.recording.tracked_messages import TrackedMessages
from zenlake.recording.tracked_side import Side
from zenlake.trace.channel import channel_key
from zenlake.trace.links.units import COMPRESSED, LOW_LATENCY, PLAIN, form_of
from zenlake.wire import (
    Close,
    Fragment,
    Frame,
    Init,
    Join,
    Open,
    decode_batch,
    decode_low_latency,
    decode_network,
)
from zenlake.wire.compression import decompress_batch
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES, DEFAULT_GROUP_BATCH_BYTES, DEFAULT_PRIORITY
from zenlake.wire.headers import FRAME_ID, HAS_EXTENSIONS, ID_BITS, IS_RELIABLE, PRIORITY_EXTENSION
from zenlake.wire.message import Message
from zenlake.wire.sequence import next_sn, previous_sn
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId

PLAIN_HEAD_BYTES: Final = 16
"""Sequence number and priority of a plain batch lie within so many bytes."""


class TrackedLink(TrackedMessages):
    """The state of one link; direction 0 is from `ends[0]`, which opened it."""

    __slots__ = (
        "_agreed_form",
        "batch_bytes",
        "ends",
        "fins",
        "handshake",
        "is_open",
        "is_over",
        "is_stream",
        "last_join",
        "mask",
        "next_seq",
        "number",
        "opened_ns",
        "order",
        "patch",
        "use",
        "zids",
    )

    def __init__(
        self,
        number: int,
        ends: tuple[End, End],
        is_stream: bool,
        is_group: bool,
        use: int,
        order: int,
        time_ns: int,
        budget: Budget,
    ) -> None:
        super().__init__(is_group, order, budget)
        self.number = number
        self.ends = ends
        self.is_stream = is_stream
        self.use = use
        """The number of this link among those between the same ends, from 1."""
        self.order = order
        self.opened_ns = time_ns
        self.handshake: list[tuple[int, int, int, bytes, int]] = []
        """Order, time, direction, batch and its form: INIT, OPEN, JOIN, CLOSE."""
        self.last_join: tuple[int, int, int, bytes, int] | None = None
        """The same five values for the last JOIN, if it is not the first one."""
        self.is_open = is_group
        self.is_over = False
        """Whether CLOSE was seen, which ends the session."""
        self.fins: list[tuple[int, int, int]] = []
        """Order, time and direction of each FIN, while one is missing."""
        self.mask = 0
        self.patch = 0
        self.zids: list[ZenohId | None] = [None, None]
        """The ids of both nodes, the opener's first; None for clients: they have no link states."""
        self.batch_bytes = DEFAULT_GROUP_BATCH_BYTES if is_group else DEFAULT_BATCH_BYTES
        self._agreed_form = PLAIN
        self.next_seq = [0, 0]
        """For a stream, the sequence number of the next byte of each direction."""

    # --- batches -------------------------------------------------------------------------

    def prefix_bytes(self, direction: int) -> int:
        """The size of the length before the next batch of a direction."""
        if not self.is_stream:
            return 0
        return 4 if self.sides[direction].form == LOW_LATENCY else 2

    def reads_heads(self, direction: int) -> bool:
        """Whether the first bytes of a plain batch suffice: they have its sequence number."""
        return self.is_open and self.sides[direction].form != COMPRESSED

    def plain_batch(self, direction: int, data: bytes, order: int, time_ns: int) -> None:
        """Apply a batch with one FRAME of publications: only its sequence number matters."""
        side = self.sides[direction]
        if side.form == LOW_LATENCY or self.is_over:
            return
        self.count = order
        if side.form == COMPRESSED:
            try:
                data = decompress_batch(data)
            except WireError:
                return
        if len(data) < 2 or data[0] & ID_BITS != FRAME_ID:
            return
        header, sn, shift, at = data[0], 0, 0, 1
        while at < len(data) and at < 6:
            byte = data[at]
            sn |= (byte & 0x7F) << shift
            shift += 7
            at += 1
            if byte < 0x80:
                break
        priority = DEFAULT_PRIORITY
        if header & HAS_EXTENSIONS:
            if len(data) < at + 2 or data[at] != PRIORITY_EXTENSION or data[at + 1] > 7:
                self.batch(direction, data, order, time_ns)
                return
            priority = data[at + 1]
        lane = self._lane(side, priority << 1 | (1 if header & IS_RELIABLE else 0))
        if lane.accept(sn, self.mask):
            lane.order, lane.time_ns = order, time_ns
            if lane.fragments:
                self._drop_fragments(lane)
            lane.at_boundary = True

    def batch(self, direction: int, data: bytes, order: int, time_ns: int) -> None:
        """Any batch, without its length prefix, as it crossed the link."""
        side = self.sides[direction]
        self.count = self._batch_order = order
        if self.is_over:
            return
        content, form = data, side.form
        if side.form == COMPRESSED:
            try:
                content = decompress_batch(data)
            except WireError:
                return
        messages: list[Message] = []
        if side.form == LOW_LATENCY:
            messages.extend(decode_low_latency(content).messages)
        else:
            messages.extend(decode_batch(content).messages)
        is_kept = False
        for message in messages:
            if isinstance(message, Frame):
                self._frame(direction, side, message, time_ns)
            elif isinstance(message, Fragment):
                self._fragment(direction, side, message, time_ns)
            elif isinstance(message, (Init, Open, Join, Close)):
                is_kept = self._transport(side, message) or is_kept
                if isinstance(message, Join) and self.handshake:
                    self.last_join = (self.count, time_ns, direction, bytes(message), form)
            else:
                self.count += 1
                self._network(direction, side, message, 0, time_ns)
        if is_kept and len(self.handshake) < RECORDING_STATE_HANDSHAKE_BATCHES_MAX:
            self.handshake.append((self.count, time_ns, direction, data, form))

    def _transport(self, side: Side, message: Init | Open | Join | Close) -> bool:
        """Applies a message of the handshake; returns whether its batch is part of the state."""
        self.count += 1
        if isinstance(message, Close):
            self.is_over = True
            self.forget()
            return True
        if isinstance(message, Join):
            return self._join(message)
        if self.is_open:
            return False
        if isinstance(message, Init):
            is_ack = message.cookie is not None
            self.zids[is_ack] = None if message.whatami == WhatAmI.CLIENT else message.zid
            if is_ack:
                self._agree(message)
            return True
        side.initial_sn = message.initial_sn
        side.form = self._agreed_form
        self.is_open = message.cookie is None
        return True

    def _agree(self, ack: Init) -> None:
        self._agreed_form = form_of(ack)
        self.patch = ack.patch or 0
        self.mask = (ack.resolution or DEFAULT_RESOLUTION).sn_mask
        self.batch_bytes = DEFAULT_BATCH_BYTES if ack.batch_size is None else ack.batch_size

    def _join(self, join: Join) -> bool:
        """Applies a JOIN: the first one has the member's terms, later ones only keep it alive."""
        if not self.is_group or self.handshake:
            return False
        self.patch = min(1, join.patch or 0)
        self.mask = (join.resolution or DEFAULT_RESOLUTION).sn_mask
        if join.batch_size is not None:
            self.batch_bytes = join.batch_size
        lanes = self.sides[0].lanes
        if join.qos is None:
            self._start_lane(lanes, DEFAULT_PRIORITY << 1 | 1, join.next_sn_re)
            self._start_lane(lanes, DEFAULT_PRIORITY << 1, join.next_sn_be)
        else:
            for priority, numbers in enumerate(join.qos.lanes):
                self._start_lane(lanes, priority << 1 | 1, numbers.reliable)
                self._start_lane(lanes, priority << 1, numbers.best_effort)
        return True

    def _start_lane(self, lanes: dict[int, Lane], key: int, next_number: int) -> None:
        lanes[key] = Lane(key, previous_sn(next_number, self.mask))

    # --- lanes ---------------------------------------------------------------------------

    def _lane(self, side: Side, key: int) -> Lane:
        lane = side.lanes.get(key)
        if lane is None:
            last = UNKNOWN
            if side.initial_sn != UNKNOWN and self.mask:
                last = previous_sn(side.initial_sn, self.mask)
            lane = side.lanes[key] = Lane(key, last)
        return lane

    def _frame(self, direction: int, side: Side, frame: Frame, time_ns: int) -> None:
        lane = self._lane(side, channel_key(frame))
        self.count += 1
        if not lane.accept(frame.sn, self.mask):
            return
        if lane.fragments:
            self._drop_fragments(lane)
        lane.at_boundary = True
        for message in frame.messages:
            self.count += 1
            self._network(direction, side, message, lane.key, time_ns)
        lane.order, lane.time_ns = self.count, time_ns

    def _fragment(self, direction: int, side: Side, fragment: Fragment, time_ns: int) -> None:
        lane = self._lane(side, channel_key(fragment))
        self.count += 1
        if not lane.accept(fragment.sn, self.mask):
            return
        lane.order, lane.time_ns = self.count, time_ns
        if fragment.first:
            self._drop_fragments(lane)
        elif not lane.fragments and (self.patch or not lane.at_boundary):
            lane.at_boundary = not fragment.more
            return
        if fragment.drop:
            self._drop_fragments(lane)
            lane.at_boundary = False
            return
        if lane.fragments and fragment.sn != lane.next_fragment:
            self._drop_fragments(lane)
            lane.at_boundary = not fragment.more
            return
        if fragment.more:
            self._hold(lane, fragment, time_ns)
            return
        whole = b"".join(lane.payloads) + fragment.payload
        self._drop_fragments(lane)
        lane.after_message = lane.at_boundary = True
        try:
            message, _ = decode_network(whole, 0)
        except WireError:
            return
        self.count += 1
        self._network(direction, side, message, lane.key, time_ns)
        lane.order = self.count

    def _hold(self, lane: Lane, fragment: Fragment, time_ns: int) -> None:
        data = bytes(fragment)
        lane.next_fragment = next_sn(fragment.sn, self.mask) if self.mask else fragment.sn + 1
        lane.at_boundary = False
        if not self._budget.has_room(2 * len(data) + ITEM_BYTES):
            self._drop_fragments(lane)
            return
        lane.fragments.append((self.count, time_ns, data))
        lane.payloads.append(fragment.payload)
        lane.held_bytes += 2 * len(data) + ITEM_BYTES
        self._budget.bytes += 2 * len(data) + ITEM_BYTES

    def _drop_fragments(self, lane: Lane) -> None:
        self._budget.bytes -= lane.held_bytes
        lane.fragments, lane.payloads, lane.held_bytes = [], [], 0

    # --- losses and the end --------------------------------------------------------------

    def lose(self, direction: int) -> None:
        """Bytes of a direction are missing: forget the aliases that may have changed."""
        side = self.sides[direction]
        side.is_lossy = True
        if side.reuses:
            for alias in side.aliases.values():
                self._discard(alias)
            side.aliases = {}

    def forget(self) -> None:
        """Drop the state of the session."""
        for side in self.sides:
            for item in side.aliases.values():
                self._discard(item)
            for item in list(side.items.values()):
                self._discard(item)
            for lane in side.lanes.values():
                self._drop_fragments(lane)
            if side.topology is not None:
                side.topology.forget()
            side.aliases, side.items, side.lanes, side.modes = {}, {}, {}, {}
