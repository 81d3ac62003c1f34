"""What must hold when the faults are over and the network is whole again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from chaos.network import OURS, Network
from chaos.processes import Program

HEAL_S = 60.0
"""The time for links to reconnect and for declarations to arrive."""
GROWN_MIB_MAX = 64.0


def wait_until(holds: Callable[[], bool], wait_s: float = HEAL_S) -> float:
    """The seconds until the condition held; infinite if it never did."""
    began = time.monotonic()
    while time.monotonic() - began < wait_s:
        if holds():
            return time.monotonic() - began
        time.sleep(0.25)
    return float("inf")


class Healing:
    """Whether every client receives publications of every other client again."""

    def __init__(self, clients: dict[str, Program]) -> None:
        self._clients = clients
        self._number = 0

    def failures(self) -> list[str]:
        found = []
        for what, holds in (
            ("probes do not reach everybody", self._probes_arrive),
            ("not all answer queries", self._all_answer),
            ("tokens are not those of the clients", self._tokens_are_right),
        ):
            took_s = wait_until(holds)
            if took_s == float("inf"):
                found.append(f"{what} {HEAL_S:g} s after the last fault: {self._state()}")
        return found

    def _probes_arrive(self) -> bool:
        self._number += 1
        wanted = {f"{name} {self._number}" for name in self._clients}
        for client in self._clients.values():
            client.ask("publish_probe", self._number)
        for _ in range(8):
            if all(wanted <= set(client.ask("probes")) for client in self._clients.values()):
                return True
            time.sleep(0.1)
        return False

    def _all_answer(self) -> bool:
        wanted = sorted(f"chaos/query/{name}" for name in self._clients)
        return all(client.ask("repliers") == wanted for client in self._clients.values())

    def _tokens_are_right(self) -> bool:
        wanted = sorted(self._clients)
        return all(client.ask("tokens") == wanted for client in self._clients.values())

    def _state(self) -> dict[str, Any]:
        last = f" {self._number}"
        return {
            name: {
                "probes": [one for one in client.ask("probes") if one.endswith(last)],
                "repliers": client.ask("repliers"),
                "tokens": client.ask("tokens"),
            }
            for name, client in self._clients.items()
        }


def leftovers(observer: Program) -> list[str]:
    """What the admin space of the routers still lists of clients that are gone."""
    found: list[str] = []
    for kind in ("subscriber", "queryable", "token", "publisher", "querier"):
        for key, holders in observer.ask("admin", f"@/*/router/{kind}/chaos/**").items():
            found.append(f"{key} {holders}")
    for key, face in observer.ask("admin", "@/*/router/zenlake/face/*").items():
        for what in ("unanswered_requests", "open_queries"):
            if face[what] > 1:  # the query of this function is open as well
                found.append(f"{key} {what} {face[what]}")
        if face["whatami"] == "client" and face["declarations"]:
            found.append(f"{key} declarations {face['declarations']}")
    return found


def table_failures(observer: Program) -> list[str]:
    found: list[str] = []

    def is_empty() -> bool:
        found[:] = leftovers(observer)
        return not found

    took_s = wait_until(is_empty)
    return [f"left in the tables: {one}" for one in found[:10]] if took_s == float("inf") else []


def router_failures(network: Network) -> list[str]:
    found = []
    for router in network.routers:
        router.look()
        found += [f"{router.name} raised: {one}" for one in router.tracebacks]
        if router.module == OURS and router.peak_mib - router.first_mib > GROWN_MIB_MAX:
            found.append(
                f"{router.name}: {router.peak_mib:.0f} MiB, {router.first_mib:.0f} at the start"
            )
    return found
