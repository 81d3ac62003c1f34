"""Readiness: a process reports that it works, by the datagram of systemd's `sd_notify`.

So a service of `Type=notify` is started when its router accepts connections, and `zenlake up` knows
the same of the router that it starts.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_VARIABLE: Final = "NOTIFY_SOCKET"
_READY: Final = "READY=1"
_STATUS: Final = "STATUS="
_DATAGRAM_BYTES_MAX: Final = 65_536


def report_ready(status: str) -> None:
    """Tells the process that waits for this one, if any, that it works, and a line for people."""
    address = os.environ.get(_VARIABLE, "")
    if not address:
        return
    if address.startswith("@"):  # a name without a file, on Linux
        address = f"\0{address[1:]}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
        sender.sendto(f"{_READY}\n{_STATUS}{status}".encode(), address)


class ReadinessSocket:
    """The end of the process that waits."""

    def __enter__(self) -> ReadinessSocket:
        self._folder = TemporaryDirectory(prefix="zenlake-")
        path = str(Path(self._folder.name, "ready"))
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(path)
        self.variables = {_VARIABLE: path}
        """Of the environment of the process that reports."""
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._folder.cleanup()

    def status(self, seconds: float) -> str | None:
        """The status of a process that is ready; None if none reported within so many seconds."""
        self._socket.settimeout(seconds)
        try:
            lines = self._socket.recv(_DATAGRAM_BYTES_MAX).decode(errors="replace").split("\n")
        except TimeoutError:
            return None
        if _READY not in lines:
            return None
        return next((line.removeprefix(_STATUS) for line in lines if line.startswith(_STATUS)), "")
