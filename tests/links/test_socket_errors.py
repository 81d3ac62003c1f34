"""Errors that pass do not end a listener or a UDP link; those that last do."""

from __future__ import annotations

import errno
import socket
import threading
import time
from contextlib import closing

import pytest

from tests.links.faulty_socket import FaultySocket, make_faulty
from tests.links.pairs import PLAIN, linked, port_of
from tests.measuring import least
from tests.waiting import until
from zenlake.links import Link, LinkError, LinkTimeout, Listener, MulticastSockets, listen
from zenlake.links.udp import UdpRemote
from zenlake.wire import EndPoint

PASSING = [
    errno.EPERM,
    errno.EPROTO,
    errno.ENETDOWN,
    errno.ENETUNREACH,
    errno.EHOSTUNREACH,
    errno.ENOBUFS,
    errno.ENOMEM,
    errno.EMFILE,
    errno.ENFILE,
]
OF_A_REMOTE = [errno.ECONNABORTED, errno.ECONNREFUSED, errno.ECONNRESET]
NAMES = errno.errorcode.__getitem__


class Accepted:
    """The links that a listener accepts, in a thread."""

    def __init__(self, listener: Listener) -> None:
        self.links: list[Link] = []
        self.error: LinkError | None = None
        self.came = threading.Event()
        self._listener = listener
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            while (link := self._listener.accept()) is not None:
                self.links.append(link)
                self.came.set()
        except LinkError as error:
            self.error = error

    def close(self) -> None:
        self._listener.close()
        self.thread.join(2.0)
        assert not self.thread.is_alive()
        for link in self.links:
            link.close()


@pytest.mark.parametrize("code", PASSING + OF_A_REMOTE, ids=NAMES)
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_listener_survives(protocol: str, code: int, caplog: pytest.LogCaptureFixture) -> None:
    listener = listen(EndPoint.parse(f"{protocol}/127.0.0.1:0"), PLAIN)
    make_faulty(listener).faults = {"accept": (code, 3), "receive": (code, 3)}
    accepted = Accepted(listener)
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as one:
        one.connect(("127.0.0.1", port_of(listener)))
        one.send(b"x")
        assert accepted.came.wait(5.0)
        assert accepted.links[0].receive(5.0) == b"x"
        accepted.close()
    assert accepted.error is None
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == (1 if code in PASSING else 0), "one for all retries"


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_listener_whose_socket_is_broken_raises(protocol: str) -> None:
    listener = listen(EndPoint.parse(f"{protocol}/127.0.0.1:0"), PLAIN)
    make_faulty(listener).faults = dict.fromkeys(("accept", "receive"), (errno.EBADF, 1))
    with pytest.raises(LinkError, match="Bad file descriptor"):
        listener.accept()
    listener.close()


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_closing_ends_a_listener_that_waits_to_retry(protocol: str) -> None:
    # The seventh try follows after 0.63 s, and is followed by a pause of 0.64 s.
    assert least(lambda: seconds_to_close_after_tries(protocol, 7), 0.3, tries=3) < 0.3


def seconds_to_close_after_tries(protocol: str, tries: int) -> float:
    listener = listen(EndPoint.parse(f"{protocol}/127.0.0.1:0"), PLAIN)
    faulty = make_faulty(listener)
    faulty.faults = dict.fromkeys(("accept", "receive"), (errno.ENOBUFS, 1_000_000))
    began = time.monotonic()
    accepted = Accepted(listener)
    until(lambda: any(count <= 1_000_000 - tries for _, count in faulty.faults.values()))
    assert time.monotonic() - began > 0.6, "pauses grow"
    began = time.monotonic()
    accepted.close()
    return time.monotonic() - began


SENDING = [*PASSING, *OF_A_REMOTE, errno.EMSGSIZE, errno.EINVAL]


@pytest.mark.parametrize("code", SENDING, ids=NAMES)
def test_a_datagram_that_cannot_be_sent_is_lost_alone(
    code: int, caplog: pytest.LogCaptureFixture
) -> None:
    with linked("udp/127.0.0.1:0") as (ours, theirs):
        make_faulty(ours).faults = {"send": (code, 3)}
        assert isinstance(theirs, UdpRemote)
        make_faulty(theirs._listener).faults = {"send": (code, 3)}
        for one in (ours, theirs):
            assert [one.try_send(b"lost") for _ in range(3)] == [4, 4, 4]
            assert one.dropped == 3
        assert ours.try_send(b"there") == 5
        assert theirs.try_send(b"back") == 4
        assert theirs.receive(2.0) == b"there"
        assert ours.receive(2.0) == b"back"
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) <= 2, "one for each socket"


def test_a_closed_socket_ends_a_link() -> None:
    with linked("udp/127.0.0.1:0") as (ours, _):
        make_faulty(ours).faults = {"send": (errno.EBADF, 1), "receive": (errno.EBADF, 1)}
        with pytest.raises(LinkError, match="Bad file descriptor"):
            ours.try_send(b"x")
        with pytest.raises(LinkError, match="Bad file descriptor"):
            ours.receive()


@pytest.mark.parametrize("code", PASSING + OF_A_REMOTE, ids=NAMES)
def test_an_open_udp_link_survives_receive_errors(code: int) -> None:
    with linked("udp/127.0.0.1:0") as (ours, theirs):
        make_faulty(ours).faults = {"receive": (code, 3)}
        theirs.try_send(b"late")
        assert ours.receive() == b"late"


def test_connecting_udp_fails_at_once_if_no_node_listens() -> None:
    with linked("udp/127.0.0.1:0") as (ours, theirs):
        make_faulty(ours).faults = {"receive": (errno.ECONNREFUSED, 1)}
        theirs.try_send(b"x")
        with pytest.raises(LinkError, match="refused"):
            ours.receive(5.0)


def test_an_empty_datagram_does_not_make_a_handshake_wait_for_ever() -> None:
    with linked("udp/127.0.0.1:0") as (ours, theirs):
        assert isinstance(theirs, UdpRemote)
        host, port = ours.src.partition("/")[2].split(":")
        theirs._listener._shared.socket.sendto(b"", (host, int(port)))
        with pytest.raises(LinkTimeout):
            ours.receive(0.2)


@pytest.mark.parametrize("code", PASSING, ids=NAMES)
def test_multicast_sockets_survive(code: int, caplog: pytest.LogCaptureFixture) -> None:
    with closing(MulticastSockets("224.0.0.251", 0, "lo", listens=False)) as sockets:
        sender = sockets.senders[0]
        faulty = FaultySocket(sender)
        faulty.faults = {"receive": (code, 2)}
        sockets.senders[0] = faulty  # type: ignore[call-overload]  # a socket
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(b"x", ("127.0.0.1", sender.getsockname()[1]))
            found = [sockets.receive(2.0) for _ in range(3)]
        assert [len(each) for each in found] == [0, 0, 1]
        assert len(caplog.records) == 1
        faulty.faults = {"receive": (errno.EBADF, 1)}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(b"x", ("127.0.0.1", sender.getsockname()[1]))
            with pytest.raises(LinkError):
                sockets.receive(2.0)


@pytest.mark.parametrize("endpoint", ["tcp/127.0.0.1:0", "udp/127.0.0.1:0"])
def test_no_more_sockets_is_an_error_of_ours(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **named: object) -> object:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket, "socket", fail)
    monkeypatch.setattr(socket, "socketpair", fail)
    with pytest.raises(LinkError, match="Too many open files"):
        listen(EndPoint.parse(endpoint), PLAIN)
    with pytest.raises(LinkError, match="Too many open files"):
        MulticastSockets("224.0.0.251", 0, "lo")
