"""Recorded traffic, read as Zenoh: messages with their keys and sessions, in order.

import zenlake.trace

for event in zenlake.trace.open("robot.pcapng"):
    if isinstance(event, zenlake.trace.MessageSeen) and event.kind == "PUSH/PUT":
        print(event.time_ns, event.sender_zid, event.key, event.message.body.payload)
"""

from __future__ import annotations

from zenlake.trace.events import MessageSeen, Missing, SessionChanged, TraceEvent, Undecoded
from zenlake.trace.link import Link
from zenlake.trace.session import Node, Session
from zenlake.trace.timelines.declarations import DeclarationLifetime, declarations
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.exchanges import exchanges
from zenlake.trace.timelines.interests import InterestLifetime, interests
from zenlake.trace.trace import Trace, open

__all__ = [
    "DeclarationLifetime",
    "Exchange",
    "InterestLifetime",
    "Link",
    "MessageSeen",
    "Missing",
    "Node",
    "Session",
    "SessionChanged",
    "Trace",
    "TraceEvent",
    "Undecoded",
    "declarations",
    "exchanges",
    "interests",
    "open",
]
