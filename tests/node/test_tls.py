"""Nodes over TLS and mutual TLS: right certificates always, wrong ones never (limits: H13)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.links.certificates import Authority, needs_openssl
from tests.node.application import opened, settings_of
from tests.node.test_node import talk
from tests.waiting import until
from zenlake.errors import ZenlakeError
from zenlake.links import LinkSettings
from zenlake.node import Node, NodeSettings
from zenlake.node.connect import causes_text
from zenlake.wire import WhatAmI

pytestmark = [
    needs_openssl,
    pytest.mark.usefixtures("host"),
]


class Lab:
    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.node = self.authority.issue("node", "IP:127.0.0.1")
        self.client = self.authority.issue("client", "DNS:client")
        self.root = {"root_ca_certificate": str(self.authority.certificate)}

    def listening(self, is_mutual: bool) -> NodeSettings:
        settings = settings_of(listen=["tls/127.0.0.1:0"])
        settings.links = LinkSettings(
            tls={
                "listen_certificate": str(self.node[0]),
                "listen_private_key": str(self.node[1]),
                "enable_mtls": is_mutual,
                **self.root,
            }
        )
        return settings

    def connecting(self, to: Node, is_mutual: bool) -> NodeSettings:
        settings = settings_of(WhatAmI.CLIENT, to.locators())
        own: dict[str, object] = {}
        if is_mutual:
            own["connect_certificate"] = str(self.client[0])
            own["connect_private_key"] = str(self.client[1])
        settings.links = LinkSettings(tls={**self.root, **own})
        return settings


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("certificates"))


@pytest.mark.parametrize("is_mutual", [False, True])
def test_nodes_talk(lab: Lab, is_mutual: bool) -> None:
    with opened(lab.listening(is_mutual)) as [node]:
        connecting = lab.connecting(node, is_mutual)
        with opened(connecting) as [client]:
            until(lambda: len(node.runners) == len(client.runners) == 1)
            talk(node, client)
            assert node.links()[0].auth_identifier == ("client" if is_mutual else None)


def test_session_needs_the_right_certificate(lab: Lab) -> None:
    with opened(lab.listening(True)) as [node]:
        for settings in (lab.connecting(node, False), settings_of(WhatAmI.CLIENT, node.locators())):
            with pytest.raises(ZenlakeError, match="Unable to connect"):
                Node(settings).open()
        until(lambda: node.accepting.pending == 0)
        assert not node.runners


def test_a_refused_certificate_is_named_when_open_fails(lab: Lab, tmp_path: Path) -> None:
    expired = lab.authority.issue("late", "IP:127.0.0.1", is_expired=True)
    listening = lab.listening(False)
    listening.links = LinkSettings(
        tls={"listen_certificate": str(expired[0]), "listen_private_key": str(expired[1])}
    )
    with opened(listening) as [node]:
        cause = "tls/127.0.0.1:[0-9]+: TLS: the peer's certificate: certificate has expired"
        with pytest.raises(ZenlakeError, match=f"^Unable to connect to any of .*! {cause}"):
            Node(lab.connecting(node, False)).open()


def test_a_missing_certificate_is_named_when_open_fails(lab: Lab) -> None:
    with (
        opened(lab.listening(True)) as [node],
        pytest.raises(ZenlakeError, match="refused by the peer: certificate required"),
    ):
        Node(lab.connecting(node, False)).open()


@pytest.mark.parametrize("closes", [False, True])
def test_a_link_is_closed_when_the_certificate_of_the_peer_expires(lab: Lab, closes: bool) -> None:
    certificate, key = lab.authority.issue_for("brief", "IP:127.0.0.1", lifetime_s=3)
    expires_at = time.time() + 3
    listening = settings_of(listen=["tls/127.0.0.1:0"])
    listening.links = LinkSettings(
        tls={"listen_certificate": str(certificate), "listen_private_key": str(key)}
    )
    with opened(listening) as [node]:
        connecting = lab.connecting(node, False)
        connecting.links = LinkSettings(
            tls={**connecting.links.tls, "close_link_on_expiration": closes}
        )
        with opened(connecting) as [client]:
            [runner] = client.runners.values()
            assert time.time() < expires_at, "the machine is too slow for this test"
            if not closes:
                assert not runner.ended.wait(4)
                return
            assert runner.ended.wait(8)
            assert runner.cause == "the peer's certificate has expired"
            assert time.time() >= expires_at - 1
            until(lambda: "certificate has expired" in causes_text(client.connectors[0].causes))
