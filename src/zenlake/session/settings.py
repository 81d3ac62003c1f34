"""The configuration of one session."""

from __future__ import annotations

from zenlake.keyexpr.matching import includes
from zenlake.limits import HELD_REPLIES_MAX, HELD_REPLY_BYTES_MAX
from zenlake.session.locality import Locality
from zenlake.wire import CongestionControl, Priority, QoS
from zenlake.wire.defaults import DEFAULT_QUERY_TIMEOUT_MS


class PublicationRule:
    """One entry of `qos/publication`: its values override the user's (behaviour reference §2.3)."""

    __slots__ = ("congestion", "destination", "express", "keys", "priority", "reliable")

    def __init__(
        self,
        keys: list[str],
        *,
        priority: Priority | None = None,
        congestion: CongestionControl | None = None,
        express: bool | None = None,
        reliable: bool | None = None,
        destination: Locality | None = None,
    ) -> None:
        self.keys = keys
        self.priority = priority
        self.congestion = congestion
        self.express = express
        self.reliable = reliable
        self.destination = destination

    def covers(self, key: str) -> bool:
        return any(includes(own, key) for own in self.keys)

    def overwritten(self, qos: QoS) -> QoS:
        return QoS.of(
            qos.priority if self.priority is None else self.priority,
            qos.congestion if self.congestion is None else self.congestion,
            qos.express if self.express is None else self.express,
        )


class SessionSettings:
    """The settings `namespace`, `queries_default_timeout`, `aggregation`, `qos/publication`."""

    __slots__ = (
        "aggregated_publishers",
        "aggregated_subscribers",
        "held_bytes_max",
        "held_replies_max",
        "namespace",
        "publication_rules",
        "query_timeout_ms",
    )

    def __init__(
        self,
        *,
        namespace: str = "",
        query_timeout_ms: int = DEFAULT_QUERY_TIMEOUT_MS,
        aggregated_subscribers: list[str] | None = None,
        aggregated_publishers: list[str] | None = None,
        publication_rules: list[PublicationRule] | None = None,
        held_replies_max: int = HELD_REPLIES_MAX,
        held_bytes_max: int = HELD_REPLY_BYTES_MAX,
    ) -> None:
        self.namespace = namespace
        self.query_timeout_ms = query_timeout_ms
        self.aggregated_subscribers = aggregated_subscribers or []
        self.aggregated_publishers = aggregated_publishers or []
        self.publication_rules = publication_rules or []
        self.held_replies_max = held_replies_max
        self.held_bytes_max = held_bytes_max

    def rule_for(self, key: str) -> PublicationRule | None:
        """The first rule whose key expression includes `key`."""
        for rule in self.publication_rules:
            if rule.covers(key):
                return rule
        return None


def aggregate(key: str, listed: list[str]) -> str:
    """The key under which an entity on `key` is declared: the listed one that includes it."""
    for other in listed:
        if includes(other, key):
            return other
    return key
