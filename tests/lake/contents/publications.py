"""Rows of `samples` in the forms that the tests of traces compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.lake.contents.tables import Row
from tests.trace.publications import Publication
from tests.trace.sidecar import digest
from tests.trace.test_contents_own import Got, Sent

KINDS = {"PUT": "PUSH/PUT", "DEL": "PUSH/DEL"}


def publication(row: Row) -> Publication:
    """All attributes that a publishing call sets."""
    assert row["payload_size"] == (None if row["payload"] is None else len(row["payload"]))
    return Publication(
        KINDS[row["kind"]],
        row["key"],
        digest(row["payload"]),
        row["encoding"],
        digest(row["attachment"]),
        row["timestamp"],
        (row["source_zid"], row["source_eid"], row["source_sn"]),
        row["priority"],
        row["congestion"],
        row["express"],
        row["reliability"],
    )


def arrived(row: Row) -> Publication:
    """The same as a subscriber receives it: without the reliability."""
    return publication(row)._replace(reliability=None)


def sent(row: Row) -> Sent:
    """The attributes of calls that the sidecars of the second set record."""
    return Sent(
        KINDS[row["kind"]],
        row["key"],
        digest(row["payload"]),
        row["encoding"],
        digest(row["attachment"]),
        row["timestamp"] is not None,
        row["priority"],
        row["express"],
        row["reliability"],
    )


def got(row: Row) -> Got:
    """The attributes of deliveries that the sidecars of the second set record."""
    return Got(
        KINDS[row["kind"]],
        row["key"],
        digest(row["payload"]),
        row["encoding"],
        digest(row["attachment"]),
        row["timestamp"],
        row["priority"],
    )


def counted(rows: Iterable[Row]) -> Counter[Publication]:
    return Counter(map(publication, rows))


def reached(row: Row, zid: str, protocols: dict[str, str]) -> bool:
    """Whether a sample was sent to a node, or to a group that the node is a member of."""
    if row["receiver_zid"] is not None:
        return bool(row["receiver_zid"] == zid)
    return protocols[row["link"]] == "multicast" and row["sender_zid"] != zid
