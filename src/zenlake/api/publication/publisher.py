"""`Publisher`: publishes on one key expression with the same options."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar, Self, final

from zenlake import wire
from zenlake.api.arguments.conversion import (
    attachment_of,
    encoding_of,
    payload_of,
    source_info_of,
    timestamp_of,
)
from zenlake.api.publication.matching_listener import DeclaredWithMatching
from zenlake.api.publication.plain_put import PlainPut
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.unannotated import Unannotated
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import CongestionControl, Priority, Reliability
from zenlake.api.values.identifiers import SourceInfo
from zenlake.api.values.timestamp import Timestamp
from zenlake.api.values.timestamp_stack import TimestampInstrumentation
from zenlake.session.matching import MatchingSource
from zenlake.session.publications import Publication

_monotonic = time.monotonic


@final
class Publisher(DeclaredWithMatching):
    """Publishes on one key, and sends nothing while there is no matching subscriber."""

    __slots__ = ("_begin", "_end", "_find_shortcut", "_plain", "_publication", "_put", "_put_plain")
    _NAME: ClassVar[str] = "publisher"
    _publication: Publication
    _begin: Callable[[], None]
    _end: Callable[[], None]
    _plain: PlainPut
    _put_plain: Callable[[object], bool]
    _find_shortcut: Callable[[Publication], None]
    _put: Callable[[Publication, wire.Put | wire.Del, wire.TimestampStack | None, float], None]

    @classmethod
    def _make_with_publication(
        cls, session: SessionHandle, entity: MatchingSource, publication: Publication
    ) -> Self:
        made = cls._make(session, entity)
        made._publication = publication
        # Looked up once: `put` is the most frequent call.
        made._begin = session.begin
        made._end = session.end
        made._put = session.core.put
        made._plain = PlainPut(session.core.publications, publication)
        made._put_plain = made._plain.put
        made._find_shortcut = session.core.publications.find_shortcut
        return made

    @property
    def encoding(self) -> Encoding:
        self._check()
        return Encoding.from_wire(self._publication.encoding)

    @property
    def congestion_control(self) -> CongestionControl:
        self._check()
        return CongestionControl.from_number(int(self._publication.qos.congestion))

    @property
    def priority(self) -> Priority:
        self._check()
        return Priority.from_number(int(self._publication.qos.priority))

    @property
    def reliability(self) -> Reliability:
        self._check()
        return Reliability.RELIABLE if self._publication.reliable else Reliability.BEST_EFFORT

    def put(
        self,
        payload: object,
        *,
        encoding: Encoding | str | None = None,
        attachment: object | None = None,
        timestamp: Timestamp | None = None,
        timestamp_instrumentation: TimestampInstrumentation | None = None,
        source_info: SourceInfo | None = None,
    ) -> Unannotated:
        """Publish a value."""
        is_plain = (
            encoding is None
            and attachment is None
            and timestamp is None
            and timestamp_instrumentation is None
            and source_info is None
        )
        if is_plain and self._put_plain(payload):
            return
        self._check()
        publication = self._publication
        raw = payload_of(payload)
        body = wire.Put(
            raw,
            None if timestamp is None else timestamp_of(timestamp),
            publication.encoding if encoding is None else encoding_of(encoding),
            None if source_info is None else source_info_of(source_info),
            False,
            None if attachment is None else attachment_of(attachment),
        )
        stamps = None
        if timestamp_instrumentation is not None:
            stamps = self._session.stamps(timestamp_instrumentation)
        self._begin()
        try:
            self._put(publication, body, stamps, _monotonic())
            if is_plain:
                self._find_shortcut(publication)
        finally:
            self._end()

    def undeclare(self) -> Unannotated:
        super().undeclare()
        self._plain.is_live = False

    def delete(
        self,
        *,
        attachment: object | None = None,
        timestamp: Timestamp | None = None,
        timestamp_instrumentation: TimestampInstrumentation | None = None,
        source_info: SourceInfo | None = None,
    ) -> Unannotated:
        """Publish the deletion of the value."""
        self._check()
        body = wire.Del(
            timestamp_of(timestamp), source_info_of(source_info), attachment_of(attachment)
        )
        stamps = self._session.stamps(timestamp_instrumentation)
        self._begin()
        try:
            self._put(self._publication, body, stamps, _monotonic())
        finally:
            self._end()

    def __repr__(self) -> str:
        if self._is_undeclared:
            return "Publisher { undeclared }"
        return f"Publisher {{ id: {self._entity.eid}, key_expr: ke`{self._publication.key}` }}"
