"""Faults of keys, declarations and interests."""

from __future__ import annotations

from tests.rules.faults.batches import push
from tests.rules.faults.fault import asking_side, fault, up_side
from tests.rules.legal_session import LegalSession
from tests.rules.session_writer import CONTROL
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


def own_alias(session: LegalSession, side: int) -> int:
    while not session.ends[side].aliases:
        session.alias(side)
    return next(iter(session.ends[side].aliases))


@fault("alias-unknown")
def a_number_nobody_declared(session: LegalSession) -> int:
    key = WireExpr(999, "/x", session.random.random() < 0.5)
    return session.send(session.side(), Push(key, Put(b"v")))


@fault("alias-of-other-side")
def a_number_of_the_other_side(session: LegalSession) -> int:
    side = session.side()
    number = own_alias(session, side)
    return session.send(side, Push(WireExpr(number, "/x", sender=False), Put(b"v")))


@fault("alias-redefined")
def a_number_for_another_key(session: LegalSession) -> int:
    side = session.side()
    return session.declare(side, DeclareKeyExpr(own_alias(session, side), WireExpr(0, "other/key")))


@fault("alias-zero")
def a_key_of_number_0(session: LegalSession) -> int:
    return session.declare(session.side(), DeclareKeyExpr(0, WireExpr(0, "zero")))


@fault("alias-undeclared-unknown")
def a_number_taken_back_that_was_not_given(session: LegalSession) -> int:
    return session.declare(session.side(), UndeclareKeyExpr(999))


@fault("alias-nested")
def a_key_by_a_number(session: LegalSession) -> int:
    side = session.side()
    base = own_alias(session, 1 - side)
    return session.declare(side, DeclareKeyExpr(60_000, WireExpr(base, "/more", sender=False)))


@fault("key-not-canonical")
def a_key_that_is_not_canonical(session: LegalSession) -> int:
    body = DeclareSubscriber(50_000, WireExpr(0, session.random.choice(("a/**/**", "a/**/*"))))
    return session.declare(up_side(session), body)


@fault("key-invalid")
def a_key_that_is_none(session: LegalSession) -> int:
    key = session.random.choice(("a//b", "/a", "a/", "a#b", "a/b?c"))
    return session.send(session.side(), push(key))


@fault("key-empty")
def a_publication_without_a_key(session: LegalSession) -> int:
    return session.send(session.side(), push(""))


@fault("response-key-empty")
def an_error_without_a_key(session: LegalSession) -> int:
    side = session.side()
    request = session.request_message(side, "a/b")
    session.send(side, request)
    error = session.reply(request.request_id, "", body=Err(b"bad"))
    packet = session.send(1 - side, error)
    session.final(1 - side, request.request_id)
    return packet


@fault("put-to-many")
def a_publication_with_wildcards(session: LegalSession) -> int:
    return session.send(session.side(), push("a/*"))


# --- declarations -----------------------------------------------------------------------------


@fault("entity-redefined")
def a_number_for_another_entity(session: LegalSession) -> int:
    side = up_side(session)
    session.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return session.declare(side, DeclareSubscriber(50_000, WireExpr(0, "two")))


@fault("entity-id-zero")
def a_token_of_number_0(session: LegalSession) -> int:
    return session.declare(up_side(session), DeclareToken(0, WireExpr(0, "zero")))


@fault("undeclared-unknown", also=("undeclared-without-key",))
def an_undeclaration_of_nothing(session: LegalSession) -> int:
    return session.declare(session.side(), UndeclareSubscriber(9_999))


@fault("undeclared-other-kind")
def a_subscriber_undeclared_as_queryable(session: LegalSession) -> int:
    side = up_side(session)
    session.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return session.declare(side, UndeclareQueryable(50_000, UndeclaredKey(WireExpr(0, "one"))))


@fault("undeclared-without-key")
def an_undeclaration_by_number(session: LegalSession) -> int:
    side = up_side(session)
    session.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return session.declare(side, UndeclareSubscriber(50_000))


@fault("declaration-repeated")
def the_same_subscriber_again(session: LegalSession) -> int:
    side = up_side(session)
    session.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))
    return session.declare(side, DeclareSubscriber(50_000, WireExpr(0, "one")))


@fault("declaration-repeated")
def the_same_number_for_the_same_key_again(session: LegalSession) -> int:
    side = session.side()
    number = own_alias(session, side)
    key = session.ends[side].aliases[number]
    return session.declare(side, DeclareKeyExpr(number, WireExpr(0, key)))


@fault("declaration-unasked", roles=BELOW)
@fault("declaration-unasked", roles=("peer", "router"))
@fault("declaration-unasked", roles=("client", "peer"))
def a_subscriber_nobody_asked_for(session: LegalSession) -> int:
    return session.declare(
        1 - asking_side(session), DeclareSubscriber(50_000, WireExpr(0, "zz/no"))
    )


@fault("answer-outside-interest", roles=BELOW)
def an_answer_on_another_key(session: LegalSession) -> int:
    side = asking_side(session)
    number, _, _, _ = session.ask(side, KNOWN, "SUBSCRIBER", answered=False)
    body = DeclareSubscriber(50_000, WireExpr(0, "zz/no"))
    packet = session.declare(1 - side, body, number)
    session.declare(1 - side, DeclareFinal(), number)
    return packet


@fault("answer-outside-interest", roles=BELOW)
def an_answer_of_another_kind(session: LegalSession) -> int:
    side = asking_side(session)
    number, _, key, _ = session.ask(side, KNOWN, "SUBSCRIBER", answered=False)
    packet = session.declare(1 - side, DeclareToken(50_000, WireExpr(0, key)), number)
    session.declare(1 - side, DeclareFinal(), number)
    return packet


@fault("answer-after-final", roles=BELOW)
def an_answer_after_the_last(session: LegalSession) -> int:
    side = asking_side(session)
    mode = session.random.choice((KNOWN, InterestMode.CURRENT))
    number, kind, key, _ = session.ask(side, mode, "TOKEN")
    return session.declare(1 - side, session.entity_message(1 - side, kind, 50_000, key), number)


@fault("answer-to-nothing")
def an_answer_to_no_interest(session: LegalSession) -> int:
    return session.declare(up_side(session), DeclareToken(50_000, WireExpr(0, "one")), 9_999)


# --- interests --------------------------------------------------------------------------------


@fault("interest-id-reused", roles=BELOW)
def an_interest_of_a_number_in_use(session: LegalSession) -> int:
    side = asking_side(session)
    number, _, _, _ = session.ask(side, KNOWN)
    key = WireExpr(0, "another")
    return session.send(side, Interest(KNOWN, number, tokens=True, key=key, qos=CONTROL))


@fault("interest-id-zero", roles=BELOW)
def an_interest_of_number_0(session: LegalSession) -> int:
    interest = Interest(InterestMode.FUTURE, 0, tokens=True, qos=CONTROL)
    return session.send(asking_side(session), interest)


@fault("interest-final-unknown", roles=BELOW)
def the_end_of_no_interest(session: LegalSession) -> int:
    return session.send(asking_side(session), Interest(InterestMode.FINAL, 9_999, qos=CONTROL))


@fault("interest-empty", roles=BELOW)
def an_interest_in_nothing(session: LegalSession) -> int:
    return session.send(asking_side(session), Interest(InterestMode.FUTURE, 9_999, qos=CONTROL))


@fault("interest-downwards", roles=BELOW)
@fault("interest-downwards", roles=("router", "router"))
def an_interest_of_a_router(session: LegalSession) -> int:
    interest = Interest(InterestMode.FUTURE, 9_999, tokens=True, qos=CONTROL)
    return session.send(1, interest)


@fault("interest-current-entities", roles=BELOW)
def current_subscribers(session: LegalSession) -> int:
    interest = Interest(InterestMode.CURRENT, 9_999, subscribers=True, qos=CONTROL)
    return session.send(asking_side(session), interest)


@fault("final-unasked")
def a_final_of_no_interest(session: LegalSession) -> int:
    return session.declare(session.side(), DeclareFinal(), session.random.choice((None, 9_999)))


@fault("final-repeated", roles=BELOW)
def a_second_final(session: LegalSession) -> int:
    side = asking_side(session)
    number, _, _, _ = session.ask(
        side, session.random.choice((KNOWN, InterestMode.CURRENT)), "TOKEN"
    )
    return session.declare(1 - side, DeclareFinal(), number)


@fault("final-of-peers")
def a_final_of_interest_0(session: LegalSession) -> int:
    return session.declare(session.side(), DeclareFinal(), 0)


@fault("final-for-future", roles=BELOW)
def a_final_of_a_future_interest(session: LegalSession) -> int:
    side = asking_side(session)
    number, _, _, _ = session.ask(side, InterestMode.FUTURE, answered=False)
    return session.declare(1 - side, DeclareFinal(), number)


@fault("final-missing", roles=BELOW, ends=True)
def an_interest_without_a_final(session: LegalSession) -> int:
    side = asking_side(session)
    _, _, _, packet = session.ask(side, KNOWN, answered=False)
    session.pass_time(14)
    return packet
