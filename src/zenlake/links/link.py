"""Link and Listener: the interface of the node to TCP, TLS and UDP.

A link is used by two threads at once: one reads, and one at a time sends. So
`receive` and `try_send` may run at the same time; each is called by one thread at a time. A
link that is closed wakes both.
"""

from __future__ import annotations

from typing import Protocol

from zenlake.errors import ZenlakeError


class LinkError(ZenlakeError):
    """A link cannot be opened, or has failed; the text names the link and the cause."""

    def __init__(self, endpoint: str, cause: str) -> None:
        super().__init__(f"{endpoint}: {cause}")
        self.endpoint = endpoint
        self.cause = cause


class LinkTimeout(LinkError):
    """No bytes arrived, or no link opened, within the time limit."""


class TlsError(LinkError):
    """One side of a TLS link refused the other."""


class UnsupportedLink(LinkError):
    """A link of this type does not exist here or is not allowed: trying again does not help."""


class Link:
    """Bytes between this node and one other.

    `src` and `dst` are locators: this end and the other one. `mtu` is what a handshake may offer
    as batch size. `auth_identifier` is the common name of the certificate that the other side
    showed, if it showed one. `expires_at` is the Unix time at which that certificate expires, if
    the link is to be closed then (`close_link_on_expiration`).
    """

    protocol: str
    is_stream: bool
    is_reliable: bool
    mtu: int
    src: str
    dst: str
    interfaces: list[str]
    auth_identifier: str | None = None
    expires_at: float | None = None
    dropped: int = 0
    """Datagrams that could not be sent."""

    def prepare(self, timeout_s: float) -> None:
        """Prepare the link for the first batch: the handshake of TLS."""

    def receive(self, timeout_s: float | None = None) -> bytes:
        """Wait for bytes of a stream or one datagram; b"" when the other side ended."""
        raise NotImplementedError

    def set_patience(self, seconds: float) -> None:
        """Let `receive` without a timeout raise LinkTimeout after this time, if the link can."""

    def begin_idle(self) -> int:
        """The descriptor to wait for while no thread calls `receive`, or -1 if there is none.

        It stays open until `end_idle`, even if the link is closed meanwhile, which makes it
        readable.
        """
        return -1

    def end_idle(self) -> None:
        """Return to `receive`, after `begin_idle` returned a descriptor."""

    def try_send(self, data: bytes) -> int:
        """Send as much as fits at once and return how much; a datagram is sent whole or not at all.

        After a part, the next call must pass exactly the rest.
        """
        raise NotImplementedError

    def wait_writable(self, timeout_s: float) -> bool:
        """Wait until `try_send` may accept bytes; False after the timeout."""
        raise NotImplementedError

    def round_trip_us(self) -> int | None:
        """Microseconds to the other side and back, as the system has measured; None if unknown."""
        return None

    def close(self) -> None:
        """Close the link, and wake a `receive` that waits in another thread."""
        raise NotImplementedError


class SourceCheck(Protocol):
    """Verifies the source address of datagrams that belong to no link, because it may be forged.

    `source` is a locator. Both methods are called by the thread that accepts.
    """

    def redeem(self, datagram: bytes, source: str, now: float) -> bool:
        """Whether the address is verified: then a link may begin with this datagram."""

    def answer(self, datagram: bytes, source: str, now: float) -> bytes:
        """The datagram to send to an address that is not verified; b"" for none."""


class Listener:
    """Accepts incoming links."""

    endpoint: str
    mtu: int
    dropped: int = 0
    """Datagrams for which no link had room, and answers that could not be sent."""
    source_check: SourceCheck | None = None
    """Used by listeners for datagrams; without it every source gets a link at once."""

    def accept(self) -> Link | None:
        """Wait for the next link; None once the listener is closed."""
        raise NotImplementedError

    def locators(self) -> list[str]:
        """Where other nodes can reach it (behaviour reference §4.7)."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
