"""TLS: right certificates work, wrong ones never (limits: H13)."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from tests.links.certificates import Authority, needs_openssl
from tests.links.pairs import linked, port_of, receive_all, send_all
from zenlake.links import LinkError, LinkSettings, listen, tls
from zenlake.wire import EndPoint

pytestmark = needs_openssl

Tls = dict[str, object]


class Files:
    """Certificates of two authorities, as options of listeners and connectors."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.stranger = Authority(folder, "stranger")
        self.node = self.authority.issue("node", "DNS:localhost,IP:127.0.0.1")
        self.elsewhere = self.authority.issue("elsewhere", "DNS:elsewhere.example")
        self.expired = self.authority.issue("expired", "IP:127.0.0.1", is_expired=True)
        self.client = self.authority.issue("client-7", "DNS:client")
        self.unknown = self.stranger.issue("unknown", "DNS:client")

    def listens(self, pair: tuple[Path, Path], **more: object) -> LinkSettings:
        return LinkSettings(
            tls={"listen_certificate": str(pair[0]), "listen_private_key": str(pair[1]), **more}
        )

    def connects(self, **more: object) -> LinkSettings:
        return LinkSettings(tls={"root_ca_certificate": str(self.authority.certificate), **more})

    def mutual(self, pair: tuple[Path, Path]) -> LinkSettings:
        return self.connects(
            connect_certificate=str(pair[0]), connect_private_key=str(pair[1]), enable_mtls=True
        )

    def asks(self) -> LinkSettings:
        """A listener that requires a certificate of the other side."""
        root = str(self.authority.certificate)
        return self.listens(self.node, enable_mtls=True, root_ca_certificate=root)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("certificates"))


LOOPBACK = "tls/127.0.0.1:0"


def test_bytes_go_both_ways_at_once(files: Files) -> None:
    data = bytes(range(256)) * 8192
    with linked(LOOPBACK, files.listens(files.node), files.connects()) as (ours, theirs):
        threads = [
            threading.Thread(target=send_all, args=(ours, data)),
            threading.Thread(target=send_all, args=(theirs, data[::-1])),
        ]
        got: list[bytes] = []
        reader = threading.Thread(target=lambda: got.append(receive_all(ours, len(data))))
        for thread in (*threads, reader):
            thread.start()
        assert receive_all(theirs, len(data)) == data
        for thread in (*threads, reader):
            thread.join()
        assert got == [data[::-1]]
        assert theirs.auth_identifier is None
        assert ours.src.startswith("tls/")


def test_bytes_that_the_socket_did_not_accept_are_sent_later(files: Files) -> None:
    with linked(LOOPBACK, files.listens(files.node), files.connects()) as (ours, theirs):
        data = bytes(range(251)) * 80_000
        sent = ours.try_send(data)
        assert 0 < sent < len(data)
        rest = threading.Thread(target=send_all, args=(ours, data[sent:]))
        rest.start()
        assert receive_all(theirs, len(data)) == data
        rest.join()


def test_mutual_tls_knows_the_name(files: Files) -> None:
    with linked(LOOPBACK, files.asks(), files.mutual(files.client)) as (ours, theirs):
        assert theirs.auth_identifier == "client-7"
        assert ours.auth_identifier == "node"
        ours.try_send(b"x")
        assert theirs.receive(1.0) == b"x"


def test_options_of_the_endpoint_and_base64(files: Files) -> None:
    certificate, key = files.node
    encoded = base64.b64encode(key.read_bytes()).decode()
    endpoint = f"{LOOPBACK}#listen_certificate={certificate};listen_private_key_base64={encoded}"
    config = f"#root_ca_certificate={files.authority.certificate}"
    with linked(endpoint, config=config) as (ours, theirs):
        ours.try_send(b"x")
        assert theirs.receive(1.0) == b"x"


def test_the_name_need_not_be_verified(files: Files) -> None:
    connects = files.connects(verify_name_on_connect=False)
    with linked(LOOPBACK, files.listens(files.elsewhere), connects) as (ours, theirs):
        ours.try_send(b"x")
        assert theirs.receive(1.0) == b"x"


def test_a_connector_refuses_wrong_listeners(files: Files) -> None:
    other_root = LinkSettings(tls={"root_ca_certificate": str(files.stranger.certificate)})
    cases = [
        (files.listens(files.node), other_root),
        (files.listens(files.expired), files.connects()),
        (files.listens(files.elsewhere), files.connects()),
        (files.listens(files.node), LinkSettings()),  # the public authorities do not know it
    ]
    for listens, connects in cases:
        with (
            pytest.raises(LinkError, match=r"the peer's certificate: "),
            linked(LOOPBACK, listens, connects),
        ):
            pass


def test_an_expired_certificate_is_named_as_the_cause(files: Files) -> None:
    with (
        pytest.raises(LinkError, match="the peer's certificate: certificate has expired"),
        linked(LOOPBACK, files.listens(files.expired), files.connects()),
    ):
        pass


@pytest.mark.parametrize("is_asked_for", [False, True])
def test_the_expiry_of_the_peer_is_known_where_it_is_asked_for(
    files: Files, is_asked_for: bool
) -> None:
    config = f"#close_link_on_expiration={str(is_asked_for).lower()}"
    both = f"{LOOPBACK}{config}"
    with linked(both, files.asks(), files.mutual(files.client), config) as (ours, theirs):
        assert (ours.expires_at is not None) is is_asked_for
        assert (theirs.expires_at is not None) is is_asked_for
        if ours.expires_at is not None:
            assert 0 < ours.expires_at - time.time() <= 2 * 86_400
    with linked(both, files.listens(files.node), files.connects(), config) as (ours, theirs):
        assert (ours.expires_at is not None) is is_asked_for
        assert theirs.expires_at is None  # without a certificate there is no expiry


def test_a_listener_refuses_wrong_connectors(files: Files) -> None:
    """In TLS 1.3 a connector gets the error with the first byte it reads."""
    for connects in (files.connects(), files.mutual(files.unknown)):
        with linked(LOOPBACK, files.asks(), connects) as (ours, theirs):
            with pytest.raises(LinkError):
                assert ours.receive(1.0)
            assert theirs.receive(0.1) == b""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_tls_is_refused(files: Files) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    listener = listen(EndPoint.parse(LOOPBACK), files.listens(files.node))
    refused: list[LinkError] = []

    def accept() -> None:
        link = listener.accept()
        assert link is not None
        try:
            link.prepare(2.0)
        except LinkError as error:
            refused.append(error)
        link.close()

    thread = threading.Thread(target=accept)
    thread.start()
    port = port_of(listener)
    with socket.create_connection(("127.0.0.1", port)) as raw, pytest.raises(ssl.SSLError):
        context.wrap_socket(raw)
    thread.join()
    listener.close()
    assert "version" in refused[0].cause or "protocol" in refused[0].cause


def test_missing_options_are_named(files: Files, tmp_path: Path) -> None:
    endpoint = EndPoint.parse(LOOPBACK)
    with pytest.raises(LinkError, match="needs listen_certificate"):
        listen(endpoint, LinkSettings())
    with pytest.raises(LinkError, match="needs root_ca_certificate"):
        listen(endpoint, files.listens(files.node, enable_mtls=True))
    with pytest.raises(LinkError, match=r"listen_certificate: .*No such file"):
        listen(endpoint, files.listens((tmp_path / "none.pem", files.node[1])))
    with pytest.raises(LinkError, match="certificate and private key"):
        listen(endpoint, files.listens((files.node[0], files.client[1])))
    with pytest.raises(LinkError, match="true or false"):
        listen(endpoint, files.listens(files.node, enable_mtls="perhaps"))


def test_a_tls_handshake_may_send_only_so_much(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ClientHello that never ends; OpenSSL itself reads up to 131,396 bytes of it."""
    monkeypatch.setattr(tls, "HANDSHAKE_BYTES_MAX", 1_000)
    listener = listen(EndPoint.parse(LOOPBACK), files.listens(files.node))
    port = port_of(listener)
    with socket.create_connection(("127.0.0.1", port)) as one:
        link = listener.accept()
        assert link is not None
        hello = b"\x01\x01\x00\x00" + bytes(1_996)
        one.sendall(b"\x16\x03\x01" + len(hello).to_bytes(2, "big") + hello)
        with pytest.raises(LinkError, match="the TLS handshake is not over"):
            link.prepare(5.0)
        link.close()
    listener.close()
