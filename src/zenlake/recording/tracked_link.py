"""TrackedLink: what the messages of one link leave behind for those that follow.

Aliases, live declarations, open interests and requests, the last sequence number of each lane,
and the fragments of unfinished messages. The rules are those of `zenlake.trace`, so that a reader
that starts from this state reads what one that started before reads.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from zenlake.errors import WireError
from zenlake.limits import (
    RECORDING_STATE_HANDSHAKE_BATCHES_MAX,
    RECORDING_STATE_MESSAGE_BYTES_MAX,
    RECORDING_TRACKED_BYTES_MAX,
)
from zenlake.recording.packet_headers import End
from zenlake.trace.interest_answers import answers_current, remember_mode
from zenlake.wire import (
    Close,
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Fragment,
    Frame,
    Init,
    Interest,
    Join,
    Open,
    Request,
    ResponseFinal,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    decode_batch,
    decode_low_latency,
    decode_network,
)
from zenlake.wire.compression import decompress_batch
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES, DEFAULT_GROUP_BATCH_BYTES, DEFAULT_PRIORITY
from zenlake.wire.message import Message
from zenlake.wire.sequence import is_newer, next_sn, previous_sn
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION
from zenlake.wire.values.wire_expr import WireExpr

UNKNOWN: Final = -1

PLAIN_FORM: Final = 0
COMPRESSED_FORM: Final = 1
LOW_LATENCY_FORM: Final = 2

PLAIN_HEAD_BYTES: Final = 16
"""Where the sequence number and the priority of a plain batch end, at the latest."""
_ITEM_BYTES: Final = 64
"""The memory of an item beside its message."""
_FRAME: Final = 0x05
_RELIABLE: Final = 0x20
_EXTENDED: Final = 0x80
_QOS: Final = 0x31
_DECLARATIONS: Final = (DeclareSubscriber, DeclareQueryable, DeclareToken)
_UNDECLARATIONS: Final = (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)

Identity = tuple[object, ...]


class Item:
    """A message that later ones depend on. Items are compared by identity."""

    __slots__ = ("alias", "batch", "data", "interest", "is_live", "key", "lane", "order", "time_ns")

    def __init__(
        self,
        order: int,
        batch: int,
        time_ns: int,
        lane: int,
        data: bytes,
        key: str | None,
        alias: Item | None,
    ) -> None:
        self.order = order
        self.batch = batch
        """The order of the batch: messages of one batch share it."""
        self.time_ns = time_ns
        self.lane = lane
        self.data = data
        self.key = key
        """The whole key; None if it is not known."""
        self.alias = alias
        """The alias that the message uses."""
        self.is_live = True
        self.interest = UNKNOWN
        """The interest that a declaration answers."""


class Budget:
    """The memory of all links. Beyond its limit the oldest requests are forgotten."""

    __slots__ = ("bytes", "bytes_max", "forgotten", "requests")

    def __init__(self, bytes_max: int = RECORDING_TRACKED_BYTES_MAX) -> None:
        self.bytes = 0
        self.bytes_max = bytes_max
        self.requests: OrderedDict[Item, tuple[Side, Identity]] = OrderedDict()
        self.forgotten = 0
        """How many items and unfinished messages were left out of the state."""

    def has_room(self, size: int) -> bool:
        """Whether `size` more bytes may be kept, if need be instead of old requests."""
        while self.bytes + size > self.bytes_max and self.requests:
            oldest, (side, identity) = self.requests.popitem(last=False)
            del side.items[identity]
            self.bytes -= len(oldest.data) + _ITEM_BYTES
            self.forgotten += 1
        if self.bytes + size > self.bytes_max:
            self.forgotten += 1
            return False
        return True


class Lane:
    """One direction, priority and reliability: its last sequence number and open fragments."""

    __slots__ = (
        "after_message",
        "at_boundary",
        "fragments",
        "held_bytes",
        "is_used",
        "key",
        "last_sn",
        "next_fragment",
        "order",
        "payloads",
        "start_sn",
        "time_ns",
    )

    def __init__(self, key: int, last_sn: int) -> None:
        self.key = key
        """Priority and reliability in one number, as `trace.channel.channel_key` makes it."""
        self.last_sn = self.start_sn = last_sn
        self.is_used = False
        self.order = 0
        self.time_ns = 0
        self.after_message = False
        """Whether the last unit completed a message in fragments."""
        self.at_boundary = last_sn != UNKNOWN
        self.fragments: list[tuple[int, int, bytes]] = []
        """Order, time and bytes of the FRAGMENTs of an unfinished message."""
        self.payloads: list[bytes] = []
        self.held_bytes = 0
        self.next_fragment = UNKNOWN

    def accept(self, sn: int, mask: int) -> bool:
        """Whether a receiver accepts this sequence number."""
        if mask and sn & ~mask:
            return False
        last = self.last_sn
        if last != UNKNOWN and mask and not is_newer(sn, last, mask):
            return False
        if last != UNKNOWN and mask and sn != next_sn(last, mask):
            skips = self.after_message and sn == next_sn(next_sn(last, mask), mask)
            self.at_boundary = self.at_boundary and skips
        self.last_sn = sn
        self.after_message = False
        self.is_used = True
        return True


class Side:
    """What one end of a link has sent."""

    __slots__ = (
        "aliases",
        "form",
        "initial_sn",
        "is_initial_over",
        "is_lossy",
        "items",
        "lanes",
        "modes",
        "reuses",
        "shared_ids",
    )

    def __init__(self) -> None:
        self.aliases: dict[int, Item] = {}
        self.items: dict[Identity, Item] = {}
        """Live declarations, open interests with their finals, open requests."""
        self.modes: dict[int, bool] = {}
        """By id, whether an interest has mode CURRENT."""
        self.lanes: dict[int, Lane] = {}
        self.shared_ids: dict[str, str | None] = {}
        """By kind, the key of the entity with id 0; None if there are several."""
        self.form = PLAIN_FORM
        self.initial_sn = UNKNOWN
        self.reuses = False
        """Whether it undeclares aliases, so that their numbers may stand for other keys later."""
        self.is_lossy = False
        self.is_initial_over = False
        """Whether D_FINAL with id 0 ended the initial declarations of a peer."""


class TrackedLink:
    """The state of one link; direction 0 is from `ends[0]`, which opened it."""

    __slots__ = (
        "_agreed_form",
        "_batch_order",
        "_budget",
        "batch_bytes",
        "count",
        "ends",
        "fins",
        "handshake",
        "is_group",
        "is_open",
        "is_over",
        "is_stream",
        "mask",
        "next_seq",
        "number",
        "opened_ns",
        "order",
        "patch",
        "sides",
        "use",
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
        self.number = number
        self.ends = ends
        self.is_stream = is_stream
        self.is_group = is_group
        self.use = use
        """It is the n-th link between these ends in the recording."""
        self.order = order
        self.opened_ns = time_ns
        self._budget = budget
        self.sides = (Side(), Side())
        self.handshake: list[tuple[int, int, int, bytes, int]] = []
        """Order, time, direction, batch and its form: INIT, OPEN, JOIN, CLOSE."""
        self.is_open = is_group
        self.is_over = False
        """Whether CLOSE was seen: then nothing is left of the session."""
        self.fins: list[tuple[int, int, int]] = []
        """Order, time and direction of each FIN, while one is missing."""
        self.mask = 0
        self.patch = 0
        self.batch_bytes = DEFAULT_GROUP_BATCH_BYTES if is_group else DEFAULT_BATCH_BYTES
        self._agreed_form = PLAIN_FORM
        self.next_seq = [0, 0]
        """Of a stream, the sequence number of the next byte of each direction."""
        self.count = order
        """The order of the last message."""
        self._batch_order = order

    # --- batches -------------------------------------------------------------------------

    def prefix_bytes(self, direction: int) -> int:
        """The size of the length before the next batch of a direction."""
        if not self.is_stream:
            return 0
        return 4 if self.sides[direction].form == LOW_LATENCY_FORM else 2

    def reads_heads(self, direction: int) -> bool:
        """Whether the first bytes of a plain batch suffice: they have its sequence number."""
        return self.is_open and self.sides[direction].form != COMPRESSED_FORM

    def plain_batch(self, direction: int, data: bytes, order: int, time_ns: int) -> None:
        """A batch with one FRAME of publications: only its sequence number counts."""
        side = self.sides[direction]
        if side.form == LOW_LATENCY_FORM or self.is_over:
            return
        self.count = order
        if side.form == COMPRESSED_FORM:
            try:
                data = decompress_batch(data)
            except WireError:
                return
        if len(data) < 2 or data[0] & 0x1F != _FRAME:
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
        if header & _EXTENDED:
            if len(data) < at + 2 or data[at] != _QOS or data[at + 1] > 7:
                self.batch(direction, data, order, time_ns)
                return
            priority = data[at + 1]
        lane = self._lane(side, priority << 1 | (1 if header & _RELIABLE else 0))
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
        if side.form == COMPRESSED_FORM:
            try:
                content = decompress_batch(data)
            except WireError:
                return
        messages: list[Message] = []
        if side.form == LOW_LATENCY_FORM:
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
            else:
                self.count += 1
                self._network(direction, side, message, 0, time_ns)
        if is_kept and len(self.handshake) < RECORDING_STATE_HANDSHAKE_BATCHES_MAX:
            self.handshake.append((self.count, time_ns, direction, data, form))

    def _transport(self, side: Side, message: Init | Open | Join | Close) -> bool:
        """Applies a message of the handshake; whether its batch is part of the state."""
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
            if message.cookie is not None:
                self._agree(message)
            return True
        side.initial_sn = message.initial_sn
        side.form = self._agreed_form
        self.is_open = message.cookie is None
        return True

    def _agree(self, ack: Init) -> None:
        self._agreed_form = LOW_LATENCY_FORM if ack.lowlatency else PLAIN_FORM
        if ack.compression:
            self._agreed_form = COMPRESSED_FORM
        self.patch = ack.patch or 0
        self.mask = (ack.resolution or DEFAULT_RESOLUTION).sn_mask
        self.batch_bytes = DEFAULT_BATCH_BYTES if ack.batch_size is None else ack.batch_size

    def _join(self, join: Join) -> bool:
        """The first JOIN of a member; later ones repeat it."""
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
        lane = self._lane(side, _lane_key(frame))
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
        lane = self._lane(side, _lane_key(fragment))
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
        if not self._budget.has_room(2 * len(data) + _ITEM_BYTES):
            self._drop_fragments(lane)
            return
        lane.fragments.append((self.count, time_ns, data))
        lane.payloads.append(fragment.payload)
        lane.held_bytes += 2 * len(data) + _ITEM_BYTES
        self._budget.bytes += 2 * len(data) + _ITEM_BYTES

    def _drop_fragments(self, lane: Lane) -> None:
        self._budget.bytes -= lane.held_bytes
        lane.fragments, lane.payloads, lane.held_bytes = [], [], 0

    # --- messages ------------------------------------------------------------------------

    def _network(
        self, direction: int, side: Side, message: Message, lane: int, time_ns: int
    ) -> None:
        if isinstance(message, Declare):
            self._declare(direction, side, message, lane, time_ns)
        elif isinstance(message, Interest):
            identity: Identity = ("INTEREST", message.id)
            self._remove(side, identity)
            self._remove(self.sides[1 - direction], ("FINAL", message.id))
            if message.mode != InterestMode.FINAL:
                remember_mode(side.modes, message.id, message.mode == InterestMode.CURRENT)
                self._keep(side, direction, identity, message, message.key, lane, time_ns)
        elif isinstance(message, Request):
            identity = ("REQUEST", message.request_id)
            self._remove(side, identity)
            kept = self._keep(side, direction, identity, message, message.key, lane, time_ns)
            if kept is not None:
                self._budget.requests[kept] = (side, identity)
        elif isinstance(message, ResponseFinal):
            self._remove(self.sides[1 - direction], ("REQUEST", message.request_id))

    def _declare(
        self, direction: int, side: Side, message: Declare, lane: int, time_ns: int
    ) -> None:
        body = message.body
        other = self.sides[1 - direction]
        if isinstance(body, DeclareKeyExpr):
            self._declare_alias(direction, side, message, body, lane, time_ns)
        elif isinstance(body, UndeclareKeyExpr):
            alias = side.aliases.pop(body.expr_id, None)
            if alias is not None:
                self._discard(alias)
            self._remove(side, ("REMAPPED", body.expr_id))
            side.reuses = True
        elif isinstance(body, _DECLARATIONS):
            if message.interest_id is not None and not body.id:
                is_token = isinstance(body, DeclareToken)
                if answers_current(other.modes, message.interest_id, is_token):
                    return
            self._declare_entity(direction, side, message, body, lane, time_ns)
        elif isinstance(body, _UNDECLARATIONS):
            self._undeclare_entity(direction, side, message, body)
        elif isinstance(body, DeclareFinal) and message.interest_id is not None:
            id = message.interest_id
            if not id:
                side.is_initial_over = True
            if other.modes.get(id):
                self._remove(other, ("INTEREST", id))
            elif ("INTEREST", id) in other.items and ("FINAL", id) not in side.items:
                self._keep(side, direction, ("FINAL", id), message, None, lane, time_ns)

    def _declare_alias(
        self,
        direction: int,
        side: Side,
        message: Declare,
        body: DeclareKeyExpr,
        lane: int,
        time_ns: int,
    ) -> None:
        """An alias in use keeps its key; that the sender gave it another one is kept beside it."""
        known = side.aliases.get(body.expr_id)
        if known is None:
            item = self._make(side, direction, message, body.key, lane, time_ns)
            if item is not None:
                side.aliases[body.expr_id] = item
            return
        identity: Identity = ("REMAPPED", body.expr_id)
        newest = side.items.get(identity, known)
        if newest.key != self._resolve(direction, body.key)[0]:
            self._remove(side, identity)
            self._keep(side, direction, identity, message, body.key, lane, time_ns)

    def _declare_entity(
        self,
        direction: int,
        side: Side,
        message: Declare,
        body: DeclareSubscriber | DeclareQueryable | DeclareToken,
        lane: int,
        time_ns: int,
    ) -> None:
        key, alias = self._resolve(direction, body.key)
        kind = body.NAME[2:]
        identity: Identity = (kind, body.id)
        if not body.id:
            identity = (kind, 0, message.node_id or 0, key or str(body.key))
            if kind in side.shared_ids and side.shared_ids[kind] != key:
                side.shared_ids[kind] = None
            else:
                side.shared_ids[kind] = key
        known = side.items.get(identity)
        if known is not None and (known.key is None or key is None or known.key == key):
            # It is declared again: its life goes on, with the newest attributes.
            data = bytes(message)
            self._budget.bytes += len(data) - len(known.data)
            known.data, known.alias = data, alias
            known.key = known.key or key
            return
        self._remove(side, identity)
        kept = self._keep(side, direction, identity, message, body.key, lane, time_ns)
        if kept is not None and message.interest_id is not None:
            kept.interest = message.interest_id

    def _undeclare_entity(
        self,
        direction: int,
        side: Side,
        message: Declare,
        body: UndeclareSubscriber | UndeclareQueryable | UndeclareToken,
    ) -> None:
        kind = body.NAME[2:]
        written = body.key
        if written is None or (written.key.scope == 0 and not written.key.suffix):
            key = None if body.id else side.shared_ids.get(kind)
        else:
            key = self._resolve(direction, written.key)[0]
        node = message.node_id or 0
        if body.id:
            if self._remove(side, (kind, body.id)) or key is None:
                return
        else:
            side.shared_ids.pop(kind, None)
        self._remove(side, (kind, 0, node, key or ("" if written is None else str(written.key))))

    def _resolve(self, direction: int, key: WireExpr | None) -> tuple[str | None, Item | None]:
        """The whole key, and the alias that it uses."""
        if key is None:
            return None, None
        if key.scope == 0:
            return key.suffix, None
        if not key.sender and self.is_group:
            return None, None
        owner = self.sides[direction if key.sender else 1 - direction]
        alias = owner.aliases.get(key.scope)
        if alias is None or alias.key is None:
            return None, alias
        return alias.key + key.suffix, alias

    def _make(
        self,
        side: Side,
        direction: int,
        message: Message,
        key: WireExpr | None,
        lane: int,
        time_ns: int,
    ) -> Item | None:
        data = bytes(message)
        size = len(data) + _ITEM_BYTES
        if len(data) > RECORDING_STATE_MESSAGE_BYTES_MAX:
            self._budget.forgotten += 1
            return None
        if not self._budget.has_room(size):
            return None
        self._budget.bytes += size
        text, alias = self._resolve(direction, key)
        return Item(self.count, self._batch_order, time_ns, lane, data, text, alias)

    def _keep(
        self,
        side: Side,
        direction: int,
        identity: Identity,
        message: Message,
        key: WireExpr | None,
        lane: int,
        time_ns: int,
    ) -> Item | None:
        item = self._make(side, direction, message, key, lane, time_ns)
        if item is not None:
            side.items[identity] = item
        return item

    def _remove(self, side: Side, identity: Identity) -> bool:
        item = side.items.pop(identity, None)
        if item is None:
            return False
        self._discard(item)
        return True

    def _discard(self, item: Item) -> None:
        item.is_live = False
        self._budget.bytes -= len(item.data) + _ITEM_BYTES
        self._budget.requests.pop(item, None)

    # --- losses and the end --------------------------------------------------------------

    def lose(self, direction: int) -> None:
        """Bytes of a direction are missing: aliases that may have changed are unknown."""
        side = self.sides[direction]
        side.is_lossy = True
        if side.reuses:
            for alias in side.aliases.values():
                self._discard(alias)
            side.aliases = {}

    def forget(self) -> None:
        """Nothing of the session is needed any more."""
        for side in self.sides:
            for item in side.aliases.values():
                self._discard(item)
            for item in list(side.items.values()):
                self._discard(item)
            for lane in side.lanes.values():
                self._drop_fragments(lane)
            side.aliases, side.items, side.lanes, side.modes = {}, {}, {}, {}


def _lane_key(message: Frame | Fragment) -> int:
    priority = DEFAULT_PRIORITY if message.qos is None else int(message.qos)
    return priority << 1 | message.reliable
