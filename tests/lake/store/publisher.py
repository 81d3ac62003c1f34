"""A process whose children publish versions until they are killed.

Each line on standard input asks for a child; the answer is its process id, and then, when it is
gone, how it ended. A number in the line has the child publish once and kill itself before the
step of that number. Children of a process that has imported everything start at once.

In every version all captures have the same edition, and there are two or three of them: a
reader that sees two editions, or another number, has not seen one version.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.lake.store.small_lake import capture, empty_files
from zenlake.lake.store import Store

CAPTURES = ("a", "b", "c")


# Whatever changes a file or a folder; the interpreter tells of each beforehand.
STEPS = ("open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink")


def publish(directory: Path) -> None:
    store = Store(directory)
    with store.begin() as run:
        manifest = store.manifest()
        edition = manifest.version + 1
        # The third comes and goes.
        present = CAPTURES if edition % 2 else CAPTURES[:2]
        added = {path: capture(run.staging, path, edition) for path in present}
        run.publish(added, manifest.captures.keys() - added.keys(), empty_files(run.staging))


def die_before(step: int) -> None:
    left = iter(range(step))

    def watch(event: str, _: object) -> None:
        if event in STEPS and next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def serve(directory: Path) -> None:
    with TemporaryDirectory() as folder:
        capture(Path(folder), "a")  # what it imports late is imported before the first child
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            step = line.strip()
            if step:
                die_before(int(step))
            while True:
                publish(directory)
                if step:
                    os._exit(0)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
