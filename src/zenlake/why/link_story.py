"""Losses on links. The keys of lost messages are not known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zenlake.why.formatting import capture_again, counted, packets_text
from zenlake.why.network import IN_CAPTURE_ONLY, Network
from zenlake.why.records import Loss
from zenlake.why.story import Story

_SHOWN: Final = 5
_CAUSES: Final = {"sn_gap": "lost_on_link", "fragment": "incomplete_fragments"}


def link_stories(network: Network) -> Iterator[Story]:
    groups: dict[tuple[str | None, str | None, str, int | None, str | None], list[Loss]] = {}
    for loss in network.evidence.losses:
        kind = "capture" if loss.kind in IN_CAPTURE_ONLY else loss.kind
        place = (loss.session, loss.sender, kind, loss.priority, loss.reliability)
        groups.setdefault(place, []).append(loss)
    for (session, sender, kind, _, _), losses in groups.items():
        if session is None:
            continue
        # Missing sequence numbers prove nothing where the capture lacks bytes.
        has_holes = any(
            loss.kind in IN_CAPTURE_ONLY and loss.sender == sender
            for loss in network.losses(session)
        )
        if kind == "capture":
            yield _hole(network, session, losses)
        elif not has_holes:
            yield _lost(network, session, _CAUSES.get(kind, "lost_on_link"), losses)


def _lost(network: Network, session: str, cause: str, losses: list[Loss]) -> Story:
    labels, first = network.labels, losses[0]
    story = _story(network, session, cause, losses)
    story.culprit = first.sender
    record = network.evidence.sessions.get(session)
    protocol = None if record is None else record.protocol
    channel = f"priority {first.priority}, {(first.reliability or '').replace('_', ' ')}"
    count = sum(loss.count or 0 for loss in losses)
    size = sum(loss.bytes or 0 for loss in losses)
    packets = packets_text([loss.at.packet for loss in losses])
    pair = f"from {labels.who(first.sender)} to {network.receiver(session, first.receiver)}"
    if cause == "lost_on_link":
        text = f"{counted(count, 'frame')} lost {pair} ({channel}): "
        text += f"sequence numbers are missing before {packets}"
    else:
        text = f"{counted(len(losses), 'large message')} incomplete {pair} ({channel}): "
        text += f"the fragments end without the last one, or one is missing ({packets}"
        text += f", {counted(size, 'byte')} discarded)" if size else ")"
    story.headline = f"{text}."
    if protocol in ("udp", "multicast"):
        story.advice.append("UDP does not repeat what is lost: use TCP where that matters.")
    else:
        story.advice.append(
            f"Over {(protocol or 'tcp').upper()} no message is lost on the way: "
            f"{labels.who(first.sender)} dropped it, which congestion control drop allows when its "
            "queue is full."
        )
    story.advice.append("Publish with CongestionControl.BLOCK where every message counts.")
    return story


def _hole(network: Network, session: str, losses: list[Loss]) -> Story:
    labels, first = network.labels, losses[0]
    story = _story(network, session, "capture_incomplete", losses)
    size = sum(loss.bytes or 0 for loss in losses)
    packets = packets_text([loss.at.packet for loss in losses])
    story.headline = (
        f"The capture lacks {counted(size, 'byte') if size else 'bytes'} from "
        f"{labels.who(first.sender)} to {network.receiver(session, first.receiver)} "
        f"(near {packets}): the "
        "nodes may have received them, and stories about this link may be wrong."
    )
    story.advice += capture_again(losses)
    return story


def _story(network: Network, session: str, cause: str, losses: list[Loss]) -> Story:
    labels = network.labels
    story = Story("link", cause, losses[0].at, session=session)
    story.involve(losses[0].sender, losses[0].receiver)
    for loss in losses[:_SHOWN]:
        is_message = loss.kind == "fragment"
        parts = [counted(loss.count, "message" if is_message else "frame")] if loss.count else []
        parts += [counted(loss.bytes, "byte")] if loss.bytes else []
        what = ", ".join(parts) or "something"
        story.add_evidence(loss.at, f"{what} missing from {labels.who(loss.sender)} ({loss.kind})")
    return story
