"""Sessions that begin messages in every channel and end none (limits: F04)."""

from __future__ import annotations

import pytest

from tests.chance import IS_FULL, scaled
from tests.measuring import MIB, resident_bytes
from tests.node.application import opened, settings_of
from tests.node.raw_client import RawClient, opens_quickly
from tests.waiting import until
from zenlake.limits import FRAGMENT_IDLE_SECONDS_MAX, REASSEMBLY_PROCESS_BYTES_MAX
from zenlake.wire import Fragment, Priority
from zenlake.wire.framing import frame_batch

pytestmark = pytest.mark.usefixtures("host")

SESSIONS = scaled(30, 1_000)
PIECE_BYTES = 60_000


def heads(sn: int) -> bytes:
    """The first two fragments of a message in each of the sixteen channels."""
    piece = bytes(PIECE_BYTES // 2)
    return b"".join(
        frame_batch(bytes(Fragment(sn + n, piece, reliable, True, priority, n == 0)))
        for priority in Priority
        for reliable in (True, False)
        for n in (0, 1)
    )


def test_unfinished_messages_use_at_most_the_limit_and_are_dropped_soon() -> None:
    settings = settings_of()
    settings.max_sessions = SESSIONS + 1
    settings.address_percent = 100
    if not IS_FULL:
        settings.reassembly_process_bytes_max = 20 * MIB
        settings.fragment_idle_s = 1.0
    with opened(settings) as [node]:
        before = resident_bytes()
        clients: list[RawClient] = []
        for _ in range(SESSIONS):
            clients.append(RawClient(node, lease_ms=60_000))
            clients[-1].socket.sendall(heads(clients[-1].sn))
        limit = settings.reassembly_process_bytes_max
        assert IS_FULL or limit < SESSIONS * 16 * PIECE_BYTES
        until(lambda: node.stats()["batches_in"] >= 32 * SESSIONS, 30.0)
        grown = resident_bytes() - before
        print(f"{node.budget.held_bytes / MIB:.0f} MiB held, {grown / MIB:.0f} MiB more in all")
        assert node.budget.held_bytes <= limit <= REASSEMBLY_PROCESS_BYTES_MAX
        assert grown < limit + SESSIONS * 200_000 + 32 * MIB
        opens_quickly(node)
        # Dropped long before the leases of 60 s end.
        until(lambda: node.budget.held_bytes == 0, settings.fragment_idle_s + 20)
        assert len(node.runners) == SESSIONS
        assert node.stats()["unfinished_messages"] == 16 * SESSIONS
        for client in clients:
            client.socket.close()
        until(lambda: not node.runners, 20.0)
        assert node.stats()["unfinished_messages"] == 16 * SESSIONS, "shown after their end, too"


def test_default_limit_is_that_of_the_process() -> None:
    assert settings_of().fragment_idle_s == FRAGMENT_IDLE_SECONDS_MAX == 10
    assert REASSEMBLY_PROCESS_BYTES_MAX == 512 * MIB
