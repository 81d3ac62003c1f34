"""Every protocol of links can connect, listen and is documented."""

from __future__ import annotations

import re

from tests.paths import DOCS
from zenlake import links


def test_connect_and_listen_have_the_same_protocols() -> None:
    assert links._CONNECT.keys() == links._LISTEN.keys()


def test_node_page_names_every_protocol() -> None:
    match = re.search(r"^Links are (.*?)\.", (DOCS / "node.md").read_text(), re.MULTILINE)
    assert match is not None
    assert set(re.findall(r"`([a-z]+)/`", match[1])) == links._CONNECT.keys()


def test_no_protocol_is_listed_as_missing() -> None:
    rows = (DOCS / "compatibility.md").read_text().splitlines()
    [missing] = [row.split("|")[1] for row in rows if re.match(r"\| .*` links \|", row)]
    assert not set(re.findall(r"`([a-z-]+)`", missing)) & links._CONNECT.keys()
