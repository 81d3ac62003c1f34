"""ROS 2 over Zenoh: decodes its keys, tokens, attachments and payloads.

    names        slashes in keys, type names of DDS, keys of topic data
    qos          quality of service, as tokens encode it
    reading      parses fields of a text; records a remark for each invalid one
    token        Entity: a node, publisher, ... from the key of its liveliness token
    gid          the id that rmw_zenoh derives from that key
    attachment   sequence number, source time and gid beside each message
    definitions  finds a known message type by name, hash or key
    cdr          payloads to JSON (the last two need the extra `ros`)

Two middlewares are supported: rmw_zenoh (ros2/rmw_zenoh, docs/design.md) and the bridge to DDS
(zenoh-plugin-ros2dds). All input comes from other nodes: invalid input never raises an exception,
the result has the reason instead.
"""

from zenlake.ros.attachment import Attachment, read_attachment
from zenlake.ros.cdr import payload_json, why_no_json
from zenlake.ros.gid import gid_of
from zenlake.ros.token import Entity, read_token

__all__ = [
    "Attachment",
    "Entity",
    "gid_of",
    "payload_json",
    "read_attachment",
    "read_token",
    "why_no_json",
]
