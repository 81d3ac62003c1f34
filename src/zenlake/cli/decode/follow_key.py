"""`KeyFollower`: selects all messages that concern a key expression.

These are messages whose key intersects it, and messages without a key that belong to these: the
declaration of an alias that a key uses, the responses and the final of a request, and the end of
a declaration or interest.
"""

from __future__ import annotations

from typing import Any

from zenlake.cli.decode.follower import Follower, FollowerLine
from zenlake.keyexpr.canonical import canonize
from zenlake.limits import REMEMBERED_MAX
from zenlake.trace.comparison import keys_intersect
from zenlake.trace.events import MessageSeen, TraceEvent
from zenlake.trace.message_attributes import wire_key_of
from zenlake.trace.session import Node
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    Interest,
    Request,
    Response,
    ResponseFinal,
)

_Reference = tuple[str, Node | None, int]
"""What later messages refer to: the kind of the number, the node that assigned it, the number."""


class KeyFollower(Follower):
    def __init__(self, key: str, remembered_max: int = REMEMBERED_MAX) -> None:
        self._key = canonize(key)
        self._remembered_max = remembered_max
        self._answers: dict[str, bool] = {}
        self._aliases: dict[_Reference, MessageSeen] = {}
        self._references: dict[_Reference, None] = {}

    def feed(self, event: TraceEvent) -> list[FollowerLine]:
        if not isinstance(event, MessageSeen):
            return []
        reference = reference_of(event)
        belongs = self._intersects(event.key)
        if not belongs and reference is not None and _begins_reference(event):
            # The number was reused for something else.
            self._references.pop(reference, None)
        if not belongs and (reference is None or reference not in self._references):
            if reference is not None and _is_alias(event):
                self._remember(self._aliases, reference, event)
            return []
        if reference is not None:
            self._remember(self._references, reference, None)
        return [*self._alias_behind(event), FollowerLine(event)]

    def _alias_behind(self, event: MessageSeen) -> list[FollowerLine]:
        """The declaration of the alias that the message's key uses, when it is used first."""
        wire_key = wire_key_of(event.message)
        if wire_key is None or wire_key.scope == 0:
            return []
        owner = event.sender_node if wire_key.sender else event.receiver_node
        declared = self._aliases.pop(("KEYEXPR", owner, wire_key.scope), None)
        return [] if declared is None else [FollowerLine(declared)]

    def _intersects(self, key: str | None) -> bool:
        if key is None:
            return False
        answer = self._answers.get(key)
        if answer is None:
            answer = keys_intersect(self._key, key)
            self._remember(self._answers, key, answer)
        return answer

    def _remember(self, memory: dict[Any, Any], name: object, value: object) -> None:
        """Store an entry; beyond the limit, the oldest one is dropped."""
        memory[name] = value
        if len(memory) > self._remembered_max:
            del memory[next(iter(memory))]


def reference_of(event: MessageSeen) -> _Reference | None:
    """The reference that connects a message to others of its session."""
    message = event.message
    if isinstance(message, Request):
        return ("REQUEST", event.sender_node, message.request_id)
    if isinstance(message, (Response, ResponseFinal)):
        return ("REQUEST", event.receiver_node, message.request_id)
    if isinstance(message, Interest):
        return ("INTEREST", event.sender_node, message.id)
    if not isinstance(message, Declare):
        return None
    if isinstance(message.body, DeclareFinal):
        if message.interest_id is None:
            return None
        return ("INTEREST", event.receiver_node, message.interest_id)
    entity = event.kind.partition("_")[2]
    return (entity, event.sender_node, event.entity_id or 0)


def _begins_reference(event: MessageSeen) -> bool:
    """Whether a message declares an alias, which replaces an earlier one of the same number."""
    message = event.message
    if event.key is None:
        return False
    if isinstance(message, Declare):
        return event.kind.startswith("DECLARE/D_")
    return isinstance(message, (Request, Interest))


def _is_alias(event: MessageSeen) -> bool:
    message = event.message
    return isinstance(message, Declare) and isinstance(message.body, DeclareKeyExpr)
