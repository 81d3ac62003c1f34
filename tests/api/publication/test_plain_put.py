"""Publications by the shortcut to a single link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import zenlake
from tests.api.linked import publisher_of, two_sessions
from tests.waiting import until
from zenlake import CongestionControl, Sample, Subscriber, ZBytes, ZError
from zenlake.handlers import Handler, RingChannel

Linked = tuple[zenlake.Publisher, Subscriber[Handler[Sample]]]


@pytest.fixture
def linked() -> Iterator[Linked]:
    """A publisher that has found its shortcut, and its only subscriber."""
    with two_sessions() as (a, b):
        subscriber = a.declare_subscriber("plain/put")
        publisher = publisher_of(b, "plain/put", congestion_control=CongestionControl.BLOCK)
        publisher.put(b"first")
        assert subscriber.recv().payload.to_bytes() == b"first"
        assert publisher._publication.shortcut is not None
        yield publisher, subscriber


@pytest.mark.parametrize("payload", [b"value", bytearray(b"value"), "value", ZBytes("value")])
def test_payloads_of_every_kind_arrive(linked: Linked, payload: Any) -> None:
    publisher, subscriber = linked
    publisher.put(payload)
    assert subscriber.recv().payload.to_bytes() == b"value"


def test_what_is_no_payload_is_an_error_that_names_the_argument(linked: Linked) -> None:
    with pytest.raises(TypeError, match=r"^argument 'payload': expected bytes/str type"):
        linked[0].put(1.5)


def test_undeclared_publisher_raises(linked: Linked) -> None:
    publisher, subscriber = linked
    publisher.undeclare()
    for payload in (b"late", 1.5):
        with pytest.raises(ZError, match=r"^Undeclared publisher$"):
            publisher.put(payload)
    with pytest.raises(ZError, match=r"^Undeclared publisher$"):
        publisher.undeclare()
    assert subscriber.try_recv() is None


def test_many_samples_reach_each_subscriber_in_order() -> None:
    with two_sessions() as (a, b):
        called: list[bytes] = []
        a.declare_subscriber("many/*", lambda sample: called.append(sample.payload.to_bytes()))
        ring = a.declare_subscriber("many/samples", RingChannel(10))
        fifo = a.declare_subscriber("**")
        publisher = publisher_of(b, "many/samples", congestion_control=CongestionControl.BLOCK)
        sent = [ZBytes(str(number)) for number in range(2000)]
        for payload in sent:
            publisher.put(payload)
        assert [fifo.recv().payload for _ in sent] == sent
        until(lambda: len(called) == len(sent))
        assert [ring.recv().payload for _ in range(10)] == sent[-10:]
        assert called == [payload.to_bytes() for payload in sent]
