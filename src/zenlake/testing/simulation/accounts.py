"""Accounts: what the two sides of a wire declared to each other, as the tap hears it.

Whoever says a number must have said before what it stands for: numbers of keys, of what is
declared and of interests; and every question is answered to its end once (behaviour reference
§3.1, §3.2, §3.5, §3.6).
"""

from __future__ import annotations

from zenlake.testing.simulation.journal import Failure
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
    InterestMode,
    NetworkMessage,
    Push,
    Request,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
)


class Side:
    """What one side has said."""

    def __init__(self) -> None:
        self.aliases: dict[int, str] = {}
        self.declared: dict[tuple[str, int], str] = {}
        self.interests: set[int] = set()
        self.asked: set[int] = set()
        self.unanswered: set[int] = set()


class Accounts:
    """Both sides; each message is checked when it is sent."""

    def __init__(self, sides: tuple[Side, Side] | None = None) -> None:
        self._sides = sides or (Side(), Side())

    def read(self, side: int, message: NetworkMessage) -> None:
        mine, theirs = self._sides[side], self._sides[1 - side]
        if isinstance(message, Push | Request):
            resolve(mine, theirs, message.key)
        elif isinstance(message, Interest):
            self._ask(mine, theirs, message)
        elif isinstance(message, Declare):
            self._declare(mine, theirs, message)

    def unanswered(self) -> list[int]:
        """Interests that wait for the end of their answer."""
        return [id for side in self._sides for id in sorted(side.unanswered)]

    def _ask(self, mine: Side, theirs: Side, interest: Interest) -> None:
        id = interest.id
        if interest.mode == InterestMode.FINAL:
            if id not in mine.interests:
                raise Failure(f"the end of interest {id}, which is none")
            mine.interests.remove(id)
            # Its answer may be on the way, or never come.
            mine.unanswered.discard(id)
            return
        if id in mine.asked:
            raise Failure(f"interest {id} is asked twice")
        if interest.key is not None:
            resolve(mine, theirs, interest.key)
        mine.asked.add(id)
        mine.unanswered.add(id)
        if interest.mode != InterestMode.CURRENT:
            mine.interests.add(id)

    def _declare(self, mine: Side, theirs: Side, message: Declare) -> None:
        body, asked = message.body, message.interest_id
        if asked and asked not in theirs.asked:
            raise Failure(f"an answer to interest {asked}, which is none")
        if isinstance(body, DeclareKeyExpr):
            self.number_key(mine, theirs, body)
        elif isinstance(body, DeclareFinal):
            if asked:
                if asked not in theirs.unanswered and asked in theirs.interests:
                    raise Failure(f"interest {asked} is answered to the end twice")
                theirs.unanswered.discard(asked)
        elif isinstance(body, DeclareSubscriber | DeclareQueryable | DeclareToken):
            key = resolve(mine, theirs, body.key)
            if body.id == 0 and not (isinstance(body, DeclareToken) and asked):
                raise Failure(f"{body.NAME} with number 0")
            if body.id and mine.declared.setdefault((_kind(body), body.id), key) != key:
                raise Failure(f"{body.NAME} {body.id} stands for two keys")
        elif isinstance(body, UndeclareSubscriber | UndeclareQueryable | UndeclareToken):
            if body.id == 0 and isinstance(body, UndeclareToken) and body.key is not None:
                resolve(mine, theirs, body.key.key)
            elif mine.declared.pop((_kind(body), body.id), None) is None:
                raise Failure(f"{body.NAME} {body.id}, which was not declared")

    def number_key(self, mine: Side, theirs: Side, body: DeclareKeyExpr) -> None:
        key = resolve(theirs, mine, body.key)
        if mine.aliases.setdefault(body.expr_id, key) != key:
            raise Failure(f"number {body.expr_id} stands for two keys")


def _kind(body: NetworkMessage | object) -> str:
    return type(body).__name__.removeprefix("Undeclare").removeprefix("Declare")


def resolve(mine: Side, theirs: Side, expr: WireExpr) -> str:
    """The key that the side `mine` means; `sender` says whose number it is."""
    if expr.scope == 0:
        return expr.suffix
    prefix = (mine if expr.sender else theirs).aliases.get(expr.scope)
    if prefix is None:
        raise Failure(f"number {expr.scope} of {'its own' if expr.sender else 'the other side'}")
    return prefix + expr.suffix
