"""Which neighbour's reports about another router are accepted (network/neighbour_reports.py)."""

from __future__ import annotations

from tests.routing.network.mesh import Router
from tests.routing.playbook import interest, no_token, token, zid_of
from tests.routing.web import Web
from zenlake.routing.declarations.entity import PLAIN, SUBSCRIBER, TOKEN
from zenlake.routing.network.neighbour_reports import PATIENCE_MAX_S, PATIENCE_S, NeighbourReports
from zenlake.routing.network.withdrawals import KEPT_S
from zenlake.wire import Declare, DeclareToken, LinkState, LinkStateList, Oam, WhatAmI, WireExpr


def triangle(**settings: object) -> Web:
    """Three routers; a client of `a` has a token, and one of `c` has asked for tokens."""
    web = Web("a", "b", "c", gossip=False, **settings)
    web.link("a", "b", "c")
    web.link("c", "a")
    web.connects("holder", "client", "a")
    web.connects("watcher", "client", "c")
    web.sends("holder", token(1, "k"))
    web.sends("watcher", interest(1, "current_future", "KT", "k"))
    web.clear_received()
    return web


def report_token_of_a(web: Web, sender: str, key: str) -> None:
    """A router reports a token of `a` to `c`."""
    routers = web.routers[sender].tables.routers
    assert routers is not None
    psid = routers.network.psid_of(zid_of("a"))
    message = Declare(DeclareToken(0, WireExpr(0, key)), node_id=psid)
    web.wires[sender, "c"].messages.append((message, True))
    web.settle()


def prefers(web: Web, name: str, other: str, weight: int) -> None:
    """Set the weight of a router's link to another."""
    routers = web.routers[name].tables.routers
    assert routers is not None
    routers.network.flooding.set_weights({zid_of(other): weight}, web.now)
    web.settle()


def test_only_the_parent_is_believed() -> None:
    web = triangle()
    web.sends("holder", no_token(1))
    web.receives("watcher", "U_TOKEN 1")
    report_token_of_a(web, "b", "k")  # c is linked to a itself
    web.time_passes(2 * PATIENCE_S)
    web.receives("watcher")


def test_all_neighbours_are_believed_where_deployed_routers_take_part() -> None:
    """Deployed routers may have other trees: versions up to 1.4 lose the weights of others."""
    web = triangle(wall_ns=None)
    web.sends("holder", no_token(1))
    web.receives("watcher", "U_TOKEN 1")
    report_token_of_a(web, "b", "k")
    web.receives("watcher", "D_TOKEN 2 k")


def test_a_token_that_a_new_parent_does_not_report_ends() -> None:
    """Even if its undeclaration was lost on a dead link long ago."""
    web = triangle()
    web.loses("a", "c")
    web.sends("holder", no_token(1), token(2, "k"), no_token(2))
    web.time_passes(KEPT_S + 1.0)
    web.unlink("a", "c")
    web.receives("watcher")
    web.time_passes(PATIENCE_S)
    web.settle()
    web.receives("watcher", "U_TOKEN 1")


def test_earlier_reports_of_a_new_parent_apply_at_once() -> None:
    web = triangle()
    web.connects("other", "client", "c")
    web.sends("other", interest(1, "current_future", "KT", "j"))
    web.clear_received()
    report_token_of_a(web, "b", "j")
    web.receives("other")
    web.unlink("a", "c")
    web.receives("other", "D_TOKEN 1 j")
    web.time_passes(PATIENCE_S)
    web.settle()
    web.receives("watcher")


def test_a_parent_that_comes_back_is_asked_to_declare_again() -> None:
    web = triangle()
    prefers(web, "a", "c", 1000)  # c receives declarations of a from b
    web.sends("holder", no_token(1))
    web.receives("watcher", "U_TOKEN 1")
    web.time_passes(KEPT_S + 1.0)
    prefers(web, "a", "c", 0)
    web.time_passes(PATIENCE_S)
    web.settle()
    web.receives("watcher")
    web.sends("holder", token(3, "k"))
    web.receives("watcher", "D_TOKEN 2 k")
    prefers(web, "a", "c", 1000)
    prefers(web, "a", "c", 0)
    web.time_passes(2 * PATIENCE_S)
    web.receives("watcher")


def test_reports_from_before_a_restart_are_ignored() -> None:
    """A neighbour may send them after this router knows of the restart."""
    web = Web("a", "b", "c", gossip=False)
    web.link("a", "b", "c")
    web.connects("watcher", "client", "c")
    web.sends("watcher", interest(1, "current_future", "KT", "k"))
    web.clear_received()
    report_token_of_a(web, "b", "k")
    web.receives("watcher", "D_TOKEN 1 k")
    # b introduces a again, as it does when a was restarted; c knew before.
    network = web.routers["b"].tables.routers
    assert network is not None
    node = network.network.graph.nodes[zid_of("a")]
    state = LinkState(node.index, node.sn, (0,), zid=node.zid, whatami=WhatAmI.ROUTER)
    web.wires["b", "c"].messages.append((Oam(1, body=bytes(LinkStateList((state,)))), True))
    web.settle()
    web.time_passes(PATIENCE_S)
    web.settle()
    web.receives("watcher", "U_TOKEN 1")


def test_reports_are_charged_to_the_reporting_neighbour() -> None:
    sender, _ = Router("a1").face("b2")
    reports = NeighbourReports()
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


def test_waiting_for_reports_of_a_parent_ends() -> None:
    sender, _ = Router("a1").face("b2")
    reports = NeighbourReports()
    assert not reports.believe(sender, 1.0)
    assert reports.complete_at() == 1.0 + PATIENCE_S
    reports.received_at = 1.5
    assert reports.complete_at() == 1.5 + PATIENCE_S
    reports.received_at = 100.0
    assert reports.complete_at() == 1.0 + PATIENCE_MAX_S


def test_reports_of_a_neighbour_that_is_gone_are_removed() -> None:
    web = triangle()
    report_token_of_a(web, "b", "other")
    routers = web.routers["c"].tables.routers
    assert routers is not None
    reports = routers.parents._reports
    assert {str(face.zid) for one in reports.values() for face in one._by} >= {str(zid_of("b"))}
    web.unlink("b", "c")
    assert [face for one in reports.values() for face in one._by if face.is_gone] == []
