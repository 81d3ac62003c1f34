"""`Reply` and `ReplyError`: the replies to a query."""

from __future__ import annotations

from typing import final

from zenlake import wire
from zenlake._mypyc import mypyc_attr
from zenlake.api.final_classes import no_subclasses
from zenlake.api.publication.sample import Sample, make_sample
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.identifiers import EntityGlobalId
from zenlake.api.values.timestamp_stack import TimestampStack
from zenlake.api.values.zbytes import ZBytes


@final
@mypyc_attr(acyclic=True)
class ReplyError:
    """A queryable replied with an error, or the query timed out."""

    __slots__ = ("_encoding", "_payload", "_stamps")

    def __init__(
        self,
        payload: bytes,
        encoding: wire.Encoding | None,
        stamps: wire.TimestampStack | None,
    ) -> None:
        """Not for users, who receive replies and do not make them."""
        self._payload = payload
        self._encoding = encoding
        self._stamps = stamps

    @property
    def payload(self) -> ZBytes:
        return ZBytes.from_raw(self._payload)

    @property
    def encoding(self) -> Encoding:
        return Encoding.from_wire(self._encoding)

    @property
    def timestamp_stack(self) -> TimestampStack | None:
        return None if self._stamps is None else TimestampStack.from_wire(self._stamps)

    def __repr__(self) -> str:
        return f"ReplyError {{ payload: {self.payload!r}, encoding: {self.encoding} }}"


@final
@mypyc_attr(acyclic=True)
class Reply:
    """One reply: a sample or an error, and the id of the replier."""

    __slots__ = ("_responder", "_result")

    def __init__(self, result: Sample | ReplyError, responder: wire.ResponderId | None) -> None:
        self._result = result
        self._responder = responder

    @property
    def result(self) -> Sample | ReplyError:
        return self._result

    @property
    def ok(self) -> Sample | None:
        return self._result if isinstance(self._result, Sample) else None

    @property
    def err(self) -> ReplyError | None:
        return self._result if isinstance(self._result, ReplyError) else None

    @property
    def replier_id(self) -> EntityGlobalId | None:
        who = self._responder
        return None if who is None else EntityGlobalId.from_wire(who.zid, who.eid)

    def __repr__(self) -> str:
        return f"Reply {{ result: {self._result!r}, replier_id: {self.replier_id} }}"


no_subclasses(ReplyError)
no_subclasses(Reply)


def make_ok(
    key: str,
    body: wire.Put | wire.Del,
    qos: wire.QoS | None,
    stamps: wire.TimestampStack | None,
    responder: wire.ResponderId | None,
) -> Reply:
    return Reply(make_sample(key, body, qos, stamps), responder)


def make_error(
    payload: bytes,
    encoding: wire.Encoding | None,
    stamps: wire.TimestampStack | None,
    responder: wire.ResponderId | None,
) -> Reply:
    return Reply(ReplyError(payload, encoding, stamps), responder)
