"""`bulk_put`: publishes values on many keys, for the Spark sink."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from zenlake import wire
from zenlake.api.arguments.conversion import PUT_CONGESTION, encoding_of, qos_of
from zenlake.api.values.encoding import Encoding
from zenlake.api.values.enums import CongestionControl, Priority
from zenlake.session.bulk_put import BulkPut

if TYPE_CHECKING:
    from zenlake.api.session.session import Session


def bulk_put(
    session: Session,
    clock: wire.ZenohId,
    encoding: Encoding | None,
    congestion_control: CongestionControl | None,
    priority: Priority | None,
    express: bool | None,
) -> BulkPut | None:
    """Publishes like `session.put`, if all values go to one router; else None.

    `clock` is the id in the timestamps of the values.
    """
    qos = qos_of(congestion_control, priority, express, PUT_CONGESTION)
    handle = session._handle
    with handle.locked:
        return handle.core.bulk_put(qos, encoding_of(encoding), clock, time.monotonic())
