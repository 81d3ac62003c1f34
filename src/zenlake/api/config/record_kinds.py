"""The objects that some configuration keys hold lists of (behaviour reference §6.5, §6.6)."""

from __future__ import annotations

from typing import Final

from zenlake.api.config.value_kinds import (
    FLAG,
    KEY_EXPR,
    REAL,
    TEXT,
    ZID,
    choice,
    list_of,
    record,
    whole,
)

KEY_EXPRS: Final = list_of(KEY_EXPR)
_TEXTS: Final = list_of(TEXT)
_FLOWS: Final = list_of(choice("ingress", "egress"))
_MESSAGES: Final = list_of(choice("put", "delete", "query", "reply"), minimum=1)
_WHERE: Final = {"id": TEXT, "interfaces": _TEXTS, "link_protocols": _TEXTS, "flows": _FLOWS}
_PRIORITY: Final = choice(
    "real_time",
    "interactive_high",
    "interactive_low",
    "data_high",
    "data",
    "data_low",
    "background",
)
_CONGESTION: Final = choice("drop", "block", "block_first")
_OVERWRITE: Final = record(
    {}, {"priority": _PRIORITY, "congestion_control": _CONGESTION, "express": FLAG}
)

TRANSPORT_WEIGHT: Final = record({"dst_zid": ZID, "weight": whole(1, 0xFFFF)}, {})
PUBLICATION_QOS: Final = record(
    {
        "key_exprs": KEY_EXPRS,
        "config": record(
            {},
            {
                "congestion_control": _CONGESTION,
                "priority": _PRIORITY,
                "express": FLAG,
                "reliability": choice("best_effort", "reliable"),
                "allowed_destination": choice("session_local", "remote", "any"),
            },
        ),
    },
    {},
)
NETWORK_QOS: Final = record(
    {"messages": _MESSAGES, "overwrite": _OVERWRITE},
    {
        **_WHERE,
        "zids": list_of(ZID),
        "key_exprs": KEY_EXPRS,
        "qos": _OVERWRITE,
        "payload_size": TEXT,
    },
)
DOWNSAMPLING: Final = record(
    {"messages": _MESSAGES, "rules": list_of(record({"key_expr": KEY_EXPR, "freq": REAL}, {}))},
    _WHERE,
)
LOW_PASS: Final = record(
    {"messages": _MESSAGES, "key_exprs": KEY_EXPRS, "size_limit": whole()}, _WHERE
)
STATS_FILTER: Final = record({"key": KEY_EXPR}, {})
ACL_RULE: Final = record(
    {
        "id": TEXT,
        "permission": choice("allow", "deny"),
        "messages": list_of(
            choice(
                "put",
                "delete",
                "declare_subscriber",
                "query",
                "declare_queryable",
                "reply",
                "liveliness_token",
                "liveliness_query",
                "declare_liveliness_subscriber",
            ),
            minimum=1,
        ),
        "key_exprs": KEY_EXPRS,
    },
    {"flows": _FLOWS},
)
ACL_SUBJECT: Final = record(
    {"id": TEXT},
    {
        "interfaces": _TEXTS,
        "cert_common_names": _TEXTS,
        "usernames": _TEXTS,
        "link_protocols": _TEXTS,
        "zids": list_of(ZID),
    },
)
ACL_POLICY: Final = record({"rules": _TEXTS, "subjects": _TEXTS}, {"id": TEXT})
