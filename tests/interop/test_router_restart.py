"""A router, real or ours, dies and comes back while ours publish through it (limits: Q03)."""

from __future__ import annotations

import threading
import time

import pytest

import zenlake
from tests.chance import scaled
from tests.node_process import NodeProcess
from tests.ports import free_endpoint
from tests.sessions import open_client
from tests.waiting import until

pytestmark = pytest.mark.real

RESTARTS = scaled(2, 20)
PERIOD_S = 0.002
# A message may be in flight when the router dies, and threads may be delayed.
SLACK_S = 0.25


class Log:
    """When each message was sent and received, and when the sessions were disconnected."""

    def __init__(self) -> None:
        self.sent: list[float] = []
        self.got: dict[int, float] = {}
        self.repeated = 0
        self.cuts: dict[str, list[float]] = {"ends": [], "begins": []}

    def receive(self, sample: zenlake.Sample) -> None:
        number = int.from_bytes(sample.payload.to_bytes(), "big")
        self.repeated += number in self.got
        self.got[number] = time.monotonic()

    def event(self, event: zenlake.TransportEvent) -> None:
        is_new = event.kind == zenlake.SampleKind.PUT
        self.cuts["begins" if is_new else "ends"].append(time.monotonic())

    def lost_between(self, first: float, last: float) -> list[float]:
        return [
            at
            for number, at in enumerate(self.sent)
            if first <= at <= last and number not in self.got
        ]


def open_observed(endpoint: str, log: Log) -> zenlake.Session:
    retry = {"period_init_ms": 50, "period_max_ms": 100}
    session: zenlake.Session = open_client(endpoint, connect__retry=retry)
    session.info.declare_transport_events_listener(log.event)
    return session


def answer(query: zenlake.Query) -> None:
    with query:
        query.reply("q", b"here")


def is_all_declared(session: zenlake.Session) -> bool:
    """The queryable and the token of the other session."""
    answers = [reply.ok for reply in session.get("q", timeout=0.5)]
    tokens = [reply.ok for reply in session.liveliness().get("t", timeout=0.5)]
    return len(answers) == len(tokens) == 1 and None not in (*answers, *tokens)


@pytest.mark.parametrize("module", ["zenoh", "zenlake"])
def test_declarations_are_restored_and_losses_are_reported(module: str) -> None:
    endpoint = free_endpoint()
    log = Log()
    is_over = threading.Event()
    router = NodeProcess("router", module, listen__endpoints=[endpoint])
    try:
        with open_observed(endpoint, log) as here, open_observed(endpoint, log) as there:
            there.declare_subscriber("k", log.receive)
            there.declare_queryable("q", answer)
            token = there.liveliness().declare_token("t")
            publisher = here.declare_publisher(
                "k", congestion_control=zenlake.CongestionControl.BLOCK
            )
            until(lambda: publisher.matching_status.matching)

            def publish() -> None:
                while not is_over.wait(PERIOD_S):
                    publisher.put(len(log.sent).to_bytes(4, "big"))
                    log.sent.append(time.monotonic())

            thread = threading.Thread(target=publish)
            thread.start()
            try:
                for number in range(RESTARTS):
                    router = restart(router, module, endpoint, log, here, number)
                time.sleep(SLACK_S)  # for the last publications
            finally:
                is_over.set()
                thread.join()
            assert log.repeated == 0
            token.undeclare()
    finally:
        router.kill()


def restart(
    router: NodeProcess, module: str, endpoint: str, log: Log, here: zenlake.Session, number: int
) -> NodeProcess:
    time.sleep(2 * SLACK_S)  # publications before the cut
    cuts_before = len(log.cuts["ends"])
    log.cuts["begins"].clear()
    calm_from = time.monotonic() - SLACK_S
    router.kill()
    until(lambda: len(log.cuts["ends"]) == cuts_before + 2)
    down_at = min(log.cuts["ends"][-2:])
    router = NodeProcess("router", module, listen__endpoints=[endpoint])
    until(lambda: len(log.cuts["begins"]) == 2)
    up_at = max(log.cuts["begins"])
    until(lambda: any(log.got.get(len(log.sent) - back, 0) > up_at for back in range(1, 20)))
    until(lambda: is_all_declared(here))
    restored_s = time.monotonic() - up_at
    time.sleep(SLACK_S)  # publications after the cut
    lost = log.lost_between(calm_from, time.monotonic() - SLACK_S / 2)
    reported_s, measured_s = up_at - down_at, lost[-1] - lost[0]
    print(
        f"restart {number}: cut off for {reported_s:.3f} s reported, {measured_s:.3f} s measured"
        f" ({len(lost)} lost); all declared {restored_s:.3f} s after"
    )
    assert restored_s < 2
    assert abs(lost[0] - down_at) < SLACK_S
    assert lost[-1] - up_at < 2
    assert reported_s - SLACK_S < measured_s < reported_s + restored_s + SLACK_S
    # No message sent meanwhile arrived later, and no other is missing.
    within = [at for at in log.sent if lost[0] <= at <= lost[-1]]
    assert len(lost) == len(within)
    return router
