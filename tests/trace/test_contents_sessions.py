"""Connections and sessions of the sidecars: nodes, negotiated terms and ends."""

from __future__ import annotations

import pytest

from tests.trace.expected_sessions import SESSIONS
from tests.trace.sidecar import PATHS, WITH_COUNTS, Reading, Row, Sidecar, reading_of, sidecar_of
from zenlake.trace import Link, Session, SessionChanged
from zenlake.wire import Init

WEBSOCKET = "127.0.0.1:58856-127.0.0.1:17177#1"
"""Captures whose sidecars list no connections."""


def described(sidecar: Sidecar, session: Session) -> str:
    names = {zid: node for node, zid in sidecar.zids.items()}
    one, other = ("-" if node.zid is None else names.get(node.zid, "?") for node in session.nodes)
    return f"{one} {other} {session.outcome} {len(session.links)}"


def session_of(name: str, description: str) -> Session:
    sidecar = sidecar_of(name)
    found = [
        one for one in reading_of(name).sessions if described(sidecar, one).startswith(description)
    ]
    assert len(found) == 1
    return found[0]


def test_expectations_are_complete() -> None:
    assert SESSIONS.keys() == PATHS.keys()


@pytest.mark.parametrize("name", PATHS)
def test_sessions_have_the_expected_nodes_and_ends(name: str) -> None:
    sidecar = sidecar_of(name)
    assert [described(sidecar, one) for one in reading_of(name).sessions] == SESSIONS[name]


@pytest.mark.parametrize("name", PATHS)
def test_sessions_have_the_nodes_and_times_of_the_sidecar(name: str) -> None:
    sidecar = sidecar_of(name)
    for session in reading_of(name).sessions:
        for node in session.nodes:
            if node.zid in sidecar.roles:
                assert node.role == sidecar.roles[node.zid]
        assert (session.closed_ns is None) == (session.outcome == "open" or name == "midstream")
        if session.outcome in ("closed", "lost"):
            assert session.opened_ns is not None
            assert session.closed_ns is not None
            assert session.started_ns <= session.opened_ns < session.closed_ns
        assert session.close_reason is None or session.outcome in ("closed", "refused", "partial")


# --- connections -------------------------------------------------------------------------


def links_of(reading: Reading) -> dict[str, Link]:
    return {event.link.name: event.link for event in reading.messages}


def link_of(reading: Reading, row: Row) -> Link | None:
    name = row["connection"]
    return links_of(reading).get(f"{name[4:]}#1" if name.startswith("udp ") else name)


def agreed(reading: Reading, link: Link) -> list[str]:
    """The terms that a sidecar lists: those of the session, and shared memory, which is in INIT."""
    session = link.session
    assert session is not None
    shares = any(
        isinstance(event.message, Init) and event.message.shm is not None
        for event in reading.of("INIT_ACK")
        if event.link is link
    )
    terms = {
        "compression": session.compression,
        "lowlatency": session.lowlatency,
        "patch": session.patch,
        # With multilink, QoS is negotiated in another form.
        "qos": session.qos and not session.multilink,
        "shm": shares,
    }
    return [term for term, is_agreed in terms.items() if is_agreed]


@pytest.mark.parametrize("name", WITH_COUNTS)
def test_connections_are_those_of_the_sidecar(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    checked = 0
    for row in sidecar.connections:
        link = link_of(reading, row)
        if row["connection"] == WEBSOCKET:
            assert link is not None
        elif row["zids"] == [None, None] and name != "midstream":
            assert link is None, "the connection carries no Zenoh"
        else:
            assert link is not None
            assert_is(reading, link, row)
            checked += 1
    assert checked
    names = {row["connection"] for row in sidecar.connections}
    known = {link.name for link in links_of(reading).values() if link.protocol in ("tcp", "ws")}
    assert known <= names


def assert_is(reading: Reading, link: Link, row: Row) -> None:
    session = link.session
    assert session is not None
    opener = link.sides[link.opener]
    assert link.sender(link.opener) == row["opener"]
    assert [session.nodes[opener].zid, session.nodes[1 - opener].zid] == row["zids"]
    assert agreed(reading, link) == row["negotiated"]


# --- special cases ---------------------------------------------------------------------


def test_sessions_have_the_negotiated_terms() -> None:
    assert session_of("sessions", "smallbatch").batch_size == 512
    assert session_of("sessions", "sn8").sn_bits == 8
    assert session_of("sessions", "sn16").sn_bits == 16
    assert session_of("sessions", "sub router closed").sn_bits == 32
    assert session_of("sessions", "noqos").qos is False
    silent = session_of("sessions", "silent router lost")
    assert [node.lease_ms for node in silent.nodes] == [1000, 2000]


def test_multilink_is_one_session() -> None:
    """Each link carries one reliability; priorities show that QoS is negotiated."""
    session = session_of("sessions", "multilink")
    assert session.multilink
    assert session.qos
    frames = [event for event in reading_of("sessions").of("FRAME") if event.session is session]
    assert {event.priority for event in frames} == {0, 5}
    used = {(event.link.name, event.reliable) for event in frames if event.direction == 0}
    assert used == {
        ("127.0.0.1:32964-127.0.0.1:17180#1", False),
        ("127.0.0.1:32970-127.0.0.1:17180#1", True),
    }


def test_peers_that_dial_each_other_have_one_session() -> None:
    """Each peer sends on the connection that it accepted."""
    sidecar, reading = sidecar_of("peers_gossip"), reading_of("peers_gossip")
    session = session_of("peers_gossip", "peer2 peer1")
    frames = [event for event in reading.of("FRAME") if event.session is session]
    used = {(event.sender_zid, event.link.name) for event in frames}
    assert {zid for zid, _ in used} == {sidecar.zids["peer1"], sidecar.zids["peer2"]}
    assert len({name for _, name in used}) == 2
    for event in frames:
        assert event.sender_zid != event.receiver_zid
        assert event.direction != event.link.opener


def test_silent_client_is_lost_after_its_lease() -> None:
    sidecar = sidecar_of("sessions")
    (stopped,) = (row["t"] for row in sidecar.of("stopped_by_signal"))
    (continued,) = (row["t"] for row in sidecar.of("continued_by_signal"))
    session = session_of("sessions", "silent router lost")
    assert session.closed_ns is not None
    # The router gives up a second after the last message, without a CLOSE.
    assert stopped + 1 < session.closed_ns / 1e9 < continued + 1
    assert session.close_reason is None


@pytest.mark.parametrize(("name", "nodes"), [("multicast", "mc1 mc2 mc3"), ("pico_peers", "a b")])
def test_group_is_one_session_of_all_its_members(name: str, nodes: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    group = next(one for one in reading.sessions if one.is_multicast)
    zids = {sidecar.zids[node] for node in nodes.split()}
    joins = [event for event in reading.of("JOIN") if event.session is group]
    assert {event.sender_zid for event in joins} == zids
    assert {event.sender_node.role for event in joins if event.sender_node} == {"peer"}
    joined = [
        event
        for event in reading.events
        if isinstance(event, SessionChanged) and event.session is group and event.change == "joined"
    ]
    assert len(joined) == len(zids)


def test_scouting_is_answered() -> None:
    sidecar, reading = sidecar_of("multicast"), reading_of("multicast")
    (scout,) = sidecar.of("scout")
    hellos = list(reading.of("HELLO"))
    assert {event.sender_zid for event in hellos} == {hello["zid"] for hello in scout["hellos"]}
    for event in (*hellos, *reading.of("SCOUT")):
        assert event.session is None
        assert event.link.protocol == "scouting"
