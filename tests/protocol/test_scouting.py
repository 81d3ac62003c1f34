"""SCOUT and its answers (wire reference §3, §12.2; limits H10)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.handshakes import ROUTER, bits
from zenlake.limits import (
    HELLO_BYTES_MAX,
    HELLO_BYTES_PER_SECOND_MAX,
    LOCATORS_PER_HELLO_MAX,
    SCOUTERS_MAX,
)
from zenlake.protocol.scouting import (
    Answerer,
    ScoutedNode,
    Scouter,
    is_loopback,
    is_loopback_locator,
)
from zenlake.wire import Extension, Hello, Scout, WhatAmI, WhatAmIMatcher, ZenohId, decode

ALL = WhatAmIMatcher(7)
SCOUT = bits("01 09 07")
HELLO = bits("22 09 01 aa 01 13 74 63 70 2f 31 32 37 2e 30 2e 30 2e 31 3a 31 37 36 32 31")


def answerer(role: WhatAmI = WhatAmI.PEER, locators: tuple[str, ...] = ()) -> Answerer:
    machine = Answerer(ROUTER, role, now=0.0)
    machine.set_locators(locators)
    return machine


def locators_in(datagram: bytes | None) -> tuple[str, ...]:
    assert datagram is not None
    hello = decode(datagram, "scouting")
    assert isinstance(hello, Hello)
    assert hello.locators is not None
    return hello.locators


# --- Scouter ---------------------------------------------------------------------------------


def test_scout_is_sent_with_growing_pauses() -> None:
    scouter = Scouter(ALL, now=100.0)
    moments = []
    for _ in range(8):
        now = scouter.next_deadline()
        assert scouter.handle_timeout(now - 0.001) is None
        assert scouter.handle_timeout(now) == SCOUT
        assert scouter.handle_timeout(now) is None
        moments.append(now - 100.0)
    assert moments == [0, 1, 3, 7, 15, 23, 31, 39]


def test_late_timer_does_not_send_twice() -> None:
    scouter = Scouter(ALL, now=0.0)
    scouter.handle_timeout(0.0)
    assert scouter.handle_timeout(50.0) == SCOUT
    assert scouter.next_deadline() == 52.0


def test_node_that_answers_is_found() -> None:
    found = Scouter(ALL, now=0.0).receive(HELLO)
    assert isinstance(found, ScoutedNode)
    assert (found.zid, found.role) == (ROUTER, WhatAmI.PEER)
    assert found.locators == ("tcp/127.0.0.1:17621",)
    assert repr(found) == "ScoutedNode(peer aa at tcp/127.0.0.1:17621)"


def test_node_without_locators_is_found() -> None:
    found = Scouter(ALL, now=0.0).receive(bits("02 09 00 07"))
    assert found is not None
    assert found.locators == ()


def test_node_of_another_role_is_not_found() -> None:
    assert Scouter(WhatAmIMatcher(WhatAmI.ROUTER), now=0.0).receive(HELLO) is None
    assert Scouter(ALL, now=0.0, own_zid=ROUTER).receive(HELLO) is None
    assert Scouter(ALL, now=0.0).receive(SCOUT) is None


@given(st.binary(max_size=100))
def test_noise_finds_nobody_or_a_node(datagram: bytes) -> None:
    Scouter(ALL, now=0.0).receive(datagram)
    answerer().receive(datagram, "10.0.0.1", 0.0)


def test_noise_is_counted() -> None:
    scouter, machine = Scouter(ALL, now=0.0), answerer()
    scouter.receive(b"")
    machine.receive(b"\xff", "10.0.0.1", 0.0)
    assert (scouter.unread, machine.unread) == (1, 1)


# --- Answerer --------------------------------------------------------------------------------


def test_a_recorded_answer() -> None:
    """Vectors 20 and 22."""
    machine = answerer(locators=("tcp/127.0.0.1:17621",))
    assert machine.receive(SCOUT, "127.0.0.1", 0.0) == HELLO


@pytest.mark.parametrize("role", list(WhatAmI))
@pytest.mark.parametrize("wanted", range(8))
def test_only_roles_that_are_asked_for_answer(role: WhatAmI, wanted: int) -> None:
    scout = bytes(Scout(WhatAmIMatcher(wanted)))
    is_answered = answerer(role).receive(scout, "10.0.0.1", 0.0) is not None
    assert is_answered == bool(wanted & role)


@pytest.mark.parametrize(
    "scout",
    [
        SCOUT + b"left over",
        bytes(Scout(ALL, version=8)),
        bytes(Scout(ALL, version=200)),
        bytes(Scout(ALL, zid=ZenohId.parse("33"))),
        bytes(Scout(ALL, extensions=(Extension(0x1C),))),
    ],
    ids=bytes.hex,
)
def test_version_and_extensions_do_not_matter(scout: bytes) -> None:
    answer = answerer().receive(scout, "10.0.0.1", 0.0)
    assert answer is not None
    assert answer[1] == 9


def test_other_datagrams_are_not_answered() -> None:
    machine = answerer()
    assert machine.receive(HELLO, "10.0.0.1", 0.0) is None
    assert machine.receive(bytes(Scout(ALL, zid=ROUTER)), "10.0.0.1", 0.0) is None


def test_loopback_locators_are_sent_to_loopback_only() -> None:
    here = ("tcp/127.0.0.1:7447", "tcp/[::1]:7447")
    there = ("tcp/192.168.1.2:7447", "tcp/[fe80::1]:7447", "tcp/name:7447")
    machine = answerer(locators=here + there)
    assert locators_in(machine.receive(SCOUT, "127.0.0.1", 0.0)) == here + there
    assert locators_in(machine.receive(SCOUT, "::1", 0.0)) == here + there
    assert locators_in(machine.receive(SCOUT, "192.168.1.7", 0.0)) == there
    assert locators_in(machine.receive(SCOUT, "fe80::2%eth0", 0.0)) == there


@pytest.mark.parametrize("text", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_addresses_are_recognised(text: str) -> None:
    assert is_loopback(text)


@pytest.mark.parametrize("text", ["10.0.0.1", "::", "example.org", ""])
def test_other_addresses_are_not_loopback(text: str) -> None:
    assert not is_loopback(text)


def test_invalid_locator_is_not_loopback() -> None:
    assert not is_loopback_locator("nonsense")
    assert is_loopback_locator("tls/localhost:7447?rel=1")


def test_an_answer_fits_a_frame() -> None:
    many = tuple(f"tcp/10.0.0.{number}:7447" for number in range(200))
    answer = answerer(locators=many).receive(SCOUT, "10.0.0.1", 0.0)
    assert len(locators_in(answer)) == LOCATORS_PER_HELLO_MAX
    long = tuple(f"tcp/{'x' * 200}:{number}" for number in range(60))
    answer = answerer(locators=long).receive(SCOUT, "10.0.0.1", 0.0)
    assert answer is not None
    assert len(locators_in(answer)) == 6
    assert len(answer) <= HELLO_BYTES_MAX


def test_the_schedule_of_a_real_node_is_always_answered() -> None:
    machine = answerer()
    for node in range(4):  # several on one host
        for moment in (0, 1, 3, 7, 15):
            assert machine.receive(SCOUT, "10.0.0.1", moment + node / 10 + 20 * node) is not None


def test_a_flood_from_forged_sources() -> None:
    """10,000 SCOUTs a second: fewer bytes are sent than received, and few addresses stored."""
    machine = answerer(locators=("tcp/192.168.1.2:7447", "tcp/192.168.1.3:7447"))
    received = sent = 0
    began_s = time.process_time()
    for number in range(20_000):
        source = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        received += len(SCOUT)
        sent += len(machine.receive(SCOUT, source, number / 10_000) or b"")
    used_s = time.process_time() - began_s
    print(f"{sent / received:.2f} times the bytes, {used_s / 2:.0%} of a core")
    assert used_s < 0.5 * 2  # of two seconds
    assert 0 < sent <= 3 * received
    assert sent <= 4 * HELLO_BYTES_PER_SECOND_MAX
    assert machine.answered + machine.withheld == 20_000
    assert len(machine._sources) <= SCOUTERS_MAX


def test_one_victim_is_not_flooded() -> None:
    machine = answerer(locators=("tcp/192.168.1.2:7447",))
    answers = sum(
        machine.receive(SCOUT, "10.0.0.9", number / 1000) is not None for number in range(10_000)
    )
    assert answers <= 8 + 2 * 10
    assert machine.receive(SCOUT, "10.0.0.10", 10.0) is not None, "others are answered"
