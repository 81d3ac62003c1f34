"""ROS 2 over Zenoh: what its keys, tokens, attachments and payloads say.

    names        slashes written otherwise, type names of DDS, the keys that data travels on
    qos          quality of service, as tokens write it
    reading      fields of a text, with a remark for each that cannot be read
    token        Entity: a node, publisher, ... out of the key of its liveliness token
    gid          the id that rmw_zenoh derives from that key
    attachment   sequence number, source time and gid beside each message
    definitions  which known message type a name, a hash or a key means
    cdr          payloads to JSON (the last two need the extra `ros`)

Two middlewares are read: rmw_zenoh (ros2/rmw_zenoh, docs/design.md) and the bridge to DDS
(zenoh-plugin-ros2dds). Everything here is a function of text or bytes that others have sent:
what cannot be read is said, and never raised.
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
