"""Packet bytes: the bytes of a message, explained bit by bit.

A lake has the content of messages, not their bytes. The bytes are read from the capture, if it
still exists and is not too long.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from zenlake.capture.recordings import is_recording, recording_bytes
from zenlake.errors import ZenlakeError
from zenlake.report.bounds import (
    EXPLAINED_BYTES_MAX,
    EXPLAINED_FILE_BYTES_MAX,
    EXPLAINED_LINES_MAX,
)
from zenlake.trace.link import LinkBatch
from zenlake.trace.trace import Trace


class Place(NamedTuple):
    """The packet that completes a message."""

    capture: str
    link: str | None
    packet: int | None


def explained(places: Iterable[Place]) -> dict[Place, dict[str, Any]]:
    """The `lines` to show for each place, or `missing` with the reason."""
    found: dict[Place, dict[str, Any]] = {}
    wanted: dict[str, list[Place]] = {}
    for place in places:
        wanted.setdefault(place.capture, []).append(place)
    for capture, several in wanted.items():
        missing = _unreadable(capture)
        batches = {} if missing else _batches(capture, several)
        for place in several:
            batch = batches.get(place)
            if batch is not None:
                found[place] = _explanation(batch)
            else:
                found[place] = {"missing": missing or "no batch of this link ends in this packet"}
    return found


def _unreadable(capture: str) -> str | None:
    try:
        size = Path(capture).stat().st_size
        if is_recording(capture):
            size = recording_bytes(capture)
    except (OSError, ValueError):
        return "the capture is no longer where it was read"
    if size > EXPLAINED_FILE_BYTES_MAX:
        return "the capture is too long to be read again for this: use zenlake decode"
    return None


def _batches(capture: str, places: list[Place]) -> dict[Place, LinkBatch]:
    wanted = {(place.link, place.packet): place for place in places}
    last = max(place.packet or 0 for place in places)
    found: dict[Place, LinkBatch] = {}
    try:
        for batch in Trace([capture]).batches():
            place = wanted.get((batch.link.name, batch.packet))
            if place is not None:
                found.setdefault(place, batch)
            if batch.packet > last or len(found) == len(wanted):
                break
    except ZenlakeError:
        pass  # the file has changed: a packet that is not found is reported as missing
    return found


def _explanation(batch: LinkBatch) -> dict[str, Any]:
    # Imported late: these modules load all layouts, which most pages do not need.
    from zenlake.wire.explain import explain
    from zenlake.wire.explain_text import lines

    data = batch.data[:EXPLAINED_BYTES_MAX]
    is_cut = len(data) < len(batch.data)
    found = explain(data, "scouting" if batch.link.protocol == "scouting" else "auto")
    if is_cut:
        found.error = None  # the error is only that the omitted bytes are missing
    shown = list(lines(found))
    text: dict[str, Any] = {"lines": shown[:EXPLAINED_LINES_MAX], "size": len(batch.data)}
    if is_cut or len(shown) > EXPLAINED_LINES_MAX:
        text["isCut"] = True
    return text
