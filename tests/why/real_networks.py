"""Networks of real routers, clients and releases, recorded on every link, and what they saw.

Unlike in `real_traffic`, each node has a process of its own: several routers in a line, older
releases (ZENLAKE_ZENOH_VENVS), nodes that are killed. All links are in one capture, unless a
scenario leaves some out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.interop.puppets import PuppetProcess, settings, theirs
from tests.interop.tap import Recording, Tap
from tests.ports import free_port

Truth = dict[str, Any]


class Network:
    """Routers in a line, and nodes on them; the capture has what goes through taps."""

    def __init__(self, path: Path) -> None:
        self._recording = Recording(path)
        self.until_quiet = self._recording.until_quiet
        self._taps: list[Tap] = []
        self._nodes: list[PuppetProcess] = []
        self._ports: list[int] = []
        self._kinds = {kind.name: kind for kind in theirs()}
        self._newest = theirs()[0].name

    def routers(self, count: int, release: str | None = None) -> list[PuppetProcess]:
        """Each connects to the one before it."""
        self._ports = [free_port() for _ in range(count)]
        found = []
        for number, port in enumerate(self._ports):
            others = [self._through_tap(number - 1)] if number else []
            router = self._node(release)
            ends = {"listen/endpoints": [f"tcp/127.0.0.1:{port}"], "connect/endpoints": others}
            router.open(**settings("router", **ends))
            found.append(router)
        self.until_quiet(1.0)
        return found

    def client(
        self,
        router: int,
        release: str | None = None,
        is_captured: bool = True,
        role: str = "client",
    ) -> PuppetProcess:
        node = self._node(release)
        place = self._through_tap(router) if is_captured else self._direct(router)
        node.open_linked(**settings(role, **{"connect/endpoints": [place]}))
        return node

    def _node(self, release: str | None) -> PuppetProcess:
        node = PuppetProcess(self._kinds[release or self._newest])
        self._nodes.append(node)
        return node

    def _direct(self, router: int) -> str:
        return f"tcp/127.0.0.1:{self._ports[router]}"

    def _through_tap(self, router: int) -> str:
        self._taps.append(Tap(self._recording, self._ports[router]))
        return f"tcp/127.0.0.1:{self._taps[-1].port}"

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.until_quiet(0.2)
        for node in self._nodes:
            node.kill()
        for tap in self._taps:
            tap.close()
        self._recording.close()


def old_tokens(network: Network) -> Truth:
    """Tokens through a router that counts from 0: the first of each link has the number 0."""
    network.routers(1, "1.0.4")
    owner, leaving = network.client(0), network.client(0)
    owner.ask("token", name="before", key="alive/before")
    network.until_quiet()
    watchers = {
        "history": network.client(0),
        "history_old": network.client(0, "1.0.4"),
        "no_history": network.client(0),
    }
    for name, watcher in watchers.items():
        watcher.ask("watch", name="seen", key="alive/**", history=name != "no_history")
    network.until_quiet()
    owner.ask("token", name="after", key="alive/after")
    leaving.ask("token", name="session", key="alive/session")
    network.until_quiet()
    got = {name: watcher.ask("alive", key="alive/**") for name, watcher in watchers.items()}
    subscriber = network.client(0, "1.0.4")
    publisher = network.client(0)
    subscriber.ask("subscribe", name="s", key="door/**")
    network.until_quiet(0.2)
    publisher.ask("publisher", name="p", key="door/open")
    network.until_quiet(0.2)
    subscriber.ask("undeclare", name="s")
    network.until_quiet(0.2)
    for name in ("before", "after"):
        owner.ask("undeclare", name=name)
        network.until_quiet(0.2)
    leaving.ask("close")
    network.until_quiet(1.3)
    seen = {name: watcher.items("seen", 0, quiet=0) for name, watcher in watchers.items()}
    zids = {name: watcher.zid for name, watcher in watchers.items()}
    names = {"owner": owner.zid, "leaving": leaving.zid, "subscriber": subscriber.zid}
    return {**names, "watchers": zids, "seen": seen, "got": got, "publisher": publisher.zid}


def line_of_routers(network: Network) -> Truth:
    """Queryables at the far end of three routers go, each in another way; then that router."""
    routers = network.routers(3)
    asker = network.client(0)
    servers = {how: network.client(2) for how in ("undeclared", "closed", "killed", "behind")}
    for how, server in servers.items():
        _answer(server, f"srv/{how}")
        server.ask("token", name="t", key=f"alive/{how}")
    late = network.client(2)
    watcher = network.client(0)
    watcher.ask("watch", name="w", key="alive/**", history=True)
    network.until_quiet(0.4)
    before = {how: _replies(asker, f"srv/{how}") for how in servers}
    early = _replies(asker, "srv/late")
    network.until_quiet(0.2)
    _answer(late, "srv/late")
    network.until_quiet(0.2)
    servers["undeclared"].ask("undeclare", name="q")
    servers["closed"].ask("close")
    servers["killed"].kill()
    network.until_quiet()
    after = {how: _replies(asker, f"srv/{how}") for how in servers}
    routers[2].kill()
    network.until_quiet()
    after["behind"] = _replies(asker, "srv/behind")
    network.until_quiet(1.5)
    return {
        "asker": asker.zid,
        "routers": [router.zid for router in routers],
        "servers": {how: server.zid for how, server in servers.items()},
        "late": late.zid,
        "early": early,
        "before": before,
        "after": after,
        "seen": watcher.items("w", 0, quiet=0),
    }


def after_the_last(network: Network) -> Truth:
    """Publications after the last subscriber went: some leave the publisher, others do not."""
    network.routers(1)
    talker, listener, server = (network.client(0) for _ in range(3))
    names = ("cell/temp", "cell/back", "raw/**")
    for key in names:
        listener.ask("subscribe", name=key, key=key)
    _answer(server, "srv/q")
    network.until_quiet()
    for key in names[:2]:
        talker.ask("publisher", name=key, key=key)
    talker.ask("querier", name="querier", key="srv/q")
    network.until_quiet(0.2)
    _publish(talker, "cell/temp", 26)
    _publish(talker, "cell/back", 5)
    answers = [len(talker.ask("ask", name="querier")["replies"])]
    network.until_quiet(0.2)
    got = {name: len(listener.items(name, 0, quiet=0)) for name in names}
    for name in names:
        listener.ask("undeclare", name=name)
    server.ask("undeclare", name="q")
    network.until_quiet()
    _publish(talker, "cell/temp", 10)
    _publish(talker, "cell/back", 4)
    answers.append(len(talker.ask("ask", name="querier")["replies"]))
    listener.ask("subscribe", name="again", key="cell/$*k")
    network.until_quiet(0.2)
    _publish(talker, "cell/back", 3)
    network.until_quiet()
    got["again"] = len(listener.items("again", 0, quiet=0))
    sent = {"cell/temp": 36, "cell/back": 12, "raw/x": 48}
    zids = {"talker": talker.zid, "listener": listener.zid, "server": server.zid}
    return {**zids, "sent": sent, "got": got, "answers": answers}


def _publish(talker: PuppetProcess, name: str, count: int) -> None:
    """Publishes with a publisher, and without one."""
    for number in range(count):
        talker.ask("publish", name=name, payload=f"{number:02x}")
        talker.ask("put", key="raw/x", payload=f"{number:02x}")
        time.sleep(0.01)  # up to 100 publications a second


def _answer(server: PuppetProcess, key: str) -> None:
    server.ask("queryable", name="q", key=key, replies=[{"key": key, "value": "00"}])


def _replies(asker: PuppetProcess, selector: str) -> int:
    return len(asker.ask("get", selector=selector, timeout=2.0)["replies"])


SCENARIOS: dict[str, Callable[[Network], Truth]] = {
    one.__name__: one for one in (old_tokens, line_of_routers, after_the_last)
}


def record(name: str, path: Path) -> Truth:
    """Runs one scenario, with its traffic in a file."""
    with Network(path) as network:
        what = (SCENARIOS[name].__doc__ or "").splitlines()[0]
        return {"what": what, **SCENARIOS[name](network)}
