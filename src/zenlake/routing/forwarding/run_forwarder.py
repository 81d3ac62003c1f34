"""`RunForwarder`: forwards runs of publications without decoding each message.

Each neighbour gets the same bytes as if every message were forwarded by itself (publications.py);
only the head is written again, once for the whole run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zenlake.routing.face import Face
from zenlake.routing.forwarding.publications import PublicationForwarder
from zenlake.routing.forwarding.route import Route
from zenlake.routing.hlc import Hlc
from zenlake.routing.tables import Tables
from zenlake.wire import Push, Put
from zenlake.wire.defaults import DEFAULT_QOS_BYTE
from zenlake.wire.primitives import write_z64
from zenlake.wire.push_run import Portion, PushRun
from zenlake.wire.values.timestamp import Timestamp, ntp64_of_ns
from zenlake.wire.writer import BytesWriter

_UNSTAMPED: Final = -1
# For up to so many neighbours, portions are cut to fill the batches of each. For more neighbours,
# they are cut once, and so short that little of a batch stays empty.
_FEW_FACES: Final = 4
_SHARED_PORTIONS_IN_A_BATCH: Final = 4


class RunForwarder:
    __slots__ = ("_hlc", "_publications", "_tables", "_wall_ns")

    def __init__(
        self,
        tables: Tables,
        publications: PublicationForwarder,
        hlc: Hlc | None,
        wall_ns: Callable[[], int] | None,
    ) -> None:
        self._tables = tables
        self._publications = publications
        self._hlc = hlc
        self._wall_ns = wall_ns

    def forward(self, source: Face, run: PushRun, reliable: bool) -> bool:
        """False, without any effect, if the messages must be forwarded one by one."""
        origin = self._publications.origin_of(source, run.first)
        if origin is None:
            self._tables.counters.unknown_nodes += run.count - 1  # the first is counted already
            return True
        key = source.keys.resolve(run.first.key)
        route = None if key is None else origin.routes.get(key)
        if route is None or run.first.stamps is not None:
            return False
        targets = [face for face in route.faces if face is not source]
        for face in targets:
            if face.outlet.portion_bytes_max() == 0:
                return False
        if not targets:
            return True
        time = _UNSTAMPED
        if self._hlc is not None and self._wall_ns is not None:
            wall = ntp64_of_ns(self._wall_ns())
            if not run.is_timed:
                time = self._hlc.new_many(wall, run.count)
            elif not _learn(self._hlc, run, wall):
                return False
        self._send(source, run, route, time, reliable)
        return True

    def _send(self, source: Face, run: PushRun, route: Route, time: int, reliable: bool) -> None:
        first = run.first
        qos = DEFAULT_QOS_BYTE if first.qos is None else first.qos.byte
        # Neighbours that write the key in the same way get the same bytes.
        made: dict[tuple[bytes, int, int], list[Portion]] = {}
        is_shared = len(route.faces) > _FEW_FACES
        for index in range(len(route.faces)):
            face = route.faces[index]
            if face is source or face.outlet.drops_run(run.count, qos, reliable):
                continue
            copy = self._first_for(run, route, index, time)
            bytes_max = face.outlet.portion_bytes_max()
            if is_shared:
                bytes_max = first_bytes_max = max(1, bytes_max // _SHARED_PORTIONS_IN_A_BATCH)
            else:
                first_bytes_max = face.outlet.room_bytes(qos, reliable)
            place = (bytes(copy), first_bytes_max, bytes_max)
            portions = made.get(place)
            if portions is None:
                portions = _portions(run, copy, time, first_bytes_max, bytes_max)
                made[place] = portions
            face.outlet.push_portions(portions, qos, reliable)

    def _first_for(self, run: PushRun, route: Route, index: int, time: int) -> Push:
        """The first message as a face gets it, but with an empty payload."""
        copy = run.first.copy()
        copy.key = route.exprs[index]
        if len(route.faces) > 1:
            copy.timestamp = None  # the extension does not survive a fork (§4.2)
        copy.node_id = route.node_id if route.faces[index].region is route.region else None
        body = copy.body
        assert isinstance(body, Put)
        put = body.copy()
        put.payload = b""
        if time != _UNSTAMPED:
            assert self._hlc is not None
            put.timestamp = Timestamp(time, self._hlc.zid)
        copy.body = put
        return copy


def _portions(
    run: PushRun, copy: Push, time: int, first_bytes_max: int, bytes_max: int
) -> list[Portion]:
    encoded = bytes(copy)
    if not run.is_timed and time == _UNSTAMPED:
        head = encoded[:-1]  # without the length of the empty payload
        return run.portions(head, first_bytes_max, bytes_max)
    time_at = len(encoded) - len(bytes(copy.body)) + 1
    if run.is_timed:
        return run.portions(encoded[:time_at], first_bytes_max, bytes_max)
    out = BytesWriter()
    write_z64(out, time)
    middle = encoded[time_at + len(out.getvalue()) : -1]
    return run.stamped_portions(encoded[:time_at], time, middle, first_bytes_max, bytes_max)


def _learn(hlc: Hlc, run: PushRun, wall: int) -> bool:
    """Update the clock with all times of a run; False if one is too far in the future."""
    return all(hlc.update(time, wall) for time in run.times())
