"""An index whose pairs are checked part by part agrees with the survey of the whole file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.lake.fast_reader.captures import PATHS, plain, surveyed
from tests.lake.fast_reader.mutations import load, mutations, store
from tests.lake.fast_reader.segments import INIT, connections, tcp
from tests.lake.merge.both_readers import differences, gather, read_by_exact_reader
from tests.paths import CAPTURES
from zenlake.capture.packet import Packet
from zenlake.errors import CaptureError
from zenlake.lake.fast_reader import Refusal, Survey, check, index
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.regularity import ranges
from zenlake.lake.fast_reader.regularity.survey import COLUMNS
from zenlake.lake.merge.read_task import split_of
from zenlake.lake.merge.split import Split
from zenlake.lake.plan import survey_task
from zenlake.lake.plan.splits import assign, parts

STRETCH_BYTES = 4_000
MUTATED = ("queries.pcapng.gz", "reconnect.pcapng", "lowlatency.pcapng.gz", "pico_clients.pcapng")


def facts_of_regular_pairs(*found: Survey) -> dict[tuple[int, ...], list[object]]:
    """The result for regular pairs, by addresses and ports."""
    return {
        tuple(one.keys[pair].tolist()): [
            one.zids[pair].tolist(),
            *(getattr(one, name)[pair].item() for name in COLUMNS),
        ]
        for one in found
        for pair in np.flatnonzero(one.regular).tolist()
    }


def indexed(path: str) -> Survey:
    found = index(path, STRETCH_BYTES)
    assert isinstance(found, Survey)
    assert not found.regular.any()
    return found


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_index_and_survey_agree_on_real_captures(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "RANGE_GAP_BYTES", 1)
    name = plain(path, tmp_path)
    expected, found = surveyed(name), indexed(name)
    assert np.array_equal(found.pair_of, expected.pair_of)
    assert np.array_equal(found.zids, expected.zids)
    assert facts_of_regular_pairs(check(name, found)) == facts_of_regular_pairs(expected)
    some = [check(name, part) for part in parts(found, assign(found, 3).of_pair, 3)]
    assert facts_of_regular_pairs(*some) == facts_of_regular_pairs(expected)
    assert not any((one.reason == reasons.UNCHECKED).any() for one in some)


@pytest.mark.parametrize("name", MUTATED)
def test_mutated_captures_have_the_rows_of_the_exact_reader(name: str, tmp_path: Path) -> None:
    original = Path(plain(CAPTURES / name, tmp_path))
    path = tmp_path / "changed.pcapng"
    regular = 0
    for seed, _ in mutations(original, path, 8):
        found = index(str(path), STRETCH_BYTES)
        if not isinstance(found, Survey):
            continue
        some = [check(str(path), part) for part in parts(found, assign(found, 2).of_pair, 2)]
        regular += sum(int(one.regular.sum()) for one in some)
        tasks = [Split(str(path), str(path), one, None, n == 0) for n, one in enumerate(some)]
        try:
            expected = read_by_exact_reader(str(path))
        except CaptureError:
            continue
        assert differences(expected, gather(*tasks)) == [], f"seed {seed}"
    assert regular


def answer(payload: bytes) -> Packet:
    """As `tcp`, in the other direction."""
    packet = tcp(5, 1, 0, payload)
    data = packet.data
    swapped = data[:12] + data[16:20] + data[12:16] + data[22:24] + data[20:22] + data[24:]
    return Packet(1, 1, packet.link_type, swapped, len(swapped))


ANSWER = bytes.fromhex("0400210900bb")
TLS = bytes.fromhex("16030102000100")


@pytest.mark.parametrize(
    ("first", "is_certain"),
    [
        (ANSWER, True),
        (ANSWER[:2], False),
        (ANSWER[:3], False),
        (ANSWER[:5], False),
        (b"\x20\x00" + ANSWER[2:], False),
        (b"\x02\x00\x03\x00", True),
        (TLS, True),
    ],
)
def test_answer_in_two_segments_needs_the_survey(
    first: bytes, is_certain: bool, tmp_path: Path
) -> None:
    """The responder is not known: another link of the same nodes might go to another task."""
    path = tmp_path / "cut.pcapng"
    store(path, [tcp(5, 0, 2, b""), tcp(5, 1, 0, INIT), answer(first), answer(b"more")])
    found = index(str(path))
    assert (found is not None) == is_certain
    if isinstance(found, Survey):
        assert found.zids.tolist() == [["aa", "bb" if first == ANSWER else ""]]
        assert found.may_be_regular.tolist() == [first == ANSWER]


def test_survey_replaces_an_uncertain_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey_task, "SMALL_BYTES", 0)
    path = tmp_path / "mixed.pcapng"
    whole = load(CAPTURES / "alias_remapped.pcapng")
    store(path, [*whole, tcp(5, 0, 2, b""), tcp(5, 1, 0, INIT), answer(ANSWER[:4])])
    job = {"path": str(path), "survey": str(tmp_path / "survey.npz"), "tasks": 1}
    assert survey_task.survey_capture(job)["splits"] == 1
    split = split_of({**job, "split": 0, "only": None})
    assert split.survey is not None
    assert facts_of_regular_pairs(split.survey) == facts_of_regular_pairs(surveyed(path)) != {}


def test_index_of_an_unsupported_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.pcapng"
    path.write_bytes(b"no capture")
    assert isinstance(index(str(path)), Refusal)


def test_file_changed_after_the_index_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    content = (CAPTURES / "alias_remapped.pcapng").read_bytes()
    path.write_bytes(content)
    found = indexed(str(path))
    path.write_bytes(content + content)
    with pytest.raises(CaptureError, match="changed while it was being read"):
        check(str(path), found)


def test_pairs_above_the_memory_limit_go_to_the_exact_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(connections(tmp_path / "many", 60, b"\xe8\x03" + bytes(200), bytes(300)))
    found = index(path, 1 << 12)
    assert isinstance(found, Survey)
    found.reason[:] = reasons.UNCHECKED
    monkeypatch.setattr(
        "zenlake.lake.fast_reader.assemble.capture_pass.FAST_READER_HELD_BYTES_MAX", 20_000
    )
    monkeypatch.setattr("zenlake.lake.fast_reader.scan.file_window.LOAD_BYTES", 1 << 12)
    assert (check(path, found, 1 << 12).reason == reasons.UNCHECKED).all()
