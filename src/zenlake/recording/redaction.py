"""Redaction: removes keys, payloads and credentials from batches before they are written.

Rules name keys (redaction_rules.py). Messages about excluded keys are removed; publications,
queries and replies on other keys may lose payload and attachment. Sequence numbers stay, so that a
reader finds no gap: a FRAME whose messages are all removed is recorded without messages. Bytes
that cannot be decoded are not recorded; a whole batch of them becomes a gap. Without rules only the
credentials of handshakes are removed, and no other batch is decoded.
"""

from __future__ import annotations

from zenlake.capture.segment_format import PLAIN
from zenlake.errors import LocalError, WireError
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.recording.message_keys import key_of
from zenlake.recording.redacted_fragments import FragmentRedactor
from zenlake.recording.redacted_messages import MessageRedactor, RedactionCounts, RedactionMemory
from zenlake.recording.redaction_rules import RedactionRules
from zenlake.wire import (
    Close,
    Extension,
    Fragment,
    Frame,
    Init,
    Join,
    KeepAlive,
    Open,
    Push,
    TransportOam,
    encode_messages,
)
from zenlake.wire.batch import decode_batch, decode_low_latency
from zenlake.wire.compression import compress_batch, decompress_batch
from zenlake.wire.headers import ID_BITS, INIT_ID, OPEN_ID
from zenlake.wire.message import Message, NetworkMessage, TransportMessage
from zenlake.wire.push_run import PushRun
from zenlake.wire.runs import expand_run
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION
from zenlake.wire.writer import BytesWriter


class Redactor:
    """The rules of one recording, and the memory limit that its links share."""

    def __init__(self, rules: RedactionRules) -> None:
        self.rules = rules
        self.counts = RedactionCounts()
        self.memory = RedactionMemory()

    @property
    def keeps_plain(self) -> bool:
        """Whether no rule changes publications."""
        return not self.rules

    def link(self) -> LinkRedactor:
        return LinkRedactor(self)


class LinkRedactor:
    """The state of one link. `direction` is 0 for one side and 1 for the other."""

    def __init__(self, redactor: Redactor) -> None:
        self._counts = redactor.counts
        self._has_rules = bool(redactor.rules)
        self._messages = MessageRedactor(redactor.rules, redactor.counts, redactor.memory)
        self._fragments = FragmentRedactor(self._messages)
        self._is_open = False
        self._is_compressed = False
        self._is_low_latency = False

    def close(self) -> None:
        self._messages.close()

    def lost(self, direction: int, is_plain: bool) -> None:
        """A batch was not recorded: the declarations that it may have had are unknown."""
        if not is_plain:
            self._messages.forget_prefixes(direction)
        self._fragments.lost(direction)

    def batch(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
        """The batch to record, and its flags (`filter.LinkFilter`)."""
        if not content:
            return content, flags
        if not self._is_open or self._is_late_handshake(content):
            return self._handshake(direction, content, flags)
        if not self._has_rules:
            return content, flags
        return self._redacted(direction, content, flags)

    def _redacted(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
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
        """Whether a datagram is a repeated INIT or OPEN, which are never compressed."""
        first = content[0]
        if self._is_compressed and first <= 1:
            return False
        return first & ID_BITS in (INIT_ID, OPEN_ID)

    def _handshake(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int] | None:
        """A batch before the session is open, without credentials.

        The members of a multicast group have no handshake: frames follow their JOIN.
        """
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
            elif isinstance(message, Join):
                self._agree_in_group(message)
            elif self._has_rules and not isinstance(message, (Close, KeepAlive)):
                return self._redacted(direction, content, flags)
        if not is_changed:
            return content, flags
        return _encoded(batch.messages), flags

    def _agree_in_group(self, join: Join) -> None:
        self._fragments.is_marked = (join.patch or 0) >= 1
        self._fragments.mask = (join.resolution or DEFAULT_RESOLUTION).sn_mask

    def _agree(self, ack: Init) -> None:
        self._is_low_latency = ack.lowlatency
        self._is_compressed = ack.compression and not ack.lowlatency
        self._fragments.is_marked = (ack.patch or 0) >= 1
        self._fragments.mask = (ack.resolution or DEFAULT_RESOLUTION).sn_mask

    # --- batches -------------------------------------------------------------------------------

    def _low_latency(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int]:
        unit = decode_low_latency(content)
        if unit.error is not None:
            raise unit.pop_error()
        kept: list[Message] = []
        is_changed = False
        for message in unit.messages:
            if not isinstance(message, NetworkMessage):
                kept.append(message)
                continue
            redacted = self._messages.redact(direction, message)
            is_changed |= redacted is not message
            if redacted is not None:
                full = self._messages.with_known_key(direction, redacted)
                is_changed |= full is not redacted
                kept.append(full)
        if not is_changed:
            return content, flags
        changed = encode_messages(kept)
        if len(changed) > BATCH_BYTES_MAX:
            raise WireError("low-latency unit", "key", 0, "too long with its whole key")
        return changed, flags

    def _frames(self, direction: int, content: bytes, flags: int) -> tuple[bytes, int]:
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
                is_changed |= self._fragments.fill_skipped(direction, message, kept)
                before = len(message.messages)
                if self._frame(direction, message):
                    is_changed = True
                    is_plain = is_plain and len(message.messages) <= before
                kept.append(message)
            elif isinstance(message, Fragment):
                is_changed |= self._fragments.fill_skipped(direction, message, kept)
                replaced = self._fragments.fragment(direction, message)
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
            if not kept:
                raise batch.pop_error()
            self._counts.undecodable += 1
            is_changed = True
        if not is_changed and not self._is_compressed:
            return content, flags
        if not kept:
            return b"", flags
        changed = plain if not is_changed else self._encode(kept, room)
        if not is_plain:
            flags &= ~PLAIN
        if self._is_compressed:
            # Recorded without compression, unless that makes the batch too long.
            changed = b"\0" + changed if len(changed) <= room else compress_batch(changed)
        return changed, flags

    def _encode(self, messages: list[TransportMessage], room: int) -> bytes:
        """Encode messages. The last ones are dropped if insertions and whole keys exceed `room`."""
        content = _encoded(messages)
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
        return _encoded(messages)

    def _frame(self, direction: int, frame: Frame) -> bool:
        """Remove messages from a frame; returns whether it has changed."""
        kept: list[NetworkMessage] = []
        is_changed = False
        for message in frame.messages:
            redacted = self._messages.redact(direction, message)
            if redacted is None:
                is_changed = True
                continue
            if isinstance(redacted, PushRun) and self._messages.is_emptied(direction, redacted):
                for one in expand_run(redacted):
                    assert isinstance(one, Push)
                    kept.append(self._messages.emptied_push(one))
                is_changed = True
                continue
            is_changed |= redacted is not message
            key = key_of(redacted)
            if key is not None and key.scope:
                missing = self._messages.missing_prefix(direction, key)
                if missing is not None:
                    is_changed = True
                    if key.sender:
                        kept.append(self._messages.declared_now(missing))
                    elif isinstance(redacted, PushRun):
                        kept.extend(
                            self._messages.with_known_key(direction, one)
                            for one in expand_run(redacted)
                        )
                        continue
                    else:
                        redacted = self._messages.with_known_key(direction, redacted)
            kept.append(redacted)
        if is_changed:
            frame.messages = kept
        return is_changed


def _encoded(messages: list[TransportMessage]) -> bytes:
    out = BytesWriter()
    for message in messages:
        message.encode(out)
    return out.getvalue()


def _remove_credentials(message: Init | Open) -> bool:
    """Empty the authentication extension, but keep it: readers see that credentials were sent."""
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
