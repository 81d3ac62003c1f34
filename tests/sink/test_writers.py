"""The writers, called as a task of Spark calls them, through a router of ours."""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import TaskContext
from pyspark.sql.types import (
    BinaryType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from tests.ports import free_endpoint
from tests.sink.conftest import Received
from zenlake.errors import KeyExprError, LocalError, ZError
from zenlake.keyexpr import validate
from zenlake.limits import KEY_EXPR_BYTES_MAX, KEY_EXPR_CHUNKS_MAX
from zenlake.sink import writers
from zenlake.sink.rows import RowColumns
from zenlake.sink.writers import BatchWriter, SentRows

pytestmark = pytest.mark.real
_TYPES = {
    "string": StringType(),
    "binary": BinaryType(),
    "int": IntegerType(),
    "bigint": LongType(),
    "double": DoubleType(),
    "timestamp": TimestampType(),
}


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    context = TaskContext()
    context._partitionId = 3
    monkeypatch.setattr(writers, "_task", lambda: context)


def schema(text: str) -> StructType:
    """From `name type, name type`; Spark parses such texts only in a session."""
    made = StructType()
    for column in text.split(","):
        name, kind = column.split()
        made = made.add(name, _TYPES[kind])
    return made


def writer(router: str, columns: str = "key string, value binary", **options: str) -> BatchWriter:
    """As in a task: pickled."""
    made = BatchWriter({"connect": router, **options}, schema(columns), False)
    sent: BatchWriter = pickle.loads(pickle.dumps(made))
    return sent


def batch(**columns: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def test_all_columns_arrive(router: str, received: Received) -> None:
    rows = batch(
        key=["sink/a", "sink/b", "sink/c"],
        payload=["x", None, "z"],
        encoding=["text/plain", None, None],
        attachment=[b"more", b"gone", None],
        kind=["put", "DELETE", None],
        timestamp=["7709448928895638048/ab12", None, None],
        priority=[2, None, None],
    )
    columns = (
        "key string, Payload string, encoding string, attachment binary, kind string, "
        "timestamp string, priority int"
    )
    made = writer(router, columns, encoding="application/json", priority="background")
    assert made.write(iter([rows])) == SentRows(3, 3, 0)
    first, second, third = sorted(received.wait(3), key=lambda sample: str(sample.key_expr))
    assert (first.payload.to_string(), str(first.encoding)) == ("x", "text/plain")
    assert first.attachment.to_bytes() == b"more"
    assert str(first.timestamp) == "7709448928895638048/ab12"
    assert str(first.priority).endswith("INTERACTIVE_HIGH")
    assert str(first.congestion_control).endswith("BLOCK")
    assert str(second.kind).endswith("DELETE")
    assert second.attachment.to_bytes() == b"gone"
    assert str(third.encoding) == "application/json"
    assert str(third.priority).endswith("BACKGROUND")


def test_times_of_the_column_are_sent(router: str, received: Received) -> None:
    ns = 1_794_995_600_321_654_000
    micros = pa.array([ns // 1000], pa.timestamp("us", "UTC"))
    for kind, column in (("timestamp", micros), ("bigint", pa.array([ns]))):
        rows = pa.record_batch(
            [pa.array(["sink/t"]), pa.array([b""]), column], ["key", "value", "timestamp"]
        )
        writer(router, f"key string, value binary, timestamp {kind}").write(iter([rows]))
    stamps = {sample.timestamp.get_time().microsecond for sample in received.wait(2)}
    assert stamps == {321_654}


@pytest.mark.parametrize("router", ["zenlake", "zenoh"], indirect=True)
def test_no_row_is_lost_when_the_task_ends(router: str, received: Received) -> None:
    rows = batch(key=[f"sink/{n % 50}" for n in range(5_000)], value=[bytes(1_000)] * 5_000)
    assert writer(router).write(iter([rows] * 4)) == SentRows(3, 20_000, 0)
    received.wait(20_000)


def test_a_retried_task_repeats_timestamps(router: str, received: Received) -> None:
    batches = [batch(key=[f"sink/{n}", "sink/same"], value=[b"1", b"2"]) for n in range(10)]

    def failing() -> Iterator[pa.RecordBatch]:
        yield from batches[:4]
        raise ValueError("the first attempt fails")

    begun = time.time()
    made = writer(router)
    with pytest.raises(ValueError, match="first attempt"):
        made.write(failing())
    assert made.write(iter(batches)).rows == 20
    samples = received.wait(8 + 20)
    sent = [(str(s.key_expr), s.payload.to_bytes(), str(s.timestamp)) for s in samples]
    assert len(set(sent)) == 20
    assert sent[:8] == sent[8:16]
    times = [sample.timestamp.get_time_as_ntp64() for sample in samples[8:]]
    assert times == sorted(times)
    assert begun - 5 < samples[0].timestamp.get_time().timestamp() <= time.time()


def test_rows_on_many_keys_need_no_route_each(
    router: str, received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the same publications as rows that are sent one by one."""
    columns = {
        "key": [f"sink/{n}" for n in range(3_000)],
        "value": [b"%d" % n for n in range(3_000)],
    }
    options = {"encoding": "text/plain", "priority": "data_high", "express": "true"}
    made = writer(router, **options)
    made.write(iter([batch(**columns)]))
    with monkeypatch.context() as patched:
        patched.setattr("zenlake.sink.row_sender.bulk_put", lambda *_: None)
        made.write(iter([batch(**columns)]))
    with monkeypatch.context() as patched:

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError

        patched.setattr("zenlake.api.session.session.Session.put", refuse)
        made.write(iter([batch(**columns)]))
    samples = [
        (
            *(str(sample.key_expr), sample.payload.to_bytes(), str(sample.timestamp)),
            *(str(sample.encoding), str(sample.priority), sample.express),
            str(sample.congestion_control),
        )
        for sample in received.wait(9_000)
    ]
    assert samples[:3_000] == samples[3_000:6_000] == samples[6_000:]
    assert len({sample[2] for sample in samples}) == 3_000


def test_keys_get_the_namespace_of_the_session(router: str, received: Received) -> None:
    made = writer(router, **{"zenoh.namespace": "sink/of"})
    made.write(iter([batch(key=["a", "b/c"], value=[b"1", b"2"])]))
    assert {str(sample.key_expr) for sample in received.wait(2)} == {"sink/of/a", "sink/of/b/c"}


def test_a_value_that_a_link_cannot_carry_is_named(received: Received) -> None:
    from tests.node_process import NodeProcess

    endpoint = free_endpoint()
    settings = {"transport/unicast/lowlatency": True, "transport/unicast/qos/enabled": False}
    of_router = {name.replace("/", "__"): value for name, value in settings.items()}
    of_sink = {f"zenoh.{name}": str(value).lower() for name, value in settings.items()}
    with NodeProcess("router", "zenlake", listen__endpoints=[endpoint], **of_router):
        made = writer(endpoint, **of_sink)
        rows = batch(key=["sink/a", "sink/b"], value=[b"", bytes(100_000)])
        with pytest.raises(ZError, match=r"partition 3: row 2, key 'sink/b': .* cannot be sent"):
            made.write(iter([rows]))


@given(st.lists(st.text("a/*$#?@é", max_size=8), max_size=4))
def test_valid_keys_are_recognized_at_once(keys: list[str]) -> None:
    def is_valid(key: str) -> bool:
        try:
            validate(key)
        except KeyExprError:
            return False
        return "*" not in key

    columns = RowColumns(schema("key string, value binary"))
    found = batch(key=pa.array(keys, pa.string()), value=pa.array([b""] * len(keys), pa.binary()))
    assert columns.are_all_keys_and_values(found) == all(map(is_valid, keys))


def test_keys_beyond_the_limits_are_recognized_at_once() -> None:
    columns = RowColumns(schema("key string, value binary"))
    chunks = "/".join(["a"] * KEY_EXPR_CHUNKS_MAX)
    for key, is_valid in (
        ("é" * (KEY_EXPR_BYTES_MAX // 2), True),
        ("é" * (KEY_EXPR_BYTES_MAX // 2) + "é", False),
        (chunks, True),
        (chunks + "/a", False),
    ):
        assert columns.are_all_keys_and_values(batch(key=[key], value=[b""])) == is_valid
    assert not columns.are_all_keys_and_values(batch(key=["a", None], value=[b"", b""]))
    assert not columns.are_all_keys_and_values(batch(key=["a", "b"], value=[b"", None]))


def test_an_empty_partition_needs_no_router() -> None:
    assert writer("tcp/127.0.0.1:1").write(iter([batch(key=[], value=[])])).rows == 0


def test_a_router_that_is_not_reachable_is_named_in_one_line() -> None:
    endpoint = free_endpoint()
    with pytest.raises(ZError) as raised:
        writer(endpoint).write(iter([batch(key=["a"], value=[b""])]))
    assert str(raised.value).startswith(f"partition 3: Unable to connect to any of [{endpoint}]!")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"key": None}, "key None: the key is null"),
        ({"key": "a//b"}, "key 'a//b': 'a//b': a chunk is empty (at character 2)"),
        ({"key": "a/*"}, "key 'a/*': the key has a wildcard"),
        ({"value": None}, "key 'sink/k': value is null, which only a DEL may be"),
        ({"kind": "POST"}, "key 'sink/k': the kind is PUT, DEL or DELETE, not 'POST'"),
        ({"priority": 0}, "key 'sink/k': the priority is 1 (real_time) to 7 (background) or"),
        ({"timestamp": "soon"}, "key 'sink/k': 'soon' is no timestamp: expected <ntp64>/<id>"),
    ],
)
def test_a_row_that_cannot_be_sent_is_named(
    router: str, row: dict[str, Any], complaint: str
) -> None:
    good = {"key": "sink/k", "value": b"", "kind": None, "timestamp": None, "priority": 5}
    columns = "key string, value binary, kind string, timestamp string, priority int"
    rows = [good, good, good | row]
    found = batch(**{name: [row[name] for row in rows] for name in good})
    with pytest.raises(ZError) as raised:
        writer(router, columns).write(iter([found]))
    assert str(raised.value).startswith(f"partition 3: row 3, {complaint}")
    assert "\n" not in str(raised.value)


def test_a_plain_row_that_cannot_be_sent_is_named(router: str) -> None:
    for row, complaint in (
        (("a/**", b""), "wildcard"),
        (("a", None), "is null"),
        ((None, b""), "null"),
    ):
        found = batch(key=["sink/k", row[0]], value=[b"", row[1]])
        with pytest.raises(ZError, match=rf"partition 3: row 2, key .*{complaint}"):
            writer(router).write(iter([found]))


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ("value binary", "column key is missing"),
        ("key string", "column value (or payload) is missing"),
        ("key string, value binary, payload binary", "column value occurs twice"),
        ("key string, value int", "column value is BINARY or STRING, not INT: cast it"),
        ("key string, value binary, priority double", "column priority is TINYINT or SMALLINT"),
        ("key string, value binary, extra int", "there is no column 'extra'; there are: key, val"),
    ],
)
def test_columns_are_checked_on_the_driver(columns: str, complaint: str) -> None:
    with pytest.raises(LocalError, match=re.escape(complaint)):
        writer("tcp/127.0.0.1:1", columns)


def test_overwriting_is_refused() -> None:
    with pytest.raises(LocalError, match="mode overwrite is refused"):
        BatchWriter({"connect": "tcp/a:1"}, schema("key string, value binary"), True)


def test_a_lost_connection_fails_the_task(received: Received) -> None:
    from tests.node_process import NodeProcess

    endpoint = free_endpoint()
    node = NodeProcess("router", "zenlake", listen__endpoints=[endpoint])

    def rows() -> Iterator[pa.RecordBatch]:
        yield batch(key=["sink/k"], value=[b""])
        node.kill()
        time.sleep(0.5)  # for the writer to notice the lost connection
        yield batch(key=["sink/k"], value=[b""])

    with pytest.raises(
        ZError, match="partition 3: the connection to the router was lost after 1 r"
    ):
        writer(endpoint).write(rows())
