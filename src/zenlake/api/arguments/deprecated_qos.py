"""Warnings about arguments that eclipse-zenoh still accepts and ignores."""

from __future__ import annotations

import sys
import warnings

from zenlake.api.arguments.conversion import constant
from zenlake.api.values.enums import CongestionControl, Priority


def warn_of_ignored_qos(
    method: str, congestion_control: CongestionControl | None, priority: Priority | None
) -> None:
    """Warn of QoS arguments of a reply, whose QoS is that of its query."""
    constant(congestion_control, CongestionControl, "congestion_control", CongestionControl.DEFAULT)
    constant(priority, Priority, "priority", Priority.DEFAULT)
    for name, value in (("congestion_control", congestion_control), ("priority", priority)):
        if value is not None:
            text = f"{name} in Query.{method} is deprecated, it will be ignored"
            warnings.warn(text, DeprecationWarning, stacklevel=_frames_of_zenlake() + 1)


def _frames_of_zenlake() -> int:
    """The number of frames from the caller on that belong to zenlake; compiled code has none."""
    count = 0
    while True:
        try:
            frame = sys._getframe(count + 1)
        except ValueError:
            return count
        if not frame.f_globals.get("__name__", "").startswith("zenlake."):
            return count
        count += 1
