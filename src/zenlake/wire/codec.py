"""`encode` and `decode`: between messages and bytes.

`dialect="pages"` reads and writes the layouts of the spec pages in the four places where
deployed nodes use another (docs/spec-notes.md); everything else is the same in both.
"""

from __future__ import annotations

from typing import Literal

from zenlake.errors import LocalError, WireError
from zenlake.wire._generated.network import decode_network
from zenlake.wire._generated.scouting import decode_scouting
from zenlake.wire._generated.structures import LinkStateList, decode_link_state_list
from zenlake.wire._generated.transport import decode_transport
from zenlake.wire.message import Message

Dialect = Literal["deployed", "pages"]
Layer = Literal["scouting", "transport", "network"]
Buffer = bytes | bytearray | memoryview


def encode(message: Message, *, dialect: Dialect = "deployed") -> bytes:
    """The bytes of one message."""
    if _is_deployed(dialect):
        return bytes(message)
    from zenlake.wire.walk import encode_by_layout  # most programs do not need the definitions

    return encode_by_layout(message, dialect)


def decode(data: Buffer, layer: Layer, *, dialect: Dialect = "deployed") -> Message:
    """Decode `data` as exactly one message; bytes left over are an error.

    A SCOUT or HELLO is the exception: deployed nodes ignore what follows it.
    """
    data = bytes(data)
    message: Message
    if layer not in ("scouting", "transport", "network"):
        raise LocalError(f"there is no layer {layer!r}: scouting, transport or network")
    if not _is_deployed(dialect):
        from zenlake.wire.walk import decode_by_layout

        message, pos = decode_by_layout(data, layer, dialect)
    elif layer == "network":
        message, pos = decode_network(data, 0)
    elif layer == "transport":
        message, pos = decode_transport(data, 0)
    else:
        message, pos = decode_scouting(data, 0)
    if pos < len(data) and layer != "scouting":
        raise WireError(message.NAME, "end", pos, f"{len(data) - pos} bytes are left over")
    return message


def decode_link_states(body: Buffer, *, dialect: Dialect = "deployed") -> LinkStateList:
    """The body of a link-state OAM."""
    body = bytes(body)
    if not _is_deployed(dialect):
        from zenlake.wire.walk import decode_structure_by_layout

        states = decode_structure_by_layout("LinkStateList", body, dialect)
        assert isinstance(states, LinkStateList)
        return states
    return decode_link_state_list(body, 0, len(body))[0]


def _is_deployed(dialect: str) -> bool:
    if dialect not in ("deployed", "pages"):
        raise LocalError(f"there is no dialect {dialect!r}: deployed or pages")
    return dialect == "deployed"
