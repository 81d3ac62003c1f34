"""Free ports of this machine."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress


def _ports() -> Iterator[int]:
    """The ports of this process of a run, below the ephemeral ports of the system."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 10
    place = random.randrange(2_000)
    while True:
        place = (place + 1) % 2_000
        yield 10_000 + 2_000 * worker + place


_next_ports = _ports()


def free_port() -> int:
    """A port to listen on, even repeatedly: it is not returned again soon."""
    while True:
        port = next(_next_ports)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def free_group_port() -> int:
    """The same for a multicast group."""
    while True:
        port = random.randrange(20_000, 30_000)
        with suppress(OSError), socket.socket(type=socket.SOCK_DGRAM) as probe:
            probe.bind(("", port))
            return port


def free_endpoint() -> str:
    return f"tcp/127.0.0.1:{free_port()}"
