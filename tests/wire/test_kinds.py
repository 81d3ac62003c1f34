"""The words for messages, compared with the public list."""

from __future__ import annotations

from tests.vectors import ALL
from zenlake.wire import Frame, Oam
from zenlake.wire.kinds import kind_of

# Named outside the project too: they may grow, not change.
KINDS = {
    "SCOUT",
    "HELLO",
    "INIT_SYN",
    "INIT_ACK",
    "OPEN_SYN",
    "OPEN_ACK",
    "CLOSE",
    "KEEP_ALIVE",
    "FRAME",
    "FRAGMENT",
    "JOIN",
    "TRANSPORT_OAM",
    "PUSH/PUT",
    "PUSH/DEL",
    "REQUEST",
    "RESPONSE/REPLY/PUT",
    "RESPONSE/REPLY/DEL",
    "RESPONSE/ERR",
    "RESPONSE_FINAL",
    "INTEREST",
    "OAM",
    "OAM/LINKSTATE",
    "DECLARE/D_KEYEXPR",
    "DECLARE/U_KEYEXPR",
    "DECLARE/D_SUBSCRIBER",
    "DECLARE/U_SUBSCRIBER",
    "DECLARE/D_QUERYABLE",
    "DECLARE/U_QUERYABLE",
    "DECLARE/D_TOKEN",
    "DECLARE/U_TOKEN",
    "DECLARE/D_FINAL",
}


def test_the_vectors_have_every_kind_and_no_other() -> None:
    messages = [vector.message for vector in ALL]
    for frame in [message for message in messages if isinstance(message, Frame)]:
        messages += frame.messages
    assert {kind_of(message) for message in messages} | {kind_of(Oam(7))} == KINDS
