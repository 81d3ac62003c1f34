"""`RowSender`: the session of one task, and its rows as publications."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Self

from zenlake.api.publication.bulk_puts import bulk_put
from zenlake.api.session.opening import open as open_session
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import CongestionControl, Priority, SampleKind
from zenlake.errors import LocalError, ZError
from zenlake.keyexpr import validate
from zenlake.sink.options import SinkOptions, priority_number, shown
from zenlake.sink.rows import Row, RowColumns
from zenlake.sink.timestamps import RowClock

if TYPE_CHECKING:
    import pyarrow as pa

    from zenlake.api.session.session import Session

_KINDS: Final = {"PUT": True, "DEL": False, "DELETE": False}
_VALID_KEYS_MAX: Final = 65_536
_LOSSES: Final = ("dropped_messages", "unsendable_messages", "unsent_bytes")
"""Counters of a session for messages that were not sent."""


class RowSender:
    """Publishes rows in order; used in a `with` block, after which the session is closed."""

    def __init__(self, options: SinkOptions, columns: RowColumns, clock: RowClock) -> None:
        self._options = options
        self._columns = columns
        self._clock = clock
        self._valid_keys: set[str] = set()
        self._encoding = None if options.encoding is None else Encoding(options.encoding)
        self._congestion = CongestionControl.from_number(options.congestion)
        self._priority = _priority(options.priority)
        self._express = options.express or None
        self.sent = 0
        self._session: Session = open_session(options.make_config())
        # A lost link loses the messages in flight, although the session connects again.
        self._events = self._session.info.declare_transport_events_listener()
        self._neighbours = [transport.zid for transport in self._session.info.transports()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._session.close()

    @property
    def dropped(self) -> int:
        """Messages dropped because the queue was full, if congestionControl allows it."""
        return self._session.info.stats()["dropped_messages"]

    def send(self, batch: pa.RecordBatch) -> None:
        """Publish the rows of a batch. The caller's error names the row number `sent`."""
        self._check_connection()
        if self._columns.is_plain():
            self._send_plain(batch)
        else:
            for row in self._columns.rows(batch):
                try:
                    self._send_row(row)
                except ZError as error:
                    raise self._named(row.key, error) from None
                self.sent += 1

    def _send_plain(self, batch: pa.RecordBatch) -> None:
        """Rows with nothing but a key and a value. Hot."""
        keys, values = self._columns.keys_and_values(batch)
        sent = 0
        if self._columns.are_all_keys_and_values(batch):
            # Created for each batch, because the route may change. A connection that is lost
            # during the batch fails the task, however its rows were sent.
            bulk = bulk_put(
                self._session,
                self._clock.id,
                self._encoding,
                self._congestion,
                self._priority,
                self._express,
            )
            if bulk is not None:
                sent = bulk.put(keys, values, self._clock.time_at(self.sent))
                self.sent += sent
        # The remaining rows are sent one by one, so that an error names its row.
        if sent < len(keys):
            self._send_each(zip(keys[sent:], values[sent:], strict=True))

    def _send_each(self, rows: Iterable[tuple[Any, Any]]) -> None:
        put, at, valid = self._session.put, self._clock.at, self._valid_keys
        encoding, express = self._encoding, self._express
        congestion, priority = self._congestion, self._priority
        for key, value in rows:
            try:
                if key not in valid:
                    self._check_key(key)
                if value is None:
                    raise LocalError("value is null, which only a DEL may be")
                put(
                    key,
                    value,
                    encoding=encoding,
                    congestion_control=congestion,
                    priority=priority,
                    express=express,
                    timestamp=at(self.sent),
                )
            except ZError as error:
                raise self._named(key, error) from None
            self.sent += 1

    def _send_row(self, row: Row) -> None:
        if row.key not in self._valid_keys:
            self._check_key(row.key)
        stamp = row.timestamp
        timestamp = self._clock.at(self.sent) if stamp is None else self._clock.from_value(stamp)
        priority = self._priority
        if row.priority is not None:
            priority = _priority(priority_number(row.priority, "the priority"))
        is_put = True if row.kind is None else _KINDS.get(row.kind.upper())
        if is_put is None:
            raise LocalError(f"the kind is PUT, DEL or DELETE, not {shown(row.kind)}")
        if not is_put:
            self._session.delete(
                row.key,
                congestion_control=self._congestion,
                priority=priority,
                express=self._express,
                attachment=row.attachment,
                timestamp=timestamp,
            )
            return
        if row.value is None:
            raise LocalError("value is null, which only a DEL may be")
        self._session.put(
            row.key,
            row.value,
            encoding=self._encoding if row.encoding is None else row.encoding,
            congestion_control=self._congestion,
            priority=priority,
            express=self._express,
            attachment=row.attachment,
            timestamp=timestamp,
        )

    def _check_key(self, key: str | None) -> None:
        if key is None:
            raise LocalError("the key is null")
        validate(key)
        if "*" in key or "$" in key:
            raise LocalError("the key has a wildcard: rows are published to one key each")
        if len(self._valid_keys) >= _VALID_KEYS_MAX:
            self._valid_keys.clear()
        self._valid_keys.add(key)

    def _named(self, key: str | None, error: ZError) -> ZError:
        return LocalError(f"row {self.sent + 1}, key {shown(key)}: {error}")

    def flush(self) -> None:
        """Return when the router has received all rows.

        The router itself answers a query for a key without a queryable, after all that came before
        it on the link. The query has the lowest priority, so no row is queued behind it.
        """
        for zid in self._neighbours:
            replies = self._session.get(
                f"@/{zid}/zenlake/sink/flush",
                priority=Priority.BACKGROUND,
                congestion_control=CongestionControl.BLOCK,
                timeout=self._options.flush_seconds,
            )
            if any(reply.err is not None for reply in replies):
                seconds = self._options.flush_seconds
                raise ZError(
                    f"the router {zid} did not confirm {self.sent} rows within {seconds:g} s: "
                    "see option flushTimeout"
                )
        self._check_connection()
        stats = self._session.info.stats()
        lost = {name: stats[name] for name in _LOSSES if stats[name]}
        if self._congestion is not CongestionControl.BLOCK:
            lost.pop("dropped_messages", None)
        if lost:
            raise ZError(f"not all of {self.sent} rows were sent: {lost}")

    def _check_connection(self) -> None:
        is_lost = not self._neighbours
        while (event := self._events.try_recv()) is not None:
            is_lost = is_lost or event.kind is SampleKind.DELETE
        if is_lost:
            raise ZError(f"the connection to the router was lost after {self.sent} rows")


def _priority(number: int | None) -> Priority | None:
    return None if number is None else Priority.from_number(number)
