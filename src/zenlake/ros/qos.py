"""Quality of service, as the tokens of both middlewares encode it.

Policies are the numbers of `rmw` and of DDS; a value that equals the default is omitted. The
defaults of rmw_zenoh are those of its releases (until October 2024 durability was
`transient_local`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zenlake.ros.reading import Reading

_RMW_RELIABILITY: Final = ("system_default", "reliable", "best_effort", "unknown", "best_available")
_RMW_DURABILITY: Final = (
    "system_default",
    "transient_local",
    "volatile",
    "unknown",
    "best_available",
)
_RMW_HISTORY: Final = ("system_default", "keep_last", "keep_all", "unknown")
_RMW_LIVELINESS: Final = (
    *("system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown"),
    "best_available",
)
_RMW_DEPTH: Final = 42
_DDS_RELIABILITY: Final = ("best_effort", "reliable")
_DDS_DURABILITY: Final = ("volatile", "transient_local", "transient", "persistent")
_DDS_HISTORY: Final = ("keep_last", "keep_all")
_DDS_DEPTH: Final = 1
_SECOND_NS: Final = 1_000_000_000
_FOREVER_NS: Final = (1 << 63) - 1
"""The encoding of an infinite duration in `rmw`."""
_TYPE_HASH: Final = "typehash="


class Qos(NamedTuple):
    """The policies by name; an infinite duration is None."""

    reliability: str | None = None
    durability: str | None = None
    history: str | None = None
    depth: int | None = None
    deadline_ns: int | None = None
    lifespan_ns: int | None = None
    liveliness: str | None = None
    lease_ns: int | None = None


def read_rmw_qos(text: str, reading: Reading) -> Qos:
    """Reads `reliability:durability:history,depth:s,ns:s,ns:liveliness,s,ns` of rmw_zenoh."""
    parts = text.split(":")
    if len(parts) != 6:
        reading.remark(f"QoS has {len(parts)} parts instead of 6")
        return Qos()
    history, depth = reading.fields("history", parts[2], 2)
    liveliness, *lease = reading.fields("liveliness", parts[5], 3)
    return Qos(
        reading.word("reliability", parts[0], _RMW_RELIABILITY, "reliable"),
        reading.word("durability", parts[1], _RMW_DURABILITY, "volatile"),
        reading.word("history", history, _RMW_HISTORY, "keep_last"),
        reading.number("depth", depth, _RMW_DEPTH),
        _duration_ns("deadline", reading.fields("deadline", parts[3], 2), reading),
        _duration_ns("lifespan", reading.fields("lifespan", parts[4], 2), reading),
        reading.word("liveliness", liveliness, _RMW_LIVELINESS, "automatic"),
        _duration_ns("liveliness lease", lease, reading),
    )


def read_bridge_qos(text: str, is_writer: bool, reading: Reading) -> tuple[Qos, str | None]:
    """Reads `K:reliability:durability:history,depth:user data` of the bridge: QoS and type hash."""
    parts = text.split(":", 4)
    if len(parts) < 4:
        reading.remark(f"QoS has {len(parts)} parts instead of 4 or 5")
        return Qos(), None
    if parts[0] not in ("", "K"):
        reading.remark(f"QoS begins with {parts[0]!r}")
    history, depth = reading.fields("history", parts[3], 2) if parts[3] else ("", "")
    # The default differs between writers and readers of DDS.
    default = "reliable" if is_writer else "best_effort"
    qos = Qos(
        reading.word("reliability", parts[1], _DDS_RELIABILITY, default),
        reading.word("durability", parts[2], _DDS_DURABILITY, "volatile"),
        reading.word("history", history, _DDS_HISTORY, "keep_last"),
        reading.number("depth", depth, _DDS_DEPTH, is_signed=True),
    )
    return qos, _hash_in(parts[4]) if len(parts) == 5 else None


def _duration_ns(what: str, parts: list[str], reading: Reading) -> int | None:
    seconds = reading.number(f"{what} seconds", parts[0], _FOREVER_NS // _SECOND_NS)
    rest = reading.number(f"{what} nanoseconds", parts[1], _FOREVER_NS % _SECOND_NS)
    if seconds is None or rest is None:
        return None
    total = seconds * _SECOND_NS + rest
    return total if total < _FOREVER_NS else None


def _hash_in(user_data: str) -> str | None:
    """The type's hash: ROS stores it in the user data of DDS, whose fields `;` separates."""
    for field in user_data.split(";"):
        if field.startswith(_TYPE_HASH):
            return field.removeprefix(_TYPE_HASH)
    return None
