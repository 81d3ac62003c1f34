"""DECLARE and INTEREST (the wire reference §12.5)."""

from __future__ import annotations

from tests.vectors.vector import Vector
from zenlake.wire import (
    Declaration,
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    InterestMode,
    QoS,
    QueryableInfo,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
)

NO_KEY = UndeclaredKey(WireExpr(0, "", sender=False))


def declare(
    body: Declaration, interest_id: int | None = None, node_id: int | None = None
) -> Declare:
    """A DECLARE with the QoS that deployed nodes give it."""
    return Declare(
        body,  # type: ignore[arg-type]  # a union of all declarations
        interest_id=interest_id,
        qos=QoS(0x08),
        node_id=node_id,
    )


VECTORS = (
    Vector(
        80,
        "9e 21 08 20 01 00 07 64 65 6d 6f 2f 62 65",
        "D_KEYEXPR 1 = demo/be",
        declare(DeclareKeyExpr(1, WireExpr(0, "demo/be", sender=False))),
    ),
    Vector(81, "9e 21 08 01 01", "U_KEYEXPR 1", declare(UndeclareKeyExpr(1)), "D"),
    Vector(
        82,
        "9e 21 08 62 02 02 03 2f 2a 2a",
        "D_SUBSCRIBER 2, sender scope 2 + /**",
        declare(DeclareSubscriber(2, WireExpr(2, "/**"))),
    ),
    Vector(83, "9e 21 08 03 02", "U_SUBSCRIBER 2, no extension", declare(UndeclareSubscriber(2))),
    Vector(
        84,
        "9e 21 08 83 00 5f 05 03 01 2f 2a 2a",
        "U_SUBSCRIBER 0 by key: sender scope 1 + /**",
        declare(UndeclareSubscriber(0, UndeclaredKey(WireExpr(1, "/**")))),
    ),
    Vector(
        85,
        "9e 21 08 c4 03 03 21 01",
        "D_QUERYABLE 3 complete, distance 0",
        declare(DeclareQueryable(3, WireExpr(3), QueryableInfo(complete=True))),
    ),
    Vector(
        86,
        "be 01 21 08 c4 01 01 21 81 06",
        "reply to interest 1: D_QUERYABLE complete, distance 3",
        declare(DeclareQueryable(1, WireExpr(1), QueryableInfo(True, 3)), 1),
    ),
    Vector(
        87,
        "9e 21 08 64 04 04 03 2f 2a 2a",
        "D_QUERYABLE 4 not complete",
        declare(DeclareQueryable(4, WireExpr(4, "/**"))),
    ),
    Vector(
        88,
        "9e 21 08 85 03 5f 02 00 00",
        "U_QUERYABLE 3, empty WireExpr",
        declare(UndeclareQueryable(3, NO_KEY)),
    ),
    Vector(
        89, "9e 21 08 46 05 05", "D_TOKEN 5, sender scope 5", declare(DeclareToken(5, WireExpr(5)))
    ),
    Vector(90, "9e 21 08 87 05 5f 02 00 00", "U_TOKEN 5", declare(UndeclareToken(5, NO_KEY))),
    Vector(91, "be 01 21 08 1a", "D_FINAL for interest 1", declare(DeclareFinal(), 1)),
    Vector(
        92,
        "9e a1 08 33 02 62 00 03 03 2f 2a 2a",
        "D_SUBSCRIBER 0 relayed with NodeId 2",
        declare(DeclareSubscriber(0, WireExpr(3, "/**")), node_id=2),
    ),
    Vector(
        93,
        "f9 01 53 01 21 08",
        "INTEREST 1 current+future, K S R M, sender scope 1",
        Interest(
            InterestMode.CURRENT_FUTURE,
            1,
            keyexprs=True,
            subscribers=True,
            key=WireExpr(1),
            qos=QoS(0x08),
        ),
    ),
    Vector(
        94,
        "f9 06 79 06 03 2f 2a 2a 21 08",
        "INTEREST 6 current+future tokens on scope 6 + /**",
        Interest(
            InterestMode.CURRENT_FUTURE,
            6,
            keyexprs=True,
            tokens=True,
            key=WireExpr(6, "/**"),
            qos=QoS(0x08),
        ),
    ),
    Vector(
        95,
        "b9 07 79 06 03 2f 2a 2a 21 08",
        "INTEREST 7 current tokens",
        Interest(
            InterestMode.CURRENT,
            7,
            keyexprs=True,
            tokens=True,
            key=WireExpr(6, "/**"),
            qos=QoS(0x08),
        ),
    ),
    Vector(96, "99 01 21 08", "INTEREST 1 final", Interest(InterestMode.FINAL, 1, qos=QoS(0x08))),
    Vector(
        97,
        "d9 09 02 21 08",
        "INTEREST 9 future, all subscribers",
        Interest(InterestMode.FUTURE, 9, subscribers=True, qos=QoS(0x08)),
        "D",
    ),
)
