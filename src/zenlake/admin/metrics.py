"""`metrics`: the counters of the node, as OpenMetrics text."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from zenlake.admin.facts import NodeFacts, TransportFacts
from zenlake.admin.query import AdminQuery
from zenlake.admin.version import version_text
from zenlake.wire import Encoding

if TYPE_CHECKING:
    from zenlake.routing.tables import Tables
    from zenlake.routing.work import Job

_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_PLAIN: Final = Encoding.parse(_TYPE)
_GZIP: Final = Encoding.parse(f"{_TYPE};content-encoding=gzip")
_GZIP_WINDOW: Final = 31
_GAUGES: Final = {
    "queued_bytes": "Bytes that wait for the link.",
    "round_trip_us": "Round-trip time of the link in microseconds, if the system knows it.",
    "memory_bytes": "Memory that routing keeps for a neighbour.",
    "declarations": "Subscribers, queryables and tokens that a neighbour has declared.",
}
_TEXT_STEPS: Final = 16
_BYTES_PER_STEP: Final = 16
"""The speed at which plain Python makes and compresses text."""


class Metrics:
    """The topic `metrics`. The parameters `per_link` and `per_key` have no effect: a transport has
    one link, and there are no counters by key."""

    __slots__ = ("_facts", "_has_warned", "_report", "_tables", "pattern")

    def __init__(
        self, root: str, tables: Tables, facts: NodeFacts, report: Callable[[str], None]
    ) -> None:
        self.pattern = f"{root}/metrics"
        self._tables = tables
        self._facts = facts
        self._report = report
        self._has_warned = False

    def answer(self, query: AdminQuery) -> Job:
        work = self._tables.work
        if query.flag("disconnected", False) and not self._has_warned:
            self._has_warned = True
            self._report(
                "metrics: the parameter `disconnected=true` has no effect: counters of transports "
                "that ended are not kept"
            )
        has_descriptors = query.flag("descriptors", True)
        transports = self._facts.transports() if query.flag("per_transport", True) else []
        is_compressed = query.flag("compression", True)
        packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP_WINDOW)
        parts: list[bytes] = []
        for text in self._texts(transports):
            if text.startswith("#") and not has_descriptors:
                continue
            data = text.encode()
            parts.append(packer.compress(data) if is_compressed else data)
            work.steps -= _TEXT_STEPS + len(data) // _BYTES_PER_STEP
            if work.steps <= 0:
                yield
        end = b"# EOF\n"
        if is_compressed:
            parts += [packer.compress(end), packer.flush()]
        else:
            parts.append(end)
        query.reply(self.pattern, b"".join(parts), _GZIP if is_compressed else _PLAIN)

    def _texts(self, transports: list[TransportFacts]) -> Iterator[str]:
        tables = self._tables
        yield "# HELP zenoh_build Zenoh build version.\n# TYPE zenoh_build info\n"
        yield (
            f'zenoh_build_info{{local_id="{tables.zid}",local_whatami="{tables.role}",'
            f'version="{version_text()}"}} 1\n'
        )
        yield from _traffic_texts(transports)
        for name, help_text in _GAUGES.items():
            yield f"# HELP zenlake_{name} {help_text}\n# TYPE zenlake_{name} gauge\n"
            for transport in transports:
                counters = transport.counters()
                if counters.get(name) is not None:
                    yield f"zenlake_{name}{{{_labels(counters)}}} {counters[name]}\n"
        yield "# HELP zenlake_drops What was lost, by cause.\n# TYPE zenlake_drops counter\n"
        for transport in transports:
            counters = transport.counters()
            for cause, count in _dict(counters.get("drops")).items():
                yield f'zenlake_drops_total{{{_labels(counters)},cause="{cause}"}} {count}\n'


def _traffic_texts(transports: list[TransportFacts]) -> Iterator[str]:
    for what in ("messages", "bytes"):
        yield (
            f"# HELP zenlake_{what} Of network messages, by direction and kind.\n"
            f"# TYPE zenlake_{what} counter\n"
        )
        for transport in transports:
            counters = transport.counters()
            labels = _labels(counters)
            for direction in ("in", "out"):
                kinds = _dict(_dict(counters.get(direction)).get("by_kind"))
                for kind, figures in kinds.items():
                    more = f'{labels},direction="{direction}",kind="{kind}"'
                    yield f"zenlake_{what}_total{{{more}}} {_dict(figures)[what]}\n"


def _labels(counters: dict[str, object]) -> str:
    return f'remote_id="{counters.get("zid")}",remote_whatami="{counters.get("whatami")}"'


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
