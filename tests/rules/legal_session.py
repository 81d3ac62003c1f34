"""LegalSession: two nodes that keep to all rules, from a seed. Faults make them break one.

It sends what is legal at any time: it keeps aliases, declarations, interests and requests of both
sides. `act` does one thing of many; the checker finds nothing in any of them, not even a note.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.packet_recorder import MILLISECOND, SECOND
from tests.rules.session_writer import CONTROL, SessionWriter
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Interest,
    KeepAlive,
    Push,
    Put,
    Query,
    Reply,
    Request,
    Response,
    ResponseFinal,
    SourceInfo,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)
from zenlake.wire.values.choices import ConsolidationMode, InterestMode, QueryTarget
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.qos import QOS_BYTES
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.timestamp import Timestamp, ntp64_of_ns
from zenlake.wire.values.wire_expr import WireExpr

QUERY = QOS_BYTES[0x0D]
_RANK = {"client": 0, "peer": 1, "router": 2}
_ENTITIES = {
    "SUBSCRIBER": (DeclareSubscriber, UndeclareSubscriber),
    "QUERYABLE": (DeclareQueryable, UndeclareQueryable),
    "TOKEN": (DeclareToken, UndeclareToken),
}


class LegalSession(SessionWriter):
    """A session in which random legal messages are sent."""

    # --- parts of legal messages -----------------------------------------------------------

    def is_higher(self, side: int) -> bool:
        return _RANK[self.ends[side].role] > _RANK[self.ends[1 - side].role]

    def interested_side(self) -> int | None:
        """A side that may send INTEREST and gets answers."""
        for side in (0, 1):
            if self.is_higher(1 - side):
                return side
        return None

    def key(self) -> str:
        chunks = ("demo", "robot", "a", "sensor", "x1", "état", "@v")
        return "/".join(self.random.choice(chunks) for _ in range(self.random.randint(1, 4)))

    def wire_key(self, side: int, key: str) -> WireExpr:
        """The key in full, or shortened by an alias of either side."""
        for owner in self.random.sample((side, 1 - side), 2):
            for number, prefix in self.ends[owner].aliases.items():
                if key.startswith(prefix) and self.random.random() < 0.7:
                    return WireExpr(number, key[len(prefix) :], owner == side)
        return WireExpr(0, key)

    def declare(self, side: int, body: Any, interest_id: int | None = None) -> int:
        return self.send(side, Declare(body, interest_id, qos=CONTROL))

    def put_message(self, side: int, key: str | None = None, **changes: Any) -> Push:
        random = self.random
        values: dict[str, Any] = {"payload": random.randbytes(random.choice((0, 3, 40, 200)))}
        if random.random() < 0.3:
            values["encoding"] = Encoding(random.randint(1, 40), random.choice((None, b"s")))
        if random.random() < 0.3:
            values["timestamp"] = Timestamp(ntp64_of_ns(self.recorder.now_ns), self.ends[side].zid)
        if random.random() < 0.2:
            self.ends[side].last_source_sn += 1
            values["source_info"] = SourceInfo(
                self.ends[side].zid, 7, self.ends[side].last_source_sn
            )
        if random.random() < 0.2:
            values["attachment"] = b"att"
        values |= changes
        key = self.key() if key is None else key
        qos = random.choice((None, None, QOS_BYTES[0x09], QOS_BYTES[0x17], QOS_BYTES[0x21]))
        return Push(self.wire_key(side, key), Put(**values), qos=qos)

    # --- actions ---------------------------------------------------------------------------

    def act(self) -> None:
        """Send one legal message or exchange, chosen at random."""
        if self.is_dead:
            return
        self.recorder.wait(self.random.randrange(1, 30) * MILLISECOND)
        actions: list[Callable[[], Any]] = [
            self.put,
            self.put,
            self.delete,
            self.alias,
            self.entity,
            self.undeclare,
            self.query,
            self.keep_alive,
            self.interest,
            self.several,
        ]
        if not self.lowlatency:
            actions.append(self.large_put)
        if self.ends[0].role == self.ends[1].role == "router":
            actions.append(self.link_state)
        self.random.choice(actions)()

    def put(self, side: int | None = None, key: str | None = None) -> int:
        side = self.side() if side is None else side
        return self.send(side, self.put_message(side, key), reliable=self.random.random() < 0.8)

    def delete(self) -> int:
        side = self.side()
        return self.send(side, Push(self.wire_key(side, self.key()), Del()))

    def several(self) -> int:
        """Send several messages of one channel in a FRAME, and two FRAMEs in a batch."""
        side = self.side()
        if self.lowlatency:
            return self.put(side)
        first = [Push(self.wire_key(side, self.key()), Put(b"1")) for _ in range(3)]
        second = [Push(WireExpr(0, self.key()), Put(b"2"))]
        both = [self.frame(side, list(first)), self.frame(side, list(second), reliable=False)]
        data = b"".join(map(bytes, both))
        return self.unit(side, data) if len(data) < self.batch_size - 8 else 0

    def large_put(self) -> int:
        side = self.side()
        size = min(3 * self.batch_size, 40_000)
        return self.send(side, Push(WireExpr(0, self.key()), Put(self.random.randbytes(size))))

    def keep_alive(self) -> int:
        return self.unit(self.side(), bytes(KeepAlive()))

    def alias(self, side: int | None = None) -> int:
        side = self.side() if side is None else side
        end = self.ends[side]
        if end.aliases and self.random.random() < 0.3:
            number = self.random.choice(list(end.aliases))
            del end.aliases[number]
            return self.declare(side, UndeclareKeyExpr(number))
        number = max([0, *end.aliases, *self.ends[1 - side].aliases]) + 1
        end.aliases[number] = self.key()
        return self.declare(side, DeclareKeyExpr(number, WireExpr(0, end.aliases[number])))

    def entity(self, side: int | None = None, kind: str | None = None) -> tuple[str, int] | None:
        """Send a declaration that needs no interest."""
        side = self.side() if side is None else side
        if self.is_higher(side):
            side = 1 - side
        end = self.ends[side]
        kind = self.random.choice(list(_ENTITIES)) if kind is None else kind
        number, key = end.next_id(), f"{self.key()}/**"
        end.entities[kind, number] = key
        self.declare(side, self.entity_message(side, kind, number, key))
        return kind, number

    def entity_message(self, side: int, kind: str, number: int, key: str) -> Any:
        wire_key = self.wire_key(side, key)
        if kind == "QUERYABLE":
            info = self.random.choice((None, QueryableInfo(True, 0), QueryableInfo(False, 3)))
            return DeclareQueryable(number, wire_key, info)
        return _ENTITIES[kind][0](number, wire_key)

    def undeclare(self) -> int:
        side = self.side()
        end = self.ends[side]
        if not end.entities:
            return 0
        kind, number = self.random.choice(list(end.entities))
        key = end.entities.pop((kind, number))
        return self.declare(side, self.undeclare_message(kind, number, key))

    def undeclare_message(self, kind: str, number: int, key: str) -> Any:
        return _ENTITIES[kind][1](number, UndeclaredKey(WireExpr(0, key)))

    def interest(self) -> None:
        side = self.interested_side()
        if side is None:
            return
        end = self.ends[side]
        if end.interests and self.random.random() < 0.4:
            number = self.random.choice(list(end.interests))
            del end.interests[number]
            self.send(side, Interest(InterestMode.FINAL, number, qos=CONTROL))
            return
        self.ask(side, InterestMode.CURRENT_FUTURE)

    def ask(
        self, side: int, mode: InterestMode, kind: str | None = None, answered: bool = True
    ) -> tuple[int, str, str, int]:
        """Send an interest and its answers; returns its number, kind, key and packet."""
        end, other = self.ends[side], 1 - side
        kind = self.random.choice(list(_ENTITIES)) if kind is None else kind
        number, key = end.next_id(), f"{self.key()}/i{end.last_id}"
        end.interests[number] = kind, key
        interest = Interest(mode, number, keyexprs=True, key=self.wire_key(side, key), qos=CONTROL)
        setattr(
            interest,
            {"SUBSCRIBER": "subscribers", "QUERYABLE": "queryables"}.get(kind, "tokens"),
            True,
        )
        packet = self.send(side, interest)
        if not answered:
            return number, kind, key, packet
        for _ in range(self.random.randrange(3)):
            id = self.ends[other].next_id()
            self.ends[other].entities[kind, id] = key
            self.declare(other, self.entity_message(other, kind, id, key), number)
        self.declare(other, DeclareFinal(), number)
        if mode == InterestMode.CURRENT:
            del end.interests[number]
        return number, kind, key, packet

    def request_message(self, side: int, key: str, **changes: Any) -> Request:
        random = self.random
        values: dict[str, Any] = {
            "request_id": self.ends[side].next_request(),
            "key": self.wire_key(side, key),
            "body": Query(
                random.choice((None, ConsolidationMode.LATEST, ConsolidationMode.NONE)),
                random.choice((None, "x=1;y=2")),
            ),
            "qos": QUERY,
            "timeout_ms": 10_000,
            "target": random.choice((None, QueryTarget.ALL)),
        }
        return Request(**{**values, **changes})

    def reply(self, request_id: int, key: str, **changes: Any) -> Response:
        body = Reply(self.random.choice((Put(b"value"), Del())))
        values = {"request_id": request_id, "key": WireExpr(0, key), "body": body, "qos": QUERY}
        return Response(**{**values, **changes})

    def query(self, side: int | None = None) -> tuple[int, int, str]:
        """Send a request, its replies and the final; returns the requesting side, id and key."""
        side = self.side() if side is None else side
        key = self.key()
        request = self.request_message(side, key)
        number, other = request.request_id, 1 - side
        self.send(side, request)
        for _ in range(self.random.randrange(3)):
            self.send(other, self.reply(number, key))
            if self.random.random() < 0.3:
                self.put()
        self.final(other, number)
        return side, number, key

    def final(self, side: int, number: int) -> int:
        return self.send(side, ResponseFinal(number, qos=QUERY))

    def pass_time(self, seconds: float, silent: tuple[int, ...] = ()) -> None:
        """Let time pass; sides that are not silent send KEEP_ALIVE."""
        until_ns = self.recorder.now_ns + int(seconds * SECOND)
        while self.recorder.now_ns + 2 * SECOND < until_ns:
            self.recorder.wait(2 * SECOND)
            for side in (0, 1):
                if side not in silent:
                    self.unit(side, bytes(KeepAlive()))
        self.recorder.wait(max(until_ns - self.recorder.now_ns, 0))
