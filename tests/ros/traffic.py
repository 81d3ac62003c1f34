"""Records traffic of ROS 2 through a real router as a capture with its sidecar.

    python -m tests.ros.traffic tests/data/captures/ros2.pcapng.gz

A lidar publishes /scan ten times a second and loses three messages to congestion. A viewer receives
all messages that were sent; a mapper unsubscribes for a while. A service is called. A camera is
killed. A bridge to DDS publishes /odom.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import zenoh

from tests.capture.capture_file import load
from tests.interop.tap import Tap
from tests.ports import free_port
from tests.ros import messages
from tests.ros.robot import Context, Node, Notes, config

SCAN = "sensor_msgs/msg/LaserScan"
IMAGE = "sensor_msgs/msg/Image"
ODOMETRY = "nav_msgs/msg/Odometry"
ADD = "example_interfaces/srv/AddTwoInts"
ADD_HASH = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
SENSOR_QOS = "2::,5:,:,:,,"
"""Best effort, keep the last five: the usual setting of sensor drivers."""
QOS = "::,10:,:,:,,"
MESSAGES = 20
HZ = 10
LOST = (7, 8, 15)
MISSED = (11, 12, 13, 14)
"""Messages that are sent while the mapper is not subscribed."""
ODOMETRY_MESSAGES = 5
QUIET_SECONDS = 0.2


def main(target: str) -> None:
    notes = Notes()
    plain = Path(target.removesuffix(".gz"))
    record(plain, notes)
    sidecar = described(plain, notes)
    plain.with_suffix(".json").write_text(json.dumps(sidecar, indent=1) + "\n", "utf-8")
    if target.endswith(".gz"):
        for path in (plain, plain.with_suffix(".json")):
            data = gzip.compress(path.read_bytes(), mtime=0)
            path.with_name(path.name + ".gz").write_bytes(data)
            path.unlink()


def record(capture: Path, notes: Notes) -> None:
    """Records the capture; all sessions are closed at the end."""
    port = free_port()
    listen = f"tcp/127.0.0.1:{port}"
    router: Any = zenoh.open(config("router", listen__endpoints=[listen]))
    facts = {"zid": str(router.zid()), "mode": "router", "listen": [listen], "connect": []}
    whose = {"config": {}, "implementation": "eclipse-zenoh", "version": version("eclipse-zenoh")}
    notes.add("nodes", node="router", **facts, **whose)
    notes.add("events", node="router", op="open", zid=facts["zid"])
    with Tap(capture, port) as tap:
        play(tap, notes)
        tap.until_quiet(QUIET_SECONDS)
    router.close()


def play(tap: Tap, notes: Notes) -> None:
    port = tap.port
    lidar, viewer, mapper = (Context(name, port, notes) for name in ("lidar", "viewer", "mapper"))
    camera = start_camera(port, notes)
    bridge = start_bridge(port, notes)
    for context in (lidar, viewer, mapper):
        context.watch("@ros2_lv/0/**")
    scan_hash = messages.type_hash(SCAN)

    driver = Node(lidar, "/robot", "lidar")
    scans = driver.entity("MP", "/scan", SCAN, scan_hash, SENSOR_QOS)
    adder = driver.entity("SS", "/add_two_ints", ADD, ADD_HASH, QOS)
    served = lidar.serve("adder", adder.key, messages.sum_of)

    screen = Node(viewer, "/", "viewer")
    shown = screen.entity("MS", "/scan", SCAN, scan_hash, SENSOR_QOS)
    showing = viewer.subscribe("shown", shown.key)
    client = screen.entity("SC", "/add_two_ints", ADD, ADD_HASH, QOS)

    slam = Node(mapper, "/", "mapper")
    mapped = slam.entity("MS", "/scan", SCAN, scan_hash, SENSOR_QOS)
    mapping = mapper.subscribe("mapped", mapped.key)
    tap.until_quiet(QUIET_SECONDS)

    for number in range(1, MESSAGES + 1):
        started = time.monotonic()
        if number == MISSED[0]:
            mapper.undeclare("mapped", mapping)
            mapped.undeclare()
            camera.kill()
            camera.communicate()
            notes.add("events", node="camera", op="killed")
        elif number == MISSED[-1] + 1:
            mapped = slam.entity("MS", "/scan", SCAN, scan_hash, SENSOR_QOS)
            mapping = mapper.subscribe("mapped again", mapped.key)
            tap.until_quiet(QUIET_SECONDS / 4)
        scans.publish(messages.scan(number), is_lost=number in LOST)
        if number <= ODOMETRY_MESSAGES:
            bridge.put("odom", messages.odometry(number))
        time.sleep(max(0.0, 1 / HZ - (time.monotonic() - started)))  # the rate of the lidar
    [reply] = viewer.call(client.key, messages.integers(2, 3), client.attach())
    assert reply == messages.integers(5)
    tap.until_quiet(QUIET_SECONDS)
    viewer.undeclare("shown", showing)
    lidar.undeclare("adder", served)
    for context in (bridge, mapper, viewer, lidar):
        context.close()
        tap.until_quiet(QUIET_SECONDS)


def start_bridge(port: int, notes: Notes) -> Context:
    context = Context("bridge", port, notes)
    own = f"@/{context.zid}/@ros2_lv"
    odometry_hash = messages.type_hash(ODOMETRY)
    written = ODOMETRY.replace("/", "§")
    context.token(own)
    context.token(f"{own}/MP/odom/{written}/:1:0:0,10:typehash={odometry_hash};")
    context.token(f"{own}/AS/navigate/nav2_msgs§action§NavigateToPose")
    return context


def start_camera(port: int, notes: Notes) -> subprocess.Popen[str]:
    """Starts the camera in its own process, which can be killed."""
    command = [sys.executable, "-m", "tests.ros.traffic", "--camera", str(port)]
    camera = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert camera.stdout is not None
    lists: dict[str, list[dict[str, Any]]] = json.loads(camera.stdout.readline())
    for name, rows in lists.items():
        for row in rows:
            notes.add(name, **{key: value for key, value in row.items() if key != "i"})
    return camera


def be_camera(port: int) -> None:
    notes = Notes()
    node = Node(Context("camera", port, notes), "/robot", "camera")
    image = node.entity("MP", "/image", IMAGE, messages.type_hash(IMAGE), SENSOR_QOS)
    print(json.dumps(notes.lists), flush=True)
    sys.stdin.read()
    image.undeclare()


def described(capture: Path, notes: Notes) -> dict[str, Any]:
    """The content of the sidecar."""
    found = load(capture)
    facts = {
        "file": capture.name,
        "interface": "a tap",
        "packets": len(found),
        "linktypes": [1],
        "file_bytes": capture.stat().st_size,
        "first": found[0].time_ns / 1e9,
        "last": found[-1].time_ns / 1e9,
        "ports": {"tcp": [7447], "udp": [], "scout": []},
    }
    name = "eclipse-zenoh (Python binding, Rust core)"
    return {
        "name": capture.stem,
        "description": " ".join((__doc__ or "").split("\n\n")[-1].split()),
        "capture": facts,
        "implementations": [{"name": name, "version": version("eclipse-zenoh")}],
        **notes.lists,
    }


if __name__ == "__main__":
    if sys.argv[1] == "--camera":
        be_camera(int(sys.argv[2]))
    else:
        main(sys.argv[1])
