"""Failures brought about with real nodes (eclipse-zenoh), and what the applications saw.

Each scenario gets the port of a tap in front of a router. It uses the API as an application does
and returns the truth: the id of each node, and the result of every call. The capture does not
contain the truth; the stories must find it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.interop.tap import RecordedConnection, Tap
from tests.node_process import NodeProcess
from tests.sessions import open_client

Truth = dict[str, Any]
_SECOND_PORT = 27_449


class SlowTap(Tap):
    """A tap that can stop reading what the router sends to the newest of its clients."""

    def __init__(self, path: Path, target: int, router: NodeProcess) -> None:
        self.router = router
        self.may_read = threading.Event()
        self.may_read.set()
        self.slow: socket.socket | None = None
        super().__init__(path, target)

    def _accept(self) -> None:
        """Accept a connection, unless the router is gone."""
        with suppress(ConnectionRefusedError):
            super()._accept()

    def slow_down(self) -> None:
        self.slow = self._sockets[-1]
        self.slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.may_read.clear()

    def _pass_on(
        self, source: socket.socket, target: socket.socket, talk: RecordedConnection, direction: int
    ) -> None:
        super()._pass_on(_Waiting(self, source), target, talk, direction)  # type: ignore[arg-type]  # has recv


class _Waiting:
    """A socket that is read only while reading is allowed."""

    def __init__(self, tap: SlowTap, source: socket.socket) -> None:
        self._tap = tap
        self._source = source

    def recv(self, size: int) -> bytes:
        if self._tap.slow is self._source:
            self._tap.may_read.wait()
        return self._source.recv(size)


def router_at(port: int, *others: int) -> NodeProcess:
    """A router that listens on a port and connects to others."""
    return NodeProcess(
        "router",
        listen__endpoints=[f"tcp/127.0.0.1:{port}#so_sndbuf=32768"],
        connect__endpoints=[f"tcp/127.0.0.1:{other}" for other in others],
        transport__shared_memory__enabled=False,
        # Small buffers, so that little traffic fills them.
        transport__link__tx__queue__size__data=1,
    )


def client(port: int) -> Any:
    import zenoh

    endpoint = f"tcp/127.0.0.1:{port}"
    return open_client(endpoint, zenoh, transport__shared_memory__enabled=False)


def ask(session: Any, selector: str, timeout: float, **how: Any) -> Truth:
    """The results of a get: replies, errors, and its duration."""
    start = time.monotonic()
    replies, errors = [], []
    for reply in session.get(selector, timeout=timeout, **how):
        if reply.ok is not None:
            replies.append([str(reply.ok.key_expr), reply.ok.payload.to_string()])
        else:
            errors.append(reply.err.payload.to_string())
    took_ms = (time.monotonic() - start) * 1000
    return {"selector": selector, "replies": replies, "errors": errors, "took_ms": took_ms}


def zid(session: Any) -> str:
    return str(session.info.zid())


def answering(session: Any, key: str, *values: str, **how: Any) -> Any:
    """A queryable that answers each query with these values, and drops it."""

    def answer(query: Any) -> None:
        with query:
            for value in values:
                query.reply(key, value)

    return session.declare_queryable(key, answer, **how)


def held_query(port: int, tap: SlowTap) -> Truth:
    """Row 4: the reply is sent, but the Query object is kept, so no final follows."""
    asker, server = client(port), client(port)
    held: list[Any] = []

    def answer(query: Any) -> None:
        query.reply("robot/arm/pose", "1 2 3")
        held.append(query)

    queryable = server.declare_queryable("robot/arm/pose", answer)
    tap.until_quiet()
    get = ask(asker, "robot/arm/*", 1.5)
    tap.until_quiet()
    truth = {"asker": zid(asker), "server": zid(server), "get": get}
    held.clear()
    queryable.undeclare()
    asker.close()
    server.close()
    return truth


def consolidated(port: int, tap: SlowTap) -> Truth:
    """Row 6: two replies for one key, the querier sees one."""
    import zenoh

    asker, server = client(port), client(port)
    queryable = answering(server, "robot/battery", "80", "81")
    tap.until_quiet()
    auto = ask(asker, "robot/battery", 2.0)
    none = ask(asker, "robot/battery", 2.0, consolidation=zenoh.ConsolidationMode.NONE)
    truth = {"asker": zid(asker), "server": zid(server), "auto": auto, "none": none}
    queryable.undeclare()
    asker.close()
    server.close()
    return truth


def nothing_came(port: int, tap: SlowTap) -> Truth:
    """Row 7: five gets that return at once with nothing, each for another reason."""
    import zenoh

    asker, server = client(port), client(port)
    declared = [answering(server, "robot/1/status", "ok"), answering(server, "map/tile", "x")]
    declared.append(answering(server, "robot/quiet"))
    tap.until_quiet()
    truth: Truth = {"asker": zid(asker), "server": zid(server)}
    truth["nobody"] = ask(asker, "camera/front", 2.0)
    truth["mismatch"] = ask(asker, "robot/1/state", 2.0)
    truth["incomplete"] = ask(asker, "map/tile", 2.0, target=zenoh.QueryTarget.ALL_COMPLETE)
    truth["quiet"] = ask(asker, "robot/quiet", 2.0)
    truth["early"] = ask(asker, "lidar/scan", 2.0)
    tap.until_quiet(0.25)
    declared.append(answering(server, "lidar/scan", "late"))
    tap.until_quiet()
    truth["again"] = ask(asker, "lidar/scan", 2.0)
    for queryable in declared:
        queryable.undeclare()
    asker.close()
    server.close()
    return truth


def one_silent(port: int, tap: SlowTap) -> Truth:
    """Row 8: three queryables get the query, one never sends its final."""
    import zenoh

    asker, quick, slow, stuck = (client(port) for _ in range(4))
    held: list[Any] = []
    declared = [
        answering(quick, "fleet/a/state", "fine"),
        answering(slow, "fleet/b/state", "fine too"),
        stuck.declare_queryable("fleet/c/state", held.append),
    ]
    tap.until_quiet()
    get = ask(asker, "fleet/*/state", 1.2, target=zenoh.QueryTarget.ALL)
    tap.until_quiet()
    names = {"asker": zid(asker), "answered": [zid(quick), zid(slow)], "stuck": zid(stuck)}
    held.clear()
    for queryable in declared:
        queryable.undeclare()
    for session in (asker, quick, slow, stuck):
        session.close()
    return {**names, "get": get}


def router_dies(port: int, tap: SlowTap) -> Truth:
    """Row 8: the router is killed while a query is on its way."""
    asker, server = client(port), client(port)
    held: list[Any] = []
    queryable = server.declare_queryable("arm/plan", held.append)
    tap.until_quiet()
    killer = threading.Timer(0.4, tap.router.kill)
    killer.start()
    get = ask(asker, "arm/plan", 2.0)
    tap.until_quiet()
    truth = {"asker": zid(asker), "server": zid(server), "get": get}
    held.clear()
    del queryable
    asker.close()
    server.close()
    return truth


def router_frozen(port: int, tap: SlowTap) -> Truth:
    """Row 8: the second of two routers falls silent, without closing anything."""
    second = router_at(_SECOND_PORT, port)
    asker, server = client(port), client(_SECOND_PORT)
    queryable = answering(server, "gripper/state", "open")
    tap.until_quiet(0.5)
    truth: Truth = {"asker": zid(asker), "second": second.zid, "server": zid(server)}
    truth["before"] = ask(asker, "gripper/state", 1.0)
    second.freeze()
    truth["after"] = ask(asker, "gripper/state", 1.0)
    tap.until_quiet()
    asker.close()
    second.kill()
    del queryable
    server.close()
    return truth


def at_chunks(port: int, tap: SlowTap) -> Truth:
    """Row 9: `**` leaves out chunks that begin with `@`; and other keys that do not match."""
    listener, talker = client(port), client(port)
    got: dict[str, list[str]] = {}
    subscribers = []
    for key in ("robot/**", "cell/*/temp", "door/state"):
        got[key] = []
        subscribers.append(
            listener.declare_subscriber(
                key, lambda sample, key=key: got[key].append(str(sample.key_expr))
            )
        )
    admin = answering(listener, "plant/@admin/config", "secret")
    tap.until_quiet()
    talker.put("robot/7/@meta/serial", "A1")
    talker.put("robot/7/pose", "0 0")
    talker.put("cell/3/temp/raw", "21")
    for number in range(3):
        talker.put("door/closed", str(number))
    get = ask(talker, "plant/**", 1.0)
    pub = talker.declare_publisher("engine/rpm")
    tap.until_quiet(0.2)
    for number in range(4):
        pub.put(str(number))
    tap.until_quiet(0.2)
    for number in range(3):
        talker.put("gripper/force", str(number))
    tap.until_quiet(0.2)
    got["gripper/force"] = []
    subscribers.append(
        listener.declare_subscriber(
            "gripper/force", lambda sample: got["gripper/force"].append(str(sample.key_expr))
        )
    )
    tap.until_quiet()
    talker.put("gripper/force", "3")
    tap.until_quiet()
    truth = {"listener": zid(listener), "talker": zid(talker), "got": got, "get": get}
    pub.undeclare()
    for subscriber in subscribers:
        subscriber.undeclare()
    admin.undeclare()
    talker.close()
    listener.close()
    return truth


def tokens(port: int, tap: SlowTap) -> Truth:
    """Row 10, the healthy part: a token comes and goes, two nodes have the same, one is lost."""
    watcher, first, second = client(port), client(port), client(port)
    seen: list[list[str]] = []
    watching = watcher.liveliness().declare_subscriber(
        "alive/**", lambda sample: seen.append([str(sample.kind), str(sample.key_expr)])
    )
    tap.until_quiet(0.2)
    one = first.liveliness().declare_token("alive/arm")
    tap.until_quiet(0.2)
    twin = second.liveliness().declare_token("alive/arm")
    hidden = second.liveliness().declare_token("alive/@debug/x")
    tap.until_quiet(0.2)
    one.undeclare()
    tap.until_quiet(0.2)
    twin.undeclare()
    tap.until_quiet()
    truth = {"watcher": zid(watcher), "first": zid(first), "second": zid(second), "seen": seen}
    hidden.undeclare()
    watching.undeclare()
    for session in (watcher, first, second):
        session.close()
    return truth


def slow_subscriber(port: int, tap: SlowTap) -> Truth:
    """Row 3: congestion control drop, and a subscriber that does not read for a while."""
    talker = client(port)
    listener = client(port)
    got: list[int] = []
    subscriber = listener.declare_subscriber(
        "camera/image", lambda sample: got.append(int(bytes(sample.payload)[:4]))
    )
    tap.until_quiet()
    tap.slow_down()
    for number in range(40):
        talker.put("camera/image", b"%04d" % number + bytes(45_000))
        time.sleep(0.02)  # a camera with 50 images a second
    tap.may_read.set()
    tap.until_quiet(2.0)
    talker.put("camera/image", b"0040" + bytes(45_000))
    tap.until_quiet(0.5)
    truth = {"talker": zid(talker), "listener": zid(listener), "sent": 41, "got": got}
    subscriber.undeclare()
    talker.close()
    listener.close()
    return truth


SCENARIOS: dict[str, Callable[[int, SlowTap], Truth]] = {
    one.__name__: one
    for one in (
        held_query,
        consolidated,
        nothing_came,
        one_silent,
        router_dies,
        router_frozen,
        at_chunks,
        tokens,
        slow_subscriber,
    )
}


def record(name: str, path: Path, port: int) -> Truth:
    """Runs one scenario, with its traffic in a file."""
    with router_at(port) as router, SlowTap(path, port, router) as tap:
        truth = SCENARIOS[name](tap.port, tap)
        tap.until_quiet(0.2)
    return {"row": (SCENARIOS[name].__doc__ or "").split(":")[0], "router": router.zid, **truth}
