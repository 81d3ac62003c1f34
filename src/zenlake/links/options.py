"""Options of links: from the endpoint (`#name=value`) first, then from the configuration."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zenlake.links.link import LinkError
from zenlake.wire import EndPoint

_PEM: Final = (
    "root_ca_certificate",
    "listen_certificate",
    "listen_private_key",
    "connect_certificate",
    "connect_private_key",
)
ENDPOINT_OPTIONS: Final = frozenset(
    {
        *("so_sndbuf", "so_rcvbuf", "dscp", "iface", "bind", "join", "ttl"),
        *("enable_mtls", "verify_name_on_connect", "close_link_on_expiration"),
        *(name + suffix for name in _PEM for suffix in ("", "_file", "_base64", "_raw")),
        *("retry_period_init_ms", "retry_period_max_ms", "retry_period_increase_factor"),
        "exit_on_failure",
    }
)
"""Every option that is supported after the `#` of an endpoint."""

_WORDS: Final = {"true": True, "1": True, "false": False, "0": False}


class LinkSettings:
    """The configuration of links: `transport/link/tcp`, `/tls`, `/protocols`."""

    __slots__ = ("protocols", "tcp", "tls")

    def __init__(
        self,
        tcp: Mapping[str, object] | None = None,
        tls: Mapping[str, object] | None = None,
        protocols: list[str] | None = None,
    ) -> None:
        self.tcp: Mapping[str, object] = tcp or {}
        self.tls: Mapping[str, object] = tls or {}
        self.protocols = protocols


def option(endpoint: EndPoint, settings: Mapping[str, object], name: str) -> str | None:
    """The text of an option, None if it is not set."""
    if name in endpoint.config:
        return endpoint.config[name]
    value = settings.get(name)
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def flag_option(
    endpoint: EndPoint, settings: Mapping[str, object], name: str, default: bool
) -> bool:
    text = option(endpoint, settings, name)
    if text is None:
        return default
    if text not in _WORDS:
        raise LinkError(str(endpoint), f"{name} is true or false, not {text!r}")
    return _WORDS[text]


def number_option(endpoint: EndPoint, settings: Mapping[str, object], name: str) -> int | None:
    text = option(endpoint, settings, name)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit():
        raise LinkError(str(endpoint), f"{name} is a number, not {text!r}")
    return int(text)


def pem_option(endpoint: EndPoint, settings: Mapping[str, object], name: str) -> bytes | None:
    """A certificate or key: a path (`name`, `name_file`), base64, or the text itself (`_raw`).

    An option of the endpoint, in any of the forms, overrides the configuration.
    """
    for place in ({**endpoint.config}, settings):
        for suffix in ("", "_file"):
            path = place.get(name + suffix)
            if path is not None:
                return _read(endpoint, name, str(path))
        encoded = place.get(f"{name}_base64")
        if encoded is not None:
            try:
                return base64.b64decode(str(encoded), validate=True)
            except binascii.Error as error:
                raise LinkError(str(endpoint), f"{name}_base64: {error}") from error
        raw = place.get(f"{name}_raw")
        if raw is not None:
            return str(raw).encode()
    return None


def _read(endpoint: EndPoint, name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise LinkError(str(endpoint), f"{name}: {error}") from error
