"""A program that forks while its session is in use; run by test_forks.py, prints JSON.

Usage: forking.py WAY ENDPOINT. A thread publishes `parent` numbers all the time; children use
the inherited session, report what happens, open a session of their own, and end.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import zenlake
from tests.sessions import config_of
from tests.waiting import until

CHILDREN = 3
SESSION: zenlake.Session | None = None
USES: dict[str, Callable[[], object]] = {}


def opened(endpoint: str) -> zenlake.Session:
    return zenlake.open(config_of(scouting__gossip__enabled=False, connect__endpoints=[endpoint]))


def child(endpoint: str, number: int) -> dict[str, str]:
    """Try everything on the inherited session, then use one of its own."""
    outcomes: dict[str, str] = {}
    for name, use in USES.items():
        try:
            outcomes[name] = f"returned {use()!r}"
        except zenlake.ZError as error:
            outcomes[name] = str(error)
    with opened(endpoint) as own:
        publisher = own.declare_publisher("child")
        until(lambda: publisher.matching_status.matching)
        publisher.put(str(number))
        replies = [reply.ok for reply in own.get("question")]
        outcomes["own"] = str([reply.payload.to_string() for reply in replies if reply])
    return outcomes


def prepare(session: zenlake.Session) -> None:
    global SESSION
    SESSION = session
    publisher = session.declare_publisher("parent/other")
    publisher.put("0")
    subscriber = session.declare_subscriber("question/**")
    other = session.declare_subscriber("question/**")
    querier = session.declare_querier("question")
    listener = session.info.declare_transport_events_listener()
    replies = session.get("question", timeout=60, target=zenlake.QueryTarget.ALL)
    USES.update(
        {
            "put": lambda: session.put("parent", "from the child"),
            "publisher.put": lambda: publisher.put("from the child"),
            "publisher.delete": publisher.delete,
            "get": lambda: list(session.get("question")),
            "querier.get": lambda: list(querier.get()),
            "recv": subscriber.recv,
            "try_recv": subscriber.try_recv,
            "iterate": lambda: list(subscriber),
            "replies": lambda: replies is None,
            "declare_subscriber": lambda: session.declare_subscriber("x"),
            "declare_queryable": lambda: session.declare_queryable("x"),
            "declare_keyexpr": lambda: session.declare_keyexpr("x"),
            "token": lambda: session.liveliness().declare_token("x"),
            "transports": session.info.transports,
            "events": listener.recv,
            "undeclare": lambda: other.__exit__(None, None, None),
            "close": session.close,
            "is_closed": session.is_closed,
        }
    )


def forked(endpoint: str, number: int, leave: Callable[[], object]) -> dict[str, str]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.write(writing, json.dumps(child(endpoint, number)).encode())
        os.close(writing)
        leave()
        return {}  # closed at the end of the program
    os.close(writing)
    with os.fdopen(reading) as pipe:
        outcomes: dict[str, str] = json.load(pipe)
    assert os.waitpid(pid, 0)[1] == 0
    return outcomes


def pooled(method: str, endpoint: str) -> list[dict[str, str]]:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        futures = [pool.submit(child, endpoint, number) for number in range(CHILDREN)]
        return [future.result(60) for future in futures]


def run(way: str, endpoint: str, session: zenlake.Session) -> list[dict[str, str]]:
    if way in ("fork", "spawn", "forkserver"):
        return pooled(way, endpoint)
    outcomes = []
    for number in range(CHILDREN):
        if way == "exit":
            outcomes.append(forked(endpoint, number, sys.exit))
        elif way == "_exit":
            outcomes.append(forked(endpoint, number, lambda: os._exit(0)))
        else:
            assert way == "with"
            with session.declare_subscriber("nobody"), session.liveliness().declare_token("k"):
                outcomes.append(forked(endpoint, number, sys.exit))
    return outcomes


def main() -> None:
    way, endpoint = sys.argv[1:]
    with opened(endpoint) as session:
        prepare(session)
        token = session.liveliness().declare_token("alive")
        is_over = threading.Event()
        published: list[None] = []

        def publish() -> None:
            publisher = session.declare_publisher("parent")
            while not is_over.is_set():
                publisher.put(str(len(published)))
                published.append(None)
                time.sleep(0.001)  # up to 1,000 publications a second

        thread = threading.Thread(target=publish)
        thread.start()
        outcomes = run(way, endpoint, session)
        is_over.set()
        thread.join()
        print(json.dumps({"published": len(published), "children": outcomes}), flush=True)
        sys.stdin.read()  # until the test has checked that nothing changed
        token.undeclare()


if __name__ == "__main__":
    main()
