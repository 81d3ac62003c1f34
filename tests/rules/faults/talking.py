"""Faults of keys, declarations and interests."""

from __future__ import annotations

from tests.rules.chat import CONTROL, Chat
from tests.rules.faults.fault import asking_side, fault, up_side
from tests.rules.faults.on_the_wire import push
from zenlake.wire import (
    DeclareFinal,
    DeclareKeyExpr,
    DeclareSubscriber,
    DeclareToken,
    Err,
    Interest,
    Push,
    Put,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
)
from zenlake.wire.values.choices import InterestMode
from zenlake.wire.values.wire_expr import WireExpr

BELOW = ("client", "router")
KNOWN = InterestMode.CURRENT_FUTURE


def own_alias(chat: Chat, side: int) -> int:
    while not chat.ends[side].aliases:
        chat.alias(side)
    return next(iter(chat.ends[side].aliases))


@fault("alias-unknown")
def a_number_nobody_declared(chat: Chat) -> int:
    key = WireExpr(999, "/x", chat.random.random() < 0.5)
    return chat.send(chat.side(), Push(key, Put(b"v")))


@fault("alias-of-other-side")
def a_number_of_the_other_side(chat: Chat) -> int:
    side = chat.side()
    number = own_alias(chat, side)
    return chat.send(side, Push(WireExpr(number, "/x", sender=False), Put(b"v")))


@fault("alias-redefined")
def a_number_for_another_key(chat: Chat) -> int:
    side = chat.side()
    return chat.declare(side, DeclareKeyExpr(own_alias(chat, side), WireExpr(0, "other/key")))


@fault("alias-zero")
def a_key_of_number_0(chat: Chat) -> int:
    return chat.declare(chat.side(), DeclareKeyExpr(0, WireExpr(0, "zero")))


@fault("alias-undeclared-unknown")
def a_number_taken_back_that_was_not_given(chat: Chat) -> int:
    return chat.declare(chat.side(), UndeclareKeyExpr(999))


@fault("alias-nested")
def a_key_by_a_number(chat: Chat) -> int:
    side = chat.side()
    base = own_alias(chat, 1 - side)
    return chat.declare(side, DeclareKeyExpr(60_000, WireExpr(base, "/more", sender=False)))


@fault("key-not-canonical")
def a_key_that_is_not_canonical(chat: Chat) -> int:
    body = DeclareSubscriber(50_000, WireExpr(0, chat.random.choice(("a/**/**", "a/**/*"))))
    return chat.declare(up_side(chat), body)


@fault("key-invalid")
def a_key_that_is_none(chat: Chat) -> int:
    key = chat.random.choice(("a//b", "/a", "a/", "a#b", "a/b?c"))
    return chat.send(chat.side(), push(key))


@fault("key-empty")
def a_publication_without_a_key(chat: Chat) -> int:
    return chat.send(chat.side(), push(""))


@fault("response-key-empty")
def an_error_without_a_key(chat: Chat) -> int:
    side = chat.side()
    request = chat.request_message(side, "a/b")
    chat.send(side, request)
    error = chat.reply(1 - side, request.request_id, "", body=Err(b"bad"))
    packet = chat.send(1 - side, error)
    chat.final(1 - side, request.request_id)
    return packet


@fault("put-to-many")
def a_publication_with_wildcards(chat: Chat) -> int:
    return chat.send(chat.side(), push("a/*"))


# --- declarations -----------------------------------------------------------------------------


@fault("entity-redefined")
def a_number_for_another_entity(chat: Chat) -> int:
    side = up_side(chat)
    chat.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return chat.declare(side, DeclareSubscriber(50_000, WireExpr(0, "two")))


@fault("entity-id-zero")
def a_token_of_number_0(chat: Chat) -> int:
    return chat.declare(up_side(chat), DeclareToken(0, WireExpr(0, "zero")))


@fault("undeclared-unknown", also=("undeclared-without-key",))
def an_undeclaration_of_nothing(chat: Chat) -> int:
    return chat.declare(chat.side(), UndeclareSubscriber(9_999))


@fault("undeclared-other-kind")
def a_subscriber_undeclared_as_queryable(chat: Chat) -> int:
    side = up_side(chat)
    chat.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return chat.declare(side, UndeclareQueryable(50_000, UndeclaredKey(WireExpr(0, "one"))))


@fault("undeclared-without-key")
def an_undeclaration_by_number(chat: Chat) -> int:
    side = up_side(chat)
    chat.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return chat.declare(side, UndeclareSubscriber(50_000))


@fault("declaration-repeated")
def the_same_subscriber_again(chat: Chat) -> int:
    side = up_side(chat)
    chat.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return chat.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))


@fault("declaration-repeated")
def the_same_number_for_the_same_key_again(chat: Chat) -> int:
    side = chat.side()
    number = own_alias(chat, side)
    key = chat.ends[side].aliases[number]
    return chat.declare(side, DeclareKeyExpr(number, WireExpr(0, key)))


@fault("declaration-unasked", roles=BELOW)
@fault("declaration-unasked", roles=("peer", "router"))
@fault("declaration-unasked", roles=("client", "peer"))
def a_subscriber_nobody_asked_for(chat: Chat) -> int:
    return chat.declare(1 - asking_side(chat), DeclareSubscriber(50_000, WireExpr(0, "zz/no")))


@fault("answer-outside-interest", roles=BELOW)
def an_answer_on_another_key(chat: Chat) -> int:
    side = asking_side(chat)
    number, _, _, _ = chat.ask(side, KNOWN, "SUBSCRIBER", answered=False)
    body = DeclareSubscriber(50_000, WireExpr(0, "zz/no"))
    packet = chat.declare(1 - side, body, number)
    chat.declare(1 - side, DeclareFinal(), number)
    return packet


@fault("answer-outside-interest", roles=BELOW)
def an_answer_of_another_kind(chat: Chat) -> int:
    side = asking_side(chat)
    number, _, key, _ = chat.ask(side, KNOWN, "SUBSCRIBER", answered=False)
    packet = chat.declare(1 - side, DeclareToken(50_000, WireExpr(0, key)), number)
    chat.declare(1 - side, DeclareFinal(), number)
    return packet


@fault("answer-after-final", roles=BELOW)
def an_answer_after_the_last(chat: Chat) -> int:
    side = asking_side(chat)
    mode = chat.random.choice((KNOWN, InterestMode.CURRENT))
    number, kind, key, _ = chat.ask(side, mode, "TOKEN")
    return chat.declare(1 - side, chat.entity_message(1 - side, kind, 50_000, key), number)


@fault("answer-to-nothing")
def an_answer_to_no_interest(chat: Chat) -> int:
    return chat.declare(up_side(chat), DeclareToken(50_000, WireExpr(0, "one")), 9_999)


# --- interests --------------------------------------------------------------------------------


@fault("interest-id-reused", roles=BELOW)
def an_interest_of_a_number_in_use(chat: Chat) -> int:
    side = asking_side(chat)
    number, _, _, _ = chat.ask(side, KNOWN)
    key = WireExpr(0, "another")
    return chat.send(side, Interest(KNOWN, number, tokens=True, key=key, qos=CONTROL))


@fault("interest-id-zero", roles=BELOW)
def an_interest_of_number_0(chat: Chat) -> int:
    interest = Interest(InterestMode.FUTURE, 0, tokens=True, qos=CONTROL)
    return chat.send(asking_side(chat), interest)


@fault("interest-final-unknown", roles=BELOW)
def the_end_of_no_interest(chat: Chat) -> int:
    return chat.send(asking_side(chat), Interest(InterestMode.FINAL, 9_999, qos=CONTROL))


@fault("interest-empty", roles=BELOW)
def an_interest_in_nothing(chat: Chat) -> int:
    return chat.send(asking_side(chat), Interest(InterestMode.FUTURE, 9_999, qos=CONTROL))


@fault("interest-downwards", roles=BELOW)
@fault("interest-downwards", roles=("router", "router"))
def an_interest_of_a_router(chat: Chat) -> int:
    interest = Interest(InterestMode.FUTURE, 9_999, tokens=True, qos=CONTROL)
    return chat.send(1, interest)


@fault("interest-current-entities", roles=BELOW)
def current_subscribers(chat: Chat) -> int:
    interest = Interest(InterestMode.CURRENT, 9_999, subscribers=True, qos=CONTROL)
    return chat.send(asking_side(chat), interest)


@fault("final-unasked")
def a_final_of_no_interest(chat: Chat) -> int:
    return chat.declare(chat.side(), DeclareFinal(), chat.random.choice((None, 9_999)))


@fault("final-repeated", roles=BELOW)
def a_second_final(chat: Chat) -> int:
    side = asking_side(chat)
    number, _, _, _ = chat.ask(side, chat.random.choice((KNOWN, InterestMode.CURRENT)), "TOKEN")
    return chat.declare(1 - side, DeclareFinal(), number)


@fault("final-of-peers")
def a_final_of_interest_0(chat: Chat) -> int:
    return chat.declare(chat.side(), DeclareFinal(), 0)


@fault("final-for-future", roles=BELOW)
def a_final_of_a_future_interest(chat: Chat) -> int:
    side = asking_side(chat)
    number, _, _, _ = chat.ask(side, InterestMode.FUTURE, answered=False)
    return chat.declare(1 - side, DeclareFinal(), number)


@fault("final-missing", roles=BELOW, ends=True)
def an_interest_without_a_final(chat: Chat) -> int:
    side = asking_side(chat)
    _, _, _, packet = chat.ask(side, KNOWN, answered=False)
    chat.live(14)
    return packet
