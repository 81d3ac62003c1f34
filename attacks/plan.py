"""`Attack`: its name, the lines of the reference that it covers, and its limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

MIB = 1 << 20
PING_P99_MS_MAX = 50.0
"""Two clients that ping each other through the attacked node must not wait longer."""
OPEN_MS_MAX = 1000.0
"""A well-behaved client that connects during or after an attack is in after this time."""

ALWAYS: dict[str, float] = {
    "p99_ms": PING_P99_MS_MAX,
    "lost": 0,
    "open_ms": OPEN_MS_MAX,
    "tracebacks": 0,
}
"""Limits of every attack."""


@dataclass
class Target:
    """Where the attacked node listens, and how large the attack may be."""

    port: int
    udp_port: int
    tls_port: int
    group: str
    """Multicast group on the loopback interface, for attacks that need one."""
    is_quick: bool
    seconds: float
    until: float = 0.0
    """Monotonic time at which the attack ends."""

    def scaled(self, quick: int, full: int) -> int:
        return quick if self.is_quick else full

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    def sleep(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the attack."""
        time.sleep(max(0.0, min(seconds, self.until - time.monotonic())))


@dataclass
class Tally:
    """What an attack sent, and what it saw: `facts` are compared with the attack's limits."""

    messages: int = 0
    sent_bytes: int = 0
    facts: dict[str, float] = field(default_factory=dict)

    def sent(self, data: bytes, messages: int = 1) -> None:
        self.messages += messages
        self.sent_bytes += len(data)

    def count(self, fact: str, more: float = 1) -> None:
        self.facts[fact] = self.facts.get(fact, 0) + more

    def highest(self, fact: str, value: float) -> None:
        self.facts[fact] = max(self.facts.get(fact, 0), value)


@dataclass(frozen=True)
class Attack:
    """`limits` holds the highest accepted value of each figure that is judged.

    Figures are the facts of the attack's tally and those that the run measures: `p99_ms`,
    `open_ms`, `failed_opens`, `grown_mib`, `cpu_share`, `threads_left`, `files_left`, `lost`,
    `log_lines`, `tracebacks`.
    """

    name: str
    lines: str
    what: str
    run: Callable[[Target, Tally], None]
    limits: dict[str, float] = field(default_factory=dict)
    seconds: float = 10.0
    opens: str = ""
    """Protocol (tcp or udp) over which clients connect during the attack, if they do."""
    needs: frozenset[str] = frozenset()
    """What the attacked node offers beside TCP and UDP.

    `scouting`: SCOUTs are answered; `group`: a multicast group; `users`: passwords; `tls`: TLS;
    `subscriber`: its application has a subscriber that it does not read.
    """


ATTACKS: list[Attack] = []


def attack(
    name: str,
    lines: str,
    limits: dict[str, float] | None = None,
    *,
    seconds: float = 10.0,
    opens: str = "",
    needs: tuple[str, ...] = (),
) -> Callable[[Callable[[Target, Tally], None]], Callable[[Target, Tally], None]]:
    """Register a function as an attack; the first line of its docstring describes it."""

    def register(run: Callable[[Target, Tally], None]) -> Callable[[Target, Tally], None]:
        what = (run.__doc__ or "").partition("\n")[0]
        ATTACKS.append(
            Attack(
                name, lines, what, run, ALWAYS | (limits or {}), seconds, opens, frozenset(needs)
            )
        )
        return run

    return register
