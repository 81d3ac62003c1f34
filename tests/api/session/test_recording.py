"""`zenlake.record` and sessions whose configuration has a recording."""

from __future__ import annotations

from pathlib import Path

import pytest

import zenlake
from tests.api.linked import connected, listening, node_of, publisher_of
from tests.sessions import config_of
from tests.waiting import until
from zenlake import trace
from zenlake.errors import ZenlakeError
from zenlake.trace import MessageSeen


def seen(path: Path) -> list[tuple[str, str | None]]:
    with trace.open(str(path)) as capture:
        return [(event.kind, event.key) for event in capture if isinstance(event, MessageSeen)]


def endpoint_of(session: zenlake.Session) -> str:
    return node_of(session).locators()[0]


def test_recording_is_closed_at_the_end_of_its_with_block(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with listening() as publisher:
        with zenlake.record(endpoint_of(publisher), "a/**", path) as recording:
            assert recording.path == str(path)
            assert not recording.is_closed()
            declared = publisher_of(publisher, "a/b")
            for index in range(50):
                declared.put(f"{index}")
            until(lambda: recording.stats()["messages"] >= 50)
        assert recording.is_closed()
        stats = recording.stats()
        assert stats["messages"] >= 50
        assert stats["dropped"] == 0
        assert stats["bytes"] > 1000
        recording.close()
    assert seen(path).count(("PUSH/PUT", "a/b")) == 50


def test_several_keys_tokens_and_rules(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with listening() as publisher:
        recording = zenlake.record(
            [endpoint_of(publisher)],
            ["a/*", zenlake.KeyExpr("b")],
            path,
            liveliness="alive/**",
            exclude=["a/secret"],
            drop_payload="b",
        )
        with recording:
            token = publisher.liveliness().declare_token("alive/1")
            publisher_of(publisher, "b").undeclare()
            publisher.put("a/secret", "hunter2")
            publisher.put("a/1", "hello")
            publisher.put("b", "hunter2")
            until(lambda: recording.stats()["messages"] >= 4)
            token.undeclare()
    found = seen(path)
    assert ("PUSH/PUT", "a/1") in found
    assert ("PUSH/PUT", "b") in found
    assert ("PUSH/PUT", "a/secret") not in found
    assert ("DECLARE/D_TOKEN", "alive/1") in found
    written = b"".join(one.read_bytes() for one in path.iterdir())
    assert b"hunter2" not in written
    assert b"hello" in written


def test_record_does_not_change_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with listening() as publisher:
        config = config_of("peer", connect__endpoints=[endpoint_of(publisher)])
        before = str(config)
        with zenlake.record(config, "a", path) as recording:
            declared = publisher_of(publisher, "a")
            before_put = recording.stats()["messages"]
            declared.put("hello")
            until(lambda: recording.stats()["messages"] > before_put)
        assert str(config) == before
    assert ("PUSH/PUT", "a") in seen(path)


def test_session_with_a_recording_in_its_configuration_works_as_any_other(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with listening() as other, connected(other, recording__path=str(path)) as session:
        received = session.declare_subscriber("a")
        until(lambda: node_of(other).stats()["messages_in"] > 0)
        other.put("a", "there")
        assert received.recv().payload.to_string() == "there"
        session.put("b", "back")
        [reply] = _answered(other, session)
        assert reply.ok is not None
    found = seen(path)
    assert {("PUSH/PUT", "a"), ("REQUEST", "q"), ("RESPONSE/REPLY/PUT", "q")} <= set(found)


def _answered(answering: zenlake.Session, asking: zenlake.Session) -> list[zenlake.Reply]:
    with answering.declare_queryable("q", lambda query: query.reply("q", "answer")):
        found: list[zenlake.Reply] = []

        def ask() -> bool:
            found.extend(asking.get("q"))
            return bool(found)

        until(ask)
    return found[:1]


def test_invalid_recordings_are_errors(tmp_path: Path) -> None:
    with listening() as publisher:
        endpoint = endpoint_of(publisher)
        with pytest.raises(zenlake.ZError, match="needs a key expression"):
            zenlake.record(endpoint, [], tmp_path / "a")
        with pytest.raises(ZenlakeError, match="chunk is empty"):
            zenlake.record(endpoint, "a//b", tmp_path / "a")
        with pytest.raises(ZenlakeError, match="chunk is empty"):
            zenlake.record(endpoint, "a", tmp_path / "a", exclude="a//b")
        assert not (tmp_path / "a").exists()
        in_use = pytest.raises(ZenlakeError, match="b")
        with zenlake.record(endpoint, "a", tmp_path / "b"), in_use:
            zenlake.record(endpoint, "a", tmp_path / "b")
        with pytest.raises(ZenlakeError):
            zenlake.record("tcp/127.0.0.1:1", "a", tmp_path / "c")
