"""Kills, pauses and disconnects routers at random while clients use them, and checks invariants.

    python -m chaos.run [--seconds 600] [--seed N] [--routers 4] [--shape ring|line|star]
                        [--official 1,3] [--clients official]

Each router has a client and, in this process, one that counts finals on a bare socket. Visitors
come, declare things and are killed. During the faults no publication and no reply may come twice
(in a ring only when it is whole again: while trees change, those of two routers differ, as they do
for official ones), and every request has one final as long as the session is open. Afterwards,
when the network is whole, every client must receive from every other within a minute, and when the
clients are gone nothing of them may be left in the tables of any router. The schedule of faults
comes from the seed; what the network does with it depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field

from chaos.asker import Asker
from chaos.network import LEASE_MS, OURS, Network, Tally
from chaos.processes import Program
from chaos.verdict import Healing, router_failures, table_failures, wait_until

OFFICIAL = "zenoh"
ALWAYS_ZERO = (
    *("duplicates_when_whole", "gets_late"),
    *("missing_finals", "second_finals", "unknown_finals"),
)
WHOLE_S = 3.0
"""How long the network is used after all faults are repaired."""
QUIET_S = (0.2, 2.0)
"""The pause between two faults."""


@dataclass
class Result:
    tally: Tally
    counts: Counter[str] = field(default_factory=Counter)
    slowest_get_s: float = 0.0
    memory_mib: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        return {**vars(self), "tally": asdict(self.tally), "counts": dict(self.counts)}

    def text(self) -> str:
        lines = [", ".join(f"{name} {count}" for name, count in asdict(self.tally).items())]
        lines.append(", ".join(f"{name} {self.counts[name]:,}" for name in sorted(self.counts)))
        lines.append(f"slowest get {self.slowest_get_s:.1f} s")
        lines += [f"{name}: {what}" for name, what in self.memory_mib.items()]
        return "\n".join([*lines, *(f"FAILED {one}" for one in self.failures)])


class Chaos:
    """One run; `close` ends all processes."""

    def __init__(self, network: Network, seconds: float, client_module: str) -> None:
        self._network = network
        self._seconds = seconds
        self._module = client_module
        self._rng = network.rng
        self._began = time.monotonic()
        self._programs: list[Program] = []
        self.clients: dict[str, Program] = {}

    def _client(self, program: str, at: int, name: str) -> Program:
        settings: dict[str, object] = {
            "mode": "client",
            "connect/endpoints": [f"tcp/127.0.0.1:{self._network.routers[at].port}"],
            "connect/retry": {
                "period_init_ms": 200,
                "period_max_ms": 1000,
                "period_increase_factor": 2,
            },
            "transport/link/tx/lease": LEASE_MS,
        }
        module = OURS if name == "observer" else self._module
        started = Program(program, settings, module, name)
        self._programs.append(started)
        return started

    def run(self) -> Result:
        network = self._network
        for router in network.routers:
            self.clients[f"c{router.at}"] = self._client("client", router.at, f"c{router.at}")
        result = Result(network.tally)
        result.failures += [f"before any fault: {one}" for one in Healing(self.clients).failures()]
        for router in network.routers:
            router.look()
            router.first_mib = router.peak_mib
        askers = [Asker(router.port) for router in network.routers]
        self._say("faults begin")
        self._do_faults()
        self._say("the network may heal")
        result.failures += Healing(self.clients).failures()
        result.counts["duplicates_when_whole"] -= self._duplicates()
        time.sleep(WHOLE_S)
        result.counts["duplicates_when_whole"] += self._duplicates()
        for asker in askers:
            asker.stop()
            result.counts.update(asker.counts)
        self._say("the clients go")
        self._end_clients(result)
        observer = self._client("client", 0, "observer")
        result.failures += table_failures(observer)
        result.failures += router_failures(network)
        for router in network.routers:
            result.memory_mib[router.name] = (
                f"{router.first_mib:.0f} MiB at the start, {router.peak_mib:.0f} at most,"
                f" {router.restarts} restarts"
            )
        # In a cycle, a message may follow the old tree to one router and the new tree from there.
        strict = () if network.shape == "ring" else ("duplicates", "duplicate_replies")
        for name in (*strict, *ALWAYS_ZERO):
            if result.counts[name]:
                result.failures.append(f"{name}: {result.counts[name]}")
        return result

    def _say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s: {text}", flush=True)

    def _do_faults(self) -> None:
        """One after the other by each of two threads, so that two may coincide."""
        rng = self._new_rng()
        deadline = time.monotonic() + self._seconds
        others = [
            threading.Thread(target=act, args=(deadline, self._new_rng()), daemon=True)
            for act in (self._do_visits, self._break_links)
        ]
        for one in others:
            one.start()
        while time.monotonic() < deadline:
            time.sleep(rng.uniform(*QUIET_S))
            router = rng.choice(self._network.routers)
            router.look()
            if self._network.tally.kills == 0 or rng.random() < 0.5:
                self._network.kill(router, rng)
            else:
                self._network.pause(router, rng)
        for one in others:
            one.join()

    def _new_rng(self) -> random.Random:
        """One generator for each thread, so that the schedules do not depend on each other."""
        return random.Random(self._rng.random())

    def _break_links(self, deadline: float, rng: random.Random) -> None:
        while time.monotonic() < deadline:
            time.sleep(rng.uniform(*QUIET_S))
            proxy = self._network.proxies[rng.choice(self._network.edges)]
            if rng.random() < 0.5:
                self._network.cut(proxy, rng)
            else:
                self._network.stall(proxy, rng)

    def _do_visits(self, deadline: float, rng: random.Random) -> None:
        """Clients connect and are killed; one whose router does not answer is abandoned."""
        tally = self._network.tally
        while time.monotonic() < deadline:
            tally.visitors += 1
            at = rng.randrange(len(self._network.routers))
            try:
                visitor = self._client("visitor", at, f"v{tally.visitors}")
            except RuntimeError:
                continue  # its router was dead
            time.sleep(rng.uniform(0.2, 1.0))
            if rng.random() < 0.7:
                tally.visitors_killed += 1
            else:
                visitor.ask("close")
            visitor.kill()

    def _duplicates(self) -> int:
        reports = [client.ask("report") for client in self.clients.values()]
        return sum(one["duplicates"] + one["duplicate_replies"] for one in reports)

    def _end_clients(self, result: Result) -> None:
        for name, client in self.clients.items():
            client.ask("stop")

            def is_quiet(client: Program = client) -> bool:
                counts = client.ask("report")
                return bool(counts["gets"] == counts["gets_ended"])

            if wait_until(is_quiet, 20.0) == float("inf"):
                result.failures.append(f"{name}: a get does not end")
        time.sleep(0.5)
        for client in self.clients.values():
            report = client.ask("report")
            result.slowest_get_s = max(result.slowest_get_s, report.pop("slowest_get_s"))
            result.counts.update(report)
        for at, client in enumerate(self.clients.values()):
            if at % 2:
                client.ask("close")
            client.kill()

    def close(self) -> None:
        for program in self._programs:
            program.kill()
        self._network.close()


def run_chaos(
    seconds: float,
    seed: int,
    shape: str = "ring",
    size: int = 4,
    official: dict[int, str] | None = None,
    client_module: str = OURS,
) -> Result:
    """`official`: which routers are eclipse-zenoh's, and their interpreters."""
    official = official or {}
    kinds = [(OFFICIAL, official[at]) if at in official else (OURS, "") for at in range(size)]
    network = Network(shape, kinds, random.Random(seed))
    chaos = Chaos(network, seconds, client_module)
    try:
        return chaos.run()
    finally:
        chaos.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--routers", type=int, default=4)
    parser.add_argument("--shape", choices=("ring", "line", "star"), default="ring")
    parser.add_argument("--official", default="", help="which routers, from 0: 1,3")
    parser.add_argument("--python", default=sys.executable, help="that has eclipse-zenoh")
    parser.add_argument("--clients", choices=("zenlake", "official"), default="zenlake")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    official = {int(at): arguments.python for at in arguments.official.split(",") if at}
    module = OURS if arguments.clients == "zenlake" else OFFICIAL
    result = run_chaos(
        arguments.seconds, arguments.seed, arguments.shape, arguments.routers, official, module
    )
    print(result.text())
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(result.as_dict(), file, indent=1)
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
