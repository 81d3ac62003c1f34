"""Our nodes with real ones on every kind of link, and with every option of a session."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.interop import cases
from tests.interop.puppets import TOPOLOGIES, Raised, ours, pair, theirs
from tests.links.certificates import Authority, needs_openssl
from zenlake.links.shared_socket import ask_for_room

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

_CLIENTS, _PEERS = TOPOLOGIES[0], TOPOLOGIES[3]
_SIZE = "transport/link/tx/batch_size"
OPTIONS: dict[str, dict[str, Any]] = {
    "compression": {"transport/unicast/compression/enabled": True},
    "low latency": {"transport/unicast/lowlatency": True, "transport/unicast/qos/enabled": False},
    "no priorities": {"transport/unicast/qos/enabled": False},
    "small batches": {_SIZE: 1000},
    "numbers of 8 bits": {"transport/link/tx/sequence_number_resolution": "8bit"},
    "numbers of 16 bits": {"transport/link/tx/sequence_number_resolution": "16bit"},
    "a namespace": {"namespace": "robot/1"},
    "timestamps": {"timestamping/enabled": True},
}
ORDINARY = ("put_and_delete", "a_query_and_its_reply", "liveliness", "ten_megabytes")
# With low latency a message is one unit, which the batch size bounds.
SMALL = ORDINARY[:3]


def run(names: tuple[str, ...], who: str, topology: Any = _CLIENTS, **how: Any) -> None:
    """Run these cases one after the other with the same nodes."""
    [other, *_] = theirs()
    kinds = (ours(), other) if who == "acts" else (other, ours())
    with pair(*kinds, topology, router=other, **how) as (a, b):
        for name in names:
            cases.CASES[name](a, b)


@pytest.mark.parametrize("who", ["acts", "answers"])
@pytest.mark.parametrize("option", OPTIONS)
def test_options(option: str, who: str) -> None:
    topology = _PEERS if option == "a namespace" else _CLIENTS
    names = SMALL if option == "low latency" else ORDINARY
    run(names, who, topology, options=OPTIONS[option])


@pytest.mark.parametrize("who", ["acts", "answers"])
@pytest.mark.parametrize("topology", [_CLIENTS, _PEERS], ids=["clients", "peers"])
def test_udp(topology: Any, who: str) -> None:
    run(SMALL, who, topology, protocol="udp")


def has_room() -> bool:
    """Whether sockets may have the receive buffers that zenlake requests (net.core.rmem_max)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        ask_for_room(one)
        return one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= 4 << 20


SPARSE = pytest.mark.skipif(not has_room(), reason="the system gives sockets little room")


@pytest.mark.parametrize("who", ["acts", pytest.param("answers", marks=SPARSE)])
def test_large_payloads_by_udp(who: str) -> None:
    """A datagram may be lost, but not one of each megabyte."""
    attempts = 4
    for attempt in range(attempts):
        try:
            run(("a_megabyte",), who, _PEERS, protocol="udp")
        except AssertionError:
            if attempt == attempts - 1:
                raise
        else:
            return


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of both sides; each uses its own part."""
    authority = Authority(tmp_path_factory.mktemp("tls"))
    server, server_key = authority.issue("server", "IP:127.0.0.1")
    client, client_key = authority.issue("client", "DNS:client")
    place = "transport/link/tls"
    return {
        f"{place}/root_ca_certificate": str(authority.certificate),
        f"{place}/listen_certificate": str(server),
        f"{place}/listen_private_key": str(server_key),
        f"{place}/connect_certificate": str(client),
        f"{place}/connect_private_key": str(client_key),
    }


@needs_openssl
@pytest.mark.parametrize("who", ["acts", "answers"])
@pytest.mark.parametrize("mutual", [False, True], ids=["server", "mutual"])
@pytest.mark.parametrize("topology", [_CLIENTS, _PEERS], ids=["clients", "peers"])
def test_tls(topology: Any, mutual: bool, who: str, certificates: dict[str, str]) -> None:
    options = {**certificates, "transport/link/tls/enable_mtls": mutual}
    run(("put_and_delete", "ten_megabytes"), who, topology, protocol="tls", options=options)


def with_users(folder: Path, user: str, password: str) -> dict[str, Any]:
    book = folder / "users.txt"
    book.write_text("alice:secret\nbob:hidden\n")
    place = "transport/auth/usrpwd"
    return {
        f"{place}/user": user,
        f"{place}/password": password,
        f"{place}/dictionary_file": str(book),
    }


@pytest.mark.parametrize("who", ["acts", "answers"])
@pytest.mark.parametrize("topology", [_CLIENTS, _PEERS], ids=["clients", "peers"])
def test_user_and_password(topology: Any, who: str, tmp_path: Path) -> None:
    run(("put_and_delete",), who, topology, options=with_users(tmp_path, "alice", "secret"))


@pytest.mark.parametrize("who", ["acts", "answers"])
def test_a_wrong_password(who: str, tmp_path: Path) -> None:
    """A client that is refused cannot open."""
    [other, *_] = theirs()
    kinds = (ours(), other) if who == "acts" else (other, ours())
    options = with_users(tmp_path, "alice", "wrong")
    direct = TOPOLOGIES[1]
    with pytest.raises(Raised, match="ZError"), pair(*kinds, direct, other, options):
        pass
