"""Memory that a neighbour may use, charged by size (limits: declarations, aliases, interests)."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest

from tests.routing.playbook import (
    Play,
    alias,
    end_interest,
    interest,
    no_alias,
    no_subscriber,
    queryable,
    request,
    response_final,
    subscriber,
    token,
)
from zenlake.limits import ALIASED_INTERESTS_MAX, FACE_BYTES_MAX, ROUTING_BYTES_MAX
from zenlake.routing.memory import Account, MemoryBudget
from zenlake.wire import NetworkMessage, decode, encode

COUNT = 300


def short_key(n: int) -> str:
    return f"fleet/robot-{n}/pose"


def long_key(n: int) -> str:
    """A key with as many chunks as a key may have."""
    return "/".join([f"{(n * 31 + place) % 256:x}" for place in range(127)] + [str(n)])


def wild_key(n: int) -> str:
    return "**/" + "/**/".join([f"{(n * 31 + place) % 256:x}" for place in range(60)] + [str(n)])


def pattern_key(n: int) -> str:
    return f"a$*{n}$*"


Make = Callable[[int, str], NetworkMessage]
MAKERS: dict[str, Make] = {
    "subscriber": lambda n, key: subscriber(n, key),
    "queryable": lambda n, key: queryable(n, key),
    "token": lambda n, key: token(n, key),
    "interest": lambda n, key: interest(n, "future", "S", key),
    "interest in all": lambda n, key: interest(n, "future", "KSQT", key),
}


@pytest.mark.parametrize("make_key", [short_key, long_key, wild_key, pattern_key])
@pytest.mark.parametrize("what", MAKERS)
def test_charged_bytes_are_close_to_measured(what: str, make_key: Callable[[int], str]) -> None:
    play = Play("peer")
    face = play.connects("c1", "client")
    encoded = [encode(MAKERS[what](n + 1, make_key(n))) for n in range(COUNT)]
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for data in encoded:
        message = decode(data, "network")
        assert isinstance(message, NetworkMessage)
        play.sends("c1", message)
    del message
    play.clear_received()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken <= 1.1 * face.account.held_bytes
    # Tree nodes are charged with the garbage collector's header, which compiled ones lack.
    assert face.account.held_bytes <= 2.6 * taken


def test_aliases_are_charged_and_released() -> None:
    play = Play("peer")
    face = play.connects("c1", "client")
    play.sends("c1", *(alias(n + 1, long_key(n)) for n in range(100)))
    assert face.account.held_bytes > 100 * len(long_key(99))
    play.sends("c1", *(no_alias(n + 1) for n in range(100)))
    assert face.account.held_bytes == 0


def test_memory_is_released_at_the_end_of_declarations() -> None:
    play = Play("peer")
    face = play.connects("c1", "client")
    play.connects("c2", "client")
    play.sends("c2", queryable(1, "q"))
    held = face.account.held_bytes
    play.sends("c1", subscriber(1, "a"), interest(2, "current_future", "SQT", "**"))
    play.sends("c1", request(1, "q"))
    assert face.account.held_bytes > held
    play.sends("c2", response_final(1))
    play.sends("c1", no_subscriber(1), end_interest(2))
    play.disconnects("c2")
    assert face.account.held_bytes == held


def test_a_session_that_used_its_memory_is_refused_more() -> None:
    play = Play("peer", face_bytes_max=100_000)
    face = play.connects("c1", "client")
    play.connects("c2", "client")
    play.sends("c2", queryable(1, "q"))
    count = 200
    play.sends("c1", *(subscriber(n + 1, long_key(n)) for n in range(count)))
    counters = play.dispatcher.counters
    assert 0 < counters.refused_declarations < count
    assert face.account.held_bytes <= 100_000
    play.sends("c1", *(alias(n + 1, long_key(n)) for n in range(count)))
    play.sends("c1", *(interest(n + 1, "future", "S", long_key(n)) for n in range(count)))
    assert counters.refused_aliases > 0
    assert counters.refused_interests > 0
    play.clear_received()
    play.sends("c1", *(request(n + 1, "q") for n in range(count)))
    assert counters.refused_requests > 0
    assert "RESPONSE 200 ERR Too much memory used by this session" in received_texts(play, "c1")
    play.sends("c2", subscriber(1, "others/may"))
    assert counters.refused_declarations < count


def received_texts(play: Play, name: str) -> str:
    from tests.routing.playbook import text_of

    return "\n".join(
        text_of(message, key, False) for message, key, _ in play.outlets[name].messages
    )


def test_all_sessions_share_one_budget() -> None:
    play = Play("peer", face_bytes_max=100_000, bytes_max=150_000)
    for name in ("c1", "c2"):
        play.connects(name, "client")
        play.sends(name, *(subscriber(n + 1, long_key(n) + name) for n in range(100)))
    held = [play.faces[name].account.held_bytes for name in ("c1", "c2")]
    assert held[0] > 95_000
    assert sum(held) <= 150_000
    play.disconnects("c1")
    play.sends("c2", *(subscriber(n + 1, long_key(n) + "c2") for n in range(100)))
    assert play.faces["c2"].account.held_bytes > 95_000


def test_an_application_of_this_process_has_no_limit() -> None:
    play = Play("peer", face_bytes_max=1_000, bytes_max=1_000)
    play.connects("app")
    play.sends("app", *(subscriber(n + 1, f"s/{n}") for n in range(100)))
    assert play.dispatcher.counters.refused_declarations == 0


def test_the_defaults_hold_a_hundred_thousand_ordinary_declarations() -> None:
    from zenlake.routing.memory import declaration_bytes

    assert 100_000 * declaration_bytes("x" * 64) <= FACE_BYTES_MAX
    assert FACE_BYTES_MAX < ROUTING_BYTES_MAX


def test_a_closed_account_releases_its_bytes_once() -> None:
    budget = MemoryBudget(1_000)
    account = Account(budget, 800)
    assert account.charge(700)
    assert not account.charge(200)
    assert not Account(budget, 800).charge(400)
    account.close()
    account.release(700)
    assert budget.held_bytes == 0


def test_keys_beyond_the_limit_are_sent_in_full() -> None:
    play = Play("peer")
    face = play.connects("c1", "client")
    for n in range(ALIASED_INTERESTS_MAX + 5):
        play.sends("c1", interest(n + 1, "future", "K", f"k/{n}"))
    assert len(face.aliased_keys) == ALIASED_INTERESTS_MAX
    for n in range(ALIASED_INTERESTS_MAX + 5):
        play.sends("c1", end_interest(n + 1))
    assert len(face.aliased_keys) == 0
