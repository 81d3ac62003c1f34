"""Rules about SCOUT and HELLO."""

from __future__ import annotations

from zenlake.rules.facts import Seen
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Irregular
from zenlake.wire import Hello, Scout
from zenlake.wire.defaults import PROTOCOL_VERSION
from zenlake.wire.values.whatami import WhatAmIMatcher


@rule(
    "scout-nobody",
    WARNING,
    Scout,
    text="SCOUT names the roles that it looks for; without one it gets no answer.",
    page="wire reference §3.2; SN-21",
    screen=Irregular("NOT_TCP"),
)
def scout_nobody(message: Scout, seen: Seen) -> str | None:
    return "no role is looked for" if message.what.mask == 0 else None


@rule(
    "scouting-version",
    WARNING,
    Scout,
    Hello,
    text="SCOUT and HELLO have version 9; it is not checked before INIT.",
    page="packets, SCOUT; wire reference §3.2; SN-25",
    screen=Irregular("NOT_TCP"),
)
def scouting_version(message: Scout | Hello, seen: Seen) -> str | None:
    return None if message.version == PROTOCOL_VERSION else f"version {message.version}"


@rule(
    "hello-not-asked",
    ERROR,
    Hello,
    text="A node answers SCOUT if its role is among those looked for.",
    page="wire reference §3.2; SN-21",
    screen=Irregular("NOT_TCP"),
)
def hello_not_asked(message: Hello, seen: Seen) -> str | None:
    asked = seen.roles_asked.get(seen.event.receiver)
    if asked is None or asked & message.whatami:
        return None
    return f"a {message.whatami} answers, {WhatAmIMatcher(asked) or 'unassigned'} is looked for"


@rule(
    "hello-without-locators",
    NOTE,
    Hello,
    text="HELLO without locators means the address it came from; deployed nodes ignore it.",
    page="packets, HELLO; SN-23",
    screen=Irregular("NOT_TCP"),
)
def hello_without_locators(message: Hello, seen: Seen) -> str | None:
    return None if message.locators else f"{message.zid} announces no locator"
