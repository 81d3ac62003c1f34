"""Offset: a position in a recording, as JSON that Spark stores in its checkpoint.

    {"segment": "00000003", "position": 123456, "packet": 9876, "recording": "5f0c..."}

`segment` is a segment of a recording without its suffix, or the name of a rotated capture;
`position` is the byte offset of a block or record in it. The other fields are optional in offsets
that users write: `packet` is the number of packets before the position (of the recording, or of the
file), and `recording` the id of the recording. With them, offsets of another folder are refused,
and the number of packets in removed segments is known. Offsets of `queries` and `replies` have
`oldest_open`, the offset from which a reader must look for requests without an outcome.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from zenlake.errors import LocalError
from zenlake.limits import STREAM_OFFSET_CHARACTERS_MAX

_POSITION_MAX: Final = (1 << 63) - 1
_NAME_CHARACTERS_MAX: Final = 255
_KNOWN: Final = ("segment", "position", "packet", "recording", "oldest_open")


class Offset(NamedTuple):
    segment: str
    position: int
    packet: int | None = None
    recording: str | None = None
    oldest_open: Offset | None = None
    """The beginning of the batch with the oldest request that is open here."""

    def plain(self) -> Offset:
        """The offset without `oldest_open`."""
        return self._replace(oldest_open=None)

    def to_json(self) -> dict[str, Any]:
        """The offset for Spark, without unknown fields."""
        found = {name: value for name, value in self._asdict().items() if value is not None}
        if self.oldest_open is not None:
            found["oldest_open"] = self.oldest_open.plain().to_json()
        return found


def parse_offset(found: object, where: str) -> Offset:
    """The offset in a decoded JSON value; `where` begins the message of an error."""
    if not isinstance(found, Mapping) or not {"segment", "position"} <= found.keys():
        raise LocalError(f'{where} is no offset such as {{"segment": "00000001", "position": 0}}')
    unknown = [str(name) for name in found if name not in _KNOWN]
    if unknown:
        raise LocalError(f"{where} has an unknown field {unknown[0][:80]!a}")
    segment = found["segment"]
    # Before anything was recorded, the name is empty.
    if not isinstance(segment, str) or (segment and not is_plain_name(segment)):
        raise LocalError(f"{where}: the segment is no file name: {str(segment)[:80]!a}")
    recording = found.get("recording")
    if recording is not None and not isinstance(recording, str):
        raise LocalError(f"{where}: the recording is a text")
    position = _count(found["position"], f"{where}: the position")
    packet = found.get("packet")
    if packet is not None:
        packet = _count(packet, f"{where}: the packet")
    oldest = found.get("oldest_open")
    if oldest is not None:
        if not isinstance(oldest, Mapping) or "oldest_open" in oldest:
            raise LocalError(f"{where}: oldest_open is no offset")
        oldest = parse_offset(oldest, f"{where}: oldest_open")
    return Offset(segment, position, packet, recording, oldest)


def parse_offset_text(text: str, where: str) -> Offset:
    """The offset that a user wrote."""
    if len(text) > STREAM_OFFSET_CHARACTERS_MAX:
        raise LocalError(f"{where} is longer than {STREAM_OFFSET_CHARACTERS_MAX} characters")
    try:
        found = json.loads(text)
    # ValueError includes integers with more digits than Python converts.
    except (ValueError, RecursionError):
        raise LocalError(f"{where} is not JSON: {text[:80]!a}") from None
    return parse_offset(found, where)


def is_plain_name(name: str) -> bool:
    """Whether this is the name of a file in a folder, and no path to somewhere else."""
    if not 0 < len(name) <= _NAME_CHARACTERS_MAX or name.startswith("."):
        return False
    return not any(letter in "/\\" or not letter.isprintable() for letter in name)


def _count(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _POSITION_MAX:
        raise LocalError(f"{what} is an integer from 0 to {_POSITION_MAX}")
    return value
