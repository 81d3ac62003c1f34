"""TLS and mutual TLS over TCP (wire reference §4).

One TLS object must not be used by two threads at once, and a link is read and written by two.
So the object works on memory, under a lock, and the socket is read and written outside of it.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Final

from zenlake.limits import HANDSHAKE_BYTES_MAX
from zenlake.links.addresses import split_address
from zenlake.links.link import Link, LinkError, LinkTimeout, TlsError
from zenlake.links.options import LinkSettings, flag_option
from zenlake.links.tcp import RECEIVE_BYTES_MAX, TcpLink, TcpListener, connect_socket, locators_of
from zenlake.links.tls_context import connecting_context, listening_context
from zenlake.wire import EndPoint

# The content of one TLS record: no more is encrypted before the socket accepted the last one.
_RECORD_BYTES: Final = 16_384
# One record, and unsent answers to key updates.
_UNSENT_BYTES: Final = 4 * _RECORD_BYTES


class TlsLink(TcpLink):
    """A TCP link whose bytes are encrypted."""

    protocol = "tls"

    def __init__(
        self,
        connected: socket.socket,
        src: str,
        dst: str,
        context: ssl.SSLContext,
        server_name: str | None,
        closes_on_expiration: bool,
    ) -> None:
        super().__init__(connected, src, dst)
        self._closes_on_expiration = closes_on_expiration
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._incoming,
            self._outgoing,
            server_side=server_name is None,
            server_hostname=server_name,
        )
        self._tls_lock = threading.Lock()
        self._unsent = b""  # encrypted, and not sent yet
        self._uncounted_bytes = 0  # bytes in `_unsent` that the caller has not counted as sent

    def prepare(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        received_bytes = 0
        try:
            while not self._continue_handshake():
                self._send_pending(deadline)
                if received_bytes >= HANDSHAKE_BYTES_MAX:
                    cause = f"{received_bytes} bytes came and the TLS handshake is not over"
                    raise LinkError(self.dst, cause)
                data = super().receive(max(0.0, deadline - time.monotonic()))
                if not data:
                    raise LinkError(self.dst, "closed during the TLS handshake")
                received_bytes += len(data)
                self._incoming.write(data)
            self._send_pending(deadline)
        except ssl.SSLError as error:
            self._send_alert(deadline)
            raise TlsError(self.dst, _tls_cause(error)) from error
        except ValueError as error:  # an impossible host name
            raise LinkError(self.dst, f"TLS: {error}") from error
        self._note_certificate()

    def _note_certificate(self) -> None:
        """Note name and expiry of the peer's certificate; a listener has one with `enable_mtls`."""
        certificate = self._tls.getpeercert()
        if not certificate:
            return
        self.auth_identifier = _common_name(certificate.get("subject", ()))
        expiry = certificate.get("notAfter")
        if self._closes_on_expiration and isinstance(expiry, str):
            self.expires_at = ssl.cert_time_to_seconds(expiry)

    def _continue_handshake(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def _send_pending(self, deadline: float) -> None:
        """Called only while no other thread uses the link."""
        self._unsent += self._outgoing.read()
        while not self._flush():
            if not self.wait_writable(deadline - time.monotonic()):
                raise LinkTimeout(self.dst, "the link does not accept the TLS handshake")

    def _send_alert(self, deadline: float) -> None:
        """Send the alert with the reason for which the handshake was refused."""
        try:
            self._send_pending(min(deadline, time.monotonic() + 0.1))
        except LinkError:
            self._unsent = b""

    def receive(self, timeout_s: float | None = None) -> bytes:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            # The TLS object may hold bytes that arrived with the end of the handshake.
            with self._tls_lock:
                plain, is_over = self._decrypt()
            if plain or is_over:
                return plain
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            data = super().receive(left)
            with self._tls_lock:
                if not data:
                    return b""
                self._incoming.write(data)

    def _decrypt(self) -> tuple[bytes, bool]:
        """Return all bytes that can be decrypted, and whether the other side ended."""
        parts = []
        is_over = False
        try:
            while part := self._tls.read(RECEIVE_BYTES_MAX):
                parts.append(part)
            is_over = True
        except ssl.SSLWantReadError:
            pass
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            is_over = True
        except ssl.SSLError as error:
            raise TlsError(self.dst, _tls_cause(error)) from error
        # Reading may produce answers, such as those to a key update.
        if self._outgoing.pending:
            self._unsent += self._outgoing.read()
            if not self._flush() and len(self._unsent) > _UNSENT_BYTES:
                raise LinkError(self.dst, "TLS: the peer requests answers but does not read them")
        return b"".join(parts), is_over

    def try_send(self, data: bytes) -> int:
        """Bytes count as sent once the socket has accepted their whole record.

        If the socket accepts only a part of a record, the record's last byte does not count as
        sent: the caller passes it again, so the rest of the record is never forgotten.
        """
        with self._tls_lock:
            if not self._flush():
                return 0
            sent = min(self._uncounted_bytes, len(data))
            self._uncounted_bytes = 0
            while sent < len(data):
                record = data[sent : sent + _RECORD_BYTES]
                try:
                    self._tls.write(record)
                except ssl.SSLError as error:
                    raise TlsError(self.dst, _tls_cause(error)) from error
                self._unsent = self._outgoing.read()
                sent += len(record)
                if not self._flush():
                    self._uncounted_bytes = 1
                    return sent - 1
            return sent

    def _flush(self) -> bool:
        """Send what is encrypted; returns whether the socket accepted all of it."""
        if self._unsent:
            self._unsent = self._unsent[super().try_send(self._unsent) :]
        return not self._unsent


class TlsListener(TcpListener):
    """A listening TCP socket whose links speak TLS."""

    protocol = "tls"

    def __init__(self, endpoint: EndPoint, settings: LinkSettings) -> None:
        self._context = listening_context(endpoint, settings)
        self._closes_on_expiration = _closes_on_expiration(endpoint, settings)
        super().__init__(endpoint, settings)

    def _link(self, connected: socket.socket, src: str, dst: str) -> Link:
        return TlsLink(connected, src, dst, self._context, None, self._closes_on_expiration)


def connect_tls(
    endpoint: EndPoint, settings: LinkSettings, timeout_s: float, is_cancelled: Callable[[], bool]
) -> TlsLink:
    deadline = time.monotonic() + timeout_s
    context = connecting_context(endpoint, settings)
    closes = _closes_on_expiration(endpoint, settings)
    connected = connect_socket(endpoint, settings, timeout_s, is_cancelled)
    src, dst = locators_of(connected, endpoint)
    try:
        link = TlsLink(connected, src, dst, context, split_address(endpoint)[0], closes)
    except (ValueError, ssl.SSLError) as error:
        connected.close()
        raise LinkError(str(endpoint), f"TLS: {error}") from error
    try:
        link.prepare(max(0.0, deadline - time.monotonic()))
    except LinkError:
        link.close()
        raise
    return link


def _tls_cause(error: ssl.SSLError) -> str:
    """Why TLS failed, as text for users: "the peer's certificate: certificate has expired"."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS: the peer's certificate: {error.verify_message}"
    reason = error.reason or str(error)
    _, alert, refusal = reason.partition("_ALERT_")
    if alert:
        return f"TLS: refused by the peer: {refusal.lower().replace('_', ' ')}"
    return f"TLS: {reason.lower().replace('_', ' ')}"


def _common_name(subject: object) -> str | None:
    """The common name in the subject of a certificate, as `getpeercert` returns it."""
    for relative in subject if isinstance(subject, tuple) else ():
        for entry in relative:
            if entry[0] == "commonName":
                return str(entry[1])
    return None


def _closes_on_expiration(endpoint: EndPoint, settings: LinkSettings) -> bool:
    return flag_option(endpoint, settings.tls, "close_link_on_expiration", False)
