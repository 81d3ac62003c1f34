"""Processes report that they work, as systemd's `sd_notify` does."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from zenlake.cli.readiness import ReadinessSocket, report_ready


def test_status_of_a_ready_process_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    with ReadinessSocket() as readiness:
        monkeypatch.setenv("NOTIFY_SOCKET", readiness.variables["NOTIFY_SOCKET"])
        assert readiness.status(0.01) is None
        report_ready("tcp/127.0.0.1:7447")
        assert readiness.status(5) == "tcp/127.0.0.1:7447"


def test_other_messages_are_no_readiness() -> None:
    with ReadinessSocket() as readiness:
        path = readiness.variables["NOTIFY_SOCKET"]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"STATUS=starting", path)
            sender.sendto(b"\xff\nREADY=1", path)
        assert readiness.status(5) is None
        assert readiness.status(5) == ""


def test_report_reaches_a_name_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("")  # the kernel chooses a name
        name = manager.getsockname()
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", "@" + name[1:].decode())
        report_ready("ready")
        assert manager.recv(100) == b"READY=1\nSTATUS=ready"


@pytest.mark.parametrize("address", ["", "no such file", "/" * 200])
def test_report_without_a_listener_is_harmless(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    report_ready("ready")
