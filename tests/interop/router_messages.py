"""What a router sends to its neighbours in one scenario, to compare ours with a real one.

`python -m tests.interop.router_messages` prints the messages that only one of them sends, as the
table in docs/router.md.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.interop.puppets import Kind, PuppetProcess, ours, settings, theirs
from tests.interop.tap import Recording, Tap
from tests.ports import free_port
from zenlake import trace
from zenlake.trace.events import MessageSeen
from zenlake.wire import Declare, Push, Request, Response

ROUTER = "b2"
NEIGHBOURS = {"a1": "router a1", "c3": "router c3", "d4": "client", "e5": "peer"}
EXPLAINED = (
    (
        "a1",
        r"DECLARE/(U_|D_KEYEXPR)",
        "a new child of a tree gets what was undeclared in the last minute (SN-113)",
    ),
    (
        "a1",
        r"DECLARE/D_QUERYABLE q/\* .*node",
        "a router that had forgotten a node gets again what that node declared (SN-110)",
    ),
    (
        "c3",
        r"OAM/LINKSTATE",
        "the version of a node is sent to a router that has an older one (SN-110)",
    ),
    (
        "d4",
        r"DECLARE/D_TOKEN t/x",
        "from 1.9 on, a client receives its own tokens; 1.5.1 does not do it",
    ),
    (
        "e5",
        r"DECLARE/(U_TOKEN|D_KEYEXPR) t/l",
        "a token that was not declared ends: the key says which",
    ),
    ("e5", r"OAM/LINKSTATE", "an empty list, where gossip is switched off"),
)
"""Receiver, pattern of a message, and why only one router sends it, or sends it more often."""

QUIET_SECONDS = 0.4
Sent = Counter[tuple[str, str]]
"""The messages by receiver and description."""


class Stage:
    """The router between two real ones, with a client and a peer; another client on each end."""

    def __init__(self, kind: Kind, capture: Path) -> None:
        self._stack = ExitStack()
        self._recording = self._stack.enter_context(Recording(capture))
        real = theirs()[0]
        self.port, far = free_port(), free_port()
        self.router = self._open(kind, "router", ROUTER, listen=self.port)
        self.tap = self._tap()
        near = free_port()
        self._open(real, "router", "a1", listen=near, connect=self.tap.port)
        self._open(real, "router", "c3", listen=far, connect=self._tap().port)
        self.x = self._open(real, "client", "d4", connect=self._tap().port)
        self.p = self._open(real, "peer", "e5", connect=self._tap().port)
        self.left = self._open(real, "client", "f6", connect=near)
        self.right = self._open(real, "client", "f7", connect=far)
        self.rest()

    def rest(self, quiet_s: float = QUIET_SECONDS) -> None:
        """Wait until nothing was recorded for a while."""
        self._recording.until_quiet(quiet_s)

    def close(self) -> None:
        self._stack.close()

    def _tap(self) -> Tap:
        return self._stack.enter_context(Tap(self._recording, self.port))

    def _open(
        self, kind: Kind, mode: str, zid: str, listen: int | None = None, connect: int | None = None
    ) -> PuppetProcess:
        held = PuppetProcess(kind)
        self._stack.callback(held.kill)
        config: dict[str, Any] = {"id": zid}
        if listen is not None:
            config["listen/endpoints"] = [f"tcp/127.0.0.1:{listen}"]
        if connect is not None:
            config["connect/endpoints"] = [f"tcp/127.0.0.1:{connect}"]
            retry = {"period_init_ms": 100, "period_max_ms": 200, "period_increase_factor": 1.0}
            config["connect/retry"] = retry
            held.open_linked(**settings(mode, **config))
        else:
            held.open(**settings(mode, **config))
        return held


def play(stage: Stage) -> None:
    """Run the acts in order, each after the previous one is over on all nodes."""
    x, p, left, right = stage.x, stage.p, stage.left, stage.right

    def act(node: PuppetProcess, do: str, **arguments: Any) -> None:
        node.ask(do, **arguments)
        stage.rest()

    act(left, "subscribe", name="s", key="demo/**")
    act(x, "put", key="demo/a", payload="01")
    act(x, "publisher", name="p", key="demo/b")
    act(x, "publish", name="p", payload="02")
    act(p, "subscribe", name="s", key="demo/b")
    act(x, "subscribe", name="s", key="demo/c")
    act(right, "put", key="demo/b", payload="03", attachment="01", encoding="text/plain")
    act(right, "delete", key="demo/c")
    act(p, "put", key="demo/c", payload="04", priority="REAL_TIME", congestion_control="BLOCK")
    act(right, "queryable", name="q", key="q/*", replies=[{"key": "q/r", "value": "05"}])
    answer = [{"key": "q/p", "value": "06"}, {"error": "07"}]
    act(p, "queryable", name="q", key="q/**", replies=answer, complete=True)
    for node in (x, p, left):
        for target in ("BEST_MATCHING", "ALL", "ALL_COMPLETE"):
            act(node, "get", selector="q/*?a=1", target=target, payload="08")
    act(x, "get", selector="nobody/*")
    act(x, "querier", name="r", key="q/*")
    act(x, "ask", name="r")
    act(left, "token", name="t", key="t/l")
    act(x, "watch", name="w", key="t/**", history=True)
    act(p, "watch", name="w", key="t/**")
    act(x, "token", name="t", key="t/x")
    act(p, "token", name="t", key="t/p")
    act(x, "alive", key="t/*")
    act(left, "undeclare", name="t")
    act(right, "publisher", name="m", key="m/a")
    act(p, "publisher", name="m", key="m/a")
    act(x, "subscribe", name="m", key="m/*")
    act(left, "subscribe", name="m", key="m/a")
    act(x, "undeclare", name="m")
    act(left, "undeclare", name="m")
    act(p, "undeclare", name="q")
    act(p, "undeclare", name="t")
    act(x, "undeclare", name="p")
    act(x, "undeclare", name="w")
    act(x, "close")
    stage.tap.cut()
    stage.rest()
    stage.tap.heal()
    stage.rest(1.0)
    act(right, "put", key="demo/z", payload="09")


def messages_of(kind: Kind, capture: Path) -> Sent:
    stage = Stage(kind, capture)
    try:
        play(stage)
    finally:
        stage.close()
    found: Sent = Counter()
    for event in trace.open(str(capture)):
        if not isinstance(event, MessageSeen) or event.sender_zid != ROUTER:
            continue
        if event.carrier is not None and event.kind not in ("FRAME", "FRAGMENT"):
            found[event.receiver_zid or "", describe(event)] += 1
    return found


def describe(event: MessageSeen) -> str:
    """The description of a message without sequence numbers and times."""
    message = event.message
    words = [event.kind, event.key or ""]
    key = getattr(message, "key", None)
    words += [f"{event.priority}/{'reliable' if event.reliable else 'best effort'}"]
    if getattr(message, "node_id", None):
        words.append("node")
    qos = getattr(message, "qos", None)
    words.append("" if qos is None else str(qos))
    if isinstance(message, Declare):
        words.append("of an interest" if message.interest_id is not None else "")
        key = getattr(message.body, "key", None) or key
        info = getattr(message.body, "info", None)
        words.append("" if info is None else str(info))
        words.append("id 0" if event.entity_id == 0 else "")
        key = getattr(key, "key", key)
    if isinstance(message, Push):
        words.append("timestamp" if getattr(message.body, "timestamp", None) else "")
    if isinstance(message, Request):
        words += [str(message.target), "timeout" if message.timeout_ms is not None else ""]
    if isinstance(message, Response):
        words.append("responder" if message.responder is not None else "")
    scope = getattr(key, "scope", 0)
    words.append(f"alias{'+' if getattr(key, 'suffix', '') else ''}" if scope else "")
    return " ".join(filter(None, words))


def reason(receiver: str, text: str) -> str:
    """Why only one router sends a message, or sends it more often; empty if not known."""
    for neighbour, pattern, why in EXPLAINED:
        if neighbour == receiver and re.match(pattern, text):
            return why
    return ""


def difference(mine: Sent, real: Sent) -> list[tuple[str, str, int, int]]:
    """Receiver, message, how often ours sends it, how often the real one."""
    both = sorted(set(mine) | set(real))
    return [(*one, mine[one], real[one]) for one in both if mine[one] != real[one]]


def main() -> None:
    with TemporaryDirectory() as folder:
        real = messages_of(theirs()[0], Path(folder, "real.pcapng"))
        mine = messages_of(ours(), Path(folder, "ours.pcapng"))
    print(f"{real.total()} messages of the real router, {mine.total()} of ours", file=sys.stderr)
    print("| to | message | ours | real | why |", "|---|---|---|---|---|", sep="\n")
    for receiver, text, count, other in difference(mine, real):
        why = reason(receiver, text)
        print(f"| {NEIGHBOURS[receiver]} | `{text}` | {count} | {other} | {why} |")


if __name__ == "__main__":
    main()
