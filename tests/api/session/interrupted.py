"""A program that is interrupted by Ctrl-C at random points, and reports what that left behind.

python -m tests.api.session.interrupted ROUNDS SEED
"""

from __future__ import annotations

import faulthandler
import gc
import random
import signal
import sys
import time

import zenlake
from tests.api.linked import connected, listening
from tests.leftovers import open_sockets, own_threads
from tests.waiting import until

PATIENCE_S = 5.0


def main() -> None:
    rounds, seed = int(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(seed)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    interrupted: dict[str, int] = {}
    with listening() as other:
        other.declare_queryable("q", _answer)
        use(other, 0.0)
        began = time.monotonic()
        use(other, 0.0)
        longest_s = 1.1 * (time.monotonic() - began)
        time.sleep(0.2)  # for the threads of the last session to end
        threads, sockets = threads_now(), open_sockets()
        for number in range(rounds):
            faulthandler.dump_traceback_later(30, exit=True)
            place = use(other, chance.uniform(0.0001, longest_s))
            interrupted[place] = interrupted.get(place, 0) + 1
            if not is_restored(other, threads, sockets):
                left = sorted(one.name for one in own_threads())
                print(f"round {number}, {place}: {left}, {open_sockets()} sockets, ", end="")
                print(f"{len(other.info.transports())} transports", file=sys.stdout)
                sys.exit(1)
    print(sorted(interrupted.items()))


def _answer(query: zenlake.Query) -> None:
    with query:
        query.reply("q", b"")


def use(other: zenlake.Session, after_s: float) -> str:
    """Open, use and close a session, interrupted at some point; returns that point."""
    place = "open"
    session: zenlake.Session | None = None
    try:
        signal.setitimer(signal.ITIMER_REAL, after_s)
        session = connected(other)
        place = "declare"
        subscriber = session.declare_subscriber("k")
        token = session.liveliness().declare_token("t")
        place = "put"
        for _ in range(3):
            session.put("k", b"")
        place = "recv"
        subscriber.recv()
        place = "get"
        for _ in range(3):
            assert len(list(session.get("q", timeout=10))) == 1
        place = "undeclare"
        token.undeclare()
        subscriber.undeclare()
        place = "close"
        session.close()
        place = "nowhere"
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if session is not None:
        session.close()
    return place


def threads_now() -> int:
    """Threads except those that run callbacks, which the other session may have."""
    return sum(not one.name.startswith("zenlake-callback") for one in own_threads())


def is_restored(other: zenlake.Session, threads: int, sockets: int) -> bool:
    """Whether threads and sockets are as before, within a deadline."""

    def is_so() -> bool:
        gc.collect()
        is_alone = not other.info.transports() and not list(other.liveliness().get("**"))
        return is_alone and threads_now() <= threads and open_sockets() <= sockets

    try:
        until(is_so, PATIENCE_S)
    except AssertionError:
        return False
    return True


if __name__ == "__main__":
    main()
