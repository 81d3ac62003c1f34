"""All kinds of handlers for `scout`; eclipse-zenoh's stub loses all overloads but the first."""

from typing import assert_type

import zenoh
from zenoh.handlers import Callback, Handler, RingChannel


def on_hello(hello: zenoh.Hello) -> None: ...


def scouts() -> None:
    assert_type(zenoh.scout(RingChannel(1)), zenoh.Scout[Handler[zenoh.Hello]])
    assert_type(zenoh.scout(on_hello, "peer"), zenoh.Scout[None])
    assert_type(zenoh.scout(Callback(on_hello)), zenoh.Scout[None])
    assert_type(zenoh.scout((on_hello, 1), config=zenoh.Config()), zenoh.Scout[int])
