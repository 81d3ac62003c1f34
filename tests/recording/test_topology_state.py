"""Link states before a segment: a reader of the segment alone finds the same network."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.paths import CAPTURES
from tests.recording.recorded_captures import recorded, tracker_after
from tests.recording.rows import rows_of
from tests.recording.segment_files import write_segment
from tests.recording.test_state_tracker import CUTS, ENDS, Scripted
from zenlake.limits import RECORDING_LINK_STATE_NODES_MAX, RECORDING_LINK_STATES_PER_NODE_MAX
from zenlake.recording.packet_headers import End
from zenlake.recording.tracked_link import TrackedLink
from zenlake.recording.tracked_topology import Announcement, TrackedTopology
from zenlake.trace import MessageSeen
from zenlake.wire import Init, LinkState, LinkStateList, Oam, Open, WhatAmI, ZenohId
from zenlake.wire.codec import decode_link_states
from zenlake.wire.kinds import LINK_STATE_OAM_ID

NAMES = ["routers_ring.pcapng.gz", "peers_gossip.pcapng.gz"]


def adjacencies(path: Path, since_ns: int) -> set[tuple[object, ...]]:
    """The adjacencies that were announced at some time from `since_ns` on."""
    return {
        tuple(
            row[name]
            for name in ("told_by_zid", "zid", "neighbour_zid", "weight", "from_ns", "to_ns")
        )
        for row in rows_of(path, "adjacencies")
        if row["to_ns"] is None or row["to_ns"] > since_ns
    }


def without_begin(rows: set[tuple[object, ...]]) -> set[tuple[object, ...]]:
    return {(*row[:4], row[5]) for row in rows}


@pytest.mark.parametrize("name", NAMES)
def test_segment_alone_has_the_adjacencies_of_the_whole_recording(
    tmp_path: Path, name: str
) -> None:
    packets = recorded(CAPTURES / name)
    whole = tmp_path / "whole.pcapng"
    write_segment(whole, [], packets)
    nodes = {row["zid"]: row for row in rows_of(whole, "nodes")}
    ends = [row["closed_ns"] for row in rows_of(whole, "sessions")]
    found = 0
    for cut in range(1, CUTS + 1):
        count = len(packets) * cut // (CUTS + 1)
        since_ns = packets[count].time_ns
        alone = tmp_path / f"alone-{cut}.pcapng"
        state = tracker_after(packets[:count]).packets()
        write_segment(alone, state, packets[count:], count)
        expected, read = adjacencies(whole, since_ns), adjacencies(alone, since_ns)
        if any(end is not None and end < since_ns for end in ends):
            # What a node announced on a link that ended before is not repeated.
            assert without_begin(read) <= without_begin(expected), cut
        else:
            assert read == expected, cut
        found += sum(isinstance(row[4], int) and row[4] < since_ns for row in expected)
        of_segment = {row["zid"]: row for row in rows_of(alone, "nodes")}
        assert {zid for row in read for zid in row[1:3]} <= of_segment.keys()
        for zid, row in of_segment.items():
            assert row["role"] == nodes[zid]["role"]
            locators = set((row["locators"] or "").split())
            assert locators <= set((nodes[zid]["locators"] or "").split())
    assert found > 5


# --- by hand ----------------------------------------------------------------------------------

A, B, C, D = (ZenohId(bytes((number,))) for number in (0xA, 0xB, 0xC, 0xD))


def announce(*states: LinkState) -> Oam:
    return Oam(LINK_STATE_OAM_ID, body=bytes(LinkStateList(states)))


def repeated(script: Scripted) -> list[LinkState]:
    """The link states in the state, in order."""
    return [
        state
        for event in script.state()
        if isinstance(event, MessageSeen) and isinstance(event.message, Oam)
        if isinstance(event.message.body, bytes)
        for state in decode_link_states(event.message.body).link_states
    ]


def links_of(script: Scripted, psid: int) -> list[tuple[int, tuple[int, ...]]]:
    return [(one.sn, tuple(sorted(one.links))) for one in repeated(script) if one.psid == psid]


def test_link_is_repeated_with_the_state_that_announced_it_first() -> None:
    script = Scripted()
    script.send(1, announce(LinkState(0, 1, (1,), zid=A), LinkState(1, 1, (0,), zid=B)))
    script.send(1, announce(LinkState(2, 1, (), zid=C), LinkState(0, 2, (1, 2))))
    script.send(1, announce(LinkState(0, 3, (1, 2))))
    assert links_of(script, 0) == [(1, (1,)), (2, (1, 2)), (3, (1, 2))]
    script.send(1, announce(LinkState(0, 4, (2,))))
    script.send(1, announce(LinkState(0, 5, (1, 2))))
    assert links_of(script, 0) == [(1, ()), (2, (2,)), (5, (1, 2))]


def test_older_link_state_changes_no_links() -> None:
    script = Scripted()
    script.send(1, announce(LinkState(1, 7, (), zid=B), LinkState(0, 5, (1,), zid=A)))
    script.send(1, announce(LinkState(0, 4, ())))
    assert links_of(script, 0)[-1] == (5, (1,))


def test_number_with_another_name_loses_its_links() -> None:
    script = Scripted()
    script.send(1, announce(LinkState(1, 1, (), zid=B), LinkState(0, 1, (1,), zid=A)))
    script.send(1, announce(LinkState(1, 1, (0,), zid=C)))
    assert links_of(script, 0) == [(1, ())]
    assert [one.zid for one in repeated(script) if one.psid == 1] == [C]


def test_changed_weight_begins_another_adjacency() -> None:
    script = Scripted()
    named = (LinkState(1, 1, (), zid=B), LinkState(2, 1, (), zid=C))
    script.send(1, announce(*named, LinkState(0, 1, (1, 2), zid=A)))
    script.send(1, announce(LinkState(0, 2, (1, 2), weights=(100, 0))))
    assert links_of(script, 0) == [(1, (2,)), (2, (1, 2))]
    assert repeated(script)[-1].weights is not None


@pytest.mark.parametrize("seed", range(20))
def test_links_are_repeated_since_they_are_announced_without_a_break(seed: int) -> None:
    """Against a model that keeps all link states."""
    chance = random.Random(seed)
    script = Scripted()
    names = [ZenohId(bytes((number + 1,))) for number in range(5)]
    script.send(1, announce(*(LinkState(psid, 0, (), zid=zid) for psid, zid in enumerate(names))))
    accepted: dict[int, list[tuple[int, dict[int, int]]]] = {psid: [(0, {})] for psid in range(5)}
    for sn in range(1, 25):
        psid = chance.randrange(5)
        links = tuple(chance.sample(range(5), chance.randrange(1, 5)))
        weights = tuple(chance.choice((0, 0, 7)) for _ in links)
        is_old = chance.random() < 0.2
        script.send(1, announce(LinkState(psid, 0 if is_old else sn, links, weights=weights)))
        if not is_old or accepted[psid][-1][0] == 0:
            accepted[psid].append((0 if is_old else sn, dict(zip(links, weights, strict=True))))
    for psid, states in accepted.items():
        expected = {}
        for neighbour, weight in states[-1][1].items():
            since = len(states) - 1
            while since and states[since - 1][1].get(neighbour) == weight:
                since -= 1
            expected[neighbour] = (states[since][0], weight)
        found: dict[int, tuple[int, int]] = {}
        for one in repeated(script):
            if one.psid == psid:
                given = one.weights or (0,) * len(one.links)
                for neighbour, weight in zip(one.links, given, strict=True):
                    found.setdefault(neighbour, (one.sn, weight))
        assert found == expected


def test_link_states_of_a_node_are_bounded() -> None:
    script = Scripted()
    count = 2 * RECORDING_LINK_STATES_PER_NODE_MAX
    for number in range(1, count + 1):
        links = tuple(range(1, number + 1))
        introduced = LinkState(number, 1, (), zid=ZenohId(bytes((number, 1))))
        script.send(1, announce(introduced, LinkState(0, number, links, zid=A)))
    states = links_of(script, 0)
    assert len(states) == RECORDING_LINK_STATES_PER_NODE_MAX
    assert states[-1] == (count, tuple(range(1, count + 1)))


def test_nodes_in_link_states_are_bounded() -> None:
    script = Scripted()
    topology = TrackedTopology(script.tracker._budget)
    place = Announcement(1, 1, 1, 11, None)
    for number in range(RECORDING_LINK_STATE_NODES_MAX + 10):
        zid = ZenohId(number.to_bytes(3, "little") + b"\x01")
        topology.apply((LinkState(number, 1, (number,), zid=zid),), place)
    assert len(topology.nodes) == RECORDING_LINK_STATE_NODES_MAX
    assert script.tracker.forgotten == 10


def test_memory_of_link_states_is_returned() -> None:
    script = Scripted(bytes_max=20_000)
    budget = script.tracker._budget
    before = budget.bytes
    for number in range(200):
        zid = ZenohId(bytes((number, 1)))
        script.send(1, announce(LinkState(number, 1, (0,), zid=zid, locators=("tcp/a:1",))))
    assert 10_000 < budget.bytes <= 20_000
    assert script.tracker.forgotten > 100
    script.tracker.close(script.link, script.now)
    assert budget.bytes == before == 0


def open_session(script: Scripted, opener: ZenohId, acceptor: ZenohId) -> TrackedLink:
    link = script.tracker.open((End(bytes((10, 0, 0, 9)), 1), ENDS[1]), True, script.now)
    batches = (
        bytes(Init(WhatAmI.PEER, opener)),
        bytes(Init(WhatAmI.ROUTER, acceptor, cookie=b"c")),
        bytes(Open(10_000, 10, cookie=b"c")),
        bytes(Open(10_000, 20)),
    )
    for number, batch in enumerate(batches):
        script.tracker.batch(link, number & 1, batch, 0, script.now)
    return link


def test_link_of_two_nodes_whose_session_ended_is_not_repeated() -> None:
    """A third node need not announce the end of the link."""
    script = Scripted()
    named = (LinkState(0, 1, (), zid=D), LinkState(1, 1, (), zid=B))
    script.send(1, announce(*named, LinkState(2, 1, (1,), zid=A)))
    assert links_of(script, 2) == [(1, (1,))]
    other = open_session(script, A, B)
    script.tracker.close(other, script.now)
    assert links_of(script, 2) == [(1, ())]
    script.send(1, announce(LinkState(2, 2, (1,))))
    assert links_of(script, 2)[-1] == (2, ())
    open_session(script, A, B)
    assert links_of(script, 2)[-1] == (2, ())
    script.send(1, announce(LinkState(2, 3, (1,))))
    assert links_of(script, 2)[-1] == (3, (1,))


def test_link_states_that_cannot_be_read_are_left_out() -> None:
    script = Scripted()
    script.send(
        1, Oam(LINK_STATE_OAM_ID, body=b"\xff\xff"), Oam(LINK_STATE_OAM_ID), Oam(7, body=b"x")
    )
    assert repeated(script) == []
