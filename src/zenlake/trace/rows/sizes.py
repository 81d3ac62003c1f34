"""Sizes of messages on the wire, which may exceed the sizes of their encoding by zenlake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from zenlake.trace import message_attributes as attributes
from zenlake.trace.events import MessageSeen, TraceEvent
from zenlake.trace.link import LinkBatch
from zenlake.trace.links.units import LOW_LATENCY
from zenlake.wire.message import NetworkMessage

if TYPE_CHECKING:
    from zenlake.wire.walk import Span

_LENGTH_BYTES: Final = 4


def set_wire_sizes(batch: LinkBatch, events: list[TraceEvent]) -> None:
    """Sets the sizes of re-encoded messages if they add up to the batch, else measures them."""
    if batch.state != "ok" or not batch.content:
        return
    seen: list[MessageSeen] = []
    total = 0
    for event in events:
        if not isinstance(event, MessageSeen) or event.fragments:
            continue
        event.wire_size = attributes.size(event) or 0
        seen.append(event)
        if event.carrier is None or not isinstance(event.message, NetworkMessage):
            total += event.wire_size
    if total != len(batch.content):
        for event, size in zip(seen, _sizes(batch), strict=False):
            event.wire_size = size


def _sizes(batch: LinkBatch) -> Iterator[int]:
    """Sizes of all messages, each FRAME before its content, by the codec that labels bytes."""
    from zenlake.wire.explain import (
        explain,  # imported here: few captures need it, and it loads all layouts
    )

    content, form = batch.content, "batch"
    if batch.form == LOW_LATENCY:
        content, form = len(content).to_bytes(_LENGTH_BYTES, "little") + content, "low-latency"
    for span in explain(content, form).root.children:
        if span.kind == "message":
            yield span.stop - span.start
            if span.name == "FRAME":
                yield from _carried(span)


def _carried(frame: Span) -> Iterator[int]:
    for part in frame.children:
        if part.name == "messages":
            for one in part.children:
                yield one.stop - one.start
