"""TrackedMessages: the state of one link that later network messages depend on.

It has aliases, live declarations, open interests and requests, and link states. The rules are those
of `zenlake.trace`: a reader that starts from this state reads the same as one that started earlier.
"""

from __future__ import annotations

from zenlake.errors import WireError
from zenlake.limits import RECORDING_STATE_MESSAGE_BYTES_MAX
from zenlake.recording.tracked_items import ITEM_BYTES, Budget, Identity, Item
from zenlake.recording.tracked_side import Side
from zenlake.recording.tracked_topology import Announcement, TrackedTopology
from zenlake.trace.interest_answers import answers_current, remember_mode
from zenlake.trace.keys import ENTITIES, UNDECLARED
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    Oam,
    Request,
    ResponseFinal,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.codec import decode_link_states
from zenlake.wire.kinds import LINK_STATE_OAM_ID
from zenlake.wire.message import Message
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.wire_expr import WireExpr


class TrackedMessages:
    """The messages of both sides of a link; direction 0 is from the side that opened it."""

    __slots__ = ("_batch_order", "_budget", "count", "is_group", "sides")

    def __init__(self, is_group: bool, order: int, budget: Budget) -> None:
        self.is_group = is_group
        self.sides = (Side(), Side())
        self.count = order
        """The order of the last message."""
        self._batch_order = order
        self._budget = budget

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
                self._budget.requests[kept] = (side.items, identity)
        elif isinstance(message, ResponseFinal):
            self._remove(self.sides[1 - direction], ("REQUEST", message.request_id))
        elif isinstance(message, Oam):
            self._link_states(side, message, lane, time_ns)

    def _link_states(self, side: Side, message: Oam, lane: int, time_ns: int) -> None:
        if message.id != LINK_STATE_OAM_ID or not isinstance(message.body, bytes):
            return
        try:
            states = decode_link_states(message.body).link_states
        except WireError:
            return
        if side.topology is None:
            side.topology = TrackedTopology(self._budget)
            self._budget.has_topologies = True
        place = Announcement(self.count, self._batch_order, time_ns, lane, message.qos)
        side.topology.apply(states, place)

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
        elif isinstance(body, ENTITIES):
            if message.interest_id is not None and not body.id:
                is_token = isinstance(body, DeclareToken)
                if answers_current(other.modes, message.interest_id, is_token):
                    return
            self._declare_entity(direction, side, message, body, lane, time_ns)
        elif isinstance(body, UNDECLARED):
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
        """Declares an alias. One in use keeps its key; another key is stored as REMAPPED."""
        known = side.aliases.get(body.expr_id)
        if known is None:
            item = self._new_item(direction, message, body.key, lane, time_ns)
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
            # A repeated declaration continues the lifetime, with the newest attributes.
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

    def _new_item(
        self,
        direction: int,
        message: Message,
        key: WireExpr | None,
        lane: int,
        time_ns: int,
    ) -> Item | None:
        data = bytes(message)
        size = len(data) + ITEM_BYTES
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
        item = self._new_item(direction, message, key, lane, time_ns)
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
        self._budget.bytes -= len(item.data) + ITEM_BYTES
        self._budget.requests.pop(item, None)
