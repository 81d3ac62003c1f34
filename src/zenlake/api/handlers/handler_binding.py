"""`HandlerBinding`: the sink that the session fills, and the end of it that the user holds."""

from __future__ import annotations

from typing import Any

from zenlake.api.handlers.handler_types import is_background, make_sink
from zenlake.session.sink import Sink


class HandlerBinding:
    """Made from the `handler` argument of one operation."""

    __slots__ = ("handler", "is_background", "sink")

    def __init__(self, handler: object) -> None:
        sink, users_end = make_sink(handler)
        self.sink: Sink = sink
        self.handler: Any = users_end
        self.is_background = is_background(handler)
