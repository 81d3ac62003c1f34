"""`BulkPut`: values on many keys, to the only neighbour that a session has.

A client sends all publications to its router. So there is no need to find the route of each key
and to take the node's lock for each value: messages go straight to the link, as those of a
`Shortcut`. The keys must be valid, and without wildcards.
"""

from __future__ import annotations

from zenlake.gil_checkpoint import CHECKPOINT_MASK, gil_checkpoint
from zenlake.routing.outlet import Outlet
from zenlake.session.publications import wire_qos
from zenlake.wire import Encoding, Push, Put, QoS, Timestamp, WireExpr, ZenohId
from zenlake.wire.writer import BytesWriter


class BulkPut:
    """Publishes a limited number of values; it does not notice that the link was replaced."""

    __slots__ = ("_clock", "_encoding", "_outlet", "_qos", "_wire_qos")

    def __init__(self, outlet: Outlet, qos: QoS, encoding: Encoding | None, clock: ZenohId) -> None:
        self._outlet = outlet
        self._qos = qos.byte
        self._wire_qos = wire_qos(qos)
        self._encoding = encoding
        self._clock = clock

    def put(self, keys: list[str], payloads: list[bytes], first_time: int) -> int:
        """Publish values, with one time after the other, and return how many were accepted.

        It stops at a value that the link cannot carry.
        """
        outlet, qos, wire_qos = self._outlet, self._qos, self._wire_qos
        encoding, clock = self._encoding, self._clock
        for index in range(len(keys)):
            timestamp = Timestamp(first_time + index, clock)
            body = Put(payloads[index], timestamp, encoding)
            out = BytesWriter()
            Push(WireExpr(0, keys[index]), body, wire_qos).encode(out)
            if not outlet.send_data(out.getvalue(), qos, True):
                return index
            if index & CHECKPOINT_MASK == CHECKPOINT_MASK:
                gil_checkpoint()
        return len(keys)
