"""Every exception zenlake raises, in one small tree.

    ZError (also called ZenlakeError; the name is the one users of eclipse-zenoh know)
    ├── LocalError       our caller's mistake: a value that cannot be sent, a bad argument
    │   └── KeyExprError     a text that is not a key expression, with the position
    ├── WireError        the peer's mistake: bytes that are not a message, with the place
    ├── CaptureError     a file's mistake: not a capture, or damaged beyond reading on
    ├── RecordingError   a recording's folder: not one, in use, not writable
    ├── LakeError        a lake's: none there, damaged, in use, no room (in `lake.publish`)
    └── SchemaError      ours: a reader does not fill the declared columns (in `lake.schema`)

The first question about an error is whose it is: a local misuse is never reported as a
peer's violation, nor the other way round.
"""

from __future__ import annotations


class ZError(Exception):
    """The root of all errors raised by zenlake."""


ZenlakeError = ZError


class LocalError(ZenlakeError):
    """Our caller asked for something that cannot be done."""


class KeyExprError(LocalError):
    """A text is not a key expression (or selector, format, time range)."""

    def __init__(self, text: str, position: int, cause: str) -> None:
        shown = text if len(text) <= 80 else text[:77] + "..."
        super().__init__(f"{shown!r}: {cause} (at character {position})")
        self.text = text
        self.position = position
        self.cause = cause


class WireError(ZenlakeError):
    """Bytes of a peer that are not what the protocol allows.

    `message` and `field` name the row of the definition that could not be read, `offset`
    counts bytes from the start of the buffer that was handed to the decoder. `partial` is a
    FRAME with the messages before the bad one, which a receiver has delivered by then.
    """

    def __init__(self, message: str, field: str, offset: int, cause: str) -> None:
        super().__init__(f"{message}.{field} at byte {offset}: {cause}")
        self.message = message
        self.field = field
        self.offset = offset
        self.cause = cause
        self.partial: object = None


class CaptureError(ZenlakeError):
    """A file that cannot be read as a capture, or not any further.

    `path` names the file, `offset` counts its bytes after decompression.
    """

    def __init__(self, path: str, offset: int, cause: str) -> None:
        place = f" at byte {offset}" if offset else ""
        super().__init__(f"{path}{place}: {cause}")
        self.path = path
        self.offset = offset
        self.cause = cause


class SegmentsDeletedError(CaptureError):
    """Segments of a recording were deleted before a reader got to them.

    `first` and `last` are the numbers of the missing segments.
    """

    def __init__(self, path: str, first: int, last: int) -> None:
        missing = f"segment {first}" if first == last else f"segments {first} to {last}"
        super().__init__(path, 0, f"{missing} were deleted before they were read")
        self.first = first
        self.last = last


class RecordingError(ZenlakeError):
    """A folder that cannot be recorded into, or is no recording. `path` names it."""

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path}: {cause}")
        self.path = path
        self.cause = cause
