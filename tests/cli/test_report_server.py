"""The page of `zenlake up`: only for this machine, only by its own name, nothing to change."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("duckdb", reason="needs zenlake[sql]")

from tests.report.small_lake import make, robot
from zenlake.cli.report_server import HOST, ReportServer
from zenlake.errors import LocalError
from zenlake.limits import REPORT_SERVER_REQUESTS_MAX


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReportServer]:
    lake = tmp_path_factory.mktemp("lakes") / "robot.lake"
    make(lake, robot())
    with ReportServer(0, str(lake)) as found:
        yield found


def port_of(server: ReportServer) -> int:
    return int(server.address.rstrip("/").rpartition(":")[2])


def ask(
    server: ReportServer, path: str = "/status.json", method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(HOST, port_of(server), timeout=90)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def test_the_page_follows_the_version(server: ReportServer) -> None:
    status, _, waiting = ask(server, "/")
    assert status == 200
    assert b"No version of the lake yet" in waiting
    server.show_version(1)
    status, headers, page = ask(server, "/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"<title>" in page
    assert len(page) > 10_000
    assert json.loads(ask(server)[2])["version"] == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": f"{HOST}.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_requests_of_other_origins_are_refused(
    server: ReportServer, headers: dict[str, str]
) -> None:
    for path in ("/", "/status.json"):
        status, _, body = ask(server, path, **headers)
        assert status == 403
        assert body == b"only for this address\n"


def test_the_other_name_of_this_machine_is_accepted(server: ReportServer) -> None:
    assert ask(server, Host=f"localhost:{port_of(server)}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(server: ReportServer, method: str) -> None:
    status, headers, _ = ask(server, "/", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_a_word_that_is_no_method_is_refused(server: ReportServer) -> None:
    assert ask(server, "/", "FOO")[0] == 501


@pytest.mark.parametrize(
    "path", ["/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/report.html", "/?x", "*"]
)
def test_other_paths_are_refused(server: ReportServer, path: str) -> None:
    assert ask(server, path)[0] == 404


def test_every_answer_forbids_frames_and_caches(server: ReportServer) -> None:
    for path in ("/status.json", "/nothing"):
        _, headers, _ = ask(server, path)
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_silent_clients_cannot_take_all_threads(server: ReportServer) -> None:
    before = threading.active_count()
    silent = [
        socket.create_connection((HOST, port_of(server)))
        for _ in range(REPORT_SERVER_REQUESTS_MAX + 8)
    ]
    try:
        closed = 0
        for one in silent:
            one.settimeout(8)
            closed += one.recv(1) == b""
        assert closed == len(silent)
        assert threading.active_count() <= before + REPORT_SERVER_REQUESTS_MAX
    finally:
        for one in silent:
            one.close()
    assert ask(server)[0] == 200


def test_a_used_port_is_named_in_one_line(server: ReportServer) -> None:
    with pytest.raises(LocalError, match=f"port {port_of(server)} on {HOST}: Address already"):
        ReportServer(port_of(server), "lake")
