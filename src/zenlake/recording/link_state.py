"""The state of one link as batches: a reader that decodes them has the state of the link."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple

from zenlake.recording.message_keys import with_key
from zenlake.recording.tracked_items import UNKNOWN, Item
from zenlake.recording.tracked_lane import Lane
from zenlake.recording.tracked_link import TrackedLink
from zenlake.recording.tracked_side import Side
from zenlake.trace.links.units import COMPRESSED, LOW_LATENCY
from zenlake.wire import (
    Declare,
    Fragment,
    Frame,
    Oam,
    decode_network,
)
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.sequence import advance_sn, sn_distance
from zenlake.wire.values.qos import Priority
from zenlake.wire.values.wire_expr import WireExpr

_HEADER_BYTES: Final = 16
"""Room for prefix, compression header and the longest header of a FRAME or FRAGMENT."""
_DEFAULT_MASK: Final = 0x0FFF_FFFF
_FILLER: Final = bytes(Oam(0x7FFF))
"""A message that readers ignore, for a FRAGMENT that only announces its sequence number."""


class StateUnit(NamedTuple):
    """One batch of the state, with its length prefix on a stream."""

    order: int
    time_ns: int
    direction: int
    data: bytes


@dataclass(slots=True, eq=False)
class _Draft:
    """A FRAME or FRAGMENT whose sequence number is not assigned yet, or a batch as captured."""

    order: int
    time_ns: int
    direction: int
    content: bytes
    form: int
    lane: Lane | None = None
    is_fragment: bool = False
    more: bool = False
    is_raw: bool = False
    """Whether the content is a batch as it crossed the link."""


def state_units(link: TrackedLink) -> list[StateUnit]:
    """The batches of both directions, in order."""
    drafts = []
    batches = link.handshake if link.last_join is None else [*link.handshake, link.last_join]
    for order, time_ns, direction, data, form in batches:
        drafts.append(_Draft(order, time_ns, direction, data, form, is_raw=True))
    for direction in (0, 1):
        side = link.sides[direction]
        items = [*side.aliases.values(), *side.items.values()]
        if side.topology is not None:
            items += side.topology.items()
        items.sort(key=attrgetter("order"))
        _draft_items(link, direction, side, items, drafts)
        if side.form != LOW_LATENCY:
            for lane in side.lanes.values():
                if lane.is_used:
                    _draft_end(lane, direction, side, drafts)
    drafts.sort(key=attrgetter("order"))
    return [_state_unit(link, draft, content) for draft, content in _assign_sns(link, drafts)]


def _draft_items(
    link: TrackedLink, direction: int, side: Side, items: list[Item], drafts: list[_Draft]
) -> None:
    """Messages that came in one batch on one lane share a FRAME."""
    room = max(64, min(link.batch_bytes, 60_000) - _HEADER_BYTES)
    last: _Draft | None = None
    last_key = (UNKNOWN, UNKNOWN)
    for item in items:
        data = _message_of(link, direction, item)
        if side.form == LOW_LATENCY:
            drafts.append(_Draft(item.order, item.time_ns, direction, data, side.form))
            continue
        lane = side.lanes[item.lane]
        if len(data) > room:
            last = None
            for start in range(0, len(data), room):
                draft = _Draft(
                    item.order, item.time_ns, direction, data[start : start + room], side.form
                )
                draft.lane, draft.is_fragment = lane, True
                draft.more = start + room < len(data)
                drafts.append(draft)
            continue
        key = (item.batch, item.lane)
        if last is not None and key == last_key and len(last.content) + len(data) <= room:
            last.content += data
            last.order = item.order
            continue
        last, last_key = _Draft(item.order, item.time_ns, direction, data, side.form), key
        last.lane = lane
        drafts.append(last)


def _draft_end(lane: Lane, direction: int, side: Side, drafts: list[_Draft]) -> None:
    """The last sequence number of a lane: in a FRAME or in the FRAGMENTs that are open."""
    order, time_ns = lane.order, lane.time_ns
    if lane.fragments:
        order, time_ns = lane.fragments[0][:2]
    draft = _Draft(order, time_ns, direction, b"", side.form)
    draft.lane = lane
    if lane.after_message and not lane.fragments:
        # Deployed nodes skip a number after a message in fragments: readers must expect it here.
        draft.is_fragment = True
        draft.content = _FILLER
    drafts.append(draft)
    for order, time_ns, data in lane.fragments:
        drafts.append(_Draft(order, time_ns, direction, data, side.form))


def _assign_sns(link: TrackedLink, drafts: list[_Draft]) -> list[tuple[_Draft, bytes]]:
    """The content of each batch: FRAMEs and FRAGMENTs with their sequence numbers.

    The sequence numbers of a lane are consecutive; the last one precedes the lane's next message.
    """
    mask = link.mask or _DEFAULT_MASK
    next_sns: dict[tuple[int, int], int] = {}
    for draft in drafts:
        if draft.lane is not None:
            place = (draft.direction, draft.lane.key)
            if place not in next_sns:
                count = sum(one.lane is draft.lane for one in drafts)
                open_fragments = len(draft.lane.fragments)
                last = draft.lane.last_sn
                next_sns[place] = advance_sn(last, 1 - count - open_fragments, mask)
    found: list[tuple[_Draft, bytes]] = []
    seen: set[tuple[int, int]] = set()
    starts_message = True
    for draft in drafts:
        lane = draft.lane
        if lane is None:
            found.append((draft, draft.content))
            continue
        place = (draft.direction, lane.key)
        sn = next_sns[place]
        if place not in seen:
            seen.add(place)
            if lane.start_sn != UNKNOWN and link.mask:
                found += _filler_frames(draft, lane, sn, mask)
        next_sns[place] = advance_sn(sn, 1, mask)
        if draft.is_fragment:
            qos, reliable = _lane_of(lane)
            fragment = Fragment(
                sn,
                draft.content,
                reliable=reliable,
                more=draft.more,
                qos=qos,
                first=starts_message,
            )
            starts_message = not draft.more
            found.append((draft, bytes(fragment)))
        else:
            found.append((draft, _frame_header(lane, sn) + draft.content))
    return found


def _filler_frames(draft: _Draft, lane: Lane, sn: int, mask: int) -> list[tuple[_Draft, bytes]]:
    """Empty FRAMEs from the first sequence number of a lane to `sn`.

    A receiver accepts a number only if it lies less than half of the circle ahead.
    """
    found: list[tuple[_Draft, bytes]] = []
    last, half = lane.start_sn, mask >> 1
    distance = sn_distance(last, sn, mask) or mask + 1
    while distance > half:
        last = advance_sn(last, half, mask)
        distance -= half
        found.append((draft, _frame_header(lane, last)))
    return found


def _lane_of(lane: Lane) -> tuple[Priority | None, bool]:
    priority = lane.key >> 1
    qos = None if priority == DEFAULT_PRIORITY else Priority(priority)
    return qos, bool(lane.key & 1)


def _frame_header(lane: Lane, sn: int) -> bytes:
    qos, reliable = _lane_of(lane)
    return bytes(Frame(sn, [], reliable=reliable, qos=qos))


def _state_unit(link: TrackedLink, draft: _Draft, content: bytes) -> StateUnit:
    if draft.form == COMPRESSED and not draft.is_raw:
        content = b"\0" + content
    if link.is_stream:
        prefix_bytes = 4 if draft.form == LOW_LATENCY else 2
        content = len(content).to_bytes(prefix_bytes, "little") + content
    return StateUnit(draft.order, draft.time_ns, draft.direction, content)


def _message_of(link: TrackedLink, direction: int, item: Item) -> bytes:
    """The message of an item, with its whole key if its alias now means another key."""
    alias = item.alias
    is_stale = alias is not None and (not alias.is_live or alias.order > item.order)
    is_unasked = item.interest != UNKNOWN and not _is_asked(link, direction, item.interest)
    if (not is_stale or item.key is None) and not is_unasked:
        return item.data
    message, _ = decode_network(item.data, 0)
    if is_stale and item.key is not None:
        message = with_key(message, WireExpr(0, item.key))
    if is_unasked and isinstance(message, Declare):
        message.interest_id = None
    return bytes(message)


def _is_asked(link: TrackedLink, direction: int, interest: int) -> bool:
    """Whether an interest that a declaration of this direction answers is still open."""
    if not interest:
        return not link.sides[direction].is_initial_over
    return ("INTEREST", interest) in link.sides[1 - direction].items
