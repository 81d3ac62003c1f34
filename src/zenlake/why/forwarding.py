"""Forwarding: which of the publications that a node received it sent to each subscriber."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from zenlake.trace.timelines.origins import is_behind_hidden_router
from zenlake.why.network import IN_CAPTURE_ONLY, Network
from zenlake.why.records import Declaration, Flow, Loss, Sample

_UNSURE_NS: Final = 50_000_000
"""Within this time of a declaration, it is uncertain whether a publication was due."""


@dataclass(slots=True)
class Forwarding:
    """A subscriber of the node that received a flow, and which publications were sent to it."""

    source: Flow
    """The flow that the node received."""
    declaration: Declaration
    flow: Flow | None
    """The flow to the subscriber; None if nothing was forwarded."""
    before: int
    """Publications before the subscriber was declared."""
    expected: int
    missing: list[Sample]
    cause: str
    losses: list[Loss] = field(default_factory=list)

    @property
    def never(self) -> bool:
        return self.flow is None and self.expected > 0


def forwardings(network: Network, flow: Flow) -> list[Forwarding]:
    """A forwarding for each node that subscribed while the key was published."""
    found: dict[str | None, Forwarding] = {}
    matching = network.matching(flow.receiver, flow.sender, "subscriber", flow.key)
    for declaration in matching:
        if declaration.sender == flow.receiver or declaration.declared is None:
            continue
        ended_ns = network.declaration_end_ns(declaration)
        if declaration.declared_ns > flow.last.time_ns or ended_ns < flow.first.time_ns:
            continue
        one = _forwarding(network, flow, declaration)
        known = found.get(declaration.sender)
        if known is None or len(one.missing) < len(known.missing) or one.before < known.before:
            found[declaration.sender] = one
    passed = [one for one in found.values() if one.flow is not None or one.expected]
    if any(one.flow is not None for one in passed):
        # Several routers may announce the same subscriber; the publication goes to the nearest.
        passed = [one for one in passed if not (one.never and _is_router(network, one))]
    return passed


def _is_router(network: Network, forwarding: Forwarding) -> bool:
    return network.role(forwarding.declaration.sender) == "router"


def all_forwardings(network: Network, flow: Flow) -> list[Forwarding]:
    """The forwardings of all nodes on the way."""
    found = forwardings(network, flow)
    seen = {flow.session}
    for one in found:  # the loop appends to the list
        if one.flow is not None and one.flow.session not in seen:
            seen.add(one.flow.session)
            found += forwardings(network, one.flow)
    return found


def _forwarding(network: Network, flow: Flow, declaration: Declaration) -> Forwarding:
    assert declaration.declared is not None
    sent = next(
        (
            one
            for one in network.sent_on(flow.receiver, flow.key)
            if one.session == declaration.session
        ),
        None,
    )
    from_ns = declaration.declared.time_ns + _UNSURE_NS
    until_ns = network.declaration_end_ns(declaration) - _UNSURE_NS
    arrived = _arrivals(flow.samples, [] if sent is None else sent.samples)
    # Samples are bounded: later publications cannot be compared.
    if sent is not None and sent.count - sent.ignored > len(sent.samples) and sent.samples:
        until_ns = min(until_ns, sent.samples[-1].at.time_ns)
    expected = [
        number
        for number, sample in enumerate(flow.samples)
        if from_ns <= sample.at.time_ns <= until_ns
    ]
    numbers = [number for number in expected if number not in arrived]
    missing = [flow.samples[number] for number in numbers]
    before = sum(sample.at.time_ns < declaration.declared.time_ns for sample in flow.samples)
    forwarding = Forwarding(flow, declaration, sent, before, len(expected), missing, "delivered")
    if missing:
        spans = [_span(network, flow, number, arrived) for number in numbers]
        forwarding.cause, forwarding.losses = _cause(network, flow, forwarding, spans)
    return forwarding


def _arrivals(sent: list[Sample], received: list[Sample]) -> dict[int, Sample]:
    """The publications that appear on the other link, by their number.

    They are compared from the last to the first: of equal payloads, a late subscriber gets the
    later ones. The order is not compared, because publications overtake those of lower priority.
    """
    found: dict[int, Sample] = {}
    free: dict[str | None, list[int]] = {}
    for number, sample in enumerate(sent):
        free.setdefault(sample.digest, []).append(number)
    for sample in reversed(received):
        # The digest is unknown for payloads in shared memory: they may be any.
        digests = [*free] if sample.digest is None else [sample.digest, None]
        ends = [numbers for digest in digests if (numbers := free.get(digest))]
        for numbers in ends:
            # What was sent later cannot have arrived earlier either.
            while numbers and sent[numbers[-1]].at > sample.at:
                numbers.pop()
        last = max(filter(None, ends), key=lambda numbers: numbers[-1], default=None)
        if last is not None:
            found[last.pop()] = sample
    return found


def _span(network: Network, flow: Flow, number: int, arrived: dict[int, Sample]) -> tuple[int, int]:
    """The time in which a publication was lost: until the next one arrived."""
    later = next(
        (arrived[place] for place in range(number, len(flow.samples)) if place in arrived), None
    )
    until_ns = network.evidence.last_ns if later is None else later.at.time_ns
    return flow.samples[number].at.time_ns, until_ns


def _cause(
    network: Network, flow: Flow, forwarding: Forwarding, spans: list[tuple[int, int]]
) -> tuple[str, list[Loss]]:
    if forwarding.flow is None and network.are_peers(flow.sender, forwarding.declaration.sender):
        return "not_relayed", []
    is_end = all(until_ns == network.evidence.last_ns for _, until_ns in spans)
    if is_end and is_behind_hidden_router(network, forwarding.declaration):
        return "not_visible", []
    losses = [
        loss
        for loss in network.losses(forwarding.declaration.session)
        if loss.sender in (flow.receiver, None)
    ]
    # The time of a hole is that of its detection: any hole of the link may have had the packets.
    holes = [loss for loss in losses if loss.kind in IN_CAPTURE_ONLY]
    if holes:
        return "capture_incomplete", holes
    for kind, cause in (("fragment", "incomplete_fragments"), ("sn_gap", "lost_on_link")):
        found = [
            loss
            for loss in losses
            if loss.kind == kind and any(a <= loss.at.time_ns <= b for a, b in spans)
        ]
        if found:
            return cause, found
    return ("congestion_drop" if flow.congestion == "drop" else "not_passed_on"), []
