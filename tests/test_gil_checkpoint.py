"""Long compiled work does not stop other threads."""

from __future__ import annotations

import sys
import threading
import time

from zenlake import gil_checkpoint
from zenlake.wire import Frame, ResponseFinal, decode_batch


def test_checkpoint_module_is_never_compiled() -> None:
    assert gil_checkpoint.__file__.endswith(".py")


def test_another_thread_runs_while_a_batch_is_decoded() -> None:
    """A batch of 20,000 messages: without checkpoints, the other thread would not run."""
    content = bytes(Frame(0, [ResponseFinal(n % 100) for n in range(20_000)]))
    counted: list[int] = []
    is_over = threading.Event()

    def count() -> None:
        while not is_over.is_set():
            counted.append(len(counted))
            time.sleep(0)  # releases the GIL

    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        between = []
        for _ in range(20):
            before = len(counted)
            assert decode_batch(content).error is None
            between.append(len(counted) - before)
    finally:
        is_over.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert max(between) > 0
