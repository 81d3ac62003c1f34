"""Records the capture that ships with the package, with real nodes (eclipse-zenoh).

    python -m tests.cli.demo_traffic src/zenlake/cli/demo_data/robot.pcapng

A dashboard watches the battery of a robot and asks it for two things: the pose of its arm, which
the robot answers and then forgets to finish, and its state, which it calls status.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.interop.tap import Tap
from tests.ports import free_port
from tests.why.real_traffic import answering, ask, client, router_at


def record(path: Path) -> None:
    router_port = free_port()
    with router_at(router_port), Tap(path, router_port) as tap:
        _talk(tap)
        tap.until_quiet(0.2)


def _talk(tap: Tap) -> None:
    robot, dashboard = client(tap.port), client(tap.port)
    unfinished: list[Any] = []

    def answer_pose(query: Any) -> None:
        query.reply("robot/arm/pose", "0.1 0.2 0.3")
        unfinished.append(query)

    declared = [robot.declare_queryable("robot/arm/pose", answer_pose)]
    declared.append(answering(robot, "robot/arm/status", "ok"))
    declared.append(robot.liveliness().declare_token("robot"))
    declared.append(dashboard.declare_subscriber("robot/battery", lambda sample: None))
    tap.until_quiet(0.2)
    for percent in (81, 80, 79):
        robot.put("robot/battery", str(percent))
        tap.until_quiet(0.1)
    ask(dashboard, "robot/arm/status", 1.0)
    ask(dashboard, "robot/arm/pose", 0.5)
    ask(dashboard, "robot/arm/state", 1.0)
    tap.until_quiet(0.1)
    unfinished.clear()
    for one in declared:
        one.undeclare()
    dashboard.close()
    robot.close()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
