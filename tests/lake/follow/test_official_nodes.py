"""R17: traffic of official nodes, followed live, gives the rows of one run over the recording."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chance import IS_FULL
from tests.lake.follow.comparison import differences, rows
from tests.ports import free_endpoint
from tests.sessions import config_of, open_client
from tests.waiting import until
from zenlake import open as open_node
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.follow.settings import Settings
from zenlake.lake.pipeline import run as run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

zenoh = pytest.importorskip("zenoh", reason="official nodes make the traffic")
pytestmark = [pytest.mark.xdist_group("streams"), pytest.mark.real]
STEPS = 6
SEGMENT_S = 1
Pause = Callable[[], None]
"""Waits between the steps of a scenario until a segment has grown and a version is published."""


def publications(endpoint: str, pause: Pause) -> None:
    """Small and large values, deletions, and a subscriber that comes late."""
    with open_client(endpoint, zenoh) as one, open_client(endpoint, zenoh) as other:
        publisher = one.declare_publisher("robot/arm/pose")
        for step in range(STEPS):
            if step == STEPS // 2:
                other.declare_subscriber("robot/**", lambda sample: None)
            for n in range(200):
                publisher.put(f"{step} {n}", attachment=b"seq")
            one.put("robot/map", bytes(300_000))
            one.delete("robot/old")
            pause()


def queries(endpoint: str, pause: Pause) -> None:
    """Answers at once, after three segments, with errors, too late, and not at all."""
    held: list[Any] = []
    with open_client(endpoint, zenoh) as one, open_client(endpoint, zenoh) as other:
        other.declare_queryable("q/now", lambda query: query.reply("q/now", "x"))
        other.declare_queryable("q/error", lambda query: query.reply_err("no"))
        other.declare_queryable("q/later", held.append)
        pause()
        one.get("q/later", lambda reply: None, timeout=60.0)
        one.get("q/later", lambda reply: None, timeout=0.5)
        for _ in range(STEPS):
            for key in ("q/now", "q/error", "q/**", "q/nothing"):
                one.get(key, lambda reply: None, timeout=2.0)
            pause()
        for query in held:
            query.reply("q/later", "late")
            query.drop()
        pause()


def tokens(endpoint: str, pause: Pause) -> None:
    """Sessions, tokens and declarations that come and go."""
    with open_client(endpoint, zenoh) as watcher:
        watcher.liveliness().declare_subscriber("alive/**", lambda sample: None, history=True)
        for step in range(STEPS):
            with open_client(endpoint, zenoh) as one:
                token = one.liveliness().declare_token(f"alive/{step}")
                subscriber = one.declare_subscriber(f"s/{step}/*", lambda sample: None)
                list(watcher.liveliness().get("alive/**"))
                watcher.put(f"s/{step}/x", "1")
                pause()
                if step % 2:
                    token.undeclare()
                    subscriber.undeclare()
                    time.sleep(0.1)  # the other half ends with its session


SCENARIOS = (publications, queries, tokens)
TOGETHER = [pytest.param(SCENARIOS, id="together")]
ALONE = [pytest.param((one,), id=one.__name__) for one in SCENARIOS]


@pytest.mark.parametrize("scenarios", TOGETHER + ALONE if IS_FULL else TOGETHER)
def test_live_tables_equal_those_of_the_finished_recording(
    tmp_path: Path, spark: SparkSession, scenarios: Sequence[Callable[[str, Pause], None]]
) -> None:
    folder, live, batch = (str(tmp_path / name) for name in ("recording", "live", "batch"))
    endpoint = free_endpoint()
    config = config_of(
        "router",
        listen__endpoints=[endpoint],
        recording__path=folder,
        recording__segment_seconds=SEGMENT_S,
    )
    versions: list[int] = []
    stop = Stop()
    settings = Settings(every_s=0.5, until_end=True)

    def follow_recording() -> None:
        follow(
            [folder],
            live,
            spark,
            stop,
            settings,
            lambda _, progress: versions.append(progress.version),
        )

    def pause() -> None:
        known = len(versions)
        time.sleep(0.7 * SEGMENT_S)
        until(lambda: len(versions) > known or not follower.is_alive(), 60)

    with open_node(config), ThreadPoolExecutor() as pool:
        follower = threading.Thread(target=follow_recording)
        follower.start()
        for done in [pool.submit(scenario, endpoint, pause) for scenario in scenarios]:
            done.result()
    follower.join(120)
    assert not follower.is_alive()
    run_pipeline([folder], batch, spark)
    assert differences(Path(live), Path(batch)) == {}
    assert rows(Path(batch))["messages"] > 50
    assert len([*Path(folder).glob("*.pcapng")]) > 3
    assert len(versions) > 3
