"""How signals end a command: Ctrl-C, `kill` and a closed terminal.

Most commands get a KeyboardInterrupt while they run, clean up, and exit with 130. While Python
imports modules or shuts down, nothing would catch the exception: then the signal handler ends the
process. After SIGTERM and SIGHUP the handler always ends the process.

It also does so after Ctrl-C in commands that start Java: Spark's Java process ignores Ctrl-C and
outlives its driver by seconds, and the gateway to Java would print a traceback.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

from zenlake import exit_cleanups

INTERRUPTED: Final = 128 + signal.SIGINT
_ERASE_LINE: Final = b"\r\x1b[2K"
_DYING_SECONDS_MAX: Final = 0.5
_POLL_SECONDS: Final = 0.01
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_process(number: int, frame: FrameType | None = None) -> NoReturn:
    """The signal handler: end all child processes, remove unfinished files, and exit."""
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    if os.isatty(2):
        os.write(2, _ERASE_LINE)  # the progress line
    # Other threads print errors when Java is gone.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    kill_children()
    exit_cleanups.run_all()
    os._exit(128 + number)


def end_on_signals() -> None:
    """Let signals end the process immediately, unless they are ignored (as `nohup` does)."""
    for number in _ENDING:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, end_process)


@contextmanager
def raising_interrupts() -> Iterator[None]:
    """Within this context Ctrl-C raises KeyboardInterrupt instead of ending the process."""
    if signal.getsignal(signal.SIGINT) is not end_process:
        yield
        return
    signal.signal(signal.SIGINT, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, end_process)


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    """Raise KeyboardInterrupt, but not during an import: some C modules would abort the process."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            end_process(number)
        frame = frame.f_back
    raise KeyboardInterrupt


@contextmanager
def ending_immediately() -> Iterator[None]:
    """Within this context Ctrl-C ends the process immediately, as SIGTERM and SIGHUP do."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled by the main thread only
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    taken = [number for number in _ENDING if before[number] not in (signal.SIG_IGN, None)]
    for number in taken:
        signal.signal(number, end_process)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


def kill_children() -> None:
    """Kill all descendants of this process."""
    stopped: set[int] = set()
    # Stop before killing: a stopped process starts no others, and remains their parent.
    while found := _descendants() - stopped:
        for pid in found:
            _send(pid, signal.SIGSTOP)
        stopped |= found
    for pid in stopped:
        _send(pid, signal.SIGKILL)
    until = time.monotonic() + _DYING_SECONDS_MAX
    while any(_parent(pid) is not None for pid in stopped) and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _descendants() -> set[int]:
    parents = _parents()
    found = {os.getpid()}
    while new := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= new
    return found - {os.getpid()}


def _parents() -> dict[int, int]:
    """The parent of each running process; empty where the system has no /proc."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return {}
    return {pid: parent for pid in pids if (parent := _parent(pid)) is not None}


def _parent(pid: int) -> int | None:
    """The parent of a process; None if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of the program is in brackets, and may contain any character.
            state, parent, *_ = file.read().rpartition(b")")[2].split()
    except (OSError, ValueError):
        return None
    return None if state == b"Z" else int(parent)
