"""Types of values."""

from pathlib import Path
from typing import Literal, assert_type

import zenoh
import zenoh.ext
from zenoh.ext import Int8, z_deserialize, z_serialize


def kind_text(kind: zenoh.SampleKind) -> str:
    """Complete, because there are two kinds."""
    if kind == zenoh.SampleKind.PUT:
        return "put"
    elif kind == zenoh.SampleKind.DELETE:
        return "delete"


def role_text(role: zenoh.WhatAmI) -> str:
    match role:
        case zenoh.WhatAmI.ROUTER:
            return "router"
        case zenoh.WhatAmI.PEER | zenoh.WhatAmI.CLIENT:
            return str(role)


def reliable(value: Literal[zenoh.Reliability.RELIABLE]) -> dict[zenoh.Reliability, str]:
    return {value: "yes", zenoh.Reliability.BEST_EFFORT: "no"}


def samples(sample: zenoh.Sample, newest: zenoh.Timestamp) -> bool:
    assert_type(sample.key_expr, zenoh.KeyExpr)
    assert_type(sample.payload.to_bytes(), bytes)
    assert_type(bytes(sample.payload), bytes)
    assert_type(sample.kind, zenoh.SampleKind)
    assert_type(sample.encoding, zenoh.Encoding)
    assert_type(sample.priority, zenoh.Priority)
    assert_type(sample.congestion_control, zenoh.CongestionControl)
    assert_type(sample.express, bool)
    assert_type(sample.attachment, zenoh.ZBytes | None)
    assert_type(sample.source_info, zenoh.SourceInfo | None)
    assert_type(sample.timestamp_stack, zenoh.TimestampStack | None)
    if sample.payload.as_shm() is not None:
        return False
    if sample.source_info is not None:
        eid: zenoh.EntityId = sample.source_info.source_id.eid
        number: zenoh.SourceSn = sample.source_info.source_sn
        print(eid, number)
    return sample.encoding == "text/plain" and newest >= sample.timestamp


def sessions(path: Path) -> None:
    config = zenoh.Config.from_file(path)
    config.insert_json5("listen/endpoints", "[]")
    with zenoh.open(config) as session:
        assert_type(session, zenoh.Session)
        assert_type(session.info.zid(), zenoh.ZenohId)
        assert_type(session.info.links(), list[zenoh.Link])
        assert_type(session.new_timestamp().get_time_as_ntp64(), zenoh.NTP64)
        session.put("k", 1.5, encoding="text/plain", priority=zenoh.Priority.DEFAULT)
        session.undeclare(session.declare_keyexpr("k"))
        publisher = session.declare_publisher("k", encoding=zenoh.Encoding.APPLICATION_JSON)
        assert_type(publisher.reliability, zenoh.Reliability)
        assert_type(publisher.id.zid, zenoh.ZenohId)


def queries(query: zenoh.Query) -> None:
    assert_type(query.parameters.get("a", "b"), str | None)
    assert_type(query.payload, zenoh.ZBytes | None)
    assert_type(query.accepts_replies(), zenoh.ReplyKeyExpr)
    with query:
        query.reply(query.key_expr, z_serialize([1, 2]), timestamp=None)
        query.reply_err("no", encoding="text/plain")


def at_once(session: zenoh.Session) -> None:
    """Results of methods that return None, used as expressions."""
    session.declare_queryable("k", lambda query: (query.reply("k", "v"), query.drop()))
    session.declare_subscriber("k", lambda sample: sample.express and session.delete("k"))
    print([session.put(f"k/{number}", "v") for number in range(3)], session.close())


def serialization() -> None:
    assert_type(zenoh.ext.z_serialize({"a": 1}), zenoh.ZBytes)
    assert_type(z_deserialize(list[int], z_serialize([Int8(1)])), list[int])
