"""Token: entities of ROS, from the keys of their liveliness tokens.

    @ros2_lv/<domain>/<zid>/<node>/<id>/<kind>/<enclave>/<namespace>/<name>
        [/<topic>/<type>/<hash>/<qos>]                             rmw_zenoh
    @/<zid>/@ros2_lv[/<kind>/<data key>/<type>[/<qos>]]            the bridge to DDS

Either may have a prefix: a node with a configured namespace puts it before all its keys.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zenlake.ros.names import (
    BRIDGE_SLASH,
    RMW_SLASH,
    demangled,
    ros_type,
    topic_key,
    type_hash,
)
from zenlake.ros.qos import Qos, read_bridge_qos, read_rmw_qos
from zenlake.ros.reading import Reading, shown

MARK: Final = "@ros2_lv"
"""The chunk by which a token of ROS is recognised."""
RMW_ZENOH: Final = "rmw_zenoh"
ROS2DDS: Final = "ros2dds"
KINDS: Final = {
    "NN": "node",
    "MP": "publisher",
    "MS": "subscription",
    "SS": "service_server",
    "SC": "service_client",
    "AS": "action_server",
    "AC": "action_client",
}
BRIDGE: Final = "bridge"
"""The kind of the token that the bridge declares for itself."""
_NODE_CHUNKS: Final = 9
_RMW_CHUNKS: Final = 13
_ACTIONS: Final = ("action_server", "action_client")
_TOPICS: Final = ("publisher", "subscription")


class Entity(NamedTuple):
    """The fields of a token; `unread` has the reasons for those that could not be read."""

    source: str
    kind: str | None = None
    domain: int | None = None
    zid: str | None = None
    node_id: int | None = None
    entity_id: int | None = None
    enclave: str | None = None
    namespace: str | None = None
    node: str | None = None
    name: str | None = None
    type: str | None = None
    type_hash: str | None = None
    qos: str | None = None
    policies: Qos = Qos()
    data_key: str | None = None
    """The key expression of its data; for an action, one that matches all its parts."""
    own_key: str = ""
    """The key of the token without a prefix."""
    unread: str | None = None


def read_token(key: str) -> Entity | None:
    """Reads the key of a token; None if it is not a token of ROS."""
    chunks = key.split("/")
    if MARK not in chunks:
        return None
    place = chunks.index(MARK)
    reading = Reading()
    if place >= 2 and chunks[place - 2] == "@":
        entity = _read_bridge(chunks[: place - 2], chunks[place - 1], chunks[place + 1 :], reading)
    else:
        entity = _read_rmw(chunks[:place], chunks[place:], reading)
    return entity._replace(unread=reading.unread)


def _prefix(chunks: list[str]) -> str:
    return "".join(f"{chunk}/" for chunk in chunks)


def _read_rmw(before: list[str], chunks: list[str], reading: Reading) -> Entity:
    entity = Entity(RMW_ZENOH, own_key="/".join(chunks))
    if len(chunks) < _NODE_CHUNKS:
        reading.remark(f"{len(chunks)} chunks instead of {_NODE_CHUNKS} or {_RMW_CHUNKS}")
        return entity
    kind = KINDS.get(chunks[5])
    if kind is None or kind in _ACTIONS:
        reading.remark(f"kind {shown(chunks[5])} is not known")
        kind = None
    entity = entity._replace(
        kind=kind,
        domain=reading.number("domain", chunks[1]),
        zid=chunks[2],
        node_id=reading.number("node", chunks[3]),
        entity_id=reading.number("id", chunks[4]),
        enclave=demangled(chunks[6], RMW_SLASH),
        namespace=demangled(chunks[7], RMW_SLASH),
        node=demangled(chunks[8], RMW_SLASH),
    )
    rest = chunks[_NODE_CHUNKS:]
    if kind == "node":
        if rest:
            reading.remark(f"{len(rest)} chunks after the node")
        return entity
    if len(rest) < _RMW_CHUNKS - _NODE_CHUNKS:
        reading.remark(f"{len(rest)} chunks after the node instead of 4")
        return entity
    if len(chunks) > _RMW_CHUNKS:
        reading.remark(f"{len(chunks) - _RMW_CHUNKS} chunks after the QoS")
    return _with_topic(entity, _prefix(before), rest, reading)


def _with_topic(entity: Entity, prefix: str, chunks: list[str], reading: Reading) -> Entity:
    name, written_type, written_hash = (demangled(chunk, RMW_SLASH) for chunk in chunks[:3])
    domain = entity.domain
    return entity._replace(
        name=name,
        type=ros_type(written_type),
        type_hash=type_hash(written_hash),
        qos=chunks[3],
        policies=read_rmw_qos(chunks[3], reading),
        data_key=None
        if domain is None
        else topic_key(prefix, domain, name, written_type, written_hash),
    )


def _read_bridge(before: list[str], zid: str, chunks: list[str], reading: Reading) -> Entity:
    own_key = "/".join(["@", zid, MARK, *chunks])
    entity = Entity(ROS2DDS, zid=zid, own_key=own_key)
    if not chunks:
        return entity._replace(kind=BRIDGE)
    kind = KINDS.get(chunks[0])
    if kind is None or kind == "node":
        reading.remark(f"kind {shown(chunks[0])} is not known")
        return entity
    entity = entity._replace(kind=kind)
    wanted = 4 if kind in _TOPICS else 3
    if len(chunks) < wanted:
        reading.remark(f"{len(chunks)} chunks after {MARK} instead of {wanted}")
        return entity
    if len(chunks) > wanted:
        reading.remark(f"{len(chunks) - wanted} chunks too many")
    key = demangled(chunks[1], BRIDGE_SLASH)
    data_key = f"{_prefix(before)}{key}"
    entity = entity._replace(
        name=f"/{key}",
        type=ros_type(demangled(chunks[2], BRIDGE_SLASH)),
        # An action is three services and two topics.
        data_key=f"{data_key}/_action/*" if kind in _ACTIONS else data_key,
    )
    if kind in _TOPICS:
        policies, found = read_bridge_qos(chunks[3], kind == "publisher", reading)
        entity = entity._replace(qos=chunks[3], policies=policies, type_hash=found)
    return entity
