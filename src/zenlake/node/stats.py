"""The counters of a node: traffic of its transports, and what was lost, by cause."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

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


def losses_of(runner: LinkRunner) -> dict[str, int]:
    """What a transport has lost so far, by cause."""
    transport = runner.transport
    return {
        "dropped_messages": runner.sender.dropped,
        "stale_frames": transport.stale_frames,
        "dropped_fragments": transport.dropped_fragments,
        "unfinished_messages": transport.dropped_messages,
        "unsendable_messages": transport.outbound.dropped_messages,
        "ignored_messages": transport.inbound.ignored_messages,
        "dropped_datagrams": runner.link.dropped,
    }


def last_losses_of(runner: LinkRunner) -> dict[str, int]:
    """The same at its end: messages that are still queued are lost, too."""
    return losses_of(runner) | {"unsent_bytes": runner.transport.total_queued_bytes()}


def stats_of(node: Node, runners: list[LinkRunner]) -> dict[str, int]:
    """Counters of open transports; losses of those that are over are included."""
    transports = [runner.transport for runner in runners]
    machines = [group.machine for group in node.groups]
    losses = Counter(node.past_losses)
    for runner in runners:
        losses.update(losses_of(runner))
    losses["dropped_datagrams"] += node.accepting.dropped_datagrams()
    losses["dropped_datagrams"] += sum(group.sender.dropped for group in node.groups)
    return {
        "transports": len(runners),
        **losses,
        "refused_joins": sum(one.refused_joins for one in machines),
        "strange_datagrams": sum(one.strange_datagrams + one.bad_datagrams for one in machines),
        "handshakes_pending": node.accepting.pending,
        "handshakes_refused": node.accepting.refused,
        "messages_in": sum(one.messages_in for one in transports),
        "messages_out": sum(one.messages_out for one in transports),
        "batches_in": sum(one.batches_in for one in transports),
        "batches_out": sum(one.batches_out for one in transports),
        "bytes_in": sum(one.bytes_in for one in transports),
        "bytes_out": sum(one.bytes_out for one in transports),
        "queued_bytes": sum(one.total_queued_bytes() for one in transports),
        **node.dispatcher.counters.as_dict(),
    }
