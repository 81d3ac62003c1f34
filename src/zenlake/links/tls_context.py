"""The TLS contexts of endpoints: certificates, keys and requirements for the other side."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Mapping

from zenlake.links.link import LinkError
from zenlake.links.options import LinkSettings, flag_option, pem_option
from zenlake.wire import EndPoint


def listening_context(endpoint: EndPoint, settings: LinkSettings) -> ssl.SSLContext:
    """The context of a listener: its certificate; with `enable_mtls` it also demands the peer's."""
    options = settings.tls
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    certificate = pem_option(endpoint, options, "listen_certificate")
    key = pem_option(endpoint, options, "listen_private_key")
    if certificate is None or key is None:
        raise LinkError(str(endpoint), "TLS needs listen_certificate and listen_private_key")
    _load_pair(context, endpoint, certificate, key)
    if flag_option(endpoint, options, "enable_mtls", False):
        # As deployed nodes: mutual TLS is TLS 1.3 only (wire reference §4).
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        if pem_option(endpoint, options, "root_ca_certificate") is None:
            raise LinkError(str(endpoint), "mutual TLS needs root_ca_certificate")
        _load_authorities(context, endpoint, options)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def connecting_context(endpoint: EndPoint, settings: LinkSettings) -> ssl.SSLContext:
    """The context of a connector: authorities, whether names are verified, its own certificate."""
    options = settings.tls
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = flag_option(endpoint, options, "verify_name_on_connect", True)
    _load_authorities(context, endpoint, options)
    certificate = pem_option(endpoint, options, "connect_certificate")
    key = pem_option(endpoint, options, "connect_private_key")
    if flag_option(endpoint, options, "enable_mtls", False) and (
        certificate is None or key is None
    ):
        raise LinkError(
            str(endpoint), "mutual TLS needs connect_certificate and connect_private_key"
        )
    if certificate is not None and key is not None:
        _load_pair(context, endpoint, certificate, key)
    return context


def _load_authorities(
    context: ssl.SSLContext, endpoint: EndPoint, options: Mapping[str, object]
) -> None:
    authorities = pem_option(endpoint, options, "root_ca_certificate")
    try:
        if authorities is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cadata=authorities.decode("ascii"))
    except (ssl.SSLError, UnicodeDecodeError, ValueError) as error:
        raise LinkError(str(endpoint), f"root_ca_certificate: {error}") from error


def _load_pair(context: ssl.SSLContext, endpoint: EndPoint, certificate: bytes, key: bytes) -> None:
    """Python loads certificates from files only: write a private temporary file, remove it."""
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(certificate + b"\n" + key)
        context.load_cert_chain(path, password=_no_password)
    except (OSError, ValueError) as error:
        raise LinkError(str(endpoint), f"certificate and private key: {error}") from error
    finally:
        os.unlink(path)


def _no_password() -> str:
    """Raises, where Python would ask for a password at the terminal."""
    raise ValueError("the private key is encrypted")
