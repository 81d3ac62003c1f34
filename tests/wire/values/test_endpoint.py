"""Locators and endpoints (the wire reference §1.8)."""

from __future__ import annotations

import pytest

from zenlake.errors import LocalError
from zenlake.wire import EndPoint, Hello, WhatAmI, ZenohId, encode

VALID = [
    # text, protocol, address, metadata, configuration
    ("tcp/127.0.0.1:7447", "tcp", "127.0.0.1:7447", {}, {}),
    ("tcp/[::]:7447", "tcp", "[::]:7447", {}, {}),
    ("unixsock-stream//tmp/a/b", "unixsock-stream", "/tmp/a/b", {}, {}),
    ("tcp/a?x", "tcp", "a", {"x": ""}, {}),
    ("tcp/a?prio=1-3;rel=1", "tcp", "a", {"prio": "1-3", "rel": "1"}, {}),
    ("tcp/a#iface=eth0", "tcp", "a", {}, {"iface": "eth0"}),
    ("tcp/a?rel=0#iface=lo", "tcp", "a", {"rel": "0"}, {"iface": "lo"}),
    ("tcp/a?x=1=2", "tcp", "a", {"x": "1=2"}, {}),
    ("tcp/a?x=1|2", "tcp", "a", {"x": "1|2"}, {}),
    ("quic/é:1", "quic", "é:1", {}, {}),
]


@pytest.mark.parametrize(("text", "protocol", "address", "metadata", "config"), VALID)
def test_endpoint_is_parsed_into_its_parts(
    text: str, protocol: str, address: str, metadata: dict[str, str], config: dict[str, str]
) -> None:
    endpoint = EndPoint.parse(text)
    assert (endpoint.protocol, endpoint.address) == (protocol, address)
    assert (endpoint.metadata, endpoint.config) == (metadata, config)
    assert str(endpoint) == text
    assert EndPoint(protocol, address, metadata, config) == endpoint
    assert hash(EndPoint(protocol, address, metadata, config)) == hash(endpoint)
    assert EndPoint.parse(str(endpoint)) == endpoint


def test_canonical_form_sorts_names() -> None:
    endpoint = EndPoint.parse("tcp/h:1?b=1;a=2#z=1;y=2")
    assert str(endpoint) == "tcp/h:1?a=2;b=1#y=2;z=1"
    assert endpoint.locator == "tcp/h:1?a=2;b=1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tcp",
        "tcp/",
        "/a",
        "/",
        "tcp/?a=1",
        "tcp/#a=1",
        "tcp/a?",
        "tcp/a#",
        "tcp/a?#x=1",
        "tcp/a?=1",
    ],
)
def test_invalid_endpoint_is_refused(text: str) -> None:
    with pytest.raises(LocalError):
        EndPoint.parse(text)


def test_locator_has_at_most_255_bytes() -> None:
    longest = "tcp/" + "a" * 251
    assert EndPoint.parse(longest).locator == longest
    with pytest.raises(LocalError, match="at most 255 bytes"):
        EndPoint.parse(longest + "a")
    with pytest.raises(LocalError, match="at most 255 bytes"):
        EndPoint.parse("tcp/" + "é" * 126)
    # The configuration is not part of the locator.
    assert EndPoint.parse(f"{longest}#x={'y' * 300}").locator == longest


@pytest.mark.parametrize("locator", ["tcp/a#x=1", "tcp/a?b;a", "tcp", "tcp/a?x=1;x=2", "tcp/a?x="])
def test_only_canonical_locators_are_sent(locator: str) -> None:
    with pytest.raises(LocalError):
        encode(Hello(WhatAmI.PEER, ZenohId.parse("a"), locators=(locator,)))


def test_parts_must_not_be_empty() -> None:
    with pytest.raises(LocalError):
        EndPoint("", "a")
    with pytest.raises(LocalError):
        EndPoint("tcp", "")


def test_metadata_must_come_before_configuration() -> None:
    with pytest.raises(LocalError, match="'\\?' must come before '#'"):
        EndPoint.parse("tcp/a#b?c")


def test_texts_hide_private_keys_but_equality_does_not() -> None:
    one, other = (
        EndPoint.parse(f"tls/a:1#connect_private_key_base64={key};so_sndbuf=7") for key in "xy"
    )
    assert str(one) == str(other) == "tls/a:1#connect_private_key_base64=***;so_sndbuf=7"
    assert "=x" not in repr(one)
    assert one.canonical == "tls/a:1#connect_private_key_base64=x;so_sndbuf=7"
    assert one != other
