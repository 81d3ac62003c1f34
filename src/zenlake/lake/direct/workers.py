"""Workers: processes that run the jobs of large captures.

Several processes read a capture faster than one. The command itself only waits for them, so that
Ctrl-C ends it at once.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from zenlake.errors import ZenlakeError
from zenlake.lake.direct.start_up import keep_pandas_out
from zenlake.lake.errors import LakeError
from zenlake.lake.jobs import Job, Result

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Work = Callable[[Job], Result]
_END_SECONDS: Final = 5.0


class Workers:
    """Runs jobs in at most `processes` worker processes; with 0, in the calling process."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._started: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_error: object) -> None:
        for worker in self._started:
            worker.process.kill()
        for worker in self._started:
            worker.process.join(_END_SECONDS)

    def run(self, work: Work, jobs: list[Job]) -> list[Result]:
        """The results in the order of the jobs."""
        if not self._processes:
            return [work(job) for job in jobs]
        from multiprocessing.connection import Connection, wait

        while len(self._started) < min(self._processes, len(jobs)):
            with _interrupts_blocked():
                self._started.append(_Worker())
        results: list[Result | None] = [None] * len(jobs)
        pending = list(enumerate(jobs))[::-1]
        idle, busy = list(self._started), dict[Connection, tuple[_Worker, int]]()
        while pending or busy:
            while pending and idle:
                number, job = pending.pop()
                worker = idle.pop()
                worker.send(work, job)
                busy[worker.connection] = worker, number
            for ready in wait(busy):
                worker, number = busy.pop(cast(Connection, ready))
                results[number] = worker.receive()
                idle.append(worker)
        return [result for result in results if result is not None]


class _Worker:
    def __init__(self) -> None:
        from multiprocessing import get_context

        # A fork would copy the locks of threads that Arrow and DuckDB have running.
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def send(self, work: Work, job: Job) -> None:
        try:
            self.connection.send((work, job))
        except OSError:
            raise self._died() from None

    def receive(self) -> Result:
        try:
            result = self.connection.recv()
        except (EOFError, OSError):
            raise self._died() from None
        if isinstance(result, BaseException):
            raise result
        return cast(Result, result)

    def _died(self) -> LakeError:
        self.process.join(_END_SECONDS)
        code = self.process.exitcode
        return LakeError(
            f"a process that read captures ended by itself (exit code {code}): "
            "is there enough memory?"
        )


def _serve(connection: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_pandas_out()
    while True:
        try:
            work, job = connection.recv()
        except EOFError:
            return
        answer: Any
        try:
            answer = work(job)
        except ZenlakeError as error:
            answer = error
        connection.send(answer)


def _end_with_parent() -> None:
    """Ends this worker if the command is killed: its result has no reader then."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Blocks Ctrl-C while a process starts: the process inherits this, so that only the command
    reacts. A signal that arrives meanwhile is handled afterwards."""
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # when it starts with the first process, it unblocks signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
