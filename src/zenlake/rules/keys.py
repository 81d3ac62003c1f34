"""Rules about key expressions and their aliases."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from zenlake.errors import KeyExprError
from zenlake.keyexpr.canonical import canonize, validate
from zenlake.rules.facts import Seen
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition, Irregular
from zenlake.trace.message_attributes import wire_key_of
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Err,
    Interest,
    Push,
    Put,
    Request,
    Response,
    UndeclareKeyExpr,
)

_WITH_KEY: Final = (Push, Request, Response, Interest, Declare)


@rule(
    "alias-unknown",
    ERROR,
    *_WITH_KEY,
    text="The number of a key expression was declared before it is used.",
    page="Declarations, D_KEYEXPR; wire reference §1.10, §12.7 N18",
    whole=True,
    screen=Condition("key.is_missing"),
)
def alias_unknown(message: Any, seen: Seen) -> str | None:
    key = wire_key_of(message)
    if key is None or key.scope == 0 or seen.event.key is not None:
        return None
    own, other = seen.sender.aliases, seen.receiver.aliases
    if key.scope in (own if key.sender else other) or key.scope in (other if key.sender else own):
        return None
    whose = "the sender" if key.sender else "the receiver"
    return f"{key.scope} of {whose}, which declared no such number"


@rule(
    "alias-of-other-side",
    ERROR,
    *_WITH_KEY,
    text="M says which side declared the number of the key: the sender (1) or the receiver (0).",
    page="Message Reference, M; wire reference §1.10",
    whole=True,
    screen=Condition("key.is_missing"),
)
def alias_of_other_side(message: Any, seen: Seen) -> str | None:
    key = wire_key_of(message)
    if key is None or key.scope == 0 or seen.event.key is not None:
        return None
    own, other = seen.sender.aliases, seen.receiver.aliases
    meant, wrong = (own, other) if key.sender else (other, own)
    if key.scope in meant or key.scope not in wrong:
        return None
    whose = ("the sender", "the receiver") if key.sender else ("the receiver", "the sender")
    return f"{key.scope} is marked as of {whose[0]}, but {whose[1]} declared it"


@rule(
    "alias-redefined",
    ERROR,
    Declare,
    text="The number of a key expression is not reused for another one before U_KEYEXPR.",
    page="Declarations, D_KEYEXPR; SN-49",
    whole=True,
    bodies=(DeclareKeyExpr,),
)
def alias_redefined(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, DeclareKeyExpr):
        return None
    known = seen.sender.aliases.get(body.expr_id)
    if known is None or seen.event.key is None or known == seen.event.key:
        return None
    return f"{body.expr_id} is {known!r}, and is declared as {seen.event.key!r}"


@rule(
    "alias-zero",
    ERROR,
    Declare,
    text="No key expression has the number 0; numbers are 1 to 65535.",
    page="Declarations, D_KEYEXPR; wire reference §1.10",
    bodies=(DeclareKeyExpr, UndeclareKeyExpr),
    screen=Condition("entity_id == 0"),
)
def alias_zero(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if isinstance(body, (DeclareKeyExpr, UndeclareKeyExpr)) and body.expr_id == 0:
        return f"{body.NAME} of number 0"
    return None


@rule(
    "alias-undeclared-unknown",
    WARNING,
    Declare,
    text="U_KEYEXPR undeclares a number that is declared.",
    page="Declarations, U_KEYEXPR; wire reference §1.10",
    whole=True,
    bodies=(UndeclareKeyExpr,),
)
def alias_undeclared_unknown(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, UndeclareKeyExpr) or body.expr_id in seen.sender.aliases:
        return None
    return None if body.expr_id == 0 else f"{body.expr_id} is not declared"


@rule(
    "alias-nested",
    WARNING,
    Declare,
    text="D_KEYEXPR has the whole key. A scope in it is looked up among the receiver's numbers.",
    page="Declarations, D_KEYEXPR; SN-48",
    bodies=(DeclareKeyExpr,),
    screen=Condition("key_scope"),
)
def alias_nested(message: Declare, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, DeclareKeyExpr) or body.key.scope == 0:
        return None
    return f"{body.expr_id} is declared by number {body.key.scope} and {body.key.suffix!r}"


@rule(
    "alias-in-group",
    ERROR,
    *_WITH_KEY,
    text="In a multicast group keys are sent whole, without numbers.",
    page="wire reference §8",
    screen=Irregular("NOT_TCP"),
)
def alias_in_group(message: Any, seen: Seen) -> str | None:
    if not seen.facts.is_multicast:
        return None
    key = wire_key_of(message)
    return None if key is None or key.scope == 0 else f"number {key.scope}"


@rule(
    "key-not-canonical",
    ERROR,
    *_WITH_KEY,
    text="A key expression is in canonical form.",
    page="behaviour reference §1.1, §1.2",
    screen=Condition("key.is_bad"),
)
def key_not_canonical(message: Any, seen: Seen) -> str | None:
    key = seen.event.key
    if not key or cause_of(key) is None:
        return None
    try:
        return f"{key!r} is written {canonize(key)!r}"
    except KeyExprError:
        return None


@rule(
    "key-invalid",
    ERROR,
    *_WITH_KEY,
    text="A key is a key expression; a message with another one is ignored.",
    page="behaviour reference §1.1; wire reference §12.7 N18; SN-51",
    screen=Condition("key.is_bad"),
)
def key_invalid(message: Any, seen: Seen) -> str | None:
    key = seen.event.key
    if not key:
        return None
    cause = cause_of(key)
    if cause is None:
        return None
    try:
        canonize(key)
    except KeyExprError:
        return cause
    return None


@rule(
    "key-empty",
    ERROR,
    Push,
    Request,
    Declare,
    text="Publications, queries and declarations have a key.",
    page="behaviour reference §1.1",
    screen=Condition("key.is_empty"),
)
def key_empty(message: Any, seen: Seen) -> str | None:
    if seen.event.key != "":
        return None
    if isinstance(message, Declare) and message.body.NAME.startswith("U_"):
        return None
    return "the key is empty"


@rule(
    "response-key-empty",
    NOTE,
    Response,
    text="A reply has a key; deployed nodes send errors without one.",
    page="Reply, RESPONSE; SN-82",
    screen=Condition("key.is_empty"),
)
def response_key_empty(message: Response, seen: Seen) -> str | None:
    if seen.event.key != "":
        return None
    return f"{'an error' if isinstance(message.body, Err) else 'a reply'} without a key"


@rule(
    "put-to-many",
    NOTE,
    Push,
    text="A value belongs to one key. Publications with wildcards are allowed, and reach"
    " subscribers of any of the keys.",
    page="behaviour reference §2.3",
    screen=Condition("key.is_wide"),
)
def put_to_many(message: Push, seen: Seen) -> str | None:
    key = seen.event.key
    if key is None or "*" not in key:
        return None
    return f"{'PUT' if isinstance(message.body, Put) else 'DEL'} of {key!r}"


@lru_cache(4_096)
def cause_of(key: str) -> str | None:
    """Why a key is invalid; cached, because most keys recur."""
    try:
        validate(key)
    except KeyExprError as error:
        return str(error)
    return None
