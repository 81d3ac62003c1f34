"""The decode commands of a page choose the messages of their item, and are safe to paste."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.trace.sidecar import PATHS
from zenlake.cli.main import main
from zenlake.lake import direct
from zenlake.report import Selection
from zenlake.report.commands import (
    around_command,
    life_command,
    packet_command,
    packets_command,
    query_command,
    session_command,
)
from zenlake.report.report import collect

pytestmark = pytest.mark.xdist_group("commands")


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    paths = [str(PATHS[name]) for name in ("queries", "impaired", "liveliness")]
    with direct.read(paths) as tables:
        return collect(tables, Selection())


def chosen(command: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The output of a command that is pasted into a shell that knows `zenlake`."""
    program, *arguments = shlex.split(command)
    assert program == "zenlake"
    assert main([*arguments, "--json"]) == 0
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    return [line for line in lines if line["event"] == "message"]


def test_a_query_has_its_requests_and_responses(
    data: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    queries = data["waterfall"]["queries"]
    assert len(queries) > 20
    for query in queries[:12]:
        found = chosen(query["command"], capsys)
        requests = [one for one in found if one["kind"] == "REQUEST"]
        assert [one["packet"] for one in requests] == [hop["packet"] for hop in query["hops"]]
        answers = [one["packet"] for one in found if one["kind"].startswith("RESPONSE/")]
        listed = [answer["packet"] for hop in query["hops"] for answer in hop["answers"]]
        assert sorted(answers) == sorted(listed)
        finals = [one for one in found if one["kind"] == "RESPONSE_FINAL"]
        assert len(finals) == sum(hop["finalMs"] is not None for hop in query["hops"])


def test_a_declaration_has_its_beginning_and_end(
    data: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    lifetimes = [life for life in data["declarations"]["lives"] if life["endedBy"] == "undeclare"]
    assert lifetimes
    for life in lifetimes[:5]:
        found = chosen(life["command"], capsys)
        assert life["packet"] in [one["packet"] for one in found]
        assert {one["kind"][:10] for one in found} == {"DECLARE/D_", "DECLARE/U_"}
        assert {one["entity_id"] for one in found} == {life["id"]}


@pytest.mark.parametrize(
    ("place", "listed"), [("losses", "groups"), ("violations", "examples"), ("why", "stories")]
)
def test_every_item_has_a_command_that_shows_something(
    place: str, listed: str, data: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    items = data[place][listed]
    assert items
    for item in items[:6]:
        assert chosen(item["command"], capsys)


def test_sessions_have_their_handshake(
    data: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for session in data["topology"]["bad"]:
        kinds = {one["kind"] for one in chosen(session["command"], capsys)}
        assert "INIT_SYN" in kinds


def test_names_chosen_by_peers_are_no_part_of_a_command() -> None:
    bad = 'x" or "\'; rm -rf ~ #'
    hop = {"request_id": 1, "packet": 2, "link": bad, "final_ms": None, "time_ns": 0}
    life = {"entity": "token", "link": bad, "entity_id": 0, "packet": 3}
    for command in (
        packet_command("a", bad, 1),
        around_command("a", bad, 1),
        query_command("a", [hop]),
        life_command("a", life),
    ):
        assert command is not None
        assert "rm" not in command
    assert session_command("a", bad) is None


@pytest.mark.parametrize("name", ["a b.pcap", "it's.pcap", "-x.pcap", "$(touch x).pcap", "a\nb"])
def test_a_capture_of_any_name_is_one_word(name: str) -> None:
    command = packet_command(name, None, 5)
    assert command is not None
    assert shlex.split(command)[-1] == str(Path(name)) or shlex.split(command)[-1] == f"./{name}"
    assert not shlex.split(command)[-1].startswith("-")


def test_packets_are_named_at_most_forty() -> None:
    command = packets_command("a", range(1, 100))
    assert command is not None
    assert command.count(",") == 39
    assert packets_command("a", [7]) == packet_command("a", None, 7)
    assert packets_command("a", []) is None
