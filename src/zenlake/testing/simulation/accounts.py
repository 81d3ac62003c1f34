"""Accounts: the declarations and interests that the two sides of a wire sent.

A side may only use ids that it has declared before: of keys, declarations and interests. Every
interest is answered with exactly one final (behaviour reference §3.1, §3.2, §3.5, §3.6).
"""

from __future__ import annotations

from zenlake.testing.simulation.journal import InvariantError
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
    """The ids that one side has declared."""

    def __init__(self) -> None:
        self.aliases: dict[int, str] = {}
        self.declared: dict[tuple[str, int], str] = {}
        self.interests: set[int] = set()
        self.sent_interests: set[int] = set()
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
            self._note_interest(mine, theirs, message)
        elif isinstance(message, Declare):
            self._declare(mine, theirs, message)

    def unanswered(self) -> list[int]:
        """Interests without a final."""
        return [id for side in self._sides for id in sorted(side.unanswered)]

    def _note_interest(self, mine: Side, theirs: Side, interest: Interest) -> None:
        id = interest.id
        if interest.mode == InterestMode.FINAL:
            if id not in mine.interests:
                raise InvariantError(f"the end of unknown interest {id}")
            mine.interests.remove(id)
            # The answer to the interest may be in transit, or never be sent.
            mine.unanswered.discard(id)
            return
        if id in mine.sent_interests:
            raise InvariantError(f"interest {id} is sent twice")
        if interest.key is not None:
            resolve(mine, theirs, interest.key)
        mine.sent_interests.add(id)
        mine.unanswered.add(id)
        if interest.mode != InterestMode.CURRENT:
            mine.interests.add(id)

    def _declare(self, mine: Side, theirs: Side, message: Declare) -> None:
        body, interest_id = message.body, message.interest_id
        if interest_id and interest_id not in theirs.sent_interests:
            raise InvariantError(f"an answer to unknown interest {interest_id}")
        if isinstance(body, DeclareKeyExpr):
            self.number_key(mine, theirs, body)
        elif isinstance(body, DeclareFinal):
            if interest_id:
                if interest_id not in theirs.unanswered and interest_id in theirs.interests:
                    raise InvariantError(f"interest {interest_id} has two finals")
                theirs.unanswered.discard(interest_id)
        elif isinstance(body, DeclareSubscriber | DeclareQueryable | DeclareToken):
            key = resolve(mine, theirs, body.key)
            if body.id == 0 and not (isinstance(body, DeclareToken) and interest_id):
                raise InvariantError(f"{body.NAME} with id 0")
            if body.id and mine.declared.setdefault((_kind(body), body.id), key) != key:
                raise InvariantError(f"{body.NAME} {body.id} is used for two keys")
        elif isinstance(body, UndeclareSubscriber | UndeclareQueryable | UndeclareToken):
            if body.id == 0 and isinstance(body, UndeclareToken) and body.key is not None:
                resolve(mine, theirs, body.key.key)
            elif mine.declared.pop((_kind(body), body.id), None) is None:
                raise InvariantError(f"{body.NAME} {body.id}, which was not declared")

    def number_key(self, mine: Side, theirs: Side, body: DeclareKeyExpr) -> None:
        key = resolve(theirs, mine, body.key)
        if mine.aliases.setdefault(body.expr_id, key) != key:
            raise InvariantError(f"key id {body.expr_id} is used for two keys")


def _kind(body: NetworkMessage | object) -> str:
    return type(body).__name__.removeprefix("Undeclare").removeprefix("Declare")


def resolve(mine: Side, theirs: Side, expr: WireExpr) -> str:
    """The full key of an expression that side `mine` sent."""
    if expr.scope == 0:
        return expr.suffix
    prefix = (mine if expr.sender else theirs).aliases.get(expr.scope)
    if prefix is None:
        raise InvariantError(
            f"key id {expr.scope} of {'its own' if expr.sender else 'the other side'}"
        )
    return prefix + expr.suffix
