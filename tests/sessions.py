"""Sessions of zenlake and of eclipse-zenoh, and their configurations."""

from __future__ import annotations

import json
from typing import Any

import zenlake


def config_of(mode: str = "peer", module: Any = zenlake, **settings: object) -> Any:
    """A configuration without multicast that does not listen; `a__b=1` sets a/b.

    A router does not wait for others when it opens.
    """
    defaults = {"mode": mode, "scouting/multicast/enabled": False, "listen/endpoints": []}
    if mode == "router":
        defaults["scouting/delay"] = 0
    config = module.Config()
    for path, value in {**defaults, **settings}.items():
        config.insert_json5(path.replace("__", "/"), json.dumps(value))
    return config


def open_client(endpoint: str, module: Any = zenlake, **settings: object) -> Any:
    return module.open(config_of("client", module, connect__endpoints=[endpoint], **settings))
