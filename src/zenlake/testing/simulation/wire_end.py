"""WireEnd: one side of a wire, from the first byte of the handshake to the last of the session."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.delivery import Delivery
from zenlake.protocol.errors import HandshakeError, TransportError
from zenlake.protocol.offer import Agreed
from zenlake.protocol.opening import Opener
from zenlake.protocol.transport import Transport
from zenlake.routing.face import Face
from zenlake.routing.outlet import Outlet
from zenlake.testing.simulation.journal import InvariantError
from zenlake.testing.simulation.unit_check import UnitCheck
from zenlake.testing.simulation.wire import Wire
from zenlake.wire import CloseReason, NetworkMessage, encode
from zenlake.wire.defaults import DEFAULT_QOS_BYTE
from zenlake.wire.framing import StreamDeframer, frame_batch
from zenlake.wire.values.qos import QoS

if TYPE_CHECKING:
    from zenlake.testing.simulation.node import SimulatedNode

HANDSHAKE_S: Final = 3.0
TURN_S: Final = 0.0002
"""Time between two slices of the same work."""


class WireEnd(Outlet):
    """Runs Opener or Acceptor, then a Transport; as an Outlet it receives messages from routing."""

    def __init__(self, node: SimulatedNode, wire: Wire, side: int) -> None:
        self.node = node
        self.wire = wire
        self.side = side
        self.is_over = False
        self.transport: Transport | None = None
        self.face: Face | None = None
        self._deframer = StreamDeframer()
        self._arrived: deque[Delivery] = deque()
        self._routed = 0  # the number of messages of the first delivery that are routed
        self._is_routing_later = False
        self._is_flushing = False
        self._machine: Opener | Acceptor
        if side == 0:
            self._machine = Opener(node.offer)
        else:
            self._machine = Acceptor(node.offer, node.entropy, node.admit)
        wire.ends.append(self)
        node.ends.append(self)
        node.later(HANDSHAKE_S, self._give_up)

    def __str__(self) -> str:
        return f"{self.node.name} on wire {self.wire.number}"

    def start(self) -> None:
        assert isinstance(self._machine, Opener)
        self._send_handshake(self._machine.start())

    @property
    def is_alive(self) -> bool:
        """Whether its node has not closed it."""
        return self.face is not None and not self.is_over and self.node.is_running

    # --- receiving -------------------------------------------------------------------------------

    def arrived(self, data: bytes) -> None:
        self.node.run(lambda: self._receive(data))

    def arrived_end(self) -> None:
        self.node.run(lambda: self.finish("the link ended"))

    def _receive(self, data: bytes) -> None:
        if self.is_over:
            return
        if self.transport is not None:
            self._receive_session(self.transport, data)
            return
        if not self.wire.is_stream:
            if data:
                self._shake_hands(data)
            return
        self._deframer.feed(data)
        while not self.is_over and self.transport is None:
            batch = self._deframer.next_batch()
            if batch is None:
                return
            self._shake_hands(batch)
        rest = self._deframer.pop_rest()
        if rest and self.transport is not None:
            self._receive_session(self.transport, rest)

    def _receive_session(self, transport: Transport, data: bytes) -> None:
        now = self.node.now()
        try:
            deliveries = transport.receive(data, now)
        except TransportError as error:
            if self.wire.is_stream or not transport.agreed.compression:
                raise InvariantError(f"{self}: {error}") from error
            # A duplicate datagram of the handshake cannot be decompressed.
            self.node.journal.count("sessions ended by a datagram of the handshake")
            self.finish(str(error))
            return
        self._arrived.extend(deliveries)
        if transport.peer_closed is None:
            self._route()
        else:
            while self._is_behind():
                self._route()
            self.finish("the peer closed")

    def _route(self) -> None:
        """One slice of routing for received messages, of the length in the plan of the node."""
        face, node = self.face, self.node
        if face is None or face.is_gone:
            self._arrived.clear()
            return
        if face.job is not None:
            node.dispatcher.resume(face, node.slice_steps)
        while self._arrived and face.job is None:
            first = self._arrived[0]
            count = len(first.messages)
            self._routed = node.dispatcher.receive_run(
                face,
                first.messages,
                self._routed,
                count,
                first.reliable,
                node.now(),
                node.slice_steps,
            )
            if self._routed < count:
                break
            self._routed = 0
            self._arrived.popleft()
        if node.dispatcher.has_discoveries:
            node.discover()
        if self._is_behind() and not self._is_routing_later:
            self._is_routing_later = True
            node.later(TURN_S, self._route_again)

    def _route_again(self) -> None:
        self._is_routing_later = False
        self._route()

    def _is_behind(self) -> bool:
        face = self.face
        return face is not None and not face.is_gone and bool(self._arrived or face.job is not None)

    # --- the handshake ---------------------------------------------------------------------------

    def _shake_hands(self, batch: bytes) -> None:
        machine = self._machine
        try:
            if isinstance(machine, Acceptor):
                answer = machine.receive(batch, self.node.now())
            else:
                answer = machine.receive(batch)
        except HandshakeError as error:
            self.node.journal.note(self.node.name, "handshake on %s: %s", self.wire.number, error)
            if error.farewell is not None:
                self._send_handshake(error.farewell)
            self.finish("no handshake")
            return
        if answer is not None:
            self._send_handshake(answer)
        if machine.agreed is not None:
            self._open(machine.agreed)

    def _send_handshake(self, content: bytes) -> None:
        if self.wire.is_stream:
            content = frame_batch(content)
        self.wire.send(self, content)

    def _give_up(self) -> None:
        if self.transport is None:
            self.finish("the handshake takes too long")

    def _open(self, agreed: Agreed) -> None:
        node, wire = self.node, self.wire
        if self.side == 0 and node.admit(agreed.zid) is not None:
            self.finish("there is a session with that node")
            return
        node.journal.note(node.name, "session on wire %s with %s", wire.number, agreed.zid)
        node.journal.count("sessions")
        wire.note_change()
        now = node.now()
        self.transport = Transport(agreed, now, wire.is_stream, node.budget)
        if wire.check is None:
            wire.check = UnitCheck(agreed, wire.is_stream, wire.is_between_routers())
        steps = node.slice_steps
        self.face = node.dispatcher.add_face(agreed.zid, agreed.role, self, now, steps=steps)
        self._route()
        node.expect(self)
        other = wire.other(self)
        if other.transport is not None and not other.is_over:
            wire.up_at = node.timeline.now

    # --- sending ---------------------------------------------------------------------------------

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        transport = self.transport
        if transport is None or self.is_over:
            raise InvariantError(f"{self}: {message.NAME} for a face that is gone")
        qos: QoS | None = message.qos  # type: ignore[attr-defined]  # all have it
        byte = DEFAULT_QOS_BYTE if qos is None else qos.byte
        transport.push(encode(message), byte & 7, reliable, byte & 0x10 != 0)
        self.node.touched[self] = None

    def flush(self, *, hastily: bool = False) -> None:
        """Send while the wire is free; `hastily` does not wait for it."""
        transport, wire = self.transport, self.wire
        if transport is None or self.is_over or (self._is_flushing and not hastily):
            return
        while True:
            if not hastily and wire.free_at(self.side) > self.node.timeline.now:
                self._is_flushing = True
                self.node.timeline.call_at(wire.free_at(self.side), self._flush_more)
                return
            unit = transport.next_unit(self.node.now())
            if unit is None:
                return
            assert wire.check is not None
            for message in wire.check.read(self.side, unit):
                self.node.journal.note(self.node.name, "wire %s: %.240s", wire.number, message)
            wire.send(self, unit)
            if transport.total_queued_bytes() == 0:
                return

    def _flush_more(self) -> None:
        self._is_flushing = False
        self.node.run(self.flush)

    # --- time and the end ------------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        return None if self.transport is None else self.transport.next_deadline()

    def handle_timeout(self, now: float) -> None:
        if self.transport is None or self.is_over or self.transport.next_deadline() > now:
            return
        try:
            self.transport.handle_timeout(now)
            self.node.touched[self] = None
        except TransportError as error:
            self.node.journal.count("leases expired")
            self._check_lease()
            self.finish(str(error))

    def _check_lease(self) -> None:
        """A lease may expire only if a node was paused or the wire failed."""
        wire, other = self.wire, self.wire.other(self)
        lease_s = max(self.node.offer.lease_ms, other.node.offer.lease_ms) / 1000
        since = self.node.timeline.now - 1.5 * lease_s - 0.5
        was_away = any(end.node.was_paused_since(since) for end in (self, other))
        if wire.failed_at > self.node.timeline.now and not was_away and not other.is_over:
            raise InvariantError(f"{self}: the lease expired although {other.node.name} was there")

    def close(self) -> None:
        """Send CLOSE after everything else (behaviour reference §2.1)."""
        if self.transport is not None and not self.is_over:
            if self.wire.is_up:
                self.wire.closed_by = self.node
            self.transport.close(CloseReason.GENERIC)
            self.flush(hastily=True)
        self.finish("closed here")

    def finish(self, cause: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        node = self.node
        node.journal.note(node.name, "wire %s is over: %s", self.wire.number, cause)
        node.ends.remove(self)
        self.wire.hang_up(self)
        self.wire.note_change()
        if self.transport is not None:
            self.transport.release()
        if self.face is not None:
            node.dispatcher.remove_face(self.face, node.now(), node.slice_steps)
            node.leaving.append(self.face)
        node.lost(self)
