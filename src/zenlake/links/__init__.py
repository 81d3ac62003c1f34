"""Links: TCP, TLS, UDP and multicast for threads, by the protocol that an endpoint names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zenlake.links.link import Link, LinkError, LinkTimeout, Listener, TlsError, UnsupportedLink
from zenlake.links.multicast import MulticastSockets, is_group
from zenlake.links.options import LinkSettings
from zenlake.links.tcp import TcpListener, connect_tcp
from zenlake.links.tls import TlsListener, connect_tls
from zenlake.links.udp import UdpListener, connect_udp
from zenlake.wire import EndPoint

Connect = Callable[[EndPoint, LinkSettings, float, Callable[[], bool]], Link]
Listen = Callable[[EndPoint, LinkSettings], Listener]

_CONNECT: Final[dict[str, Connect]] = {"tcp": connect_tcp, "tls": connect_tls, "udp": connect_udp}
_LISTEN: Final[dict[str, Listen]] = {"tcp": TcpListener, "tls": TlsListener, "udp": UdpListener}


def connect(
    endpoint: EndPoint,
    settings: LinkSettings,
    timeout_s: float,
    is_cancelled: Callable[[], bool] = bool,
) -> Link:
    """A link to an endpoint, ready for the first batch; `is_cancelled` is called while waiting."""
    check_supported(endpoint, settings)
    return _CONNECT[endpoint.protocol](endpoint, settings, timeout_s, is_cancelled)


def listen(endpoint: EndPoint, settings: LinkSettings) -> Listener:
    """A listener that is bound; its links come from `accept`."""
    check_supported(endpoint, settings)
    return _LISTEN[endpoint.protocol](endpoint, settings)


def is_supported(endpoint: EndPoint, settings: LinkSettings) -> bool:
    """Whether `connect` supports the protocol of a locator, which may be of any kind."""
    allowed = settings.protocols
    return endpoint.protocol in _CONNECT and (allowed is None or endpoint.protocol in allowed)


def check_supported(endpoint: EndPoint, settings: LinkSettings) -> None:
    """UnsupportedLink if `connect` and `listen` cannot work, whatever the other side does."""
    allowed = [
        name for name in _CONNECT if settings.protocols is None or name in settings.protocols
    ]
    if endpoint.protocol in allowed:
        return
    supported = f"supported are {', '.join(_CONNECT)}"
    if endpoint.protocol in _CONNECT:
        supported = f"transport/link/protocols allows {', '.join(allowed) or 'none'}"
    raise UnsupportedLink(
        str(endpoint), f"links of type {endpoint.protocol!r} are not supported; {supported}"
    )


__all__ = [
    "Link",
    "LinkError",
    "LinkSettings",
    "LinkTimeout",
    "Listener",
    "MulticastSockets",
    "TlsError",
    "UnsupportedLink",
    "check_supported",
    "connect",
    "is_group",
    "is_supported",
    "listen",
]
