"""What a thread does before it waits: flush senders, and hand over a link that it should read.

A sender holds messages back to send more of them in one batch. If its thread waits, no more will
come, so they are sent first. The senders of all open nodes are flushed, because the thread may wait
in one node for the effect of a message that it sent on another.
"""

from __future__ import annotations

from zenlake.node.node_activity import UnflushedSender
from zenlake.node.reader_handover import READER_HANDOVER, hand_over_reading


def flush_senders(senders: list[UnflushedSender]) -> None:
    """Send the messages that senders of one node hold back; another thread may do the same."""
    while senders:
        try:
            sender = senders.pop()
        except IndexError:  # another thread took it first
            return
        sender.flush()


def flush_all_nodes() -> None:
    for node in READER_HANDOVER.nodes:
        if node.unflushed_senders:
            flush_senders(node.unflushed_senders)


def before_waiting() -> None:
    """Flush and hand over; called by threads of nodes and of the user before each wait."""
    flush_all_nodes()
    hand_over_reading()
