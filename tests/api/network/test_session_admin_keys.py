"""The answers of a session to its own queries on `@/<zid>/session/**`."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, cast

import pytest

import zenlake
from tests.api.linked import connected, listening, node_of, two_sessions
from tests.waiting import until, until_more
from zenlake import ConsolidationMode, Locality, SampleKind

if TYPE_CHECKING:
    from zenlake.api.session.session_handle import NodeLike
    from zenlake.node.info import LinkInfo, TransportInfo
    from zenlake.node.node import Node

TRANSPORT = ["zid", "whatami", "is_qos", "is_shm"]
LINK = [
    "src",
    "dst",
    "group",
    "mtu",
    "is_streamed",
    "interfaces",
    "auth_identifier",
    "priorities",
    "reliability",
]


def asked(session: zenlake.Session, keys: str = "**") -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for reply in session.get(f"@/{session.zid()}/session/{keys}"):
        assert reply.ok is not None
        found[str(reply.ok.key_expr)] = json.loads(reply.ok.payload.to_string())
    return found


@pytest.mark.parametrize("mode", ["client", "peer"])
def test_session_answers_queries_about_its_connections(mode: str) -> None:
    with two_sessions(mode) as (a, b):
        for one, other in ((a, b), (b, a)):
            root = f"@/{one.zid()}/session/transport/unicast/{other.zid()}"
            until(one.info.links)  # the other side may have opened first
            (transport_key, transport), (link_key, link) = asked(one).items()
            assert transport_key == root
            assert list(transport) == TRANSPORT
            assert transport["zid"] == str(other.zid())
            assert link_key.startswith(f"{root}/link/")
            assert link_key.rpartition("/")[2].isdigit()
            assert list(link) == LINK
            info = one.info.links()[0]
            assert (link["src"], link["dst"]) == (info.src, info.dst)
            assert (info.priorities, info.reliability) == ((0, 7), zenlake.Reliability.RELIABLE)


def test_other_sessions_get_no_answer() -> None:
    with two_sessions() as (a, b):
        asked(a)
        assert list(b.get(f"@/{a.zid()}/session/**")) == []
        assert list(a.get(f"@/{a.zid()}/session/**", allowed_destination=Locality.REMOTE)) == []


def test_opened_and_closed_transports_are_published_in_the_session_only() -> None:
    """The keys stay local where the configuration sends publications to the network."""
    rule = {"key_exprs": ["@/**"], "config": {"allowed_destination": "remote"}}
    with listening(qos__publication=[rule]) as a, connected(a) as far:
        samples: list[zenlake.Sample] = []
        elsewhere: list[zenlake.Sample] = []
        far.declare_subscriber(f"@/{a.zid()}/session/**", elsewhere.append)
        a.declare_subscriber(f"@/{a.zid()}/session/**", samples.append)
        with connected(a) as b:
            zid = str(b.zid())
            until(lambda: len(events_of(zid, samples)) > 1)
            keys = list(asked(a, f"transport/unicast/{zid}/**"))
        until(lambda: len(events_of(zid, samples)) > 3)
        samples = events_of(zid, samples)
        assert [(one.kind, str(one.key_expr)) for one in samples] == [
            (SampleKind.PUT, keys[0]),
            (SampleKind.PUT, keys[1]),
            (SampleKind.DELETE, keys[1]),
            (SampleKind.DELETE, keys[0]),
        ]
        assert [str(one.encoding) for one in samples[:2]] == ["application/json"] * 2
        assert elsewhere == []


def events_of(zid: str, samples: list[zenlake.Sample]) -> list[zenlake.Sample]:
    """The events, without those of another transport that may have opened a moment before."""
    return [one for one in list(samples) if zid in str(one.key_expr)]


def test_sessions_without_such_queries_have_neither_queryable_nor_listener() -> None:
    with two_sessions() as (a, b):
        a.declare_subscriber("demo/**", print)
        list(a.get("demo/x"))
        assert a._handle.core.queryables.live == {}
        assert not node_of(a).events.has_listeners
        asked(b)
        assert node_of(b).events.has_listeners


def test_more_replies_than_a_channel_holds_do_not_block_the_requester() -> None:
    """`get` returns before it is answered: its replies are read while they are made."""
    with two_sessions() as (a, _):
        asked(a)  # starts the admin keys, with the real node
        node = node_of(a)
        a._handle.node = cast("NodeLike", Crowded(node))
        replies = a.get(f"@/{a.zid()}/session/**", consolidation=ConsolidationMode.NONE, timeout=10)
        assert len(list(replies)) == 2 * Crowded.COUNT
        a._handle.node = node


class Crowded:
    """A node with more neighbours than a channel holds items."""

    COUNT = 300

    def __init__(self, node: Node) -> None:
        self._node = node

    def transports(self) -> list[TransportInfo]:
        return self._node.transports() * self.COUNT

    def links(self) -> list[LinkInfo]:
        return self._node.links() * self.COUNT


def test_closing_with_open_transports_publishes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    samples: list[zenlake.Sample] = []
    with caplog.at_level(logging.WARNING), listening() as a:
        a.declare_subscriber("@/**", samples.append)
        with connected(a):
            until_more(samples, 1)
            a.close()
            assert [one.kind for one in samples] == [SampleKind.PUT, SampleKind.PUT]
    assert [one for one in caplog.records if one.name == "zenlake.node"] == []
