"""The stories, the truth and the single messages of a capture of tests/data/why."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from zenlake import trace
from zenlake.trace import MessageSeen
from zenlake.why import CaptureStories, Story, parse_scope, report
from zenlake.why.from_capture import read_capture

DATA = Path(__file__).parents[1] / "data" / "why"
NAMES = sorted(path.name.removesuffix(".pcapng.gz") for path in DATA.glob("*.pcapng.gz"))


def path_of(name: str) -> str:
    return str(DATA / f"{name}.pcapng.gz")


@cache
def truth_of(name: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return truth


def report_of(
    name: str, query: str | None = None, key: str | None = None, packet: int | None = None
) -> CaptureStories:
    asked = parse_scope(query, key, packet)
    return report(read_capture(path_of(name), asked), asked)


def story_of(name: str, subject: str, key: str) -> Story:
    """The only story about this key."""
    [story] = [
        one for one in report_of(name, key=key).stories if (one.subject, one.key) == (subject, key)
    ]
    return story


@cache
def messages_of(name: str) -> list[MessageSeen]:
    return [event for event in trace.open(path_of(name)) if isinstance(event, MessageSeen)]


def packets_of(
    name: str,
    kind: str,
    sender: str | None = None,
    receiver: str | None = None,
    key: str | None = None,
) -> list[int]:
    """The packets of such messages, found without the code of zenlake.why."""
    return [
        event.packet
        for event in messages_of(name)
        if event.kind == kind
        and sender in (None, event.sender_zid)
        and receiver in (None, event.receiver_zid)
        and key in (None, event.key)
    ]
