"""The log of publications: which versions of all tables belong together, and which run may publish.

A run changes many tables, and readers must see all of its changes or none. The table `captures` is
committed last, and the information of that commit names the version of every table. This commit is
the publication: readers find the versions of the tables only there.

    {"publish": {"version": 7, "schema": 5, "tables": {"messages": 12, ...}, "run": "...",
        "followed": {"/robots/recording": {"batch": 40, "packets": 81200, ...}}}}

`followed` has the marks of followed recordings by address: how far each was read
(`publish/appender.py`). Every publication repeats the marks that it does not change.

The same log contains the lock. A run that wants to publish makes a commit without files

    {"begin": {"run": "...", "host": "...", "pid": 71, "start": "..."}}

and then holds the lock until its publication. A commit succeeds only as the successor of the
version that its writer has read (`Table.commit`): if two runs begin at once, one fails and waits.
The `begin` of a dead run is ignored if its process ran on this host and is gone, or after
`LEASE_SECONDS`. A run that loses the lock in this way cannot publish: its commit fails. The lock
requires only the atomic commits that Delta tables have on every store.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zenlake.lake.errors import LakeError
from zenlake.lake.publish.delta_table import Table

LEASE_SECONDS: Final = 120.0
"""A run must publish or renew its lease within this time."""
_PUBLISH: Final = "publish"
_BEGIN: Final = "begin"
_ABANDON: Final = "abandon"

FollowMark = Mapping[str, Any]
"""The position up to which a growing capture was read: `batch`, and facts of the follower."""


@dataclass(frozen=True)
class Publication:
    """A version of the lake; version 0 is the lake before its first publication."""

    version: int = 0
    schema_version: int = 0
    tables: Mapping[str, int] = field(default_factory=dict)
    """The version of every other table."""
    captures_version: int = -1
    """The version of the table `captures` that this commit made."""
    followed: Mapping[str, FollowMark] = field(default_factory=dict)
    """How far each growing capture was read, by address."""

    def facts(self, run: str) -> dict[str, Any]:
        return {
            _PUBLISH: {
                "version": self.version,
                "schema": self.schema_version,
                "tables": dict(self.tables),
                "run": run,
                **({"followed": dict(self.followed)} if self.followed else {}),
            }
        }


@dataclass(frozen=True)
class LockRecord:
    """A run that has begun to publish and has not finished."""

    run: str
    host: str
    pid: int
    start: str
    began_s: float

    def is_over(self, now_s: float) -> bool:
        """Whether its process is gone, or its lease has expired."""
        if now_s - self.began_s > LEASE_SECONDS:
            return True
        return self.host == host_name() and self.start != process_start(self.pid)


@dataclass(frozen=True)
class LogState:
    publication: Publication
    lock: LockRecord | None


def read_log(captures: Table) -> LogState:
    """The state after the newest commits; commits of other writers are ignored."""
    lock: LockRecord | None = None
    is_abandoned = False
    for version, facts in captures.facts():
        if _PUBLISH in facts:
            return LogState(_publication(version, facts[_PUBLISH]), lock)
        if _ABANDON in facts:
            is_abandoned = True
        if _BEGIN in facts and lock is None and not is_abandoned:
            lock = _lock_record(facts[_BEGIN])
    return LogState(Publication(), lock)


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
    """A short hash of the name of this host, for names of files."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def abandon_facts(run: str) -> dict[str, Any]:
    """The information of a commit that releases the lock without a publication."""
    return {_ABANDON: {"run": run}}


def process_start(pid: int) -> str:
    """The start time of a process of this host, as text; empty if there is no such process."""
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
        followed = {str(name): dict(mark) for name, mark in facts.get("followed", {}).items()}
        numbers = int(facts["version"]), int(facts["schema"])
        return Publication(*numbers, tables, version, followed)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        cause = f"the publication in version {version} of captures is damaged: {error!r}"
        raise LakeError(cause) from None


def _lock_record(facts: Any) -> LockRecord:
    try:
        return LockRecord(
            str(facts["run"]),
            str(facts["host"]),
            int(facts["pid"]),
            str(facts["start"]),
            float(facts["time"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LakeError(f"a begin in the log of captures is damaged: {error!r}") from None
