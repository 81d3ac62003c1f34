"""Rules about subscribers, queryables and tokens: their numbers, and to whom they are announced."""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr.texts import texts_intersect
from zenlake.rules.facts import OpenInterest, Seen, SideFacts
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition
from zenlake.trace.keys import ENTITIES, UNDECLARED
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Interest,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.values.choices import InterestMode

KINDS: Final = ("SUBSCRIBER", "QUERYABLE", "TOKEN")
_GRACE_NS: Final = 2_000_000_000
"""An answer may cross the end of its interest on the network, so it may come so much later."""


@rule(
    "entity-redefined",
    ERROR,
    Declare,
    text="The number of a declared subscriber, queryable or token is not assigned to another key.",
    page="Declarations, D_SUBSCRIBER; behaviour reference §3.1; SN-47",
    whole=True,
    bodies=ENTITIES,
)
def entity_redefined(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, ENTITIES) or body.id == 0 or seen.event.key is None:
        return None
    known = seen.sender.entities.get((body.NAME[2:], body.id))
    if known is None or known == seen.event.key:
        return None
    return f"{body.NAME[2:].lower()} {body.id} is {known!r}, and is declared as {seen.event.key!r}"


@rule(
    "entity-id-zero",
    NOTE,
    Declare,
    text="Numbers of subscribers, queryables and tokens are unique in a session. Between routers,"
    " and in answers to a liveliness query, deployed nodes use the number 0 for all of them.",
    page="Declarations, D_SUBSCRIBER; SN-47",
    bodies=ENTITIES,
    screen=Condition("entity_id == 0"),
)
def entity_id_zero(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, ENTITIES) or body.id or seen.facts.is_multicast:
        return None
    return f"{body.NAME} of number 0"


@rule(
    "undeclared-unknown",
    WARNING,
    Declare,
    text="An entity that is undeclared by its number alone was declared with that number.",
    page="Declarations, U_SUBSCRIBER; behaviour reference §3.6",
    whole=True,
    bodies=UNDECLARED,
)
def undeclared_unknown(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, UNDECLARED) or body.id == 0 or _names_key(body):
        return None
    kind = body.NAME[2:]
    if (kind, body.id) in seen.sender.entities or _other_kind(seen.sender, kind, body.id):
        return None
    return f"{kind.lower()} {body.id} is not declared"


@rule(
    "undeclared-other-kind",
    ERROR,
    Declare,
    text="A number is undeclared as what it was declared: subscriber, queryable or token.",
    page="Declarations, U_SUBSCRIBER, U_QUERYABLE, U_TOKEN; behaviour reference §3.6",
    whole=True,
    bodies=UNDECLARED,
)
def undeclared_other_kind(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, UNDECLARED) or body.id == 0:
        return None
    kind = body.NAME[2:]
    if (kind, body.id) in seen.sender.entities:
        return None
    other = _other_kind(seen.sender, kind, body.id)
    return f"{kind.lower()} {body.id} is a {other.lower()}" if other else None


@rule(
    "undeclared-without-key",
    NOTE,
    Declare,
    text="Undeclarations carry the key. Deployed nodes leave it out, or empty, except between"
    " routers.",
    page="Declarations, U_SUBSCRIBER; SN-46",
    bodies=UNDECLARED,
    screen=Condition("key_scope == 0 and key_suffix_length == 0"),
)
def undeclared_without_key(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, UNDECLARED) or _names_key(body):
        return None
    return f"{body.NAME} {body.id} has no key"


@rule(
    "declaration-repeated",
    NOTE,
    Declare,
    text="A declaration is sent once in a session. Deployed nodes repeat it"
    " for another interest, and when a queryable changes.",
    page="Declarations, Propagation; SN-56",
    whole=True,
    bodies=(DeclareKeyExpr, *ENTITIES),
)
def declaration_repeated(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if isinstance(body, DeclareKeyExpr):
        known = seen.sender.aliases.get(body.expr_id)
        if known is None or known != seen.event.key:
            return None
        return f"keyexpr {body.expr_id}, {known!r}"
    if not isinstance(body, ENTITIES) or body.id == 0:
        return None
    kind = body.NAME[2:]
    known = seen.sender.entities.get((kind, body.id))
    if known is None or known != seen.event.key:
        return None
    return f"{kind.lower()} {body.id}, {known!r}"


@rule(
    "declaration-unasked",
    ERROR,
    Declare,
    text="A node below (a client of a peer or router, a peer of a router) receives only"
    " declarations that it asked for with INTEREST.",
    page="Declarations, Propagation; behaviour reference §3.1, §3.2; SN-55",
    whole=True,
    bodies=ENTITIES,
    screen=Condition("not has.interest_id"),
    unredacted=True,
)
def declaration_unasked(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, ENTITIES) or message.interest_id is not None or not seen.goes_down:
        return None
    now_ns = seen.event.time_ns
    for interest in seen.receiver.interests.values():
        if covers(interest.interest, interest.key, body.NAME[2:], seen.event.key):
            return None
    for ended in seen.receiver.history.ended_interests.values():
        is_fresh = now_ns - ended.place.time_ns <= _GRACE_NS
        if is_fresh and covers(ended.interest, ended.key, body.NAME[2:], seen.event.key):
            return None
    return f"{body.NAME} {body.id}, {seen.event.key!r}, without an interest in it"


@rule(
    "answer-outside-interest",
    ERROR,
    Declare,
    text="A declaration that answers an interest is of a kind and a key that it asks for.",
    page="Message Reference, INTEREST; behaviour reference §3.2",
    whole=True,
    bodies=ENTITIES,
    screen=Condition("interest_id"),
)
def answer_outside_interest(message: Declare, seen: Seen) -> str | None:
    body = message.body
    interest = _answered(message, seen)
    if interest is None or not isinstance(body, ENTITIES):
        return None
    if covers(interest.interest, interest.key, body.NAME[2:], seen.event.key):
        return None
    return f"{body.NAME} {seen.event.key!r} answers interest {interest.id}, {interest.key!r}"


@rule(
    "answer-after-final",
    ERROR,
    Declare,
    text="After D_FINAL no declaration answers that interest.",
    page="Declarations, D_FINAL; behaviour reference §3.2",
    whole=True,
    bodies=ENTITIES,
    screen=Condition("interest_id"),
)
def answer_after_final(message: Declare, seen: Seen) -> str | None:
    interest = _answered(message, seen)
    if interest is None or not interest.finals or not isinstance(message.body, ENTITIES):
        return None
    return f"{message.body.NAME} answers interest {interest.id} after its D_FINAL"


@rule(
    "answer-to-nothing",
    ERROR,
    Declare,
    text="A declaration with an interest's number answers an INTEREST that was sent.",
    page="Message Reference, DECLARE; Declarations, D_FINAL; behaviour reference §3.2",
    whole=True,
    bodies=ENTITIES,
    screen=Condition("interest_id"),
)
def answer_to_nothing(message: Declare, seen: Seen) -> str | None:
    id = message.interest_id
    if not id or not isinstance(message.body, ENTITIES):
        return None
    if id in seen.receiver.interests or id in seen.receiver.history.ended_interests:
        return None
    return f"{message.body.NAME} answers interest {id}, which no node opened"


def covers(interest: Interest, key: str | None, kind: str, declared: str | None) -> bool:
    """Whether an interest asks for such a declaration, as far as is known."""
    if kind == "SUBSCRIBER":
        wants = interest.subscribers
    elif kind == "QUERYABLE":
        wants = interest.queryables
    else:
        wants = interest.tokens
    if not wants or interest.key is None or key is None or declared is None:
        return wants
    return texts_intersect(key, declared) is not False


def _answered(message: Declare, seen: Seen) -> OpenInterest | None:
    id = message.interest_id
    if not id:
        return None
    interest = seen.receiver.interests.get(id)
    if interest is None:
        ended = seen.receiver.history.ended_interests.get(id)
        # If FINAL ended the interest, answers may still be in flight: only D_FINAL ends them.
        return ended if ended is not None and ended.finals else None
    return None if interest.interest.mode == InterestMode.FINAL else interest


def _names_key(body: UndeclareSubscriber | UndeclareQueryable | UndeclareToken) -> bool:
    key = body.key
    return key is not None and (key.key.scope != 0 or bool(key.key.suffix))


def _other_kind(side: SideFacts, kind: str, id: int) -> str:
    for other in KINDS:
        if other != kind and (other, id) in side.entities:
            return other
    return ""
