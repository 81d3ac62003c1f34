"""`sessions`: nodes, negotiated terms, end and number of links."""

from __future__ import annotations

import json

import pytest

from tests.lake.contents.tables import Row, Tables, nodes_by_zid
from tests.trace.expected_sessions import SESSIONS
from tests.trace.sidecar import PATHS, WITH_COUNTS, Sidecar, sidecar_of
from tests.trace.test_contents_sessions import WEBSOCKET

MIDSTREAM = ("compressed_midstream", "lowlatency_midstream", "midstream")
TERMS = ("qos", "compression", "lowlatency", "patch", "sn_bits", "batch_size")


def described(sidecar: Sidecar, row: Row) -> str:
    names = nodes_by_zid(sidecar)
    zids = row["opener_zid"], row["acceptor_zid"]
    one, other = ("-" if zid is None else names.get(zid, "?") for zid in zids)
    return f"{one} {other} {row['outcome']} {row['links']}"


def session_of(tables: Tables, name: str, description: str) -> Row:
    sidecar = sidecar_of(name)
    rows = tables.of(name, "sessions")
    (found,) = (row for row in rows if described(sidecar, row).startswith(description))
    return found


@pytest.mark.parametrize("name", PATHS)
def test_sessions_have_the_expected_nodes_and_ends(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    rows = tables.of(name, "sessions")
    assert [described(sidecar, row) for row in rows] == SESSIONS[name]
    assert len({row["session"] for row in rows}) == len(rows)


@pytest.mark.parametrize("name", PATHS)
def test_sessions_have_the_nodes_and_times_of_the_sidecar(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    for row in tables.of(name, "sessions"):
        for side in ("opener", "acceptor"):
            zid, role = row[f"{side}_zid"], row[f"{side}_role"]
            assert (zid is None) == (role is None)
            assert zid not in sidecar.roles or role == sidecar.roles[zid]
        assert (row["closed_ns"] is None) == (row["outcome"] == "open" or name == "midstream")
        if row["outcome"] in ("closed", "lost"):
            assert row["time_ns"] <= row["opened_ns"] < row["closed_ns"]
        assert row["close_reason"] is None or row["outcome"] in ("closed", "refused", "partial")


@pytest.mark.parametrize("name", PATHS)
def test_links_of_sessions_are_those_of_their_messages(tables: Tables, name: str) -> None:
    links: dict[str, set[str]] = {}
    for row in tables.of(name, "messages"):
        if row["session"] is not None:
            links.setdefault(row["session"], set()).add(row["link"])
    rows = {row["session"]: row for row in tables.of(name, "sessions")}
    assert links.keys() == rows.keys()
    for session, row in rows.items():
        assert row["links"] == len(links[session])
        assert row["link"] in links[session]


# --- connections -------------------------------------------------------------------------


def agreed(tables: Tables, name: str, link: str, session: Row) -> list[str]:
    """The terms that a sidecar lists. Only INIT shows shared memory, and QoS with multilink."""
    inits = [
        json.loads(row["detail"])
        for row in tables.of(name, "messages")
        if row["kind"] == "INIT_ACK" and row["link"] == link
    ]
    terms = {
        "compression": session["compression"],
        "lowlatency": session["lowlatency"],
        "patch": session["patch"],
        "qos": session["qos"] and not any("multilink" in init for init in inits),
        "shm": any("shm" in init for init in inits),
    }
    return [term for term, is_agreed in terms.items() if is_agreed]


@pytest.mark.parametrize("name", WITH_COUNTS)
def test_connections_are_those_of_the_sidecar(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    rows = {row["session"]: row for row in tables.of(name, "sessions")}
    session_by_link = {
        row["link"]: rows[row["session"]] for row in tables.of(name, "messages") if row["session"]
    }
    checked = 0
    for wanted in sidecar.connections:
        connection = wanted["connection"]
        link = f"{connection[4:]}#1" if connection.startswith("udp ") else connection
        session = session_by_link.get(link)
        if connection == WEBSOCKET:
            assert session is not None
        elif wanted["zids"] == [None, None] and name != "midstream":
            assert session is None, "the connection carries no Zenoh"
        else:
            assert session is not None
            zids = [session["opener_zid"], session["acceptor_zid"]]
            if is_dialled_by_the_other(tables, name, link, session):
                zids.reverse()
            assert zids == wanted["zids"]
            assert agreed(tables, name, link, session) == wanted["negotiated"]
            opener = link.partition("-")[0]
            assert name in MIDSTREAM or opener == wanted["opener"]
            checked += 1
    assert checked
    names = {row["connection"] for row in sidecar.connections}
    protocols = tables.protocols(name)
    known = {link for link in session_by_link if protocols[link] in ("tcp", "ws")}
    assert known <= names


def is_dialled_by_the_other(tables: Tables, name: str, link: str, session: Row) -> bool:
    """Whether the other side opened a session's second connection, by its INIT_SYN."""
    senders = {
        row["sender_zid"]
        for row in tables.of(name, "messages")
        if row["kind"] == "INIT_SYN" and row["link"] == link
    }
    return session["opener_zid"] not in senders and session["acceptor_zid"] in senders


# --- special cases ---------------------------------------------------------------------


def test_sessions_have_the_negotiated_terms(tables: Tables) -> None:
    assert session_of(tables, "sessions", "smallbatch")["batch_size"] == 512
    assert session_of(tables, "sessions", "sn8")["sn_bits"] == 8
    assert session_of(tables, "sessions", "sn16")["sn_bits"] == 16
    assert session_of(tables, "sessions", "sub router closed")["sn_bits"] == 32
    assert session_of(tables, "sessions", "noqos")["qos"] is False
    assert session_of(tables, "sessions", "multilink")["qos"] is True
    silent = session_of(tables, "sessions", "silent router lost")
    assert (silent["opener_lease_ms"], silent["acceptor_lease_ms"]) == (1000, 2000)


@pytest.mark.parametrize("name", MIDSTREAM)
def test_negotiated_columns_are_null_without_a_handshake(tables: Tables, name: str) -> None:
    """Except for the framing, which the bytes themselves show."""
    for row in tables.of(name, "sessions"):
        assert row["outcome"] == "partial"
        assert row["opened_ns"] is None
        assert all(row[term] is None for term in TERMS if term not in ("compression", "lowlatency"))
        assert row["compression"] is (name == "compressed_midstream")
        assert row["lowlatency"] is (name == "lowlatency_midstream")
        assert row["opener_lease_ms"] is None
        assert row["acceptor_lease_ms"] is None


def test_silent_client_is_lost_after_its_lease(tables: Tables) -> None:
    sidecar = sidecar_of("sessions")
    (stopped,) = (row["t"] for row in sidecar.of("stopped_by_signal"))
    (continued,) = (row["t"] for row in sidecar.of("continued_by_signal"))
    silent = session_of(tables, "sessions", "silent router lost")
    assert stopped + 1 < silent["closed_ns"] / 1e9 < continued + 1
    assert silent["close_reason"] is None


@pytest.mark.parametrize(("name", "nodes"), [("multicast", "mc1 mc2 mc3"), ("pico_peers", "a b")])
def test_group_is_one_session_of_all_its_members(tables: Tables, name: str, nodes: str) -> None:
    sidecar = sidecar_of(name)
    (group,) = (row for row in tables.of(name, "sessions") if row["members"] is not None)
    zids = {sidecar.zids[node] for node in nodes.split()}
    assert set(group["members"].split()) == zids
    assert group["links"] == len(zids)
    joins = [row for row in tables.of(name, "messages") if row["kind"] == "JOIN"]
    assert {row["sender_zid"] for row in joins} == zids
    assert {row["session"] for row in joins} == {group["session"]}
    assert all(row["receiver_zid"] is None for row in joins)
