"""What the programs in processes of their own share.

Nothing of zenlake is imported: they may run on another interpreter, with eclipse-zenoh alone.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import signal
import sys
from collections.abc import Callable
from typing import Any


def open_session(module: str, settings: dict[str, object]) -> tuple[Any, Any]:
    """zenlake or eclipse-zenoh, which have the same API, and an open session."""
    faulthandler.register(signal.SIGUSR1)  # to see where a program hangs
    zenoh = importlib.import_module(module)
    config = zenoh.Config()
    config.insert_json5("scouting/multicast/enabled", "false")
    for path, value in settings.items():
        config.insert_json5(path, json.dumps(value))
    return zenoh, zenoh.open(config)


def answer_commands(commands: dict[str, Callable[..., object]]) -> None:
    """Answer commands until the other side ends."""
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(commands[name](*arguments)), flush=True)
