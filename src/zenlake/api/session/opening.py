"""`open`: makes a session from a configuration."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from zenlake import wire
from zenlake.api.arguments.conversion import wrong_type
from zenlake.api.config.config import Config
from zenlake.api.config.effects import check_effects
from zenlake.api.config.keys import KEYS
from zenlake.api.session.session import Session
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.session.uninterruptible import run_uninterruptible
from zenlake.api.values.timestamp_stack import TimestampCallback, TimestampContext
from zenlake.node import Node, NodeSettings
from zenlake.session import Locality, PublicationRule, SessionSettings


def open(
    config: Config,
    *,
    timestamp_callback: Callable[[TimestampContext], bytes] | None = None,
) -> Session:
    """Start a node and a session on it; behaviour reference §2.1 defines when it returns.

    `timestamp_callback` provides the times of this node's records in timestamp stacks. It is
    called under the node's lock: it must return quickly and may not use the session.
    """
    if not isinstance(config, Config):
        raise wrong_type("config", config, "Config")
    callback = None if timestamp_callback is None else TimestampCallback(timestamp_callback)
    return open_session(config, callback)


def open_session(
    config: Config,
    callback: TimestampCallback | None = None,
    discards_publications: bool = False,
) -> Session:
    """Open a session; with `discards_publications` its subscribers receive nothing."""
    check_effects(config)
    settings = node_settings(config)
    settings.routing.custom_time = callback
    settings.discards_publications = discards_publications
    node = Node(settings)
    handle = SessionHandle(node, session_settings(config), callback)
    try:
        run_uninterruptible(node.open)
        return Session._make(handle)
    except BaseException:
        handle.close()
        raise


def node_settings(config: Config) -> NodeSettings:
    settings = NodeSettings.read(_reader(config))
    settings.routing.wall_ns = time.time_ns
    return settings


def session_settings(config: Config) -> SessionSettings:
    """The settings of the session itself."""
    return SessionSettings(
        namespace=config.get("namespace") or "",
        query_timeout_ms=int(config.get("queries_default_timeout")),
        aggregated_subscribers=list(config.get("aggregation/subscribers")),
        aggregated_publishers=list(config.get("aggregation/publishers")),
        publication_rules=[_rule(entry) for entry in config.get("qos/publication")],
        held_replies_max=config.get("limits/session/held_replies"),
        held_bytes_max=config.get("limits/session/held_reply_bytes"),
    )


def _rule(entry: dict[str, Any]) -> PublicationRule:
    own = entry.get("config") or {}
    priority = own.get("priority")
    congestion = own.get("congestion_control")
    destination = own.get("allowed_destination")
    reliability = own.get("reliability")
    return PublicationRule(
        list(entry.get("key_exprs") or []),
        priority=None if priority is None else wire.Priority[priority.upper()],
        congestion=None if congestion is None else wire.CongestionControl[congestion.upper()],
        express=own.get("express"),
        reliable=None if reliability is None else reliability == "reliable",
        destination=None if destination is None else Locality[destination.upper()],
    )


def _reader(config: Config) -> Callable[[str], object]:
    """A function that returns values by path; for a path with keys below it, a dictionary."""

    def get(path: str) -> object:
        if path in KEYS:
            return config.get(path)
        below = f"{path}/"
        found = {key[len(below) :]: config.get(key) for key in KEYS if key.startswith(below)}
        return {name: value for name, value in found.items() if value is not None} or None

    return get
