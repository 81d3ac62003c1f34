"""The simulation detects defects of components, not only faults of the network.

Each test breaks one component on purpose; some of the first seeds must fail with the right message.
"""

from __future__ import annotations

from typing import Any

import pytest

from zenlake.protocol import heartbeat
from zenlake.protocol.heartbeat import Heartbeat
from zenlake.routing import hlc
from zenlake.routing.declarations import announcer
from zenlake.routing.declarations.announcer import Announcer
from zenlake.routing.declarations.gateway_interests import GatewayInterests
from zenlake.routing.declarations.received_declarations import ReceivedDeclarations
from zenlake.routing.face import Face
from zenlake.routing.forwarding import queries
from zenlake.routing.forwarding.queries import QueryForwarder
from zenlake.routing.hlc import Hlc
from zenlake.session import open_query
from zenlake.session.liveliness import Liveliness
from zenlake.session.open_query import OpenQuery
from zenlake.session.subscribers import Subscribers
from zenlake.testing.simulation import run_seed
from zenlake.wire import Timestamp

SEEDS = range(40)
MACHINES = (heartbeat, announcer, hlc, queries, open_query)

pytestmark = pytest.mark.skipif(
    any(not str(machine.__file__).endswith(".py") for machine in MACHINES),
    reason="compiled classes cannot be broken on purpose",
)


def first_failure() -> str:
    for seed in SEEDS:
        outcome = run_seed(seed)
        if outcome.failure:
            # A second run fails in the same way.
            assert run_seed(seed).failure == outcome.failure
            return outcome.failure
    return "none"


def nothing(*_: Any) -> tuple[()]:
    """Replaces a method that works at once or in slices, and does nothing."""
    return ()


def test_sample_delivered_twice_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Subscribers.receive_run

    def twice(self: Subscribers, key: str, *run: Any) -> None:
        original(self, key, *run)
        original(self, key, *run)

    monkeypatch.setattr(Subscribers, "receive_run", twice)
    assert "arrived twice" in first_failure()


def test_lost_sample_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Subscribers.receive_run

    def rarely_not(self: Subscribers, key: str, messages: Any, start: int, stop: int) -> None:
        kept = [
            push
            for push in messages[start:stop]
            if not (push.body.attachment or b"").endswith(b"13")
        ]
        original(self, key, kept, 0, len(kept))

    monkeypatch.setattr(Subscribers, "receive_run", rarely_not)
    assert "never arrived" in first_failure()


def test_declarations_that_outlive_their_face_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReceivedDeclarations, "remove_face", nothing)
    assert first_failure() != "none"


def test_queries_that_outlive_their_face_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QueryForwarder, "remove_face", nothing)
    assert "is gone, but" in first_failure()


def test_interests_not_sent_again_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GatewayInterests, "forward_all", nothing)
    assert first_failure() != "none"


def test_new_peer_without_declarations_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Announcer, "introduce", nothing)
    assert "knows" in first_failure()


def test_second_final_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    original = QueryForwarder.receive_final

    def twice(self: QueryForwarder, face: Face, message: Any) -> None:
        branch = face.branches.get(message.request_id)
        original(self, face, message)
        if branch is not None and not branch.query.face.is_gone:
            branch.query.face.send(message, "")

    monkeypatch.setattr(QueryForwarder, "receive_final", twice)
    assert "which is not open" in first_failure()


def test_query_without_timeout_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenQuery, "time_out", nothing)
    assert first_failure() != "none"


def test_lease_that_expires_too_early_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    def hastily(self: Heartbeat, received_at: float, now: float) -> bool:
        return now >= received_at + self.lease_s / 8

    monkeypatch.setattr(Heartbeat, "is_expired", hastily)
    assert "the lease expired although" in first_failure()


def test_token_reported_twice_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Liveliness._report_present

    def forgetfully(self: Liveliness, watcher: Any, key: str) -> None:
        watcher.present_keys.clear()
        original(self, watcher, key)

    monkeypatch.setattr(Liveliness, "_report_present", forgetfully)
    assert "PUT twice" in first_failure()


def test_clock_that_goes_back_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    def plainly(self: Hlc, wall_ntp64: int) -> Timestamp:
        return Timestamp(wall_ntp64, self.zid)

    monkeypatch.setattr(Hlc, "new", plainly)
    assert "timestamp" in first_failure()
