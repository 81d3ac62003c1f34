"""REQUEST, RESPONSE and RESPONSE_FINAL (the wire reference §12.6)."""

from __future__ import annotations

from tests.vectors.vector import Vector, zid
from zenlake.wire import (
    ConsolidationMode,
    Del,
    Encoding,
    Err,
    Put,
    QoS,
    Query,
    QueryBody,
    QueryTarget,
    Reply,
    Request,
    ResponderId,
    Response,
    ResponseFinal,
    WireExpr,
)

TEXT = Encoding(4)
ME = zid("1020304050")

VECTORS = (
    Vector(
        112,
        "fc 01 00 03 72 2f 62 a1 0d 26 dc 0b 63 03 07 78 3d 31 3b 79 3d 32",
        "REQUEST 1 r/b?x=1;y=2, Latest, timeout 1500",
        Request(
            1,
            WireExpr(0, "r/b"),
            Query(consolidation=ConsolidationMode.LATEST, parameters="x=1;y=2"),
            qos=QoS(0x0D),
            timeout_ms=1500,
        ),
    ),
    Vector(
        113,
        "fc 02 00 03 72 2f 62 a1 0d b4 01 26 dc 0b a3 01 c3 05 08 62 6f 64 79 45 03 41 54 54",
        "REQUEST 2 target All, no consolidation, body, attachment",
        Request(
            2,
            WireExpr(0, "r/b"),
            Query(
                consolidation=ConsolidationMode.NONE,
                body=QueryBody(TEXT, b"body"),
                attachment=b"ATT",
            ),
            qos=QoS(0x0D),
            target=QueryTarget.ALL,
            timeout_ms=1500,
        ),
    ),
    Vector(
        114,
        "9c 01 02 a1 0d a6 e8 07 33 02 23 03",
        "relayed REQUEST, receiver scope 2, NodeId 2",
        Request(
            1,
            WireExpr(2, sender=False),
            Query(consolidation=ConsolidationMode.LATEST),
            qos=QoS(0x0D),
            timeout_ms=1000,
            node_id=2,
        ),
    ),
    Vector(
        115,
        "fc 07 00 01 61 a1 0d b4 01 a5 05 26 e8 07 03",
        "REQUEST with Budget 5, consolidation Auto",
        Request(
            7,
            WireExpr(0, "a"),
            Query(),
            qos=QoS(0x0D),
            target=QueryTarget.ALL,
            budget=5,
            timeout_ms=1000,
        ),
        "D",
    ),
    Vector(
        116,
        "fb 01 00 03 71 2f 62 a1 0d 43 07 40 50 40 30 20 10 09 04 41 08 01 72",
        'RESPONSE 1 REPLY PUT "r" from 1020304050/9',
        Response(
            1,
            WireExpr(0, "q/b"),
            Reply(Put(b"r", encoding=TEXT)),
            qos=QoS(0x0D),
            responder=ResponderId(ME, 9),
        ),
    ),
    Vector(
        117,
        "fb 01 00 03 71 2f 61 a1 0d 43 07 40 50 40 30 20 10 06 04 02",
        "RESPONSE REPLY DEL",
        Response(1, WireExpr(0, "q/a"), Reply(Del()), qos=QoS(0x0D), responder=ResponderId(ME, 6)),
    ),
    Vector(
        118,
        "fb 01 00 03 71 2f 61 a1 0d 43 07 40 50 40 30 20 10 06 45 08 03 62 61 64",
        'RESPONSE ERR "bad" text/plain',
        Response(
            1,
            WireExpr(0, "q/a"),
            Err(b"bad", encoding=TEXT),
            qos=QoS(0x0D),
            responder=ResponderId(ME, 6),
        ),
    ),
    Vector(
        119,
        "fb 01 00 03 72 2f 62 a1 0d 43 03 00 bb 07 04 81 43 01 41 02 72 32",
        "RESPONSE REPLY PUT with attachment",
        Response(
            1,
            WireExpr(0, "r/b"),
            Reply(Put(b"r2", attachment=b"A")),
            qos=QoS(0x0D),
            responder=ResponderId(zid("bb"), 7),
        ),
    ),
    Vector(
        120,
        "fb 07 00 01 61 a1 0d 43 04 10 01 02 09 24 02 01 01 78",
        "RESPONSE REPLY with consolidation Monotonic",
        Response(
            7,
            WireExpr(0, "a"),
            Reply(Put(b"x"), consolidation=ConsolidationMode.MONOTONIC),
            qos=QoS(0x0D),
            responder=ResponderId(zid("201"), 9),
        ),
        "D",
    ),
    Vector(121, "9a 01 21 0d", "RESPONSE_FINAL 1", ResponseFinal(1, qos=QoS(0x0D))),
    Vector(
        122,
        "9a 02 21 12",
        "RESPONSE_FINAL 2, QoS copied from an express InteractiveHigh request",
        ResponseFinal(2, qos=QoS(0x12)),
    ),
)
