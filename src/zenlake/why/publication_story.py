"""The story of a published key: which nodes received it, or why none did."""

from __future__ import annotations

from typing import Final

from zenlake.trace.timelines.origins import path_to_origin
from zenlake.why.absence import add_declaration, explain_absence
from zenlake.why.declaration_end import DeclarationEnd, describe_end
from zenlake.why.formatting import capture_again, counted, in_packet, key_text, listed, packets_text
from zenlake.why.forwarding import Forwarding, all_forwardings
from zenlake.why.network import Network
from zenlake.why.records import Declaration, Flow, Loss
from zenlake.why.scope import intersects
from zenlake.why.story import Story
from zenlake.why.undelivered import held_back, unreached

_LOSSES_SHOWN: Final = 5


def origins(network: Network) -> list[Flow]:
    """Flows whose sender is the publisher: it did not receive the key from another node."""
    received = {(flow.receiver, flow.key) for flow in network.evidence.flows.values()}
    return [
        flow
        for flow in network.evidence.flows.values()
        if (flow.sender, flow.key) not in received or flow.sender is None
    ]


def publication_story(network: Network, flow: Flow) -> Story:
    labels = network.labels
    story = Story("publication", "delivered", flow.first, flow.key, flow.session)
    story.involve(flow.sender, flow.receiver)
    story.cite(flow.first)
    _add_flow(story, network, flow, "publishes to")
    count = counted(flow.count, "publication")
    what = f"{count} of {key_text(flow.key)} from {labels.who(flow.sender)}"
    story.set_headline(f"{what}: {_delivery_text(network, flow, story)}.")
    return story


def _add_flow(story: Story, network: Network, flow: Flow, verb: str) -> None:
    labels = network.labels
    names = f"{labels.who(flow.sender)} {verb} {network.receiver(flow.session, flow.receiver)}"
    if flow.sender is None:
        names = f"an unnamed node publishes on {flow.session}"
    if flow.count == 1:
        story.add(flow.first, f"{names}: {key_text(flow.key)}")
        return
    how = f"{flow.congestion}, {flow.reliability.replace('_', ' ')}, priority {flow.priority}"
    story.add(flow.first, f"{names}: {key_text(flow.key)}, the first of {flow.count:,} ({how})")
    story.add(flow.last, f"{names}: {key_text(flow.key)}, the last one")


def _delivery_text(network: Network, flow: Flow, story: Story) -> str:
    labels = network.labels
    if flow.ignored:
        story.cause, story.culprit = "stale_sn", flow.sender
        return f"{flow.ignored:,} came with an old sequence number, which receivers ignore"
    session = network.evidence.sessions.get(flow.session)
    if network.is_group(flow.session):
        return "sent to the group, every member receives it"
    if flow.receiver is None or session is None:
        story.cause = "not_visible"
        return "the capture began after the handshake, so who sent it to whom is not known"
    own = _own(network, flow)
    passed = all_forwardings(network, flow)
    is_hint = own is not None and labels.role(flow.receiver) == "router"
    if own is not None and own.sender is not None and not is_hint:
        story.reached.append(own.sender)
    for one in passed:
        zid = one.declaration.sender
        story.involve(zid)
        if one.flow is not None and zid is not None and labels.role(zid) != "router":
            story.reached.append(zid)
        if one.flow is not None:
            _add_flow(story, network, one.flow, "passes it on to")
    bad = [one for one in passed if one.missing or one.never]
    if bad:
        text = _dropped(network, bad[0].source, bad[0], story)
        more = {one.declaration.sender for one in bad} - {bad[0].declaration.sender}
        others = counted(len(more), "other node lacks some too", "other nodes lack some too")
        return f"{text}. {others}" if more else text
    if own is not None and is_hint and not passed:
        return _hidden(network, flow, story, own)
    if own is not None or passed:
        return _delivered(network, flow, story, None if is_hint else own, passed)
    own_match = network.own_match(flow.sender, "subscriber", flow.key, flow.first)
    if own_match is not None:
        add_declaration(story, network, own_match, flow.last.time_ns)
        story.reached.append(flow.sender or "")
        who = labels.who(flow.sender)
        return f"{who} subscribes itself and receives it locally; no other node does"
    absence = explain_absence(
        network, flow.receiver, flow.sender, "subscriber", flow.key, flow.first
    )
    if absence is not None:
        absence.add_to(story, network)
        story.is_note = absence.cause == "not_visible"
        verb = "is seen to receive" if story.is_note else "received"
        return f"no subscriber {verb} it. Why: {absence.sentence}"
    story.cause = "not_passed_on"
    return f"{labels.who(flow.receiver)} has a subscriber for it, and did not pass it on in time"


def _own(network: Network, flow: Flow) -> Declaration | None:
    """A subscriber that the receiver itself declared to the publisher."""
    others = network.from_others(flow.receiver, flow.sender, "subscriber")
    forwarded = {declaration.key for declaration in others}
    for declaration in network.announced_by(flow.receiver, "subscriber"):
        if (
            declaration.receiver == flow.sender
            and declaration.key is not None
            and declaration.key not in forwarded
            and intersects(declaration.key, flow.key)
            and declaration.is_alive(flow.last.time_ns)
        ):
            return declaration
    return None


def _hidden(network: Network, flow: Flow, story: Story, announced: Declaration) -> str:
    """A router announced a subscriber to the publisher; no link shows whose it is."""
    add_declaration(story, network, announced, flow.last.time_ns)
    story.cause, story.is_note = "not_visible", True
    router = network.labels.who(flow.receiver)
    story.advice.append(f"Capture at {router}, on all of its links.")
    return (
        f"{router} received it, and had announced a subscriber{in_packet(announced.declared)}; "
        "which node that is, and whether it arrived there, is not in the capture"
    )


def _delivered(
    network: Network,
    flow: Flow,
    story: Story,
    own: Declaration | None,
    passed: list[Forwarding],
) -> str:
    labels = network.labels
    reached = [one.declaration.sender for one in passed if one.flow is not None]
    ends = [zid for zid in reached if labels.role(zid) != "router"]
    names = [labels.who(zid) for zid in ends or reached]
    if own is not None:
        names.append(labels.who(own.sender))
        add_declaration(story, network, own, flow.last.time_ns)
    passed = [one for one in passed if one.source is flow]
    early = min((one.before for one in passed), default=0) if own is None else 0
    text = f"delivered to {listed(list(dict.fromkeys(names)))}" + _explain_end(network, flow, story)
    if not early:
        return text
    first = min(
        (one.declaration for one in passed if one.declaration.declared),
        key=lambda declaration: declaration.declared or (0, 0),
    )
    first = path_to_origin(network, first)[-1]
    add_declaration(story, network, first, flow.last.time_ns)
    story.cause, story.is_note = "not_yet_declared", True
    story.culprit = first.sender
    at = first.declared.packet if first.declared else None
    story.advice.append(
        "Publications are not kept for later subscribers: wait for the publisher's matching "
        "status, or use a storage or an advanced publisher with a cache."
    )
    return (
        f"the first {early:,} reached no subscriber: {labels.who(first.sender)} declared its "
        f"subscriber {key_text(first.key)} only later (packet {at}); from then on {text}"
    )


def _explain_end(network: Network, flow: Flow, story: Story) -> str:
    """Publications after the last subscriber had gone; empty if there is nothing to report."""
    late = unreached(network, flow)
    if late is not None:
        gone = describe_end(network, late.last, late.samples[0].at)
        count = counted(len(late.samples), "publication")
        packets = packets_text([sample.at.packet for sample in late.samples])
        _blame(network, story, gone, flow.last.time_ns)
        return f", except {count} that reached no subscriber ({packets}): {gone.sentence}"
    silence = held_back(network, flow)
    if silence is None:
        return ""
    labels = network.labels
    gone = describe_end(network, silence.last, silence.since)
    _blame(network, story, gone, network.evidence.last_ns)
    return (
        f". {silence.when()} {labels.who(flow.sender)} knew of no subscriber: "
        "what it published in that time, if anything, stayed in it and is not in the capture. Why: "
        f"{gone.sentence}"
    )


def _blame(network: Network, story: Story, gone: DeclarationEnd, until_ns: int) -> None:
    story.cause, story.is_note, story.culprit = "gone", True, gone.culprit
    story.advice += gone.advice
    for declaration in gone.path[::-1]:
        add_declaration(story, network, declaration, until_ns)
        story.cite(declaration.ended)


def _dropped(network: Network, flow: Flow, bad: Forwarding, story: Story) -> str:
    labels = network.labels
    who, router = labels.who(bad.declaration.sender), labels.who(flow.receiver)
    add_declaration(story, network, bad.declaration, flow.last.time_ns)
    story.cause, story.culprit = bad.cause, flow.receiver
    if bad.never and bad.cause == "not_relayed":
        story.advice.append(
            "Let the peers find each other (gossip or multicast scouting), or make them clients."
        )
        return f"{who} subscribes, and {router} does not pass on from peer to peer"
    lost = [sample.at for sample in bad.missing]
    story.cite(*lost, *(loss.at for loss in bad.losses))
    for loss in bad.losses[:_LOSSES_SHOWN]:
        story.add(loss.at, f"{_loss_text(loss)} from {labels.who(loss.sender)} ({loss.kind})")
    packets = packets_text([at.packet for at in lost])
    total = f"{len(lost):,} of {bad.expected:,}"
    story.advice += _ADVICE.get(bad.cause, capture_again(bad.losses))
    if bad.cause == "congestion_drop":
        why = f"{router} received them and did not forward them: with congestion control drop it "
        why += "may, when its queue to that node is full"
    else:
        why = _WHY[bad.cause].format(router=router, who=who)
    return f"{total} did not reach {who} ({packets}). {why}"


def _loss_text(loss: Loss) -> str:
    if loss.kind == "fragment":
        return f"a message stays incomplete, {counted(loss.bytes or 0, 'byte')} given up,"
    if loss.kind == "sn_gap":
        return f"{counted(loss.count or 0, 'frame')} missing, by the sequence numbers,"
    return "the capture lacks bytes"


_WHY: Final = {
    "lost_on_link": "Sequence numbers are missing between {router} and {who}",
    "incomplete_fragments": "{router} began to send it in fragments and did not finish, or not all "
    "fragments arrived",
    "capture_incomplete": "The capture itself lacks packets of that link, so they may have arrived",
    "not_visible": "{who} had announced a subscriber behind another router, which may be gone: "
    "that is not in the capture, only link state says so",
    "not_passed_on": "{router} did not pass them on, and congestion control is not drop: access "
    "control, downsampling or a filter may be configured",
}
_BLOCK: Final = "Publish with CongestionControl.BLOCK where every message counts."
_ADVICE: Final[dict[str, list[str]]] = {
    "congestion_drop": [
        _BLOCK,
        "Or send less, or make the subscriber faster: slow callbacks block its link.",
    ],
    "lost_on_link": [_BLOCK, "Over UDP losses are normal: use TCP or a reliable link."],
    "incomplete_fragments": [
        _BLOCK,
        "Large messages need many fragments: if one is lost, the message is lost.",
    ],
    "not_passed_on": ["Look at the router's configuration: access_control, downsampling."],
    "not_relayed": [],
    "not_visible": ["Capture on all links of that router too."],
}
