"""Group: nodes that send to a multicast group, and nodes that scout."""

from __future__ import annotations

from typing import Any

from tests.rules.packet_recorder import MILLISECOND, Recorder, datagram
from zenlake.wire import Frame, Hello, Join, Push, Put, Scout
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.whatami import WhatAmI, WhatAmIMatcher
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

SCOUTS = "224.0.0.224:7446"
ALL = WhatAmIMatcher(7)


class Group:
    """Two members that join and publish, and a third one for faults."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.random = recorder.random
        self.resolution = self.random.choice((None, Resolution.of(16)))
        self.mask = (self.resolution or Resolution()).sn_mask
        self.address = f"224.0.1.{self.random.randint(1, 200)}:7447"
        self.sns = [self.random.randrange(self.mask // 2) for _ in range(3)]

    def join_message(self, member: int, **changes: Any) -> Join:
        values: dict[str, Any] = {
            "whatami": WhatAmI.PEER,
            "zid": ZenohId(bytes((0x20 + member, 7))),
            "lease": 10,
            "seconds": True,
            "next_sn_re": self.sns[member],
            "next_sn_be": 0,
            "resolution": self.resolution,
            "batch_size": None if self.resolution is None else 8_192,
            "patch": 1,
        }
        return Join(**{**values, **changes})

    def join(self, member: int, **changes: Any) -> int:
        return self.send_bytes(member, bytes(self.join_message(member, **changes)))

    def send_bytes(self, member: int, data: bytes) -> int:
        return datagram(self.recorder, f"10.0.2.{member + 1}:5000{member}", self.address, data)

    def send(self, member: int, message: NetworkMessage) -> int:
        frame = Frame(self.sns[member], [message])
        self.sns[member] = (self.sns[member] + 1) & self.mask
        return self.send_bytes(member, bytes(frame))

    def put(self, member: int | None = None, size: int = 20) -> int:
        member = self.random.randrange(2) if member is None else member
        return self.send(member, Push(WireExpr(0, "group/a"), Put(self.random.randbytes(size))))

    def act(self) -> None:
        self.recorder.wait(self.random.randrange(1, 300) * MILLISECOND)
        if self.random.random() < 0.2:
            self.join(self.random.randrange(2))
        else:
            self.put()


def scout(
    recorder: Recorder, what: WhatAmIMatcher = ALL, source: str = "10.0.3.1:41000", **values: Any
) -> int:
    return datagram(recorder, source, SCOUTS, bytes(Scout(what, **values)))


def hello(
    recorder: Recorder,
    role: WhatAmI = WhatAmI.ROUTER,
    destination: str = "10.0.3.1:41000",
    **values: Any,
) -> int:
    values = {"zid": ZenohId(b"\x41\x01"), "locators": ("tcp/10.0.3.2:7447",), **values}
    return datagram(recorder, "10.0.3.2:7446", destination, bytes(Hello(role, **values)))
