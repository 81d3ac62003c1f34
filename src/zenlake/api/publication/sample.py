"""`Sample`: a value that was published, or the deletion of one.

It keeps the message that brought it; its properties are computed when they are read.
"""

from __future__ import annotations

from typing import final

from zenlake import wire
from zenlake._mypyc import mypyc_attr
from zenlake.api.arguments.known_keys import key_expr_of
from zenlake.api.final_classes import no_subclasses
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import CongestionControl, Priority, SampleKind
from zenlake.api.values.identifiers import SourceInfo
from zenlake.api.values.timestamp import Timestamp
from zenlake.api.values.timestamp_stack import TimestampStack
from zenlake.api.values.zbytes import ZBytes
from zenlake.keyexpr import KeyExpr
from zenlake.wire.values.qos import DEFAULT_QOS


@final
@mypyc_attr(acyclic=True)
class Sample:
    """Immutable; all subscribers of a session that get it share it."""

    __slots__ = ("_body", "_key", "_qos", "_stamps")

    def __init__(
        self,
        key: str,
        body: wire.Put | wire.Del,
        qos: wire.QoS | None,
        stamps: wire.TimestampStack | None,
    ) -> None:
        """Not for users, who receive samples and do not make them."""
        self._key = key
        self._body = body
        self._qos = qos
        self._stamps = stamps

    @property
    def key_expr(self) -> KeyExpr:
        return key_expr_of(self._key)

    @property
    def payload(self) -> ZBytes:
        """Empty for a deletion."""
        body = self._body
        return ZBytes.from_raw(body.payload if isinstance(body, wire.Put) else b"")

    @property
    def kind(self) -> SampleKind:
        return SampleKind.PUT if isinstance(self._body, wire.Put) else SampleKind.DELETE

    @property
    def encoding(self) -> Encoding:
        body = self._body
        return Encoding.from_wire(body.encoding if isinstance(body, wire.Put) else None)

    @property
    def timestamp(self) -> Timestamp | None:
        timestamp = self._body.timestamp
        return None if timestamp is None else Timestamp.from_wire(timestamp)

    @property
    def congestion_control(self) -> CongestionControl:
        return CongestionControl.from_number(int((self._qos or DEFAULT_QOS).congestion))

    @property
    def priority(self) -> Priority:
        # CONTROL is not offered to users; a peer that sends it means the most urgent there is.
        return Priority.from_number(max(1, int((self._qos or DEFAULT_QOS).priority)))

    @property
    def express(self) -> bool:
        return self._qos is not None and self._qos.express

    @property
    def attachment(self) -> ZBytes | None:
        attachment = self._body.attachment
        return None if attachment is None else ZBytes.from_raw(attachment)

    @property
    def source_info(self) -> SourceInfo | None:
        info = self._body.source_info
        return None if info is None else SourceInfo.from_wire(info)

    @property
    def timestamp_stack(self) -> TimestampStack | None:
        return None if self._stamps is None else TimestampStack.from_wire(self._stamps)

    def __repr__(self) -> str:
        kind = str(self.kind).partition(".")[2].capitalize()
        return (
            f"Sample {{ key_expr: {self.key_expr!r}, payload: {self.payload!r}, kind: {kind}, "
            f"encoding: {self.encoding}, timestamp: {self.timestamp}, priority: {self.priority}, "
            f"congestion_control: {self.congestion_control}, express: {self.express}, "
            f"attachment: {self.attachment!r}, source_info: {self.source_info} }}"
        )


no_subclasses(Sample)


def make_sample(
    key: str,
    body: wire.Put | wire.Del,
    qos: wire.QoS | None,
    stamps: wire.TimestampStack | None,
) -> Sample:
    """The sample of a PUSH or a reply. Hot."""
    return Sample(key, body, qos, stamps)
