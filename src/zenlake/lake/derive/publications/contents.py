"""Contents: the columns of `samples` that are compared, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from zenlake.lake.derive.publications.grouping import distinct
from zenlake.lake.derive.publications.hashing import NULL, Hasher, combined

if TYPE_CHECKING:
    from collections.abc import Collection

    from zenlake.lake.derive.publications.grouping import Flags, Numbers

TEXTS: Final = (
    *("capture", "session", "kind", "key", "encoding"),
    *("sender_zid", "receiver_zid", "source_zid"),
)
"""Columns of texts that repeat: they have few distinct values."""
COLUMNS: Final = (
    *TEXTS,
    *("time_ns", "seq", "payload", "attachment", "source_eid", "source_sn"),
    *("timestamp", "timestamp_ns", "ignored"),
)
_CONTENT: Final = (
    *("kind", "payload", "encoding", "attachment"),
    *("source_zid", "source_eid", "source_sn"),
)


class Contents(NamedTuple):
    """Rows of `samples`. Texts and bytes are hashes, `NULL` where they are null."""

    row: Numbers
    """The number of the row among all rows of the files."""
    seq: Numbers
    time_ns: Numbers
    content: Numbers
    """The hash of the content: equal for equal publications of one capture."""
    hop: Numbers
    """The hash of session and sender."""
    sender: Numbers
    receiver: Numbers
    """The nodes at the ends of the hop."""
    stamp: Numbers
    """The timestamp."""
    stamp_ns: Numbers
    stamper: Numbers
    """The node that added the timestamp, as in `sender` and `receiver`."""
    mark: Numbers
    """The hash of what identifies the publication: its source information or its timestamp."""


class Rows:
    """Some rows of `Contents`, in some order. Each column is copied when it is used: copies of all
    of them would need several times the memory."""

    def __init__(self, contents: Contents, places: Numbers | None = None) -> None:
        self._contents = contents
        self._places = places

    def __len__(self) -> int:
        return len(self._contents.row if self._places is None else self._places)

    def __getattr__(self, column: str) -> Numbers:
        values: Numbers = getattr(self._contents, column)
        return values if self._places is None else values[self._places]

    def take(self, chosen: Numbers | Flags) -> Rows:
        if chosen.dtype == np.bool_ and chosen.all():
            return self
        if self._places is not None:
            return Rows(self._contents, self._places[chosen])
        return Rows(self._contents, np.arange(len(self))[chosen])

    def copied(self) -> Contents:
        return Contents(*(getattr(self, name) for name in Contents._fields))


def contents_of(
    samples: pa.Table, first_row: int, hasher: Hasher, captures: Collection[str] | None
) -> tuple[Contents, Numbers]:
    """The rows that are compared, of these captures (None: all), and the hashes of their sessions.

    `samples` has `COLUMNS`, with a dictionary for each of `TEXTS`; its first row has number
    `first_row`.
    """
    is_compared = samples["ignored"].is_null().to_numpy() & samples["key"].is_valid().to_numpy()
    if captures is not None:
        chosen = hasher.array(pa.array(captures, pa.string()))
        is_compared &= np.isin(hasher.texts(samples["capture"]), chosen)
    rows = np.flatnonzero(is_compared)
    if len(rows) < samples.num_rows:
        samples = samples.take(pa.array(rows))
    hashes = {name: hasher.texts(samples[name]) for name in TEXTS}
    hashes |= {name: hasher.values(samples[name]) for name in ("payload", "attachment")}
    hashes |= {name: hasher.numbers(samples[name]) for name in ("source_eid", "source_sn")}
    stamp = hasher.values(samples["timestamp"])
    session = combined(hashes["capture"], hashes["session"])
    topic = combined(hashes["capture"], hashes["key"])
    source = combined(topic, *(hashes[name] for name in _CONTENT[-3:]))
    mark = np.where(stamp == NULL, NULL, combined(topic, stamp))
    found = Contents(
        first_row + rows,
        _numbers(samples["seq"]),
        _numbers(samples["time_ns"]),
        combined(topic, *(hashes[name] for name in _CONTENT)),
        combined(session, hashes["sender_zid"]),
        hashes["sender_zid"],
        hashes["receiver_zid"],
        stamp,
        _numbers(samples["timestamp_ns"]),
        hasher.stampers(samples["timestamp"]),
        np.where(hashes["source_sn"] == NULL, mark, source),
    )
    return found, session


def _numbers(column: pa.ChunkedArray) -> Numbers:
    found: Numbers = column.fill_null(0).to_numpy().astype(np.int64, copy=False)
    return found


def groups_of(contents: Contents) -> Numbers:
    """Hashes of the groups of rows that are compared: same content, or same mark."""
    marks = contents.mark[contents.mark != NULL]
    return distinct(np.concatenate((contents.content, marks)))
