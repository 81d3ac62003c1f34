"""One attack, measured: pings, memory, processor time, threads and files of the attacked node."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attacks import clients
from attacks.clients import Process
from attacks.plan import MIB, PING_P99_MS_MAX, Attack, Tally, Target

SETTLE_S = 1.0
"""How long pings go on after an attack, while its sessions are being removed."""
LEFT_WAIT_S = 8.0
"""How long the threads and open files of an attack may take to disappear."""
STOP_WAIT_S = 15.0
"""How long to wait for the last pings to come back."""
BUSY_MS = 10.0
"""A p99 above this between two processes without a node: the machine itself delays pings."""
BUSY_FACTOR = 4
"""Pings through a node wait for four processes, not for two, and these do more."""
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Options:
    node: str = "zenlake"
    clients: str = "zenlake"
    mode: str = "peer"
    """The mode of the attacked node: peer or router."""
    is_quick: bool = False
    seconds_max: float = 3.0
    """The duration of each attack of a quick run."""


@dataclass
class Result:
    """The figures of one attack, by name; `failures` names those beyond their limits."""

    name: str
    lines: str
    what: str
    messages: int = 0
    sent_bytes: int = 0
    pings: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    stats: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """`busy` if the machine was: two processes without a node waited about as long."""
        if not self.failures:
            return "ok"
        is_slow = [one for one in self.failures if one.startswith(("p99_ms", "open_ms"))]
        figures = self.figures
        excuse_ms = PING_P99_MS_MAX + BUSY_FACTOR * figures["machine_ms"]
        is_excused = figures["p99_ms"] <= excuse_ms and figures["machine_ms"] > BUSY_MS
        return "busy" if is_excused and is_slow == self.failures else "FAILED"


class Watch:
    """Memory, processor time, threads and files of a process, read from /proc."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")
        self._is_over = threading.Event()
        self.peak_bytes = self.first_bytes = self.resident_bytes()
        self.peak_files = self.first_files = self.files()
        self.first_threads = self.threads()
        self.first_cpu_s = self.cpu_s()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def resident_bytes(self) -> int:
        return int((self._folder / "statm").read_text().split()[1]) * PAGE

    def cpu_s(self) -> float:
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def threads(self) -> int:
        return len(os.listdir(self._folder / "task"))

    def files(self) -> int:
        return len(os.listdir(self._folder / "fd"))

    def _run(self) -> None:
        while not self._is_over.wait(0.05):
            try:
                self.peak_bytes = max(self.peak_bytes, self.resident_bytes())
                self.peak_files = max(self.peak_files, self.files())
            except OSError:
                return

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def wait_until_left(self) -> None:
        """Wait for a limited time until threads and open files are as many as before."""
        deadline = time.monotonic() + LEFT_WAIT_S
        while time.monotonic() < deadline:
            if self.threads() <= self.first_threads and self.files() <= self.first_files:
                return
            time.sleep(0.05)


def free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Opens:
    """Clients that connect one after the other while an attack goes on."""

    def __init__(self, connector: Process) -> None:
        self._connector = connector
        self.slowest_ms = 0.0
        self.failed = 0
        self.count = 0
        self.error = ""

    def once(self, wait_s: float = 20.0) -> None:
        self.count += 1
        try:
            answer = self._connector.ask(True, wait_s)
        except (TimeoutError, EOFError, OSError) as error:
            answer = str(error)
        if isinstance(answer, float):
            self.slowest_ms = max(self.slowest_ms, answer)
        else:
            self.failed += 1
            self.error = answer


def percentile(times: list[float], share: float) -> float:
    """The percentile in milliseconds; infinite if no ping came back."""
    if not times:
        return float("inf")
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def make_certificate(certificate: Path, key: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    paths = ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=node"]
    subprocess.run([*command.split(), *paths], check=True, capture_output=True)


def settings_of(
    mode: str, needs: frozenset[str], target: Target, endpoints: list[str], folder: Path
) -> tuple[dict[str, object], dict[str, object]]:
    """The configurations of the attacked node and of the well-behaved clients, by path."""
    node: dict[str, object] = {"mode": mode, "listen/endpoints": endpoints}
    client: dict[str, object] = {"mode": "client"}
    if "tls" in needs:
        certificate, key = folder / "node.pem", folder / "node.key"
        make_certificate(certificate, key)
        node["listen/endpoints"] = [*endpoints, f"tls/127.0.0.1:{target.tls_port}"]
        node["transport/link/tls/listen_certificate"] = str(certificate)
        node["transport/link/tls/listen_private_key"] = str(key)
    if "group" in needs:
        node["listen/endpoints"] = [*endpoints, f"udp/{target.group}#iface=lo"]
    if "scouting" in needs:
        node["scouting/multicast/enabled"] = True
        node["scouting/multicast/interface"] = "lo"
        node["scouting/multicast/address"] = target.group
    if "users" in needs:
        users = folder / "users"
        users.touch(0o600)
        users.write_text("good:secret\n")
        node["transport/auth/usrpwd/dictionary_file"] = str(users)
        client["transport/auth/usrpwd/user"] = "good"
        client["transport/auth/usrpwd/password"] = "secret"
    return node, client


def measure(attack: Attack, options: Options) -> Result:
    seconds = min(attack.seconds, options.seconds_max) if options.is_quick else attack.seconds
    target = Target(
        free_port(socket.SOCK_STREAM),
        free_port(socket.SOCK_DGRAM),
        free_port(socket.SOCK_STREAM),
        f"224.0.0.{random.randint(225, 250)}:{free_port(socket.SOCK_DGRAM)}",
        options.is_quick,
        seconds,
    )
    tcp, udp = f"tcp/127.0.0.1:{target.port}", f"udp/127.0.0.1:{target.udp_port}"
    folder = tempfile.TemporaryDirectory(prefix="zenlake-attack-")
    config, far = settings_of(options.mode, attack.needs, target, [tcp, udp], Path(folder.name))
    log_path = Path(folder.name, "node.log")
    processes: list[Process] = []

    def start(*arguments: Any) -> Process:
        run, *others = arguments
        processes.append(Process(run, *others))
        return processes[-1]

    def ready(process: Process) -> None:
        if (answer := process.receive()) != "ready":
            raise RuntimeError(answer)

    try:
        node = start(
            clients.run_node, options.node, config, "subscriber" in attack.needs, str(log_path)
        )
        ready(node)
        over = far | {"connect/endpoints": [tcp]}
        ready(start(clients.run_echo, options.clients, over))
        pinger = start(clients.run_pinger, options.clients, over)
        endpoint = udp if attack.opens == "udp" else tcp
        connector = start(
            clients.run_connector, options.clients, far | {"connect/endpoints": [endpoint]}
        )
        attacker = start(clients.run_attack, attack.run, target)
        control = start(clients.run_control)
        for one in (pinger, connector, attacker, control):
            ready(one)
        result = _under_attack(attack, target, node, pinger, connector, attacker, control)
        log = log_path.read_bytes()
        result.figures["log_lines"] = log.count(b"\n")
        result.figures["tracebacks"] = log.count(b"Traceback")
        result.failures += judge(attack, result.figures)
        return result
    finally:
        for one in reversed(processes):
            one.end(0.5)
        folder.cleanup()


def _under_attack(
    attack: Attack,
    target: Target,
    node: Process,
    pinger: Process,
    connector: Process,
    attacker: Process,
    control: Process,
) -> Result:
    opens = Opens(connector)
    opens.once()  # the first one imports what it needs
    opens.slowest_ms = 0.0
    time.sleep(0.3)
    watch = Watch(node.pid)
    began = time.monotonic()
    control.ask("start")
    pinger.ask("start")
    attacker.send("go")
    deadline = began + target.seconds * 2 + 25
    while not attacker.has_answered(0.25) and time.monotonic() < deadline:
        if attack.opens:
            opens.once()
    try:
        tally, error = attacker.receive(0.1)
    except (TimeoutError, EOFError, OSError):
        tally, error = Tally(), "the attack did not end by itself"
    attacker.end(0.5)
    time.sleep(SETTLE_S)
    sent, times = pinger.ask(STOP_WAIT_S, STOP_WAIT_S + 10)
    took_s = time.monotonic() - began
    machine_ms = percentile(control.ask("stop"), 0.99)
    cpu_s = watch.cpu_s() - watch.first_cpu_s
    opens.once()
    if "threads_left" in attack.limits or "files_left" in attack.limits:
        watch.wait_until_left()
    watch.stop()
    result = Result(attack.name, attack.lines, attack.what, tally.messages, tally.sent_bytes, sent)
    result.limits = attack.limits
    result.figures = {
        "p50_ms": percentile(times, 0.5),
        "p99_ms": percentile(times, 0.99),
        "max_ms": percentile(times, 1.0),
        "machine_ms": machine_ms,
        "lost": sent - len(times),
        "grown_mib": (watch.peak_bytes - watch.first_bytes) / MIB,
        "left_mib": (watch.resident_bytes() - watch.first_bytes) / MIB,
        "cpu_s": cpu_s,
        "cpu_share": cpu_s / took_s,
        "seconds": took_s,
        "open_ms": opens.slowest_ms,
        "opens": opens.count,
        "failed_opens": opens.failed,
        "files_peak": watch.peak_files - watch.first_files,
        "threads_left": watch.threads() - watch.first_threads,
        "files_left": watch.files() - watch.first_files,
        **tally.facts,
    }
    try:
        result.stats = node.ask("stats", 5.0)
    except (TimeoutError, EOFError, OSError):
        result.failures.append("the node does not answer")
    if opens.failed:
        result.failures.append(f"{opens.failed} of {opens.count} clients refused: {opens.error}")
    if error:
        result.failures.append(f"the attack failed: {error}")
    return result


def judge(attack: Attack, figures: dict[str, float]) -> list[str]:
    """Figures beyond their limits; a fact that the attack did not see counts as none."""
    return [
        f"{name} {figures.get(name, 0):.4g} > {limit:g}"
        for name, limit in attack.limits.items()
        if figures.get(name, 0) > limit
    ]
