"""Multicast groups and scouting in recordings read as in a capture of the same datagrams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import CAPTURES
from tests.recording.recorded_captures import recorded, tracker_after
from tests.recording.rows import rows_of
from tests.recording.segment_files import write_segment
from zenlake import trace
from zenlake.capture.recordings import segments
from zenlake.capture.segment_format import FIRST
from zenlake.cli.main import main
from zenlake.limits import RECORDING_DATAGRAM_LINKS_MAX
from zenlake.links.addresses import Address
from zenlake.node.group_taps import GroupTaps
from zenlake.protocol.tap import LinkTap, is_plain_batch
from zenlake.recording.batch_queue import BatchQueue, LinkRecorder
from zenlake.recording.packet_headers import UdpHeaders, end_of_locator
from zenlake.recording.recorder import Recorder
from zenlake.recording.segment_scan import scan_segment
from zenlake.recording.settings import RecordingSettings
from zenlake.recording.state_tracker import StatePacket
from zenlake.trace import MessageSeen, SessionChanged
from zenlake.wire import (
    Close,
    Declare,
    DeclareKeyExpr,
    DeclareSubscriber,
    DeclareToken,
    Fragment,
    Frame,
    Hello,
    Join,
    Push,
    Put,
    Scout,
    WhatAmI,
    WhatAmIMatcher,
    WireExpr,
    ZenohId,
    decode_batch,
)

CAPTURE = CAPTURES / "multicast.pcapng.gz"
GROUP = "udp/224.0.0.225:17170"
MEMBER = "udp/10.0.0.1:5000"


def record_datagrams(capture: Path, folder: Path, **options: Any) -> None:
    """Replays the group and the scouting of a capture to the taps of a recorder."""
    recorder = Recorder(RecordingSettings(str(folder), **options))
    taps: dict[str, LinkRecorder] = {}
    with trace.open(str(capture)) as packets:
        for batch in packets.batches():
            source, destination = (f"udp/{end}" for end in batch.link.ends)
            if batch.link.protocol == "scouting":
                recorder.scouting(source, destination, batch.data)
            elif batch.link.protocol == "multicast":
                tap = taps.get(source)
                if tap is None:
                    tap = taps[source] = recorder.open_group(source, destination)
                tap.received(batch.data, is_plain_batch(decode_batch(batch.data).messages))
    recorder.close()


def messages(path: Path) -> list[tuple[object, ...]]:
    """What `decode` shows of datagrams, without packets and times."""
    found: list[tuple[object, ...]] = []
    with trace.open(str(path)) as capture:
        for event in capture:
            if not isinstance(event, (MessageSeen, SessionChanged)):
                continue
            link = event.link
            if link.protocol not in ("multicast", "scouting"):
                continue
            if isinstance(event, SessionChanged):
                found.append((link.name, event.change, event.session.id))
                continue
            zid = None if event.sender_node is None else event.sender_node.zid
            data = bytes(event.message)
            found.append((link.name, event.kind, event.key, event.sn, zid, data, event.ignored))
        assert capture.undecoded == {}
    return found


def test_group_and_scouting_are_recorded_as_a_capture_shows_them(tmp_path: Path) -> None:
    record_datagrams(CAPTURE, tmp_path / "whole")
    expected = messages(CAPTURE)
    assert len(expected) > 80
    assert messages(tmp_path / "whole") == expected


def without_places(path: Path, name: str) -> list[str]:
    """Rows of the group, without what depends on the numbers and times of packets."""
    kept = []
    for row in rows_of(path, name):
        if row.get("session") not in (None, GROUP.removeprefix("udp/")):
            continue
        values = {
            key: value
            for key, value in row.items()
            if not key.endswith(("_ns", "_ms", "packet", "seq", "_id", "_at", "_us"))
            and key not in ("capture", "time", "packets", "size", "us")
        }
        kept.append(json.dumps(values, sort_keys=True, default=str))
    return sorted(kept)


def test_tables_of_a_recorded_group_are_those_of_its_capture(tmp_path: Path) -> None:
    record_datagrams(CAPTURE, tmp_path / "whole")
    for name in ("sessions", "messages", "samples", "declarations", "losses", "violations"):
        expected = without_places(CAPTURE, name)
        assert without_places(tmp_path / "whole", name) == expected, name
        assert expected or name in ("declarations", "losses"), name


def broken_rules(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    main(["check", "--json", str(path)])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [line["rule"] for line in lines if "rule" in line]


def test_check_of_a_segment_of_a_group_reports_what_its_packets_break(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last JOIN of a member is in the state, so the next one is not late."""
    packets = recorded(CAPTURE)
    found = []
    for cut in range(7):
        count = len(packets) * cut // 7
        part = tmp_path / f"{cut}.pcapng"
        write_segment(part, tracker_after(packets[:count]).packets(), packets[count:], count)
        found.append(broken_rules(part, capsys))
    assert found[0] == ["group-batch-large"]
    assert all(one in ([], ["group-batch-large"]) for one in found)


def test_next_join_after_a_state_is_not_late(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = UdpHeaders(end_of_locator(MEMBER), end_of_locator(GROUP))
    packets = []
    for second in range(0, 60, 5):
        data = bytes(Join(WhatAmI.PEER, ZenohId(b"\x07"), 10, 5, 5, seconds=True))
        packets.append(StatePacket(second * 10**9, FIRST, headers.header(len(data)) + data))
    part = tmp_path / "part.pcapng"
    write_segment(part, tracker_after(packets[:10]).packets(), packets[10:], 10)
    assert broken_rules(part, capsys) == []
    write_segment(part, tracker_after(packets[:1]).packets(), packets[10:], 10)
    assert broken_rules(part, capsys) == ["join-late"]


class Sender:
    """A member of a group, fed to a recorder."""

    def __init__(self, recorder: Recorder, source: str = MEMBER) -> None:
        self.tap: LinkTap = recorder.open_group(source, GROUP)
        self.sn = 5

    def join(self, sn: int | None = None) -> None:
        sn = self.sn if sn is None else sn
        self.tap.received(bytes(Join(WhatAmI.PEER, ZenohId(b"\x07"), 10_000, sn, sn)), False)

    def send(self, *sent: Push | Declare) -> None:
        is_plain = all(isinstance(one, Push) for one in sent)
        self.tap.received(bytes(Frame(self.sn, list(sent))), is_plain)
        self.sn += 1


def test_segment_repeats_the_first_and_the_last_join_of_a_member(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path)))
    member = Sender(recorder)
    for _ in range(5):
        member.join()
        member.send(Declare(DeclareSubscriber(1, WireExpr(0, "robot/**"))))
    recorder.close()
    state = [unit.data for unit in recorder._writer._tracker.packets()]
    joins = [
        message.next_sn_re
        for data in state
        for message in decode_batch(data[28:]).messages
        if isinstance(message, Join)
    ]
    assert joins == [5, 9]
    assert len(state) == 4  # one D_SUBSCRIBER, and the last sequence number


def test_segment_repeats_aliases_tokens_and_fragments_of_members(tmp_path: Path) -> None:
    member, group = end_of_locator(MEMBER), end_of_locator(GROUP)
    headers = UdpHeaders(member, group)
    whole = bytes(Push(WireExpr(7, "/large"), Put(b"l" * 100)))
    batches = [
        bytes(Join(WhatAmI.PEER, ZenohId(b"\x07"), 10, 5, 5, seconds=True, patch=1)),
        bytes(Frame(5, [Declare(DeclareKeyExpr(7, WireExpr(0, "robot")))])),
        bytes(Frame(6, [Declare(DeclareToken(3, WireExpr(7, "/alive")))])),
        bytes(Fragment(7, whole[:50], first=True, more=True)),
        # The segment begins here.
        bytes(Fragment(8, whole[50:])),
        bytes(Frame(9, [Push(WireExpr(7, "/arm"), Put(b"x"))])),
        bytes(Close(0)),
    ]
    packets = [
        StatePacket(number * 10**6, FIRST, headers.header(len(data)) + data)
        for number, data in enumerate(batches, 1)
    ]
    part = tmp_path / "part.pcapng"
    write_segment(part, tracker_after(packets[:4]).packets(), packets[4:], 4)
    with trace.open(str(part)) as capture:
        found = [
            (one.kind, one.key, one.time_ns, one.packet > 0)
            for one in capture
            if isinstance(one, MessageSeen) and one.key is not None and one.ignored is None
        ]
        assert capture.undecoded == {}
    assert found == [
        ("DECLARE/D_KEYEXPR", "robot", 2_000_000, False),
        ("DECLARE/D_TOKEN", "robot/alive", 3_000_000, False),
        ("PUSH/PUT", "robot/large", 5_000_000, True),
        ("PUSH/PUT", "robot/arm", 6_000_000, True),
    ]
    assert [row["key"] for row in rows_of(part, "declarations")] == ["robot", "robot/alive"]


def test_member_that_left_may_join_again(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path)))
    member = Sender(recorder)
    for _ in range(2):
        member.join()
        member.send(Push(WireExpr(0, "a"), Put(b"x")))
        member.tap.received(bytes(Close(0)), False)
    recorder.close()
    assert recorder._writer._tracker.packets() == []
    kinds = [one.kind for one in trace.open(str(tmp_path)) if isinstance(one, MessageSeen)]
    assert kinds == ["JOIN", "FRAME", "PUSH/PUT", "CLOSE"] * 2


def test_rules_apply_to_groups(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path), exclude=["secret/**"]))
    member = Sender(recorder)
    member.join()
    member.send(Push(WireExpr(0, "secret/a"), Put(b"xyzzy")), Push(WireExpr(0, "b"), Put(b"x")))
    member.tap.received(b"\xff xyzzy", False)
    recorder.scouting(MEMBER, GROUP, b"xyzzy")
    recorder.close()
    keys = [
        one.key
        for one in trace.open(str(tmp_path))
        if isinstance(one, MessageSeen) and isinstance(one.message, Push)
    ]
    assert keys == ["b"]
    for part in segments(str(tmp_path)):
        assert b"xyzzy" not in Path(part.path).read_bytes()


def test_scouting_is_in_no_state(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path)))
    group = "udp/224.0.0.224:7446"
    hello = bytes(Hello(WhatAmI.ROUTER, ZenohId(b"\x07"), locators=("tcp/10.0.0.1:7447",)))
    for _ in range(3):
        recorder.scouting(MEMBER, group, bytes(Scout(WhatAmIMatcher(7))))
        recorder.scouting("udp/10.0.0.2:40000", MEMBER, hello)
        recorder.scouting(
            "udp/[fe80::2]:4000", "udp/[ff02::1]:7446", bytes(Scout(WhatAmIMatcher(1)))
        )
    recorder.close()
    assert recorder._writer._tracker.packets() == []
    scan = scan_segment(segments(str(tmp_path))[0].path)  # as the next recorder does at its start
    assert scan is not None
    assert scan.packets == 9
    assert scan.tracker.packets() == []
    found = [
        (one.kind, one.sender, one.receiver)
        for one in trace.open(str(tmp_path))
        if isinstance(one, MessageSeen)
    ]
    assert found == 3 * [
        ("SCOUT", "10.0.0.1:5000", "224.0.0.224:7446"),
        ("HELLO", "10.0.0.2:40000", "10.0.0.1:5000"),
        ("SCOUT", "[fe80::2]:4000", "[ff02::1]:7446"),
    ]


class OpenedTaps:
    """Notes which taps of a group are open."""

    def __init__(self) -> None:
        self.queue = BatchQueue()
        self.open: list[str] = []

    def open_group(self, source: str, group: str) -> LinkRecorder:
        self.open.append(source)
        ends = (end_of_locator(source), end_of_locator(group))
        return LinkRecorder(self.queue, ends, False, 1, is_group=True)


def test_senders_of_a_group_are_bounded() -> None:
    tap = OpenedTaps()
    own: Address = ("10.0.0.1", 1)
    taps = GroupTaps(tap, own, GROUP)  # type: ignore[arg-type]  # a part of a tap
    first = taps.sender("10.0.0.2:1")
    second = taps.sender("10.0.0.2:2")
    for port in range(3, RECORDING_DATAGRAM_LINKS_MAX + 1):
        taps.sender(f"10.0.0.2:{port}")
    assert taps.sender("10.0.0.2:1") is first
    taps.sender("10.0.0.3:1")  # replaces the second, which was silent for longest
    assert taps.sender("10.0.0.2:1") is first
    assert taps.sender("10.0.0.2:2") is not second
