"""Sessions with tokens that die: each token is removed once, in time (limits: Q15)."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pytest

import zenlake
from tests.api.linked import listening, node_of
from tests.chance import scaled
from tests.node.raw_client import RawClient
from tests.waiting import holds, until
from zenlake.wire import DeclareToken, WireExpr

pytestmark = pytest.mark.usefixtures("host")

SESSIONS = scaled(20, 100)
TOKENS = 10
LEASE_MS = scaled(1_500, 10_000)


def test_each_token_of_a_session_that_died_is_removed_once() -> None:
    """Half of the sessions end their connections, the others stop sending."""
    came: Counter[str] = Counter()
    gone: dict[str, float] = {}
    repeated: list[str] = []
    lock = threading.Lock()

    def note(sample: zenlake.Sample) -> None:
        key = str(sample.key_expr)
        with lock:
            if sample.kind == zenlake.SampleKind.PUT:
                came[key] += 1
                if key in gone:
                    repeated.append(key)
            elif key in gone:
                repeated.append(key)
            else:
                gone[key] = time.monotonic()

    with listening() as session:
        session.liveliness().declare_subscriber("t/**", note)
        clients = [RawClient(node_of(session), lease_ms=LEASE_MS) for _ in range(SESSIONS)]
        for number, client in enumerate(clients):
            for token in range(TOKENS):
                client.declare(DeclareToken(token + 1, WireExpr(0, f"t/{number}/{token}")))
        until(lambda: len(came) == SESSIONS * TOKENS)
        died_at = time.monotonic()
        for client in clients[::2]:
            client.socket.close()
        until(lambda: len(gone) == SESSIONS * TOKENS, LEASE_MS / 1000 + 20)
        holds(lambda: not repeated, 0.3)
        ended: list[float] = []
        silent: list[float] = []
        for key, at in gone.items():
            times = silent if int(key.split("/")[1]) % 2 else ended
            times.append(at - died_at)
        print(f"removed after {max(silent):.2f} s at most, {max(ended):.2f} s where the link ended")
        assert max(ended) < min(silent)
        assert repeated == []
        assert set(came.values()) == {1}
        assert list(session.liveliness().get("**")) == []
        for client in clients:
            client.socket.close()
