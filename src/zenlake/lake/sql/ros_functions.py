"""SQL functions for ROS 2: attachments of samples and queries, and payloads.

The result for null or for an unreadable value is null; `ros_attachment` and `ros_unread` then have
the reason.
"""

from __future__ import annotations

import re
from typing import Final

from zenlake.errors import LocalError
from zenlake.lake.errors import LakeError
from zenlake.lake.schema.table import BIGINT, BINARY, STRING
from zenlake.lake.sql.function import Function
from zenlake.ros.attachment import read_attachment
from zenlake.ros.cdr import payload_json, why_no_json
from zenlake.ros.definitions import check_extra

_NEEDS_EXTRA: Final = re.compile(r"\bros_(?:json|unread)\s*\(", re.IGNORECASE)


def ros_json(meant: str | None, payload: bytes | None) -> str | None:
    """A payload as JSON; its type is given by name or hash, or by the key it was sent on."""
    return None if meant is None or payload is None else payload_json(meant, payload)


def ros_unread(meant: str | None, payload: bytes | None) -> str | None:
    """Why `ros_json` is null; null if it is not."""
    return None if meant is None or payload is None else why_no_json(meant, payload)


def ros_attachment(data: bytes | None) -> str | None:
    """An attachment as JSON: layout, sequence_number, source_ns, gid; or unread, the reason."""
    return None if data is None else read_attachment(data).to_json()


def ros_sequence(data: bytes | None) -> int | None:
    """The sender's sequence number of the message."""
    return None if data is None else read_attachment(data).sequence_number


def ros_source_ns(data: bytes | None) -> int | None:
    """When the sender published it, by its own clock."""
    return None if data is None else read_attachment(data).source_ns


def ros_gid(data: bytes | None) -> str | None:
    """The id of the publisher or client, as in `ros_entities.gid`."""
    return None if data is None else read_attachment(data).gid


def check_calls(sql: str) -> None:
    """Error if a package is missing, before the query runs."""
    if _NEEDS_EXTRA.search(sql):
        try:
            check_extra()
        except LocalError as error:
            raise LakeError(str(error), "SQL") from None


ROS_FUNCTIONS: Final = {
    "ros_json": Function(ros_json, (STRING, BINARY), STRING),
    "ros_unread": Function(ros_unread, (STRING, BINARY), STRING),
    "ros_attachment": Function(ros_attachment, (BINARY,), STRING),
    "ros_sequence": Function(ros_sequence, (BINARY,), BIGINT),
    "ros_source_ns": Function(ros_source_ns, (BINARY,), BIGINT),
    "ros_gid": Function(ros_gid, (BINARY,), STRING),
}
