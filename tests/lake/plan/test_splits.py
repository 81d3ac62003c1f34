"""A task reads only its part of the file; all tasks together return the rows of the whole file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.capture.built_files import interface, option, packet_block, section
from tests.lake.fast_reader.mutations import load
from tests.lake.merge.both_readers import (
    differences,
    gather,
    read_by_both_readers,
    read_by_exact_reader,
)
from tests.paths import CAPTURES
from zenlake.errors import CaptureError
from zenlake.lake.fast_reader import Refusal, Survey, read, survey
from zenlake.lake.fast_reader.regularity import ranges
from zenlake.lake.fast_reader.regularity.ranges import RANGE_GAP_BYTES, ranges_of
from zenlake.lake.fast_reader.scan import file_window
from zenlake.lake.fast_reader.scan.byte_source import LocalFile
from zenlake.lake.merge.read_task import split_of
from zenlake.lake.merge.split import Split
from zenlake.lake.plan import survey_task
from zenlake.lake.plan.splits import (
    _in_order,
    _loads,
    assign,
    by_network,
    by_session,
    parts,
    split_file,
)
from zenlake.testing.replicate import replicate

NANOSECONDS = 9
MINUTE_NS = 60_000_000_000
SOURCES = (
    "liveliness.pcapng.gz",
    "reconnect.pcapng",
    "multicast.pcapng.gz",
    "pubsub_router.pcapng",
)
STRETCH_BYTES = 4_000


def copied(number: int) -> bytes:
    """A separate section with the sessions of other nodes, in one of the byte orders."""
    source = CAPTURES / SOURCES[number % len(SOURCES)]
    order = "<>"[number % 2]
    packets = list(replicate(load(source), 1, seed=number))
    links = sorted({packet.link_type for packet in packets})
    clock = option(NANOSECONDS, b"\x09", order)
    # An unused interface, so that packets must not be assigned to the first one.
    content = section(order) + interface(147, order=order)
    content += b"".join(interface(link, clock, order) for link in links)
    return content + b"".join(
        packet_block(
            packet.data.replace(b"\x0a\x00\x00", bytes([10, number, 0])),
            packet.time_ns + number * MINUTE_NS,
            1 + links.index(packet.link_type),
            order=order,
            original=packet.original_bytes,
        )
        for packet in packets
    )


@pytest.fixture(scope="module")
def sequence(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Consecutive sessions, in eight sections."""
    path = tmp_path_factory.mktemp("splits") / "sequence.pcapng"
    path.write_bytes(b"".join(copied(number) for number in range(8)))
    return str(path)


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_window, "LOAD_BYTES", 3_000)
    monkeypatch.setattr(ranges, "RANGE_GAP_BYTES", 1)


def surveyed(path: str) -> Survey:
    found = survey(path, STRETCH_BYTES)
    assert not isinstance(found, Refusal)
    return found


@pytest.mark.usefixtures("in_small_parts")
@pytest.mark.parametrize("splits", [1, 2, 5])
def test_splits_together_have_the_rows_of_the_whole_file(sequence: str, splits: int) -> None:
    found = surveyed(sequence)
    assert found.regular.any()
    assert not found.regular.all()
    both = read_by_both_readers(sequence, found, splits)
    assert differences(read_by_exact_reader(sequence), both) == []


@pytest.mark.usefixtures("in_small_parts")
def test_splits_with_scattered_pairs_have_the_rows_of_the_whole_file(sequence: str) -> None:
    """Each task has pairs from the whole file, and reads many ranges."""
    found = surveyed(sequence)
    # Links of the same nodes stay together, as the exact reader requires.
    of_pair = by_session(found, len(found)) * 7 % 4
    some = list(parts(found, of_pair, 4))
    assert min(len(part.ranges) for part in some) > 1
    tasks = [Split(sequence, sequence, part, None, n == 0) for n, part in enumerate(some)]
    assert differences(read_by_exact_reader(sequence), gather(*tasks)) == []


@pytest.mark.usefixtures("in_small_parts")
def test_a_task_reads_only_its_part_of_the_file(
    sequence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = surveyed(sequence)
    without_others = list(parts(found, by_session(found, 5), 5))[1:]
    read_bytes = 0
    read_into = LocalFile.read_into

    def counted(self: LocalFile, offset: int, target: memoryview) -> int:
        nonlocal read_bytes
        count = read_into(self, offset, target)
        read_bytes += count
        return count

    monkeypatch.setattr(LocalFile, "read_into", counted)
    spans = []
    for part in without_others:
        for _ in read(sequence, part, np.ones(len(part), np.bool_)):
            pass
        spans.append((int(part.ranges[0, 0]), int(part.ranges[-1, 1])))
    assert read_bytes < found.size_bytes
    assert all(stop <= start + 2 * STRETCH_BYTES for (_, stop), (start, _) in pairwise(spans))


def test_sessions_are_not_divided_and_loads_are_even(sequence: str) -> None:
    found = surveyed(sequence)
    found.others = 0
    for splits in (2, 3, 4):
        of_pair = by_session(found, splits)
        of_nodes: dict[tuple[str, str], int] = {}
        for (one, other), split in zip(found.zids.tolist(), of_pair.tolist(), strict=True):
            if one and other:
                key = (min(one, other), max(one, other))
                assert of_nodes.setdefault(key, split) == split
        loads = np.bincount(of_pair, _loads(found), splits)
        assert loads.max() <= 1.25 * loads.mean()


def test_connected_nodes_stay_in_one_split_if_loads_are_even(sequence: str) -> None:
    found = surveyed(sequence)
    found.others = 0
    assigned = assign(found, 2)
    assert assigned.is_closed
    of_node: dict[str, int] = {}
    for zids, split in zip(found.zids.tolist(), assigned.of_pair.tolist(), strict=True):
        for zid in zids if all(zids) else ():
            assert of_node.setdefault(zid, split) == split
    assert set(of_node.values()) == {0, 1}


def test_network_that_is_too_large_is_divided_by_sessions(sequence: str) -> None:
    found = surveyed(sequence)
    found.others = 0
    is_known = (found.zids != "").all(axis=1)
    found.zids[is_known, 0] = "a1"  # a node that is connected to all others
    assigned = assign(found, 2)
    assert not assigned.is_closed
    assert assigned.of_pair.tolist() == by_session(found, 2).tolist()
    assert len(set(by_network(found, 2)[is_known].tolist())) == 1


def test_networks_are_found_over_many_hops(sequence: str) -> None:
    """A chain of connected nodes, in random order."""
    found = surveyed(sequence)
    names = [f"{number * 7919 % 1000:03}" for number in range(len(found) + 1)]
    found.zids = np.array(list(pairwise(names)))
    assert len(set(by_network(found, 3).tolist())) == 1
    found.zids[len(found) // 2] = "", ""  # the chain is broken
    assert len(set(by_network(found, 3).tolist())) > 1


def loads_of(totals: list[int], loads: list[int]) -> list[int]:
    some = np.array(totals, np.float64)
    places = _in_order(some, np.array(loads, np.float64))
    assert np.all(np.diff(places) >= 0)
    found = np.bincount(places, some, len(loads)) + loads
    return [int(load) for load in found]


def test_neighbouring_pairs_fill_splits_in_order() -> None:
    assert loads_of([10] * 40, [0, 0, 0, 0]) == [100, 100, 100, 100]
    assert loads_of([10] * 40, [500, 0, 60, 0]) == [500, 150, 160, 150]
    assert loads_of([10] * 4, [0, 0, 5_000]) == [20, 20, 5_000]
    assert loads_of([10], [0, 0]) in ([10, 0], [0, 10])
    assert loads_of([], [3, 4]) == [3, 4]


def test_a_large_session_does_not_make_loads_uneven(sequence: str) -> None:
    found = surveyed(sequence)
    found.others = 0
    large = len(found) // 2
    found.pair_bytes[large] = _loads(found).sum()
    of_pair = by_session(found, 2)
    assert np.flatnonzero(of_pair == of_pair[large]).tolist() == [large]


def test_a_long_session_goes_to_the_split_that_reads_most_of_the_file(sequence: str) -> None:
    """The first split reads all packets that are not TCP; the others should be short parts."""
    found = surveyed(sequence)
    found.others = 1
    small = int(np.argmin(_loads(found)))
    found.first_packet[small], found.last_packet[small] = 1, found.packets
    assert by_session(found, 4)[small] == 0


def test_small_gaps_between_ranges_are_read() -> None:
    far = 2 * RANGE_GAP_BYTES
    marks = np.array([[24, 1], [100, 5], [100 + far, 9], [200 + far, 12]], np.int64)
    end = (300 + far, 20)
    wanted = np.array([True, False, True, False])
    assert ranges_of(marks, end, wanted).tolist() == [[24, 100, 1, 4], [100 + far, 200 + far, 9, 3]]
    wanted = np.array([False, True, False, True])
    assert ranges_of(marks, end, wanted).tolist() == [[100, 300 + far, 5, 15]]
    assert len(ranges_of(marks, end, np.zeros(4, np.bool_))) == 0


def test_stored_splits_are_loaded_unchanged(sequence: str, tmp_path: Path) -> None:
    for number, part in enumerate(parts(found := surveyed(sequence), by_session(found, 3), 3)):
        place = str(tmp_path / "part.npz")
        part.save(place)
        again = Survey.load(place)
        assert vars(again).keys() == vars(part).keys()
        for name, value in vars(part).items():
            assert np.array_equal(getattr(again, name), value), name
        assert ((part.pair_of == -1).sum() > 0) == (number == 0)


@pytest.mark.usefixtures("in_small_parts")
@pytest.mark.parametrize("what", ["records", "interface"])
def test_changed_file_is_an_error_in_each_split(what: str, sequence: str, tmp_path: Path) -> None:
    content = bytearray(Path(sequence).read_bytes())
    path = tmp_path / "a.pcapng"
    path.write_bytes(content)
    found = surveyed(str(path))
    last = list(parts(found, by_session(found, 4), 4))[-1]
    assert last.ranges[0, 0] > found.size_bytes // 2
    if what == "records":
        # The range now begins with a block of unknown type.
        at = int(last.ranges[0, 0])
        content[at : at + 4] = bytes([99, 0, 0, 99])
    else:
        at = int(found.specials[-1, 0])
        assert at < last.ranges[-1, 1]
        content[at + 4] ^= 4
    path.write_bytes(content)
    with pytest.raises(CaptureError, match="changed while it was being read"):
        for _ in read(str(path), last, np.ones(len(last), np.bool_)):
            pass


def test_the_job_limits_number_and_size_of_splits(
    sequence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey_task, "SMALL_BYTES", 0)
    place = tmp_path / "survey.npz"
    job = {"path": sequence, "survey": str(place), "tasks": 3}
    size = Path(sequence).stat().st_size
    assert survey_task.survey_capture(job)["splits"] == 1
    assert survey_task.survey_capture({**job, "split_bytes": size // 2})["splits"] == 2
    assert survey_task.survey_capture({**job, "split_bytes": 1})["splits"] == 3
    pairs = 0
    for number in range(3):
        assert split_file(place, number).exists()
        split = split_of({**job, "split": number, "splits": 3, "only": None})
        assert split.survey is not None
        assert split.with_other == (number == 0)
        pairs += len(split.survey)
    assert pairs == len(surveyed(sequence))
