"""Rules about requests, responses and their finals."""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr.texts import texts_intersect
from zenlake.rules.channels import qos_byte
from zenlake.rules.fact_updates import is_timeout
from zenlake.rules.facts import Ending, OpenRequest, Seen
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition, TrackedBy
from zenlake.wire import Err, Reply, Request, Response, ResponseFinal
from zenlake.wire.defaults import DEFAULT_QUERY_TIMEOUT_MS

_MARGIN_MS: Final = 2_000
_EXPRESS: Final = 0x10


@rule(
    "request-id-reused",
    ERROR,
    Request,
    text="The number of a request is not used again before its RESPONSE_FINAL.",
    page="Query, REQUEST; SN-90",
    whole=True,
    screen=TrackedBy("requests"),
)
def request_id_reused(message: Request, seen: Seen) -> str | None:
    known = seen.sender.requests.get(message.request_id)
    if known is None:
        return None
    return f"request {message.request_id} of packet {known.place.packet} is open"


@rule(
    "request-id-outside",
    NOTE,
    Request,
    text="The number of a request lies within the resolution agreed on. Deployed nodes always"
    " use 32 bits.",
    page="Query, REQUEST; SN-69",
    whole=True,
    screen=Condition("request_id >> agreed.request_id_bits"),
)
def request_id_outside(message: Request, seen: Seen) -> str | None:
    ack = seen.link_facts.init_ack
    if ack is None or ack.resolution is None:
        return None
    bits = ack.resolution.request_id_bits
    if message.request_id >> bits == 0:
        return None
    return f"{message.request_id} has more than {bits} bits"


@rule(
    "request-without-timeout",
    NOTE,
    Request,
    text="A request has a timeout. Without one, each hop uses its configured default.",
    page="Query, Timeout; SN-71",
    screen=Condition("not has.timeout_ms"),
)
def request_without_timeout(message: Request, seen: Seen) -> str | None:
    return f"request {message.request_id}" if message.timeout_ms is None else None


@rule(
    "response-without-request",
    ERROR,
    Response,
    ResponseFinal,
    text="A response has the number of a request that the receiver sent.",
    page="Reply, RESPONSE, 'must match the originating REQUEST'; behaviour reference §4.5",
    whole=True,
    screen=TrackedBy("requests"),
)
def response_without_request(message: Response | ResponseFinal, seen: Seen) -> str | None:
    id, asker = message.request_id, seen.receiver
    if id in asker.requests or id in asker.history.ended_requests or asker.forgets:
        return None
    return f"{message.NAME} {id}, without such a request"


@rule(
    "response-after-final",
    ERROR,
    Response,
    text="After RESPONSE_FINAL no response to that request is sent.",
    page="Reply, RESPONSE_FINAL; SN-72",
    whole=True,
    screen=TrackedBy("requests"),
)
def response_after_final(message: Response, seen: Seen) -> str | None:
    return None if _is_late(message, seen) else _after_final(message, seen)


@rule(
    "timeout-after-final",
    NOTE,
    Response,
    text="After RESPONSE_FINAL no response to that request is sent. If the timeout coincides with"
    " the final, deployed nodes send the error of the timeout, or a reply, after it.",
    page="Reply, RESPONSE_FINAL; behaviour reference §4.5; SN-104",
    whole=True,
    screen=TrackedBy("requests"),
)
def timeout_after_final(message: Response, seen: Seen) -> str | None:
    return _after_final(message, seen) if _is_late(message, seen) else None


def _after_final(message: Response, seen: Seen) -> str | None:
    id, asker = message.request_id, seen.receiver
    if id in asker.requests or id not in asker.history.ended_requests:
        return None
    return f"RESPONSE {id} after the RESPONSE_FINAL in packet {asker.history.ended_requests[id]}"


def _is_late(message: Response, seen: Seen) -> bool:
    """Whether a response is the error of a timeout, or comes after one."""
    is_over = message.request_id in seen.receiver.history.timed_out
    return is_over or is_timeout(message, seen.event.key)


@rule(
    "response-final-repeated",
    ERROR,
    ResponseFinal,
    text="A request gets exactly one RESPONSE_FINAL on each link it was sent on.",
    page="Reply, RESPONSE_FINAL; SN-72",
    whole=True,
    screen=TrackedBy("requests"),
)
def response_final_repeated(message: ResponseFinal, seen: Seen) -> str | None:
    id, asker = message.request_id, seen.receiver
    if id in asker.requests or id not in asker.history.ended_requests:
        return None
    return f"RESPONSE_FINAL {id} after the one in packet {asker.history.ended_requests[id]}"


@rule(
    "response-final-missing",
    ERROR,
    OpenRequest,
    text="Every request gets a RESPONSE_FINAL, at the latest at its timeout.",
    page="Reply, RESPONSE_FINAL; behaviour reference §4.5; SN-71, SN-72",
    whole=True,
    screen=TrackedBy("requests"),
)
def response_final_missing(request: OpenRequest, end: Ending) -> str | None:
    timeout_ms = DEFAULT_QUERY_TIMEOUT_MS if request.timeout_ms is None else request.timeout_ms
    waited_ms = (end.time_ns - request.place.time_ns) / 1e6
    if waited_ms < timeout_ms + _MARGIN_MS or waited_ms < 2 * timeout_ms:
        return None
    return f"request {request.id} got no RESPONSE_FINAL in {waited_ms / 1000:.1f} s"


@rule(
    "reply-key-outside",
    ERROR,
    Response,
    text="The key of a reply intersects the key of the query, unless that has `_anyke`.",
    page="behaviour reference §2.6",
    whole=True,
    screen=TrackedBy("requests"),
    unredacted=True,
)
def reply_key_outside(message: Response, seen: Seen) -> str | None:
    request, key = seen.receiver.requests.get(message.request_id), seen.event.key
    if request is None or request.any_key or not key or not request.key:
        return None
    if isinstance(message.body, Err) or texts_intersect(request.key, key) is not False:
        return None
    return f"a reply on {key!r} to a query on {request.key!r}"


@rule(
    "budget-exceeded",
    WARNING,
    Response,
    text="A request gets no more responses than its budget. Deployed nodes forward the budget"
    " and do not enforce it.",
    page="Query, Budget; SN-70",
    whole=True,
    screen=TrackedBy("requests"),
)
def budget_exceeded(message: Response, seen: Seen) -> str | None:
    request = seen.receiver.requests.get(message.request_id)
    if request is None or request.budget is None or request.responses < request.budget:
        return None
    return f"response {request.responses + 1} to a request with a budget of {request.budget}"


@rule(
    "response-qos",
    NOTE,
    Response,
    ResponseFinal,
    text="Responses and their final repeat priority and congestion control of the request.",
    page="wire reference §2.4; behaviour reference §2.10",
    whole=True,
    screen=TrackedBy("requests"),
)
def response_qos(message: Response | ResponseFinal, seen: Seen) -> str | None:
    request = seen.receiver.requests.get(message.request_id)
    own = qos_byte(message.qos) & ~_EXPRESS
    if request is None or own == request.qos & ~_EXPRESS:
        return None
    return f"QoS {own:#04x}, that of the request is {request.qos:#04x}"


@rule(
    "reply-consolidation",
    NOTE,
    Response,
    text="A reply may name a consolidation. Deployed nodes send none: the querier consolidates.",
    page="Reply, REPLY; SN-65",
    screen=Condition("has.consolidation"),
)
def reply_consolidation(message: Response, seen: Seen) -> str | None:
    body = message.body
    if not isinstance(body, Reply) or body.consolidation is None:
        return None
    return f"consolidation {body.consolidation}"
