"""Our handshake against a real node, from both sides: eclipse-zenoh in this process."""

from __future__ import annotations

import os
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
import zenoh

from tests.handshake import open_session
from tests.ports import free_port
from tests.sessions import config_of, open_client
from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.errors import HandshakeError
from zenlake.protocol.offer import Agreed, Offer
from zenlake.wire import CloseReason, QoSLink, Resolution, WhatAmI, ZenohId
from zenlake.wire.framing import StreamDeframer, frame_batch

OFFERS: dict[str, dict[str, object]] = {
    "plain": {"qos": False},
    "qos": {},
    "compression": {"compression": True},
    "low latency": {"qos": False, "low_latency": True},
    "no patch": {"patch": 0},
    "small": {"resolution": Resolution(0x05), "batch_size": 1024, "lease_ms": 1500},
    "for some priorities": {"qos_link": QoSLink.of((1, 3), True)},
}
CONFIGS: dict[str, dict[str, object]] = {
    "plain": {"transport/unicast/qos/enabled": False},
    "qos": {},
    "compression": {"transport/unicast/compression/enabled": True},
    "low latency": {"transport/unicast/qos/enabled": False, "transport/unicast/lowlatency": True},
    "no patch": {},
    "small": {"transport/link/tx/sequence_number_resolution": "16bit"},
    "for some priorities": {},
}


def offer_of(role: WhatAmI, options: dict[str, object]) -> Offer:
    zid = ZenohId.from_int(random.getrandbits(127) | 1)
    return Offer(zid, role, **options)  # type: ignore[arg-type]  # options of Offer by name


class Wire:
    """Batches over a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(10)
        self.deframer = StreamDeframer()

    def send(self, batch: bytes) -> None:
        self.socket.sendall(frame_batch(batch))

    def receive(self) -> bytes:
        while (batch := self.deframer.next_batch()) is None:
            data = self.socket.recv(65536)
            assert data, "the node closed the link"
            self.deframer.feed(data)
        return batch


@contextmanager
def router(settings: dict[str, object]) -> Iterator[tuple[int, str]]:
    port = free_port()
    listen = {"listen/endpoints": [f"tcp/127.0.0.1:{port}"]}
    with zenoh.open(config_of("router", zenoh, **settings, **listen)) as session:
        yield port, str(session.info.zid())


def open_to(port: int, offer: Offer) -> Agreed:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        return open_session(connection, offer)


@pytest.mark.parametrize("variant", OFFERS)
def test_we_open_to_a_real_router(variant: str) -> None:
    with router(CONFIGS[variant]) as (port, zid):
        agreed = open_to(port, offer_of(WhatAmI.CLIENT, OFFERS[variant]))
    assert (str(agreed.zid), agreed.role) == (zid, WhatAmI.ROUTER)
    check_terms(variant, agreed)


def check_terms(variant: str, agreed: Agreed) -> None:
    assert agreed.qos == (variant not in ("plain", "low latency"))
    assert agreed.compression == (variant == "compression")
    assert agreed.low_latency == (variant == "low latency")
    assert agreed.patch == (variant != "no patch")
    assert agreed.resolution.sn_bits == (16 if variant == "small" else 32)
    assert agreed.batch_size <= 65_535
    assert agreed.peer_lease_ms == 10_000
    assert not agreed.peer_sn & ~agreed.sn_mask


class Served(threading.Thread):
    """One connection on a raw socket, served by an Acceptor until the session is up."""

    def __init__(self, offer: Offer) -> None:
        super().__init__(daemon=True)
        self.acceptor = Acceptor(offer, os.urandom, lambda zid: None)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(10)
        self.port: int = self.listener.getsockname()[1]
        self.error: HandshakeError | None = None
        self.done = threading.Event()

    def run(self) -> None:
        with self.listener, self.listener.accept()[0] as connection:
            wire = Wire(connection)
            try:
                while self.acceptor.agreed is None:
                    answer = self.acceptor.receive(wire.receive())
                    assert answer is not None
                    wire.send(answer)
                self.done.wait(10)
            except HandshakeError as error:
                self.error = error
                wire.send(error.farewell or b"")


@pytest.mark.parametrize("variant", OFFERS)
def test_a_real_client_opens_to_us(variant: str) -> None:
    served = Served(offer_of(WhatAmI.ROUTER, OFFERS[variant]))
    served.start()
    metadata = "?prio=1-3;rel=1" if variant == "for some priorities" else ""
    endpoint = f"tcp/127.0.0.1:{served.port}{metadata}"
    # The session is up once `open` returns: the node knows our name.
    with open_client(endpoint, zenoh, **CONFIGS[variant]) as session:
        agreed = served.acceptor.agreed
        assert agreed is not None
        assert str(agreed.zid) == str(session.info.zid())
        served.done.set()
    served.join()
    assert agreed.role is WhatAmI.CLIENT
    check_terms(variant, agreed)
    if variant == "for some priorities":
        assert agreed.qos_link == QoSLink.of((1, 3), True)


USERS = {"usr1": "pwd1", "usr2": "pwd2"}


@pytest.mark.parametrize(("password", "is_accepted"), [("pwd1", True), ("pwd2", False)])
def test_a_real_client_proves_its_user_to_us(password: str, is_accepted: bool) -> None:
    served = Served(offer_of(WhatAmI.ROUTER, {"users": USERS}))
    served.start()
    endpoint = f"tcp/127.0.0.1:{served.port}"
    user = {"user": "usr1", "password": password}
    outcome = nullcontext() if is_accepted else pytest.raises(zenoh.ZError)
    with outcome, open_client(endpoint, zenoh, transport__auth__usrpwd=user):
        served.done.set()
    served.join()
    agreed = served.acceptor.agreed
    assert (agreed is not None) == is_accepted
    assert (served.error is None) == is_accepted
    assert agreed is None or agreed.user == "usr1"


@pytest.mark.parametrize(("password", "is_accepted"), [("pwd2", True), ("pwd1", False)])
def test_we_prove_our_user_to_a_real_router(
    password: str, is_accepted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    dictionary = tmp_path_factory.mktemp("auth") / "users"
    dictionary.write_text("".join(f"{user}:{word}\n" for user, word in USERS.items()))
    settings: dict[str, object] = {
        "transport/auth/usrpwd/dictionary_file": str(dictionary),
        "transport/auth/usrpwd/user": "usr1",
        "transport/auth/usrpwd/password": "pwd1",
    }
    offer = offer_of(WhatAmI.CLIENT, {"user": "usr2", "password": password})
    with router(settings) as (port, _):
        if is_accepted:
            assert open_to(port, offer).user == "usr2"
        else:
            with pytest.raises(HandshakeError) as caught:
                open_to(port, offer)
            assert caught.value.reason is CloseReason.GENERIC
            assert caught.value.farewell is None
