"""What a thread does before it waits: flush senders, and hand over a link that it should read.

A message that waits in a sender for more messages need not wait for the clock if nothing more will
come. So a thread that is about to wait, for a reply say, first flushes the senders. It flushes
those of all open nodes: it may wait in one node for the effect of what it sent on another.
"""

from __future__ import annotations

from zenlake.node.node_activity import UnflushedSender
from zenlake.node.reader_handover import READER_HANDOVER, hand_over_reading


def flush_senders(senders: list[UnflushedSender]) -> None:
    """Send what the senders of one node hold back; any thread may do the same meanwhile."""
    while senders:
        try:
            sender = senders.pop()
        except IndexError:  # another thread was quicker
            return
        sender.flush()


def flush_all_nodes() -> None:
    for node in READER_HANDOVER.nodes:
        if node.unflushed_senders:
            flush_senders(node.unflushed_senders)


def before_waiting() -> None:
    """By any thread, of a node or of the user, before it waits for anything of this package."""
    flush_all_nodes()
    hand_over_reading()
