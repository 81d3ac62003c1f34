"""RecordingSettings: where and how a node records its links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from zenlake.errors import LocalError
from zenlake.recording.redaction_rules import RedactionRules

SEGMENT_BYTES: Final = 64 << 20
SEGMENT_SECONDS: Final = 60


class RecordingSettings:
    """The configuration below `recording/`.

    `keep_bytes` and `keep_seconds` limit the size and the age of complete segments; older ones are
    deleted. With None there is no limit.
    """

    def __init__(
        self,
        path: str,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        segment_seconds: float = SEGMENT_SECONDS,
        keep_bytes: int | None = None,
        keep_seconds: float | None = None,
        exclude: Sequence[str] = (),
        drop_payload: Sequence[str] = (),
    ) -> None:
        if not path:
            raise LocalError("recording/path is empty: name a folder")
        for name, value in (
            ("segment_bytes", segment_bytes),
            ("segment_seconds", segment_seconds),
            ("keep_bytes", keep_bytes),
            ("keep_seconds", keep_seconds),
        ):
            if value is not None and not 0 < value < float("inf"):
                raise LocalError(f"recording/{name} is greater than 0, not {value}")
        self.path = path
        self.segment_bytes = segment_bytes
        self.segment_seconds = segment_seconds
        self.keep_bytes = keep_bytes
        self.keep_seconds = keep_seconds
        self.rules = RedactionRules(exclude, drop_payload)
