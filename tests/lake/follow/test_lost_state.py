"""The state of a follower that is lost is made again from the recording, or cannot be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.chance import IS_FULL
from tests.lake.follow.test_follow import opened, recording_of
from tests.lake.follow.test_follow_faults import assert_equal_to_batch, follow_once
from zenlake.lake.errors import LakeError
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.follow.settings import Settings
from zenlake.lake.publish import Store


def lose(fault: str, state: Path) -> None:
    [newest] = state.glob("*.json")
    if fault == "missing":
        shutil.rmtree(state)
    elif fault == "damaged":
        newest.write_text(newest.read_text()[:100])
    elif fault == "file missing":
        next(state.glob("*_events-*.parquet")).unlink()
    else:
        newest.write_text(json.dumps({**json.loads(newest.read_text()), "recording": "other"}))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("missing", "the state of the last version is missing or damaged"),
        ("damaged", "the state of the last version is missing or damaged"),
        ("file missing", "a file of the state is missing"),
        ("other recording", "the state is that of another recording"),
    ],
)
def test_recording_is_read_again_if_the_state_is_lost(
    tmp_path: Path, here: Any, fault: str, words: str
) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    lake = tmp_path / "lake"
    with opened(recording, lake, here, Settings()) as follower:
        for _ in range(2):
            recording.grow(len(recording.packets) // 4)
            follower.step()
        packets = follower.packets
    [state] = (lake / "_followed").iterdir()
    lose(fault, state)
    notes: list[str] = []
    stop = Stop()
    stop.request()
    follow([str(recording.folder)], lake, here, stop, note=notes.append)
    [note] = notes
    assert words in note
    assert f"the recording is read again to packet {packets:,}" in note
    assert_equal_to_batch(recording, lake, tmp_path)
    if fault != "damaged" and not IS_FULL:
        return  # the state is the same now, however it was lost
    recording.finish()
    follow_once(recording, lake, here)
    assert_equal_to_batch(recording, lake, tmp_path)


def test_state_that_cannot_be_made_again_is_an_error(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    recording.grow(len(recording.packets) // 2)
    lake = tmp_path / "lake"
    follow_once(recording, lake, here)
    version = Store(lake).version()
    shutil.rmtree(lake / "_followed")
    (recording.folder / "00000001.pcapng").unlink()
    with pytest.raises(LakeError, match="the first segments are deleted: drop the capture"):
        follow_once(recording, lake, here)
    assert Store(lake).version() == version


def test_recording_that_was_cut_is_an_error_when_it_is_read_again(
    tmp_path: Path, here: Any
) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    recording.grow(len(recording.packets) // 2)
    lake = tmp_path / "lake"
    follow_once(recording, lake, here)
    version = Store(lake).version()
    shutil.rmtree(lake / "_followed")
    last = max(recording.folder.glob("*.part"))
    last.unlink()
    with pytest.raises(LakeError, match="is another one, or was cut: it ends at packet"):
        follow_once(recording, lake, here)
    assert Store(lake).version() == version
