"""Puppets of a test: processes, topologies and the available releases of eclipse-zenoh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.child_process import child_environment
from tests.ports import free_endpoint, free_port
from tests.waiting import until

OURS = "ours"
_SCRIPT = Path(__file__).with_name("puppet.py")
_LINKED_SECONDS_MAX = 20


class Kind(NamedTuple):
    """What a puppet runs on: an interpreter, a module, and a name for the output."""

    name: str
    python: str
    module: str

    @property
    def version(self) -> tuple[int, ...]:
        return (99,) if self.name == OURS else tuple(map(int, self.name.split(".")))


def ours() -> Kind:
    return Kind(OURS, sys.executable, "zenlake")


def theirs() -> list[Kind]:
    """The release installed beside the tests; those in ZENLAKE_ZENOH_VENVS (`1.0.4=DIR:...`)."""
    from importlib.metadata import version

    kinds = [Kind(version("eclipse-zenoh"), sys.executable, "zenoh")]
    for item in filter(None, os.environ.get("ZENLAKE_ZENOH_VENVS", "").split(":")):
        name, _, folder = item.partition("=")
        if name != kinds[0].name:
            kinds.append(Kind(name, str(Path(folder, "bin", "python")), "zenoh"))
    return kinds


class Raised(Exception):
    """An exception of the puppet's module."""


class PuppetProcess:
    """The process of a puppet; `ask` sends it a command and returns the answer."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.zid = ""
        environment = child_environment() if kind.module == "zenlake" else None
        self._process = subprocess.Popen(
            [kind.python, str(_SCRIPT), kind.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    @property
    def is_ours(self) -> bool:
        return self.kind.name == OURS

    def ask(self, do: str, **arguments: Any) -> Any:
        self.post(do, **arguments)
        return self.answer()

    def post(self, do: str, **arguments: Any) -> None:
        """Send a command without waiting for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        while line and not line.startswith("{"):  # some releases print to standard output
            line = self._process.stdout.readline()
        if not line:
            raise Raised(f"{self.kind.name} ended with {self._process.wait()}")
        answer = json.loads(line)
        if "raised" in answer:
            raise Raised(answer["raised"])
        return answer

    def open(self, **config: Any) -> None:
        self.zid = self.ask("open", config=config)["zid"]

    def open_linked(self, **config: Any) -> None:
        """Opens a node, and waits until it has a neighbour to which it connects."""
        self.open(**config)
        until(lambda: any(self.ask("info").values()), _LINKED_SECONDS_MAX)

    def items(self, name: str, count: int, **arguments: Any) -> list[Any]:
        found: list[Any] = self.ask("received", name=name, count=count, **arguments)["items"]
        return found

    def kill(self) -> None:
        self._process.kill()
        self._end()

    def stop(self, seconds: float = 10) -> int:
        """Let the process end by itself; returns its exit code."""
        try:
            assert self._process.stdin is not None
            if self._process.poll() is None:
                self._process.stdin.close()
            return self._process.wait(seconds)
        finally:
            self.kill()

    def _end(self) -> None:
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def settings(mode: str, **more: Any) -> dict[str, Any]:
    """Settings of a node without scouting."""
    return {
        "mode": mode,
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": False,
        "scouting/delay": 0,
        "listen/endpoints": [],
        **more,
    }


class Topology(NamedTuple):
    """Two nodes, connected through a real router or directly."""

    name: str
    first: str
    second: str
    has_router: bool


TOPOLOGIES = [
    Topology("clients of a router", "client", "client", True),
    Topology("client of a peer", "client", "peer", False),
    Topology("peer of a client", "peer", "client", False),
    Topology("peers", "peer", "peer", False),
    Topology("peer and client of a router", "peer", "client", True),
    Topology("client and peer of a router", "client", "peer", True),
]


@contextmanager
def pair(
    one: Kind,
    other: Kind,
    topology: Topology,
    router: Kind,
    options: dict[str, Any] | None = None,
    protocol: str = "tcp",
    end: str = "",
) -> Iterator[tuple[PuppetProcess, PuppetProcess]]:
    """Two open puppets; the node that is listened to is opened first."""
    options = options or {}
    endpoint = f"{protocol}/127.0.0.1:{free_port()}{end}"
    kinds = (one, other, router) if topology.has_router else (one, other)
    with borrowed(*kinds) as held:
        listening = {**options, "listen/endpoints": [endpoint]}
        connecting = {**options, "connect/endpoints": [endpoint]}
        if topology.has_router:
            held[2].open(**settings("router", **listening))
            held[0].open_linked(**settings(topology.first, **connecting))
            held[1].open_linked(**settings(topology.second, **connecting))
        elif topology.first == "client":
            held[1].open(**settings("peer", **listening))
            held[0].open_linked(**settings("client", **connecting))
        else:
            held[0].open(**settings("peer", **listening))
            held[1].open_linked(**settings(topology.second, **connecting))
        yield held[0], held[1]


_idle: dict[Kind, list[PuppetProcess]] = {}
"""Processes without a session. Half of the time of a short test goes into starting them."""


def borrow(kind: Kind) -> PuppetProcess:
    """Take a process that is not in use; it may have had other sessions before."""
    idle = _idle.get(kind)
    return idle.pop() if idle else PuppetProcess(kind)


def give_back(held: PuppetProcess) -> None:
    held.ask("close")
    _idle.setdefault(held.kind, []).append(held)


@contextmanager
def borrowed(*kinds: Kind) -> Iterator[list[PuppetProcess]]:
    """Processes that are reused later, unless the test fails."""
    held = [borrow(kind) for kind in kinds]
    try:
        yield held
        for one in held:
            give_back(one)
    except BaseException:
        for one in held:
            one.kill()
        raise


Edges = Sequence[tuple[int, int]]
"""Links between routers: the first listens, the second connects to it."""


@contextmanager
def routers(
    kinds: Sequence[Kind], edges: Edges, options: Sequence[dict[str, Any]] = ()
) -> Iterator[tuple[list[PuppetProcess], list[str]]]:
    """A network of routers, and where each of them listens; not all of it is known to all yet."""
    endpoints = [free_endpoint() for _ in kinds]
    with ExitStack() as stack:
        held = [PuppetProcess(kind) for kind in kinds]  # first all, as processes are slow to start
        for router in held:
            stack.callback(router.kill)
        for number, router in enumerate(held):
            others = [endpoints[one] for one, other in edges if other == number]
            listening = {"listen/endpoints": [endpoints[number]], "connect/endpoints": others}
            config = settings("router", **listening, **(options[number] if options else {}))
            if others:
                router.open_linked(**config)
            else:
                router.open(**config)
        yield held, endpoints


@contextmanager
def attached(
    kind: Kind, mode: str, endpoint: str, held: PuppetProcess | None = None
) -> Iterator[PuppetProcess]:
    """A node on one of the routers, in a new process or a reused one."""
    node = held or PuppetProcess(kind)
    try:
        node.open_linked(**settings(mode, **{"connect/endpoints": [endpoint]}))
        yield node
        if held is not None:
            held.ask("close")
    finally:
        if held is None:
            node.kill()
