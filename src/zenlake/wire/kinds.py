"""The kind of a message in one word, such as `PUSH/PUT` or `INIT_ACK`.

The same words name messages in commands, tables and counts, so they are part of what others
rely on: containers have one of their own, bodies follow their carrier after a slash.
"""

from __future__ import annotations

from zenlake.wire._generated.data import Reply
from zenlake.wire._generated.network import Declare, Oam, Push, Response
from zenlake.wire._generated.transport import Init, Open
from zenlake.wire.message import Message

LINK_STATE_OAM_ID = 1


def kind_of(message: Message) -> str:
    """The word for a scouting, transport or network message."""
    if isinstance(message, Push | Declare):
        return f"{message.NAME}/{message.body.NAME}"
    if isinstance(message, Response):
        body = message.body
        if isinstance(body, Reply):
            return f"RESPONSE/REPLY/{body.body.NAME}"
        return f"RESPONSE/{body.NAME}"
    if isinstance(message, Init):
        return "INIT_SYN" if message.cookie is None else "INIT_ACK"
    if isinstance(message, Open):
        return "OPEN_ACK" if message.cookie is None else "OPEN_SYN"
    if isinstance(message, Oam) and message.id == LINK_STATE_OAM_ID:
        return "OAM/LINKSTATE"
    return message.NAME
