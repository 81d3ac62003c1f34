"""Tap: receives the traffic of a node, for recordings."""

from __future__ import annotations

from typing import Protocol

from zenlake.links import Link
from zenlake.protocol.tap import LinkTap


class Tap(Protocol):
    """The node calls it when links open. Locators name the ends of links and datagrams."""

    def open(self, src: str, dst: str, is_stream: bool, is_accepted: bool) -> LinkTap:
        """A link opens between this end and the other one."""

    def open_group(self, source: str, group: str) -> LinkTap:
        """A sender in a multicast group; only `received` is called, also for this node itself."""

    def scouting(self, source: str, destination: str, datagram: bytes) -> None:
        """A datagram was sent or received that may be SCOUT or HELLO."""

    def close(self) -> None:
        """The node is closed."""


def tap_link(tap: Tap | None, link: Link, is_accepted: bool) -> LinkTap | None:
    """The tap of a link that opens, if there is one."""
    return None if tap is None else tap.open(link.src, link.dst, link.is_stream, is_accepted)
