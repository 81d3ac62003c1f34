"""Options of a writer, checked on the driver before a task starts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from zenlake.api.config.config import Config
from zenlake.api.values.enums import CongestionControl, Priority
from zenlake.errors import LocalError, ZError
from zenlake.limits import OPTION_CHARACTERS_MAX

KNOWN: Final = (
    *("connect", "encoding", "priority", "congestionControl", "express"),
    *("flushTimeout", "checkpointLocation"),
)
_NAMES: Final = frozenset(name.lower() for name in KNOWN)
_CONFIG_PREFIX: Final = "zenoh."
_WAIT_BEFORE_CLOSE: Final = "transport/link/tx/queue/congestion_control/block/wait_before_close"
_FLUSH_SECONDS: Final = 60.0
_FLUSH_SECONDS_MAX: Final = 86_400.0
_CONGESTION: Final = {
    "block": CongestionControl.BLOCK,
    "drop": CongestionControl.DROP,
    "block_first": CongestionControl.BLOCK_FIRST,
}
PRIORITIES: Final = {
    "real_time": Priority.REAL_TIME,
    "interactive_high": Priority.INTERACTIVE_HIGH,
    "interactive_low": Priority.INTERACTIVE_LOW,
    "data_high": Priority.DATA_HIGH,
    "data": Priority.DATA,
    "data_low": Priority.DATA_LOW,
    "background": Priority.BACKGROUND,
}
"""The names of the priorities 1 to 7, in this order."""
NO_CONNECT: Final = (
    'option connect is missing: df.write.format("zenoh").option("connect", "tcp/HOST:7447")'
    '.mode("append").save(); a table USING zenoh is read only'
)
NO_PATH: Final = 'format("zenoh") writes to the keys of the rows: call save() without a path'


class SinkOptions(NamedTuple):
    """How tasks connect and publish. All values are plain, because Spark pickles them."""

    config: dict[str, str]
    """Values in JSON5, by the path of the configuration key."""
    encoding: str | None
    priority: int | None
    congestion: int
    express: bool
    flush_seconds: float
    checkpoint: str | None
    """The folder in which Spark keeps the progress of a stream."""

    def make_config(self) -> Config:
        made = Config()
        for path, value in self.config.items():
            made.insert_json5(path, value)
        return made


def read_options(given: Mapping[str, str]) -> SinkOptions:
    """Parses options, whose names may be in any case; raises at the first invalid one."""
    options = {name.lower(): value for name, value in given.items()}
    if "path" in options or "paths" in options:
        raise LocalError(NO_PATH if "connect" in options else NO_CONNECT)
    for name, value in options.items():
        if name not in _NAMES and not name.startswith(_CONFIG_PREFIX):
            raise LocalError(f"there is no option {shown(name)}{_instead(name)}")
        if len(value) > OPTION_CHARACTERS_MAX:
            raise LocalError(f"option {name} is longer than {OPTION_CHARACTERS_MAX} characters")
    if "connect" not in options:
        raise LocalError(NO_CONNECT)
    congestion = options.get("congestioncontrol", "block").lower()
    if congestion not in _CONGESTION:
        raise LocalError(
            f"option congestionControl is {', '.join(_CONGESTION)}, not {shown(congestion)}"
        )
    priority = options.get("priority")
    return SinkOptions(
        config=_config(options),
        encoding=options.get("encoding"),
        priority=None if priority is None else priority_number(priority, "option priority"),
        congestion=int(_CONGESTION[congestion]),
        express=_flag("express", options),
        flush_seconds=_seconds("flushTimeout", options),
        checkpoint=options.get("checkpointlocation"),
    )


def priority_number(value: object, what: str) -> int:
    """The number of a priority that is specified by number or name."""
    name = value.lower() if isinstance(value, str) else ""
    if name in PRIORITIES:
        return int(PRIORITIES[name])
    if isinstance(value, str) and re.fullmatch("[0-9]", value):
        value = int(value)
    if isinstance(value, int) and 1 <= value <= len(PRIORITIES):
        return value
    names = ", ".join(PRIORITIES)
    raise LocalError(f"{what} is 1 (real_time) to 7 (background) or {names}, not {shown(value)}")


def _config(options: Mapping[str, str]) -> dict[str, str]:
    """The configuration of the session of each task; all of it is checked here."""
    patience_us = round(_seconds("flushTimeout", options) * 1e6)
    found = {
        "mode": '"client"',
        "connect/endpoints": json.dumps(_endpoints(options["connect"])),
        "scouting/multicast/enabled": "false",
        # A task may send much faster than a busy router reads.
        _WAIT_BEFORE_CLOSE: str(patience_us),
    }
    checked = Config()
    for path, value in found.items():
        checked.insert_json5(path, value)
    for name, value in options.items():
        if name.startswith(_CONFIG_PREFIX):
            path = name.removeprefix(_CONFIG_PREFIX).replace(".", "/")
            if path in ("mode", "connect/endpoints"):
                raise LocalError(f"option {name} cannot be set: the sink is a client of `connect`")
            found[path] = _inserted(checked, name, path, value)
    return found


def _inserted(config: Config, name: str, path: str, value: str) -> str:
    """The value in JSON5. A text without quotes, such as a password, becomes a JSON5 string."""
    problem: ZError | None = None
    for text in (value, json.dumps(value)):
        try:
            config.insert_json5(path, text)
        except ZError as error:
            problem = problem or error
        else:
            return text
    assert problem is not None
    raise LocalError(f"option {name}: {problem}")


def _endpoints(text: str) -> list[str]:
    """One endpoint, several separated by commas, or a list in JSON."""
    found: object = [part.strip() for part in text.split(",")]
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
    if isinstance(found, list) and found and all(isinstance(e, str) and "/" in e for e in found):
        return found
    raise LocalError(f"option connect is tcp/HOST:PORT, or several with commas, not {shown(text)}")


def _flag(name: str, options: Mapping[str, str]) -> bool:
    text = options.get(name.lower(), "false").lower()
    if text not in ("true", "false"):
        raise LocalError(f"option {name} is true or false, not {shown(text)}")
    return text == "true"


def _seconds(name: str, options: Mapping[str, str]) -> float:
    text = options.get(name.lower())
    if text is None:
        return _FLUSH_SECONDS
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,9})?", text) or not (
        0 < float(text) <= _FLUSH_SECONDS_MAX
    ):
        raise LocalError(
            f"option {name} is seconds, up to {_FLUSH_SECONDS_MAX:.0f}, not {shown(text)}"
        )
    return float(text)


def _instead(name: str) -> str:
    close = get_close_matches(name[:80], [known.lower() for known in KNOWN], n=1)
    spelled = {known.lower(): known for known in KNOWN}
    hint = f" (did you mean {spelled[close[0]]}?)" if close else ""
    return f"{hint}; for writing there are: {', '.join(KNOWN)}, zenoh.<configuration key>"


def shown(value: object) -> str:
    """A value for an error message: on one line, and not too long."""
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."
