"""One server for all tests of a process; its environment is set in each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lake.s3 import server


@pytest.fixture(scope="session")
def s3_port() -> Iterator[int]:
    with server.running() as port:
        yield port


@pytest.fixture
def s3(s3_port: int, monkeypatch: pytest.MonkeyPatch) -> int:
    for name, value in server.environment(s3_port).items():
        monkeypatch.setenv(name, value)
    return s3_port
