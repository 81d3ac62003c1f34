"""Interest answers: declarations that list what exists now, and are never undeclared.

A node answers an INTEREST of mode CURRENT (a liveliness get sends one) with declarations without
an id, so no undeclaration can follow. Id 0 alone does not identify them: releases up to 1.8 count
ids from 0, and routers use no ids among themselves (behaviour reference §3.2, §3.6).
"""

from __future__ import annotations

from zenlake.limits import INTERESTS_PER_SESSION_MAX
from zenlake.trace.session import Node
from zenlake.wire import Declare, DeclareQueryable, DeclareSubscriber, DeclareToken, Interest
from zenlake.wire.values.choices import InterestMode


def remember_interest(asker: Node, interest: Interest) -> None:
    """Remembers the mode. It is kept after the end of the interest: answers may still arrive."""
    if interest.mode != InterestMode.FINAL:
        remember_mode(asker.interests, interest.id, interest.mode == InterestMode.CURRENT)


def remember_mode(interests: dict[int, bool], id: int, is_current: bool) -> None:
    """Remembers one interest; at the limit it replaces the oldest."""
    if len(interests) >= INTERESTS_PER_SESSION_MAX and id not in interests:
        del interests[next(iter(interests))]
    interests[id] = is_current


def is_answer(asker: Node | None, declare: Declare) -> bool:
    """Whether a declaration only answers an interest of mode CURRENT, so that it has no end."""
    body = declare.body
    id = declare.interest_id
    if (
        id is None
        or not isinstance(body, (DeclareToken, DeclareSubscriber, DeclareQueryable))
        or body.id
    ):
        return False
    interests: dict[int, bool] = {} if asker is None else asker.interests
    return answers_current(interests, id, isinstance(body, DeclareToken))


def answers_current(interests: dict[int, bool], id: int, is_token: bool) -> bool:
    """Whether the interest with this id has mode CURRENT.

    If the INTEREST was not captured, a token counts as the answer to a liveliness get, the usual
    reason for this mode. A token with id 0 does not: some peers send their initial declarations so.
    """
    known = interests.get(id)
    return is_token and id != 0 if known is None else known
