"""Rare messages of the fast reader equal those of the exact reader for the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trace.sidecar import PATHS
from zenlake import trace
from zenlake.rules.rare import Lane, RareMessages, set_carriers, set_keys
from zenlake.trace.events import MessageSeen
from zenlake.wire import Declare, Interest

if TYPE_CHECKING:
    from zenlake.trace.link import Link


def declarations(name: str) -> list[MessageSeen]:
    with trace.open(str(PATHS[name])) as opened:
        return [
            event
            for event in opened
            if isinstance(event, MessageSeen) and isinstance(event.message, (Declare, Interest))
        ]


def content_of(event: MessageSeen) -> tuple[object, ...]:
    carrier = event.carrier
    return (
        (event.packet, event.time_ns, event.link, event.direction, event.session),
        (event.sender_node, event.receiver_node),
        (event.kind, event.message, event.key),
        None if carrier is None else (carrier.sn, carrier.priority, carrier.reliable),
    )


def lane_of(event: MessageSeen) -> Lane | None:
    carrier = event.carrier
    return None if carrier is None else (carrier.sn, carrier.priority, carrier.reliable)


@pytest.mark.parametrize("name", ["liveliness", "routers_ring", "lowlatency"])
def test_rare_messages_are_those_of_the_trace(name: str) -> None:
    seen = declarations(name)
    assert len(seen) > 10
    links: list[Link] = list(dict.fromkeys(event.link for event in seen))
    messages = RareMessages(dict(enumerate(links)))
    odd: list[int] = []
    found = messages.events(
        [bytes(event.message) for event in seen],
        [links.index(event.link) for event in seen],
        [event.direction for event in seen],
        [event.packet for event in seen],
        [event.time_ns for event in seen],
        odd,
    )
    keys = list(dict.fromkeys(event.key for event in seen if event.key is not None))
    set_keys(found, [-1 if one.key is None else keys.index(one.key) for one in seen], keys)
    set_carriers(found, [lane_of(event) for event in seen])
    assert [content_of(event) for event in found] == [content_of(event) for event in seen]
    assert not odd


def test_non_canonical_encodings_are_reported() -> None:
    seen = declarations("liveliness")
    event = next(event for event in seen if isinstance(event.message, Interest))
    content = bytes(event.message)
    # Its number in two bytes, of which the second is redundant.
    other = content[:1] + bytes((content[1] | 0x80, 0)) + content[2:]
    odd: list[int] = []
    messages = RareMessages({0: event.link})
    found = messages.events([content, other], [0, 0], [0, 0], [1, 2], [1, 2], odd)
    assert odd == [1]
    assert found[0].message == found[1].message
