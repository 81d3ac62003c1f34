"""A node records its multicast group and its scouting, beside nodes of ours or real ones.

Everything is on the loopback interface. A socket in the group receives what is sent to it: the
recording must show the same as a capture of these datagrams.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import zenlake
from tests.interop.test_multicast_real import listening
from tests.recording.recorded_captures import events_of
from tests.sessions import config_of
from tests.waiting import until
from zenlake import trace
from zenlake.capture.segment_format import FIRST
from zenlake.recording.packet_headers import End, UdpHeaders, end_of_locator
from zenlake.recording.state_tracker import StatePacket
from zenlake.trace import MessageSeen, TraceEvent, Undecoded

GROUP = "224.0.0.225"
MODULES = [pytest.param("zenlake"), pytest.param("zenoh", marks=pytest.mark.real)]
PATIENCE_S = 20.0


def peer(module: Any, **settings: Any) -> Any:
    return module.open(config_of(module=module, **settings))


class GroupCapture:
    """The datagrams that are sent to a group, as packets with their addresses."""

    def __init__(self) -> None:
        self._socket = listening()
        self.port: int = self._socket.getsockname()[1]
        self.packets: list[StatePacket] = []
        self._headers: dict[End, UdpHeaders] = {}
        self._is_over = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        group = end_of_locator(f"udp/{GROUP}:{self.port}")
        while not self._is_over:
            try:
                data, (host, port) = self._socket.recvfrom(65_536)
            except TimeoutError:
                continue
            source = end_of_locator(f"udp/{host}:{port}")
            headers = self._headers.setdefault(source, UdpHeaders(source, group))
            packet = headers.header(len(data)) + data
            self.packets.append(StatePacket(time.time_ns(), FIRST, packet))

    def close(self) -> list[TraceEvent]:
        self._is_over = True
        self._thread.join()
        self._socket.close()
        return events_of([], tuple(self.packets), 1)


@pytest.fixture
def capture() -> Iterator[GroupCapture]:
    made = GroupCapture()
    try:
        yield made
    finally:
        if not made._is_over:
            made.close()


def by_sender(events: list[TraceEvent]) -> dict[str, list[tuple[object, ...]]]:
    """The messages of each member, in order: datagrams of two members may cross."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for event in events:
        if isinstance(event, MessageSeen) and event.link.protocol == "multicast":
            zid = None if event.sender_node is None else event.sender_node.zid
            session = None if event.session is None else event.session.id
            values = (session, zid, event.kind, event.key, event.sn, event.fragments, event.ignored)
            found.setdefault(event.link.name, []).append(values)
    return found


def undecoded(events: list[TraceEvent]) -> dict[str, int]:
    """The bytes that were not decoded, by state."""
    found: Counter[str] = Counter()
    for event in events:
        if isinstance(event, Undecoded):
            found[event.state] += event.bytes
    return dict(found)


def put_until(publish: Callable[[], None], is_done: Callable[[], bool]) -> None:
    """Publish until the value arrives: members that have received no JOIN yet miss it."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_done():
        assert time.monotonic() < deadline, "nothing came"
        publish()
        time.sleep(0.2)


@pytest.mark.parametrize("name", MODULES)
def test_group_is_recorded_as_a_capture_of_it_shows(
    tmp_path: Path, capture: GroupCapture, name: str
) -> None:
    endpoint = f"udp/{GROUP}:{capture.port}#iface=lo"
    common: dict[str, Any] = {
        "listen__endpoints": [endpoint],
        "transport__multicast__join_interval": 300,
    }
    folder = tmp_path / "group"
    module = pytest.importorskip(name)
    large = bytes(range(256)) * 400
    with peer(zenlake, **common, recording__path=str(folder)) as recording:
        ours: list[bytes] = []
        recording.declare_subscriber("demo/**", lambda one: ours.append(one.payload.to_bytes()))
        with peer(module, **common) as other:
            theirs: list[bytes] = []
            other.declare_subscriber("back/**", lambda one: theirs.append(one.payload.to_bytes()))
            put_until(lambda: other.put("demo/a", b"one"), lambda: b"one" in ours)
            block = module.CongestionControl.BLOCK
            put_until(
                lambda: other.put("demo/large", large, congestion_control=block),
                lambda: large in ours,
            )
            put_until(lambda: recording.put("back/a", b"two"), lambda: b"two" in theirs)
            time.sleep(0.7)  # some more JOINs
        time.sleep(0.3)
    time.sleep(0.3)
    captured = capture.close()
    with trace.open(str(folder)) as recorded:
        events = list(recorded)
        assert not recorded.is_damaged
    # On a busy machine an official node may send a FRAME before its first JOIN.
    assert undecoded(events) == undecoded(captured)
    assert name == "zenoh" or undecoded(events) == {}
    expected, found = by_sender(captured), by_sender(events)
    assert len(expected) == 2
    assert found == expected
    kinds = [value[2] for values in found.values() for value in values]
    assert kinds.count("CLOSE") == 2
    assert {"JOIN", "FRAME", "FRAGMENT", "PUSH/PUT"} <= set(kinds)


def scouting_group() -> str:
    """A group of its own; readers recognise SCOUT at the port of scouting."""
    return f"224.0.0.{random.randint(226, 250)}:7446"


@pytest.mark.parametrize("name", MODULES)
def test_scouting_is_recorded(tmp_path: Path, name: str) -> None:
    listening().close()  # skips if there is no multicast
    module = pytest.importorskip(name)
    common: dict[str, Any] = {
        "scouting__multicast__enabled": True,
        "scouting__multicast__address": scouting_group(),
        "scouting__multicast__interface": "lo",
        "listen__endpoints": ["tcp/127.0.0.1:0"],
    }
    folder = tmp_path / "scouting"
    with (
        peer(zenlake, **common, recording__path=str(folder)) as recording,
        peer(module, **common) as other,
    ):
        zids = str(recording.info.zid()), str(other.info.zid())
        until(lambda: zids[1] in [str(one) for one in recording.info.peers_zid()], PATIENCE_S)
        time.sleep(1.5)  # our next SCOUT, which the other node answers
    group = common["scouting__multicast__address"]
    scouts: set[str] = set()
    hellos: dict[str, tuple[str, str]] = {}
    with trace.open(str(folder)) as recorded:
        for event in recorded:
            if isinstance(event, MessageSeen) and event.kind == "SCOUT":
                assert event.receiver == group
                scouts.add(event.sender)
            elif isinstance(event, MessageSeen) and event.kind == "HELLO":
                assert event.sender_node is not None
                hellos[str(event.sender_node.zid)] = event.sender, event.receiver
        assert recorded.undecoded == {}
    assert len(scouts) == 2
    assert set(hellos) == set(zids)
    # Each answers to the address from which the other has sent its SCOUT.
    assert {receiver for _, receiver in hellos.values()} == scouts


def test_client_that_scouts_records_it(tmp_path: Path) -> None:
    listening().close()
    common: dict[str, Any] = {
        "scouting__multicast__enabled": True,
        "scouting__multicast__address": scouting_group(),
        "scouting__multicast__interface": "lo",
    }
    with (
        peer(zenlake, **common, listen__endpoints=["tcp/127.0.0.1:0"]),
        zenlake.record(config_of(**common), "robot/**", tmp_path / "client"),
    ):
        pass
    with trace.open(str(tmp_path / "client")) as recorded:
        kinds = [one.kind for one in recorded if isinstance(one, MessageSeen)]
    assert kinds[:3] == ["SCOUT", "HELLO", "INIT_SYN"]


def test_node_that_only_records_a_group_delivers_nothing(
    tmp_path: Path, capture: GroupCapture
) -> None:
    endpoint = f"udp/{GROUP}:{capture.port}#iface=lo"
    common: dict[str, Any] = {
        "listen__endpoints": [endpoint],
        "transport__multicast__join_interval": 200,
    }
    config = config_of(**common)
    folder = tmp_path / "group"
    found: list[zenlake.Sample] = []
    with zenlake.record(config, "demo/**", folder) as recording, peer(zenlake, **common) as other:
        recording._session.declare_subscriber("demo/**", found.append)
        put_until(lambda: other.put("demo/a", b"x"), lambda: recording.stats()["messages"] >= 3)
        other.close()
        time.sleep(0.2)
        assert recording.stats()["messages"] >= 3  # of a member that has left
    assert found == []
    with trace.open(str(folder)) as recorded:
        keys = [one.key for one in recorded if isinstance(one, MessageSeen) and one.key]
    assert keys.count("demo/a") >= 3
