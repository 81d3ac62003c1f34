"""Fact updates: change the facts after the rules have checked a message or batch."""

from __future__ import annotations

from typing import Final

from zenlake.limits import RULES_OPEN_MAX
from zenlake.rules.channels import qos_byte
from zenlake.rules.facts import (
    OPENED,
    LinkFacts,
    OpenFragments,
    OpenInterest,
    OpenRequest,
    Seen,
    SessionFacts,
    SideFacts,
)
from zenlake.rules.finding import place_of
from zenlake.rules.link_states import node_links, states_of
from zenlake.rules.samples import stream_of
from zenlake.semantics.query_parameters import accepts_any_key
from zenlake.trace.channel import channel_key
from zenlake.trace.events import MessageSeen
from zenlake.trace.keys import ENTITIES, UNDECLARED
from zenlake.wire import (
    Close,
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    Err,
    Fragment,
    Frame,
    Init,
    Interest,
    Join,
    Oam,
    Open,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareKeyExpr,
)
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.values.choices import InterestMode

_MEMBERS_MAX: Final = 64
_NOT_NUMBERED: Final = (
    "its sequence number is not new",
    "its sequence number is outside the resolution",
)
_WITHOUT_FIRST: Final = "its first fragment is not here"
_STAGES: Final = ("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK")


def is_timeout(message: Response, key: str | None) -> bool:
    """Whether an intermediate node reports a timeout; such errors have no key."""
    body = message.body
    return isinstance(body, Err) and body.payload == b"Timeout" and key == ""


def update_facts(seen: Seen) -> None:
    """Applies a message to the facts of its sender."""
    message = seen.event.message
    if isinstance(message, Push):
        _push(message, seen)
    elif isinstance(message, (Frame, Fragment)):
        _carrier(message, seen)
    elif isinstance(message, Request):
        _request(message, seen)
    elif isinstance(message, Response):
        request = seen.receiver.requests.get(message.request_id)
        if request is not None:
            request.responses += 1
            request.is_timed_out |= is_timeout(message, seen.event.key)
    elif isinstance(message, ResponseFinal):
        if message.request_id in seen.receiver.requests:
            seen.receiver.end_request(message.request_id, seen.event.packet)
    elif isinstance(message, Declare):
        _declare(message, seen)
    elif isinstance(message, Interest):
        _interest(message, seen)
    elif isinstance(message, (Init, Open)):
        _handshake(message, seen.event, seen.link_facts)
    elif isinstance(message, Close):
        seen.link_facts.closed[seen.event.direction] = seen.event.packet
        seen.link_facts.close_reason[seen.event.direction] = message.reason
    elif isinstance(message, Join):
        _join(message, seen)
    elif isinstance(message, Oam):
        _link_states(message, seen.sender)


def _handshake(message: Init | Open, event: MessageSeen, link_facts: LinkFacts) -> None:
    if link_facts.stage == OPENED:
        return
    if isinstance(message, Init):
        if message.cookie is None:
            link_facts.init_syn = message
        else:
            link_facts.init_ack = message
    elif message.cookie is not None:
        link_facts.open_syn = message
    place = _STAGES.index(event.kind)
    link_facts.is_ordered = link_facts.is_ordered and place == link_facts.stage
    link_facts.stage = place + 1


def _join(message: Join, seen: Seen) -> None:
    if seen.link_facts.join is None and len(seen.facts.joins) < _MEMBERS_MAX:
        seen.facts.joins.append(message)
    seen.link_facts.join, seen.link_facts.join_ns = message, seen.event.time_ns
    seen.link_facts.stage = OPENED


def _carrier(message: Frame | Fragment, seen: Seen) -> None:
    side = seen.sender
    channel = channel_key(message)
    if side.after_fragments:
        side.after_fragments.pop(channel, None)
    if isinstance(message, Frame):
        if side.fragments:
            side.fragments.pop(channel, None)
            side.gave_up = side.gave_up and bool(side.fragments)
        return
    if message.first:
        side.gave_up = False
    if message.more and not message.drop:
        priority = DEFAULT_PRIORITY if message.qos is None else int(message.qos)
        side.fragments[channel] = OpenFragments(place_of(seen.event), priority, message.reliable)
    else:
        side.fragments.pop(channel, None)
        side.after_fragments[channel] = message.sn


def forget_fragments(message: Fragment, seen: Seen) -> None:
    """Applies an ignored fragment: some use a sequence number and end an incomplete message."""
    channel, side = channel_key(message), seen.sender
    if seen.event.ignored not in _NOT_NUMBERED:
        side.after_fragments.pop(channel, None)
        if seen.event.ignored != _WITHOUT_FIRST:
            side.fragments.pop(channel, None)


def _push(message: Push, seen: Seen) -> None:
    side, source = seen.sender, message.body.source_info
    if source is not None and len(side.source_sns) < RULES_OPEN_MAX:
        side.source_sns[str(source.zid), source.eid, stream_of(seen)] = source.sn


def _request(message: Request, seen: Seen) -> None:
    side, id = seen.sender, message.request_id
    if _is_full(seen.facts, len(side.requests)) or id in side.requests:
        return
    request = OpenRequest(seen.event, place_of(seen.event), id, qos_byte(message.qos))
    parameters = message.body.parameters
    request.any_key = parameters is not None and accepts_any_key(parameters)
    request.budget = message.budget
    request.timeout_ms = message.timeout_ms
    side.requests[id] = request
    side.history.ended_requests.pop(id, None)
    side.history.timed_out.discard(id)


def _declare(message: Declare, seen: Seen) -> None:
    side, body, key = seen.sender, message.body, seen.event.key
    if isinstance(body, DeclareKeyExpr):
        if not _is_full(seen.facts, len(side.aliases)):
            side.aliases.setdefault(body.expr_id, key)
    elif isinstance(body, UndeclareKeyExpr):
        side.aliases.pop(body.expr_id, None)
    elif isinstance(body, DeclareFinal):
        _final(message.interest_id, seen)
    elif isinstance(body, ENTITIES):
        if body.id and not _is_full(seen.facts, len(side.entities)):
            side.entities.setdefault((body.NAME[2:], body.id), key)
    elif isinstance(body, UNDECLARED):
        side.entities.pop((body.NAME[2:], body.id), None)


def _interest(message: Interest, seen: Seen) -> None:
    side, id = seen.sender, message.id
    if message.mode == InterestMode.FINAL:
        ended = side.interests.pop(id, None)
        if ended is not None:
            _end_interest(ended, seen, side)
        return
    if _is_full(seen.facts, len(side.interests)) or id in side.interests:
        return
    side.interests[id] = OpenInterest(message, seen.event.key, place_of(seen.event))
    side.history.ended_interests.pop(id, None)


def _final(id: int | None, seen: Seen) -> None:
    asker = seen.receiver
    interest = None if id is None else asker.interests.get(id)
    if interest is None or id is None:
        return
    interest.finals += 1
    if interest.interest.mode == InterestMode.CURRENT:
        del asker.interests[id]
        _end_interest(interest, seen, asker)


def _end_interest(interest: OpenInterest, seen: Seen, side: SideFacts) -> None:
    if _is_full(seen.facts, len(side.history.ended_interests)):
        return
    place = place_of(seen.event)
    interest.place = place
    side.history.ended_interests[interest.id] = interest


def _link_states(message: Oam, side: SideFacts) -> None:
    for state in states_of(message):
        if len(side.history.psids) >= RULES_OPEN_MAX:
            return
        if state.zid is not None:
            _name_node(side, state.psid, str(state.zid))
        side.history.state_sns[state.psid] = state.sn
        for psid in state.links:
            side.history.psids.setdefault(psid, "")
    for zid, links in node_links(states_of(message), side.history.psids).items():
        side.links_held += len(links) - len(side.history.node_links.pop(zid, ()))
        if side.links_held <= RULES_OPEN_MAX:
            side.history.node_links[zid] = links
        else:
            side.links_held -= len(links)


def _name_node(side: SideFacts, psid: int, zid: str) -> None:
    """Assign a psid to a node, which has only one: its earlier psid becomes free."""
    before = side.history.psids.get(psid)
    if before and before != zid:
        side.history.psid_of.pop(before, None)
        side.links_held -= len(side.history.node_links.pop(before, ()))
    earlier = side.history.psid_of.get(zid, psid)
    if earlier != psid and side.history.psids.get(earlier) == zid:
        side.history.psids[earlier] = ""
    side.history.psid_of[zid] = psid
    side.history.psids[psid] = zid


def _is_full(facts: SessionFacts, count: int) -> bool:
    """Whether a limit is reached; then the session counts as incomplete from now on."""
    if count < RULES_OPEN_MAX:
        return False
    facts.is_whole = False
    return True
