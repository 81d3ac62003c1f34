"""`scout`: finds nodes by multicast."""

from __future__ import annotations

from typing import Any, Self, final, overload

from zenlake import wire
from zenlake.api.config.config import Config
from zenlake.api.final_classes import NoConstructor, no_subclasses
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_owner import HandlerOwner
from zenlake.api.handlers.handler_types import H, IntoCallback, IntoChannel, IntoPair
from zenlake.api.session.opening import node_settings
from zenlake.api.unannotated import Unannotated
from zenlake.api.values.enums import WhatAmI
from zenlake.api.values.identifiers import ZenohId
from zenlake.api.values.whatami_matcher import WhatAmIMatcher, into_matcher
from zenlake.errors import ZError
from zenlake.node.scouting import Scouting
from zenlake.node.scouting import scout as start_scouting
from zenlake.protocol.scouting import ScoutedNode


@final
@no_subclasses
class Hello(NoConstructor):
    """The answer of a node: its id, role and addresses."""

    __slots__ = ("_locators", "_whatami", "_zid")
    _zid: wire.ZenohId
    _whatami: wire.WhatAmI
    _locators: tuple[str, ...]

    @classmethod
    def from_found(cls, found: ScoutedNode) -> Self:
        made = object.__new__(cls)
        made._zid = found.zid
        made._whatami = found.role
        made._locators = found.locators
        return made

    @property
    def whatami(self) -> WhatAmI:
        return WhatAmI.from_number(int(self._whatami))

    @property
    def zid(self) -> ZenohId:
        return ZenohId.from_wire(self._zid)

    @property
    def locators(self) -> list[str]:
        return list(self._locators)

    def __repr__(self) -> str:
        locators = ", ".join(self._locators)
        return f"Hello {{ zid: {self._zid}, whatami: {self.whatami!r}, locators: [{locators}] }}"


@final
class Scout(HandlerOwner[Hello, H]):
    """Sends SCOUT messages until it is stopped or garbage collected."""

    __slots__ = ("__weakref__", "_binding", "_handler", "_scouting")
    _scouting: Scouting | None
    _binding: HandlerBinding

    @classmethod
    def _make(cls, scouting: Scouting, binding: HandlerBinding) -> Self:
        made = object.__new__(cls)
        made._scouting = scouting
        made._binding = binding
        made._handler = binding.handler
        return made

    def _check(self) -> None:
        if self._scouting is None:
            raise ZError("Stopped scout")

    def stop(self) -> Unannotated:
        """Stop scouting; the stream of answers ends."""
        self._check()
        scouting, self._scouting = self._scouting, None
        assert scouting is not None
        scouting.close()
        scouting.join(1.0)
        self._binding.sink.close()
        self._binding.sink.after_unlock()

    def __enter__(self) -> Self:
        self._check()
        return self

    def __exit__(self, *_args: object, **_kwargs: object) -> None:
        if self._scouting is not None:
            self.stop()

    def __del__(self) -> None:
        if self._scouting is not None and not self._binding.is_background:
            self._scouting.close()


@overload
def scout(
    handler: IntoChannel[Hello] = None,
    what: WhatAmIMatcher | str | None = None,
    config: Config | None = None,
) -> Scout[Handler[Hello]]: ...
@overload
def scout(
    handler: IntoPair[Hello, H],
    what: WhatAmIMatcher | str | None = None,
    config: Config | None = None,
) -> Scout[H]: ...
@overload
def scout(
    handler: IntoCallback[Hello],
    what: WhatAmIMatcher | str | None = None,
    config: Config | None = None,
) -> Scout[None]: ...
def scout(
    handler: Any = None,
    what: WhatAmIMatcher | str | None = None,
    config: Config | None = None,
) -> Scout[Any]:
    """Look for nodes with the roles in `what`; with all roles if it is None.

    SCOUT is sent periodically, and nodes answer each time: the same node is reported repeatedly.
    """
    matcher = into_matcher("router|peer|client" if what is None else what)
    settings = node_settings(Config() if config is None else config)
    binding = HandlerBinding(handler)

    def found(one: ScoutedNode) -> None:
        binding.sink.push(Hello.from_found(one))
        binding.sink.after_unlock()

    return Scout._make(start_scouting(settings, matcher.wire.mask, found), binding)
