"""The differences of a batch from the canonical encoding, whatever form its session agreed on."""

from __future__ import annotations

from zenlake.errors import WireError
from zenlake.rules.noncanonical import Deviation, deviations
from zenlake.trace.link import LinkBatch
from zenlake.trace.session import Session
from zenlake.wire import Close
from zenlake.wire.compression import decompress_batch


def batch_deviations(batch: LinkBatch, session: Session | None, is_open: bool) -> list[Deviation]:
    """The differences in one batch; `is_open` if the handshake of its link is complete."""
    if batch.state != "ok" or not batch.messages:
        return []
    data = batch.data
    if batch.link.protocol == "scouting":
        return deviations(data, batch.messages, "scouting")
    if session is None or not session.seen_start:
        return []
    if session.is_multicast:
        is_packed = data[0] <= 1  # a compression header: no message begins with these bytes
        return deviations(decompress_batch(data) if is_packed else data, batch.messages, "batch")
    if session.lowlatency and is_open:
        return deviations(data, batch.messages, "low-latency")
    if session.compression and is_open:
        if isinstance(batch.messages[0], Close) and data[:1] in (b"\x03", b"\x23"):
            return []
        try:
            data = decompress_batch(data)
        except WireError:
            return []
    return deviations(data, batch.messages, "batch")
