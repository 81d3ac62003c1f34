"""MessageRedactor: removes messages, or their payloads, by the rules for their keys.

A declared prefix (D_KEYEXPR) that may begin an excluded key is recorded only when a kept message
uses it first, and in the frame of that message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zenlake.limits import REDACTION_BYTES_MAX
from zenlake.recording.message_keys import key_of, with_key
from zenlake.recording.redaction_rules import DROPPED, EXCLUDED, FREE, PARTLY, RedactionRules
from zenlake.trace.keys import ENTITIES
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Err,
    Interest,
    InterestMode,
    Oam,
    Push,
    Put,
    QueryBody,
    Reply,
    Request,
    Response,
    ResponseFinal,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
)
from zenlake.wire.kinds import LINK_STATE_OAM_ID
from zenlake.wire.message import NetworkMessage
from zenlake.wire.push_run import PushRun

# The memory of a table entry without its text.
_ENTRY_BYTES: Final = 100


@dataclass(slots=True)
class RedactionCounts:
    """How many messages redaction has changed or removed in one recording."""

    removed: int = 0
    """Messages removed because their keys are excluded or unknown."""
    emptied: int = 0
    """Messages whose payload, attachment or parameters were removed."""
    undecodable: int = 0
    """Batches and messages that cannot be decoded, or are too long after redaction."""


class RedactionMemory:
    """The memory that redaction may use, for all links of one recording."""

    def __init__(self) -> None:
        self._held_bytes = 0

    def hold(self, size: int) -> bool:
        """Reserve `size` bytes; returns False if the limit does not allow it."""
        if self._held_bytes + size > REDACTION_BYTES_MAX:
            return False
        self._held_bytes += size
        return True

    def release(self, size: int) -> None:
        self._held_bytes -= size


@dataclass(slots=True)
class _Prefix:
    """A declared prefix; `is_recorded` once a reader knows it.

    It is ambiguous if its number was declared twice: nodes resolve that differently (SN-49).
    """

    text: str
    is_recorded: bool
    declaration: Declare
    """The declaration with the whole text, even if it was declared with another prefix."""
    is_ambiguous: bool = False


class _Direction:
    """The prefixes that one side has declared, and its open requests."""

    def __init__(self) -> None:
        self.prefixes: dict[int, _Prefix] = {}
        self.removed_subscribers: set[int] = set()
        self.removed_queryables: set[int] = set()
        self.removed_tokens: set[int] = set()
        self.removed_interests: set[int] = set()
        self.requests: dict[int, int] = {}
        """Verdicts on the keys of open requests, except FREE."""
        self.forgot_requests = False


class MessageRedactor:
    """Redacts the messages of one link. `direction` is 0 for one side and 1 for the other."""

    def __init__(
        self, rules: RedactionRules, counts: RedactionCounts, memory: RedactionMemory
    ) -> None:
        self.counts = counts
        self._rules = rules
        self._memory = memory
        self._directions = (_Direction(), _Direction())
        self._held_bytes = 0

    def close(self) -> None:
        self._memory.release(self._held_bytes)
        self._held_bytes = 0
        self._directions = (_Direction(), _Direction())

    def forget_prefixes(self, direction: int) -> None:
        """Forget all prefixes: a lost batch may have declared others."""
        side = self._directions[direction]
        for number in list(side.prefixes):
            self._forget_prefix(side, number)

    def redact(self, direction: int, message: NetworkMessage) -> NetworkMessage | None:
        """The message to record; None if it is removed. The caller empties a `PushRun`."""
        if isinstance(message, PushRun):
            if self.verdict(direction, message.first.key) >= PARTLY:
                self.counts.removed += message.count
                return None
            return message
        redacted = self._redact_one(direction, message)
        if redacted is None:
            self.counts.removed += 1
        return redacted

    def _redact_one(self, direction: int, message: NetworkMessage) -> NetworkMessage | None:
        if isinstance(message, Push):
            verdict = self.verdict(direction, message.key)
            if verdict >= PARTLY:
                return None
            return self.emptied_push(message) if verdict == DROPPED else message
        if isinstance(message, Response):
            return self._response(direction, message)
        if isinstance(message, Request):
            return self._request(direction, message)
        if isinstance(message, ResponseFinal):
            verdict = self._end_request(self._directions[1 - direction], message.request_id)
            return None if verdict == EXCLUDED else message
        if isinstance(message, Interest):
            return self._interest(direction, message)
        if isinstance(message, Declare):
            return self._declare(direction, message)
        if isinstance(message, Oam) and message.id == LINK_STATE_OAM_ID:
            return message
        return None

    def _request(self, direction: int, request: Request) -> Request | None:
        verdict = self.verdict(direction, request.key)
        side = self._directions[direction]
        self._end_request(side, request.request_id)
        if verdict == FREE:
            return request
        if self.hold(_ENTRY_BYTES):
            side.requests[request.request_id] = verdict
        else:
            side.forgot_requests = True
        if verdict == EXCLUDED:
            return None
        self.counts.emptied += 1
        query = request.body.copy()
        query.extensions = ()
        query.body_shm = None
        if query.body is not None:
            query.body = QueryBody(query.body.encoding, b"")
        if query.attachment is not None:
            query.attachment = b""
        if verdict == PARTLY:
            query.parameters = None
        changed = request.copy()
        changed.body = query
        return changed

    def _end_request(self, side: _Direction, request_id: int) -> int:
        verdict = side.requests.pop(request_id, FREE)
        if verdict != FREE:
            self.release(_ENTRY_BYTES)
        return verdict

    def asked(self, direction: int, request_id: int) -> int:
        """The verdict on the key of a request; PARTLY if it may have been forgotten."""
        side = self._directions[direction]
        return side.requests.get(request_id, PARTLY if side.forgot_requests else FREE)

    def _response(self, direction: int, response: Response) -> Response | None:
        asked = self.asked(1 - direction, response.request_id)
        if asked == EXCLUDED:
            return None
        key = response.key
        body = response.body
        if not key.scope and not key.suffix:  # an error of an intermediate node
            verdict = DROPPED if asked != FREE else FREE
        else:
            verdict = self.verdict(direction, key)
        if verdict == PARTLY and isinstance(body, Err):
            verdict = DROPPED
        if verdict >= PARTLY:
            return None
        if verdict == FREE:
            return response
        self.counts.emptied += 1
        changed = response.copy()
        if isinstance(body, Reply):
            reply = body.copy()
            reply.extensions = ()
            reply.body = _emptied_value(reply.body)
            changed.body = reply
        else:
            error = body.copy()
            error.extensions = ()
            error.shm = False
            error.payload = b""
            changed.body = error
        return changed

    def _interest(self, direction: int, interest: Interest) -> Interest | None:
        removed = self._directions[direction].removed_interests
        if interest.mode == InterestMode.FINAL:
            if interest.id not in removed:
                return interest
            self._forget(removed, interest.id)
            return None
        self._forget(removed, interest.id)
        if interest.key is None or self.verdict(direction, interest.key) != EXCLUDED:
            return interest
        self._remember(removed, interest.id)
        return None

    def _declare(self, direction: int, message: Declare) -> Declare | None:
        side = self._directions[direction]
        body = message.body
        if isinstance(body, DeclareKeyExpr):
            return self._declare_prefix(direction, side, message, body)
        if isinstance(body, UndeclareKeyExpr):
            return message if self._forget_prefix(side, body.expr_id) else None
        # A subscriber of `**` answers an interest in `secret/a` too.
        is_removed = message.interest_id in self._directions[1 - direction].removed_interests
        if isinstance(body, DeclareFinal):
            return None if is_removed else message
        if isinstance(body, (DeclareSubscriber, UndeclareSubscriber)):
            removed = side.removed_subscribers
        elif isinstance(body, (DeclareQueryable, UndeclareQueryable)):
            removed = side.removed_queryables
        else:
            removed = side.removed_tokens
        was_removed = body.id in removed
        self._forget(removed, body.id)
        key = key_of(message)
        verdict = FREE if key is None else self.verdict(direction, key)
        is_token = isinstance(body, (DeclareToken, UndeclareToken))
        is_removed |= verdict == EXCLUDED or (verdict == PARTLY and is_token)
        if isinstance(body, ENTITIES):
            if is_removed:
                self._remember(removed, body.id)
        elif was_removed:
            is_removed = True
        return None if is_removed else message

    def _declare_prefix(
        self, direction: int, side: _Direction, message: Declare, body: DeclareKeyExpr
    ) -> Declare | None:
        text = self._text(direction, body.key)
        inner = self.missing_prefix(direction, body.key) if body.key.scope else None
        earlier = side.prefixes.get(body.expr_id)
        if earlier is not None:
            if text != earlier.text and not (earlier.is_recorded and self._is_harmless(text)):
                earlier.is_ambiguous = True
            return message if earlier.is_recorded and not earlier.is_ambiguous else None
        if text is None or not self.hold(_ENTRY_BYTES + len(text)):
            return None
        if inner is not None:
            message = message.copy()
            message.body = DeclareKeyExpr(body.expr_id, WireExpr(0, text, False))
        is_recorded = not self._rules.may_begin_excluded(text)
        side.prefixes[body.expr_id] = _Prefix(text, is_recorded, message)
        return message if is_recorded else None

    def declared_now(self, prefix: _Prefix) -> Declare:
        """The declaration of a missing prefix; the caller adds it to the recording."""
        prefix.is_recorded = True
        self.counts.removed -= 1
        return prefix.declaration

    def _is_harmless(self, text: str | None) -> bool:
        """Whether no rule can apply to keys that begin with this text."""
        if text is None or self._rules.drop_payload:
            return False
        return not self._rules.may_begin_excluded(text)

    def _forget_prefix(self, side: _Direction, number: int) -> bool:
        """Forget a prefix; returns whether the recording has its declaration."""
        prefix = side.prefixes.pop(number, None)
        if prefix is None:
            return False
        self.release(_ENTRY_BYTES + len(prefix.text))
        return prefix.is_recorded

    def is_emptied(self, direction: int, run: PushRun) -> bool:
        return self.verdict(direction, run.first.key) == DROPPED

    def emptied_push(self, push: Push) -> Push:
        self.counts.emptied += 1
        changed = push.copy()
        changed.extensions = ()
        changed.body = _emptied_value(push.body)
        return changed

    # --- keys ----------------------------------------------------------------------------------

    def verdict(self, direction: int, key: WireExpr) -> int:
        text = self._text(direction, key)
        return EXCLUDED if text is None else self._rules.verdict(text)

    def _text(self, direction: int, key: WireExpr) -> str | None:
        """The whole key; None if its prefix is unknown."""
        if not key.scope:
            return key.suffix
        side = self._directions[direction if key.sender else 1 - direction]
        prefix = side.prefixes.get(key.scope)
        if prefix is None or prefix.is_ambiguous:
            return None
        return prefix.text + key.suffix

    def missing_prefix(self, direction: int, key: WireExpr) -> _Prefix | None:
        """The prefix of a key, if the recording does not have it yet."""
        side = self._directions[direction if key.sender else 1 - direction]
        prefix = side.prefixes.get(key.scope)
        return None if prefix is None or prefix.is_recorded else prefix

    def with_known_key(self, direction: int, message: NetworkMessage) -> NetworkMessage:
        """The message with its whole key, if the recording does not have its prefix."""
        key = key_of(message)
        if key is None or not key.scope:
            return message
        missing = self.missing_prefix(direction, key)
        if missing is None:
            return message
        return with_key(message, WireExpr(0, missing.text + key.suffix))

    # --- memory --------------------------------------------------------------------------------

    def hold(self, size: int) -> bool:
        if not self._memory.hold(size):
            return False
        self._held_bytes += size
        return True

    def release(self, size: int) -> None:
        self._memory.release(size)
        self._held_bytes -= size

    def _remember(self, ids: set[int], id: int) -> None:
        if self.hold(_ENTRY_BYTES):
            ids.add(id)

    def _forget(self, ids: set[int], id: int) -> None:
        if id in ids:
            ids.discard(id)
            self.release(_ENTRY_BYTES)


def _emptied_value(body: Put | Del) -> Put | Del:
    changed = body.copy()
    changed.extensions = ()
    if changed.attachment is not None:
        changed.attachment = b""
    if isinstance(changed, Put):
        changed.shm = False
        changed.payload = b""
    return changed
