"""Keys: resolves key expressions by the aliases and declarations of a session.

An alias belongs to the side that declared it: M=1 means the sender's, M=0 the receiver's (wire
reference §14). An alias declared before the capture stays unknown and is never guessed.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import TRACE_ENTITIES_MAX
from zenlake.trace.events import MessageSeen
from zenlake.trace.session import KeyMemory, Node, Session
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    Push,
    Request,
    Response,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.values.wire_expr import WireExpr

# Tuples: isinstance with a union would create the union at each call.
ENTITIES: Final = (DeclareSubscriber, DeclareQueryable, DeclareToken)
UNDECLARED: Final = (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)


def key_of(session: Session, node: Node, direction: int, event: MessageSeen) -> str | None:
    message = event.message
    if isinstance(message, Push):
        wire_expr: WireExpr | None = message.key
    elif isinstance(message, (Response, Request, Interest)):
        wire_expr = message.key
    elif isinstance(message, Declare):
        body = message.body
        if isinstance(body, UNDECLARED):
            if body.key is None or (body.key.key.scope == 0 and not body.key.key.suffix):
                if body.id == 0 and node.is_lossy:
                    # Declarations with id 0 may be among the missing messages.
                    return None
                return node.entities.get((body.NAME[2:], body.id))
            wire_expr = body.key.key
        elif isinstance(body, UndeclareKeyExpr):
            return node.aliases.get(body.expr_id)
        elif isinstance(body, DeclareFinal):
            return None
        else:
            wire_expr = body.key
    else:
        return None
    if wire_expr is None:
        return None
    scope = wire_expr.scope
    if scope == 0:
        return wire_expr.suffix
    if not wire_expr.sender:
        if session.is_multicast:
            return None
        node = session.nodes[1 - event.link.sides[direction]]
    prefix = node.aliases.get(scope)
    return None if prefix is None else prefix + wire_expr.suffix


def declare(node: Node, message: Declare, key: str | None, memory: KeyMemory) -> None:
    """Remembers the keys of aliases and entity ids. Not for interest answers: they have no id."""
    body = message.body
    if isinstance(body, DeclareKeyExpr):
        known = node.aliases.get(body.expr_id)
        if known is None:
            node.aliases[body.expr_id] = memory.keep(node, key)
        elif known != key and node.is_lossy:
            # An alias in use keeps its key (behaviour reference §3.5), unless its undeclaration is
            # missing in the capture: the key is unknown then.
            node.aliases[body.expr_id] = None
    elif isinstance(body, UndeclareKeyExpr):
        node.aliases.pop(body.expr_id, None)
        node.reuses = True
    elif isinstance(body, ENTITIES):
        entity = (body.NAME[2:], body.id)
        if body.id == 0 and node.entities.get(entity, key) != key:
            # Between routers all entities have id 0; their keys differ.
            node.entities[entity] = None
        elif len(node.entities) < TRACE_ENTITIES_MAX:
            node.entities[entity] = memory.keep(node, key)
    elif isinstance(body, UNDECLARED):
        node.entities.pop((body.NAME[2:], body.id), None)
