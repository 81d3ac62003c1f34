"""Answers: declarations that tell once what is there, and promise nothing.

A node that is asked for what is there now (mode CURRENT, as a liveliness get does) answers with
declarations that have no number, so that nobody can end them. The number 0 alone does not say
so: releases up to 1.8 count from 0, and routers number nothing among themselves (behaviour
reference §3.2, §3.6).
"""

from __future__ import annotations

from zenlake.limits import INTERESTS_PER_SESSION_MAX
from zenlake.trace.session import Node
from zenlake.wire import Declare, DeclareQueryable, DeclareSubscriber, DeclareToken, Interest
from zenlake.wire.values.choices import InterestMode


def remember_interest(asker: Node, interest: Interest) -> None:
    """Keeps the mode also after its end: answers may still be on their way."""
    if interest.mode != InterestMode.FINAL:
        remember_mode(asker.interests, interest.id, interest.mode == InterestMode.CURRENT)


def remember_mode(interests: dict[int, bool], id: int, is_current: bool) -> None:
    """The oldest makes room."""
    if len(interests) >= INTERESTS_PER_SESSION_MAX and id not in interests:
        del interests[next(iter(interests))]
    interests[id] = is_current


def is_answer(asker: Node | None, declare: Declare) -> bool:
    """Whether a declaration has no life: nobody ends it."""
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
    """Whether the interest of that number asks only for what is there now.

    Where the INTEREST was not seen, it is taken for a liveliness get: nothing else is usually
    asked in this mode. Peers tell at first what nobody asked for, some with the number 0.
    """
    known = interests.get(id)
    return is_token and id != 0 if known is None else known
