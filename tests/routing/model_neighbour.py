"""Neighbour: what a neighbour of a node has declared, and what it knows from messages."""

from __future__ import annotations

from zenlake.routing.declarations.entity import KINDS
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    InterestMode,
    Push,
    Request,
    ResponseFinal,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
)

Info = tuple[bool, int]
SUB, QBL, TOK = KINDS
PLAIN: Info = (False, 0)


class Neighbour:
    """The declarations of a neighbour, and what it knows from the messages it received."""

    def __init__(self, name: str, region: str) -> None:
        self.name = name
        self.region = region
        self.has: list[dict[int, tuple[str, Info]]] = [{}, {}, {}]
        self.asks: dict[int, tuple[str, tuple[int, ...], str]] = {}
        self.is_final = False  # a peer that has sent D_FINAL(0)
        self.next_id = 1
        self.aliases: dict[int, str] = {}
        self.announced: list[dict[int, tuple[str, Info]]] = [{}, {}, {}]
        self.asked: dict[int, tuple[str, bool]] = {}  # INTERESTs to it: key, finalized
        self.asked_kinds: dict[int, tuple[bool, bool]] = {}
        self.awaits: dict[int, int] = {}  # pending finals, by interest
        self.pushed: list[str] = []
        self.requests: list[tuple[int, str]] = []
        self.ended: list[int] = []

    def full(self, expr: WireExpr) -> str:
        if expr.scope == 0:
            return expr.suffix
        assert expr.sender, "this neighbour never declares aliases"
        return self.aliases[expr.scope] + expr.suffix

    def reads(self, message: object, key: str) -> None:
        if isinstance(message, Declare):
            self.reads_declaration(message, key)
        elif isinstance(message, Interest):
            if message.mode == InterestMode.FINAL:
                del self.asked[message.id]
            else:
                text = "" if message.key is None else self.full(message.key)
                assert message.id not in self.asked
                self.asked[message.id] = (text, False)
                lasting = message.mode == InterestMode.CURRENT_FUTURE
                self.asked_kinds[message.id] = (
                    message.subscribers and lasting,
                    message.queryables and lasting,
                )
        elif isinstance(message, Push):
            assert self.full(message.key) == key
            self.pushed.append(key)
        elif isinstance(message, Request):
            assert self.full(message.key) == key
            self.requests.append((message.request_id, key))
        elif isinstance(message, ResponseFinal):
            self.ended.append(message.request_id)

    def reads_declaration(self, message: Declare, key: str) -> None:
        body = message.body
        if isinstance(body, DeclareKeyExpr):
            assert body.expr_id not in self.aliases
            self.aliases[body.expr_id] = body.key.suffix
        elif isinstance(body, DeclareSubscriber | DeclareQueryable | DeclareToken):
            kind = SUB
            info = PLAIN
            if isinstance(body, DeclareQueryable):
                kind = QBL
                info = PLAIN if body.info is None else (body.info.complete, body.info.distance)
            elif isinstance(body, DeclareToken):
                kind = TOK
                if body.id == 0:
                    assert message.interest_id is not None
                    return
            assert self.full(body.key) == key
            assert self.announced[kind].get(body.id, (key,))[0] == key
            self.announced[kind][body.id] = (key, info)
            if message.interest_id:
                assert self.awaits.get(message.interest_id, 0) > 0 or self.region == "north"
        elif isinstance(body, UndeclareSubscriber):
            assert self.announced[SUB].pop(body.id)[0] == key
        elif isinstance(body, UndeclareQueryable):
            assert self.announced[QBL].pop(body.id)[0] == key
        elif isinstance(body, UndeclareToken):
            if body.id != 0:
                assert self.announced[TOK].pop(body.id)[0] == key
        elif isinstance(body, DeclareFinal) and message.interest_id:
            self.awaits[message.interest_id] -= 1
            assert self.awaits[message.interest_id] >= 0
