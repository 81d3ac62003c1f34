"""A child process for one statement: the kernel limits its memory, and it can be killed.

DuckDB's `memory_limit` covers its buffers, but not texts that a function builds, lists, JSON
documents and rows in Python: `SELECT repeat('x', 3000000000)` took 5.9 GB with a limit of 1 GiB.
And DuckDB does not check for interrupts inside a function: `levenshtein` of two long texts runs for
hours. So `zenlake sql` runs each statement, and formats its rows, in a child process:

- `RLIMIT_DATA` limits all allocations of the child, by any function or library. DuckDB and Python
  raise an exception if an allocation fails; if they abort instead, only the child dies. `RLIMIT_AS`
  would also count address space that allocators reserve and never use.
- The child is a fork, which takes milliseconds; a new interpreter would import for 0.3 s. No other
  thread holds a lock at that time: captures have been read and their database is closed.
- The child writes to standard output itself, so that no row is sent between processes.

Without /proc the limit of the kernel is not set, and only `memory_limit` applies.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from zenlake.errors import ZenlakeError
from zenlake.exit_cleanups import temporary_folder
from zenlake.lake.errors import LakeError
from zenlake.lake.sql.functions import sql_error
from zenlake.limits import SQL_UNCOUNTED_BYTES_MAX

_MIB: Final = 1 << 20
_STACK_BYTES: Final = 8 << 20
"""The stack of one thread, which RLIMIT_DATA counts."""
_REPORT_BYTES_MAX: Final = 1 << 16
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NO_THREAD: Final = "can't start new thread"


def engine_bytes(bytes_max: int) -> int:
    """DuckDB's `memory_limit` for a statement that may use `bytes_max` in all."""
    return bytes_max - min(bytes_max * 3 // 4, SQL_UNCOUNTED_BYTES_MAX)


def too_much_memory(bytes_max: int, cause: str) -> LakeError:
    return sql_error(f"the statement needs more than {bytes_max // _MIB} MiB of memory: {cause}")


def run_bounded(work: Callable[[], int], bytes_max: int) -> int:
    """Runs `work` in a child process that may allocate `bytes_max`, and returns its result.

    A ZenlakeError, BrokenPipeError or OSError of `work` is raised here too.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with temporary_folder() as folder:
        child: _Child | None = None
        try:
            with _signals_blocked():
                child = _Child(folder, bytes_max)
                if child.pid == 0:
                    child.run(work)
            return child.result()
        finally:
            if child is not None:
                child.end()


def end_child_process(cause: str | None) -> None:
    """Ends the child process of a statement that ignores interrupts; does nothing elsewhere.

    Without a cause it is no error: the statement only ran to be checked.
    """
    if _Child.current is not None:
        if cause is None:
            _Child.current.report("done", 0)
        else:
            _Child.current.report("error", str(sql_error(cause)))
        os._exit(0)


class _Child:
    """The child, in both processes: `pid` is 0 in the child itself."""

    current: _Child | None = None
    """Set in the child."""

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._folder = folder
        self._errors = folder / "stderr"
        self._report, self._to_report = os.pipe()
        self._lifeline, self._parent_lives = os.pipe()
        self._is_running = True
        self.pid = os.fork()
        theirs = (self._to_report, self._lifeline)
        ours = (self._report, self._parent_lives)
        for descriptor in ours if self.pid == 0 else theirs:
            os.close(descriptor)

    # Methods that run in the child.

    def run(self, work: Callable[[], int]) -> NoReturn:
        try:
            self._prepare()
            value = work()
            sys.stdout.flush()
            self.report("done", value)
        except BaseException as error:  # this process must end here in any case
            self._report_error(error)
        finally:
            os._exit(0)  # not through the `finally` clauses of the parent

    def _prepare(self) -> None:
        _Child.current = self
        for number in _SIGNALS:
            # The parent removes files and folders.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        # A C++ library that aborts writes a long message.
        descriptor = os.open(self._errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(descriptor, 2)
        tempfile.tempdir = str(self._folder)  # removed by the parent if this process is killed
        threading.Thread(target=self._end_with_parent, daemon=True).start()
        _limit_memory(self._bytes_max)

    def _end_with_parent(self) -> None:
        os.read(self._lifeline, 1)
        os._exit(1)

    def _report_error(self, error: BaseException) -> None:
        _limit_memory(None)
        with suppress(OSError):
            sys.stdout.flush()
        is_memory = isinstance(error, MemoryError) or str(error) == _NO_THREAD
        if is_memory:
            cause = " ".join(str(error).split()) or "an allocation failed"
            self.report("error", str(too_much_memory(self._bytes_max, cause)))
        elif isinstance(error, ZenlakeError):
            self.report("error", str(error))
        elif isinstance(error, OSError):
            self.report("os", [error.errno, error.strerror or str(error), error.filename])
        else:
            traceback.print_exception(error)
            sys.stderr.flush()
            self.report("bug", None)

    def report(self, kind: str, value: Any) -> None:
        if isinstance(value, str):
            value = value[: _REPORT_BYTES_MAX // 8]  # JSON writes at most six bytes for each
        os.write(self._to_report, json.dumps([kind, value], default=str).encode())

    # Methods that run in the parent.

    def result(self) -> int:
        data = b"".join(iter(lambda: os.read(self._report, _REPORT_BYTES_MAX), b""))
        _, status = os.waitpid(self.pid, 0)
        self._is_running = False
        if not data:
            raise self._died(os.waitstatus_to_exitcode(status))
        kind, value = json.loads(data)
        if kind == "error":
            raise LakeError(value)
        if kind == "os":
            raise OSError(*value)
        if kind == "bug":
            sys.stderr.write(self._errors.read_text("utf-8", "replace"))
            raise SystemExit(1)
        return int(value)

    def _died(self, code: int) -> BaseException:
        if code == -signal.SIGINT:
            return KeyboardInterrupt()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return too_much_memory(self._bytes_max, f"its process ended with {how}")

    def end(self) -> None:
        """Kills the child if it still runs, such as after Ctrl-C."""
        if self._is_running:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._report)
        os.close(self._parent_lives)


def _limit_memory(bytes_max: int | None) -> None:
    """Limits further allocations of this process; None removes the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if bytes_max is None:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
        return
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[5])
    except OSError:
        return
    stacks = (os.cpu_count() or 1) * _STACK_BYTES  # DuckDB starts a thread for each processor
    allowed = pages * resource.getpagesize() + stacks + bytes_max
    if hard != resource.RLIM_INFINITY:
        allowed = min(allowed, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """A signal that arrives while the child starts is handled afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
