"""Keys that the table calls honoured are those that opening a session reads."""

from __future__ import annotations

import time
from enum import Enum
from typing import Any

import pytest

from zenlake.api.config.config import Config
from zenlake.api.config.keys import KEYS
from zenlake.api.session import opening
from zenlake.node.settings import NodeSettings


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


def facts(value: object) -> object:
    """The attributes of settings, and of settings in them; other values as they are."""
    if isinstance(value, Enum) or not type(value).__module__.startswith("zenlake."):
        return value
    # `dir`, because classes that are compiled have neither __slots__ nor __dict__.
    attributes = {name: getattr(value, name) for name in dir(value) if not name.startswith("__")}
    return {name: facts(one) for name, one in attributes.items() if not callable(one)} or value


@pytest.mark.parametrize("mode", ["router", "peer", "client"])
def test_defaults_of_the_table_are_those_of_a_node(mode: str) -> None:
    config = Config()
    config.insert_json5("mode", f'"{mode}"')
    read = opening.node_settings(config)
    default = NodeSettings(read.role, read.zid)
    default.listen, default.links = read.listen, read.links
    assert facts(read) == facts(default)
