"""Payloads in shared memory, which this node never agrees to (wire reference §10.3, §12.7 N17)."""

from __future__ import annotations

from zenlake.wire import Err, Push, Put, Query, Reply, Request, Response
from zenlake.wire.message import NetworkMessage


def uses_shared_memory(message: NetworkMessage) -> bool:
    """Whether a payload of the message is in the sender's shared memory."""
    if isinstance(message, Push):
        push_body = message.body
        return isinstance(push_body, Put) and push_body.shm
    if isinstance(message, Request):
        query = message.body
        return isinstance(query, Query) and query.body_shm is not None
    if isinstance(message, Response):
        answer = message.body
        if isinstance(answer, Reply):
            value = answer.body
            return isinstance(value, Put) and value.shm
        return isinstance(answer, Err) and answer.shm
    return False


def find_shared_memory(messages: list[NetworkMessage]) -> int:
    """The index of the first message that uses it, or -1."""
    for index, message in enumerate(messages):
        if isinstance(message, Push):  # nearly all messages are
            body = message.body
            if isinstance(body, Put) and body.shm:
                return index
        elif uses_shared_memory(message):
            return index
    return -1
