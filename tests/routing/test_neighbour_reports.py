"""Which neighbour a router believes about another one (network/neighbour_reports.py)."""

from __future__ import annotations

from tests.routing.mesh import Router
from tests.routing.playbook import interest, no_token, token, zid_of
from tests.routing.web import Web
from zenlake.routing.declarations.entity import PLAIN, SUBSCRIBER, TOKEN
from zenlake.routing.network.neighbour_reports import PATIENCE_MAX_S, PATIENCE_S, Reports
from zenlake.routing.network.withdrawals import KEPT_S
from zenlake.wire import Declare, DeclareToken, LinkState, LinkStateList, Oam, WhatAmI, WireExpr


def triangle(**settings: object) -> Web:
    """Three routers; a client of `a` has a token, and one of `c` has asked for tokens."""
    web = Web("a", "b", "c", gossip=False, **settings)
    web.link("a", "b", "c")
    web.link("c", "a")
    web.enters("holder", "client", "a")
    web.enters("watcher", "client", "c")
    web.says("holder", token(1, "k"))
    web.says("watcher", interest(1, "current_future", "KT", "k"))
    web.forget()
    return web


def says_of_a(web: Web, sender: str, key: str) -> None:
    """A router tells `c` that `a` has a token."""
    routers = web.routers[sender].tables.routers
    assert routers is not None
    psid = routers.network.psid_of(zid_of("a"))
    message = Declare(DeclareToken(0, WireExpr(0, key)), node_id=psid)
    web.wires[sender, "c"].messages.append((message, True))
    web.settle()


def prefers(web: Web, name: str, other: str, weight: int) -> None:
    """A router gives its link to another a weight."""
    routers = web.routers[name].tables.routers
    assert routers is not None
    routers.network.set_weights({zid_of(other): weight}, web.now)
    web.settle()


def test_who_is_not_the_parent_is_not_believed() -> None:
    web = triangle()
    web.says("holder", no_token(1))
    web.hears("watcher", "U_TOKEN 1")
    says_of_a(web, "b", "k")  # c is linked to a itself
    web.passes(2 * PATIENCE_S)
    web.hears("watcher")


def test_all_are_believed_where_deployed_routers_take_part() -> None:
    """They may have other trees: versions up to 1.4 lose the weights of others."""
    web = triangle(wall_ns=None)
    web.says("holder", no_token(1))
    web.hears("watcher", "U_TOKEN 1")
    says_of_a(web, "b", "k")
    web.hears("watcher", "D_TOKEN 2 k")


def test_what_a_new_parent_does_not_report_is_gone() -> None:
    """However long ago its end was said, over a link that was dead already."""
    web = triangle()
    web.loses("a", "c")
    web.says("holder", no_token(1), token(2, "k"), no_token(2))
    web.passes(KEPT_S + 1.0)
    web.unlink("a", "c")
    web.hears("watcher")
    web.passes(PATIENCE_S)
    web.settle()
    web.hears("watcher", "U_TOKEN 1")


def test_what_a_new_parent_said_before_is_held_at_once() -> None:
    web = triangle()
    web.enters("other", "client", "c")
    web.says("other", interest(1, "current_future", "KT", "j"))
    web.forget()
    says_of_a(web, "b", "j")
    web.hears("other")
    web.unlink("a", "c")
    web.hears("other", "D_TOKEN 1 j")
    web.passes(PATIENCE_S)
    web.settle()
    web.hears("watcher")


def test_a_parent_that_comes_back_is_asked_to_declare_again() -> None:
    web = triangle()
    prefers(web, "a", "c", 1000)  # c hears of a by way of b
    web.says("holder", no_token(1))
    web.hears("watcher", "U_TOKEN 1")
    web.passes(KEPT_S + 1.0)
    prefers(web, "a", "c", 0)
    web.passes(PATIENCE_S)
    web.settle()
    web.hears("watcher")
    web.says("holder", token(3, "k"))
    web.hears("watcher", "D_TOKEN 2 k")
    prefers(web, "a", "c", 1000)
    prefers(web, "a", "c", 0)
    web.passes(2 * PATIENCE_S)
    web.hears("watcher")


def test_what_was_said_of_an_earlier_life_is_void() -> None:
    """A neighbour may tell of it after this router knows of the new one."""
    web = Web("a", "b", "c", gossip=False)
    web.link("a", "b", "c")
    web.enters("watcher", "client", "c")
    web.says("watcher", interest(1, "current_future", "KT", "k"))
    web.forget()
    says_of_a(web, "b", "k")
    web.hears("watcher", "D_TOKEN 1 k")
    # b introduces a again, as it does when a was restarted; c knew before.
    network = web.routers["b"].tables.routers
    assert network is not None
    node = network.network.graph.nodes[zid_of("a")]
    state = LinkState(node.index, node.sn, (0,), zid=node.zid, whatami=WhatAmI.ROUTER)
    web.wires["b", "c"].messages.append((Oam(1, body=bytes(LinkStateList((state,)))), True))
    web.settle()
    web.passes(PATIENCE_S)
    web.settle()
    web.hears("watcher", "U_TOKEN 1")


def test_reports_are_charged_to_who_makes_them() -> None:
    sender, _ = Router("a1").face("b2")
    reports = Reports()
    report = reports.report_from(sender)
    assert report.add(TOKEN, "k", PLAIN)
    assert report.add(SUBSCRIBER, "k", PLAIN)
    held = sender.account.held_bytes
    assert report.add(TOKEN, "k", PLAIN)
    assert sender.account.held_bytes == held > 0
    report.discard(TOKEN, "k")
    report.discard(TOKEN, "k")
    assert sender.account.held_bytes == held // 2
    reports.remove(sender)
    assert sender.account.held_bytes == 0


def test_patience_ends() -> None:
    sender, _ = Router("a1").face("b2")
    reports = Reports()
    assert not reports.believe(sender, 1.0)
    assert reports.complete_at() == 1.0 + PATIENCE_S
    reports.heard_at = 1.5
    assert reports.complete_at() == 1.5 + PATIENCE_S
    reports.heard_at = 100.0
    assert reports.complete_at() == 1.0 + PATIENCE_MAX_S
