"""The order in which processes run the tests, and how many each gets at once.

`--dist loadgroup` hands out tests without a group one by one, and after each test adds up all
tests that the process ever ran: for 16,000 tests that keeps a processor busy for 15 seconds. Here
a process gets some neighbours of a file at once, which then also share their fixtures.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadGroupScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

NEIGHBOURS_MAX = 20
"""So few that no process still has many to run when the others have ended."""
OTHERS_BETWEEN_REAL = NEIGHBOURS_MAX
ENOUGH = 2
LONGEST = (
    "spark",
    "streams",
    "faults",
    "killed_follower",
    "dying_task",
    "killed_workers",
    "s3",
    "up",
    "pipeline",
)
"""The groups that take longest, in this order: they begin first."""


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Groups first, the longest before all; then tests with real nodes, which wait most of the
    time, mixed with others, which compute."""
    rank = {group: place for place, group in enumerate(LONGEST)}
    groups = {item: _group(item) for item in items}
    sizes = Counter(groups.values())
    grouped = [item for item in items if groups[item]]
    grouped.sort(key=lambda item: (rank.get(groups[item], len(rank)), -sizes[groups[item]]))
    single = [item for item in items if not groups[item]]
    real = [item for item in single if item.get_closest_marker("real") is not None]
    others = [item for item in single if item.get_closest_marker("real") is None]
    mixed = []
    for number, item in enumerate(others, 1):
        mixed.append(item)
        if number % OTHERS_BETWEEN_REAL == 0 and real:
            mixed.append(real.pop(0))
    return [*grouped, *mixed, *real]


def _group(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker else ""


class NeighbourScheduling(LoadGroupScheduling):  # type: ignore[misc]  # it has no types
    workqueue: OrderedDict[str, dict[str, bool]]
    assigned_work: dict[WorkerController, dict[str, dict[str, bool]]]
    _scopes: dict[str, str]
    _places: dict[str, int]

    def schedule(self) -> None:
        """Divide the tests when all processes have found the same ones."""
        if self.collection is None:
            names = next(iter(self.registered_collections.values()))
            self._scopes = dict(zip(names, scopes(names), strict=True))
            self._places = {name: place for place, name in enumerate(names)}
            self.config.option.loadscopereorder = False
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._scopes[nodeid]

    def _assign_work_unit(self, node: WorkerController) -> None:
        scope, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][scope] = tests
        node.send_runtest_some([self._places[name] for name, done in tests.items() if not done])

    def _reschedule(self, node: WorkerController) -> None:
        """Give a process more when it runs the last but one of its tests.

        It must know the next one. Any more might wait behind a long one.
        """
        if self.workqueue and self._pending_of(self.assigned_work[node]) == ENOUGH:
            return
        super()._reschedule(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Give the tests of a process that ended to others, except the one that it was running.

        Otherwise a test that ends its process would run again and again.
        """
        left = self.assigned_work.pop(node)
        if not self._pending_of(left):
            return None
        scope, tests = next(iter(left.items()))
        running = next(name for name, done in tests.items() if not done)
        left[scope][running] = True
        self._pending_of(left)
        self.workqueue = OrderedDict([*left.items(), *self.workqueue.items()])
        for other in self.assigned_work:
            self._reschedule(other)
        return running

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        for scope in [scope for scope, tests in workload.items() if all(tests.values())]:
            del workload[scope]
        return sum(not done for tests in workload.values() for done in tests.values())


def scopes(names: Sequence[str]) -> list[str]:
    """What each test is handed out with: its group, or up to so many neighbours of its file."""
    found: list[str] = []
    for group, run in groupby(names, key=_group_or_file):
        for place, _ in enumerate(run):
            first = len(found) - place % NEIGHBOURS_MAX
            found.append(group if group.startswith("@") else f"{group} {first}")
    return found


def _group_or_file(name: str) -> str:
    if name.rfind("@") > name.rfind("]"):
        return name[name.rfind("@") :]
    return name.partition("::")[0]
