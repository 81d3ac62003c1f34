"""Sessions on real nodes that are connected over the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import zenlake
from tests.hosts import host_mode
from tests.sessions import config_of
from tests.waiting import until
from zenlake.node import Node


def listening(**settings: object) -> zenlake.Session:
    """A listening session: a peer, or the role that tests/hosts sets."""
    return zenlake.open(config_of(host_mode(), listen__endpoints=["tcp/127.0.0.1:0"], **settings))


def connected(to: zenlake.Session, mode: str = "client", **settings: object) -> zenlake.Session:
    endpoint = node_of(to).locators()[0]
    return zenlake.open(config_of(mode, connect__endpoints=[endpoint], **settings))


@contextmanager
def two_sessions(mode: str = "peer") -> Iterator[tuple[zenlake.Session, zenlake.Session]]:
    with listening() as a, connected(a, mode) as b:
        yield a, b


def node_of(session: zenlake.Session) -> Node:
    node = session._handle.node
    assert isinstance(node, Node)
    return node


def publisher_of(session: zenlake.Session, key: str, **options: Any) -> zenlake.Publisher:
    """A publisher that knows its subscriber."""
    publisher = session.declare_publisher(key, **options)
    until(lambda: publisher.matching_status.matching)
    return publisher
