"""Logs on request (behaviour reference §7.1)."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

import zenlake


@pytest.fixture(autouse=True)
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger("zenlake")
    level, handlers = logger.level, list(logger.handlers)
    yield logger
    logger.setLevel(level)
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
def test_levels(
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
