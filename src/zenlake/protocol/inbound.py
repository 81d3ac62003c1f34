"""Inbound: the receiving half of an open session, from bytes to network messages.

Batches are cut out of the stream and decompressed (wire reference §6.1, §6.2), sequence
numbers decide which frames are accepted (§6.5), fragments are reassembled (§7). A bad byte ends
the link; messages that were complete before it are delivered.
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import WireError
from zenlake.protocol.delivery import Delivery
from zenlake.protocol.errors import TransportError
from zenlake.protocol.offer import Agreed
from zenlake.protocol.reassembly import CHANNELS, Reassembly, ReassemblyBudget
from zenlake.protocol.shared_memory import find_shared_memory, uses_shared_memory
from zenlake.protocol.tap import LinkTap, is_plain_batch
from zenlake.protocol.traffic import Traffic
from zenlake.wire import Close, Fragment, Frame, KeepAlive, Push, decode_network
from zenlake.wire.batch import decode_batch
from zenlake.wire.compression import decompress_batch
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.framing import StreamDeframer
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import PushRun
from zenlake.wire.sequence import is_newer, previous_sn
from zenlake.wire.values.qos import Priority

_OPEN: Final = -1
_UNLIMITED: Final = 1 << 62


class Inbound:
    """The receiving half of a session. Only one reader at a time may call `receive`."""

    __slots__ = (
        "_batch_size",
        "_deframer",
        "_is_broken",
        "_is_compressed",
        "_is_plain",
        "_is_qos",
        "_last_sns",
        "_mask",
        "batches",
        "bytes",
        "close_code",
        "discards_publications",
        "has_more",
        "ignored_messages",
        "keeps_runs",
        "messages",
        "reassembly",
        "received_at",
        "stale_frames",
        "tap",
        "traffic",
    )

    def __init__(
        self, agreed: Agreed, now: float, is_stream: bool, budget: ReassemblyBudget
    ) -> None:
        self._mask = agreed.sn_mask
        self._is_qos = agreed.qos
        self._is_compressed = agreed.compression
        self._batch_size = agreed.batch_size
        self._deframer: StreamDeframer | None = None
        if is_stream:
            self._deframer = self.make_deframer()
        self._last_sns = [previous_sn(agreed.peer_sn, agreed.sn_mask)] * CHANNELS
        self._is_broken = False
        self._is_plain = False  # whether the last batch is plain, for the tap
        self.tap: LinkTap | None = None
        """Gets every batch; None if the link is not recorded."""
        self.reassembly = Reassembly(agreed.sn_mask, agreed.patch, agreed.message_bytes_max, budget)
        self.received_at = now
        """When the last batch arrived."""
        self.close_code = _OPEN
        """The reason of the peer's CLOSE; nothing after it is read."""
        self.keeps_runs = False
        """Whether long runs of publications are delivered as one `PushRun`: for routers."""
        self.discards_publications = False
        """Whether publications are counted and not delivered: for nodes that only record."""
        self.has_more = False
        """Whether `receive_more` would return more deliveries."""
        self.batches = 0
        self.bytes = 0
        self.messages = 0
        self.traffic = Traffic()
        self.stale_frames = 0
        """Frames and fragments whose number was not newer than the last."""
        self.ignored_messages = 0
        """Ignored messages: INIT, OPEN, JOIN, OAM, and reassembled ones that cannot be decoded."""

    def make_deframer(self) -> StreamDeframer:
        deframer = StreamDeframer()
        deframer.limit_batches(self._batch_size)
        return deframer

    def receive(self, data: bytes, now: float, units_max: int = _UNLIMITED) -> list[Delivery]:
        """Process bytes of a stream as they arrive, or one datagram.

        It stops after about `units_max` batches and messages and sets `has_more`. Then call
        `receive_more` before `receive`.
        """
        if self._is_broken:
            raise TransportError("the link was dropped before")
        if self.close_code != _OPEN:
            return []
        self.bytes += len(data)
        if self._deframer is not None:
            self._deframer.feed(data)
            return self.receive_more(now, units_max)
        deliveries: list[Delivery] = []
        try:
            self._receive_datagram(data, now, deliveries)
        except (TransportError, WireError) as error:
            raise self._broken(error, deliveries) from None
        return deliveries

    def receive_more(self, now: float, units_max: int = _UNLIMITED) -> list[Delivery]:
        """Process the next complete batches of a stream."""
        deliveries: list[Delivery] = []
        deframer = self._deframer
        self.has_more = False
        if deframer is None:
            return deliveries
        units_end = self.batches + self.messages + units_max
        try:
            while self.close_code == _OPEN:  # what follows CLOSE need not be a batch
                batch = deframer.next_batch()
                if batch is None:
                    break
                self._receive_batch(batch, now, deliveries)
                if self.batches + self.messages >= units_end:
                    self.has_more = self.close_code == _OPEN
                    break
        except (TransportError, WireError) as error:
            raise self._broken(error, deliveries) from None
        return deliveries

    def _broken(
        self, error: TransportError | WireError, deliveries: list[Delivery]
    ) -> TransportError:
        """The error that ends the link; `deliveries` were received before the bad byte."""
        self._is_broken = True
        self.reassembly.release()
        failure = error if isinstance(error, TransportError) else TransportError(str(error))
        failure.deliveries = deliveries
        return failure

    def _receive_datagram(self, data: bytes, now: float, deliveries: list[Delivery]) -> None:
        if len(data) > self._batch_size:
            size = self._batch_size
            raise TransportError(f"a batch of {len(data)} bytes, at most {size} are agreed")
        if self._is_compressed and data and data[0] > 1:
            # A duplicate or late datagram of the handshake: those are never compressed.
            self.ignored_messages += 1
            return
        self._receive_batch(data, now, deliveries)

    def _receive_batch(self, batch: bytes, now: float, deliveries: list[Delivery]) -> None:
        self.received_at = now
        self.batches += 1
        if self.tap is not None:
            self._receive_recorded(batch, self.tap, now, deliveries)
            return
        if self._is_compressed:
            batch = decompress_batch(batch, self._batch_size)
        self.process_batch(batch, now, deliveries)

    def _receive_recorded(
        self, batch: bytes, tap: LinkTap, now: float, deliveries: list[Delivery]
    ) -> None:
        """Hand the batch to the tap too, whether it can be read or not."""
        content = batch
        self._is_plain = False
        try:
            if self._is_compressed:
                content = decompress_batch(batch, self._batch_size)
            self.process_batch(content, now, deliveries)
        finally:
            tap.received(batch, self._is_plain)

    def process_batch(self, content: bytes, now: float, deliveries: list[Delivery]) -> None:
        """The transport messages of one batch."""
        batch = decode_batch(content, self.keeps_runs)
        if self.tap is not None and batch.error is None:
            self._is_plain = is_plain_batch(batch.messages)
        # Nearly every batch holds one FRAME; several are counted with an equal share each.
        size = len(content) // max(1, len(batch.messages))
        for message in batch.messages:
            if isinstance(message, Frame):
                self._process_frame(message, size, deliveries)
            elif isinstance(message, Fragment):
                self._process_fragment(message, now, deliveries)
            elif isinstance(message, Close):
                self.process_close(message)
                return
            elif not isinstance(message, KeepAlive):
                self.ignored_messages += 1
        if batch.error is not None:
            raise batch.pop_error()

    def _process_frame(self, frame: Frame, size: int, deliveries: list[Delivery]) -> None:
        if self._accept(self._channel(frame.qos, frame.reliable), frame.sn):
            self.deliver(frame.messages, size, frame.reliable, deliveries)

    def _process_fragment(self, fragment: Fragment, now: float, deliveries: list[Delivery]) -> None:
        channel = self._channel(fragment.qos, fragment.reliable)
        if not self._accept(channel, fragment.sn):
            return
        whole = self.reassembly.add(channel, fragment, now)
        if whole is None:
            return
        # Only the first message is used. Bytes that cannot be decoded are ignored: in a FRAME they
        # would end the link, in fragments they do not (wire reference §7).
        try:
            message, _ = decode_network(whole, 0)
        except WireError:
            self.ignored_messages += 1
            return
        if uses_shared_memory(message):
            self.ignored_messages += 1
            return
        self.deliver([message], len(whole), fragment.reliable, deliveries)

    def _channel(self, qos: Priority | None, reliable: bool) -> int:
        priority = DEFAULT_PRIORITY if qos is None else int(qos)
        if priority != DEFAULT_PRIORITY and not self._is_qos:
            raise TransportError(f"priority {priority}, but no priorities were agreed")
        return priority << 1 | reliable

    def _accept(self, channel: int, sn: int) -> bool:
        """Whether wire reference §6.5 accepts `sn`; gaps are accepted on reliable channels too."""
        mask = self._mask
        if sn & ~mask:
            raise TransportError(f"sequence number {sn}, at most {mask} is agreed")
        if not is_newer(sn, self._last_sns[channel], mask):
            self.stale_frames += 1
            return False
        self._last_sns[channel] = sn
        return True

    def deliver(
        self, messages: list[NetworkMessage], size: int, reliable: bool, deliveries: list[Delivery]
    ) -> None:
        """Deliver messages that were received in `size` bytes."""
        bad = find_shared_memory(messages)
        if bad >= 0:
            messages = messages[:bad]
        if messages:
            self.messages += self.traffic.count_read(messages, size)
            if self.discards_publications:
                messages = _without_publications(messages)
            if messages:
                deliveries.append(Delivery(messages, reliable))
        if bad >= 0:
            raise TransportError("a payload in shared memory, which was not agreed")

    def process_close(self, close: Close) -> None:
        self.close_code = close.reason
        self.reassembly.release()


def _without_publications(messages: list[NetworkMessage]) -> list[NetworkMessage]:
    kept: list[NetworkMessage] = []
    for message in messages:
        if not isinstance(message, PushRun) and not isinstance(message, Push):
            kept.append(message)
    return kept
