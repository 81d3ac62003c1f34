"""What no recorded vector of network messages shows, derived by hand.

Extensions of the wire reference §2.2, bodies that deployed nodes do not send, and extensions
nobody defined, which are kept.
"""

from __future__ import annotations

from tests.vectors.declarations import declare
from tests.vectors.vector import LinkStateVector, derived, zid
from zenlake.wire import (
    Declare,
    DeclareFinal,
    Del,
    Encoding,
    Err,
    Extension,
    Interest,
    InterestMode,
    LinkState,
    LinkStateList,
    Oam,
    Push,
    Put,
    Query,
    QueryBody,
    Reply,
    Request,
    Response,
    ResponseFinal,
    SourceInfo,
    Timestamp,
    TimestampStack,
    UndeclaredKey,
    UndeclareQueryable,
    UndeclareToken,
    WireExpr,
)

SEVEN = Timestamp(7, zid("aa"))
SOURCE = SourceInfo(zid("aa"), 6, 1)
NO_STAMPS = TimestampStack(1, ())


NETWORK = (
    derived(
        "M1",
        "dd 09 c2 03 07 01 aa 47 02 01 00 02",
        "PUSH with Timestamp and an empty TsStack",
        Push(WireExpr(9), Del(), timestamp=SEVEN, stamps=NO_STAMPS),
    ),
    derived(
        "M2",
        "dc 01 09 c2 03 07 01 aa 47 02 01 00 03",
        "REQUEST with Timestamp and an empty TsStack",
        Request(1, WireExpr(9), Query(), timestamp=SEVEN, stamps=NO_STAMPS),
    ),
    derived(
        "M3",
        "db 01 09 c2 03 07 01 aa 47 02 01 00 04 02",
        "RESPONSE with Timestamp and an empty TsStack",
        Response(1, WireExpr(9), Reply(Del()), timestamp=SEVEN, stamps=NO_STAMPS),
    ),
    derived(
        "M4",
        "9a 01 42 03 07 01 aa",
        "RESPONSE_FINAL with Timestamp",
        ResponseFinal(1, timestamp=SEVEN),
    ),
    derived(
        "M5",
        "9e 42 03 07 01 aa 1a",
        "DECLARE with Timestamp",
        Declare(DeclareFinal(), timestamp=SEVEN),
    ),
    derived(
        "M6",
        "b9 09 84 c2 03 07 01 aa 33 02",
        "INTEREST aggregate queryables, with Timestamp and NodeId",
        Interest(
            InterestMode.CURRENT, 9, queryables=True, aggregate=True, timestamp=SEVEN, node_id=2
        ),
    ),
    derived(
        "M7",
        "bf 02 42 03 07 01 aa 2a",
        "network OAM of a number, with Timestamp",
        Oam(2, timestamp=SEVEN, body=42),
    ),
    derived("M8", "1f 80 01", "network OAM 128 without body", Oam(128)),
    derived(
        "M9",
        "9e 21 08 87 05 5f 05 03 05 2f 61 62",
        "U_TOKEN 5 with the key",
        declare(UndeclareToken(5, UndeclaredKey(WireExpr(5, "/ab")))),
    ),
    derived(
        "M10",
        "9e 21 08 85 05 5f 02 00 05",
        "U_QUERYABLE 5 with a receiver's scope",
        declare(UndeclareQueryable(5, UndeclaredKey(WireExpr(5, sender=False)))),
    ),
    derived(
        "M11",
        "9e 21 08 9a 2e ac 02",
        "D_FINAL with an unknown extension",
        declare(DeclareFinal((Extension(0x2E, 300),))),
    ),
)

DATA = (
    derived(
        "P1",
        "5d 09 82 c1 04 00 aa 06 01 42 01 7a",
        "DEL with SourceInfo and attachment",
        Push(WireExpr(9), Del(source_info=SOURCE, attachment=b"z")),
    ),
    derived(
        "P2",
        "5d 09 81 c1 04 00 aa 06 01 92 c3 00 0e 02 00 01 31 01 00",
        "PUT with everything: SourceInfo, Shm of two slices, empty attachment, unknown",
        Push(
            WireExpr(9),
            Put(
                bytes.fromhex("02 00 01 31 01 00"),
                source_info=SOURCE,
                shm=True,
                attachment=b"",
                extensions=(Extension(0x0E),),
            ),
        ),
    ),
    derived(
        "P3",
        "5c 01 09 83 c1 04 00 aa 06 01 84 43 a2 1f 00 01 01 07 88 27 a1 b8 01 00 00",
        "QUERY with SourceInfo and a body in shared memory",
        Request(
            1,
            WireExpr(9),
            Query(
                source_info=SOURCE,
                body_shm=4002,
                body=QueryBody(Encoding(0), bytes.fromhex("01 01 07 88 27 a1 b8 01 00 00")),
            ),
        ),
    ),
    derived(
        "P4",
        "5b 01 09 85 c1 04 00 aa 06 01 12 01 21",
        "ERR with SourceInfo and Shm, the payload plain",
        Response(1, WireExpr(9), Err(b"!", source_info=SOURCE, shm=True)),
    ),
    derived(
        "P5",
        "5b 01 09 84 ac 05 4e 00 02",
        "REPLY with two unknown extensions",
        Response(
            1, WireExpr(9), Reply(Del(), extensions=(Extension(0x2C, 5), Extension(0x4E, b"")))
        ),
    ),
    derived(
        "P6",
        "5c 01 09 83 43 01 00",
        "QUERY with an empty body of the default encoding",
        Request(1, WireExpr(9), Query(body=QueryBody(Encoding(0), b""))),
    ),
)

LINK_STATES = (
    LinkStateVector(
        "L1",
        "01 18 00 01 02 05 06 64 ac 02",
        "a gateway with weighted links",
        LinkStateList((LinkState(psid=0, sn=1, links=(5, 6), gateway=True, weights=(100, 300)),)),
    ),
)

VECTORS = NETWORK + DATA
