"""A link whose batches are redacted, and a reader of what is recorded of it."""

from __future__ import annotations

from zenlake.limits import BATCH_BYTES_MAX
from zenlake.protocol.offer import Agreed
from zenlake.protocol.transport import Transport
from zenlake.recording.redaction import Redactor
from zenlake.recording.redaction_rules import RedactionRules
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Init,
    NetworkMessage,
    Open,
    Push,
    Put,
    WhatAmI,
    WireExpr,
    ZenohId,
)

ZID = ZenohId.from_int(7)
SECRET = b"hunter2"


def key(text: str) -> WireExpr:
    return WireExpr(0, text)


class Link:
    """Two nodes and a redactor between them: `send` returns what a reader of the recording gets."""

    def __init__(
        self,
        exclude: tuple[str, ...] = (),
        drop_payload: tuple[str, ...] = (),
        *,
        compression: bool = False,
        low_latency: bool = False,
        patch: int = 1,
        batch_size: int = 65_535,
    ) -> None:
        self.redactor = Redactor(RedactionRules(exclude, drop_payload))
        self.link = self.redactor.link()
        self.is_compressed = compression
        self.recorded = b""
        ack = Init(WhatAmI.ROUTER, ZID, cookie=b"c", compression=compression, patch=patch or None)
        ack.lowlatency = low_latency
        self.hand(0, Init(WhatAmI.CLIENT, ZID))
        self.hand(1, ack)
        self.hand(0, Open(1000, 0, cookie=b"c"))
        self.hand(1, Open(1000, 0))
        agreed = Agreed(
            ZID,
            WhatAmI.ROUTER,
            qos=not low_latency,
            compression=compression,
            low_latency=low_latency,
            patch=patch,
            batch_size=batch_size,
        )
        self.senders = [Transport(agreed, 0.0, is_stream=False) for _ in "ab"]
        # The beginning of a long message in one frame may exceed what was agreed.
        agreed.batch_size = BATCH_BYTES_MAX
        self.readers = [Transport(agreed, 0.0, is_stream=False) for _ in "ab"]

    def hand(self, direction: int, message: Init | Open) -> bytes:
        changed = self.link.batch(direction, bytes(message), 0)
        assert changed is not None
        return changed[0]

    def send(
        self, *messages: NetworkMessage, direction: int = 0, flags: int = 0, reliable: bool = True
    ) -> list[NetworkMessage]:
        sender = self.senders[direction]
        for message in messages:
            sender.push(bytes(message), 5, reliable, False)
        found: list[NetworkMessage] = []
        while (unit := sender.next_unit(0.0)) is not None:
            found += self.record(direction, unit, flags)
        return found

    def record(self, direction: int, unit: bytes, flags: int = 0) -> list[NetworkMessage]:
        changed = self.link.batch(direction, unit, flags)
        if changed is None or not changed[0]:
            return []
        assert len(changed[0]) <= BATCH_BYTES_MAX
        self.recorded += changed[0]
        reader = self.readers[direction]
        deliveries = reader.receive(changed[0], 0.0)
        assert not reader.inbound.stale_frames
        assert not reader.inbound.reassembly.dropped_fragments
        return [message for delivery in deliveries for message in delivery.messages]

    @property
    def counts(self) -> tuple[int, int, int]:
        counts = self.redactor.counts
        return counts.removed, counts.emptied, counts.undecodable


PUBLIC = Push(key("public/a"), Put(b"hello"))


def prefix(number: int, text: str, scope: int = 0) -> Declare:
    return Declare(DeclareKeyExpr(number, WireExpr(scope, text, False)))
