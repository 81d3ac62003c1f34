"""`KnownPublications`: a cache by key of what `Session.put` and `Session.delete` need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zenlake import wire
from zenlake.api.arguments.conversion import PUT_CONGESTION, key_text, locality, qos_of
from zenlake.api.values.enums import CongestionControl, Locality, Priority
from zenlake.keyexpr import KeyExpr
from zenlake.session.locality import Locality as CoreLocality
from zenlake.session.publications import Publication
from zenlake.wire.values.qos import DEFAULT_QOS

_REMEMBERED_MAX: Final = 4_096
_Prepare = Callable[[str, wire.QoS, bool, CoreLocality, wire.Encoding | None], Publication]


class KnownPublications:
    """Keeps publications without options, which most programs repeat."""

    __slots__ = ("_prepare", "_remembered")

    def __init__(self, prepare: _Prepare) -> None:
        self._prepare = prepare
        self._remembered: dict[str, Publication] = {}

    def get(
        self,
        key_expr: KeyExpr | str,
        congestion_control: CongestionControl | None,
        priority: Priority | None,
        express: bool | None,
        allowed_destination: Locality | None,
    ) -> Publication:
        key = key_text(key_expr)
        if (
            congestion_control is None
            and priority is None
            and express is None
            and allowed_destination is None
        ):
            found = self._remembered.get(key)
            return self._remember(key) if found is None else found
        qos = qos_of(congestion_control, priority, express, PUT_CONGESTION)
        destination = locality(allowed_destination, "allowed_destination")
        return self._prepare(key, qos, True, destination, None)

    def _remember(self, key: str) -> Publication:
        made = self._prepare(key, DEFAULT_QOS, True, CoreLocality.ANY, None)
        if len(self._remembered) >= _REMEMBERED_MAX:
            self._remembered.clear()
        self._remembered[key] = made
        return made

    def clear(self) -> None:
        self._remembered.clear()
