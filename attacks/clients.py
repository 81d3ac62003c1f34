"""The processes around an attack: the attacked node, two clients that ping, one that connects.

Every process ends by itself when its pipe closes. `zenoh` is zenlake or eclipse-zenoh: they have
the same API.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from attacks.plan import Tally, Target

PINGS_PER_SECOND = 200
CONTROL_PINGS_PER_SECOND = 100
STAMP = struct.Struct("<d")
WAIT_S = 30.0


class Process:
    """A child that answers commands over a pipe, one at a time."""

    def __init__(self, run: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far_end = context.Pipe()
        self._process = context.Process(target=run, args=(far_end, *arguments), daemon=True)
        self._process.start()
        far_end.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def send(self, command: object) -> None:
        self._connection.send(command)

    def receive(self, wait_s: float = WAIT_S) -> Any:
        if not self._connection.poll(wait_s):
            raise TimeoutError("a process does not answer")
        return self._connection.recv()

    def has_answered(self, wait_s: float) -> bool:
        return self._connection.poll(wait_s)

    def ask(self, command: object, wait_s: float = WAIT_S) -> Any:
        self.send(command)
        return self.receive(wait_s)

    def end(self, wait_s: float = 3.0) -> None:
        with contextlib.suppress(OSError):
            self._connection.close()
        self._process.join(wait_s)
        self._process.kill()
        self._process.join()


def config_of(zenoh: Any, settings: Mapping[str, object]) -> Any:
    config = zenoh.Config()
    config.insert_json5("scouting/multicast/enabled", "false")
    for path, value in settings.items():
        config.insert_json5(path, json.dumps(value))
    return config


def run_node(
    connection: Connection,
    module: str,
    settings: dict[str, object],
    has_subscriber: bool,
    log_path: str,
) -> None:
    """The attacked node: answers every command with its counters; what it logs goes to a file."""
    with open(log_path, "wb") as log:
        os.dup2(log.fileno(), 2)
    zenoh = importlib.import_module(module)
    session = zenoh.open(config_of(zenoh, settings))
    unread = session.declare_subscriber("unread") if has_subscriber else None
    connection.send("ready")
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.recv()
            stats = getattr(session.info, "stats", None)
            connection.send({} if stats is None else stats())
    del unread
    os._exit(0)  # closing under attack may take long, and is not measured


def run_echo(connection: Connection, module: str, settings: dict[str, object]) -> None:
    """Publishes every ping again as a pong."""
    zenoh = importlib.import_module(module)
    with zenoh.open(config_of(zenoh, settings)) as session:
        block = zenoh.CongestionControl.BLOCK
        pong = session.declare_publisher("pong", congestion_control=block, express=True)
        subscriber = session.declare_subscriber("ping", lambda sample: pong.put(sample.payload))
        connection.send("ready")
        with contextlib.suppress(EOFError, OSError):
            connection.recv()
        del subscriber
    os._exit(0)


class Pinger:
    """Pings at fixed times, whatever comes back; a ping that leaves late counts as slow."""

    def __init__(self, zenoh: Any, session: Any) -> None:
        block = zenoh.CongestionControl.BLOCK
        self._ping = session.declare_publisher("ping", congestion_control=block, express=True)
        self._subscriber = session.declare_subscriber("pong", self._on_pong)
        self._times: list[float] = []
        self._sent = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread()

    def _on_pong(self, sample: Any) -> None:
        [due] = STAMP.unpack(sample.payload.to_bytes())
        self._times.append(time.monotonic() - due)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._is_over.is_set():
            due += 1 / PINGS_PER_SECOND
            if (left := due - time.monotonic()) > 0:
                time.sleep(left)
            self._ping.put(STAMP.pack(due))
            self._sent += 1

    def start(self) -> None:
        self._times = []
        self._sent = 0
        self._is_over.clear()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self, wait_s: float) -> tuple[int, list[float]]:
        """Pings sent, and the times of those that came back within `wait_s` after the last."""
        deadline = time.monotonic() + wait_s
        self._is_over.set()
        self._thread.join(wait_s)
        while len(self._times) < self._sent and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._sent, self._times


def run_pinger(connection: Connection, module: str, settings: dict[str, object]) -> None:
    zenoh = importlib.import_module(module)
    with zenoh.open(config_of(zenoh, settings)) as session:
        pinger = Pinger(zenoh, session)
        deadline = time.monotonic() + WAIT_S / 2
        while not pinger._times and time.monotonic() < deadline:  # until the echo answers
            pinger._ping.put(STAMP.pack(time.monotonic()))
            time.sleep(0.02)
        connection.send("ready" if pinger._times else "no echo")
        with contextlib.suppress(EOFError, OSError):
            while True:
                command = connection.recv()
                if command == "start":
                    pinger.start()
                    connection.send(None)
                else:
                    connection.send(pinger.stop(command))
    os._exit(0)


def run_control(connection: Connection) -> None:
    """Two processes that ping each other without a node: the delay of the machine itself."""
    near, far = socket.socketpair()
    if os.fork() == 0:
        near.close()
        while data := far.recv(64):
            far.sendall(data)
        os._exit(0)
    far.close()
    connection.send("ready")
    times: list[float] = []
    due = time.monotonic()
    with contextlib.suppress(EOFError, OSError):
        while True:
            if connection.poll():
                connection.recv()
                connection.send(times)
                times = []
            due = max(due + 1 / CONTROL_PINGS_PER_SECOND, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))
            near.sendall(b"ping")
            near.recv(64)
            times.append(time.monotonic() - due)
    near.close()
    os.wait()
    os._exit(0)


def run_connector(connection: Connection, module: str, settings: dict[str, object]) -> None:
    """Opens a session for each command; answers with the milliseconds, or the error."""
    zenoh = importlib.import_module(module)
    connection.send("ready")
    with contextlib.suppress(EOFError, OSError):
        while connection.recv():
            began = time.monotonic()
            try:
                session = zenoh.open(config_of(zenoh, settings))
            except Exception as error:
                connection.send(str(error))
                continue
            took_ms = (time.monotonic() - began) * 1000
            session.close()
            connection.send(took_ms)
    os._exit(0)


def run_attack(
    connection: Connection, attack: Callable[[Target, Tally], None], target: Target
) -> None:
    """One attack, started by a command; a signal ends it if it does not end itself."""
    os.nice(5)  # in reality an attacker has processors of its own
    connection.send("ready")
    with contextlib.suppress(EOFError, OSError):
        connection.recv()
        signal.alarm(int(target.seconds * 2 + 20))
        target.until = time.monotonic() + target.seconds
        tally = Tally()
        error = ""
        try:
            attack(target, tally)
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
        connection.send((tally, error))
    os._exit(0)
