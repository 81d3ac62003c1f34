"""A process whose children publish versions until they are killed.

Each line on standard input requests a child; the answers are its process id and, after its end,
its exit status. With a number in the line, the child publishes once and kills itself before the
commit of that number. In every version all captures have the same edition, and there are two or
three of them: a reader with two editions, or another number, has not read one version.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.lake.publish.small_lake import capture_row, rows_of_captures, written
from zenlake.lake.publish import Store, publisher  # noqa: F401  # loaded before the first child
from zenlake.lake.publish.delta_table import Table

CAPTURES = ("a", "b", "c")


def present(edition: int) -> tuple[str, ...]:
    """The captures of an edition; the third is in every other one."""
    return CAPTURES if edition % 2 else CAPTURES[:2]


def publish(directory: Path) -> None:
    store = Store(directory)
    with store.begin() as run:
        manifest = store.manifest()
        edition = manifest.version + 1
        paths = present(edition)
        files = written(Path(run.staging.path), rows_of_captures(paths, edition))
        gone = manifest.captures.keys() - set(paths)
        run.publish([capture_row(path, edition) for path in paths], files, gone)


def die_before(number: int) -> None:
    left = iter(range(number))
    original = Table.commit

    def counted(self: Table, *args: Any, **kwargs: Any) -> Table:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, *args, **kwargs)

    Table.commit = counted  # type: ignore[method-assign]  # kills the process before a commit


def serve(directory: Path) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            if line.strip():
                die_before(int(line))
            while True:
                publish(directory)
                if line.strip():
                    os._exit(0)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
