"""Nodes over TLS and mutual TLS: right certificates always, wrong ones never (limits: H13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.links.certificates import HAS_OPENSSL, Authority
from tests.node.application import opened, settings_of, wait_until
from tests.node.test_node import talk
from zenlake.errors import ZenlakeError
from zenlake.links import LinkSettings
from zenlake.node import Node, NodeSettings
from zenlake.wire import WhatAmI

pytestmark = pytest.mark.skipif(not HAS_OPENSSL, reason="needs the openssl command")


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
            wait_until(lambda: len(node.runners) == len(client.runners) == 1)
            talk(node, client)
            assert node.links()[0].auth_identifier == ("client" if is_mutual else None)


def test_no_session_without_the_right_certificate(lab: Lab) -> None:
    with opened(lab.listening(True)) as [node]:
        for settings in (lab.connecting(node, False), settings_of(WhatAmI.CLIENT, node.locators())):
            with pytest.raises(ZenlakeError, match="Unable to connect"):
                Node(settings).open()
        wait_until(lambda: node.accepting.pending == 0)
        assert not node.runners
