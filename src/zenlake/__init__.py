"""The Zenoh protocol in Python.

Importing this package is fast: a module is loaded when one of its names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.errors import KeyExprError, LocalError, WireError, ZenlakeError, ZError

if TYPE_CHECKING:
    from zenlake import ext, handlers
    from zenlake.api.config.config import Config
    from zenlake.api.handlers.handler import Handler
    from zenlake.api.logs import init_log_from_env_or, try_init_log_from_env
    from zenlake.api.network.scout import Hello, Scout, scout
    from zenlake.api.network.session_info import SessionInfo
    from zenlake.api.network.transport import Link, Transport
    from zenlake.api.network.transport_events import (
        LinkEvent,
        LinkEventsListener,
        TransportEvent,
        TransportEventsListener,
    )
    from zenlake.api.publication.matching_listener import MatchingListener
    from zenlake.api.publication.matching_status import MatchingStatus
    from zenlake.api.publication.publisher import Publisher
    from zenlake.api.publication.sample import Sample
    from zenlake.api.publication.subscriber import Subscriber
    from zenlake.api.query.cancellation_token import CancellationToken
    from zenlake.api.query.consolidation import QueryConsolidation
    from zenlake.api.query.querier import Querier
    from zenlake.api.query.query import Query
    from zenlake.api.query.queryable import Queryable
    from zenlake.api.query.reply import Reply, ReplyError
    from zenlake.api.session.liveliness import Liveliness, LivelinessToken
    from zenlake.api.session.opening import open
    from zenlake.api.session.recording import Recording, record
    from zenlake.api.session.session import Session
    from zenlake.api.values.encoding import Encoding
    from zenlake.api.values.enums import (
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
    from zenlake.api.values.identifiers import EntityGlobalId, SourceInfo, ZenohId
    from zenlake.api.values.ntp64 import NTP64
    from zenlake.api.values.timestamp import Timestamp, TimestampId
    from zenlake.api.values.timestamp_stack import (
        TimestampContext,
        TimestampInstrumentation,
        TimestampInstrumentationBuilder,
        TimestampStack,
        TimestampStackRecord,
    )
    from zenlake.api.values.whatami_matcher import WhatAmIMatcher
    from zenlake.api.values.zbytes import ZBytes
    from zenlake.keyexpr import KeyExpr, Parameters, Selector, SetIntersectionLevel

    # Names for annotations only, as in eclipse-zenoh's stub.
    EntityId = int
    SourceSn = int
else:
    # Hidden from type checkers: with `__getattr__` they would accept any name.

    _MODULES = {
        "zenlake.api.query.cancellation_token": "CancellationToken",
        "zenlake.api.config.config": "Config",
        "zenlake.api.values.encoding": "Encoding",
        "zenlake.api.values.enums": "CongestionControl ConsolidationMode InterceptionPoint Locality"
        " Priority QueryTarget Reliability ReplyKeyExpr SampleKind WhatAmI",
        "zenlake.api.handlers.handler_types": "Handler",
        "zenlake.api.values.identifiers": "EntityGlobalId SourceInfo ZenohId",
        "zenlake.api.values.ntp64": "NTP64",
        "zenlake.api.query.consolidation": "QueryConsolidation",
        "zenlake.api.values.timestamp_stack": "TimestampContext TimestampInstrumentation"
        " TimestampInstrumentationBuilder TimestampStack TimestampStackRecord",
        "zenlake.api.values.timestamp": "Timestamp TimestampId",
        "zenlake.api.values.whatami_matcher": "WhatAmIMatcher",
        "zenlake.api.values.zbytes": "ZBytes",
        "zenlake.keyexpr": "KeyExpr Parameters Selector SetIntersectionLevel",
        "zenlake.api.network.session_info": "SessionInfo",
        "zenlake.api.session.liveliness": "Liveliness LivelinessToken",
        "zenlake.api.logs": "init_log_from_env_or try_init_log_from_env",
        "zenlake.api.publication.matching_listener": "MatchingListener",
        "zenlake.api.publication.matching_status": "MatchingStatus",
        "zenlake.api.session.opening": "open",
        "zenlake.api.session.recording": "Recording record",
        "zenlake.api.publication.publisher": "Publisher",
        "zenlake.api.query.querier": "Querier",
        "zenlake.api.query.query": "Query",
        "zenlake.api.query.queryable": "Queryable",
        "zenlake.api.query.reply": "Reply ReplyError",
        "zenlake.api.publication.sample": "Sample",
        "zenlake.api.network.scout": "Hello Scout scout",
        "zenlake.api.session.session": "Session",
        "zenlake.api.publication.subscriber": "Subscriber",
        "zenlake.api.network.transport": "Link Transport",
        "zenlake.api.network.transport_events": "LinkEvent LinkEventsListener TransportEvent"
        " TransportEventsListener",
    }
    _MODULE_BY_NAME = {name: module for module, names in _MODULES.items() for name in names.split()}

    def __getattr__(name):
        from importlib import import_module

        if name in ("ext", "handlers"):
            return import_module(f"zenlake.{name}")
        if name not in _MODULE_BY_NAME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_MODULE_BY_NAME[name]), name)
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
    "Recording",
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
    "record",
    "scout",
    "try_init_log_from_env",
]
