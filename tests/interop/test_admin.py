"""The admin space of our node answers as that of a real node in the same place does."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from tests.interop.puppets import Kind, PuppetProcess, ours, settings, theirs
from tests.ports import free_endpoint
from tests.waiting import until

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

MODES = ["peer", "router"]
KNOWN_EVERYWHERE = [
    "subscriber/demo/**",
    "subscriber/demo/p",
    "queryable/q/1",
    "queryable/q/*",
    "queryable/q/r",
    "token/tok/c1",
    "token/tok/d1",
    "publisher/demo/a",
    "querier/q/**",
]
"""The last declaration of every neighbour, except tokens of a router, which a peer does not
know."""

KNOWN_TO_ROUTERS = ["token/tok/b2", "subscriber/remote/r"]
SECONDS_MAX = 60.0
"""The time for declarations to arrive, on a busy machine."""

QUERY_SECONDS = 10.0
"""Real nodes occasionally lose the end of a query while others declare: it is repeated."""

TRIES = 3
REAL_NETWORKS_MAX = 3
"""A real router may also lose the end of every later query: a new network is started then."""

SELECTORS = [
    "@/a1/**",
    "@/**/a1/**",
    "@/*/*",
    "@/a1/*/metrics?compression=false",
    "@/a1/*/metrics?compression=false;descriptors=false;per_transport=false",
    "@/a1/*/subscriber/demo/p",
    "@/a1/*/subscriber/*",
    "@/a1/*/subscriber",
    "@/a1/*/*/demo/**",
    "@/a1/**/q/*",
    "@/*/*/linkstate/**",
    "@/a1/*/linkstate/north",
    "@/a1/*/route/**",
    "@/a1/*/*/successor/src/*/dst/b2",
    "@/a1/*/config/**",
    "@/a1/*/plugins/**",
    "@/a1/*?_stats=true",
    "@/a1/*/subscriber/@/**",
]


class QueryFailed(AssertionError):
    """A query of the admin space ended with an error, a timeout as a rule."""


@contextmanager
def network(kind: Kind, mode: str) -> Iterator[PuppetProcess]:
    """A node `a1` of some kind with neighbours of every role; one of them, which asks."""
    endpoint = free_endpoint()
    real = theirs()[0]
    with ExitStack() as stack:

        def opened(of: Kind, mode: str, zid: str, **more: Any) -> PuppetProcess:
            held = PuppetProcess(of)
            stack.callback(held.kill)
            held.open(**settings(mode, id=zid, **{"scouting/gossip/enabled": True, **more}))
            return held

        node = opened(
            kind,
            mode,
            "a1",
            **{"listen/endpoints": [endpoint], "adminspace/enabled": True},
            metadata={"name": "x", "n": [1, 2]},
        )
        to = {"connect/endpoints": [endpoint]}
        one, two = opened(real, "client", "c1", **to), opened(real, "client", "c2", **to)
        peer, router = opened(real, "peer", "d1", **to), opened(real, "router", "b2", **to)
        for held, name, key in (
            (one, "s", "demo/**"),
            (two, "s", "demo/**"),
            (peer, "s", "demo/p"),
            (node, "s", "local/r"),
            (router, "s", "remote/r"),
        ):
            held.ask("subscribe", name=name, key=key)
        two.ask("queryable", name="q", key="q/1", replies=[], complete=True)
        peer.ask("queryable", name="q", key="q/*", replies=[])
        router.ask("queryable", name="q", key="q/r", replies=[])
        for held, key in ((one, "tok/c1"), (peer, "tok/d1"), (router, "tok/b2"), (node, "tok/a1")):
            held.ask("token", name="t", key=key)
        for held, key in ((one, "demo/a"), (peer, "demo/b"), (node, "local/a"), (router, "far/a")):
            held.ask("publisher", name="p", key=key)
        two.ask("querier", name="asker", key="q/**")
        node.ask("querier", name="asker", key="q/local")
        for key in KNOWN_EVERYWHERE + (KNOWN_TO_ROUTERS if mode == "router" else []):
            wait_for_answer(two, f"@/a1/{mode}/{key}", 0 if node.is_ours else TRIES)
        yield two


def wait_for_answer(asker: PuppetProcess, key: str, tries: int) -> None:
    """Wait until the node knows the declarations of its neighbours."""
    until(lambda: key in answers(asker, key, tries), SECONDS_MAX)


def answers(asker: PuppetProcess, selector: str, tries_left: int = 0) -> dict[str, Any]:
    """The answers by key, without values that depend on the implementation or on chance."""
    found: dict[str, Any] = {}
    answer = asker.ask("whole", selector=selector, timeout=QUERY_SECONDS)
    while answer["errors"] and tries_left > 0:
        tries_left -= 1
        answer = asker.ask("whole", selector=selector, timeout=QUERY_SECONDS)
    if answer["errors"]:
        raise QueryFailed(selector)
    for reply in answer["replies"]:
        payload = bytes.fromhex(reply.pop("payload"))
        if reply["encoding"].endswith("gzip"):
            payload = gzip.decompress(payload)
        if not reply["key"].startswith("@/a1") or "/zenlake/" in reply["key"]:
            continue  # of another node, or of ours alone
        assert reply["key"] not in found
        found[reply["key"]] = reply
        reply["content"] = content(payload.decode(), reply["encoding"])
    return found


def settled_answers(asker: PuppetProcess, tries: int) -> dict[str, dict[str, Any]]:
    """The answers by selector, repeated until they are stable: nodes still learn of others."""
    deadline = time.monotonic() + SECONDS_MAX
    found: dict[str, dict[str, Any]] = {}
    while True:
        before, found = found, {one: answers(asker, one, tries) for one in SELECTORS}
        if found == before:
            return found
        assert time.monotonic() < deadline, "answers keep changing"


def real_answers(mode: str) -> dict[str, dict[str, Any]]:
    for _ in range(REAL_NETWORKS_MAX - 1):
        with suppress(QueryFailed), network(theirs()[0], mode) as asker:
            return settled_answers(asker, TRIES)
    with network(theirs()[0], mode) as asker:
        return settled_answers(asker, TRIES)


def content(text: str, encoding: str) -> Any:
    text = re.sub(r"tcp/127\.0\.0\.1:\d+", "ENDPOINT", text)
    if "openmetrics" in encoding:
        # Official nodes write an extra blank at the end, and have another version.
        lines = (line.strip() for line in re.sub('version="[^"]*"', "", text).splitlines())
        return [line for line in lines if line and "zenlake_" not in line]  # only ours
    if encoding != "application/json":
        return sorted(re.sub(r"^ *\d+ ", "", line) for line in text.splitlines())
    value = json.loads(text)
    if isinstance(value, dict) and "sessions" in value:
        assert value.pop("version")
        value["sessions"] = sorted(value["sessions"], key=lambda session: session["peer"])
        for session in value["sessions"]:
            del session["shm"]
    elif isinstance(value, dict):
        value = {name: sorted(zids) for name, zids in value.items()}
    return value


@pytest.mark.parametrize("mode", MODES)
def test_answers_are_those_of_a_real_node(mode: str) -> None:
    with network(ours(), mode) as asker:
        mine = settled_answers(asker, 0)
    real = real_answers(mode)
    for selector in SELECTORS:
        assert mine[selector].keys() == real[selector].keys(), selector
        for key, reply in real[selector].items():
            assert mine[selector][key] == reply, (selector, key)


@pytest.mark.parametrize("kind", [ours(), theirs()[0]], ids=lambda kind: kind.name)
def test_without_permission_the_answer_is_empty(kind: Kind) -> None:
    endpoint = free_endpoint()
    with ExitStack() as stack:
        node, asker = PuppetProcess(kind), PuppetProcess(theirs()[0])
        stack.callback(node.kill)
        stack.callback(asker.kill)
        admin = {"adminspace/enabled": True, "adminspace/permissions/read": False}
        node.open(**settings("peer", id="a1", **{"listen/endpoints": [endpoint], **admin}))
        asker.open(**settings("client", **{"connect/endpoints": [endpoint]}))
        assert answers(asker, "@/a1/**") == {}
