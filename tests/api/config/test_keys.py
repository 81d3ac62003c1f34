"""Keys that the table calls honoured are those that opening a session reads."""

from __future__ import annotations

import time
from typing import Any

from zenlake.api.config.config import Config
from zenlake.api.config.keys import KEYS
from zenlake.api.session import opening


class Recorder:
    """A configuration that records which keys are read."""

    def __init__(self) -> None:
        self.config = Config()
        self.read = {"mode"}

    def get(self, path: str) -> Any:
        self.read.add(path)
        return self.config.get(path)


def test_honoured_keys_are_those_that_are_read() -> None:
    recorder: Any = Recorder()
    opening.node_settings(recorder)
    opening.session_settings(recorder)
    honoured = {path for path, key in KEYS.items() if key.honoured}
    assert honoured - recorder.read == set()
    # Read with everything below the same path, but without effect.
    assert recorder.read - honoured == set()


def test_reading_is_cheap() -> None:
    config = Config()
    start = time.thread_time()
    for path in KEYS:
        config.get(path)
    assert time.thread_time() - start < 0.5
