"""Defects that the simulation has found, each in its smallest form."""

from __future__ import annotations

from zenlake.testing.simulation import World
from zenlake.testing.simulation.application import Application
from zenlake.testing.simulation.plan import NodePlan, Plan
from zenlake.testing.simulation.records import Watcher
from zenlake.wire import WhatAmI


def two_nodes(second: WhatAmI) -> tuple[World, Application, Application]:
    """A peer, and a node that connects to it."""
    plan = Plan([NodePlan("p0", WhatAmI.PEER), NodePlan("n1", second, [[0]])])
    world = World(1, plan)
    world.start()
    run_until_idle(world)
    first, other = world.nodes
    return world, world.application(first), world.application(other)


def run_until_idle(world: World) -> None:
    """Send all messages of the applications, and let them arrive."""
    for node in world.nodes:
        node.flush_outputs()
    world.timeline.run_until(world.timeline.now + 3.0)


def watcher(world: World, index: int = 0) -> Watcher:
    return world.ledger.watchers[index]


def connect_again(world: World) -> None:
    """Run until the second node has its session, not longer."""
    node = world.nodes[1]
    node.ends[0].wire.cut(silently=False)
    while True:
        world.timeline.run_until(world.timeline.now + 0.001)
        if node.ends and node.ends[0].face is not None and node.ends[0].wire.number > 0:
            return


def test_end_of_own_token_is_not_the_end_of_others_with_the_same_key() -> None:
    world, first, second = two_nodes(WhatAmI.PEER)
    first.declare_token("a")
    second.declare_token("a")
    run_until_idle(world)
    second.watch("**", False)
    second.undeclare(world.ledger.tokens[1])
    run_until_idle(world)
    assert watcher(world).present == {}
    first.undeclare(world.ledger.tokens[0])
    run_until_idle(world)
    assert watcher(world).present == {"a": False}


def test_subscriber_with_history_gets_no_delete_before_put() -> None:
    world, first, second = two_nodes(WhatAmI.CLIENT)
    first.declare_token("a")
    second.watch("**", False)
    run_until_idle(world)
    # The two messages cross on the wire.
    second.watch("a", True)
    second.node.flush_outputs()
    first.undeclare(world.ledger.tokens[0])
    run_until_idle(world)
    assert watcher(world, 0).present == {"a": False}
    assert watcher(world, 1).present == {}


def test_answer_to_one_interest_reaches_all_subscribers_with_history() -> None:
    world, first, second = two_nodes(WhatAmI.CLIENT)
    first.declare_token("a/b")
    second.watch("a/*", True)
    run_until_idle(world)
    connect_again(world)
    assert watcher(world).present == {"a/b": False}
    second.watch("a/b", True)
    run_until_idle(world)
    assert watcher(world, 0).present == {"a/b": True}
    assert watcher(world, 1).present == {"a/b": True}


def test_node_that_reconnects_gets_its_declarations_again() -> None:
    world, first, second = two_nodes(WhatAmI.CLIENT)
    second.watch("a/*", False)
    run_until_idle(world)
    first.declare_token("a/b")
    run_until_idle(world)
    assert watcher(world).present == {"a/b": True}
    connect_again(world)
    assert watcher(world).present == {"a/b": False}
    second.watch("a/b", True)
    run_until_idle(world)
    assert watcher(world, 0).present == {"a/b": True}
