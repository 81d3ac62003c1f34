"""Differences from eclipse-zenoh 1.10: what is missing, and what is different.

`docs/compatibility.md` is generated from these tables. A test compares the public API with the
stub of eclipse-zenoh and accepts only the differences listed here.
"""

from __future__ import annotations

from typing import Final

_ADVANCED: Final = "advanced publishers and subscribers (unstable there) are not offered"
_SHARED: Final = "zenlake has no shared memory"

NOT_OFFERED: Final = {
    "ext.AdvancedPublisher": _ADVANCED,
    "ext.AdvancedSubscriber": _ADVANCED,
    "ext.CacheConfig": _ADVANCED,
    "ext.HistoryConfig": _ADVANCED,
    "ext.Miss": _ADVANCED,
    "ext.MissDetectionConfig": _ADVANCED,
    "ext.RecoveryConfig": _ADVANCED,
    "ext.RepliesConfig": _ADVANCED,
    "ext.SampleMissListener": _ADVANCED,
    "ext.declare_advanced_publisher": _ADVANCED,
    "ext.declare_advanced_subscriber": _ADVANCED,
    "shm": _SHARED,
}
"""The missing names of each class or module, with the reason."""

ADDED: Final = {
    "Session.get": ("budget",),
}
"""Optional keyword parameters of zenlake's own, by method."""

DIFFERENCES: Final = (
    (
        "exceptions",
        "`ZError` has no subclasses; some mistakes are panics (`BaseException`)",
        "`ZError` is the root of a small tree (`KeyExprError`, `WireError`, ...); never a panic",
    ),
    (
        "enumerations",
        "cannot be hashed, copied or pickled; an alias is another object",
        "can be; an alias such as `Priority.DEFAULT` is the constant itself",
    ),
    (
        "`SetIntersectionLevel`",
        "equal only to itself, not ordered",
        "an `IntEnum`: ordered, and equal to its number",
    ),
    (
        "constructors",
        "the stub's optional argument is required: `ZBytes()`, `Encoding()`, `Parameters()` fail",
        "as the stub says; arguments have the stub's names",
    ),
    (
        "equality",
        "`EntityGlobalId`, `SourceInfo`, `Parameters`, `Selector`, `WhatAmIMatcher`: by identity",
        "by value (`Parameters` and `Selector` can change, so they cannot be hashed)",
    ),
    (
        "`QueryConsolidation.mode`",
        "a method, although the stub says property",
        "a property",
    ),
    (
        "`Selector`",
        "cannot be changed, although the stub has setters",
        "has the stub's setters",
    ),
    (
        "`repr` of values",
        "Rust's debugging form",
        "the same for ids, times, timestamps and enumerations; Python's for the rest",
    ),
    (
        "`Timestamp.get_diff_duration`",
        "wraps around if the other timestamp is later",
        "is negative in this case",
    ),
    (
        "`ZBytes.to_string`",
        "`ValueError` without the position",
        "`UnicodeDecodeError`, which is a `ValueError`, with the position",
    ),
    (
        "`Encoding`",
        "accepts any length",
        "refuses a schema of more than 255 bytes, which cannot be sent",
    ),
    (
        "`RingChannel`",
        "unread items are lost when the stream ends",
        "unread items can be read, then `ZError`",
    ),
    (
        "callbacks",
        "errors go to the logger `zenoh.handlers`; threads are not daemons",
        "errors go to the logger `zenlake.handlers`; threads are daemons",
    ),
    (
        "`z_deserialize`",
        "ignores bytes after the value; items of collections lose their width; "
        "a wrong count can abort the process",
        "refuses such bytes; items keep their type; counts are bounded",
    ),
    (
        "`ZDeserializeError`",
        "an `Exception`",
        "a `ZError`",
    ),
    (
        "configuration",
        "accepts numbers out of range (clamped or truncated), a list as configuration, YAML files",
        "refuses them with the name of the key; files are JSON or JSON5",
    ),
    (
        "configuration keys",
        "`limits/...` are unknown",
        "the limits of zenlake; some of them can be set",
    ),
    (
        "`routing/peer/mode`",
        "ignored from 1.9 on",
        "honoured as up to 1.8: linkstate peers form a network with their routers",
    ),
    (
        "`@/<zid>/session/...` ([admin space](admin-space.md#a-sessions-own-keys))",
        "`is_shm` is true, `mtu` is the link's; links of multicast groups can be queried, but "
        "their changes are not published",
        "`is_shm` is false, `mtu` is the negotiated batch size; links of groups are published too",
    ),
    (
        "`@/<zid>/<mode>/zenlake/...`",
        "do not exist",
        "counters, and explanations of routes, if `adminspace/enabled`",
    ),
)
"""Rows of (what, eclipse-zenoh, zenlake)."""

ROUTER: Final = (
    ("`-P`, `--plugin`, `--plugin-search-dir`, `plugins/...`", "no plugins: the flags are refused"),
    ("`--rest-http-port`, the REST plugin", "refused, except `none`"),
    ("storages, replication (plugin)", "none; a program with a queryable can store data"),
    ("configuration files in YAML", "JSON and JSON5 only"),
    ("`access_control`", "refused at start rather than ignored"),
    ("`transport/auth/pubkey`", "refused at start rather than ignored"),
    ("`downsampling`, `low_pass_filter`, `qos/network`", "no effect; a warning at start"),
    ("`gateway/south`, `region_name`: regions other than `auto`", "no effect; a warning at start"),
    ("`stats/filters`: statistics by key", "no effect; counters are by neighbour and kind"),
    (
        "`quic`, `ws`, `unixsock-stream`, `serial`, `vsock` links",
        "`tcp`, `tls`, `udp` and multicast",
    ),
    ("shared memory", "never negotiated"),
    ("several links of one session (`max_links`)", "one link; a warning at start"),
    (
        "`config/**` of the admin space changes plugins at run time",
        "changes nothing; logs the reason",
    ),
)
"""Rows of (what zenohd has, what `zenlake router` does instead)."""

_HEAD: Final = """\
# Compatibility with eclipse-zenoh

<!-- Printed by `python -m zenlake.api.generate`; do not edit. -->

`import zenlake as zenoh` provides the names of eclipse-zenoh 1.10: the same classes and functions,
with the same members, parameters, kinds of parameters and defaults. A test compares them with the
stub of the installed eclipse-zenoh. Behaviour that the stub does not describe (texts, equality,
exceptions, order of callbacks) is compared by running both.

All classes are Python classes of `zenlake`, so objects of the two packages cannot be mixed.
"""


def page() -> str:
    """The whole document."""
    offered = "\n".join(f"| `{name}` | {why} |" for name, why in NOT_OFFERED.items())
    differing = "\n".join(f"| {' | '.join(row)} |" for row in DIFFERENCES)
    router = "\n".join(f"| {' | '.join(row)} |" for row in ROUTER)
    added = "\n".join(f"- `{path}`: `{', '.join(names)}`" for path, names in ADDED.items())
    return (
        f"{_HEAD}\n## Not offered\n\n| Name | Why |\n|---|---|\n{offered}\n"
        "\n## Different on purpose\n\n"
        f"| What | eclipse-zenoh 1.10 | zenlake |\n|---|---|---|\n{differing}\n"
        f"\n## Parameters that only zenlake has\n\n{added}\n"
        "\n## What zenohd has and zenlake router lacks\n\n"
        f"| zenohd | `zenlake router` |\n|---|---|\n{router}\n"
        "\nConfiguration keys that zenlake does not implement, so that `open` warns about them or\n"
        "refuses them, are marked in [configuration](configuration.md).\n"
    )
