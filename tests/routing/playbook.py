"""`Play`: one dispatcher with named faces, and what each face sends and receives.

play = Play("peer")
play.connects("app")
play.connects("c1", "client")
play.sends("c1", subscriber(1, "demo/**"))
play.receives("app", "D_SUB 1 demo/**")
"""

from __future__ import annotations

from typing import Any

from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.outlet import Outlet
from zenlake.routing.settings import RoutingSettings
from zenlake.routing.work import UNLIMITED
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Err,
    Interest,
    InterestMode,
    NetworkMessage,
    Oam,
    Push,
    Put,
    QoS,
    Query,
    QueryableInfo,
    QueryTarget,
    Reply,
    Request,
    Response,
    ResponseFinal,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    WhatAmI,
    WireExpr,
    ZenohId,
    decode,
    decode_link_states,
    encode,
)

ROLES = {"client": WhatAmI.CLIENT, "peer": WhatAmI.PEER, "router": WhatAmI.ROUTER}
OWN_ZID = ZenohId.parse("abc")


class RecordingOutlet(Outlet):
    """Keeps the messages sent to a face; those sent to a link must be encodable."""

    def __init__(self, is_local: bool) -> None:
        self.is_local = is_local
        self.messages: list[tuple[NetworkMessage, str, bool]] = []

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        if not self.is_local:
            assert decode(encode(message), "network") == message
        self.messages.append((message, key, reliable))

    def pop(self) -> list[NetworkMessage]:
        """Remove and return the messages."""
        messages = [message for message, _, _ in self.messages]
        self.messages.clear()
        return messages


class Play:
    def __init__(self, role: str, **settings: Any) -> None:
        self.slice_steps = UNLIMITED
        """Steps of a slice; a test may lower it."""

        self.dispatcher = Dispatcher(OWN_ZID, ROLES[role], RoutingSettings(**settings))
        self.faces: dict[str, Face] = {}
        self.outlets: dict[str, RecordingOutlet] = {}
        self.now = 0.0

    def connects(self, name: str, role: str = "", *, group: bool = False) -> Face:
        """Add a face: a neighbour with a role, or without one the local application."""
        outlet = RecordingOutlet(not role)
        self.outlets[name] = outlet
        if not role:
            self.faces[name] = self.dispatcher.add_local(outlet)
        else:
            zid = zid_of(name)
            self.faces[name] = self.dispatcher.add_face(
                zid, ROLES[role], outlet, self.now, is_multicast=group, steps=self.slice_steps
            )
        self.work(self.faces[name])
        return self.faces[name]

    def joins_group(self, name: str, group: str) -> Face:
        """Add a member of a multicast group."""
        self.faces[name] = self.dispatcher.add_member(self.faces[group], zid_of(name), WhatAmI.PEER)
        return self.faces[name]

    def leaves_group(self, name: str) -> None:
        """Remove a member of a multicast group."""
        self.dispatcher.remove_member(self.faces.pop(name), self.slice_steps)
        self.work()

    def disconnects(self, name: str) -> None:
        self.dispatcher.remove_face(self.faces.pop(name), self.now, self.slice_steps)
        self.work()
        self.outlets[name].messages.clear()

    def sends(self, name: str, *messages: NetworkMessage, reliable: bool = True) -> None:
        face = self.faces[name]
        receive(self.dispatcher, face, list(messages), reliable, self.now, self.slice_steps)

    def work(self, face: Face | None = None) -> None:
        """Run all slices of the jobs that the last message began."""
        finish_jobs(self.dispatcher, face, self.slice_steps)

    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        handle_timeout(self.dispatcher, self.now, self.slice_steps)

    def received(self, name: str) -> list[NetworkMessage]:
        """Remove and return the messages that a face received."""
        return self.outlets[name].pop()

    def receives(self, name: str, *lines: str) -> None:
        """Assert that a face received exactly these messages since the last call."""
        outlet = self.outlets[name]
        received = [text_of(message, key, outlet.is_local) for message, key, _ in outlet.messages]
        outlet.messages.clear()
        assert received == list(lines), received

    def nothing_received(self) -> None:
        """Assert that no face received anything since the last call."""
        for name in self.outlets:
            self.receives(name)

    def clear_received(self) -> None:
        """Remove the messages that all faces received."""
        for outlet in self.outlets.values():
            outlet.messages.clear()


def receive(
    dispatcher: Dispatcher,
    face: Face,
    messages: list[NetworkMessage],
    reliable: bool,
    now: float,
    slice_steps: int,
) -> None:
    """Have a dispatcher receive messages of a face, in slices, and finish the jobs they cause."""
    start = 0
    while start < len(messages):
        start = dispatcher.receive_run(
            face, messages, start, len(messages), reliable, now, slice_steps
        )
        finish_jobs(dispatcher, face, slice_steps)


def handle_timeout(dispatcher: Dispatcher, now: float, slice_steps: int) -> None:
    deadline = dispatcher.next_deadline()
    if deadline is not None and deadline <= now:
        dispatcher.handle_timeout(now)
    finish_jobs(dispatcher, None, slice_steps)


def finish_jobs(dispatcher: Dispatcher, face: Face | None, slice_steps: int) -> None:
    while face is not None and face.job is not None:
        dispatcher.resume(face, slice_steps)
    while dispatcher.has_jobs:
        dispatcher.run_jobs(slice_steps)


def connected(role: str, faces: dict[str, str], **settings: Any) -> Play:
    """A node with faces by name: a role, or "" for an application of its process."""
    play = Play(role, **settings)
    for name, face_role in faces.items():
        play.connects(name, face_role)
    return play


def zid_of(name: str) -> ZenohId:
    return ZenohId(name.encode())


def text_of(message: NetworkMessage, key: str, is_local: bool) -> str:
    """One line for a message; `[ours 1]/x` and `[yours 1]/x` are keys with an alias."""
    if isinstance(message, Declare):
        line = declaration_text(message, key, is_local)
        return line if message.interest_id is None else f"{line} for {message.interest_id}"
    if isinstance(message, Interest):
        options = "".join(
            letter
            for letter, flag in zip(
                "KSQTA",
                (
                    message.keyexprs,
                    message.subscribers,
                    message.queryables,
                    message.tokens,
                    message.aggregate,
                ),
                strict=True,
            )
            if flag
        )
        where = "" if message.key is None else " " + expr_text(message.key, key, is_local)
        return f"INTEREST {message.id} {message.mode}{options and ' ' + options}{where}"
    if isinstance(message, Push):
        return f"{body_text(message.body)} {expr_text(message.key, key, is_local)}"
    if isinstance(message, Request):
        return f"REQUEST {message.request_id} {expr_text(message.key, key, is_local)}"
    if isinstance(message, Response):
        what = message.body
        body = f"ERR {what.payload.decode()}" if isinstance(what, Err) else body_text(what.body)
        return f"RESPONSE {message.request_id} {body} {expr_text(message.key, key, is_local)}"
    if isinstance(message, ResponseFinal):
        return f"RESPONSE_FINAL {message.request_id}"
    assert isinstance(message, Oam)
    return f"OAM {gossip_text(message)}"


def declaration_text(message: Declare, key: str, is_local: bool) -> str:
    body = message.body
    assert message.qos == QoS(8)
    if isinstance(body, DeclareFinal):
        return "D_FINAL"
    if isinstance(body, DeclareKeyExpr):
        return f"D_KEYEXPR {body.expr_id} {body.key}"
    if isinstance(body, DeclareSubscriber):
        return f"D_SUB {body.id} {expr_text(body.key, key, is_local)}"
    if isinstance(body, DeclareToken):
        return f"D_TOKEN {body.id} {expr_text(body.key, key, is_local)}"
    if isinstance(body, DeclareQueryable):
        info = "" if body.info is None else f" ({body.info})"
        return f"D_QBL {body.id} {expr_text(body.key, key, is_local)}{info}"
    if isinstance(body, UndeclareSubscriber):
        return f"U_SUB {body.id}"
    assert isinstance(body, UndeclareQueryable | UndeclareToken)
    name = "U_QBL" if isinstance(body, UndeclareQueryable) else "U_TOKEN"
    assert body.key is not None
    if bytes(body.key) == b"\0\0":
        return f"{name} {body.id}"
    return f"{name} {body.id} {expr_text(body.key.key, key, is_local)}"


def expr_text(expr: WireExpr, key: str, is_local: bool) -> str:
    if is_local:
        return key
    if expr.scope == 0:
        assert expr.suffix == key
        return key
    assert key.endswith(expr.suffix)
    return f"[{'ours' if expr.sender else 'yours'} {expr.scope}]{expr.suffix}"


def body_text(body: Put | Del) -> str:
    return f"PUT {body.payload.decode()}" if isinstance(body, Put) else "DEL"


def gossip_text(message: Oam) -> str:
    assert isinstance(message.body, bytes)
    assert message.qos == QoS(8)
    states = []
    for state in decode_link_states(message.body).link_states:
        name = "" if state.zid is None else state.zid.raw.decode("latin-1")
        mark = " gateway" if state.gateway else ""
        where = "" if state.locators is None else f" at {','.join(state.locators)}"
        links = f" links {','.join(map(str, state.links))}" if state.links else ""
        states.append(f"{state.psid}={name} sn {state.sn} {state.whatami}{mark}{where}{links}")
    return "; ".join(states)


# Messages that faces send.


def alias(id: int, key: str) -> Declare:
    return Declare(DeclareKeyExpr(id, WireExpr(0, key)))


def no_alias(id: int) -> Declare:
    return Declare(UndeclareKeyExpr(id))


def subscriber(id: int, key: str | WireExpr, answer_to: int | None = None) -> Declare:
    return Declare(DeclareSubscriber(id, expr_of(key)), answer_to)


def queryable(
    id: int,
    key: str | WireExpr,
    complete: bool = False,
    distance: int = 0,
    answer_to: int | None = None,
) -> Declare:
    info = QueryableInfo(complete, distance)
    return Declare(DeclareQueryable(id, expr_of(key), info), answer_to)


def token(id: int, key: str | WireExpr, answer_to: int | None = None) -> Declare:
    return Declare(DeclareToken(id, expr_of(key)), answer_to)


def no_subscriber(id: int) -> Declare:
    return Declare(UndeclareSubscriber(id))


def no_queryable(id: int) -> Declare:
    return Declare(UndeclareQueryable(id, UndeclaredKey(WireExpr(0, "", False))))


def no_token(id: int, key: str | None = None) -> Declare:
    expr = WireExpr(0, "", False) if key is None else WireExpr(0, key)
    return Declare(UndeclareToken(id, UndeclaredKey(expr)))


def final(interest_id: int) -> Declare:
    return Declare(DeclareFinal(), interest_id)


def interest(id: int, mode: str, options: str, key: str | WireExpr | None = None) -> Interest:
    return Interest(
        InterestMode[mode.upper()],
        id,
        "K" in options,
        "S" in options,
        "Q" in options,
        "T" in options,
        "A" in options,
        None if key is None else expr_of(key),
    )


def end_interest(id: int) -> Interest:
    return Interest(InterestMode.FINAL, id)


def put(key: str | WireExpr, payload: str = "x") -> Push:
    return Push(expr_of(key), Put(payload.encode()))


def request(
    id: int,
    key: str | WireExpr,
    target: QueryTarget | None = None,
    timeout_ms: int | None = None,
    qos: QoS | None = None,
) -> Request:
    return Request(id, expr_of(key), Query(), qos=qos, target=target, timeout_ms=timeout_ms)


def reply(id: int, key: str | WireExpr, payload: str = "r") -> Response:
    return Response(id, expr_of(key), Reply(Put(payload.encode())))


def response_final(id: int) -> ResponseFinal:
    return ResponseFinal(id)


def expr_of(key: str | WireExpr) -> WireExpr:
    return key if isinstance(key, WireExpr) else WireExpr(0, key)
