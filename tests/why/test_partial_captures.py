"""Incomplete captures: the story names what is missing and does not guess."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.capture.capture_file import load, write_capture
from tests.why.bundled_stories import packets_of, path_of, truth_of
from zenlake.capture.packet import Packet
from zenlake.why import CaptureStories, parse_scope, report
from zenlake.why.from_capture import read_capture

_PORTS = slice(34, 38)
"""The ports of TCP behind Ethernet and IPv4 headers without options."""


def report_without(
    name: str, folder: Path, is_kept: Callable[[Packet], bool], query: str | None = None
) -> CaptureStories:
    """The stories of a capture without the packets that `is_kept` rejects."""
    path = folder / "part.pcapng"
    write_capture(path, filter(is_kept, load(path_of(name))))
    asked = parse_scope(query, None, None)
    return report(read_capture(str(path), asked), asked)


def only_first_link(name: str) -> Callable[[Packet], bool]:
    """Whether a packet is on the link of the requester, which connected first."""
    first = load(path_of(name))[0].data[_PORTS]
    both = {first, first[2:] + first[:2]}
    return lambda packet: packet.data[_PORTS] in both


def test_one_link_and_the_router_names_who_was_silent(tmp_path: Path) -> None:
    truth = truth_of("held_query")
    [story] = report_without("held_query", tmp_path, only_first_link("held_query")).stories
    assert (story.cause, story.culprit) == ("timeout", truth["server"])
    assert "that link is not in the capture" in story.headline


def test_one_link_alone_shows_no_cause(tmp_path: Path) -> None:
    kept = only_first_link("nothing_came")
    made = report_without("nothing_came", tmp_path, kept)
    assert made.counts["query"] == {"not_visible": 5, "answered": 1}
    assert all(story.failed for story in made.stories)
    assert all("only one link of router" in story.headline for story in made.stories)
    assert "Capture at router" in made.stories[0].advice[0]


def test_a_final_in_a_hole_blames_no_node(tmp_path: Path) -> None:
    """No node may be blamed for a packet that the capture lost."""
    truth = truth_of("consolidated")
    *_, lost = packets_of("consolidated", "RESPONSE_FINAL", receiver=truth["asker"])
    made = report_without("consolidated", tmp_path, lambda packet: packet.number != lost)
    [query] = [story for story in made.stories if story.cause == "capture_incomplete"][:1]
    assert (query.subject, query.request_id, query.failed) == ("query", 2, False)
    assert "the capture itself lacks packets of that link" in query.headline


def test_one_final_fell_into_a_hole_and_another_was_never_sent(tmp_path: Path) -> None:
    truth = truth_of("one_silent")
    zid = truth["answered"][1]
    [lost] = packets_of("one_silent", "RESPONSE_FINAL", sender=zid)
    made = report_without("one_silent", tmp_path, lambda packet: packet.number != lost)
    [query] = [story for story in made.stories if story.subject == "query"]
    assert (query.cause, query.culprit) == ("timeout", truth["stuck"])
    assert f"no final response of client {zid[:4]} is seen" in query.headline.replace("No", "no")
    assert "the capture itself lacks packets of that link" in query.headline
    assert made.counts["link"] == {"capture_incomplete": 1}


def test_capture_without_handshakes_shows_no_cause_of_declarations(tmp_path: Path) -> None:
    start = packets_of("nothing_came", "REQUEST")[0]
    made = report_without("nothing_came", tmp_path, lambda packet: packet.number >= start)
    assert all(one.outcome == "partial" for one in made.evidence.sessions.values())
    causes = set(made.counts["query"])
    assert not causes & {"key_mismatch", "not_complete", "no_queryable"}


def test_capture_that_ends_before_the_timeout_is_the_cause(tmp_path: Path) -> None:
    last = packets_of("held_query", "RESPONSE/REPLY/PUT")[-1]
    made = report_without("held_query", tmp_path, lambda packet: packet.number <= last)
    [story] = made.stories
    assert (story.cause, story.failed) == ("capture_ended", False)
    assert "1 reply arrived; the capture ends" in story.headline
