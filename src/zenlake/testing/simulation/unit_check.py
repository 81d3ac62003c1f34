"""UnitCheck: reads the units on a wire, and checks their declarations and requests.

It decodes the units of each side separately. On every wire a REQUEST is answered by
any number of RESPONSEs and then exactly one RESPONSE_FINAL (behaviour reference §4.5).
"""

from __future__ import annotations

from zenlake.protocol.offer import Agreed
from zenlake.testing.simulation.accounts import Accounts
from zenlake.testing.simulation.journal import InvariantError
from zenlake.testing.simulation.router_accounts import RouterAccounts
from zenlake.wire import (
    Fragment,
    Frame,
    NetworkMessage,
    Request,
    Response,
    ResponseFinal,
    decode,
    decode_batch,
)
from zenlake.wire.batch import decode_low_latency
from zenlake.wire.compression import decompress_batch
from zenlake.wire.defaults import DEFAULT_PRIORITY


class UnitCheck:
    """Both directions of one wire, by side: 0 is the opener's."""

    def __init__(self, agreed: Agreed, is_stream: bool, is_between_routers: bool) -> None:
        self._is_low_latency = agreed.low_latency
        self._is_compressed = agreed.compression
        self._batch_size = agreed.batch_size
        self._prefix_bytes = 0 if not is_stream else 4 if agreed.low_latency else 2
        self._pieces: tuple[dict[tuple[int, bool], bytes], ...] = ({}, {})
        self.open_requests: tuple[dict[int, str], ...] = ({}, {})
        """Requests of each side without a final."""
        self.accounts = RouterAccounts() if is_between_routers else Accounts()

    def read(self, side: int, unit: bytes) -> list[NetworkMessage]:
        """Decode and check one unit of a side; returns its network messages."""
        if len(unit) == self._prefix_bytes + 1:
            return []  # a unit without messages, which is a keep-alive
        messages = self._decode(side, unit[self._prefix_bytes :])
        for message in messages:
            self._check(side, message)
            self.accounts.read(side, message)
        return messages

    def _decode(self, side: int, content: bytes) -> list[NetworkMessage]:
        if self._is_low_latency:
            unit = decode_low_latency(content)
            _refuse(unit.error)
            return [one for one in unit.messages if isinstance(one, NetworkMessage)]
        if self._is_compressed:
            content = decompress_batch(content, self._batch_size)
        batch = decode_batch(content)
        _refuse(batch.error)
        found: list[NetworkMessage] = []
        for message in batch.messages:
            if isinstance(message, Frame):
                found.extend(message.messages)
            elif isinstance(message, Fragment):
                whole = self._join(side, message)
                if whole is not None:
                    found.append(whole)
        return found

    def _join(self, side: int, fragment: Fragment) -> NetworkMessage | None:
        pieces = self._pieces[side]
        lane = (DEFAULT_PRIORITY if fragment.qos is None else int(fragment.qos), fragment.reliable)
        data = pieces.pop(lane, b"") + fragment.payload
        if fragment.more:
            pieces[lane] = data
            return None
        message = decode(data, "network")
        assert isinstance(message, NetworkMessage)
        return message

    def _check(self, side: int, message: NetworkMessage) -> None:
        if isinstance(message, Request):
            mine = self.open_requests[side]
            if message.request_id in mine:
                raise InvariantError(f"request {message.request_id} is sent while it is open")
            mine[message.request_id] = message.body.parameters or ""
        elif isinstance(message, Response | ResponseFinal):
            theirs = self.open_requests[1 - side]
            if message.request_id not in theirs:
                raise InvariantError(
                    f"{message.NAME} of request {message.request_id}, which is not open"
                )
            if isinstance(message, ResponseFinal):
                del theirs[message.request_id]


def _refuse(error: Exception | None) -> None:
    if error is not None:
        raise InvariantError(f"a node sent a unit that cannot be decoded: {error}")
