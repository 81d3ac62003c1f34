"""How sessions are refused and end: step, cause and reason, from real traffic."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trace.recorded_sessions import TRUTH, sessions_of
from zenlake.trace.session_ends import SessionEnd, cause_of, reason_of


def of(name: str, zid: str) -> dict[str, Any]:
    """The first session of this opener."""
    return next(row for row in sessions_of(name) if row["opener_zid"] == zid)


def test_wrong_password_is_refused_at_open_and_missing_one_at_init() -> None:
    router = TRUTH["refused_password"]["router"]
    good, *others = sessions_of("refused_password")
    assert (good["opener_zid"], good["step"]) == (TRUTH["refused_password"]["good"], "OPEN_ACK")
    assert [(row["outcome"], row["step"], row["cause"], row["ender"]) for row in others] == [
        ("refused", "OPEN_SYN", "refused_authentication", "acceptor"),
        ("refused", "OPEN_SYN", "refused_authentication", "acceptor"),
        ("refused", "INIT_SYN", "refused_authentication", "acceptor"),
    ]
    wrong, _, missing = others
    assert wrong["reason"] == (
        f"node {router} refused OPEN_SYN with CLOSE, reason generic (packet 19): its credentials "
        "are wrong, or its user is not known"
    )
    assert missing["reason"] == (
        "the acceptor refused INIT_SYN with CLOSE, reason generic (packet 40): it has no "
        "credentials, and the acceptor probably requires them"
    )


def test_session_above_the_limit_is_refused_at_open() -> None:
    """Routers close with `invalid`, not `max_sessions`."""
    accepted, refused = sessions_of("refused_sessions")
    assert accepted["opener_zid"] == TRUTH["refused_sessions"]["accepted"]
    assert (refused["step"], refused["close_reason"]) == ("OPEN_SYN", "invalid")
    assert (refused["cause"], refused["end_packet"]) == ("refused_limit", 19)


def test_other_versions_are_refused_at_init() -> None:
    openers = TRUTH["refused_version"]["openers"]
    for version in (8, 10):
        row = of("refused_version", openers[str(version)])
        assert (row["version"], row["step"], row["cause"]) == (
            version,
            "INIT_SYN",
            "refused_version",
        )
        assert f"version {version} of the protocol, not 9" in row["reason"]
    hung_up = of("refused_version", openers["9"])
    assert (hung_up["cause"], hung_up["ended_by"], hung_up["ender"]) == ("refused", "fin", "opener")


@pytest.mark.parametrize("name", ["killed_and_frozen", "killed_and_frozen_1_0"])
def test_killed_client_is_lost_and_frozen_one_exceeds_its_lease(name: str) -> None:
    killed, frozen = of(name, TRUTH[name]["killed"]), of(name, TRUTH[name]["frozen"])
    assert (killed["cause"], killed["ended_by"], killed["ender"]) == (
        "session_lost",
        "fin",
        "opener",
    )
    assert (frozen["outcome"], frozen["cause"], frozen["ender"]) == (
        "lost",
        "lease_exceeded",
        "acceptor",
    )
    assert frozen["opener_silent_ms"] >= frozen["opener_lease_ms"] == 3000
    assert "and its lease is 3,000 ms" in frozen["reason"]


OPEN = SessionEnd(
    "lost", "OPEN_ACK", 9, "", "fin", "opener", 7, None, 3e3, 1e4, 100.0, 200.0, False
)


@pytest.mark.parametrize(
    ("changes", "cause", "words"),
    [
        ({}, "session_lost", "the opener ended the connection without CLOSE (packet 7)"),
        ({"ended_by": "rst"}, "session_lost", "the opener reset the connection (packet 7)"),
        ({"is_lossy": True}, "capture_incomplete", "a CLOSE may have been in them"),
        ({"opener_silent_ms": 3_001.0}, "session_lost", "without CLOSE"),
        (
            {"opener_silent_ms": 3_001.0, "ender": "acceptor"},
            "lease_exceeded",
            "the opener sent nothing for 3,001 ms, and its lease is 3,000 ms: the acceptor ended",
        ),
        (
            {"acceptor_silent_ms": 1.2e4, "ended_by": "lease", "ender": None, "end_packet": None},
            "lease_exceeded",
            "the acceptor sent nothing for 12,000 ms, and its lease is 10,000 ms: the capture",
        ),
        ({"ended_by": "again", "ender": None}, "session_lost", "connected again (packet 7)"),
        ({"outcome": "closed", "ended_by": "close", "close_reason": "generic"}, None, "CLOSE"),
        (
            {"outcome": "closed", "ended_by": "close", "close_reason": "unresponsive"},
            "unresponsive",
            "the opener sent CLOSE, reason unresponsive",
        ),
        (
            {"outcome": "refused", "step": "INIT_SYN"},
            "refused",
            "no answer to INIT_SYN: the opener ended the connection (packet 7)",
        ),
        (
            {"outcome": "refused", "step": "INIT_SYN", "ender": "acceptor", "ended_by": "rst"},
            "refused",
            "the acceptor did not answer INIT_SYN and reset the connection",
        ),
        (
            {
                "outcome": "refused",
                "step": "OPEN_SYN",
                "ended_by": "close",
                "ender": "acceptor",
                "close_reason": "max_links",
            },
            "refused_limit",
            "reason max_links (packet 7): a node with the same id is connected already",
        ),
        (
            {
                "outcome": "refused",
                "step": "OPEN_SYN",
                "ended_by": "close",
                "ender": "acceptor",
                "close_reason": "connection_to_self",
            },
            "refused",
            "reason connection_to_self",
        ),
        (
            {
                "outcome": "refused",
                "step": "INIT_ACK",
                "ended_by": "close",
                "close_reason": "generic",
                "auth": "INIT_SYN",
            },
            "refused_authentication",
            "credentials were offered",
        ),
    ],
)
def test_session_end_has_the_expected_cause_and_reason(
    changes: dict[str, Any], cause: str | None, words: str
) -> None:
    end = OPEN._replace(**changes)
    assert cause_of(end) == cause
    assert words in (reason_of(end, lambda side: f"the {side}") or "")


def test_open_session_has_no_end() -> None:
    end = OPEN._replace(outcome="open", ended_by=None, ender=None, end_packet=None)
    assert (cause_of(end), reason_of(end, str)) == (None, None)
