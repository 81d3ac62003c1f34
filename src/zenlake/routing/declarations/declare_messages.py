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
    face: Face, kind: int, id: int, key: str, info: QueryableInfo, interest_id: int | None
) -> None:
    expr = face.declared(key)
    body: DeclareSubscriber | DeclareQueryable | DeclareToken
    if kind == SUBSCRIBER:
        body = DeclareSubscriber(id, expr)
    elif kind == QUERYABLE:
        body = DeclareQueryable(id, expr, info if info.complete or info.distance else None)
    else:
        body = DeclareToken(id, expr)
    face.send(Declare(body, interest_id, CONTROL), key)


def send_undeclaration(face: Face, kind: int, id: int, key: str) -> None:
    """Send an undeclaration by id alone. Two kinds have an empty key in the field of the key."""
    body: UndeclareSubscriber | UndeclareQueryable | UndeclareToken
    if kind == SUBSCRIBER:
        body = UndeclareSubscriber(id)
    elif kind == QUERYABLE:
        body = UndeclareQueryable(id, UndeclaredKey(WireExpr(0, "", False)))
    else:
        body = UndeclareToken(id, UndeclaredKey(WireExpr(0, "", False)))
    face.send(Declare(body, qos=CONTROL), key)
