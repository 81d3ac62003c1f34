"""A stream without a path: it records what a network publishes, and follows that recording."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.lake.source.live.streams import Stream
from tests.sessions import open_client
from tests.zenlake_process import RouterProcess
from zenlake.errors import LocalError, ZenlakeError
from zenlake.lake.source.live.options import read_stream_options

PATIENCE_S = 20


def network_stream(endpoint: str, folder: Path, table: str = "samples") -> Stream:
    options = {"connect": endpoint, "subscribe": "robot/**", "recordingLocation": str(folder)}
    return Stream(None, table, **options)


def test_publications_of_a_network_are_rows(tmp_path: Path) -> None:
    with RouterProcess() as router:
        stream = network_stream(router.endpoint, tmp_path / "recording")
        try:
            stream.batch()
            found: list[bytes] = []
            with open_client(router.endpoint) as session:
                until = time.monotonic() + PATIENCE_S
                while len(found) < 20 and time.monotonic() < until:
                    session.put("robot/1/pose", str(len(found)))
                    session.put("camera/1", "not recorded")
                    found += stream.batch()["payload"].to_pylist()
                    # Until the subscriber is known to the router, publications go nowhere.
                    time.sleep(0.02)
            assert len(found) >= 20
            # Another query on the same folder follows the recorder of the first one.
            again = network_stream(router.endpoint, tmp_path / "recording")
            again.offset = again.start()
            keys = set(again.batch()["key"].to_pylist())
            assert keys == {"robot/1/pose"}
            again.reader.stop()
        finally:
            stream.reader.stop()


def test_network_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    stream = network_stream("tcp/127.0.0.1:1", tmp_path / "recording")
    with pytest.raises(ZenlakeError) as raised:
        read_until_it_fails(stream)
    assert "tcp/127.0.0.1:1" in str(raised.value)
    assert "\n" not in str(raised.value)


def read_until_it_fails(stream: Stream) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        stream.batch()
        # Until the recorder has failed to connect.
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"connect": "tcp/a:1"}, "option subscribe is missing"),
        ({"subscribe": "a"}, "option connect is missing"),
        ({"connect": "a:1", "subscribe": "a"}, "such as tcp/host:7447, not 'a:1'"),
        ({"connect": "tcp/a:1 --help", "subscribe": "a"}, "such as tcp/host:7447"),
        ({"connect": "tcp/a:1", "subscribe": "a//b"}, "a//b"),
        ({"connect": "tcp/a:1", "subscribe": ","}, "1 to 64 values"),
        ({"connect": "tcp/a:1", "subscribe": "a", "path": "/x"}, "pass no path"),
        ({"path": "/x", "checkpointLocation": "/y"}, "checkpointLocation is for the writer"),
        (
            {"connect": "tcp/a:1", "subscribe": "a", "checkpointLocation": "s3://a/b"},
            "this takes paths and file: addresses",
        ),
    ],
)
def test_invalid_networks_are_errors(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(LocalError) as raised:
        read_stream_options(given)
    assert complaint in str(raised.value)


def test_restart_finds_the_same_folder() -> None:
    given = {"connect": "tcp/a:1,tcp/b:1", "subscribe": "a, b/**"}
    first, again = read_stream_options(given), read_stream_options(given)
    assert first.path == again.path
    assert first.network is not None
    assert first.network.keys == ("a", "b/**")
    other = read_stream_options({**given, "subscribe": "a"})
    assert other.path != first.path


@pytest.mark.parametrize("checkpoint", ["/data/checkpoint", "file:///data/checkpoint/"])
def test_recording_is_beside_the_checkpoint_that_the_reader_is_told(checkpoint: str) -> None:
    given = {"connect": "tcp/a:1", "subscribe": "a", "checkpointLocation": checkpoint}
    assert read_stream_options(given).path == "/data/checkpoint.recording"
    named = read_stream_options({**given, "recordingLocation": "/elsewhere"})
    assert named.path == "/elsewhere"
