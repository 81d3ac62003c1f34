"""ReportServer: the report of a lake for browsers of this machine.

It listens on the loopback address only, and answers only requests whose header Host names this
address: a page of another site cannot read it through its own host name (DNS rebinding). It serves
the page and a JSON document about the version; nothing can be changed.

When the page is requested and the lake has a newer version, the page is written again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from zenlake.errors import LocalError
from zenlake.limits import REPORT_SERVER_REQUESTS_MAX

HOST: Final = "127.0.0.1"
_REQUEST_S: Final = 5.0
_WRITE_S: Final = 60.0
_WAITING: Final = """<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<title>zenlake</title><p>No version of the lake yet. This page reloads automatically.</p>
"""
_HEADERS: Final = {
    "Allow": "GET, HEAD",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every response; the page itself has a policy for scripts."""


class ReportServer:
    """A context manager that serves the page; call `show_version` for each version of the lake."""

    def __init__(self, port: int, lake: str) -> None:
        self._lake = lake
        self._version = 0
        self._written = 0
        self._writing = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="zenlake-")
        self._page = Path(self._folder.name) / "report.html"
        try:
            self._server = _Server((HOST, port), _Handler)
        except OSError as error:
            self._folder.cleanup()
            raise LocalError(f"port {port} on {HOST}: {error.strerror}") from None
        self._server.report = self
        self.address = f"http://{HOST}:{self._server.server_port}/"

    def __enter__(self) -> ReportServer:
        threading.Thread(
            target=self._server.serve_forever, name="zenlake report", daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._writing:
            self._folder.cleanup()

    def show_version(self, version: int) -> None:
        self._version = version

    def status(self) -> dict[str, Any]:
        return {"lake": self._lake, "version": self._version}

    def page(self) -> bytes:
        """The page of the newest version; an older page if that cannot be written in time."""
        with self._writing:
            version = self._version
            if version != self._written and self._is_written():
                self._written = version
            try:
                return self._page.read_bytes()
            except OSError:
                return _WAITING.encode()

    def _is_written(self) -> bool:
        """Write the page in another process, because a large lake takes memory and time."""
        options = ["report", "--lake", self._lake, "-o", str(self._page), "--json"]
        command = [sys.executable, "-m", "zenlake.cli.main", *options]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_WRITE_S)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode in (0, 1)  # 1: there is no message yet


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    report: ReportServer

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._free = threading.BoundedSemaphore(REPORT_SERVER_REQUESTS_MAX)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not an error of this server."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _REQUEST_S
    server_version = "zenlake"
    sys_version = ""

    def do_POST(self) -> None:
        """Any other method of HTTP; the base class answers 501 to names that are none."""
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", b"only GET and HEAD\n")

    do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_TRACE = do_POST

    def do_GET(self) -> None:
        if not self._is_own_request():
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"only for this address\n")
        elif self.path == "/":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.report.page())
        elif self.path == "/status.json":
            body = json.dumps(self.server.report.status()).encode() + b"\n"
            self._send(HTTPStatus.OK, "application/json", body)
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n")

    do_HEAD = do_GET

    def _is_own_request(self) -> bool:
        port = self.server.server_port
        own = {f"{HOST}:{port}", f"localhost:{port}"}
        if self.headers.get_all("Host", []) not in [[one] for one in own]:
            return False
        origin = self.headers.get("Origin")
        return origin is None or origin in {f"http://{one}" for one in own}

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""
