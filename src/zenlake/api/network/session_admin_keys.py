"""`@/<zid>/session/**`: the transports and links of a session, for its own queries.

Queryable and publications are local to the session (behaviour reference §5). They are declared
when the session first uses a key that begins with `@/`, so that other sessions pay nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, Final

from zenlake import wire
from zenlake.api.handlers.handler_types import make_sink
from zenlake.keyexpr.matching import intersects
from zenlake.session.locality import Locality
from zenlake.session.port import ADMIN_EID
from zenlake.session.publications import Publication
from zenlake.wire.values.qos import DEFAULT_QOS

if TYPE_CHECKING:
    from zenlake.api.query.query import Query
    from zenlake.api.session.session_handle import SessionHandle
    from zenlake.node.info import LinkInfo, TransportInfo

_JSON: Final = wire.Encoding.parse("application/json")
_PRIORITIES: Final = (
    "Control",
    "RealTime",
    "InteractiveHigh",
    "InteractiveLow",
    "DataHigh",
    "Data",
    "DataLow",
    "Background",
)


class SessionAdminKeys:
    """The queryable and the publications on these keys."""

    __slots__ = ("_root", "_session")

    def __init__(self, session: SessionHandle) -> None:
        self._session = session
        self._root = f"@/{session.core.zid}/session"

    def begin(self) -> None:
        """Declare the queryable; the caller holds the node's lock."""
        core = self._session.core
        # A callback, so that the requester can read replies while they are made.
        sink, _ = make_sink(self._answer)
        core.port.adopt(sink)
        core.queryables.declare(
            f"{self._root}/**", sink, True, Locality.SESSION_LOCAL, time.monotonic(), ADMIN_EID
        )
        self._session.node.events.add(self._publish)

    def _answer(self, query: Query) -> None:
        asked = str(query.key_expr)
        node = self._session.node
        with query:
            for transport in node.transports():
                key = self._transport_key(transport)
                if intersects(asked, key):
                    query.reply(key, transport_json(transport), encoding=str(_JSON))
            for link in node.links():
                key = self._link_key(link)
                if intersects(asked, key):
                    query.reply(key, link_json(link), encoding=str(_JSON))

    def _transport_key(self, info: TransportInfo) -> str:
        kind = "multicast" if info.is_multicast else "unicast"
        return f"{self._root}/transport/{kind}/{info.zid}"

    def _link_key(self, info: LinkInfo) -> str:
        """The last chunk is a number of 64 bits that identifies the link."""
        ends = f"{info.src} {info.dst}".encode()
        number = int.from_bytes(hashlib.blake2b(ends, digest_size=8).digest(), "little")
        kind = "unicast" if info.group is None else "multicast"
        return f"{self._root}/transport/{kind}/{info.zid}/link/{number}"

    def _publish(self, is_new: bool, transport: TransportInfo, link: LinkInfo) -> None:
        """A transport with its one link was opened or closed; no lock is held."""
        transport_key = self._transport_key(transport)
        link_key = self._link_key(link)
        if is_new:
            self._put(transport_key, wire.Put(transport_json(transport), encoding=_JSON))
            self._put(link_key, wire.Put(link_json(link), encoding=_JSON))
        else:
            self._put(link_key, wire.Del())
            self._put(transport_key, wire.Del())

    def _put(self, key: str, body: wire.Put | wire.Del) -> None:
        """Ignores `qos/publication` of the configuration, which could send it to the network."""
        session = self._session
        publication = Publication(
            key,
            wire.WireExpr(0, key),
            DEFAULT_QOS,
            True,
            Locality.SESSION_LOCAL,
            None,
        )
        with session.locked:
            if not session.core.is_closed:
                session.core.put(publication, body, None, time.monotonic())


def transport_json(info: TransportInfo) -> bytes:
    return _json(
        {
            "zid": str(info.zid),
            "whatami": str(info.whatami),
            "is_qos": info.is_qos,
            "is_shm": False,
        }
    )


def link_json(info: LinkInfo) -> bytes:
    """eclipse-zenoh omits the last two fields for links without QoS."""
    shown: dict[str, object] = {
        "src": info.src,
        "dst": info.dst,
        "group": info.group,
        "mtu": info.mtu,
        "is_streamed": info.is_streamed,
        "interfaces": list(info.interfaces),
        "auth_identifier": info.auth_identifier,
    }
    if info.priorities is not None:
        first, last = info.priorities
        shown["priorities"] = {"start": _PRIORITIES[first], "end": _PRIORITIES[last]}
    if info.is_reliable is not None:
        shown["reliability"] = "Reliable" if info.is_reliable else "BestEffort"
    return _json(shown)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
