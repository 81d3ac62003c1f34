"""What receives data: channels and callbacks, as `zenoh.handlers`."""

from __future__ import annotations

from zenlake.api.handler import Handler
from zenlake.api.handlers import Callback, DefaultHandler, FifoChannel, RingChannel

__all__ = ["Callback", "DefaultHandler", "FifoChannel", "Handler", "RingChannel"]
