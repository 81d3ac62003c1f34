"""Logs on request (behaviour reference §7.1)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import zenlake
from zenlake.api.logs import LOGGERS

SOURCES = Path(zenlake.__file__).parent


@pytest.fixture(autouse=True)
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger("zenlake")
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    handlers = list(logger.handlers)
    yield logger
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    logger.handlers[:] = handlers


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("debug", logging.DEBUG),
        ("zenoh=info", logging.INFO),
        ("other=trace,zenoh::net=warn", logging.WARNING),
        ("nonsense", logging.ERROR),
    ],
)
def test_level_of_rust_is_the_level_of_python(
    root: logging.Logger, monkeypatch: pytest.MonkeyPatch, text: str, level: int
) -> None:
    monkeypatch.delenv("RUST_LOG", raising=False)
    before = root.level
    zenlake.try_init_log_from_env()
    assert root.level == before
    zenlake.init_log_from_env_or(text)
    assert root.level == level
    monkeypatch.setenv("RUST_LOG", "error")
    zenlake.init_log_from_env_or(text)
    assert root.level == logging.ERROR
    assert len(root.handlers) == 1


TRACE = 5


@pytest.mark.parametrize(
    ("text", "root_level", "transport", "session"),
    [
        ("zenoh_transport=trace", logging.ERROR, TRACE, logging.ERROR),
        ("zenoh_transport", logging.ERROR, TRACE, logging.ERROR),
        ("zenoh=info,zenoh_transport=trace", logging.INFO, TRACE, logging.INFO),
        ("zenoh_transport=trace,zenoh=info", logging.INFO, TRACE, logging.INFO),
        ("warn,zenoh_transport::unicast=debug", logging.WARNING, logging.DEBUG, logging.WARNING),
        ("warn,zenoh_link_tcp=debug", logging.WARNING, logging.DEBUG, logging.WARNING),
        ("debug,zenoh_transport=error", logging.DEBUG, logging.ERROR, logging.DEBUG),
        ("zenoh::api=debug", logging.DEBUG, logging.ERROR, logging.DEBUG),
        ("zenlake.transport=info", logging.ERROR, logging.INFO, logging.ERROR),
        ("zenlake=INFO", logging.INFO, logging.INFO, logging.INFO),
        ("3", logging.INFO, logging.INFO, logging.INFO),
        (" info , hyper=trace,", logging.INFO, logging.INFO, logging.INFO),
    ],
)
def test_filters_of_targets(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    root_level: int,
    transport: int,
    session: int,
) -> None:
    monkeypatch.setenv("RUST_LOG", text)
    zenlake.init_log_from_env_or("off")
    names = ("zenlake", "zenlake.transport", "zenlake.session")
    levels = [logging.getLogger(name).level for name in names]
    assert levels == [root_level, transport, session]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("verbose", logging.INFO),
        ("zenoh=verbose", logging.INFO),
        ("=debug", logging.INFO),
        ("zenoh[span{a=1}]=debug", logging.INFO),
        ("zenoh=loud,=,error", logging.ERROR),
    ],
)
def test_wrong_filters_are_one_warning(
    root: logging.Logger,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    level: int,
) -> None:
    monkeypatch.setenv("RUST_LOG", text)
    root.handlers.clear()
    zenlake.init_log_from_env_or("info")
    assert root.level == level
    (line,) = capsys.readouterr().out.splitlines()
    assert "WARNING zenlake: log filters ignored: " in line
    assert repr(text.partition(",")[0]) in line


def test_every_logger_can_be_filtered() -> None:
    used = set()
    for path in SOURCES.rglob("*.py"):
        used |= set(re.findall(r'getLogger\("(zenlake[^"]*)"\)', path.read_text("utf-8")))
    assert used == set(LOGGERS)
