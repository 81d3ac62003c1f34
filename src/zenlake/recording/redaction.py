"""Redaction: removes from batches what must not be recorded, before they are written.

Rules name keys (redaction_rules.py). Messages about excluded keys are removed; publications,
queries and replies on other keys may lose payload and attachment. Sequence numbers stay, so that a
reader finds no gap: a FRAME whose messages are all removed is recorded without messages. Bytes
that cannot be decoded are not recorded. Without rules only the credentials of handshakes are
removed, and no other batch is decoded.

A declared prefix (D_KEYEXPR) that may begin an excluded key is recorded when the first message
that is kept uses it, and in the frame of that message.

The fragments of a message are recorded unchanged if nothing in it changes, which its first fragment
tells. Otherwise each becomes a FRAME with the same sequence number, and the last one has the
changed message, if it is kept.
"""

from __future__ import annotations

from typing import Final

from zenlake.capture.segment_format import PLAIN
from zenlake.errors import LocalError, WireError
from zenlake.limits import BATCH_BYTES_MAX, REDACTION_BYTES_MAX
from zenlake.recording.redaction_rules import DROPPED, EXCLUDED, FREE, PARTLY, RedactionRules
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Del,
    Err,
    Extension,
    Fragment,
    Frame,
    Init,
    Interest,
    InterestMode,
    Oam,
    Open,
    Push,
    Put,
    QueryBody,
    Reply,
    Request,
    Response,
    ResponseFinal,
    TransportOam,
    UndeclaredKey,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
    WireExpr,
    decode_network,
    encode_messages,
)
from zenlake.wire.batch import decode_batch, decode_low_latency
from zenlake.wire.compression import compress_batch, decompress_batch
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.message import Message, NetworkMessage, TransportMessage
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    read_text_z16,
    read_z16,
    read_z32,
    write_text_z16,
)
from zenlake.wire.push_run import PushRun
from zenlake.wire.runs import expand_run
from zenlake.wire.sequence import next_sn, sn_distance
from zenlake.wire.values.qos import Priority
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION
from zenlake.wire.writer import BytesWriter

_INIT: Final = 0x01
_OPEN: Final = 0x02
_RESPONSE: Final = 0x1B
_REQUEST: Final = 0x1C
_PUSH: Final = 0x1D
_OAM: Final = 0x1F
_HAS_SUFFIX: Final = 0x20
_OF_SENDER: Final = 0x40
_LINK_STATE: Final = 1
_FRAME_HEAD_BYTES_MAX: Final = 16
_NONE: Final = -1
# What happens to a message in fragments.
_KEPT: Final = 0
_COLLECTED: Final = 1
_REMOVED: Final = 2
_TOO_LONG: Final = 3
# What an entry of a table costs beside its text.
_ENTRY_BYTES: Final = 100


class RedactionCounts:
    """What redaction has changed in one recording."""

    def __init__(self) -> None:
        self.removed = 0
        """Messages about excluded keys, or about keys that are unknown."""
        self.emptied = 0
        """Messages that lost payload, attachment or parameters."""
        self.undecodable = 0
        """Batches and messages that could not be decoded, or not be recorded after the change."""


class Redactor:
    """The rules of one recording; links share the memory that redaction may use."""

    def __init__(self, rules: RedactionRules) -> None:
        self.rules = rules
        self.counts = RedactionCounts()
        self._held_bytes = 0

    def link(self) -> LinkRedactor:
        return LinkRedactor(self)

    def hold(self, size: int) -> bool:
        """Whether so many more bytes may be kept."""
        if self._held_bytes + size > REDACTION_BYTES_MAX:
            return False
        self._held_bytes += size
        return True

    def release(self, size: int) -> None:
        self._held_bytes -= size


class _Prefix:
    """A declared prefix; `is_recorded` once a reader knows it.

    It is ambiguous if its number was declared twice: nodes differ in what they do (SN-49).
    """

    __slots__ = ("is_ambiguous", "is_recorded", "text")

    def __init__(self, text: str, is_recorded: bool) -> None:
        self.text = text
        self.is_recorded = is_recorded
        self.is_ambiguous = False


class _Pieces:
    """The fragments of one message.

    If it is kept, `rest` is what is not recorded yet, because its whole key made it longer. If it
    is collected, `rest` is the message so far.
    """

    __slots__ = ("fate", "next_sn", "rest")

    def __init__(self) -> None:
        self.fate = _COLLECTED
        self.next_sn = 0
        self.rest = bytearray()


class _Channel:
    """One priority and reliability of one direction."""

    __slots__ = ("at_boundary", "pieces", "replaced_sn")

    def __init__(self) -> None:
        self.pieces: _Pieces | None = None
        self.at_boundary = True
        """Whether the next fragment begins a message, where beginnings are not marked."""
        self.replaced_sn = _NONE
        """The last number of a message whose fragments became frames, until the next number.

        Deployed nodes skip the number after it, which readers know of fragments only."""


class _Direction:
    """What one side has declared, and its requests."""

    def __init__(self) -> None:
        self.prefixes: dict[int, _Prefix] = {}
        self.removed_subscribers: set[int] = set()
        self.removed_queryables: set[int] = set()
        self.removed_tokens: set[int] = set()
        self.removed_interests: set[int] = set()
        self.requests: dict[int, int] = {}
        """Verdicts on the keys of open requests, where these are not free."""
        self.forgot_requests = False
        self.channels: dict[int, _Channel] = {}


class LinkRedactor:
    """The state of one link. `direction` is 0 or 1 for either side, in the same way each time."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._rules = redactor.rules
        self._counts = redactor.counts
        self._has_rules = bool(redactor.rules)
        self._directions = (_Direction(), _Direction())
        self._is_open = False
        self._is_compressed = False
        self._is_low_latency = False
        self._is_marked = False
        self._mask: int = DEFAULT_RESOLUTION.sn_mask
        self._held_bytes = 0

    def close(self) -> None:
        self._redactor.release(self._held_bytes)
        self._held_bytes = 0
        self._directions = (_Direction(), _Direction())

    def lost(self, direction: int, is_plain: bool) -> None:
        """A batch was not recorded: what it may have declared is not known."""
        side = self._directions[direction]
        if not is_plain:
            for number in list(side.prefixes):
                self._forget_prefix(side, number)
        for channel in side.channels.values():
            self._end_message(channel)
            channel.at_boundary = False
            channel.replaced_sn = _NONE

    def batch(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
        """The batch to record, and its flags; None if nothing of it may be recorded.

        `content` is the batch without its length prefix.
        """
        if not content:
            return content, flags
        if not self._is_open or self._is_late_handshake(content):
            changed = self._handshake(content)
            return None if changed is None else (changed, flags)
        if not self._has_rules:
            return content, flags
        try:
            if self._is_low_latency:
                return self._low_latency(direction, content, flags)
            return self._frames(direction, content, flags)
        except (WireError, LocalError):
            self._counts.undecodable += 1
            self.lost(direction, is_plain=False)
            return None

    # --- handshake -----------------------------------------------------------------------------

    def _is_late_handshake(self, content: bytes) -> bool:
        """Whether a datagram is an INIT or OPEN that arrives again: they are never compressed."""
        first = content[0]
        if self._is_compressed and first <= 1:
            return False
        return first & 0x1F == _INIT or first & 0x1F == _OPEN

    def _handshake(self, content: bytes) -> bytes | None:
        """A batch of the handshake without credentials."""
        batch = decode_batch(content)
        if batch.error is not None:
            self._counts.undecodable += 1
            return None
        is_changed = False
        for message in batch.messages:
            if isinstance(message, Init):
                if message.cookie is not None and not self._is_open:
                    self._agree(message)
                is_changed |= _remove_credentials(message)
            elif isinstance(message, Open):
                self._is_open |= message.cookie is None
                is_changed |= _remove_credentials(message)
        if not is_changed:
            return content
        return encode_messages(list[Message](batch.messages))

    def _agree(self, ack: Init) -> None:
        self._is_low_latency = ack.lowlatency
        self._is_compressed = ack.compression and not ack.lowlatency
        self._is_marked = (ack.patch or 0) >= 1
        self._mask = (ack.resolution or DEFAULT_RESOLUTION).sn_mask

    # --- batches -------------------------------------------------------------------------------

    def _low_latency(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
        unit = decode_low_latency(content)
        if unit.error is not None:
            raise unit.taken_error()
        kept: list[Message] = []
        is_changed = False
        for message in unit.messages:
            if not isinstance(message, NetworkMessage):
                kept.append(message)
                continue
            redacted = self._redact(direction, message)
            is_changed |= redacted is not message
            if redacted is not None:
                full = self._with_known_key(direction, redacted)
                is_changed |= full is not redacted
                kept.append(full)
        if not is_changed:
            return content, flags
        if not kept:
            return None
        changed = encode_messages(kept)
        if len(changed) > BATCH_BYTES_MAX:
            raise WireError("low-latency unit", "key", 0, "too long with its whole key")
        return changed, flags

    def _frames(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
        room = BATCH_BYTES_MAX
        plain = content
        if self._is_compressed:
            plain = decompress_batch(content)
            room -= 1
        batch = decode_batch(plain, keeps_runs=True)
        kept: list[TransportMessage] = []
        is_changed = False
        is_plain = flags & PLAIN != 0
        for message in batch.messages:
            if isinstance(message, Frame):
                is_changed |= self._fill_skipped(direction, message, kept)
                before = len(message.messages)
                if self._frame(direction, message):
                    is_changed = True
                    is_plain = is_plain and len(message.messages) <= before
                kept.append(message)
            elif isinstance(message, Fragment):
                is_changed |= self._fill_skipped(direction, message, kept)
                replaced = self._fragment(direction, message)
                is_changed |= replaced is not message
                kept.append(replaced)
            elif isinstance(message, TransportOam):
                self._counts.removed += 1
                is_changed = True
            else:
                if isinstance(message, (Init, Open)):
                    is_changed |= _remove_credentials(message)
                kept.append(message)
        if batch.error is not None:
            self._counts.undecodable += 1
            is_changed = True
        if not is_changed and not self._is_compressed:
            return content, flags
        if not kept:
            return None
        changed = plain if not is_changed else self._encode(kept, room)
        if not is_plain:
            flags &= ~PLAIN
        if self._is_compressed:
            # Readable without decompression, unless that makes it too long.
            changed = b"\0" + changed if len(changed) <= room else compress_batch(changed)
        return changed, flags

    def _encode(self, messages: list[TransportMessage], room: int) -> bytes:
        """Inserted declarations and longer keys may fill a batch; then its last messages go."""
        content = encode_messages(list[Message](messages))
        excess = len(content) - room
        if excess <= 0:
            return content
        last = messages[-1]
        if not isinstance(last, Frame):
            raise WireError("batch", "length", 0, "too long after redaction")
        while excess > 0:
            if not last.messages:
                raise WireError("batch", "length", 0, "too long after redaction")
            message = last.messages.pop()
            if isinstance(message, PushRun):
                last.messages.extend(expand_run(message))
                continue
            excess -= len(bytes(message))
            self._counts.undecodable += 1
        return encode_messages(list[Message](messages))

    def _frame(self, direction: int, frame: Frame) -> bool:
        """Remove messages from a frame; returns whether it has changed."""
        kept: list[NetworkMessage] = []
        is_changed = False
        for message in frame.messages:
            redacted = self._redact(direction, message)
            if redacted is None:
                is_changed = True
                continue
            if isinstance(redacted, PushRun) and self._is_emptied(direction, redacted):
                for one in expand_run(redacted):
                    assert isinstance(one, Push)
                    kept.append(self._emptied_push(one))
                is_changed = True
                continue
            is_changed |= redacted is not message
            key = _key_of(redacted)
            if key is not None and key.scope:
                missing = self._missing_prefix(direction, key)
                if missing is not None:
                    is_changed = True
                    if key.sender:
                        missing.is_recorded = True
                        declared = DeclareKeyExpr(key.scope, WireExpr(0, missing.text, False))
                        kept.append(Declare(declared))
                    elif isinstance(redacted, PushRun):
                        kept.extend(
                            self._with_known_key(direction, one) for one in expand_run(redacted)
                        )
                        continue
                    else:
                        redacted = self._with_known_key(direction, redacted)
            kept.append(redacted)
        if is_changed:
            frame.messages = kept
        return is_changed

    # --- fragments -----------------------------------------------------------------------------

    def _channel(self, direction: int, qos: Priority | None, reliable: bool) -> _Channel:
        number = (DEFAULT_PRIORITY if qos is None else int(qos)) << 1 | reliable
        channels = self._directions[direction].channels
        channel = channels.get(number)
        if channel is None:
            channel = channels[number] = _Channel()
        return channel

    def _fill_skipped(
        self, direction: int, message: Frame | Fragment, kept: list[TransportMessage]
    ) -> bool:
        """Add a frame with the number that a sender skips after a message in fragments."""
        channel = self._channel(direction, message.qos, message.reliable)
        replaced_sn, channel.replaced_sn = channel.replaced_sn, _NONE
        if replaced_sn == _NONE or sn_distance(replaced_sn, message.sn, self._mask) != 2:
            return False
        kept.append(_empty_frame(message, next_sn(replaced_sn, self._mask)))
        return True

    def _fragment(self, direction: int, fragment: Fragment) -> TransportMessage:
        """What is recorded instead of a fragment."""
        channel = self._channel(direction, fragment.qos, fragment.reliable)
        pieces = channel.pieces
        if fragment.first or (pieces is not None and pieces.next_sn != fragment.sn):
            self._end_message(channel)
            pieces = None
        is_first = fragment.first or (channel.at_boundary and not self._is_marked)
        channel.at_boundary = not fragment.more
        if fragment.drop or (pieces is None and not is_first):
            # Readers ignore it as the receiver does.
            self._end_message(channel)
            return _without_payload(fragment)
        if pieces is None:
            pieces = channel.pieces = _Pieces()
            self._begin_message(direction, pieces, fragment.payload)
        else:
            self._add_piece(pieces, fragment.payload)
        pieces.next_sn = next_sn(fragment.sn, self._mask)
        if pieces.fate == _KEPT:
            return self._kept_fragment(channel, pieces, fragment)
        if fragment.more:
            return _empty_frame(fragment, fragment.sn)
        channel.replaced_sn = fragment.sn
        frame = _empty_frame(fragment, fragment.sn)
        message = self._whole(direction, pieces)
        if message is not None:
            frame.messages.append(message)
        self._end_message(channel)
        return frame

    def _begin_message(self, direction: int, pieces: _Pieces, payload: bytes) -> None:
        """Decide by the first fragment what is recorded of the message."""
        key = _key_at_start(payload)
        if key is not None:
            pieces.fate = self._fate(direction, payload, key)
        elif _is_link_state(payload):
            pieces.fate = _KEPT
        if pieces.fate == _KEPT and key is not None and key.scope:
            missing = self._missing_prefix(direction, key)
            if missing is not None:
                payload = _with_key_at_start(payload, missing.text + key.suffix)
        self._add_piece(pieces, payload)

    def _fate(self, direction: int, payload: bytes, key: WireExpr) -> int:
        """What happens to a message that begins so."""
        kind = payload[0] & 0x1F
        asked = FREE
        if kind != _PUSH:
            request_id, _ = read_z32(payload, 1, len(payload))
            asked = self._asked(direction if kind == _REQUEST else 1 - direction, request_id)
        if kind == _RESPONSE and asked == EXCLUDED:
            return _REMOVED
        if kind == _RESPONSE and not key.scope and not key.suffix:
            return _KEPT if asked == FREE else _COLLECTED
        verdict = self._verdict(direction, key)
        if kind == _PUSH and verdict >= PARTLY:
            return _REMOVED
        if kind == _REQUEST and asked != FREE:
            return _COLLECTED  # the number is used again, and its first use must be forgotten
        return _KEPT if verdict == FREE else _COLLECTED

    def _add_piece(self, pieces: _Pieces, payload: bytes) -> None:
        if pieces.fate == _KEPT:
            pieces.rest += payload
        elif pieces.fate == _COLLECTED:
            if self._hold(len(payload)):
                pieces.rest += payload
            else:
                self._release(len(pieces.rest))
                pieces.rest = bytearray()
                pieces.fate = _TOO_LONG

    def _kept_fragment(
        self, channel: _Channel, pieces: _Pieces, fragment: Fragment
    ) -> TransportMessage:
        """A fragment as long as the received one, the last one as long as needed."""
        size = len(fragment.payload) if fragment.more else len(pieces.rest)
        payload = bytes(pieces.rest[:size])
        del pieces.rest[:size]
        if not fragment.more:
            channel.pieces = None
        if payload == fragment.payload:
            return fragment
        changed = _without_payload(fragment)
        changed.payload = payload
        return changed

    def _whole(self, direction: int, pieces: _Pieces) -> NetworkMessage | None:
        """The redacted message of all fragments; None if it is removed."""
        if pieces.fate == _REMOVED:
            self._counts.removed += 1
            return None
        message: NetworkMessage | None = None
        try:
            if pieces.fate == _COLLECTED:
                message, _ = decode_network(bytes(pieces.rest), 0)
        except WireError:
            pass
        if message is None:
            self._counts.undecodable += 1
            return None
        redacted = self._redact(direction, message)
        if redacted is None:
            return None
        redacted = self._with_known_key(direction, redacted)
        if len(bytes(redacted)) > BATCH_BYTES_MAX - _FRAME_HEAD_BYTES_MAX:
            self._counts.undecodable += 1
            return None
        return redacted

    def _end_message(self, channel: _Channel) -> None:
        pieces, channel.pieces = channel.pieces, None
        if pieces is not None and pieces.fate == _COLLECTED:
            self._release(len(pieces.rest))

    # --- messages ------------------------------------------------------------------------------

    def _redact(self, direction: int, message: NetworkMessage) -> NetworkMessage | None:
        """The message to record; None if it is removed. A run may still need to be emptied."""
        if isinstance(message, PushRun):
            if self._verdict(direction, message.first.key) >= PARTLY:
                self._counts.removed += message.count
                return None
            return message
        redacted = self._redact_one(direction, message)
        if redacted is None:
            self._counts.removed += 1
        return redacted

    def _redact_one(self, direction: int, message: NetworkMessage) -> NetworkMessage | None:
        if isinstance(message, Push):
            verdict = self._verdict(direction, message.key)
            if verdict >= PARTLY:
                return None
            return self._emptied_push(message) if verdict == DROPPED else message
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
        if isinstance(message, Oam) and message.id == _LINK_STATE:
            return message
        return None

    def _request(self, direction: int, request: Request) -> Request | None:
        verdict = self._verdict(direction, request.key)
        side = self._directions[direction]
        self._end_request(side, request.request_id)
        if verdict == FREE:
            return request
        if self._hold(_ENTRY_BYTES):
            side.requests[request.request_id] = verdict
        else:
            side.forgot_requests = True
        if verdict == EXCLUDED:
            return None
        self._counts.emptied += 1
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
            self._release(_ENTRY_BYTES)
        return verdict

    def _asked(self, direction: int, request_id: int) -> int:
        """The verdict on the key of a request; PARTLY if it may have been forgotten."""
        side = self._directions[direction]
        return side.requests.get(request_id, PARTLY if side.forgot_requests else FREE)

    def _response(self, direction: int, response: Response) -> Response | None:
        asked = self._asked(1 - direction, response.request_id)
        if asked == EXCLUDED:
            return None
        key = response.key
        body = response.body
        if not key.scope and not key.suffix:  # an error of a node on the way
            verdict = DROPPED if asked != FREE else FREE
        else:
            verdict = self._verdict(direction, key)
        if verdict == PARTLY and isinstance(body, Err):
            verdict = DROPPED
        if verdict >= PARTLY:
            return None
        if verdict == FREE:
            return response
        self._counts.emptied += 1
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
        if interest.key is None or self._verdict(direction, interest.key) != EXCLUDED:
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
        if isinstance(body, DeclareFinal):
            removed = self._directions[1 - direction].removed_interests
            return None if message.interest_id in removed else message
        if isinstance(body, (DeclareSubscriber, UndeclareSubscriber)):
            removed = side.removed_subscribers
        elif isinstance(body, (DeclareQueryable, UndeclareQueryable)):
            removed = side.removed_queryables
        else:
            removed = side.removed_tokens
        was_removed = body.id in removed
        self._forget(removed, body.id)
        key = _key_of(message)
        verdict = FREE if key is None else self._verdict(direction, key)
        is_token = isinstance(body, (DeclareToken, UndeclareToken))
        is_removed = verdict == EXCLUDED or (verdict == PARTLY and is_token)
        if isinstance(body, (DeclareSubscriber, DeclareQueryable, DeclareToken)):
            if is_removed:
                self._remember(removed, body.id)
        elif was_removed:
            is_removed = True
        return None if is_removed else message

    def _declare_prefix(
        self, direction: int, side: _Direction, message: Declare, body: DeclareKeyExpr
    ) -> Declare | None:
        text = self._text(direction, body.key)
        inner = self._missing_prefix(direction, body.key) if body.key.scope else None
        earlier = side.prefixes.get(body.expr_id)
        if earlier is not None:
            earlier.is_ambiguous |= text != earlier.text
            return message if earlier.is_recorded and not earlier.is_ambiguous else None
        if text is None or not self._hold(_ENTRY_BYTES + len(text)):
            return None
        is_recorded = not self._rules.may_begin_excluded(text)
        side.prefixes[body.expr_id] = _Prefix(text, is_recorded)
        if not is_recorded:
            return None
        if inner is None:
            return message
        changed = message.copy()
        changed.body = DeclareKeyExpr(body.expr_id, WireExpr(0, text, False))
        return changed

    def _forget_prefix(self, side: _Direction, number: int) -> bool:
        """Whether the prefix is in the recording."""
        prefix = side.prefixes.pop(number, None)
        if prefix is None:
            return False
        self._release(_ENTRY_BYTES + len(prefix.text))
        return prefix.is_recorded

    def _is_emptied(self, direction: int, run: PushRun) -> bool:
        return self._verdict(direction, run.first.key) == DROPPED

    def _emptied_push(self, push: Push) -> Push:
        self._counts.emptied += 1
        changed = push.copy()
        changed.extensions = ()
        changed.body = _emptied_value(push.body)
        return changed

    # --- keys ----------------------------------------------------------------------------------

    def _verdict(self, direction: int, key: WireExpr) -> int:
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

    def _missing_prefix(self, direction: int, key: WireExpr) -> _Prefix | None:
        """The prefix of a key, if the recording does not have it yet."""
        side = self._directions[direction if key.sender else 1 - direction]
        prefix = side.prefixes.get(key.scope)
        return None if prefix is None or prefix.is_recorded else prefix

    def _with_known_key(self, direction: int, message: NetworkMessage) -> NetworkMessage:
        """The message with its whole key, if the recording does not have its prefix."""
        key = _key_of(message)
        if key is None or not key.scope:
            return message
        missing = self._missing_prefix(direction, key)
        if missing is None:
            return message
        return _with_key(message, WireExpr(0, missing.text + key.suffix))

    # --- memory --------------------------------------------------------------------------------

    def _hold(self, size: int) -> bool:
        if not self._redactor.hold(size):
            return False
        self._held_bytes += size
        return True

    def _release(self, size: int) -> None:
        self._redactor.release(size)
        self._held_bytes -= size

    def _remember(self, ids: set[int], id: int) -> None:
        if self._hold(_ENTRY_BYTES):
            ids.add(id)

    def _forget(self, ids: set[int], id: int) -> None:
        if id in ids:
            ids.discard(id)
            self._release(_ENTRY_BYTES)


def _remove_credentials(message: Init | Open) -> bool:
    """Empty the authentication extension; its presence says that there was one."""
    if message.auth is None:
        return False
    emptied: list[Extension] = []
    for entry in message.auth:
        body = entry.body
        if isinstance(body, bytes):
            body = b""
        elif body is not None:
            body = 0
        emptied.append(Extension(entry.header, body))
    message.auth = tuple(emptied)
    return True


def _empty_frame(message: Frame | Fragment, sn: int) -> Frame:
    return Frame(sn, [], reliable=message.reliable, qos=message.qos)


def _without_payload(fragment: Fragment) -> Fragment:
    changed = fragment.copy()
    changed.payload = b""
    return changed


def _emptied_value(body: Put | Del) -> Put | Del:
    changed = body.copy()
    changed.extensions = ()
    if changed.attachment is not None:
        changed.attachment = b""
    if isinstance(changed, Put):
        changed.shm = False
        changed.payload = b""
    return changed


def _key_of(message: NetworkMessage) -> WireExpr | None:
    """The key of a message; of a declaration None if it has no prefix declared elsewhere."""
    if isinstance(message, PushRun):
        return message.first.key
    if isinstance(message, (Push, Request, Response, Interest)):
        return message.key
    if isinstance(message, Declare):
        body = message.body
        if isinstance(body, (DeclareSubscriber, DeclareQueryable, DeclareToken)):
            return body.key
        if isinstance(body, (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)):
            return None if body.key is None else body.key.key
    return None


def _with_key(message: NetworkMessage, key: WireExpr) -> NetworkMessage:
    if isinstance(message, (Push, Request, Response, Interest)):
        changed = message.copy()
        changed.key = key
        return changed
    assert isinstance(message, Declare)
    declare = message.copy()
    body = message.body
    if isinstance(body, (DeclareSubscriber, DeclareQueryable, DeclareToken)):
        announced = body.copy()
        announced.key = key
        declare.body = announced
    elif isinstance(body, (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)):
        withdrawn = body.copy()
        withdrawn.key = UndeclaredKey(key)
        declare.body = withdrawn
    return declare


def _key_place(data: bytes) -> tuple[int, int]:
    """Where the key of an encoded PUSH, REQUEST or RESPONSE begins and ends."""
    start = 1
    end = len(data)
    if data[0] & 0x1F != _PUSH:
        _, start = read_z32(data, start, end)
    _, stop = read_z16(data, start, end)
    if data[0] & _HAS_SUFFIX:
        _, stop = read_text_z16(data, stop, end)
    return start, stop


def _key_at_start(data: bytes) -> WireExpr | None:
    """The key of an encoded message, if all of it is here; None for other messages."""
    if not data or data[0] & 0x1F not in (_PUSH, _REQUEST, _RESPONSE):
        return None
    try:
        start, stop = _key_place(data)
        scope, suffix_at = read_z16(data, start, stop)
        suffix = ""
        if data[0] & _HAS_SUFFIX:
            suffix, _ = read_text_z16(data, suffix_at, stop)
    except FIELD_ERRORS:
        return None
    return WireExpr(scope, suffix, data[0] & _OF_SENDER != 0)


def _with_key_at_start(data: bytes, text: str) -> bytes:
    """The beginning of a message with its whole key instead of the present one."""
    start, stop = _key_place(data)
    out = BytesWriter()
    out.append(data[0] | _HAS_SUFFIX | _OF_SENDER)
    out.write(data[1:start])
    out.append(0)
    write_text_z16(out, text)
    out.write(data[stop:])
    return out.getvalue()


def _is_link_state(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 0x1F == _OAM and data[1] == _LINK_STATE
