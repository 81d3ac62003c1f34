"""Descriptions of the transports and links of a node."""

from __future__ import annotations

from typing import Final, NamedTuple

from zenlake.links import Link
from zenlake.protocol.offer import Agreed
from zenlake.wire import WhatAmI, ZenohId

_ALL_PRIORITIES: Final = (0, 7)


class TransportInfo(NamedTuple):
    """One transport and the node at its other end."""

    zid: ZenohId
    whatami: WhatAmI
    is_qos: bool
    is_multicast: bool


class LinkInfo(NamedTuple):
    """One link of a transport.

    Without QoS, and in a group, `priorities` and `is_reliable` are None, as on official nodes.
    """

    zid: ZenohId
    src: str
    dst: str
    group: str | None
    mtu: int
    is_streamed: bool
    interfaces: tuple[str, ...]
    auth_identifier: str | None
    priorities: tuple[int, int] | None
    is_reliable: bool | None


def describe_transport(agreed: Agreed) -> TransportInfo:
    return TransportInfo(agreed.zid, agreed.role, agreed.qos, False)


def describe_link(agreed: Agreed, link: Link) -> LinkInfo:
    terms = agreed.qos_link
    priorities = None if terms is None else terms.priorities
    is_reliable = None if terms is None else terms.reliable
    if agreed.qos:
        priorities = priorities or _ALL_PRIORITIES
        is_reliable = link.is_reliable if is_reliable is None else is_reliable
    return LinkInfo(
        agreed.zid,
        link.src,
        link.dst,
        None,
        agreed.batch_size,
        link.is_stream,
        tuple(link.interfaces),
        link.auth_identifier or agreed.user,
        priorities,
        is_reliable,
    )
