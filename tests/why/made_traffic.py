"""Failures that real nodes cannot be made to cause, written by our encoder.

Each scene returns the truth about itself: who did what in which packet.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.why.scene import (
    ROUTER,
    Connection,
    Scene,
    all_announced,
    final,
    no_token,
    put,
    queryable,
    reply,
    request,
    subscriber,
    token,
    watch_tokens,
)
from zenlake.wire import KeepAlive
from zenlake.wire.values.whatami import WhatAmI

Truth = dict[str, Any]
ASKER = "c1a0000000000000000000000000000a"
SERVER = "b200000000000000000000000000000b"
OTHER = "d400000000000000000000000000000d"


def late_reply(scene: Scene) -> Truth:
    """Row 5: the final response overtakes a reply, which is dropped."""
    asker, server = Connection(scene, ASKER, 40001), Connection(scene, SERVER, 40002)
    asker.open()
    server.open()
    server.up(queryable(1, "store/**"))
    asker.up(request(1, "store/a"))
    server.down(request(1, "store/a"))
    in_time = server.up(reply(1, "store/a", b"first", SERVER))
    asker.down(reply(1, "store/a", b"first", SERVER))
    ended = server.up(final(1))
    asker.down(final(1))
    late = server.up(reply(1, "store/a", b"second", SERVER))
    scene.wait(0.2)
    asker.end(close=True)
    server.end(close=True)
    return {"culprit": SERVER, "in_time": in_time, "final": ended, "late": late}


def dropped(scene: Scene) -> Truth:
    """Row 3: a router drops publications for a slow subscriber; others are lost on a UDP link."""
    talker = Connection(scene, ASKER, 40001)
    slow = Connection(scene, SERVER, 40002)
    radio = Connection(scene, OTHER, 40003, over_udp=True)
    for one in (talker, slow, radio):
        one.open()
    slow.up(subscriber(1, "lidar/**"))
    radio.up(subscriber(1, "gps/fix"))
    scene.wait(0.2)
    truth: Truth = {"router": ROUTER, "slow": SERVER, "radio": OTHER, "talker": ASKER}
    truth["dropped"] = []
    for number in range(10):
        sent = talker.up(put("lidar/points", b"cloud %d" % number))
        if number in (3, 4, 7):
            truth["dropped"].append(sent)
        else:
            slow.down(put("lidar/points", b"cloud %d" % number))
    truth["lost"] = []
    for number in range(6):
        sent = talker.up(put("gps/fix", b"fix %d" % number))
        if number in (2, 3):
            truth["lost"].append(sent)
            radio.skip(1, 1)
        else:
            arrived = radio.down(put("gps/fix", b"fix %d" % number))
            if number == 4:
                truth["gap_seen"] = arrived
    image = put("lidar/image", bytes(range(256)) * 4)
    talker.fragments(0, image, [600, 600])
    slow.fragments(1, image, [600])
    truth["given_up"] = slow.give_up(1)
    truth["image"] = scene.packet - 2
    talker.up(put("lidar/points", b"end"))
    slow.down(put("lidar/points", b"end"))
    scene.wait(0.3)
    for one in (talker, slow):
        one.end(close=True)
    return truth


def watched(scene: Scene) -> tuple[Connection, Connection]:
    """A node that watches tokens, of which there are none yet, and one that will declare some."""
    watcher, owner = Connection(scene, ASKER, 40001), Connection(scene, SERVER, 40002)
    watcher.open()
    owner.open()
    watcher.up(watch_tokens(1, "alive/**"))
    watcher.down(all_announced(1))
    return watcher, owner


def ghost_token(scene: Scene) -> Truth:
    """Row 10: the owner is lost, and the router never undeclares its token to the watcher."""
    watcher, owner = watched(scene)
    owner.up(token(1, "alive/arm"))
    announced = watcher.down(token(1, "alive/arm"))
    healthy = owner.up(token(2, "alive/leg"))
    watcher.down(token(2, "alive/leg"))
    scene.wait(0.5)
    owner.end()
    watcher.down(no_token(2))
    scene.wait(4.0)
    watcher.raw(0, KeepAlive())
    watcher.end(close=True)
    return {
        "culprit": ROUTER,
        "owner": SERVER,
        "watcher": ASKER,
        "announced": announced,
        "healthy": healthy,
    }


def lost_after_reconnect(scene: Scene) -> Truth:
    """Row 10: a client comes back and declares its subscriber again, but not its token."""
    watcher, owner = watched(scene)
    first = owner.up(token(1, "alive/arm"))
    watcher.down(token(1, "alive/arm"))
    owner.up(subscriber(2, "cmd/arm"))
    scene.wait(0.5)
    owner.end()
    watcher.down(no_token(1))
    scene.wait(0.5)
    again = Connection(scene, SERVER, 40003)
    again.open()
    again.up(subscriber(1, "cmd/arm"))
    scene.wait(3.0)
    watcher.end(close=True)
    return {"culprit": SERVER, "first": first}


def doubled_token(scene: Scene) -> Truth:
    """Row 10: a client comes back, and the router announces its token a second time."""
    watcher, owner = watched(scene)
    owner.up(token(1, "alive/arm"))
    first = watcher.down(token(1, "alive/arm"))
    scene.wait(1.0)
    owner.end()
    scene.wait(0.5)
    again = Connection(scene, SERVER, 40003)
    again.open()
    again.up(token(1, "alive/arm"))
    second = watcher.down(token(2, "alive/arm"))
    scene.wait(3.0)
    watcher.end(close=True)
    return {"culprit": ROUTER, "watcher": ASKER, "first": first, "second": second}


def unannounced_token(scene: Scene) -> Truth:
    """Row 10: the watcher reconnects and asks again; a live token is not announced to it."""
    watcher, owner = Connection(scene, ASKER, 40001), Connection(scene, SERVER, 40002)
    owner.open()
    alive = owner.up(token(1, "alive/arm"))
    watcher.open()
    asked = watcher.up(watch_tokens(1, "alive/**"))
    watcher.down(all_announced(1))
    scene.wait(3.0)
    watcher.end(close=True)
    owner.end(close=True)
    return {"culprit": ROUTER, "watcher": ASKER, "owner": SERVER, "alive": alive, "asked": asked}


def two_peers(scene: Scene) -> Truth:
    """Row 7: two peers on one router; a router does not pass on from peer to peer."""
    asker = Connection(scene, ASKER, 40001, WhatAmI.PEER)
    server = Connection(scene, SERVER, 40002, WhatAmI.PEER)
    asker.open()
    server.open()
    declared = server.up(queryable(1, "arm/state"))
    server.up(subscriber(2, "arm/cmd"))
    scene.wait(0.2)
    asked = asker.up(request(1, "arm/state"))
    asker.down(final(1))
    published = asker.up(put("arm/cmd", b"go"))
    scene.wait(0.3)
    asker.end(close=True)
    server.end(close=True)
    return {"server": SERVER, "declared": declared, "asked": asked, "published": published}


SCENES: dict[str, Callable[[Scene], Truth]] = {
    one.__name__: one
    for one in (
        late_reply,
        dropped,
        ghost_token,
        lost_after_reconnect,
        doubled_token,
        unannounced_token,
        two_peers,
    )
}


def write(name: str, path: Path) -> Truth:
    scene = Scene(path)
    truth = SCENES[name](scene)
    scene.close()
    return {"row": (SCENES[name].__doc__ or "").split(":")[0], **truth}
