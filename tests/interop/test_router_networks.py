"""Our router among real ones: the cases of two clients hold across lines, rings and stars.

By default one line; `make interop` runs all networks with all releases (ZENLAKE_INTEROP=full,
ZENLAKE_ZENOH_VENVS). With ZENLAKE_INTEROP=oracle all routers are real ones: the cases themselves
are tried.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack

import pytest

from tests.interop.cases import CASES, SINCE
from tests.interop.puppets import Kind, PuppetProcess, attached, ours, routers, theirs
from tests.interop.shapes import LINE, RING, STAR, Shape

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

MODE = os.environ.get("ZENLAKE_INTEROP", "")
TREES_SECONDS = 0.7
"""The time for link states to arrive and trees to be computed, which is not observable."""


INSTALLED, *OLDER = theirs()
OURS = INSTALLED if MODE == "oracle" else ours()


def mixes(size: int) -> list[tuple[Kind, ...]]:
    """Which routers are ours: one of them, all but one, all."""
    others = [INSTALLED, *OLDER] if MODE else [INSTALLED]
    found = [(OURS,) * size]
    for other in others:
        for place in range(min(size, 3)):
            found.append(tuple(OURS if at == place else other for at in range(size)))
            found.append(tuple(other if at == place else OURS for at in range(size)))
    if len(others) > 2:
        found.append((others[1], OURS, others[2], INSTALLED)[:size])
        found.append((OURS, others[2], OURS, others[1])[:size])
    return list(dict.fromkeys(found))


CHOSEN = ("put_and_delete", "targets", "liveliness", "matching") if not MODE else tuple(CASES)
NETWORKS = [
    (LINE, mix)
    for mix in (mixes(3) if MODE else [(OURS, INSTALLED, OURS), (INSTALLED, OURS, OURS)])
]
if MODE:
    NETWORKS += [(shape, mix) for shape in (RING, STAR) for mix in mixes(4)]


def name_of(value: object) -> str:
    if isinstance(value, Shape):
        return value.name
    return "+".join(one.name for one in value) if isinstance(value, tuple) else ""


@pytest.mark.parametrize(("shape", "kinds"), NETWORKS, ids=name_of)
def test_cases_across_a_network(shape: Shape, kinds: tuple[Kind, ...]) -> None:
    """All cases on one network: each with nodes of its own, which are closed afterwards."""
    first, second = PuppetProcess(INSTALLED), PuppetProcess(INSTALLED)
    with routers(kinds, shape.edges) as (_, endpoints), ExitStack() as stack:
        stack.callback(first.kill)
        stack.callback(second.kill)
        time.sleep(TREES_SECONDS)  # until the routers know each other, which is not observable
        for name in CHOSEN:
            if SINCE[name] > INSTALLED.version or name == "who_is_there":
                continue
            print(name)
            with (
                attached(INSTALLED, "client", endpoints[shape.ends[0]], first) as a,
                attached(INSTALLED, "client", endpoints[shape.ends[1]], second) as b,
            ):
                CASES[name](a, b)
