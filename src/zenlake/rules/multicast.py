"""Rules about multicast groups."""

from __future__ import annotations

from typing import Any, Final

from zenlake.rules.facts import Seen
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Irregular
from zenlake.trace.session import lease_ms
from zenlake.wire import Interest, Join, KeepAlive, Request, Response, ResponseFinal
from zenlake.wire.defaults import DEFAULT_GROUP_BATCH_BYTES
from zenlake.wire.sequence import is_newer
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION, Resolution
from zenlake.wire.values.whatami import WhatAmI

_MARGIN_NS: Final = 1_000_000_000


@rule(
    "join-outside-group",
    ERROR,
    Join,
    text="JOIN is for multicast groups; a unicast link has a handshake.",
    page="Message Reference, JOIN; wire reference §6.4",
    screen=Irregular("MESSAGE_OUT_OF_PLACE"),
)
def join_outside_group(message: Join, seen: Seen) -> str | None:
    return None if seen.facts.is_multicast else "JOIN on a unicast link"


@rule(
    "join-client",
    ERROR,
    Join,
    text="Only peers and routers are members of a group.",
    page="wire reference §8",
    screen=Irregular("NOT_TCP"),
)
def join_client(message: Join, seen: Seen) -> str | None:
    return "a client joins" if message.whatami == WhatAmI.CLIENT else None


@rule(
    "join-changed",
    ERROR,
    Join,
    text="Later JOINs of a member repeat version, id, role, resolution, lease and QoS.",
    page="wire reference §8; SN-88",
    screen=Irregular("NOT_TCP"),
)
def join_changed(message: Join, seen: Seen) -> str | None:
    last = seen.link_facts.join
    if last is None:
        return None
    if message.zid != last.zid:
        return f"its id was {last.zid} and is {message.zid}"
    if message.version != last.version:
        return f"its version was {last.version} and is {message.version}"
    if message.whatami != last.whatami:
        return f"it was a {last.whatami} and is a {message.whatami}"
    if lease_ms(message) != lease_ms(last):
        return f"its lease was {lease_ms(last)} ms and is {lease_ms(message)} ms"
    if _resolution(message) != _resolution(last):
        return f"its resolution was {_resolution(last)} and is {_resolution(message)}"
    return "its QoS changed" if (message.qos is None) != (last.qos is None) else None


@rule(
    "join-late",
    WARNING,
    Join,
    text="JOIN is sent several times in every lease.",
    page="Message Reference, JOIN; wire reference §8",
    screen=Irregular("NOT_TCP"),
)
def join_late(message: Join, seen: Seen) -> str | None:
    last = seen.link_facts.join
    if last is None or lease_ms(last) == 0 or seen.facts.has_gaps:
        return None
    since_ns = seen.event.time_ns - seen.link_facts.join_ns
    if since_ns <= lease_ms(last) * 1_000_000 + _MARGIN_NS:
        return None
    return f"{since_ns / 1e9:.1f} s after the one before, the lease is {lease_ms(last) / 1e3:g} s"


@rule(
    "join-sn-outside",
    ERROR,
    Join,
    text="The sequence numbers that JOIN announces lie within its resolution.",
    page="Message Reference, JOIN; wire reference §8",
    screen=Irregular("NOT_TCP"),
)
def join_sn_outside(message: Join, seen: Seen) -> str | None:
    mask = _resolution(message).sn_mask
    for sn in _numbers(message):
        if sn > mask:
            return f"{sn} is above {mask}"
    return None


@rule(
    "join-sn-backwards",
    ERROR,
    Join,
    text="The sequence numbers that a member announces increase.",
    page="Message Reference, JOIN; wire reference §8",
    screen=Irregular("NOT_TCP"),
)
def join_sn_backwards(message: Join, seen: Seen) -> str | None:
    last = seen.link_facts.join
    if last is None or _resolution(last) != _resolution(message) or last.zid != message.zid:
        return None
    mask = _resolution(message).sn_mask
    before, after = _numbers(last), _numbers(message)
    if len(before) != len(after) or max(after) > mask or max(before) > mask:
        return None
    for was, sn in zip(before, after, strict=True):
        if sn != was and not is_newer(sn, was, mask):
            return f"{sn} after {was}"
    return None


@rule(
    "join-numbers-twice",
    NOTE,
    Join,
    text="With QoS, JOIN has a pair of numbers for each priority, and 0 in its own fields.",
    page="Message Reference, JOIN; SN-39",
    screen=Irregular("NOT_TCP"),
)
def join_numbers_twice(message: Join, seen: Seen) -> str | None:
    if message.qos is None or not (message.next_sn_re or message.next_sn_be):
        return None
    return f"{message.next_sn_re} and {message.next_sn_be} besides those of the priorities"


@rule(
    "join-terms-differ",
    WARNING,
    Join,
    text="All members of a group have the same resolution and batch size; others are ignored.",
    page="wire reference §8; SN-38",
    screen=Irregular("NOT_TCP"),
)
def join_terms_differ(message: Join, seen: Seen) -> str | None:
    session = seen.facts.session
    if session is None or not session.is_multicast or seen.link_facts.join is not None:
        return None
    for other in seen.facts.joins:
        if other.zid == message.zid:
            continue
        if _resolution(other) != _resolution(message):
            return f"{_resolution(message)}; {other.zid} has {_resolution(other)}"
        if _batch_bytes(other) != _batch_bytes(message):
            return f"{_batch_bytes(message)} bytes; {other.zid} has {_batch_bytes(other)}"
    return None


@rule(
    "group-kind",
    NOTE,
    Request,
    Response,
    ResponseFinal,
    Interest,
    text="Queries and interests are not sent to groups. Peers of zenoh-pico do it.",
    page="behaviour reference §4.2",
    screen=Irregular("NOT_TCP"),
)
def group_kind(message: Any, seen: Seen) -> str | None:
    return f"{seen.event.kind} to a group" if seen.facts.is_multicast else None


@rule(
    "group-keep-alive",
    NOTE,
    KeepAlive,
    text="In a group, JOIN keeps a member alive, and KEEP_ALIVE is not sent.",
    page="wire reference §8",
    screen=Irregular("NOT_TCP"),
)
def group_keep_alive(message: KeepAlive, seen: Seen) -> str | None:
    return "KEEP_ALIVE to a group" if seen.facts.is_multicast else None


def _resolution(join: Join) -> Resolution:
    return join.resolution or DEFAULT_RESOLUTION


def _batch_bytes(join: Join) -> int:
    return DEFAULT_GROUP_BATCH_BYTES if join.batch_size is None else join.batch_size


def _numbers(join: Join) -> list[int]:
    if join.qos is None:
        return [join.next_sn_re, join.next_sn_be]
    return [sn for lane in join.qos.lanes for sn in (lane.reliable, lane.best_effort)]
