"""The counters of a node: traffic of its transports, and what was lost, by cause."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from zenlake.protocol.inbound import Inbound
from zenlake.protocol.outbound import Outbound

if TYPE_CHECKING:
    from zenlake.node.link_runner import LinkRunner
    from zenlake.node.node import Node


NO_LOSSES: Final = (
    "dropped_messages",
    "stale_frames",
    "dropped_fragments",
    "unfinished_messages",
    "unsendable_messages",
    "ignored_messages",
    "unsent_bytes",
    "dropped_datagrams",
)


def inbound_losses_of(inbound: Inbound) -> dict[str, int]:
    return {
        "stale_frames": inbound.stale_frames,
        "dropped_fragments": inbound.reassembly.dropped_fragments,
        "unfinished_messages": inbound.reassembly.dropped_messages,
        "ignored_messages": inbound.ignored_messages,
    }


def losses_of(runner: LinkRunner) -> dict[str, int]:
    """The losses of a transport so far, by cause."""
    transport = runner.transport
    return {
        "dropped_messages": runner.sender.dropped,
        **inbound_losses_of(transport.inbound),
        "unsendable_messages": transport.outbound.dropped_messages,
        "dropped_datagrams": runner.link.dropped,
    }


def last_losses_of(runner: LinkRunner) -> dict[str, int]:
    """The losses of a transport at its end, with the messages that were still queued."""
    return losses_of(runner) | {"unsent_bytes": runner.transport.total_queued_bytes()}


def stats_of(node: Node, runners: list[LinkRunner]) -> dict[str, int]:
    """Counters of open transports and groups; losses of those that are over are included."""
    transports = [runner.transport for runner in runners]
    groups = [runner.group for runner in node.groups]
    inbound: list[Inbound] = [one.inbound for one in transports]
    inbound += [peer.inbound for group in node.groups for peer in group.peers()]
    past_messages = sum(one.past_messages for one in groups)
    past_batches = sum(one.past_batches for one in groups)
    past_bytes = sum(one.past_bytes for one in groups)
    outbound: list[Outbound] = [one.outbound for one in transports]
    outbound += [group.outbound for group in groups]
    losses = Counter(node.past_losses)
    for runner in runners:
        losses.update(losses_of(runner))
    losses["dropped_datagrams"] += node.accepting.dropped_datagrams()
    losses["dropped_datagrams"] += sum(group.sender.dropped for group in node.groups)
    return {
        "transports": len(runners),
        **losses,
        "refused_joins": sum(one.refused_joins for one in groups),
        "strange_datagrams": sum(one.strange_datagrams + one.bad_datagrams for one in groups),
        "handshakes_pending": node.accepting.pending,
        "handshakes_refused": node.accepting.refused,
        "messages_in": sum(one.messages for one in inbound) + past_messages,
        "messages_out": sum(one.messages for one in outbound),
        "batches_in": sum(one.batches for one in inbound) + past_batches,
        "batches_out": sum(one.batches for one in outbound),
        "bytes_in": sum(one.bytes for one in inbound) + past_bytes,
        "bytes_out": sum(one.bytes for one in outbound),
        "queued_bytes": sum(one.total_queued_bytes() for one in transports),
        **node.dispatcher.counters.as_dict(),
    }
