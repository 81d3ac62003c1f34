"""Two ends of a link over a real listener, ready for bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from zenlake.links import Link, LinkError, LinkSettings, Listener, connect, listen
from zenlake.wire import EndPoint

PLAIN = LinkSettings()


def connecting(listener: Listener, config: str = "") -> EndPoint:
    """The endpoint that leads to a listener."""
    return EndPoint.parse(listener.locators()[0] + config)


def port_of(listener: Listener) -> int:
    return int(listener.locators()[0].rpartition(":")[2])


@contextmanager
def linked(
    endpoint: str, listens: LinkSettings = PLAIN, connects: LinkSettings = PLAIN, config: str = ""
) -> Iterator[tuple[Link, Link]]:
    """The connecting and the listening end of a link; closes both and the listener at the end."""
    listener = listen(EndPoint.parse(endpoint), listens)
    accepted: list[Link] = []

    def accept() -> None:
        while (link := listener.accept()) is not None:
            accepted.append(link)
            try:
                link.prepare(2.0)
            except LinkError:
                link.close()
            ready.set()

    ready = threading.Event()
    thread = threading.Thread(target=accept)
    thread.start()
    ours = None
    try:
        ours = connect(connecting(listener, config), connects, 2.0)
        if not ours.is_stream:
            ours.try_send(b"first")
        assert ready.wait(2.0)
        if not ours.is_stream:
            assert accepted[0].receive(2.0) == b"first"
        yield ours, accepted[0]
    finally:
        if ours is not None:
            ours.close()
        for link in accepted:
            link.close()
        listener.close()
        thread.join()


def receive_all(link: Link, count: int) -> bytes:
    """Exactly so many bytes of a stream."""
    data = b""
    while len(data) < count:
        part = link.receive(5.0)
        assert part, "the link ended"
        data += part
    return data


def send_all(link: Link, data: bytes) -> None:
    while data:
        data = data[link.try_send(data) :]
        if data:
            assert link.wait_writable(5.0)
