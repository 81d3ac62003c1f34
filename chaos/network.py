"""`Network`: routers in a ring, line or star, and faults of them."""

from __future__ import annotations

import random
import signal
import socket
import time
from dataclasses import dataclass, field

from chaos.processes import Program
from chaos.proxy import Proxy

OURS = "zenlake"
LEASE_MS = 3_000
"""Short, so that pauses and stalls of a few seconds end sessions."""

Edge = tuple[int, int]


def edges_of(shape: str, size: int) -> list[Edge]:
    """Pairs of routers; the first one connects to the second."""
    if shape == "star":
        return [(0, at) for at in range(1, size)]
    line = [(at, at + 1) for at in range(size - 1)]
    return [*line, (size - 1, 0)] if shape == "ring" and size > 2 else line


def new_zid(at: int, rng: random.Random) -> str:
    return f"{0xA0 + at:x}{rng.randrange(1 << 32):08x}"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@dataclass
class Router:
    """A router that may be dead; `python` and `module` select its release."""

    at: int
    port: int
    module: str
    python: str
    neighbours: list[str]
    zid: str = ""
    program: Program | None = None
    restarts: int = 0
    tracebacks: list[str] = field(default_factory=list)
    peak_mib: float = 0.0
    first_mib: float = 0.0

    def start(self) -> None:
        settings: dict[str, object] = {
            "mode": "router",
            "id": self.zid,
            "listen/endpoints": [f"tcp/127.0.0.1:{self.port}"],
            "connect/endpoints": self.neighbours,
            "connect/retry": {
                "period_init_ms": 200,
                "period_max_ms": 1000,
                "period_increase_factor": 2,
            },
            "adminspace/enabled": True,
            "transport/link/tx/lease": LEASE_MS,
        }
        self.program = Program("router", settings, self.module, python=self.python)

    @property
    def name(self) -> str:
        return f"router {self.at}" + ("" if self.module == OURS else " (official)")

    def look(self) -> None:
        """Check its memory and its error output."""
        if self.program is not None and self.program.is_alive:
            self.peak_mib = max(self.peak_mib, self.program.resident_mib())
            traceback = self.program.traceback()
            if traceback and traceback not in self.tracebacks:
                self.tracebacks.append(traceback)


@dataclass
class Tally:
    """The number of faults so far, by kind."""

    kills: int = 0
    restarts_with_new_id: int = 0
    pauses: int = 0
    cuts: int = 0
    stalls: int = 0
    visitors: int = 0
    visitors_killed: int = 0


@dataclass
class Network:
    shape: str
    kinds: list[tuple[str, str]]
    """The module and interpreter of each router."""
    rng: random.Random
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        size = len(self.kinds)
        ports = [free_port() for _ in range(size)]
        self.edges = edges_of(self.shape, size)
        self.proxies = {edge: Proxy(ports[edge[1]]) for edge in self.edges}
        self.routers: list[Router] = []
        for at, (module, python) in enumerate(self.kinds):
            neighbours = [
                f"tcp/127.0.0.1:{self.proxies[edge].port}" for edge in self.edges if edge[0] == at
            ]
            router = Router(at, ports[at], module, python, neighbours, new_zid(at, self.rng))
            self.routers.append(router)
            router.start()

    def kill(self, router: Router, rng: random.Random) -> None:
        """SIGKILL; it starts again after a while, sometimes with another id."""
        assert router.program is not None
        router.look()
        router.program.kill()
        self.tally.kills += 1
        time.sleep(rng.uniform(0.05, 2.0))
        if rng.random() < 0.5:
            router.zid = new_zid(router.at, rng)
            self.tally.restarts_with_new_id += 1
        router.start()
        router.restarts += 1

    def pause(self, router: Router, rng: random.Random) -> None:
        """SIGSTOP; after a long one its neighbours have closed its sessions."""
        assert router.program is not None
        router.program.signal(signal.SIGSTOP)
        self.tally.pauses += 1
        time.sleep(rng.choice((0.1, 0.5, 1.0, LEASE_MS / 1000 * 1.5)))
        router.program.signal(signal.SIGCONT)

    def cut(self, proxy: Proxy, rng: random.Random) -> None:
        self.tally.cuts += 1
        proxy.cut()
        time.sleep(rng.choice((0.0, 0.2, 1.0, 2.0)))
        proxy.heal()

    def stall(self, proxy: Proxy, rng: random.Random) -> None:
        """Forward no bytes: a short stall delays messages, a long one ends the lease."""
        self.tally.stalls += 1
        proxy.stall()
        time.sleep(rng.choice((0.1, 0.5, 1.0, LEASE_MS / 1000 * 1.5)))
        proxy.heal()

    def close(self) -> None:
        for router in self.routers:
            if router.program is not None:
                router.program.kill()
        for proxy in self.proxies.values():
            proxy.close()
