"""How many threads sessions use, and what they wait for."""

from __future__ import annotations

import gc
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import zenlake
from tests.links.leftovers import nothing_left, own_threads
from zenlake.node import Node
from zenlake.node.relief import AWAY, RELIEF

PATIENCE_S = 10.0


def peer(**settings: str) -> zenlake.Session:
    config = zenlake.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("listen/endpoints", "[]")
    for key, value in settings.items():
        config.insert_json5(f"{key}/endpoints", f'["{value}"]')
    return zenlake.open(config)


def locator(session: zenlake.Session) -> str:
    node = session._shell.node
    assert isinstance(node, Node)
    return node.locators()[0]


def until(is_done: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_done():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_concurrent_queryables_leave_no_thread() -> None:
    with nothing_left():
        for _ in range(5):
            with peer() as session, ThreadPoolExecutor(8) as pool:
                before = own_threads()
                list(pool.map(lambda n, s=session: s.declare_queryable(f"q/{n}"), range(32)))
                assert own_threads() <= before


def test_a_lost_query_is_finished_at_once() -> None:
    with peer() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        queryable = session.declare_queryable("q")
        for _ in range(5):
            replies = session.get("q", timeout=60)
            queryable.recv()
            gc.collect()
            began = time.monotonic()
            assert list(replies) == []
            assert time.monotonic() - began < PATIENCE_S


def test_one_thread_watches_the_readers_of_all_nodes() -> None:
    with nothing_left():
        listening = peer(listen="tcp/127.0.0.1:0")
        others = [peer(connect=locator(listening)) for _ in range(5)]
        seen: list[object] = []
        for other in others:
            other.declare_subscriber("k", seen.append)
        publisher = listening.declare_publisher("k")
        until(lambda: publisher.matching_status.matching)

        def publish() -> bool:
            publisher.put(b"")
            time.sleep(0.01)
            return len(seen) >= 20

        until(publish)
        watchers = [one for one in threading.enumerate() if one.name == "zenlake relief"]
        assert len(watchers) == 1
        # It looks at nobody, and soon not at all, once no callback runs.
        assert not AWAY
        until(lambda: not RELIEF.is_watching)
        for session in (listening, *others):
            session.close()
