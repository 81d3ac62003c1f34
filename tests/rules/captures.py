"""Captures made from a seed: nodes that keep all rules, or break one."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.rules.faults import FAULTS, Fault
from tests.rules.group import Group, hello, scout
from tests.rules.legal_session import LegalSession
from tests.rules.packet_recorder import Recorder
from zenlake import rules, trace
from zenlake.rules import Finding


class Made(NamedTuple):
    """A capture with one fault, in the given packet."""

    path: Path
    fault: Fault
    packet: int


def clean(path: Path, seed: int, actions: int = 30) -> Path:
    """Write a capture of nodes that break no rule."""
    recorder = Recorder(seed)
    _others(recorder)
    session = LegalSession(recorder)
    session.open()
    for _ in range(actions):
        session.act()
    if recorder.random.random() < 0.7:
        session.close()
    recorder.write(path)
    return path


def broken(path: Path, seed: int, rule: str) -> Made:
    """Write a capture in which one node breaks `rule` once, between legal messages."""
    return made_of(path, seed, Random(seed).choice(FAULTS[rule]))


def made_of(path: Path, seed: int, fault: Fault) -> Made:
    recorder = Recorder(seed)
    _others(recorder)
    if fault.where == "scouting":
        packet = fault.break_rule(recorder)
    elif fault.where == "group":
        packet = _group(recorder, fault)
    else:
        packet = _session(recorder, fault)
    recorder.write(path)
    return Made(path, fault, packet)


def _session(recorder: Recorder, fault: Fault) -> int:
    random = recorder.random
    options = fault.options
    if rules.RULES[fault.rule].needs_whole:
        # Losses of datagrams are not visible.
        options = {**options, "protocol": "tcp"}
    session = LegalSession(recorder, **options)
    if fault.where == "session":
        session.open()
        for _ in range(random.randrange(15)):
            session.act()
    packet = fault.break_rule(session)
    if fault.ends and not session.is_dead:
        session.cut()
    for _ in range(random.randrange(10)):
        session.act()
    if not session.is_dead and random.random() < 0.7:
        session.close()
    return packet


def _group(recorder: Recorder, fault: Fault) -> int:
    group = Group(recorder)
    group.join(0)
    group.join(1)
    for _ in range(recorder.random.randrange(10)):
        group.act()
    packet = fault.break_rule(group)
    for _ in range(recorder.random.randrange(10)):
        group.put(1)
    return packet


def _others(recorder: Recorder) -> None:
    """Add other traffic to some captures: scouting, or another session."""
    if recorder.random.random() < 0.3:
        scout(recorder, source="10.0.3.9:42000")
        hello(recorder, destination="10.0.3.9:42000")
    if recorder.random.random() < 0.2:
        other = LegalSession(recorder, number=2, protocol="tcp")
        other.open()
        for _ in range(recorder.random.randrange(8)):
            other.act()
        other.close()


def findings(path: Path) -> list[Finding]:
    return list(rules.check(trace.open(str(path))))


def seeds(count: int, start: int = 0) -> list[tuple[int, str]]:
    """Seed and rule of `count` captures: all rules in turn, each time in another order."""
    found: list[tuple[int, str]] = []
    names = sorted(FAULTS)
    while len(found) < count:
        seed = start + len(found)
        if len(found) % len(names) == 0:
            Random(seed).shuffle(names)
        found.append((seed, names[len(found) % len(names)]))
    return found
