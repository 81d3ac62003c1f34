"""Traffic of deployed nodes: every finding in it is listed with its reason."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.paths import CAPTURES
from tests.rules.captures import findings
from tests.trace.built_sessions import CAPTURE_NAMES
from zenlake.rules import NOTE

EXPLAINED = {
    "alias_remapped.pcapng": {
        # Made on purpose: the client declares an alias for a second key (README of the captures).
        ("error", "alias-redefined", 28)
    },
    "sessions.pcapng.gz": {
        # A client process is stopped by a signal for longer than its lease, then goes on.
        ("warning", "lease-exceeded", 1202)
    },
}
NOTES = {
    "control-qos": "zenoh-pico declares without QoS",
    "declaration-repeated": "SN-56: declared again for another interest",
    "default-sent": "zenoh-pico 1.0.4 and 1.9.0 write consolidation auto, meaning none (SN-81)",
    "entity-id-zero": "SN-47: between routers, and in answers to liveliness queries",
    "final-for-future": "SN-52: routers from 1.9 on",
    "final-of-peers": "SN-53: what peers tell each other at first",
    "group-batch-large": "SN-87: a payload of 20 kB in one datagram",
    "group-keep-alive": "zenoh-pico sends KEEP_ALIVE to groups",
    "group-kind": "peers of zenoh-pico ask the group",
    "interest-id-zero": "SN-101: 1.0.4 begins to count interests with 0",
    "response-key-empty": "SN-82: errors without a key",
    "response-qos": "zenoh-pico answers with the default QoS",
    "sn-skipped-after-fragments": "SN-33: one number is left out after fragments",
    "source-sn-backwards": "the application sets the numbers of its sources at random",
    "undeclared-without-key": "SN-46: undeclarations by number",
}


@pytest.mark.parametrize("name", CAPTURE_NAMES)
def test_every_finding_is_explained(name: str) -> None:
    found = findings(CAPTURES / name)
    bad = {(one.rule.severity, one.rule.id, one.packet) for one in found}
    assert {one for one in bad if one[0] != NOTE} == EXPLAINED.get(name, set())
    assert {one.rule.id for one in found if one.rule.severity == NOTE} <= set(NOTES)


def test_every_explanation_is_needed() -> None:
    found: Counter[str] = Counter()
    for name in CAPTURE_NAMES:
        found.update(one.rule.id for one in findings(CAPTURES / name))
    assert set(NOTES) <= set(found)
