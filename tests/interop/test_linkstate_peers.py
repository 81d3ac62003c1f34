"""Linkstate peers of releases up to 1.8 with our routers, and ours with theirs (§4.9).

By default only our own nodes, as the release installed beside the tests has no such peers; with
ZENLAKE_ZENOH_VENVS also those of older releases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.interop.linkstate import declare_all, everything, network, observe, rest
from tests.interop.puppets import Kind, PuppetProcess, ours, theirs
from tests.waiting import until

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

INSTALLED, *OLDER = theirs()
OLD = [kind for kind in OLDER if kind.version < (1, 9)]
IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"

LINE = ("pa", "qa")
"""Two peers of one router."""

BRIDGE = ("pa", "ab", "qb")
"""Two peers of two routers."""

CHAIN = ("pq", "qa", "ab")
"""A peer that reaches its router by way of another peer."""

TRIANGLE = ("pa", "pb", "ab")
"""A peer with two routers."""


def mixes(links: tuple[str, ...]) -> Iterator[dict[str, Kind]]:
    """The mixes of nodes: only ours, then one of ours among older releases."""
    names = sorted(set("".join(links)), reverse=True)
    yield dict.fromkeys(names, ours())
    for other in OLD if IS_FULL else OLD[:1]:
        for name in names:
            yield {one: ours() if one == name else other for one in names}


def name_of(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={kind.name}" for name, kind in value.items())
    return "-".join(value) if isinstance(value, tuple) else ""


SIMPLE = [
    (links, kinds)
    for links in ((LINE, BRIDGE, CHAIN) if IS_FULL else (LINE,))
    for kinds in mixes(links)
]


def lacks_token(node: PuppetProcess, key: str) -> bool:
    return key not in node.ask("alive", key="t/**")["keys"]


@pytest.mark.parametrize(("links", "kinds"), SIMPLE, ids=name_of)
def test_every_node_receives_from_every_other_once(
    links: tuple[str, ...], kinds: dict[str, Kind]
) -> None:
    client = INSTALLED if IS_FULL and len(set(kinds.values())) == 1 else None
    with network(kinds, links, client) as nodes:
        for name, node in nodes.items():
            declare_all(name, node)
        rest()
        seen = observe(nodes)
        expected = everything(list(nodes))
        for name, node in nodes.items():
            if not node.is_ours:  # a real session does not report its own tokens
                for each in (seen, expected):
                    each[name] = {**each[name], "alive": set(each[name]["alive"]) - {f"t/{name}"}}
        assert seen == expected
        # Undeclared entities are gone.
        (first, *others) = nodes
        nodes[first].ask("undeclare", name="t")
        nodes[first].ask("undeclare", name="s")
        for name in others:
            until(partial(lacks_token, nodes[name], f"t/{first}"))


if OLD:

    def lacks(seen: dict[str, Any], names: list[str]) -> set[tuple[str, str, str]]:
        """What each node lacks; asserts that nothing is received more than once."""
        missing = set()
        for name, expected in everything(names).items():
            for what, items in expected.items():
                heard = seen[name][what]
                assert len(heard) == len(set(heard)), (name, what, heard)
                assert set(heard) <= set(items), (name, what, heard)
                missing |= {(name, what, one) for one in set(items) - set(heard)}
        return missing

    def observed(kinds: dict[str, Kind]) -> set[tuple[str, str, str]]:
        with network(kinds, TRIANGLE) as nodes:
            for name, node in nodes.items():
                declare_all(name, node)
            rest()
            missing = lacks(observe(nodes), list(nodes))
        return {one for one in missing if one[1:] != ("alive", f"t/{one[0]}")}

    @pytest.mark.parametrize("other", OLD, ids=lambda one: one.name)
    def test_two_routers_of_a_peer_elect_the_same_router_for_each_key(other: Kind) -> None:
        """Real routers lose some publications (SN-116), one of ours beside them no more, ours none.

        If ours elected another router than theirs did, publications of the peer would get lost or
        arrive twice.
        """
        only_theirs = observed(dict.fromkeys("bap", other))
        for place in "ab":
            kinds = {name: ours() if name == place else other for name in "bap"}
            missing = observed(kinds)
            assert missing <= only_theirs
            assert {who for who, _, what in missing if what.startswith("d/p/")} == set()
        assert observed({"b": ours(), "a": ours(), "p": other}) == set()
