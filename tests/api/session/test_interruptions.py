"""Operations that are cut short: by Ctrl-C, by a token, by `close` elsewhere (limits: Q12)."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import zenlake
from tests.api.linked import connected, listening
from tests.chance import scaled, seeded
from tests.leftovers import nothing_left
from tests.waiting import PATIENCE_S, until

EVERY: Any = {"consolidation": zenlake.ConsolidationMode.NONE}


def test_ctrl_c_anywhere_leaves_nothing() -> None:
    """No thread, socket or declaration is left, and `close` always works afterwards."""
    rounds = scaled(40, 1_000)
    seed = str(seeded().randrange(1 << 32))
    command = [sys.executable, "-m", "tests.api.session.interrupted", str(rounds), seed]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 + rounds, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}\n{done.stderr[-3000:]}"
    places = dict(ast.literal_eval(done.stdout))
    print(f"seed {seed}: {places}")
    assert sum(places.values()) == rounds
    assert rounds - places.get("nowhere", 0) > rounds / 10


def test_queries_are_cancelled_at_any_time() -> None:
    """Each query ends, with all of its replies or some, and nothing stays open."""
    chance = seeded()
    count = scaled(150, 1_000)
    with nothing_left(), listening() as other, connected(other) as session:
        other.declare_queryable("q", lambda query: answer_slowly(query, chance))
        replied = [0] * 4
        for _ in range(count):
            token = zenlake.CancellationToken()
            timer = threading.Timer(chance.uniform(0, 0.008), token.cancel)
            timer.start()
            try:
                replies = list(session.get("q", cancellation_token=token, timeout=10, **EVERY))
            except zenlake.ZError:  # cancelled before the query started
                assert token.is_cancelled
            else:
                assert all(reply.ok is not None for reply in replies)
                replied[len(replies)] += 1
            timer.join()
        print(f"so many ended with 0, 1, 2 and 3 replies: {replied}")
        assert min(replied[0], replied[3]) > 0
        until(lambda: not session._handle.core.queries.live)
        assert list(session.get("q", timeout=10))


def answer_slowly(query: zenlake.Query, chance: random.Random) -> None:
    with query:
        for number in range(3):
            time.sleep(chance.uniform(0, 0.001))  # interrupted before, between, after replies
            query.reply("q", bytes([number]))


def ask(session: zenlake.Session) -> None:
    list(session.get("q", timeout=10))


def declare(session: zenlake.Session) -> None:
    session.declare_subscriber("d").undeclare()


def declare_token(session: zenlake.Session) -> None:
    session.liveliness().declare_token("t").undeclare()


def work(session: zenlake.Session, deed: Callable[[], object]) -> None:
    """Repeat an operation until the session is closed; no other error may be raised."""
    while True:
        try:
            deed()
        except zenlake.ZError:
            if session.is_closed():
                return
            raise


def test_a_session_is_closed_while_others_use_it() -> None:
    chance = seeded()
    rounds = scaled(25, 500)
    failures: list[str] = []

    def run(session: zenlake.Session, deed: Callable[[], object]) -> None:
        try:
            work(session, deed)
        except BaseException as error:
            failures.append(repr(error))

    with nothing_left(), listening() as other:
        other.declare_queryable("q", lambda query: answer_slowly(query, chance))
        for number in range(rounds):
            session = connected(other)
            subscriber = session.declare_subscriber("k")
            users: list[Callable[[], object]] = [
                partial(session.put, "k", b""),
                subscriber.recv,
                partial(ask, session),
                partial(declare, session),
                partial(declare_token, session),
            ]
            threads = [
                threading.Thread(target=run, args=(session, deed), daemon=True) for deed in users
            ]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0, 0.02))  # closed at a random step of the users
            began = time.monotonic()
            session.close()
            took_s = time.monotonic() - began
            for thread in threads:
                thread.join(PATIENCE_S)
                assert not thread.is_alive(), number
            assert took_s < 3, number
            assert failures == [], number
            until(lambda: not other.info.transports())
            assert list(other.liveliness().get("**")) == []
