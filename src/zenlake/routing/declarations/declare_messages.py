"""DECLARE messages that are sent to a face."""

from __future__ import annotations

from zenlake.routing.declarations.entity import QUERYABLE, SUBSCRIBER
from zenlake.routing.face import CONTROL, Face
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclaredKey,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.wire_expr import WireExpr


def send_final(face: Face, interest_id: int) -> None:
    face.send(Declare(DeclareFinal(), interest_id, CONTROL), "")


def send_declaration(
    face: Face,
    kind: int,
    id: int,
    key: str,
    info: QueryableInfo,
    interest_id: int | None = None,
    node_id: int | None = None,
) -> None:
    expr = face.declared(key)
    body: DeclareSubscriber | DeclareQueryable | DeclareToken
    if kind == SUBSCRIBER:
        body = DeclareSubscriber(id, expr)
    elif kind == QUERYABLE:
        body = DeclareQueryable(id, expr, info if info.complete or info.distance else None)
    else:
        body = DeclareToken(id, expr)
    face.send(Declare(body, interest_id, CONTROL, node_id=node_id), key)


def send_undeclaration(face: Face, kind: int, id: int, key: str) -> None:
    """Send an undeclaration by id alone. Two kinds have an empty key in the field of the key."""
    undeclared = None if kind == SUBSCRIBER else UndeclaredKey(WireExpr(0, "", False))
    face.send(Declare(_undeclaration(kind, id, undeclared), qos=CONTROL), key)


def send_undeclaration_of_key(face: Face, kind: int, key: str, node_id: int | None = None) -> None:
    """Send an undeclaration by the key: to a neighbour that knows no id of the declaration."""
    body = _undeclaration(kind, 0, UndeclaredKey(face.declared(key)))
    face.send(Declare(body, qos=CONTROL, node_id=node_id), key)


def _undeclaration(
    kind: int, id: int, key: UndeclaredKey | None
) -> UndeclareSubscriber | UndeclareQueryable | UndeclareToken:
    if kind == SUBSCRIBER:
        return UndeclareSubscriber(id, key)
    if kind == QUERYABLE:
        return UndeclareQueryable(id, key)
    return UndeclareToken(id, key)
