"""A capture whose nodes send invalid key expressions in every field that has a key."""

from __future__ import annotations

from pathlib import Path

from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import Recorder
from tests.rules.session_writer import ACCEPTOR, OPENER
from zenlake.limits import KEY_EXPR_BYTES_MAX
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    InterestMode,
    Push,
    Put,
    Query,
    Reply,
    Request,
    Response,
    UndeclaredKey,
    UndeclareToken,
    WireExpr,
)

ODD_KEYS = (
    *("", "/", "//", "a/", "/a", "a//b", "#", "a#b", "a/b?c", "$", "$$", "a$b", "a$*$*b", "$*"),
    *("a*b", "**a", "a/***", "**$*", "a/**/**", "a/**/*", "@", "@a/**/**", "a/@b", "é/\0"),
    *("a" * KEY_EXPR_BYTES_MAX, "/".join(["**", "x"] * 60)),
)
_ENTITIES = (DeclareSubscriber, DeclareQueryable, DeclareToken)


def odd_keys(path: Path) -> Path:
    recorder = Recorder(7)
    session = LegalSession(recorder, protocol="tcp", batch_size=65_535, roles=("client", "router"))
    session.open()
    for number, key in enumerate(ODD_KEYS, 1):
        _say(session, number, key, ODD_KEYS[-number])
    session.close()
    recorder.write(path)
    return path


def _say(session: LegalSession, number: int, key: str, other: str) -> None:
    asked = WireExpr(0, key)
    for turn, wanted in enumerate(("a/*", "**", key), 1):
        interest = 10 * number + turn
        asking = Interest(InterestMode.CURRENT_FUTURE, interest, key=WireExpr(0, wanted))
        asking.subscribers = asking.queryables = asking.tokens = True
        session.send(OPENER, asking)
        for made in _ENTITIES:
            for answer in (key, other):
                declared = made(1_000 * turn + number, WireExpr(0, answer))
                session.send(ACCEPTOR, Declare(declared, interest_id=interest))
    for side in (OPENER, ACCEPTOR):
        session.send(side, Declare(DeclareKeyExpr(number, asked)))
        session.send(side, Push(asked, Put(b"x")))
        session.send(side, Request(number, asked, Query()))
        session.send(1 - side, Response(number, WireExpr(0, other), Reply(Put(b"y"))))
        session.send(side, Declare(UndeclareToken(number, UndeclaredKey(asked))))
