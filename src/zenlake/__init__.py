"""The Zenoh protocol in Python.

Importing this package costs next to nothing: a part is loaded when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.errors import KeyExprError, LocalError, WireError, ZenlakeError, ZError

if TYPE_CHECKING:
    from zenlake import ext, handlers
    from zenlake.api.cancellation import CancellationToken
    from zenlake.api.config import Config
    from zenlake.api.encoding import Encoding
    from zenlake.api.enums import (
        CongestionControl,
        ConsolidationMode,
        InterceptionPoint,
        Locality,
        Priority,
        QueryTarget,
        Reliability,
        ReplyKeyExpr,
        SampleKind,
        WhatAmI,
    )
    from zenlake.api.handler import Handler
    from zenlake.api.identifiers import EntityGlobalId, SourceInfo, ZenohId
    from zenlake.api.info import SessionInfo
    from zenlake.api.liveliness import Liveliness, LivelinessToken
    from zenlake.api.logs import init_log_from_env_or, try_init_log_from_env
    from zenlake.api.matching import MatchingListener
    from zenlake.api.matching_status import MatchingStatus
    from zenlake.api.ntp64 import NTP64
    from zenlake.api.opening import open
    from zenlake.api.publisher import Publisher
    from zenlake.api.querier import Querier
    from zenlake.api.query import Query
    from zenlake.api.query_consolidation import QueryConsolidation
    from zenlake.api.queryable import Queryable
    from zenlake.api.reply import Reply, ReplyError
    from zenlake.api.sample import Sample
    from zenlake.api.scout import Hello, Scout, scout
    from zenlake.api.session import Session
    from zenlake.api.stamps import (
        TimestampContext,
        TimestampInstrumentation,
        TimestampInstrumentationBuilder,
        TimestampStack,
        TimestampStackRecord,
    )
    from zenlake.api.subscriber import Subscriber
    from zenlake.api.timestamp import Timestamp, TimestampId
    from zenlake.api.transport import Link, Transport
    from zenlake.api.transport_events import (
        LinkEvent,
        LinkEventsListener,
        TransportEvent,
        TransportEventsListener,
    )
    from zenlake.api.whatami_matcher import WhatAmIMatcher
    from zenlake.api.zbytes import ZBytes
    from zenlake.keyexpr import KeyExpr, Parameters, Selector, SetIntersectionLevel

    # Names for annotations only, as in eclipse-zenoh's stub.
    EntityId = int
    SourceSn = int
else:
    # Hidden from type checkers, who would otherwise believe that every name exists.

    _MODULES = {
        "zenlake.api.cancellation": "CancellationToken",
        "zenlake.api.config": "Config",
        "zenlake.api.encoding": "Encoding",
        "zenlake.api.enums": "CongestionControl ConsolidationMode InterceptionPoint Locality"
        " Priority QueryTarget Reliability ReplyKeyExpr SampleKind WhatAmI",
        "zenlake.api.handlers": "Handler",
        "zenlake.api.identifiers": "EntityGlobalId SourceInfo ZenohId",
        "zenlake.api.ntp64": "NTP64",
        "zenlake.api.query_consolidation": "QueryConsolidation",
        "zenlake.api.stamps": "TimestampContext TimestampInstrumentation"
        " TimestampInstrumentationBuilder TimestampStack TimestampStackRecord",
        "zenlake.api.timestamp": "Timestamp TimestampId",
        "zenlake.api.whatami_matcher": "WhatAmIMatcher",
        "zenlake.api.zbytes": "ZBytes",
        "zenlake.keyexpr": "KeyExpr Parameters Selector SetIntersectionLevel",
        "zenlake.api.info": "SessionInfo",
        "zenlake.api.liveliness": "Liveliness LivelinessToken",
        "zenlake.api.logs": "init_log_from_env_or try_init_log_from_env",
        "zenlake.api.matching": "MatchingListener",
        "zenlake.api.matching_status": "MatchingStatus",
        "zenlake.api.opening": "open",
        "zenlake.api.publisher": "Publisher",
        "zenlake.api.querier": "Querier",
        "zenlake.api.query": "Query",
        "zenlake.api.queryable": "Queryable",
        "zenlake.api.reply": "Reply ReplyError",
        "zenlake.api.sample": "Sample",
        "zenlake.api.scout": "Hello Scout scout",
        "zenlake.api.session": "Session",
        "zenlake.api.subscriber": "Subscriber",
        "zenlake.api.transport": "Link Transport",
        "zenlake.api.transport_events": "LinkEvent LinkEventsListener TransportEvent"
        " TransportEventsListener",
    }
    _HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

    def __getattr__(name):
        from importlib import import_module

        if name in ("ext", "handlers"):
            return import_module(f"zenlake.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"

__all__ = [
    "NTP64",
    "CancellationToken",
    "Config",
    "CongestionControl",
    "ConsolidationMode",
    "Encoding",
    "EntityGlobalId",
    "Handler",
    "Hello",
    "InterceptionPoint",
    "KeyExpr",
    "KeyExprError",
    "Link",
    "LinkEvent",
    "LinkEventsListener",
    "Liveliness",
    "LivelinessToken",
    "LocalError",
    "Locality",
    "MatchingListener",
    "MatchingStatus",
    "Parameters",
    "Priority",
    "Publisher",
    "Querier",
    "Query",
    "QueryConsolidation",
    "QueryTarget",
    "Queryable",
    "Reliability",
    "Reply",
    "ReplyError",
    "ReplyKeyExpr",
    "Sample",
    "SampleKind",
    "Scout",
    "Selector",
    "Session",
    "SessionInfo",
    "SetIntersectionLevel",
    "SourceInfo",
    "Subscriber",
    "Timestamp",
    "TimestampContext",
    "TimestampId",
    "TimestampInstrumentation",
    "TimestampInstrumentationBuilder",
    "TimestampStack",
    "TimestampStackRecord",
    "Transport",
    "TransportEvent",
    "TransportEventsListener",
    "WhatAmI",
    "WhatAmIMatcher",
    "WireError",
    "ZBytes",
    "ZError",
    "ZenlakeError",
    "ZenohId",
    "__version__",
    "ext",
    "handlers",
    "init_log_from_env_or",
    "open",
    "scout",
    "try_init_log_from_env",
]
