"""The kind of a message in one word, such as `PUSH/PUT` or `INIT_ACK`.

These words name messages in commands, tables and counters, so they are public. A message with a
body has the name of the body after a slash.
"""

from __future__ import annotations

from typing import Final

from zenlake.wire._generated.data import Put, Reply
from zenlake.wire._generated.network import Declare, Oam, Push, Response
from zenlake.wire._generated.transport import Init, Open
from zenlake.wire.message import Message

LINK_STATE_OAM_ID: Final = 1


_DECLARE_KINDS: Final = {
    name: f"DECLARE/{name}"
    for name in (
        "D_KEYEXPR",
        "U_KEYEXPR",
        "D_SUBSCRIBER",
        "U_SUBSCRIBER",
        "D_QUERYABLE",
        "U_QUERYABLE",
        "D_TOKEN",
        "U_TOKEN",
        "D_FINAL",
    )
}


def kind_of(message: Message) -> str:
    """The word for a scouting, transport or network message."""
    # Called for every message, so no text is formatted here.
    if isinstance(message, Push):
        return "PUSH/PUT" if isinstance(message.body, Put) else "PUSH/DEL"
    if isinstance(message, Response):
        body = message.body
        if isinstance(body, Reply):
            is_put = isinstance(body.body, Put)
            return "RESPONSE/REPLY/PUT" if is_put else "RESPONSE/REPLY/DEL"
        return "RESPONSE/ERR"
    if isinstance(message, Declare):
        return _DECLARE_KINDS[message.body.NAME]
    if isinstance(message, Init):
        return "INIT_SYN" if message.cookie is None else "INIT_ACK"
    if isinstance(message, Open):
        return "OPEN_ACK" if message.cookie is None else "OPEN_SYN"
    if isinstance(message, Oam) and message.id == LINK_STATE_OAM_ID:
        return "OAM/LINKSTATE"
    return message.NAME
