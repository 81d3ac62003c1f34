"""`record`: a client that subscribes and records what it receives, without decoding it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Self, final

from zenlake.api.arguments.conversion import key_text
from zenlake.api.config.config import Config
from zenlake.api.final_classes import NoConstructor
from zenlake.api.session.opening import open_session
from zenlake.api.session.session import Session
from zenlake.errors import ZError
from zenlake.keyexpr import KeyExpr
from zenlake.node import Node
from zenlake.recording.recorder import Recorder
from zenlake.session import Locality
from zenlake.session.sink import Sink

Keys = str | KeyExpr | Sequence[str | KeyExpr]


@final
class Recording(NoConstructor):
    """A running recording, made by `record`. Closed at the end of a `with` block."""

    __slots__ = ("_last_stats", "_path", "_session")
    _session: Session
    _path: str
    _last_stats: dict[str, int] | None

    @classmethod
    def _make(cls, session: Session, path: str) -> Self:
        made = object.__new__(cls)
        made._session = session
        made._path = path
        made._last_stats = None
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_args: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """The folder of the recording."""
        return self._path

    def is_closed(self) -> bool:
        return self._session.is_closed()

    def stats(self) -> dict[str, int]:
        """Counters so far; after `close` the last ones.

        `packets` and `bytes` were written, `dropped` packets did not fit into the buffer or onto
        the disk, `messages` were received on open links.
        """
        if self._last_stats is not None:
            return self._last_stats
        return _stats_of(self._session)

    @property
    def failure(self) -> str:
        """Why nothing more is recorded, such as a deleted folder; empty while it goes on."""
        return _recorder_of(self._session).failure

    def close(self) -> None:
        """Close the links, write everything to the disk and complete the last segment."""
        if self._last_stats is None:
            node = _node_of(self._session)
            messages = node.stats()["messages_in"]
            self._session.close()
            self._last_stats = {**_stats_of(self._session), "messages": messages}


def record(
    connect: str | Sequence[str] | Config | None,
    key_exprs: Keys,
    path: str | os.PathLike[str],
    *,
    liveliness: Keys = (),
    exclude: Keys = (),
    drop_payload: Keys = (),
) -> Recording:
    """Record the publications on `key_exprs`, and the liveliness tokens on `liveliness`.

    `connect` is an endpoint or several, or a configuration; None finds a router by scouting.
    `path` is a folder, new or of an earlier recording. Nothing about the keys in `exclude` is
    recorded, and no payloads of those in `drop_payload`.
    """
    config = _config_of(connect)
    folder = os.fspath(path)
    config.insert_json5("recording/path", json.dumps(folder))
    for name, given in (("exclude", exclude), ("drop_payload", drop_payload)):
        if texts := _texts(given):
            config.insert_json5(f"recording/{name}", json.dumps(texts))
    keys, tokens = _texts(key_exprs), _texts(liveliness)
    if not keys and not tokens:
        raise ZError("record needs a key expression to subscribe to")
    return record_with(config, keys, tokens)


def record_with(config: Config, keys: list[str], tokens: list[str]) -> Recording:
    """Record with a configuration that has `recording/path`."""
    session = open_session(config, discards_publications=True)
    try:
        handle = session._handle
        with handle.locked:
            for key in keys:
                handle.core.declare_subscriber(key, _Discard(), Locality.ANY, time.monotonic())
            for key in tokens:
                handle.core.declare_liveliness_subscriber(key, _Discard(), True, time.monotonic())
    except BaseException:
        session.close()
        raise
    return Recording._make(session, str(config.get("recording/path")))


class _Discard(Sink):
    """A sink that drops the samples, which the recording has already."""

    def push(self, item: object) -> None:
        pass

    def push_all(self, items: list[object], size: int) -> None:
        pass


def _config_of(connect: str | Sequence[str] | Config | None) -> Config:
    """A client's configuration; a mode that was set stays."""
    if isinstance(connect, Config):
        config = connect.copy()
    else:
        config = Config()
        if connect is not None:
            endpoints = [connect] if isinstance(connect, str) else list(connect)
            config.insert_json5("connect/endpoints", json.dumps(endpoints))
    if "mode" not in config.explicit():
        config.insert_json5("mode", '"client"')
    return config


def _texts(keys: Keys) -> list[str]:
    given = [keys] if isinstance(keys, str | KeyExpr) else keys
    return [key_text(key) for key in given]


def _node_of(session: Session) -> Node:
    node = session._handle.node
    assert isinstance(node, Node)
    return node


def _stats_of(session: Session) -> dict[str, int]:
    recorder = _recorder_of(session)
    return {
        "packets": recorder.written_packets,
        "bytes": recorder.written_bytes,
        "dropped": recorder.dropped_packets,
        "messages": _node_of(session).stats()["messages_in"],
    }


def _recorder_of(session: Session) -> Recorder:
    recorder = _node_of(session).tap
    assert isinstance(recorder, Recorder)
    return recorder
