"""The log of publications: which versions of all tables belong together, and who may publish.

A run changes many tables, and readers must see all of its changes or none. The table `captures` is
committed last, and the information of that commit names the version of every table. This commit is
the publication: nothing else points from the lake to its tables.

    {"publish": {"version": 7, "schema": 5, "tables": {"messages": 12, ...}, "run": "..."}}

The same log says whose turn it is. A run that wants to publish commits, without any file,

    {"begin": {"run": "...", "host": "...", "pid": 71, "start": "..."}}

and then owns the log until its publication. Commits succeed only at the version that their writer
has seen (`Table.commit`), so of two runs that begin at once one fails and waits. A run that dies
leaves its `begin` behind; it is passed over when its process is gone from this host, or after
`LEASE_SECONDS`. A run that was passed over cannot publish any more: its commit comes too late.
This needs nothing but the atomic commits that Delta tables have on every store.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zenlake.lake.publish.delta_table import Table
from zenlake.lake.publish.errors import LakeError

LEASE_SECONDS: Final = 120.0
"""After its `begin` a run has so much time to publish; it renews the lease while it works."""
_PUBLISH: Final = "publish"
_BEGIN: Final = "begin"
_ABANDON: Final = "abandon"


@dataclass(frozen=True)
class Publication:
    """A version of the lake; number 0 is the lake before its first one."""

    version: int = 0
    schema_version: int = 0
    tables: Mapping[str, int] = field(default_factory=dict)
    """The version of every table that belongs to it."""
    captures_version: int = -1
    """Of the table `captures`, whose commit this is."""

    def facts(self, run: str) -> dict[str, Any]:
        return {
            _PUBLISH: {
                "version": self.version,
                "schema": self.schema_version,
                "tables": dict(self.tables),
                "run": run,
            }
        }


@dataclass(frozen=True)
class Turn:
    """A run that has begun to publish and has not finished."""

    run: str
    host: str
    pid: int
    start: str
    began_s: float

    def is_over(self, now_s: float) -> bool:
        """Whether its owner is gone, or has not been heard of for too long."""
        if now_s - self.began_s > LEASE_SECONDS:
            return True
        return self.host == host_name() and self.start != process_start(self.pid)


@dataclass(frozen=True)
class LogState:
    publication: Publication
    turn: Turn | None


def read_log(captures: Table) -> LogState:
    """What the newest commits say; foreign commits are passed over."""
    turn: Turn | None = None
    is_settled = False
    for version, facts in captures.facts():
        if _PUBLISH in facts:
            return LogState(_publication(version, facts[_PUBLISH]), turn)
        if _ABANDON in facts:
            is_settled = True
        if _BEGIN in facts and turn is None and not is_settled:
            turn = _turn(facts[_BEGIN])
    return LogState(Publication(), turn)


def begin_facts(run: str) -> dict[str, Any]:
    pid = os.getpid()
    return {
        _BEGIN: {
            "run": run,
            "host": host_name(),
            "pid": pid,
            "start": process_start(pid),
            "time": time.time(),
        }
    }


def host_name() -> str:
    """Of this host, as names of files may show it."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def abandon_facts(run: str) -> dict[str, Any]:
    """Of a run that began, and gives up in order."""
    return {_ABANDON: {"run": run}}


def process_start(pid: int) -> str:
    """When a process of this host started, in its own words; empty where there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[19]
    except (OSError, IndexError):
        pass
    if os.path.isdir("/proc/self"):
        return ""
    try:  # a system without /proc
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        return "running"
    return "running"


def _publication(version: int, facts: Any) -> Publication:
    try:
        tables = {str(name): int(number) for name, number in facts["tables"].items()}
        return Publication(int(facts["version"]), int(facts["schema"]), tables, version)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        cause = f"the publication in version {version} of captures is damaged: {error!r}"
        raise LakeError(cause) from None


def _turn(facts: Any) -> Turn:
    try:
        return Turn(
            str(facts["run"]),
            str(facts["host"]),
            int(facts["pid"]),
            str(facts["start"]),
            float(facts["time"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LakeError(f"a begin in the log of captures is damaged: {error!r}") from None
