"""Items that the sinks of a simulated application get."""

from __future__ import annotations

from typing import NamedTuple

from zenlake.session import Factory
from zenlake.session.incoming_query import IncomingQuery
from zenlake.wire import Del, Encoding, Put, QoS, ResponderId, TimestampStack


class Sample(NamedTuple):
    key: str
    body: Put | Del
    qos: QoS | None
    stamps: TimestampStack | None


class Ok(NamedTuple):
    key: str
    body: Put | Del
    qos: QoS | None
    stamps: TimestampStack | None
    responder: ResponderId | None


class Error(NamedTuple):
    payload: bytes
    encoding: Encoding | None
    stamps: TimestampStack | None
    responder: ResponderId | None


class ReceivedQuery(NamedTuple):
    incoming: IncomingQuery
    eid: int


FACTORY = Factory(Sample, Ok, Error, ReceivedQuery, bool)
