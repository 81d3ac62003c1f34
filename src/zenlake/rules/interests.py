"""Rules about INTEREST, and D_FINAL that answers it."""

from __future__ import annotations

from typing import Final

from zenlake.rules.facts import Ending, OpenInterest, Seen
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition
from zenlake.wire import Declare, DeclareFinal, Interest
from zenlake.wire.values.choices import InterestMode

_ANSWER_NS: Final = 12_000_000_000
"""A gateway waits 10 s for nodes above it (behaviour reference §3.2); its timer is not exact."""


@rule(
    "interest-id-reused",
    ERROR,
    Interest,
    text="The number of an interest is not used again while it is in force.",
    page="behaviour reference §3.1",
    whole=True,
)
def interest_id_reused(message: Interest, seen: Seen) -> str | None:
    known = seen.sender.interests.get(message.id)
    if message.mode == InterestMode.FINAL or known is None:
        return None
    if known.interest.mode == message.mode and known.key == seen.event.key:
        return f"interest {message.id} is asked again"
    return f"interest {message.id} of packet {known.place.packet} is in force"


@rule(
    "interest-id-zero",
    NOTE,
    Interest,
    text="Interest 0 is reserved for the first declarations between peers. Clients of 1.0 to 1.7"
    " begin to count with it.",
    page="behaviour reference §3.1; SN-53, SN-101",
    screen=Condition("interest_id == 0"),
)
def interest_id_zero(message: Interest, seen: Seen) -> str | None:
    return "an interest of number 0" if message.id == 0 else None


@rule(
    "interest-final-unknown",
    WARNING,
    Interest,
    text="INTEREST FINAL ends an interest that is in force.",
    page="Message Reference, INTEREST; behaviour reference §3.2",
    whole=True,
)
def interest_final_unknown(message: Interest, seen: Seen) -> str | None:
    if message.mode != InterestMode.FINAL or message.id in seen.sender.interests:
        return None
    ended = seen.sender.history.ended_interests.get(message.id)
    if ended is not None and ended.finals and ended.interest.mode == InterestMode.CURRENT:
        return None
    return f"interest {message.id} is not in force"


@rule(
    "interest-empty",
    WARNING,
    Interest,
    text="An interest asks for key expressions, subscribers, queryables or tokens.",
    page="Message Reference, INTEREST; behaviour reference §3.1",
)
def interest_empty(message: Interest, seen: Seen) -> str | None:
    if message.mode == InterestMode.FINAL:
        return None
    wants = message.keyexprs or message.subscribers or message.queryables or message.tokens
    return None if wants else f"interest {message.id} asks for nothing"


@rule(
    "interest-downwards",
    WARNING,
    Interest,
    text="Interests are sent to nodes above and, by peers, to peers; others ignore them.",
    page="behaviour reference §3.1",
)
def interest_downwards(message: Interest, seen: Seen) -> str | None:
    routers = seen.sender.role == "router" and seen.receiver.role == "router"
    if not seen.goes_down and not routers:
        return None
    return f"a {seen.sender.role} asks a {seen.receiver.role}"


@rule(
    "interest-current-entities",
    NOTE,
    Interest,
    text="CURRENT alone is for tokens. Asked for subscribers or queryables, nodes from 1.9 on do"
    " not answer.",
    page="Message Reference, INTEREST; SN-54",
)
def interest_current_entities(message: Interest, seen: Seen) -> str | None:
    if message.mode != InterestMode.CURRENT or not (message.subscribers or message.queryables):
        return None
    return f"interest {message.id} asks for {'subscribers' * message.subscribers or 'queryables'}"


@rule(
    "final-unasked",
    ERROR,
    Declare,
    text="D_FINAL has the number of the interest that it answers.",
    page="Declarations, D_FINAL; behaviour reference §3.2",
    whole=True,
    bodies=(DeclareFinal,),
)
def final_unasked(message: Declare, seen: Seen) -> str | None:
    if not isinstance(message.body, DeclareFinal):
        return None
    id = message.interest_id
    if id is None:
        return "D_FINAL without the number of an interest"
    if id == 0 or id in seen.receiver.interests or id in seen.receiver.history.ended_interests:
        return None
    return f"D_FINAL of interest {id}, which no node opened"


@rule(
    "final-repeated",
    ERROR,
    Declare,
    text="An interest gets one D_FINAL.",
    page="Declarations, D_FINAL; behaviour reference §3.2",
    whole=True,
    bodies=(DeclareFinal,),
    screen=Condition("interest_id"),
)
def final_repeated(message: Declare, seen: Seen) -> str | None:
    id = message.interest_id
    if not isinstance(message.body, DeclareFinal) or not id:
        return None
    interest = seen.receiver.interests.get(id) or seen.receiver.history.ended_interests.get(id)
    if interest is None or not interest.finals:
        return None
    return f"a second D_FINAL of interest {id}"


@rule(
    "final-of-peers",
    NOTE,
    Declare,
    text="D_FINAL answers an INTEREST. Peers send one with number 0 after their first"
    " declarations, without an interest.",
    page="Declarations, D_FINAL; SN-53",
    bodies=(DeclareFinal,),
    screen=Condition("interest_id == 0"),
)
def final_of_peers(message: Declare, seen: Seen) -> str | None:
    if not isinstance(message.body, DeclareFinal) or message.interest_id != 0:
        return None
    is_asked = 0 in seen.receiver.interests or 0 in seen.receiver.history.ended_interests
    return None if is_asked else "D_FINAL of interest 0, which no node opened"


@rule(
    "final-for-future",
    NOTE,
    Declare,
    text="D_FINAL ends the current declarations. Routers from 1.9 on send it also for an interest"
    " that asks only for future ones.",
    page="Declarations, D_FINAL; SN-52",
    whole=True,
    bodies=(DeclareFinal,),
)
def final_for_future(message: Declare, seen: Seen) -> str | None:
    id = message.interest_id
    if not isinstance(message.body, DeclareFinal) or id is None:
        return None
    interest = seen.receiver.interests.get(id)
    if interest is None or interest.interest.mode != InterestMode.FUTURE:
        return None
    return f"D_FINAL of interest {id}, which is FUTURE"


@rule(
    "final-missing",
    WARNING,
    OpenInterest,
    text="An interest in current declarations is answered by D_FINAL.",
    page="Declarations, D_FINAL; behaviour reference §3.2",
    whole=True,
)
def final_missing(interest: OpenInterest, end: Ending) -> str | None:
    asked = interest.interest
    if not interest.asks_for_current or interest.finals:
        return None
    if asked.mode == InterestMode.CURRENT and (asked.subscribers or asked.queryables):
        return None
    waited_ns = end.time_ns - interest.place.time_ns
    if waited_ns < _ANSWER_NS:
        return None
    return f"interest {interest.id} got no D_FINAL in {waited_ns / 1e9:.1f} s"
