"""Channels and callbacks that receive data, as in `zenoh.handlers`."""

from __future__ import annotations

from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_types import Callback, DefaultHandler, FifoChannel, RingChannel

__all__ = ["Callback", "DefaultHandler", "FifoChannel", "Handler", "RingChannel"]
