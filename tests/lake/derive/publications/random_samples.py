"""Random samples of a few nodes that publish equal values and pass most of them on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from zenlake.lake.schema import TABLES

Row = dict[str, Any]
_MS = 1_000_000
_NODES = "prstu"


def random_samples(seed: int, captures: int) -> pa.Table:
    chance = random.Random(seed)
    rows = [
        {"capture": f"c{number}", **row}
        for number in range(captures)
        for row in _rows(chance, chance.random())
    ]
    return pa.Table.from_pylist(rows, TABLES["samples"].base.arrow)


def _rows(chance: random.Random, stamped: float) -> Iterator[Row]:
    """`stamped` is the share of values with a timestamp."""
    nodes = _NODES[: chance.randint(2, len(_NODES))]
    seq = time_ns = 0
    for _ in range(chance.randint(1, 14)):
        seq += 1
        time_ns += chance.choice((1, 1, 2, 5, 30, 100)) * _MS
        sender, receiver = chance.sample(nodes, 2)
        row = _value(chance) | _place(seq, time_ns, sender, receiver)
        if chance.random() < stamped:
            at = chance.randint(1, 4)
            row |= {"timestamp": f"{at}/{chance.choice(nodes)}", "timestamp_ns": at}
        for end in ("sender_zid", "receiver_zid"):
            if chance.random() < 0.05:
                row[end] = None
        yield row
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            further = chance.choice(nodes)
            if further == receiver:
                continue
            seq += 1
            time_ns += chance.choice((0, 1, 2)) * _MS
            passed = row | _place(seq, time_ns, receiver, further)
            if row.get("timestamp") is None and chance.random() < stamped:
                passed |= {"timestamp": f"{seq}/{receiver}", "timestamp_ns": seq}
            yield passed


def _value(chance: random.Random) -> Row:
    row: Row = {
        "kind": "DEL" if chance.random() < 0.1 else "PUT",
        "key": chance.choice(("k", "k", "k", "k", "other", None)),
        "payload": chance.choice((b"1", b"1", b"1", b"2", b"", None)),
        "encoding": "zenoh/bytes",
        "attachment": b"a" if chance.random() < 0.1 else None,
        "ignored": "shared memory" if chance.random() < 0.03 else None,
    }
    if chance.random() < 0.1:
        number = chance.randint(1, 2)
        row |= {"source_zid": chance.choice("pr"), "source_eid": 1, "source_sn": number}
    return row


def _place(seq: int, time_ns: int, sender: str, receiver: str) -> Row:
    session = "".join(sorted((sender, receiver)))
    place = {"session": session, "link": session, "packet": seq, "seq": seq, "trace_id": seq}
    return {**place, "time_ns": time_ns, "sender_zid": sender, "receiver_zid": receiver}
