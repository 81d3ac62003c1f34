"""Admin: the admin space of a node, its long answers, and the facts about links it shows."""

from __future__ import annotations

import logging
import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from zenlake.admin.facts import SessionEntry, TransportFacts
from zenlake.admin.query import AdminQuery
from zenlake.admin.space import AdminSpace
from zenlake.node.link_log import printable
from zenlake.node.stats import losses_of
from zenlake.node.threads import ThreadError, ThreadOwner, start_thread
from zenlake.routing.work import SLICE_STEPS
from zenlake.warning_limiter import WarningLimiter

if TYPE_CHECKING:
    from zenlake.node.link_runner import LinkRunner
    from zenlake.node.node import Node
    from zenlake.protocol.inbound import Inbound
    from zenlake.protocol.outbound import Outbound
    from zenlake.routing.face import Face
    from zenlake.wire import ZenohId

_log: Final = logging.getLogger("zenlake.admin")


class Admin(ThreadOwner):
    """The admin space. An answer of several steps has a thread: its requester may read slowly."""

    def __init__(self, node: Node) -> None:
        super().__init__("zenlake admin")
        self._node = node
        self._limiter = WarningLimiter()
        self._work: SimpleQueue[AdminQuery | str | None] = SimpleQueue()
        with node.locked:
            self._space = AdminSpace(
                node.dispatcher,
                node.settings.admin,
                AdminFacts(node),
                self._work.put,
                self._report,
            )

    def close(self) -> None:
        self._work.put(None)

    def _run(self) -> None:
        """Start answers, and log: neither is done under the node's lock."""
        while (work := self._work.get()) is not None:
            if isinstance(work, str):
                _log.warning(work)
            else:
                self._start_answer(work)

    def _start_answer(self, query: AdminQuery) -> None:
        thread = threading.Thread(
            target=self._answer, args=(query,), name="zenlake admin answer", daemon=True
        )
        try:
            start_thread(thread)
        except ThreadError:
            self._answer(query)

    def _answer(self, query: AdminQuery) -> None:
        """Continue an answer step by step; `end` waits while the requester's link is full."""
        node = self._node
        is_finished = False
        while not is_finished and not node.is_over():
            began = time.monotonic()
            with node.locked:
                is_finished = self._space.resume(query, SLICE_STEPS)
                took_s = time.monotonic() - began
            time.sleep(took_s)  # like all long work: the lock is free for half of the time

    def _report(self, text: str) -> None:
        """Log why something was refused, at most once in a while for each kind of text."""
        kind = text.partition("`")[0]
        more = self._limiter.admit(kind, time.monotonic())
        if more is not None:
            self._work.put(printable(text) + more)


class LinkTransport:
    """A transport over one link, as the admin space shows it."""

    def __init__(self, runner: LinkRunner) -> None:
        self._runner = runner

    def session(self) -> SessionEntry:
        runner = self._runner
        face = runner.face
        link = runner.link
        return SessionEntry(
            runner.agreed.zid,
            runner.agreed.role,
            None if face is None else face.region.name,
            None,
            [(link.src, link.dst)],
        )

    def counters(self) -> dict[str, object]:
        """The counters that docs/admin-space.md describes."""
        runner = self._runner
        transport = runner.transport
        shown: dict[str, object] = {
            "zid": str(runner.agreed.zid),
            "whatami": str(runner.agreed.role),
            "link": runner.link.dst,
            "open_seconds": round(time.monotonic() - runner.opened_at, 3),
            "in": _direction(transport.inbound),
            "out": _direction(transport.outbound),
            "drops": losses_of(runner),
            "queued_bytes": transport.total_queued_bytes(),
            "round_trip_us": runner.link.round_trip_us(),
        }
        if runner.face is not None:
            shown |= _routing_counters(runner.face)
        return shown


def _direction(half: Inbound | Outbound) -> dict[str, object]:
    return {
        "bytes": half.bytes,
        "batches": half.batches,
        "messages": half.messages,
        "by_kind": half.traffic.by_kind(),
    }


def _routing_counters(face: Face) -> dict[str, object]:
    return {
        "region": face.region.name,
        "declarations": face.declaration_count,
        "interests": len(face.interests),
        "open_queries": len(face.queries),
        "unanswered_requests": len(face.branches),
        "memory_bytes": face.account.held_bytes,
    }


class AdminFacts:
    """The facts about a node that its admin space shows."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def locators(self) -> list[str]:
        return self._node.locators()

    def transports(self) -> list[TransportFacts]:
        return [LinkTransport(runner) for runner in list(self._node.runners.values())]

    def transport_with(self, zid: ZenohId) -> TransportFacts | None:
        runner = self._node.runners.get(zid)
        return None if runner is None else LinkTransport(runner)

    def group_members(self) -> list[SessionEntry]:
        found: list[SessionEntry] = []
        for group in self._node.groups:
            for transport, link in zip(group.transports(), group.links(), strict=False):
                found.append(
                    SessionEntry(
                        transport.zid, transport.whatami, None, link.group, [(link.src, link.dst)]
                    )
                )
        return found

    def group_drops(self, face: Face) -> dict[str, int] | None:
        for group in self._node.groups:
            drops = group.drops_of(face)
            if drops is not None:
                return drops
        return None

    def counters(self) -> dict[str, object]:
        node = self._node
        return {
            "transports": len(node.runners),
            "handshakes_pending": node.accepting.pending,
            "handshakes_refused": node.accepting.refused,
            "drops_of_ended_transports": dict(node.past_losses),
        }
