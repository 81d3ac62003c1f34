"""RecordedNetwork: nodes of one release, and taps that record what they send to each other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.interop.cases import CASES, SINCE
from tests.interop.datagram_tap import GroupTap, UdpTap
from tests.interop.puppets import Kind, PuppetProcess, settings
from tests.interop.tap import Tap
from tests.ports import free_port

Config = dict[str, Any]
GROUP = "224.0.0.225"
_TAPS: dict[str, Callable[[Path, int], Any]] = {"tcp": Tap, "udp": UdpTap}


class RecordedNetwork:
    """Nodes of one release; at the end all are closed, then the captures are whole."""

    def __init__(self, kind: Kind, folder: Path) -> None:
        self.kind = kind
        self.captures: list[Path] = []
        self.folder = folder
        self._stack = ExitStack()
        self._nodes: list[PuppetProcess] = []

    def node(self, mode: str, config: Config) -> PuppetProcess:
        held = PuppetProcess(self.kind)
        self._stack.callback(held.kill)
        held.open(**settings(mode, **config))
        self._nodes.append(held)
        return held

    def listener(
        self, mode: str, config: Config | None = None, protocol: str = "tcp"
    ) -> tuple[PuppetProcess, str]:
        """A node, and the endpoint of the tap before it."""
        port = free_port()
        listening = {"listen/endpoints": [f"{protocol}/127.0.0.1:{port}"]}
        return self.node(mode, listening | (config or {})), self.tap(port, protocol)

    def tap(self, port: int, protocol: str = "tcp") -> str:
        made = self._stack.enter_context(_TAPS[protocol](self._capture(), port))
        return f"{protocol}/127.0.0.1:{made.port}"

    def group_tap(self) -> GroupTap:
        tap = GroupTap(self._capture(), GROUP)
        self._stack.enter_context(tap)
        return tap

    def _capture(self) -> Path:
        self.captures.append(self.folder / f"{len(self.captures)}.pcapng")
        return self.captures[-1]

    def kill(self, node: PuppetProcess) -> None:
        """Kill a node: it sends no CLOSE."""
        self._nodes.remove(node)
        node.kill()

    def close(self, node: PuppetProcess) -> None:
        self._nodes.remove(node)
        node.ask("close")

    def run(self, a: PuppetProcess, b: PuppetProcess, *cases: str) -> None:
        """Run those cases that the release supports."""
        for name in cases:
            if self.kind.version >= SINCE[name]:
                CASES[name](a, b)

    def __enter__(self) -> RecordedNetwork:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with self._stack:
            for node in self._nodes if kind is None else []:
                node.ask("close")
